//! What counts as evidence: what programs print, by their grammar. Prose, documents, lists and commands never do.

use crate::common;

use common::{answer, answer_to, asserted, ids};
use linerate_doctor::answer::Confidence;

/// Sentences, Markdown, commands, documents, tables: none of them is printed by the kernel, NCCL, a launcher.
const PROSE: &[&str] = &[
    "We checked dmesg: no IO_PAGE_FAULT errors.",
    "There is no `NVRM: Xid (PCI:0000:18:00): 79, pid=1` in dmesg, and no DMAR fault.",
    "$ dmesg | grep -i -e DMAR -e IO_PAGE_FAULT",
    "dmesg -T | egrep 'NVRM: Xid|AER: Uncorrected|IO_PAGE_FAULT'",
    "## NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
    "- NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129",
    "We never see NCCL WARN Call to ibv_create_qp failed with error Cannot allocate memory.",
    "RAS said Missing communicator data from 1 job process when rank 3 was stopped.",
    "`#0-0 (27a079b828ff1a75) MISMATCH` is no cause for concern as long as the numbers grow",
    "> 1 job process is considered dead (unreachable via the RAS network)",
    "Look for `node1:1:2 [0] NCCL WARN Cuda failure 2 'out of memory'` in the log.",
    "If you see \"node1:1:2 [0] NCCL WARN Cuda failure 2 'out of memory'\", use less memory.",
    "grep \"NCCL WARN NET/IB : Got completion\" *.log | wc -l",
    "grep -a \"NCCL INFO AllReduce\" main_log.txt | wc -l",
    "The error `Got completion from peer 10.0.0.1<1> with error 12` means that the peer is gone.",
    "After the fix there is no more Call to ibv_modify_qp failed with error Connection timed out.",
    "NCCL WARN lines about Duplicate GPU detected are gone since we set the device",
    "NCCL version 2.21.5 works, NCCL version 2.18.1 does not.",
    "A watchdog timeout looks like: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=1) ran for 2 milliseconds before timing out.",
    "You may get ncclSystemError: System call failed, or NCCL error in: x.cpp, unhandled system error.",
    "Some nodes had a Bus error (core dumped) last week, and one python was killed by the oom-killer.",
    "Out of memory: Killed processes are in the kernel's log",
    "mlx5_core 0000:12:00.0 never says Link down",
    "ImportError is not what we see; cannot open shared object file would be",
    "error: libfoo says undefined symbol: bar when the version is wrong",
    "ACSCtl: should have no ReqRedir+ on switch ports",
    "* AMD-Vi: Event logged [IO_PAGE_FAULT device=07:00.0 domain=0x0003 address=0x80000040 flags=0x0020]",
    "| Xid | 79 | NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus |",
    "nvidia_peermem         16384  0",
    "nvidia-peermem-ctr:  CrashLoopBackOff",
    "export NCCL_IB_DISABLE=1   # set this if IB does not work",
    "With NCCL_NVLS_ENABLE set by environment to 0 the all-reduce is slower",
    "mpirun noticed nothing; no process exited on signal 9",
    "socketStartConnect errors went away after we set NCCL_SOCKET_IFNAME",
    "We get failed to open CUDA IPC handle : 217 peer access is not supported between these two devices",
    "Error while creating shared memory segment is what NCCL prints when /dev/shm is full",
    "If ibv_reg_mr failed, raise the limit of max locked memory (ulimit -l)",
    "max locked memory should be unlimited",
    "ibv_devinfo says No IB devices found when the driver is missing",
    "No IB devices found? Load mlx5_ib.",
    "> No IB devices found",
    "Couldn't allocate MR, says perftest",
    "Failed to modify QP to RTR means a wrong GID",
    "`Failed to initialize NVML: Driver/library version mismatch` needs a reboot",
    "a process with exitcode: -7 died of SIGBUS",
    "Signal 7 (SIGBUS) is a bus error",
    "CUDA out of memory is an OutOfMemoryError",
    "the client socket has timed out after 600000ms while trying to connect to (10.0.0.1, 29500) in our tests",
    "ib_umem_get fails when the pages cannot be pinned",
    "mlx5_core poll_health messages are not in dmesg",
    "`a:1:2 [0] graph/xml.h:82 NCCL WARN Attribute ngpus of node algo not found` is of MSCCL's algorithm",
    "| NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus | the GPU is lost |",
    "Connect to 10.0.0.1<4242> failed : Connection refused means that nobody listens there",
    "Call to connect returned Connection refused is what you see when the master is late",
    "connect() to a peer failed, so we opened the firewall",
    "shm_open() is what UCX calls; Not enough memory to write total of all segments is its error",
    "A process or daemon was unable to complete a TCP connection in our tests, too",
    "Poll send CQ error status=12 means a retry",
    "mlx5_0: ibv_create_cq() fails when ulimit -l is small",
    "modify qp 0x12 to state 2 failed: that is RTR",
    "IB Async event on mlx5_0 is normal",
    "GPU Direct RDMA Disabled for GPU 7000 / HCA 0 (distance 6 > 4) means PHB against PXB",
    "see `NCCL WARN Bootstrap : no socket interface found` in the log",
    "libibverbs warns: no userspace device-specific driver found",
    "neither nv_peer_mem, or nvidia_peermem detected is what NVSHMEM says",
    "We set FI_PROVIDER=efa and it works",
    "NET/IB : Got async event lines are harmless when they say port active",
    "socketTryAccept errors say Too many open files until the limit is raised",
    "If the log ends with `Accept failed: Too many open files`, raise ulimit -n",
    "Too many open files is what you get without ulimit -n 65536",
    "Why do we get this? Is misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to x failed : Connection refused normal",
];

#[test]
fn prose_is_no_evidence() {
    for text in PROSE {
        for around in [format!("{text}\n"), format!("# How to\n\n{text}\n\nRegards\n"), format!("   {text}\r\n")] {
            let a = answer(&around);
            assert_eq!(ids(&a), [""; 0], "{text}");
            assert!(a.timeline.is_empty(), "{text}: {:?}", a.timeline);
        }
    }
    let all = PROSE.join("\n");
    assert_eq!(ids(&answer(&all)), [""; 0]);
}

/// What is printed counts in whatever it is wrapped: cause, line.
const PRINTED: &[(&str, &str)] = &[
    ("kernel/xid", "NVRM: Xid (PCI:0000:18:00): 79, pid=12, name=python, GPU has fallen off the bus."),
    ("kernel/oom", "Memory cgroup out of memory: Killed process 712 (python) total-vm:412345678kB, anon-rss:2kB"),
    ("gdr/peermem-not-loaded", "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client"),
    (
        "gdr/peermem-not-loaded",
        "modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/6.8.0-1059-azure",
    ),
    ("ib/memlock", "misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"),
    (
        "ib/memlock",
        "node1:1:2 [0] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
    ),
    (
        "ib/retry-exceeded",
        "node1:1:2 [0] transport/net_ib.cc:839 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129",
    ),
    ("gpu/out-of-memory", "NCCL WARN Cuda failure 2 'out of memory'"),
    ("net/library-missing", "libhwloc.so.15: cannot open shared object file: No such file or directory"),
    (
        "gpu/driver-too-old",
        "Test CUDA failure common.cu:1045 'CUDA driver version is insufficient for CUDA runtime version'",
    ),
    ("gpu/driver-too-old", "Cuda failure common.cu:891 'CUDA driver version is insufficient for CUDA runtime version'"),
    ("gpu/duplicate", "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 5000"),
    ("p2p/refused-by-driver", "RuntimeError: CUDA error: peer access is not supported between these two devices"),
    ("net/no-interface", "invalid usage ... Last NCCL warning(error): 'Bootstrap : no socket interface found'"),
    ("net/no-rdma-device", "NCCL WARN NET/IB : Unable to open device erdma_1"),
    ("gdr/no-peer-memory", "n:1:2 [3] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"),
    ("job/bootstrap-unreachable", "include/socket.h:360 WARN Call to connect failed : Connection timed out"),
    (
        "p2p/refused-by-driver",
        "transport/p2p.cc:238 NCCL WARN failed to open CUDA IPC handle : 217 peer access is not supported between these two devices",
    ),
    (
        "p2p/refused-by-driver",
        "failed to peer with device 1(=2e000): 217 peer access is not supported between these two devices",
    ),
    ("net/wrong-interface", "include/socket.h:333 NCCL WARN Call to bind failed : Cannot assign requested address"),
    (
        "net/wrong-interface",
        "NCCL WARN Net : No interface found in the same subnet as remote address 192.168.0.91<27030>",
    ),
    ("net/no-interface", "NCCL WARN no device found matching eth5, verify NCCL_OOB_NET_IFNAME"),
    ("net/no-interface", "Bootstrap : no socket interface found"),
    ("net/fewer-nics", "NCCL WARN Detected mixed local Net device counts across ranks (min 1, max 2). Set X"),
    ("job/bootstrap-unreachable", "socketStartConnect: Connect to 10.5.1.9<53409> failed : Connection refused"),
    (
        "job/bootstrap-unreachable",
        "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (10.0.0.1, 29500).",
    ),
    ("job/peer-exited", "socketProgress: Connection closed by remote peer node2<41234>"),
    (
        "shm/too-small",
        "Error while creating shared memory segment /dev/shm/nccl-abcdef (size 9637888), error: No space left on device (28)",
    ),
    ("shm/too-small", "Error: failed to extend /dev/shm/nccl-abcdef to 33030532 bytes"),
    (
        "shm/too-small",
        "Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
    ),
    ("shm/too-small", "traceback : Signal 7 (SIGBUS) received by PID 1234"),
    ("shm/too-small", "exitcode  : -7 (pid: 1234)"),
    ("net/efa-without-plugin", "NCCL WARN NET/OFI OFI fi_getinfo() call failed: No data available"),
    ("ib/memlock", "ibv_create_cq(cqe=4096) failed: Cannot allocate memory"),
    ("ib/memlock", "libibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes."),
    ("ib/gpu-registration", "ibv_reg_mr failed, Bad address. addr:0x7f, length:1, access:0x7"),
    ("ib/gpu-registration", "ib_umem_get: failed to get user pages, nr_pages=512"),
    ("ib/retry-exceeded", "Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)"),
    ("ib/retry-exceeded", " Failed status 12: wr_id 0 syndrom 0x81"),
    ("net/no-rdma-device", "No IB devices found"),
    ("gpu/driver-mismatch", "Failed to initialize NVML: Driver/library version mismatch"),
    (
        "gpu/driver-too-old",
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW",
    ),
    ("gpu/out-of-memory", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has"),
    ("gpu/out-of-memory", "Cuda failure 'out of memory'"),
    (
        "gpu/nvlink",
        "fabric manager NVIDIA GPU driver interface version 1.30 don't match with driver version 1.41. Please update",
    ),
];

#[test]
fn what_programs_print_counts_behind_any_launcher() {
    for (cause, line) in PRINTED {
        for before in [
            "",
            "    ",
            "[1,0]<stdout>:",
            "[1,3]<stderr>: ",
            "0: ",
            " 3: ",
            "rank0: ",
            "[rank0]:",
            "[default0]:",
            "node1: ",
            "[pod/train-0/pytorch] ",
            "worker-1  | ",
            "2025-05-16T16:39:55.215Z ",
            "2025-05-16T16:39:55.215Z stdout F ",
            "(RayTrainWorker pid=1234, ip=10.0.0.1) ",
            "2025-06-17 16:23:09,123 ",
            "Nov 21 07:00:00 host slurmstepd[12]: ",
        ] {
            // In the journal another program's words are not the kernel's.
            if before.starts_with("Nov")
                && (cause.starts_with("kernel/") || cause.contains("peermem") || line.starts_with("ib_umem"))
            {
                continue;
            }
            let a = answer(&format!("Hello, here is what we get:\n```\n{before}{line}\n```\n"));
            assert_eq!(ids(&a).first(), Some(cause), "{before}{line}: {:?}", ids(&a));
        }
    }
}

#[test]
fn a_low_limit_beside_a_failing_call_is_certain() {
    let limits = "core file size          (blocks, -c) 0\nmax locked memory       (kbytes, -l) 64\n";
    assert_eq!(ids(&answer(limits)), [""; 0]);
    let a = answer(&format!("{limits}ibv_create_cq(cqe=4096) failed: Cannot allocate memory\n"));
    assert_eq!(a.causes.first().map(|c| (c.id, c.confidence)), Some(("ib/memlock", Confidence::Certain)));
    let a = answer(&format!(
        "{}ibv_create_cq(cqe=4096) failed: Cannot allocate memory\n",
        limits.replace(" 64", " unlimited")
    ));
    assert_eq!(a.causes.first().map(|c| (c.id, c.confidence)), Some(("ib/memlock", Confidence::Likely)));
}

#[test]
fn the_last_error_of_an_exception_is_read_in_any_shape() {
    let head = "torch.distributed.DistBackendError: NCCL error in: /x/ProcessGroupNCCL.cpp:2026, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5";
    let result = "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. ";
    for (words, cause) in [
        ("Error while creating shared memory segment /dev/shm/nccl-qDOS8v (size 33030528)", "shm/too-small"),
        (
            "socketPollConnect: connect to 10.1.1.1<33> returned Connection refused, exceeded error retry count after 35 attempts",
            "job/bootstrap-unreachable",
        ),
        ("Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 4000", "gpu/duplicate"),
        (
            "NET/IB: Got completion from peer 10.0.0.1<345> with status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_0",
            "ib/retry-exceeded",
        ),
        ("Cuda failure 'peer access is not supported between these two devices'", "p2p/refused-by-driver"),
        ("Cuda failure 802 'system not yet initialized'", "gpu/nvlink"),
        ("Bootstrap : no socket interface found", "net/no-interface"),
        ("Failed to CUDA calloc async 608 bytes", "gpu/out-of-memory"),
        ("Call to ibv_create_cq failed with error Cannot allocate memory", "ib/memlock"),
    ] {
        for text in [
            format!("{head}\n{result}\nLast error:\n{words}\n"),
            format!("[rank3]: {head}\n[rank3]: {result}\n[rank3]: Last error:\n[rank3]: {words}\n"),
            format!("(Worker pid=7) {head} {result} Last error: {words}\n"),
            format!("RayTaskError: {head}\\n{result}\\nLast error:\\n{words}')\n"),
            format!("Last error:\n{words}\n"),
        ] {
            assert_eq!(ids(&answer(&text)).first(), Some(&cause), "{text}");
        }
    }
}

#[test]
fn messages_whose_line_breaks_were_lost_are_all_read() {
    let text = "[0] NCCL INFO NCCL_IB_DISABLE set by environment to 0. [0] NCCL INFO NCCL_IB_HCA set to mlx5_0:1,mlx5_1:1,mlx5_2:1 [0] NCCL INFO NET/IB : No device found. [0] NCCL INFO NET/Socket : Using [0]eth0:10.47.14.218<0> [0] NCCL INFO Using network Socket\n";
    assert_eq!(ids(&answer(text)), ["net/hca-filter-matches-nothing"]);
}

#[test]
fn a_list_of_interfaces_may_be_broken_over_lines() {
    let list = "INFO NET/Socket : Using\n[0]bond0:192.168.1.161<0>\n[1]br-05ab815fa14e:172.19.0.1<0>\n[2]veth6163fba:fe80::b878:6cff:fe52:abe2%veth6163fba<0>\n";
    let a = answer(list);
    assert_eq!(a.causes.first().map(|c| (c.id, c.confidence)), Some(("net/wrong-interface", Confidence::Possible)));
}

#[test]
fn a_timeout_that_was_wrapped_is_one() {
    for text in [
        "[rank2]:[E513 13:25:57.7 ProcessGroupNCCL.cpp:616] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=BROADCAST, NumelIn=5164000, NumelOut=5\n164000, Timeout(ms)=1800000) ran for 1800042 milliseconds before timing out.\n",
        "[Rank 0] Watchdog caught collective operation timeout:\n  WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000)\n  ran for 1800090 milliseconds before timing out.\n",
    ] {
        assert_eq!(ids(&answer(text)), ["job/straggler"], "{text}");
    }
}

/// A rank that loads a plugin and goes on with sockets.
fn plugin_job(lines: &[&str], network: &str) -> String {
    let mut out = String::new();
    for (host, rank, peer) in [("a", 0, 1), ("b", 1, 0)] {
        let head = format!("{host}:10{rank}:20{rank} [0] NCCL INFO");
        out += &format!("{head} Bootstrap : Using eth0:10.0.0.{rank}<0>\n");
        lines.iter().for_each(|l| out += &format!("{head} {l}\n"));
        out += &format!("{head} Using network {network}\n");
        out += &format!(
            "{head} ncclCommInitRank comm 0x5{rank} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 7000 commId 0x1 - Init START\n"
        );
        out += &format!("{head} Channel 00/0 : {peer}[0] -> {rank}[0] [receive] via NET/{network}/0\n");
        out += &format!("{head} Channel 00/0 : {rank}[0] -> {peer}[0] [send] via NET/{network}/0\n");
    }
    out
}

#[test]
fn a_plugin_that_cannot_be_loaded_is_the_cause() {
    for (line, cause) in [
        (
            "NET/Plugin: libnccl-net-ofi.so: /opt/lib/libibverbs.so.1: version `IBVERBS_PRIVATE_34' not found (required by /usr/lib/libefa.so.1)",
            "net/efa-without-plugin",
        ),
        (
            "NET/Plugin : Plugin load (libnccl-net.so) returned 11 : /opt/amazon/efa/lib/libfabric.so.1: version `FABRIC_1.6' not found (required by /opt/aws-ofi-nccl/lib/libnccl-net.so)",
            "net/efa-without-plugin",
        ),
        ("NET/Plugin: /opt/aws-ofi-nccl/lib/libnccl-net.so: undefined symbol: fi_getinfo", "net/efa-without-plugin"),
        (
            "NET/Plugin: libhwloc.so.15: cannot open shared object file: No such file or directory",
            "net/plugin-init-failed",
        ),
        (
            "NET/Plugin: libfabric.so.1: cannot open shared object file: No such file or directory",
            "net/efa-without-plugin",
        ),
        (
            "NET/Plugin : Plugin load returned 11 : libibverbs.so.1: wrong ELF class: ELFCLASS32.",
            "net/plugin-init-failed",
        ),
        ("NET/Plugin: libnccl-net.so: undefined symbol: ucp_get_version", "net/plugin-init-failed"),
        (
            "NET/Plugin: libnccl-net.so: /lib/libibverbs.so.1: version `IBVERBS_1.14' not found (required by libnccl-net.so)",
            "net/plugin-init-failed",
        ),
        ("NET/Plugin: libnccl-net.so: cannot open shared object file: Permission denied", "net/plugin-init-failed"),
        ("NET/Plugin: Could not find: aws-ofi libnccl-net-aws-ofi.so.", "net/efa-without-plugin"),
        ("NET/OFI aws-ofi-nccl initialization failed", "net/efa-without-plugin"),
        ("NET/OFI No eligible providers were found", "net/efa-without-plugin"),
    ] {
        let a = answer(&plugin_job(&[line], "Socket"));
        assert_eq!(ids(&a).first(), Some(&cause), "{line}: {:?}", ids(&a));
        assert!(a.causes[0].confidence >= Confidence::Likely, "{line}");
        assert!(!a.not_causes.iter().any(|n| n.what.contains("plugin")), "{line}: {:?}", a.not_causes);
    }
    // What every healthy log has.
    for (line, network) in [
        ("NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.", "IB"),
        ("NET/Plugin: Failed to find ncclNetPlugin_v8 symbol.", "IB"),
        ("NET/Plugin: libnccl-net.so: cannot open shared object file: No such file or directory", "IB"),
        ("NET/OFI Selected provider is efa, fabric is efa (found 4 nics)", "AWS Libfabric"),
        ("NET/OFI Using Libfabric version 1.22", "Libfabric"),
    ] {
        let a = answer(&plugin_job(&[line], network));
        assert!(!ids(&a).iter().any(|id| id.contains("plugin") || id.contains("library")), "{line}: {:?}", ids(&a));
    }
    // Asked for by name, and not there.
    let a = answer(&plugin_job(
        &[
            "NCCL_NET_PLUGIN set by environment to fastrak",
            "NET/Plugin: Could not find: fastrak libnccl-net-fastrak.so.",
        ],
        "Socket",
    ));
    assert_eq!(ids(&a).first(), Some(&"net/plugin-init-failed"));
}

#[test]
fn what_ends_a_job_comes_before_what_makes_it_slow() {
    let slow = "a:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n";
    let base = plugin_job(&[], "IB").replace(
        "a:100:200 [0] NCCL INFO Using",
        &format!("{}a:100:200 [0] NCCL INFO Using", slow.replace("a:1:2", "a:100:200")),
    );
    for (line, first) in [
        ("misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_qp failed", "ib/verbs-call-failed"),
        ("misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory", "ib/memlock"),
        (
            "misc/ibvwrap.cc:190 NCCL WARN Call to ibv_alloc_pd failed with error Operation not permitted",
            "ib/verbs-call-failed",
        ),
        (
            "misc/ibvwrap.cc:190 NCCL WARN Call to ibv_reg_dmabuf_mr failed with error Invalid argument",
            "ib/gpu-registration",
        ),
    ] {
        let a = answer(&format!("{base}a:100:200 [0] {line}\n"));
        assert_eq!(ids(&a).first(), Some(&first), "{line}: {:?}", ids(&a));
    }
    // Killed ranks, too.
    let dmesg = "[ 12.5] Memory cgroup out of memory: Killed process 100 (python) total-vm:4kB, anon-rss:2kB\n";
    let a = answer_to(&[("log", base.as_bytes()), ("dmesg", dmesg.as_bytes())]);
    assert_eq!(ids(&a).first(), Some(&"kernel/oom"));
}

#[test]
fn candidates_are_those_of_the_failing_call() {
    let of = |call: &str| {
        let a = answer(&format!("a:1:2 [0] misc/ibvwrap.cc:1 NCCL WARN Call to {call} failed\n"));
        let u =
            a.undecided.iter().find(|u| u.symptom == "symptom/completion-errors").unwrap_or_else(|| panic!("{call}"));
        (u.candidates.clone(), u.read.clone())
    };
    let calls = ["ibv_reg_mr", "ibv_modify_qp", "ibv_open_device", "ibv_post_send", "ibv_alloc_pd"];
    for (i, one) in calls.iter().enumerate() {
        for other in &calls[i + 1..] {
            assert_ne!(of(one), of(other), "{one} and {other}");
        }
    }
}

#[test]
fn pieces_of_a_topology_are_possible_at_most() {
    let acs = "ACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n";
    let a = answer(acs);
    assert_eq!((ids(&a), asserted(&a)), (vec!["p2p/acs-redirects"], vec![]));
    assert_eq!(ids(&answer(&acs.replace("ReqRedir+", "ReqRedir-"))), [""; 0]);
    // Below its device it belongs to a node.
    assert_eq!(ids(&answer(&format!("18:00.0 PCI bridge: PLX Technology, Inc. PEX 8796\n\t\t{acs}"))), [""; 0]);
    let a = answer(
        "n:1:2 [0] NCCL INFO + PCI[0.2] - PCI/0-65000 (104c823200000000)\nn:1:2 [0] NCCL INFO              + PCI[48.0] - GPU/0-68000 (8)\n",
    );
    assert_eq!(asserted(&a), ["topo/virtual-link-speed"]);
    assert_eq!(ids(&answer("n:1:2 [0] NCCL INFO + PCI[24.0] - PCI/0-65000 (1000c01010000000)\n")), [""; 0]);
}

#[test]
fn an_xid_that_only_its_consequences_name_counts() {
    let consequence = |n: u32| {
        format!(
            "kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=18, name=python3, Ch 00000001 caused by previous Xid {n}\n"
        )
    };
    assert_eq!(ids(&answer(&consequence(149))).first(), Some(&"gpu/nvlink"));
    let a = answer(&consequence(31));
    assert_eq!(ids(&a).first(), Some(&"kernel/xid"));
    assert!(a.causes[0].summary.contains("Xid 31"), "{}", a.causes[0].summary);
}

/// A code span that is a line of its own, a field of a collector's JSON, a service's line: cause, line.
const WRAPPED: &[(&str, &str)] = &[
    (
        "gpu/duplicate",
        "`(Worker pid=9) pool0:9:10 [7] init.cc:904 NCCL WARN Duplicate GPU detected : rank 15 and rank 7 both on CUDA device e4000`",
    ),
    ("kernel/xid", "```[ 12.5] NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus."),
    (
        "kernel/oom",
        "\"textPayload\": \"[195998.443208] node invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=991\\\\r\\\\n\",",
    ),
    (
        "kernel/oom",
        "Nov 21 07:00:00 host systemd[1]: train.service: A process of this unit has been killed by the OOM killer.",
    ),
    // Programs whose sources stand at their readers in observe/programs/.
    (
        "ib/retry-exceeded",
        "CRITICAL_EVENT:AppCriticalEvents/RdmaError:RECV 93B246F7.0.169 failed: IBV_WC_RETRY_EXC_ERR",
    ),
    (
        "ib/retry-exceeded",
        "[n1:6807 :0:6807] ib_mlx5_log.c:115  FATAL: Error on mlx5_3:1 QP 0xe6d7 wqe[7821]: Transport retry count exceeded (synd 0x15 vend 0x81) opcode SEND",
    ),
    (
        "ib/verbs-call-failed",
        "/src/modules/transport/ibgda/ibgda.cpp:1345: non-zero status: 121 Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 29e0df",
    ),
    ("env/topo-file", "`n:1:2 [0] graph/xml.h:82 NCCL WARN Attribute arch of node cpu not found`"),
];

#[test]
fn spans_fields_and_services_are_printed() {
    for (cause, line) in WRAPPED {
        let a = answer(&format!("{line}\n"));
        assert_eq!(ids(&a).first(), Some(cause), "{line}");
    }
}

/// What several lines say together: the first cause and whether it is asserted, or nothing.
type Wanted = Option<(&'static str, bool)>;
const TOGETHER: &[(&str, Wanted, &str)] = &[
    (
        "EFA is asked for, and the plugin is not found",
        Some(("net/efa-without-plugin", true)),
        "\"NCCL_DEBUG\": \"INFO\",\n\"FI_PROVIDER\": \"efa\",\n\n[1] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so).\n\
         [0] misc/ibvwrap.cc:63 NCCL WARN Failed to open libibverbs.so[.1]\n",
    ),
    (
        "no libibverbs, and no sign of RDMA, on one host",
        None,
        "n1:1:2 [0] NCCL INFO Failed to open libibverbs.so[.1]\nn1:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n\
         n1:1:2 [0] NCCL INFO Using network Socket\n",
    ),
    (
        "no libibverbs, and two hosts without a sign of RDMA",
        Some(("net/no-libibverbs", false)),
        "n1:1:2 [0] NCCL INFO Failed to open libibverbs.so[.1]\nn1:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n\
         n1:1:2 [0] NCCL INFO Using network Socket\nn1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n",
    ),
    (
        "no libibverbs on a host with IP over InfiniBand",
        Some(("net/no-libibverbs", true)),
        "n1:1:2 [0] NCCL INFO Failed to open libibverbs.so[.1]\nn1:1:2 [0] NCCL INFO NET/Socket : Using [0]ib0:10.0.0.1<0>\n\
         n1:1:2 [0] NCCL INFO Using network Socket\n",
    ),
    (
        "no library for the NIC's vendor, and a job that fails",
        Some(("net/library-missing", true)),
        "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0\n\
         n1: Test NCCL failure common.cu:775 'internal error'\n",
    ),
    (
        "connections that are refused until the other rank listens",
        None,
        "n1:1:2 [0] NCCL INFO Call to connect returned Connection refused, retrying\n\
         n1:1:2 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0 busId 4c000 - Init COMPLETE\n",
    ),
    (
        "an endpoint that the OFI plugin cannot make, while it is used",
        Some(("net/plugin-init-failed", true)),
        "n1:1:2 [7] NCCL INFO Ring 00 : 7 -> 8 [send] via NET/AWS Libfabric/0\n\
         n1:1:2 [7] create_nccl_ofi_component:459 NCCL WARN NET/OFI Couldn't open AV. RC: -22, ERROR: Invalid argument\n",
    ),
    (
        "two hosts in two networks, in a release that does not print the peer",
        Some(("net/wrong-interface", true)),
        "n1:1:2 [0] NCCL INFO Bootstrap : Using [0]eth0:10.11.0.11<0>\nn2:1:2 [0] NCCL INFO Bootstrap : Using [0]ib0:192.168.77.12<0>\n\
         n2:1:2 [0] NCCL INFO Call to connect returned Connection timed out, retrying\n",
    ),
    (
        "a host that refuses was reached",
        Some(("job/bootstrap-unreachable", true)),
        "n1:1:2 [0] NCCL INFO Bootstrap : Using [0]eth0:10.11.0.11<0>\nn2:1:2 [0] NCCL INFO Bootstrap : Using [0]ib0:192.168.77.12<0>\n\
         n2:1:2 [0] include/socket.h:409 NCCL WARN Connect to 10.11.0.11<4242> failed : Connection refused\n",
    ),
    (
        "NCCL's own transport beside a plugin that did not start",
        Some(("net/plugin-init-failed", true)),
        "n1:1:2 [0] NCCL INFO NET/Plugin: Loaded net plugin IBext_v10 (v10)\nn1:1:2 [0] NCCL INFO Initialized NET plugin IB\n\
         n1:1:2 [0] NCCL INFO Using network IB\nn1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0\n",
    ),
    (
        "EFA without its plugin in a release that names its own transports plugins",
        Some(("net/efa-without-plugin", true)),
        "n1:1:2 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so libnccl-net-ofi.so.\nn1:1:2 [0] NCCL INFO NET/IB : No device found.\n\
         n1:1:2 [0] NCCL INFO Initialized NET plugin Socket\nn1:1:2 [0] NCCL INFO Using network Socket\n",
    ),
    (
        "the limit is in UCX's own line",
        Some(("ib/memlock", true)),
        "ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory. Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)\n",
    ),
];

#[test]
fn lines_are_read_together() {
    for (what, want, text) in TOGETHER {
        let a = answer(text);
        let first = a.causes.first().map(|c| (c.id, c.confidence > Confidence::Possible));
        assert_eq!(first, *want, "{what}: {:?}", ids(&a));
    }
}

#[test]
fn settings_of_rccl_are_not_judged_as_nccls() {
    let set = "n1:1:2 [0] NCCL INFO NCCL version 2.22.3+cuda12.4\nn1:1:2 [0] NCCL INFO NCCL_PXN_DISABLE set by environment to 0.\n";
    let verdicts = |text: &str| -> Vec<bool> {
        answer(text).jobs.iter().flat_map(|j| &j.environment).map(|s| s.does.is_some() || s.verdict.is_some()).collect()
    };
    assert_eq!(verdicts(set), [true]);
    for sign in [
        "RCCL version : 2.22.3-HEAD:1\n",
        "n1:1:2 [0] NCCL INFO RCCL version : 2.22.3-HEAD:1\n",
        "n1:1:2 [0] NCCL INFO NET/Plugin: Could not find: librccl-net.so. Using internal network plugin.\n",
    ] {
        let judged = verdicts(&format!("{sign}{set}"));
        assert_eq!(judged, [false], "{sign}");
    }
}
