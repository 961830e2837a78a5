use super::*;

fn read(line: &str) -> Message<'_> {
    Message::read(&split(line).unwrap_or_else(|| panic!("not NCCL's: {line}")))
}

#[test]
fn heads_in_all_their_dresses() {
    for (line, host, pid, tid, device, level) in [
        ("node1:47:48 [3] NCCL INFO Using network IB", "node1", 47, 48, Some(3), Level::Info),
        ("[1,0]<stdout>:node1:47:48 [3] NCCL INFO Using network IB", "node1", 47, 48, Some(3), Level::Info),
        ("12: node1:47:48 [3] NCCL INFO Using network IB", "node1", 47, 48, Some(3), Level::Info),
        ("12:node1:47:48 [3] NCCL INFO Using network IB", "node1", 47, 48, Some(3), Level::Info),
        ("(RayWorker pid=5, ip=10.0.0.1) n-1:47:48 [0] NCCL INFO x", "n-1", 47, 48, Some(0), Level::Info),
        (
            "  | 2025-05-16T16:39:55.215-07:00 | ip-10-36:82:2548 [0] NCCL INFO NET/OFI x",
            "ip-10-36",
            82,
            2548,
            Some(0),
            Level::Info,
        ),
        (
            "  | 2025-05-16T16:39:51.208-07:00ip-10-36:82:2548 [0] NCCL INFO x",
            "ip-10-36",
            82,
            2548,
            Some(0),
            Level::Info,
        ),
        ("2025-05-16T16:39:51.208Zn-1:82:2548 [0] NCCL INFO x", "n-1", 82, 2548, Some(0), Level::Info),
        ("[2025-06-17 16:23:09] n:1:2 [0] init.cc:12 NCCL WARN x", "n", 1, 2, Some(0), Level::Warn),
        ("n:1:2 [0] init.cc:12 (ncclInit) NCCL WARN x", "n", 1, 2, Some(0), Level::Warn),
        ("n:1:2 NCCL CALL ncclAllReduce(1)", "n", 1, 2, None, Level::Trace),
        ("-worker-1:946:988 [0] transport/net_ib.cc:839 NCCL WARN x", "-worker-1", 946, 988, Some(0), Level::Warn),
    ] {
        let l = split(line).unwrap();
        let who = Who::read(l.who).unwrap_or_else(|| panic!("{line}: {:?}", l.who));
        assert_eq!((who.host, who.pid, who.tid, who.device, l.level), (host, pid, tid, device, level), "{line}");
    }
    for line in ["NCCL INFO Using network Socket", "  NCCL INFO Using network IB", "misc/ibvwrap.cc:278 NCCL WARN x"] {
        assert_eq!(split(line).unwrap().who, "", "{line}");
    }
    assert_eq!(split("the NCCL library is slow"), None);
    assert_eq!(split("# NCCL INFORMATION"), None);
    // Sentences, lists and commands in which somebody names a line.
    for line in [
        "We see NCCL WARN Cuda failure 2 'out of memory' on rank 3",
        "- NCCL WARN Cuda failure 2 'out of memory'",
        "## NCCL WARN Cuda failure 2 'out of memory'",
        "NCCL WARN lines are harmless",
        "NCCL version 2.21.5 hangs here",
        "$ grep 'NCCL INFO Using' log",
        "the log has `node1:47:48 [3] NCCL WARN Cuda failure 2 'out of memory'` in it",
        "In the log we find node1:47:48 [3] NCCL WARN Cuda failure 2 'out of memory'",
    ] {
        assert_eq!(split(line), None, "{line}");
    }
    assert_eq!(read("NCCL version 2.21.5+cuda12.4"), Message::Version("2.21.5+cuda12.4"));
    assert_eq!(read("n:1:1 [0] NCCL INFO NCCL version 2.26.2+cuda12.2"), Message::Version("2.26.2+cuda12.2"));
    assert_eq!(read("n:1:1 [0] NCCL INFO RCCL version : 2.22.3-HEAD:271856d"), Message::Version("2.22.3-HEAD:271856d"));
    assert_eq!(read("n:1:1 [0] NCCL INFO RCCL version 2.18.3+hip6.0 HEAD:x"), Message::Version("2.18.3+hip6.0"));
}

#[test]
fn connections_of_all_releases() {
    use Transport::*;
    let gdr = |name, device, proxy, gdr| Net { name, device, proxy, gdr };
    for (text, channel, from, to, direction, transport) in [
        (
            "Ring 00 : 63 -> 0 [receive] via NET/FastSocket/0",
            0,
            63,
            Some(0),
            Some(Direction::Receive),
            gdr("FastSocket", 0, None, false),
        ),
        (
            "Ring 01 : 1[18100000] -> 0[435e00000] [receive] via NET/IB/0/GDRDMA",
            1,
            1,
            Some(0),
            Some(Direction::Receive),
            gdr("IB", 0, None, true),
        ),
        ("Ring 00 : 0[0] -> 1[1] via P2P/direct pointer", 0, 0, Some(1), None, P2pDirect),
        ("Ring 00 : 0[0] -> 1[1] via direct shared memory", 0, 0, Some(1), None, Shm),
        (
            "Channel 03/1 : 7[7] -> 15[7] [send] via NET/IB/3(6)/GDRDMA/Shared",
            3,
            7,
            Some(15),
            Some(Direction::Send),
            gdr("IB", 3, Some(6), true),
        ),
        (
            "Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/2/GDRDMA(PCI)",
            0,
            0,
            Some(8),
            Some(Direction::Send),
            gdr("AWS Libfabric", 2, None, true),
        ),
        (
            "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IBext_v8/1/Shared",
            0,
            0,
            Some(8),
            Some(Direction::Send),
            gdr("IBext_v8", 1, None, false),
        ),
        ("Channel 14/0 : 2[2] -> 3[3] via P2P/CUMEM/read", 14, 2, Some(3), None, P2pCumem),
        ("Channel 14/0 : 2[2] -> 3[3] via P2P/MNNVL", 14, 2, Some(3), None, P2pMnnvl),
        ("Channel 02 : 2[2] -> 3[3] via SHM/direct/direct", 2, 2, Some(3), None, Shm),
        ("Channel 02 : 2[2000] -> 3[3000] via P2P/IPC comm 0x7f nRanks 08", 2, 2, Some(3), None, P2pIpc),
        (
            "CollNet 00/1 : 4 [send] via COLLNET/SHARP/0/GDRDMA",
            0,
            4,
            None,
            Some(Direction::Send),
            CollNet { name: "SHARP", device: 0, gdr: true },
        ),
    ] {
        let line = format!("h:1:2 [0] NCCL INFO {text}");
        let Message::Connect(c) = read(&line) else { panic!("{text}: {:?}", read(&line)) };
        assert_eq!((c.channel, c.from, c.to, c.direction), (channel, from, to, direction), "{text}");
        assert_eq!(c.transport, transport, "{text}");
    }
}

#[test]
fn communicators_of_all_releases() {
    for text in [
        "comm 0x7f rank 3 nranks 16 cudaDev 3 nvmlDev 3 - Init COMPLETE",
        "comm 0x7f rank 3 nranks 16 cudaDev 3 busId 4c000 - Init COMPLETE",
        "comm 0x7f rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 4c000 commId 0xab - Init COMPLETE",
        "ncclCommInitRank comm 0x7f rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 4c000 commId 0xab - Init COMPLETE",
        "[Rank 3] ncclCommInitRankConfig comm 0x7f rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 4c000 commId 0xab - Init START",
        "ncclCommSplit comm 0x7f rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 4c000 parent 0x9 color 1 key 3 commId 0xab - Init COMPLETE",
        "comm 0x7f rank 3 nranks 16 cudaDev 3 busId 4c000 - Destroy COMPLETE",
        "comm 0x7f rank 3 nRanks 16 cudaDev 3 busId 4c000 - Abort COMPLETE",
    ] {
        let line = format!("h:1:2 [0] NCCL INFO {text}");
        let Message::Comm(c) = read(&line) else { panic!("{text}") };
        assert_eq!((c.handle, c.rank, c.ranks, c.cuda_device), (0x7f, 3, 16, Some(3)), "{text}");
        assert_eq!(c.bus_id.is_some(), text.contains("busId"), "{text}");
        assert_eq!(c.comm_id.is_some(), text.contains("commId"), "{text}");
    }
}

#[test]
fn direct_access_and_distances() {
    let Message::GdrPair(p) =
        read("h:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 7000 / HCA 0 (distance 6 > 4)")
    else {
        panic!()
    };
    assert_eq!(
        (p.enabled, p.gpu, p.nic, p.distance, p.limit, p.inclusive),
        (false, GpuName::BusId(0x7000), 0, 6, 4, true)
    );
    let Message::GdrPair(p) =
        read("h:1:2 [0] NCCL INFO GPU Direct RDMA Enabled for GPU 12 / HCA 1f (distance 4 <= 5), read 1 mode Default")
    else {
        panic!()
    };
    assert_eq!((p.gpu, p.read), (GpuName::BusId(0x12), Some(true)));
    let Message::GdrPair(p) =
        read("h:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for GPU 435e00000 / HCA 0 (distance 1 < 2), read 0")
    else {
        panic!()
    };
    assert_eq!((p.distance, p.limit, p.inclusive, p.read), (1, 2, false, Some(false)));
    let Message::GdrNic { enabled, name, reason, .. } =
        read("h:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)")
    else {
        panic!()
    };
    assert_eq!((enabled, name, reason), (false, "mlx5_0", Some("no module")));
    for (minor, patch, n, want) in [
        (4, 8, 2, Some("PHB")),
        (7, 8, 4, Some("PHB")),
        (11, 4, 5, Some("PHB")),
        (21, 5, 6, Some("PHB")),
        (26, 5, 7, Some("PHB")),
        (27, 3, 6, Some("PXN")),
        (27, 5, 6, Some("P2C")),
        (30, 7, 8, Some("PHB")),
        (30, 7, 99, None),
        (21, 5, -1, None),
    ] {
        assert_eq!(distance::name(minor, patch, n), want, "2.{minor}.{patch}: {n}");
    }
}

#[test]
fn networks_plugins_settings() {
    let Message::Using { net, list } =
        read("h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>")
    else {
        panic!()
    };
    let found: Vec<_> = nics(list).map(|n| (n.index, n.name, n.port, n.rest)).collect();
    assert_eq!((net, found), ("IB", vec![(0, "mlx5_0", Some(1), "IB"), (1, "mlx5_1", Some(1), "RoCE")]));
    assert_eq!(oob(list), Some("eth0:10.0.0.1<0>"));
    let Message::Using { list, .. } = read("h:1:2 [0] NCCL INFO NET/Socket : Using [0]eno1np0:172.31.45.2<0>") else {
        panic!()
    };
    assert_eq!(nics(list).map(|n| n.name).collect::<Vec<_>>(), ["eno1np0"]);
    for (text, name, value) in [
        ("NCCL_IB_DISABLE set by environment to 0.", "NCCL_IB_DISABLE", "0"),
        ("NCCL_IB_HCA set to mlx5_0", "NCCL_IB_HCA", "mlx5_0"),
        ("NCCL_NET_GDR_LEVEL set by environment to PHB", "NCCL_NET_GDR_LEVEL", "PHB"),
        ("TUNER/Plugin: NCCL_TUNER_PLUGIN set to x.so", "NCCL_TUNER_PLUGIN", "x.so"),
    ] {
        let line = format!("h:1:2 [0] NCCL INFO {text}");
        assert_eq!(read(&line), Message::Env { name, value }, "{text}");
    }
    for (text, missing) in [
        ("NET/Plugin : No plugin found (libnccl-net.so), using internal implementation", true),
        ("NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.", true),
        ("NET/Plugin: Failed to find ncclNetPlugin_v8 symbol.", true),
        // RCCL looks for one of its own name.
        (
            "NET/Plugin: Plugin load returned 2 : librccl-net.so: cannot open shared object file: No such file or directory : when loading librccl-net.so",
            true,
        ),
        ("NET/Plugin: Loaded net plugin IBext_v8 (v8)", false),
    ] {
        let line = format!("h:1:2 [0] NCCL INFO {text}");
        let Message::Plugin(p) = read(&line) else { panic!("{text}") };
        assert_eq!(matches!(p, Plugin::Missing(_)), missing, "{text}");
    }
}

#[test]
fn failures_of_all_releases() {
    let failure = |text: &'static str| {
        let line = format!("h:1:2 [0] transport/net_ib.cc:1 NCCL WARN {text}");
        let line: &'static str = Box::leak(line.into_boxed_str());
        let Message::Failure(f) = read(line) else { panic!("{text}") };
        f
    };
    for (text, status, peer, vendor, hca) in [
        ("NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129", 12, None, Some(129), None),
        (
            "NET/IB : Got completion from peer 10.2.0.5<33092> with error 12, opcode 0, len 0, vendor err 129 (Recv)",
            12,
            Some("10.2.0.5<33092>"),
            Some(129),
            None,
        ),
        (
            "NET/IB: Got completion from peer 10.2.0.5<3> with status=5 opcode=129 len=0 vendor err 249 (Send) localGid ::ffff:1.2.3.4 remoteGidsfe80::1 hca mlx5_2",
            5,
            Some("10.2.0.5<3>"),
            Some(249),
            Some("mlx5_2"),
        ),
        (
            "NET/IB: Got completion from peer 10.2.0.5<3> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129 req_type=Send hca mlx5_2",
            12,
            Some("10.2.0.5<3>"),
            Some(129),
            Some("mlx5_2"),
        ),
    ] {
        let Failure::Completion(c) = failure(text) else { panic!("{text}") };
        assert_eq!((c.status, c.peer, c.vendor, c.hca), (status, peer, vendor, hca), "{text}");
    }
    for (text, call, error, errno) in [
        (
            "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
            "ibv_reg_mr_iova2",
            "Cannot allocate memory",
            None,
        ),
        (
            "Call to ibv_modify_qp failed with error Connection timed out errno 110",
            "ibv_modify_qp",
            "Connection timed out",
            Some(110),
        ),
        (
            "Call to ibv_modify_qp failed with 22 Invalid argument, on dev mlx5_0:1, curr state INIT",
            "ibv_modify_qp",
            "Invalid argument",
            Some(22),
        ),
        ("Call to ibv_create_qp failed", "ibv_create_qp", "", None),
    ] {
        let Failure::Verbs { call: c, error: e, errno: n, .. } = failure(text) else { panic!("{text}") };
        assert_eq!((c, e, n), (call, error, errno), "{text}");
    }
    for (text, trouble) in [
        ("Net : Connection closed by remote peer", SocketTrouble::Closed),
        ("socketProgress: Connection closed by remote peer node2<4242>", SocketTrouble::Closed),
        ("Connect to 10.0.0.1<4242> failed : Connection refused", SocketTrouble::Refused),
        (
            "ncclOsSocketPollConnect: connect to 10.0.0.1<4242> returned No route to host, exceeded error retry count after 35 attempts",
            SocketTrouble::Unreachable,
        ),
        ("socketStartConnect: Connect to 10.0.0.1<1> failed : Connection timed out", SocketTrouble::TimedOut),
    ] {
        let Failure::Socket { trouble: t, .. } = failure(text) else { panic!("{text}: {:?}", failure(text)) };
        assert_eq!(t, trouble, "{text}");
    }
    assert!(matches!(
        failure("Call to posix_fallocate failed : No space left on device"),
        Failure::SharedMemory { no_space: true, .. }
    ));
    assert!(matches!(
        failure("Error: failed to extend /dev/shm/nccl-x to 9637892 bytes"),
        Failure::SharedMemory { no_space: true, .. }
    ));
    assert!(matches!(failure("Cuda failure 'out of memory'"), Failure::Cuda { code: None, error: "out of memory" }));
    assert!(matches!(failure("Cuda failure 802 'system not yet initialized'"), Failure::Cuda { code: Some(802), .. }));
    assert!(matches!(
        failure("NET/IB : mlx5_0:1 Got async event : port error"),
        Failure::Async { device: Some("mlx5_0:1"), event: "port error", fatal: false }
    ));
    assert!(matches!(
        failure("NET/IB : mlx5_0:1 async fatal event on QP (0x7f): local work queue catastrophic error"),
        Failure::Async { fatal: true, .. }
    ));
}

#[test]
fn time_stamps() {
    let seconds = |t: &str| stamp::find(t).map(|s| (s.seconds, s.dated));
    assert_eq!(seconds("  | 2025-05-16T16:39:55.250-07:00 | "), Some((1_747_438_795.25, true)));
    assert_eq!(seconds("[2025-05-16 23:39:55] "), Some((1_747_438_795.0, true)));
    assert_eq!(seconds("0: 01:00:01 "), Some((3601.0, false)));
    assert_eq!(seconds("1747438795.5 "), Some((1_747_438_795.5, true)));
    assert_eq!(seconds("[1,0]<stdout>:"), None);
}

#[test]
fn two_messages_of_a_kind_are_not_one() {
    for message in [
        "Ring 00 : 0[0] -> 1[1] via P2P/IPC",
        "Channel 00/0 : 10[2] -> 18[2] [receive] via NET/AWS/2(10)/GDRDMA(PCI)/Shared",
        "8 Bytes -> Algo 1 proto 2 time 1.0",
        "AllReduce: opCount 1f sendbuff 0x7f count 4 datatype 7 op 0 root 0 comm 0x55ab [nranks=8] stream 0x7f",
    ] {
        assert!(Message::info(message).is_whole(message), "{message}");
        // Calls have long addresses.
        let address = "0".repeat(if message.contains("opCount") { 60 } else { 0 });
        let message = message.replace("sendbuff 0x", &format!("sendbuff 0x{address}"));
        for head in ["a:1:1 [0] NCCL INFO ", " b:2:2 [0] NCCL INFO "] {
            let two = format!("{message}{head}{message}");
            assert!(!Message::info(&two).is_whole(&two), "{two}");
        }
    }
}

/// The messages of a line, each with its head.
fn parts(line: &str) -> Vec<(&str, &str)> {
    let mut l = split(line).unwrap_or_else(|| panic!("not NCCL's: {line}"));
    let mut all = Vec::new();
    while let Some(glued) = split_glued(&l) {
        all.push((l.who, l.message[..glued.at].trim()));
        l = glued.inner;
    }
    all.push((l.who, l.message));
    all
}

#[test]
fn joined_lines_lose_no_message() {
    let (a, b) = ("n1:5:6 [0]", "n1:5:7 [1]");
    for (line, want) in [
        ("n1:5:6 [0] NCCL INFO Using network IB n1:5:7 [1] NCCL INFO x", vec![(a, "Using network IB"), (b, "x")]),
        // The release has no head.
        (
            "n1:5:6 [0] misc/x.cc:1 NCCL WARN no y NCCL version 2.18.1+cuda12.1 n1:5:7 [1] NCCL INFO x n1:5:6 [0] NCCL INFO z",
            vec![(a, "no y"), ("", "2.18.1+cuda12.1"), (b, "x"), (a, "z")],
        ),
        (
            "n1:5:6 [0] NCCL INFO x NCCL version 2.18.1+cuda12.1n1:5:7 [1] NCCL INFO z",
            vec![(a, "x"), ("", "2.18.1+cuda12.1"), (b, "z")],
        ),
        ("n1:5:6 [0] NCCL INFO x NCCL version 2.18.1+cuda12.1", vec![(a, "x"), ("", "2.18.1+cuda12.1")]),
        ("NCCL version 2.18.1+cuda12.1 n1:5:7 [1] NCCL INFO x", vec![("", "2.18.1+cuda12.1"), (b, "x")]),
        (
            "NCCL version 2.18.1+cuda12.1 [1,0]<stdout>:n1:5:7 [1] NCCL INFO x",
            vec![("", "2.18.1+cuda12.1 [1,0]<stdout>:"), (b, "x")],
        ),
        // Behind another program's words the release is lost, what follows is not.
        ("done NCCL version 2.18.1+cuda12.1 n1:5:7 [1] NCCL INFO x", vec![(b, "x")]),
        (
            "n1:5:6 [0] NCCL INFO NCCL version 2.26.2+cuda12.2 n1:5:7 [1] NCCL INFO x",
            vec![(a, "NCCL version 2.26.2+cuda12.2"), (b, "x")],
        ),
        // A plugin says what it was built for.
        (
            "n1:5:6 [0] NCCL INFO NET/X built for NCCL version 2.19.3 or later n1:5:7 [1] NCCL INFO x",
            vec![(a, "NET/X built for NCCL version 2.19.3 or later"), (b, "x")],
        ),
        ("n1:5:6 [0] NCCL INFO x [1] NCCL INFO y", vec![(a, "x"), ("", "y")]),
        ("n1:5:6 [0] NCCL INFO set NCCL WARN or NCCL INFO", vec![(a, "set NCCL WARN or NCCL INFO")]),
    ] {
        assert_eq!(parts(line), want, "{line}");
    }
}

#[test]
fn a_release_is_read_behind_what_other_lines_stand_behind() {
    for before in [
        "",
        "> ",
        "> > ",
        "10.0.0.9 | ",
        "10.0.0.9: ",
        "> 10.0.0.9 | ",
        "worker: ",
        "| ",
        "│ ",
        "[1,0]<stdout>:",
        "0: ",
    ] {
        let line = format!("{before}NCCL version 2.7.8+cuda10.2");
        assert_eq!(split(&line).map(|l| Message::read(&l)), Some(Message::Version("2.7.8+cuda10.2")), "{line}");
    }
    for line in [
        "> NCCL version 2.21.5 hangs here",
        "We have NCCL version 2.7.8+cuda10.2",
        "- NCCL version 2.7.8+cuda10.2",
        "`NCCL version 2.7.8+cuda10.2` is what it prints",
        "> NCCL version 2.7.8+cuda10.2 and it hangs",
        "torch is built with NCCL version 2.7.8+cuda10.2",
    ] {
        assert_eq!(split(line), None, "{line}");
    }
}

#[test]
fn a_list_that_is_cut_says_so() {
    let names = |list| nics(list).map(|n| n.name).collect::<Vec<_>>();
    for (list, cut, want) in [
        ("[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>", false, vec!["mlx5_0", "mlx5_1"]),
        ("[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.", false, vec!["mlx5_0", "mlx5_1"]),
        ("[0]eth0:10.0.0.1<0> [1]eth1:fe80::1%eth1<0>", false, vec!["eth0", "eth1"]),
        ("[0]mlx5_0:1/IB [1]mlx5_1:1/IB", true, vec!["mlx5_0", "mlx5_1"]),
        ("[0]mlx5_0:1/IB [1]mlx5_1:1/I", true, vec!["mlx5_0"]),
        ("[0]mlx5_0:1/IB [1]mlx5_1:1", true, vec!["mlx5_0"]),
        ("[0]mlx5_0:1/IB [1]m", true, vec!["mlx5_0"]),
        ("[0]mlx5_0:1/IB [", true, vec!["mlx5_0"]),
        ("[0]eth0:10.0.0.1<0> [1]eth1:10.0", true, vec!["eth0", "eth1"]),
    ] {
        assert_eq!((is_cut(list), names(list)), (cut, want), "{list}");
    }
    assert_eq!(oob("[0]mlx5_0:1/IB ; OOB eth0:10."), None);
    let whole = "[0]mlx5_0:1/IB [1]mlx5_11:1:0:3/RoCE [RO]; OOB eth0:10.0.0.1<0>";
    assert_eq!(NicList::read(whole), Some(NicList { nics: 2, whole: true }));
    // Cut anywhere it is still one, and no longer whole.
    for end in 0..whole.len() {
        assert!(NicList::read(&whole[..end]).is_some_and(|l| !l.whole && l.nics <= 2), "{}", &whole[..end]);
    }
    for other in [
        "[0]mlx5_0:1/IB ...",
        "[0]mlx5_0:1/IB and more",
        "[1]mlx5_0:1/IB [2]x:1/IB",
        "[0]mlx5_0:1/IB ``` x",
        "[0]mlx5_0:1/IB [RO];OOB eth0:1.1<0>",
        "x",
    ] {
        assert_eq!(NicList::read(other), None, "{other}");
    }
}

mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_panics(text in "(.{0,20})(NCCL )?(INFO |WARN |version )?(2\\.18\\.1\\+cuda12 |n:1:2 \\[0\\] NCCL INFO )?(Channel |NET/IB : |comm |GPU Direct RDMA |Ring )?.{0,80}") {
            if let Some(l) = split(&text) {
                let _ = Message::read(&l);
                let _ = Who::read(l.who);
                let _ = stamp::find(l.before);
                let _ = wording::releases(l.message);
                let _ = split_glued(&l).map(|g| (l.message.get(..g.at), g.inner));
                let _ = (NicList::read(l.message), is_cut(l.message), nics(l.message).count());
            }
        }
    }
}

/// Lines of releases 2.8 to 2.30 and of RCCL.
#[test]
fn graphs() {
    use graph::{Graph, Path, Search};
    let search = |pattern, channels, intra, inter, gpus, nics| {
        Graph::Search(Search { pattern, channels, intra, inter, gpus, nics })
    };
    let paths = |from, to| Graph::Paths { from, to };
    for (text, want) in [
        ("=== System : maxBw 48.0 totalBw 370.8 ===", Some(Graph::Tree)),
        ("=== System : maxWidth 12.0 totalWidth 24.0 ===", Some(Graph::Tree)),
        ("==========================================", Some(Graph::Tree)),
        ("CPU/FFFFFFFFFFFFFFFF (1/1/1)", Some(Graph::Tree)),
        ("+ PCI[24.0] - PCI/0-1000 (1002147800000000)", Some(Graph::Tree)),
        ("+ NET[50.0] - NET/0-c (0/d4f9fc0003ae6d94/1/50.000000)", Some(Graph::Tree)),
        ("              + XGMI[24.0] - DEV/0-e000", Some(Graph::Tree)),
        ("GPU/80 :GPU/80 (0/5000.000000/LOC)", Some(paths("GPU/80", "GPU/80 (0/5000.000000/LOC)"))),
        ("NET/0 :GPU/80 (3/0.312500/PHB) ", Some(paths("NET/0", "GPU/80 (3/0.312500/PHB) "))),
        (
            "Pattern 4, crossNic 0, nChannels 1, bw 0.240000/0.240000, type LOC/PHB, sameChannels 1",
            Some(search(4, 1, 24, 24, "LOC", "PHB")),
        ),
        (
            "Pattern 4, crossNic 0, nChannels 4, speed 1.200000/1.200000, type SYS/SYS, sameChannels 0",
            Some(search(4, 4, 120, 120, "SYS", "SYS")),
        ),
        (
            "Pattern 4, crossNic 0, nChannels 1, bw 20.0/20.0, type PHB/PIX",
            Some(search(4, 1, 2000, 2000, "PHB", "PIX")),
        ),
        ("Pattern 4, crossNic 0, nChannels 2, speed 12/12, nvlink 0, type 3, sameChannels 1", None),
        (" 0 : NET/3 GPU/0 GPU/1 NET/2", Some(Graph::Channel { has_net: true })),
        ("15 : GPU/0-b000 GPU/0-e000", Some(Graph::Channel { has_net: false })),
        ("NET/IB : Using [0]mlx5_0:1/IB", None),
        ("NET/Socket : No device found.", None),
        ("GPU Direct RDMA Enabled for HCA 0 'mlx5_0'", None),
        ("+ someone wrote this", None),
        ("0 : a list", None),
        ("Pattern of use", None),
    ] {
        let line = format!("n:1:1 [0] NCCL INFO {text}");
        let got = match read(&line) {
            Message::Graph(g) => Some(g),
            _ => None,
        };
        assert_eq!(got.is_some(), want.is_some(), "{text}: {:?}", read(&line));
        assert_eq!(graph::read(text), want, "{text}");
    }
    let slow = "n:1:1 [0] NCCL INFO              + PCI[0.2] - PCI/0-65000 (104c823200000000)";
    assert!(matches!(read(slow), Message::SlowLink { centi: 20, .. }));
    let row = "GPU/0-1b000 (0/5000.0/LOC) CPU/0 (2/24.0/PHB) NET/0 (3/12.0/PIX) NET/1 (6/10.0/SYS) NET/2 (5/12.0/PHB) NET/3 (";
    assert_eq!(graph::paths(row).count(), 5);
    assert_eq!(graph::nearest_net(row), Some(Path { to: "NET/0", hops: 3, centi: 1200, kind: "PIX" }));
    // More bandwidth is nearer than a shorter path.
    let nearest = graph::nearest_net("NET/0 (3/3.1/PIX) NET/1 (5/24.0/PHB)");
    assert_eq!(nearest.map(|p| p.to), Some("NET/1"));
    assert_eq!(graph::nearest_net("GPU/0 (0/5000.0/LOC)"), None);
    for (name, address) in [
        ("GPU/0-1b000", Some("0000:1b:00.0")),
        ("GPU/AB000", Some("0000:ab:00.0")),
        ("GPU/0-118000", Some("0001:18:00.0")),
        ("GPU/80", Some("0000:00:08.0")),
        ("GPU/435e00000", Some("435e:00:00.0")),
        ("GPU/0-0-47000", Some("0000:47:00.0")),
        ("GPU/x", None),
        ("GPU", None),
    ] {
        assert_eq!(graph::address(name).map(|a| a.to_string()).as_deref(), address, "{name}");
    }
}
