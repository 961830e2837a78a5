//! Seeds: what the composed sick node shows, in each format, and a few texts of our own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use linerate_compose::Description;
use linerate_formats::{Kind, sniff};
use linerate_snapshot::Snapshot;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Of each target, without what fuzzing found.
static SEEDS: LazyLock<Inputs> = LazyLock::new(make);

/// What the harness that follows coverage found: `corpus/TARGET.txt`, written by `cargo xtask fuzz --guided --keep`.
static KEPT: LazyLock<Inputs> = LazyLock::new(|| {
    let names = crate::targets::targets().into_iter().map(|t| t.name);
    let read = |name: &str| std::fs::read_to_string(corpus().join(format!("{name}.txt"))).ok();
    let inputs = |text: String| text.lines().filter_map(|l| STANDARD.decode(l).ok()).collect();
    names.filter_map(|name| Some((name, inputs(read(name)?)))).collect()
});

type Inputs = HashMap<&'static str, Vec<Vec<u8>>>;

/// Where inputs are kept, each a line in Base64.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Seeds of a target; never empty.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let mut all = own(target);
    all.extend(kept(target));
    all
}

fn own(target: &str) -> Vec<Vec<u8>> {
    SEEDS.get(target).filter(|s| !s.is_empty()).cloned().unwrap_or_else(|| vec![b"0000:00:00.0 0 text\n".to_vec()])
}

/// What fuzzing found for a target.
pub fn kept(target: &str) -> Vec<Vec<u8>> {
    KEPT.get(target).cloned().unwrap_or_default()
}

/// Inputs of each target, one file each, for a harness that reads files: seeds in `own/TARGET/`, what fuzzing found before in
/// `kept/TARGET/`.
///
/// # Errors
/// A directory or file that cannot be written.
pub fn write(dir: &Path) -> std::io::Result<()> {
    for target in crate::targets::targets() {
        for (kind, inputs) in [("own", own(target.name)), ("kept", kept(target.name))] {
            let to = dir.join(kind).join(target.name);
            std::fs::create_dir_all(&to)?;
            for (n, input) in inputs.iter().enumerate() {
                std::fs::write(to.join(format!("{n:04}")), input)?;
            }
        }
    }
    Ok(())
}

/// Targets that have seeds of their own.
#[cfg(test)]
pub fn names() -> impl Iterator<Item = &'static str> {
    SEEDS.keys().copied().filter(|n| *n != Kind::Other.tool().name)
}

fn make() -> Inputs {
    let mut out = Inputs::new();
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/nodes");
    for name in ["sick-8gpu.toml", "healthy-8gpu-roce.toml", "cx3-v100.toml"] {
        let Ok(tree) = Description::load(&nodes.join(name)).and_then(|d| d.compose()) else { continue };
        let mut configs = 0;
        for (path, bytes) in tree.files() {
            let target = match path {
                p if p.ends_with("/config") => "config-space",
                "proc/cmdline" => "cmdline",
                "proc/cpuinfo" => "cpuinfo",
                "proc/modules" => "modules",
                "proc/self/limits" => "limits",
                p if p.starts_with("proc/driver/nvidia/") => "nvidia-proc",
                p if p.starts_with("boot/config-") => "kernel-config",
                p if p.ends_with("/cpulist") => "cpulist",
                p if p.contains("/gids/") => "gid",
                p if p.ends_with("/stdout") => sniff::sniff("", bytes).tool().name,
                _ => continue,
            };
            configs += usize::from(target == "config-space");
            let list = out.entry(target).or_default();
            if (target != "config-space" || configs % 9 == 1) && list.len() < 80 {
                list.push(bytes.to_vec());
            }
        }
    }
    let samples = Kind::ALL.iter().map(|k| k.tool()).flat_map(|t| t.samples.iter().map(|text| (t.name, *text)));
    for (target, text) in samples.chain(OWN.iter().copied()) {
        out.entry(target).or_default().push(text.as_bytes().to_vec());
    }
    let (calls, answers) = crate::hand::seeds();
    out.entry("hand-call").or_default().extend(calls);
    out.entry("hand-answer").or_default().extend(answers);
    let (lines, streams) = crate::logs::seeds();
    out.entry("nccl-log").or_default().extend(lines);
    out.entry("doctor").or_default().extend(streams.clone());
    out.entry("doctor-report").or_default().extend(streams);
    let all: Vec<Vec<u8>> = out.values().filter_map(|v| v.first().cloned()).collect();
    out.insert("sniff", all.clone());
    out.insert("cut", all.clone());
    out.insert("pasted-report", all);
    let (policies, conditions) = crate::policies::seeds();
    out.insert("policy", policies);
    out.insert("policy-condition", conditions);
    out.insert("fleet-index", crate::fleet::seeds());
    out.insert("collector-script", crate::collector::seeds());
    out.insert("plan-of-files", FILES.iter().map(|f| f.as_bytes().to_vec()).collect());
    let archives = archives();
    out.insert("archive", archives.clone());
    out.insert("archive-report", archives);
    // A text that nobody parses is a seed of what takes any text, above.
    out.retain(|name, _| Kind::ALL.iter().all(|k| k.tool().name != *name || has_target(name)));
    out
}

fn has_target(name: &str) -> bool {
    crate::targets::targets().iter().any(|t| t.name == name)
}

/// Files that a plan reads beside its findings.
const FILES: &[&str] = &[
    "root=/dev/vda1 ro pci=noats,realloc iommu=off numa_balancing=enable\n",
    "[Match]\nName=eth*\n[Network]\nAddress=10.1.0.1/24\nDHCP=no\n[Link]\nMTUBytes=1500\n",
    "[connection]\nuuid=0b4a3d8e-2f60-4b7e-9a51-6a1f6f0e7c11\ntype=ethernet\ninterface-name=eth1\n[ipv4]\nmethod=disabled\n     [device]\nconnection-uuid=0b4a3d8e-2f60-4b7e-9a51-6a1f6f0e7c11\nmanaged=true\n",
    "options mlx5_core prof_sel=2\noptions nvidia NVreg_EnableStreamMemOPs=1\n",
    "title a\nversion 6.1.0\nlinux /vmlinuz\noptions root=/dev/vda1 $kernelopts\n",
    "eth1=10.7.0.1/24",
];

/// A small snapshot in each container.
fn archives() -> Vec<Vec<u8>> {
    let mut s = Snapshot::new("seed");
    let device = "sys/devices/pci0000:00/0000:00:01.0";
    for (leaf, data) in [("vendor", "0x10de\n"), ("device", "0x2330\n"), ("class", "0x030200\n"), ("numa_node", "0\n")]
    {
        let _ = s.add_file(&format!("{device}/{leaf}"), data.as_bytes());
    }
    let _ = s.add_file(&format!("{device}/config"), &[0x10; 256]);
    let _ = s.add_link("sys/bus/pci/devices/0000:00:01.0", b"../../../devices/pci0000:00/0000:00:01.0");
    let _ = s.add_file("proc/cmdline", b"root=/dev/vda iommu=pt\n");
    let mut zst = Vec::new();
    let _ = s.write_tar_zst(&mut zst);
    // Mutants of compressed bytes rarely get past the checksum: the plain tar is the seed that counts.
    let mut plain = Vec::new();
    for (path, data) in
        [("node/sys/bus/pci/devices/0000:00:01.0/vendor", "0x10de\n"), ("node/proc/cmdline", "iommu=pt\n")]
    {
        plain.extend(entry(path, data.as_bytes()));
    }
    plain.extend([0; 1024]);
    vec![zst, plain]
}

/// A ustar entry.
fn entry(path: &str, data: &[u8]) -> Vec<u8> {
    let mut h = vec![0u8; 512];
    h[..path.len()].copy_from_slice(path.as_bytes());
    h[100..107].copy_from_slice(b"0000644");
    h[124..135].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
    h[148..156].copy_from_slice(b"        ");
    h[156] = b'0';
    h[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = h.iter().map(|b| u32::from(*b)).sum();
    h[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    h.extend_from_slice(data);
    h.resize(h.len().next_multiple_of(512), 0);
    h
}

const OWN: &[(&str, &str)] = &[
    (
        "rdma-topo-dump",
        r#"[{"realpath": "/sys/devices/pci0008:00/0008:00:00.0", "config": "eJy7J7BRiQEMWNgYGBgZRhoAAMq/Ac0=", "iommu_group": 1,
 "modalias": "pci:v000010DEd000022B1sv00000000sd00000000bc06sc04i00", "numa_node": 0, "vpd": "eJxrYmSoqAAAA/sBdA==", "subsystems": {"net": ["a"]}}]"#,
    ),
    ("nccl-topo-xml", include_str!("../../crates/report/tests/data/two-rails.xml")),
    ("topology-env", "NCCL_NET_GDR_LEVEL=PHB\nNCCL_P2P_LEVEL=4\nexport NCCL_NET_FORCE_MERGE=mlx5_0,mlx5_1\n"),
    (
        "nccl-tests",
        "[1,0]<stdout>:# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n\
         [1,0]<stdout>:#  Rank  0 Group  0 Pid 12 on alpha device  0 [0000:1b:00] GPU\n\
         [1,0]<stdout>:#       size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n\
         [1,0]<stdout>:        8  2  float  sum  -1  59.24  0.00  0.00  0  32.26  0.00  0.00  N/A\n\
         [1,0]<stdout>:       16  4  float  sum  -1alpha:1:2 [0] NCCL INFO x\n\
         [1,0]<stdout>:  33.59  0.00  0.00  0  32.82  0.00  0.00  0\nalpha: Test NCCL failure common.cu:303 'x / y'\n\
         # Out of bounds values : 0 OK\n# Avg bus bandwidth    : 4.7\n",
    ),
    (
        "nccl-tests",
        r#"{"args":["./all_reduce_perf"],"nccl_version":23007,"config":{"nthreads":1,"devices":[{"rank":0,"device":0,"device_hex":"0000:0a:00"}]},"results":[{"size":16,"count":4,"type":"float","redop":"sum","root":"-1","out_of_place":{"time":1.5,"alg_bw":1.0,"bus_bw":0.5,"nwrong":0.0}}],"out_of_bounds":{"count":0,"okay":"true"}}"#,
    ),
    (
        "nccl-ras",
        "NCCL version 2.27.5 compiled with CUDA 12.9\nCUDA runtime version 12090, driver version 13000\n\nJob summary\n===========\n\n  \
         Nodes  Processes         GPUs  Processes     GPUs\n(total)   per node  per process    (total)  (total)\n      2          2            1          4        4\n\n\
         Communicators... (2.05s)\n=============\n\nGroup     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n    \
         #  in group  per comm  per node  per comm  in group\n    0         1         2       1-2         4         3   RUNNING  INCOMPLETE,MISMATCH\n\n\
         Errors\n======\n\nINCOMPLETE\n  Missing communicator data from 1 job process\n  Process 22 on node 10.0.0.2 managing GPU 1\n\n\
         #0-0 (00000000000000a1) INCOMPLETE\n  Missing communicator data from 1 rank\n  Rank 3 -- GPU 1 (NVML 5) managed by process 22 on node 10.0.0.2\n\n\
         Warnings\n========\n\nTIMEOUT\n  Encountered 2 communication timeouts while gathering communicator data\n\n#0-0 (00000000000000a1) MISMATCH\n  \
         Communicator ranks have different AllReduce operation counts\n  2 ranks have launched up to operation 70\n  \
         Rank 1 has launched up to operation 69 -- GPU 1 managed by process 12 on node 10.0.0.1\n\n",
    ),
    (
        "nccl-ras",
        r#"{"nccl_version":"2.29.2","cuda_driver_version":13010,"communicators_count":1,"communicators":[{"hash":"0xa1","secondary_hash":"0x1:0x2","size":3,"ranks":[{"rank":0,"host":"10.0.0.1","pid":11,"cuda_dev":0,"nvml_dev":0,"status":{"init_state":0,"async_error":6,"finalize_called":false,"abort_flag":false},"collective_counts":{"AllReduce":70}},{"rank":1,"host":"10.0.0.1","pid":12,"cuda_dev":1,"nvml_dev":1,"status":{"init_state":0,"async_error":0,"finalize_called":true,"abort_flag":false},"collective_counts":{"AllReduce":69}}],"missing_ranks":[{"rank":2,"host":"10.0.0.2","pid":21,"cuda_dev":0,"nvml_dev":4,"status":{"unresponsive":true,"considered_dead":true}}]}],"ras":{"collection_time_sec":0.1,"timeouts_count":1}}"#,
    ),
    (
        "perftest",
        " WARNING: BW peak won't be measured in this run.\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_1\n \
         Mtu             : 4096[B]\n local address: LID 0x02 QPN 0x0032 PSN 0x5f2841 RKey 0x002440 VAddr 0x007f2e5f64b000\n \
         GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:06:145:33\n \
         #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      5000    0.00   181.46   0.346100\n \
         Failed status 12: wr_id 0 syndrom 0x81\n{\n\"test_info\": {\n\"test\": \"Send_BW_Test\",\n},\n\"results\": {\n\"MsgSize\": 65536,\n\"BW_average\": 38.2,\n\"MsgRate\": 0.072872\n}\n}\n",
    ),
    ("iperf3", include_str!("../../crates/formats/tests/fixtures/net/iperf3-bidir-p2.txt")),
    ("iperf3", include_str!("../../crates/formats/tests/fixtures/net/iperf3-server-output.txt")),
    ("iperf3", include_str!("../../crates/formats/tests/fixtures/net/iperf3-udp-p2.txt")),
    ("iperf3", include_str!("../../crates/formats/tests/fixtures/net/iperf3-interrupted.json")),
    ("iperf3", include_str!("../../crates/formats/tests/fixtures/net/iperf3-bidir.json")),
    ("iperf3", include_str!("../../crates/formats/tests/fixtures/net/iperf2-full-duplex.txt")),
    ("iperf3", include_str!("../../crates/formats/tests/fixtures/net/iperf2-udp-enhanced.txt")),
    (
        "iperf3",
        "{\"event\":\"start\",\"data\":{\"connected\":[],\"version\":\"iperf 3.17\"}}\n{\"event\":\"interval\",\"data\":{\"streams\":[{\"socket\":5,\"start\":0,\"end\":1,\"bits_per_second\":-nan}]}}\n\
         {\"event\":\"error\",\"data\":\"x\"}\n",
    ),
    ("iperf3", include_str!("../../crates/formats/tests/fixtures/net/iperf2-csv-p2.txt")),
    (
        "iperf3",
        "19700101000000,127.0.0.1,52067,127.0.0.1,5702,2,0.0-1.0,1315650,10507841,0.000,0,-1,-0.000,0\n\
         20261122003756.314,::1,55962,::1,5701,-1,0.0-0.5,398590012,6377440192,0.005,0,895,0.000,0\n",
    ),
    ("sockperf", include_str!("../../crates/formats/tests/fixtures/net/sockperf-under-load-drops.txt")),
    ("sockperf", include_str!("../../crates/formats/tests/fixtures/net/sockperf-throughput.txt")),
    ("fio", include_str!("../../crates/formats/tests/fixtures/net/fio-two-groups.txt")),
    ("fio", include_str!("../../crates/formats/tests/fixtures/net/fio-status-interval.txt")),
    ("fio", include_str!("../../crates/formats/tests/fixtures/net/fio-normal-and-json.txt")),
    ("fio", include_str!("../../crates/formats/tests/fixtures/net/fio-libaio.json")),
    ("fio", include_str!("../../crates/formats/tests/fixtures/net/fio-terse3-and-json.txt")),
    ("fio", include_str!("../../crates/formats/tests/fixtures/net/fio-terse5-and-json.txt")),
    ("fio", include_str!("../../crates/formats/tests/fixtures/net/fio-terse-json-normal.txt")),
    (
        "ping",
        "Pinging h [10.0.0.9] with 32 bytes of data:\r\nReply from 10.0.0.9: bytes=32 time<1ms TTL=64\r\nRequest timed out.\r\n\
         Reply from 10.0.0.1: Destination host unreachable.\r\nPing statistics for 10.0.0.9:\r\n\
         \x20   Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),\r\nMinimum = 0ms, Maximum = 1ms, Average = 0ms\r\n",
    ),
    ("ping", include_str!("../../crates/formats/tests/fixtures/net/ping-timestamps.txt")),
    ("ping", include_str!("../../crates/formats/tests/fixtures/net/ping-adaptive.txt")),
    (
        "torchtitan",
        "[titan] 2025-08-22 07:52:57,498 - root - INFO - Trainer is initialized with local batch size 1, global batch size 8, sequence length 8192, total steps 10\n\
         [rank0]:[titan] 2025-08-22 07:53:00,000 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10,050  tflops: 314.71  mfu: 13.99%\n\
         [rank0]:[titan] 2025-08-22 07:53:01,000 - root - INFO - validate step:  1  loss:  8.0000  memory: 9.00GiB(9.00%)  tps: 77\n\
         step:  2  loss:     nan  memory: 1.00GiB(1.00%)  wps: 1,000  mfu: N/A\nstep:  2  loss: -1.0000  memory: 1.00GiB(1.00%)  tps: 1\n",
    ),
    (
        "nvbandwidth",
        "nvbandwidth Version: v0.8\nDriver Version: 580.95.05\nnode-a\nDevice 0: NVIDIA A (00000000:34:00)\n\nRunning device_to_device_memcpy_read_ce.\n\
         memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0       N/A     20.00\n 1     21.00       N/A\n\nSUM device_to_device_memcpy_read_ce 41.00\nWaived: \nERROR: x\n",
    ),
    (
        "nvbandwidth",
        "{\n \"nvbandwidth\" : { \"GPU Device list\" : [\"0: A (00000000:34:00): (h)\"], \"testcases\" : [ {\"name\":\"a_read_ce\",\"status\":\"Passed\",\"bandwidth_description\":\"memcpy (GB/s)\",\"bandwidth_matrix\":[[\"N/A\",\"2\"],[\"1\",\"N/A\"],[\"N/A\",\"3\"]],\"sum\":3.0} ] }\n}\n",
    ),
    ("series", "time,size,busbw (GB/s),run,host\n0.5,8M,93.5,1,\"a, b\"\n1.5,1 MB,nan,2,c\n"),
    ("series", "t;v\n1;12,5\n2;1.234,5\n3;1,234\n"),
    ("series", "| size | GB/s |\n|---|:-:|\n| 1 MB | **5.91** |\n| 3 MB | N/A |\n"),
    ("series", "{\"step\":1,\"a\":{\"b\":2.5},\"c\":[1]}\n{\"step\":2,\"a\":{\"b\":NaN},\"c\":\"x\"}\n"),
    ("series", "[{\"size\":\"8M\",\"v\":1},\n{\"size\":\"16M\",\"v\":-Infinity}]\n"),
    (
        "torch-log",
        "[rank3]:[E227 16:30:43.5 ProcessGroupNCCL.cpp:629] [PG ID 2 PG GUID 5(tp) Rank 1] Watchdog caught collective operation timeout: \
         WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n\
         [E ProcessGroupNCCL.cpp:1] [Rank 1]  failure detected by watchdog at work sequence id: 5 PG status: last enqueued work: 5, last completed work: -1\n\
         NCCL error in: a.cpp:1, unhandled system error, NCCL version 2.20.5\nncclSystemError: x\nLast error:\ny\n\
         - [0, 2] finished collective #3, but didn't join collective #4\n",
    ),
    (
        "env-readers",
        "NCCL_DEBUG=INFO\nexport NCCL_IB_HCA='=mlx5_0,mlx5_1' UCX_TLS=rc\nmpirun -x NCCL_ALGO=Ring \\\n -x NCCL_PROTO=LL x\n",
    ),
    (
        "env-readers",
        "apiVersion: v1\nspec:\n  containers:\n  - env:\n    - name: NCCL_IB_DISABLE\n      value: \"1\"\n    - {name: NCCL_NET, value: IB}\n",
    ),
    (
        "env-forms",
        "#!/bin/bash\n#SBATCH --export=ALL,NCCL_NET=IB\nexport NCCL_DEBUG=${NCCL_DEBUG:-INFO}\nENV NCCL_X=1\n- name: NCCL_NET\n  value: IB\n",
    ),
    (
        "env-forms",
        "x:1:1 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.\nNCCL version 2.21.5+cuda12.4\nx NCCL INFO Using network IB\n",
    ),
    ("nodeset", "gpu[001-128,130]!gpu007,r[1-4]n[01-20/3]&n[1-9]^@a,n?,*[1-2] , a1[2-3]4"),
    ("nodeset", "@s:b\ngpu[1-2]b[3,5]-ib0"),
    (
        "inventory",
        "# c\ngpu[1-8] ib,kind=h100,rack=%n\n10.0.0.1 gpu1 alias\nHost a *.b\n  HostName 10.0.0.1\nInclude x/*.conf\n",
    ),
    ("inventory", "gpu001|gpu|idle*|127.0.0.1|gpu:h100:8(S:0-1)|h100,ib|none\nall: @gpu a[1-2]\n"),
    ("inventory", "[Main]\ndefault: local\nautodir: /a $CFGDIR/b\n[local,x]\nmap: y\n"),
    ("inventory", "a:\n  g: 'x[1,2]' # c\n  h:\n    - \"y1\"\n  i: [a1, \"b[1-2]\", 'c']\n"),
    (
        "inventory",
        "nodes = \"gpu[1-2]\"\nsources = [\"ssh\"]\n[groups]\na = [\"b\"]\n[groups.c]\nnodes = \"d\"\nport = 1\n[hosts.e]\nuser = \"f\"\n",
    ),
    (
        "inventory",
        r#"{"items":[{"metadata":{"name":"a","labels":{"b/c":"d"}},"spec":{"unschedulable":true},"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}}]}"#,
    ),
    ("bdf", "0000:41:00.0"),
    ("kernel-version", "6.8.0-60-generic"),
    (
        "lspci",
        "0000:17:01.0 PCI bridge [0604]: Broadcom / LSI PEX890xx [1000:c030] (rev b0) (prog-if 00 [Normal decode])\n\
         \tControl: I/O- Mem+ BusMaster+\n\tNUMA node: 0\n\tIOMMU group: 12\n\
         \tBus: primary=17, secondary=19, subordinate=19, sec-latency=0\n\
         \tCapabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00\n\
         \t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0\n\t\tDevCtl:\tCorrErr+\n\t\t\tRlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+\n\
         \t\t\tMaxPayload 256 bytes, MaxReadReq 128 bytes\n\
         \t\tLnkCap:\tPort #1, Speed 32GT/s, Width x16, ASPM not supported\n\t\tLnkSta:\tSpeed 32GT/s, Width x8 (downgraded)\n\
         \tCapabilities: [220 v1] Access Control Services\n\
         \t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+\n\
         \t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n\
         \tKernel driver in use: pcieport\n\n\
         19:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n\tRegion 1: Memory at 20f000000000 (64-bit, prefetchable) [size=128G]\n\
         \tCapabilities: <access denied>\n00: de 10 30 23 06 04 10 00\n",
    ),
    (
        "mlxconfig-text",
        "Device #1:\n----------\nDevice type:    ConnectX7\nDevice:         /dev/mst/mt4129_pciconf0\nConfigurations:   Default Current Next Boot\n*  RO  NUM_OF_VFS   0  8  16\n       SRIOV_EN  False(0)  True(1) True(1)\n",
    ),
    (
        "mlxconfig-json",
        r#"{"Device #1":{"device_type":"ConnectX7","device":"41:00.0","tlv_configuration":{"SRIOV_EN":{"next_value":"True(1)","current_value":"False(0)","modified":true}}}}"#,
    ),
    (
        "ibstat",
        "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n",
    ),
    (
        "ibv-devinfo",
        "hca_id: mlx5_0\n\ttransport: InfiniBand (0)\n\tfw_ver: 28.39.1002\n\t\tport: 1\n\t\t\tstate: PORT_ACTIVE (4)\n\t\t\tmax_mtu: 4096 (5)\n\t\t\tactive_mtu: 1024 (3)\n\t\t\tGID[  0]: fe80::1, RoCE v2\n",
    ),
    ("ibdev2netdev", "mlx5_0 port 1 ==> ens1f0np0 (Up)\n"),
    (
        "rdma-link",
        r#"[{"ifindex":0,"ifname":"mlx5_0","port":1,"state":"ACTIVE","physical_state":"LINK_UP","netdev":"eth0"}]"#,
    ),
    (
        "mlnx-qos",
        "Priority trust state: dscp\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   0   0   0\n",
    ),
    (
        "ethtool-stats",
        "NIC statistics:\n     rx_prio3_pause: 12\nPause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\ton\n",
    ),
    (
        "dmesg",
        "[    0.31] iommu: Default domain type: Passthrough (set via kernel command line)\n[   12.5] DMAR: [DMA Write NO_PASID] Request device [41:00.0] fault addr 0xfff [fault reason 0x05] PTE Write access is not set\n<6>[ 1.0] mlx5_core 0000:41:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8 link at 0000:40:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)\nNVRM: Xid (PCI:0000:19:00): 79, pid=1, GPU has fallen off the bus.\n",
    ),
    (
        "nvidia-smi-query",
        "==============NVSMI LOG==============\nDriver Version : 570.133.20\nGPU 00000000:19:00.0\n    Product Name : NVIDIA H100\n    BAR1 Memory Usage\n        Total : 131072 MiB\n",
    ),
    (
        "nvidia-smi-topo",
        "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV18\tPIX\t0-51\nGPU1\tNV18\t X \tSYS\t52-103\nNIC0\tPIX\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n",
    ),
    ("nvidia-smi-csv", "name, pci.bus_id\nNVIDIA H100, 00000000:19:00.0\n"),
];
