//! Logs beside nodes: what the log shows comes first, a node of another host is no evidence, and a contradiction is said.

#[path = "../../rules/tests/common/mod.rs"]
mod composed;

use linerate_doctor::answer::{Answer, Confidence};
use linerate_doctor::{NodeGiven, Observer, Reader, conclude};
use linerate_snapshot::Snapshot;

/// A node on which GPU memory cannot be registered, by name.
fn node(host: &str) -> Snapshot {
    let (_, mut s) = composed::load(&composed::nodes().join("broken/gpumem--registration-path.toml"));
    s.manifest.host = host.to_owned();
    s.manifest.redacted = false;
    s
}

/// Two ranks of one node each.
fn log(carrier: &str, more: &str) -> String {
    let mut out = String::new();
    for (host, rank, peer) in [("gpu-0", 0, 1), ("gpu-1", 1, 0)] {
        let head = format!("{host}:10{rank}:11{rank} [0] NCCL INFO");
        out +=
            &format!("{head} NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.{rank}<0>\n{head} Using network IB\n");
        out += &format!(
            "{head} comm 0x55d0 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 18000 commId 0x7a - Init START\n"
        );
        out += &format!("{head} Channel 00/0 : {rank}[0] -> {peer}[0] [send] via {carrier}\n");
        out += &format!("{head} Channel 00/0 : {peer}[0] -> {rank}[0] [receive] via {carrier}\n");
    }
    out + more
}

fn answer(log: &str, node: &Snapshot) -> Answer {
    let mut o = Observer::default();
    let mut reader = Reader::new(&mut o, "log");
    reader.feed(&mut o, log.as_bytes());
    reader.finish(&mut o);
    conclude(&o, &[NodeGiven { name: "node.tar".to_owned(), snapshot: node }])
}

const RULE: &str = "gpumem/registration-path";

fn names(a: &Answer, rule: &str) -> bool {
    a.causes.iter().any(|c| c.id == rule || c.evidence.iter().any(|e| e.text.contains(rule)))
}

#[test]
fn a_node_that_the_log_contradicts_is_no_cause() {
    let a = answer(&log("NET/IB/0/GDRDMA", ""), &node("gpu-0"));
    assert!(!names(&a, RULE), "{:?}", a.causes);
    assert!(a.not_causes.iter().any(|n| n.what.contains(RULE) && n.why.contains("contradicts")), "{:?}", a.not_causes);
    // Where connections lack it, the same node tells why.
    let a = answer(&log("NET/IB/0", ""), &node("gpu-0"));
    assert!(names(&a, RULE) || a.causes.iter().any(|c| c.id == "gdr/no-peer-memory"), "{:?}", a.causes);
}

#[test]
fn a_node_of_another_host_is_no_evidence() {
    for host in ["gpu-0", "GPU-1.example.net"] {
        let a = answer(&log("NET/IB/0", ""), &node(host));
        assert!(!a.limits.iter().any(|l| l.contains("was not used")), "{host}: {:?}", a.limits);
    }
    let a = answer(&log("NET/IB/0", ""), &node("storage-7"));
    assert!(a.limits.iter().any(|l| l.contains("storage-7") && l.contains("gpu-0")), "{:?}", a.limits);
    assert!(a.causes.is_empty(), "{:?}", a.causes);
    // A redacted name says nothing either way.
    let mut redacted = node("host-1f2e");
    redacted.manifest.redacted = true;
    assert!(!answer(&log("NET/IB/0", ""), &redacted).limits.iter().any(|l| l.contains("was not used")));
}

#[test]
fn what_the_log_shows_comes_before_what_only_the_node_shows() {
    let fatal = "gpu-0:100:110 [0] misc/ibvwrap.cc:1 NCCL WARN Call to ibv_alloc_pd failed with error Operation not permitted\n";
    let a = answer(&log("NET/IB/0", fatal), &node("gpu-0"));
    assert_eq!(a.causes.first().map(|c| c.id), Some("ib/verbs-call-failed"), "{:?}", a.causes);
}

/// A variable that switches off what only some machines have: the node tells.
#[test]
fn nvlink_sharp_off_is_judged_by_the_nodes_gpus() {
    let log = log("NET/IB/0/GDRDMA", "gpu-0:100:110 [0] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.\n");
    let sure = |file: &str| {
        let (_, mut s) = composed::load(&composed::nodes().join(file));
        s.manifest.host = "gpu-0".to_owned();
        s.manifest.redacted = false;
        answer(&log, &s).causes.iter().find(|c| c.id == "env/nvls-off").map(|c| c.confidence)
    };
    assert_eq!(sure("healthy/dgx-h100.toml"), Some(Confidence::Likely));
    assert_eq!(sure("healthy/dgx-a100.toml"), None, "no Hopper: there is nothing to switch off");
    assert_eq!(sure("healthy/l40s-supermicro-521ge.toml"), None, "no NVSwitch");
    let on = log.replace("to 0.", "to 2.");
    let (_, s) = composed::load(&composed::nodes().join("healthy/dgx-h100.toml"));
    assert!(!names(&answer(&on, &s), "env/nvls-off"));
}

/// A finding of a text that a tool printed has the text's line, as a finding of a log has.
#[test]
fn what_a_text_shows_has_its_line() {
    let text =
        b"[    1.5] DMAR: IOMMU enabled\n[    9.5] NVRM: GPU 0000:18:00.0: RmInitAdapter failed! (0x24:0x65:1423)\n";
    let s = linerate_snapshot::load_bytes(text, "dmesg.txt").unwrap();
    for (name, at) in
        [("logs/dmesg.txt", "logs/dmesg.txt:2"), ("dmesg.txt, n1", "dmesg.txt:2"), ("n1", "n1: dmesg.txt:2")]
    {
        let a = conclude(&Observer::default(), &[NodeGiven { name: name.to_owned(), snapshot: &s }]);
        let [c] = a.causes.as_slice() else { panic!("{:?}", a.causes) };
        assert_eq!((c.id, c.evidence[0].at.as_str()), ("gpumem/driver-init", at));
    }
}
