//! Composed nodes as snapshots.
#![allow(dead_code, unreachable_pub)] // each test file uses a part
#![allow(clippy::expect_used, clippy::panic, clippy::print_stderr)] // a test may stop

use linerate_compose::{Description, Entry, Tree};
use linerate_node::Node;
use linerate_node::counters::{Growth, Sample};
use linerate_rules::{Audit, Depth, Severity, Status, Verdict, answers, audit, rules, survey};
use linerate_snapshot::{Coverage, Manifest, Output, OutputKind, Snapshot, Why};
use std::path::{Path, PathBuf};

pub fn nodes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes")
}

/// Descriptions of a directory, sorted.
pub fn descriptions(dir: &Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .map(|e| e.expect("directory entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    out.sort();
    out
}

/// Descriptions of the lab's nodes, and of those that are broken.
pub fn all_descriptions() -> Vec<PathBuf> {
    let mut out = descriptions(&nodes());
    out.extend(descriptions(&nodes().join("broken")));
    out
}

pub fn load(path: &Path) -> (Description, Snapshot) {
    let d = Description::load(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let tree = d.compose().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let s = snapshot(&tree, &path.display().to_string());
    (d, s)
}

pub fn base(name: &str) -> Snapshot {
    load(&nodes().join(format!("{name}.toml"))).1
}

/// What the capture would have made of the tree.
pub fn snapshot(tree: &Tree, label: &str) -> Snapshot {
    let mut s = Snapshot::new(label);
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    for (path, entry) in &tree.entries {
        match entry {
            Entry::File(data) => s.add_file(path, data),
            Entry::Link(target) => s.add_link(path, target.as_bytes()),
            Entry::Dir => s.add_dir(path),
            Entry::Denied => s.add_failed(path, Why::Denied),
        };
    }
    if let Some(bytes) = tree.get("linerate/manifest.json") {
        s.manifest = serde_json::from_slice::<Manifest>(bytes).expect("manifest");
    }
    let commands: Vec<&str> = tree.files().filter_map(|(p, _)| p.strip_prefix("cmd/")?.strip_suffix("/argv")).collect();
    for n in commands {
        let argv = tree.get(&format!("cmd/{n}/argv")).expect("listed");
        let argv: Vec<String> = serde_json::from_slice(argv).expect("argv");
        let linerate_snapshot::Lookup::Found(entry) = s.resolve(&format!("cmd/{n}/stdout")) else { continue };
        s.outputs.push(Output { kind: kind(&argv), entry, argv, status: Some(0) });
    }
    s
}

fn kind(argv: &[String]) -> OutputKind {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["lspci", ..] => OutputKind::Lspci,
        ["dmesg" | "journalctl", ..] => OutputKind::Dmesg,
        ["mlxconfig" | "mstconfig", rest @ ..] if rest.contains(&"-j") => OutputKind::MlxconfigJson,
        ["mlxconfig" | "mstconfig", ..] => OutputKind::MlxconfigText,
        ["nvidia-smi", "-q", "-x", ..] => OutputKind::NvidiaSmiXml,
        ["nvidia-smi", "-q", ..] => OutputKind::NvidiaSmiQuery,
        ["nvidia-smi", "topo", "-m", ..] => OutputKind::NvidiaSmiTopo,
        ["nvidia-smi", "topo", "-p2p", ..] => OutputKind::NvidiaSmiP2p,
        ["nvidia-smi", "nvlink", "-e", ..] => OutputKind::NvidiaSmiCounters,
        ["nvidia-smi"] => OutputKind::NvidiaSmiTable,
        ["df", ..] => OutputKind::Df,
        ["amd-smi", ..] => OutputKind::AmdSmi,
        ["rocm-smi", ..] => OutputKind::RocmSmi,
        ["ibstat", ..] => OutputKind::Ibstat,
        ["ibv_devinfo", ..] => OutputKind::IbvDevinfo,
        ["show_gids", ..] => OutputKind::ShowGids,
        ["ibdev2netdev", ..] => OutputKind::Ibdev2netdev,
        ["rdma", "-j", "link", ..] => OutputKind::RdmaLink,
        ["rdma", "-j", "statistic", ..] => OutputKind::RdmaStatistic,
        ["rdma", "system", ..] => OutputKind::RdmaSystem,
        ["mlnx_qos", ..] => OutputKind::MlnxQos,
        ["kubectl", "get" | "describe", "pod" | "pods", ..] => OutputKind::PodSpec,
        ["cat", script] if script.ends_with(".sbatch") => OutputKind::Sbatch,
        ["gpu_burn", ..] => OutputKind::GpuBurn,
        ["sinfo", ..] => OutputKind::Sinfo,
        ["oc", "get", "mcp"] => OutputKind::MachineConfigPools,
        ["kubectl", "get", "nodes"] => OutputKind::KubectlNodes,
        ["systemctl", "cat", ..] => OutputKind::SystemdUnit,
        ["cat", path, ..] if path.contains("/netplan/") => OutputKind::Netplan,
        ["cat", path, ..] if path.contains("/system-connections/") => OutputKind::NetworkManager,
        ["ip", "-d", "link", ..] => OutputKind::IpLink,
        ["docker", "compose", "config", ..] => OutputKind::Compose,
        ["ethtool", "-S", ..] => OutputKind::EthtoolStats,
        ["ethtool", "-a", ..] => OutputKind::EthtoolPause,
        ["virsh", "dumpxml", ..] => OutputKind::VirshXml,
        ["systemd-detect-virt", ..] => OutputKind::DetectVirt,
        ["kubectl", "get", "node" | "nodes", ..] => OutputKind::KubernetesNodes,
        ["scontrol", "show", "node" | "nodes", ..] => OutputKind::SlurmNodes,
        ["modinfo", "nvidia", ..] => OutputKind::ModinfoNvidia,
        _ => OutputKind::Other,
    }
}

/// Adds the output of a command.
pub fn command(s: &mut Snapshot, argv: &[&str], text: &str) {
    let argv: Vec<String> = argv.iter().map(|a| (*a).to_owned()).collect();
    let path = format!("pasted/{}", argv.join("-").replace('/', "_"));
    let entry = s.add_file(&path, text.as_bytes()).expect("a path that is free");
    s.outputs.push(Output { kind: kind(&argv), entry, argv, status: Some(0) });
}

pub fn judge(s: &Snapshot) -> Audit {
    audit(&Node::decode(s), s, rules())
}

/// The same, where all counters were 0 at an earlier reading.
pub fn judge_since_zero(s: &Snapshot) -> Audit {
    let mut node = Node::decode(s);
    let now = Sample::of(s);
    let mut earlier = now.clone();
    earlier.counters.iter_mut().for_each(|c| c.value = 0);
    node.growth = Some(Growth::between([earlier, now], None));
    audit(&node, s, rules())
}

/// Verdicts of one rule as `subject: status severity message`.
pub fn said(a: &Audit, rule: &str) -> Vec<String> {
    a.verdicts.iter().filter(|v| v.rule.id == rule).map(words).collect()
}

pub fn words(v: &Verdict) -> String {
    let severity = if v.finding.status == linerate_rules::Status::Fail { v.severity().name() } else { "" };
    format!("{} {} {severity} {}: {}", v.rule.id, v.finding.status.name(), v.finding.subject, v.finding.message)
}

/// A survey must tell what an audit tells: every answer, and the first in full.
pub fn survey_agrees(node: &Node<'_>, s: &Snapshot, name: &str) {
    let (whole, brief) = (audit(node, s, rules()), survey(node, s, rules(), linerate_rules::Terms::default()));
    let mut told: Vec<_> = whole.verdicts.iter().map(|v| (v.rule.id, v.finding.status, v.severity())).collect();
    let mut counted: Vec<_> = brief.answers.iter().map(|a| (a.rule.id, a.status, a.severity)).collect();
    told.sort_unstable();
    counted.sort_unstable();
    assert_eq!(told, counted, "{name}");
    assert_eq!(whole.exit_code(), brief.exit_code(), "{name}");
    let worst = whole.with(Status::Fail).find(|v| v.severity() > Severity::Info);
    let first = worst.or_else(|| whole.with(Status::Unknown).next());
    let all = |v: &Verdict| format!("{} {:?}", v.rule.id, v.finding);
    assert_eq!(first.map(all), brief.first.as_ref().map(all), "{name}");
    places_agree(&whole, node, s, name);
}

/// What says less tells the same places, and the same words where it says any.
fn places_agree(whole: &Audit, node: &Node<'_>, s: &Snapshot, name: &str) {
    let told = |a: &Audit, words: bool| {
        let place = |v: &Verdict| format!("{:?}", v.finding.evidence.iter().map(|e| e.place).collect::<Vec<_>>());
        let one = |v: &Verdict| {
            let message = if words { v.finding.message.to_string() } else { String::new() };
            (v.rule.id, v.finding.status, v.severity(), v.finding.subject.clone(), place(v), message)
        };
        let mut all: Vec<_> = a.verdicts.iter().map(one).collect();
        all.sort_unstable();
        all
    };
    for (depth, words) in [(Depth::Placed, false), (Depth::Said, true)] {
        assert_eq!(told(&answers(node, s, rules(), depth), words), told(whole, words), "{name} {depth:?}");
    }
}
