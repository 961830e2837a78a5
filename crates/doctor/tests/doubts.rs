//! Lines that look like one cause and are another, or none: what is asserted, what is only possible, what is left open.

use crate::common;

use common::{answer, asserted, ids};

fn symptoms(text: &str) -> Vec<&'static str> {
    answer(text).undecided.iter().map(|u| u.symptom).collect()
}

/// The monitor of PyTorch's watchdog names its reasons itself, and not which it is.
#[test]
fn a_watchdog_without_progress_is_left_open() {
    for line in [
        "[rank1]:[E ProcessGroupNCCL.cpp:1316] [PG 0 Rank 1] Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=103",
        "[rank1]:[F ProcessGroupNCCL.cpp:1169] [PG 0 Rank 1] [PG 0 Rank 1] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API hang",
        "10:00:00.680 [rank4]:[E205 10:00:00.375750231 ProcessGroupNCCL.cpp:1870] [PG ID 12 PG GUID 99(EXPERT_GROUP) Rank 4] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.",
    ] {
        let a = answer(&format!("{line}\n"));
        assert_eq!((ids(&a).len(), a.exit_code()), (0, 2), "{line}");
        assert_eq!(a.undecided.iter().map(|u| u.symptom).collect::<Vec<_>>(), ["symptom/hang"], "{line}");
        assert!(a.undecided[0].candidates.contains(&"gpu/hung"), "{line}");
    }
    let xid = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n";
    let stuck = "[rank1]:[E ProcessGroupNCCL.cpp:1316] [PG 0 Rank 1] Heartbeat monitor timed out!\n";
    assert_eq!(symptoms(&format!("{xid}{stuck}")), [""; 0]);
}

/// RCCL reads the kernel's arguments alone: passthrough may be the kernel's default, and the other variant is of a value that does not exist.
#[test]
fn rccls_warnings_of_the_iommu_are_possible_or_nothing() {
    let warn = |what: &str| {
        format!(
            "n1:7:7 [0] /src/rccl/src/init.cc:132 NCCL WARN Missing \"{what}\" from kernel command line which can lead to system instablity or hang!\n"
        )
    };
    let a = answer(&warn("iommu=pt"));
    assert_eq!((ids(&a), asserted(&a).len(), a.exit_code()), (vec!["p2p/iommu-translates"], 0, 1));
    assert_eq!(ids(&answer(&warn("amd_iommu=on"))), [""; 0]);
    let said = answer("n1:7:7 [0] NCCL INFO RCCL version : 2.22.3-HEAD:271856d\n");
    assert_eq!(said.jobs[0].releases, ["2.22.3"]);
}

/// Up to 2.4.7 the list of interfaces is of the bootstrap; later it is of the network that is chosen.
#[test]
fn old_releases_list_their_sockets_first() {
    let job = |version: &str| {
        let of = |host: &str, pid: u32| {
            format!(
                "{host}:{pid}:1{pid} [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.{pid}<0>\n{host}:{pid}:1{pid} [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so).\n"
            )
        };
        format!("NCCL version {version}+cuda10.0\n{}{}", of("a", 7), of("b", 8))
    };
    for (version, said) in [("2.4.2", false), ("2.4.7", false), ("2.4.8", true)] {
        let a = answer(&job(version));
        let sockets = a.causes.iter().any(|c| c.id.starts_with("net/"))
            || a.undecided.iter().any(|u| u.symptom == "symptom/falls-back-to-sockets");
        assert_eq!(sockets, said, "{version}");
    }
}

/// An address of a family that does not exist came from a peer.
#[test]
fn a_garbled_address_is_no_missing_interface() {
    let using = "a:7:8 [4] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n";
    let family = |n: u32| {
        format!(
            "a:7:8 [4] misc/socket.cc:397 NCCL WARN Net : connecting to address  with family {n} is neither AF_INET(2) nor AF_INET6(10)\n"
        )
    };
    for text in [family(33621), format!("{using}{}", family(33621)), format!("{using}{}", family(0))] {
        let a = answer(&text);
        assert_eq!((ids(&a), asserted(&a).len()), (vec!["job/version-mismatch"], 0), "{text}");
    }
    assert_eq!(ids(&answer(&family(0))), ["net/no-interface"]);
}

/// A rank's proxy is a thread of its own process: where that failed, no other rank ended.
#[test]
fn a_closed_connection_to_the_own_host_is_no_peer() {
    let closed = |peer: &str| {
        format!("n1:7:8 [1] misc/socket.cc:538 NCCL WARN Net : Connection closed by remote peer {peer}<47861>\n")
    };
    let proxy = "n1:7:9 [1] proxy.cc:1119 NCCL WARN [Proxy Service 9] Failed to execute operation Connect from rank 9, retcode 6\n";
    let using = "n1:7:8 [1] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n";
    for text in [
        format!("{proxy}{}", closed("n1.cluster.example")),
        format!("{proxy}{}", closed("10.9.9.9")),
        format!("{using}{proxy}{}", closed("10.0.0.1")),
    ] {
        let a = answer(&text);
        assert_eq!(ids(&a), [""; 0], "{text}");
        assert_eq!(a.undecided.iter().map(|u| u.symptom).collect::<Vec<_>>(), ["symptom/hang"], "{text}");
    }
    assert_eq!(ids(&answer(&closed("n2.cluster.example"))), ["job/peer-exited"]);
    // The connection that broke before is another host's.
    let recv = "n1:7:9 [1] misc/socket.cc:518 NCCL WARN Net : Call to recv from 10.0.0.2<58355> failed : Broken pipe\n";
    let a = answer(&format!("{recv}{proxy}{}", closed("n1.cluster.example")));
    assert_eq!(ids(&a), ["job/peer-exited"]);
    assert!(a.causes[0].summary.contains("10.0.0.2"), "{}", a.causes[0].summary);
}

/// CUDA refuses as multicast memory is made: the source of the line says so. No memory is another matter.
#[test]
fn cuda_in_nvls_is_multicast() {
    let line = |place: &str, error: &str| format!("n1:7:8 [2] {place} NCCL WARN Cuda failure {error}\n");
    assert_eq!(asserted(&answer(&line("transport/nvls.cc:244", "1 'invalid argument'"))), ["gpu/nvlink"]);
    assert_eq!(asserted(&answer(&line("transport/nvls.cc:244", "'invalid argument'"))), ["gpu/nvlink"]);
    assert_eq!(ids(&answer(&line("transport/net.cc:244", "1 'invalid argument'"))), [""; 0]);
    assert_eq!(asserted(&answer(&line("transport/nvls.cc:244", "2 'out of memory'"))), ["gpu/out-of-memory"]);
}

/// What ended the job comes before what is merely open beside it.
#[test]
fn a_fatal_warning_is_said_beside_sockets() {
    let text = "n1:7:8 [0] NCCL INFO NET/IB : No device found.\nn1:7:8 [0] NCCL INFO NET/Socket : Using [0]ens160:10.0.0.1<0>\n\
                n1:7:8 [0] NCCL INFO Using network Socket\n\
                n1:7:9 [0] graph/xml.cc:332 NCCL WARN Could not find real path of /sys/class/pci_bus/0000:0d/../../0000:0d:00.0\n\
                n1:7:9 [0] NCCL INFO graph/xml.cc:648 -> 2\n";
    assert_eq!(symptoms(text), ["symptom/hang", "symptom/falls-back-to-sockets"]);
}

/// PyTorch's store is reached by MASTER_ADDR; on the loopback address no network is asked.
#[test]
fn the_store_is_no_connection_of_nccl() {
    use linerate_rules::Action;
    let advice = |address: &str| {
        let a = answer(&format!(
            "[E socket.cpp:793] [c10d] The client socket has timed out after 60s while trying to connect to {address}.\n"
        ));
        assert_eq!(asserted(&a), ["job/bootstrap-unreachable"], "{address}");
        match a.causes[0].remedy.clone().map(|r| r.action) {
            Some(Action::Investigate { what }) => what.to_string(),
            other => format!("{other:?}"),
        }
    };
    assert!(advice("192.0.2.1:1234").contains("MASTER_ADDR"));
    assert!(!advice("(127.0.0.1, 48391)").contains("between the nodes"));
}

/// Settings that differ between ranks give messages of another size, too.
#[test]
fn sizes_that_differ_are_not_certainly_the_programs() {
    use linerate_doctor::answer::Confidence;
    let line = "a:7:8 [0] transport/net_ib.cc:1038 NCCL WARN NET/IB : req 0/1 tag 0 peer 10.0.0.6<58683> collective mismatch error, local size 496640 remote size 65536\n";
    let a = answer(line);
    assert_eq!(a.causes.first().map(|c| (c.id, c.confidence)), Some(("job/collective-mismatch", Confidence::Likely)));
}

/// An excerpt shows less than the whole: none of its cuts says more.
#[test]
fn pairs_alone_decide_nothing() {
    let env = "n1:7:8 [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to PHB\n";
    let boot = "n1:7:8 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n";
    let far = "n1:7:8 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 18000 / HCA 0 (distance 5 > 4)\n";
    let near = "n1:7:8 [0] NCCL INFO GPU Direct RDMA Enabled for GPU 86000 / HCA 0 (distance 4 <= 4), read 0\n";
    for text in [format!("{env}{far}{near}"), format!("{far}{near}"), format!("{boot}{far}{near}"), far.to_owned()] {
        let a = answer(&text);
        assert_eq!(asserted(&a), [""; 0], "{text}");
        assert_ne!(a.exit_code(), 0, "{text}");
    }
}
