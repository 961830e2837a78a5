//! What is fuzzed: every parser of `linerate-formats`, the archive reader, and the whole way to a report.

use crate::page::inert;
use linerate_fleet::Profile;
use linerate_fleet::diff::diff;
use linerate_formats as f;
use linerate_formats::parsers::parsers;
use linerate_node::Node;
use linerate_remedy::{Plan, address, export, plan};
use linerate_report::{Report, Style};
use linerate_snapshot::{Output, OutputKind, Reader, Snapshot};
use linerate_topology::xml::{Dialect, Document};
use linerate_topology::{Analysis, Config, Env, Input, Version};
use std::hint::black_box;

/// A name, and what is done with the bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// As people name it: a tool's or a parser's name.
    pub name: &'static str,
    /// Takes any bytes, and must neither panic nor cost more than they are worth.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($name:literal => $run:expr),* $(,)?) => { &[$(Target { name: $name, run: $run }),*] };
}

fn text(b: &[u8]) -> String {
    String::from_utf8_lossy(b).into_owned()
}

/// Every parser of `linerate-formats`, but where a target here does more with the same bytes; and what is not in that crate.
pub fn targets() -> Vec<Target> {
    let own = |name: &str| OWN.iter().any(|t| t.name == name);
    let parsers = parsers().filter(|(name, _)| !own(name)).map(|(name, run)| Target { name, run });
    parsers.chain(OWN.iter().copied()).collect()
}

static OWN: &[Target] = targets! {
    "hand-call" => crate::hand::call,
    "hand-answer" => crate::hand::answer,
    "plan" => |b| { black_box(Plan::read(b).is_ok()); },
    "plan-of-files" => planned,
    "policy" => crate::policies::policy,
    "policy-condition" => crate::policies::condition,
    "rdma-topo-dump" => |b| {
        black_box(f::rdma_topo_dump::parse(b).is_ok());
        if let Ok(s) = linerate_snapshot::load_bytes(b, "rdma_topo.json") {
            let _ = black_box(linerate_snapshot::rdma_dump::print(&s));
            report(&s);
        }
    },
    "cut" => cut,
    "nccl-log" => crate::logs::lines,
    "doctor" => crate::logs::stream,
    "doctor-report" => crate::logs::report,
    "nccl-topo-xml" => |b| {
        for dialect in [Dialect::Nccl, Dialect::Lenient] {
            let Ok(document) = Document::parse(b, dialect) else { continue };
            black_box(document.to_xml(dialect));
            for input in [Input::File, Input::Fused] {
                black_box(Analysis::new(&document, &Config { input, ..Config::default() }).is_ok());
            }
        }
    },
    "nodeset" => nodeset,
    "inventory" => inventory,
    "fleet-index" => crate::fleet::index,
    // Texts without a parser in `linerate-formats`.
    "detect-virt" => |b| whole(OutputKind::DetectVirt, b),
    "modinfo-nvidia" => |b| whole(OutputKind::ModinfoNvidia, b),
    "rdma-topo" => |b| whole(OutputKind::RdmaTopo, b),
    "rdma-topo-check" => |b| whole(OutputKind::RdmaTopoCheck, b),
    "virsh-xml" => |b| whole(OutputKind::VirshXml, b),
    "topology-env" => |b| { black_box(Env::parse_lines(&text(b), Version::default())); },
    "env-readers" => |b| { environment(&linerate_env::read::read(None, b)); },
    "env-forms" => |b| {
        use linerate_env::read::{Form, read_as};
        for form in [Form::Environ, Form::List, Form::Conf, Form::Script, Form::Manifest, Form::Dockerfile, Form::Log] {
            environment(&read_as(form, Some("fuzz"), b));
        }
    },
    "collector-script" => |b| {
        if let Some(s) = crate::collector::read(b) {
            report(&s);
        }
    },
    "archive" => |b| { black_box(Reader::new().read_bytes(b, "fuzz").is_ok()); },
    "archive-report" => |b| {
        if let Ok(s) = Reader::new().read_bytes(b, "fuzz") {
            report(&s);
        }
    },
    "pasted-report" => |b| {
        // Some of the kinds that give facts: the length decides which.
        let kinds = OutputKind::ALL.iter().filter(|k| matches!(k.gives(), f::Gives::Facts | f::Gives::KernelLog));
        for kind in kinds.skip(b.len() % 5).step_by(5) {
            report(&pasted(*kind, b));
        }
    },
};

/// A paste, at once and in pieces: what is cut out of it is the same.
fn cut(b: &[u8]) {
    let whole = linerate_snapshot::cut::nodes("fuzz", b, None);
    let mut cutter = linerate_snapshot::cut::Cutter::new(None);
    b.chunks(1 + b.len() % 97).for_each(|piece| cutter.feed(piece));
    let pieces = cutter.finish("fuzz");
    assert_eq!((whole.kinds, whole.names, whole.other), (pieces.kinds, pieces.names, pieces.other));
}

/// A set of nodes: folded it is the same set, with each operation as sets have it.
fn nodeset(b: &[u8]) {
    use linerate_fleet::nodeset::{Groups, NodeSet, names_of, parse};
    struct Site(Vec<String>);
    impl Groups for Site {
        fn group(&self, _: Option<&str>, name: &str) -> Option<Vec<String>> {
            // The text itself may name it.
            Some(if name == "a" { self.0.clone() } else { vec![format!("n[1-9],{name}")] })
        }
        fn all(&self, _: Option<&str>) -> Option<Vec<String>> {
            Some(vec!["n[1-99],r[1-4]n[01-20]".to_owned()])
        }
    }
    let text = text(b);
    let any: NodeSet = text.lines().collect();
    assert!(text.lines().all(|name| any.contains(name)), "a name was lost");
    let site = Site(text.lines().map(str::to_owned).collect());
    let Ok(set) = parse(&text, &site) else { return };
    let folded = set.to_string();
    // Ranges that were written with steps are longer.
    if folded.len() <= f::bounds::NODESET_TEXT {
        assert_eq!(names_of(&folded).as_ref(), Ok(&set), "{folded}");
    }
    assert_eq!(set.iter().count(), set.len());
    assert!(set.clone().difference(&set).is_empty() && set.clone().intersection(&set) == set);
    assert!(set.clone().symmetric_difference(set).is_empty());
}

/// Sources of names, each form with the same bytes.
fn inventory(b: &[u8]) {
    use linerate_gather::inventory::{Config, readers};
    let text = text(b);
    for found in [
        readers::genders(&text, "fuzz"),
        readers::hosts(&text, "fuzz"),
        readers::sinfo(&text),
        readers::flat(&text, "s", "fuzz"),
        readers::yaml(&text, "fuzz"),
        readers::ssh_config(&text, "fuzz").found,
    ] {
        black_box(found);
    }
    black_box((readers::conf(&text), readers::kubernetes(b, "fuzz").is_ok()));
    if let Ok(config) = Config::read(&text) {
        black_box(config.found("fuzz"));
    }
}

/// Files of a node that a plan reads beside its findings, all with these bytes: what is made of them goes to shells and files.
fn planned(b: &[u8]) {
    const NIC: &str = "sys/devices/pci0000:00/0000:00:03.0/net/eth1";
    let mut s = Snapshot::new("fuzz");
    for path in [
        "proc/cmdline",
        "etc/kernel/cmdline",
        "etc/default/grub.d/90-linerate.cfg",
        "etc/modprobe.d/theirs-mlx.conf",
        "etc/tuned/active_profile",
        "boot/loader/entries/a-1.conf",
        "run/systemd/network/10-netplan-eth1.network",
        "etc/systemd/network/20-eth.network",
        "etc/NetworkManager/system-connections/eth1.nmconnection",
        "run/NetworkManager/devices/3",
    ] {
        s.add_file(path, b);
    }
    s.add_file("proc/sys/kernel/osrelease", b"6.1.0\n");
    s.add_file("proc/sys/kernel/numa_balancing", b"1\n");
    s.add_file(&format!("{NIC}/mtu"), b"1500\n");
    s.add_file(&format!("{NIC}/ifindex"), b"3\n");
    s.add_link("sys/class/net/eth1", format!("../../../{NIC}").as_bytes());
    let node = Node::decode(&s);
    let audit = linerate_rules::audit(&node, &s, linerate_rules::rules());
    let addresses = text(b).parse::<address::Given>().or_else(|_| "eth1=10.7.0.1/24".parse()).into_iter().collect();
    let plan = plan::plan(&s, &node, &audit, &plan::Options { addresses, ..plan::Options::default() });
    assert_eq!(plan.digest(), plan.hash, "a plan has the hash of its content");
    for made in [export::shell(&plan), export::ansible(&plan), export::nmstate(&plan), export::cloud_init(&plan)] {
        inert(made.text.as_bytes(), &['\t']);
    }
}

/// Judges what was read, and shows it.
fn environment(read: &linerate_env::read::Read) {
    use linerate_report::env::paste::Form;
    let context = linerate_env::Context { nccl: Some(Version::REFERENCE), ..Default::default() };
    let judgements = linerate_env::judge(&read.settings, &context);
    let recommendation = linerate_env::recommend(&context);
    let env = linerate_report::env::Env {
        sources: &[],
        context: &context,
        release_from: None,
        node: None,
        judgements: &judgements,
        recommendation: &recommendation,
        dropped: read.dropped,
        notes: &read.notes,
        incomplete: false,
    };
    let mut page = Vec::new();
    let _ = linerate_report::env::text::render(&env, Style::default(), &mut page);
    inert(&page, &[]);
    for form in [Form::Shell, Form::K8s, Form::Sbatch] {
        page.clear();
        let _ = linerate_report::env::paste::render(&env, form, &mut page);
        // A shell's word keeps its tabs.
        inert(&page, &['\t']);
    }
}

fn pasted(kind: OutputKind, bytes: &[u8]) -> Snapshot {
    let mut s = Snapshot::new("fuzz");
    if let Some(entry) = s.add_file("pasted/text", bytes) {
        s.outputs.push(Output { kind, entry, argv: Vec::new(), status: None });
    }
    s
}

/// A pasted text on its whole way, as this kind and as what it looks like.
fn whole(kind: OutputKind, b: &[u8]) {
    report(&pasted(kind, b));
    if let Ok(s) = linerate_snapshot::load_bytes(b, "pasted") {
        report(&s);
    }
}

fn report(s: &Snapshot) {
    let node = Node::decode(s);
    // Whatever a source is, it is the same as itself.
    let profile = Profile::of("fuzz", &node, s, &[]);
    let found = diff(&profile, &profile);
    assert!(found.differences.is_empty() && found.verdicts.is_empty() && found.unseen == [0, 0], "{found:?}");
    let audit = linerate_rules::audit(&node, s, linerate_rules::rules());
    let report = Report { audit: &audit, node: &node, snapshot: s };
    let style = Style { verbose: true, ..Style::default() };
    let page = linerate_report::terminal::to_string(&report, style);
    inert(page.as_bytes(), &[]);
    inert(linerate_report::json::to_string(&report, linerate_report::json::Version::Two).as_bytes(), &[]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_text_has_a_target_and_every_seed() {
        let names: HashSet<&str> = targets().iter().map(|t| t.name).collect();
        assert_eq!(names.len(), targets().len(), "a name twice");
        let parsed = |k: &&f::Kind| k.tool().read.is_some();
        assert!(f::Kind::ALL.iter().filter(parsed).all(|k| names.contains(k.tool().name)));
        assert_eq!(crate::seeds::names().filter(|n| !names.contains(n)).collect::<Vec<_>>(), Vec::<&str>::new());
    }
}
