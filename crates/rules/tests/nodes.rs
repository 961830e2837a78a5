//! Every composed node of `lab/nodes` against what its description expects, and what must hold of all rules on all nodes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use crate::common;

use linerate_compose::Description;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_rules::{Severity, Status, Verdict, audit, find, rules};
use linerate_snapshot::{Coverage, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Composing takes longest: once for all tests.
static ALL: LazyLock<Vec<(PathBuf, Description, Snapshot)>> = LazyLock::new(|| {
    let mut out = common::descriptions(&common::nodes());
    out.extend(common::descriptions(&common::nodes().join("healthy")));
    out.extend(common::descriptions(&common::nodes().join("broken")));
    let load = |path: PathBuf| {
        let (d, s) = common::load(&path);
        (path, d, s)
    };
    out.into_iter().map(load).collect()
});

#[test]
fn expectations_hold() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (path, d, s) in ALL.iter() {
        let audit = common::judge(s);
        for e in d.expect.iter().filter(|e| find(&e.rule).is_some()) {
            checked += 1;
            let subject = d.subject(e).unwrap_or_else(|x| panic!("{}: {x}", path.display()));
            let held = audit.verdicts.iter().any(|v| {
                let own = v.finding.subject.to_string();
                v.rule.id == e.rule
                    && v.finding.status.name() == e.status
                    && subject.as_ref().is_none_or(|s| {
                        *s == own || own.strip_prefix(s.as_str()).is_some_and(|r| r.starts_with(['/', ' ']))
                    })
                    && e.severity.as_ref().is_none_or(|s| v.severity().name() == s)
                    && e.message_has.as_ref().is_none_or(|m| v.finding.message.contains(m.as_str()))
            });
            if !held {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                wrong.push(format!("{name}: {e:?} is not among\n  {}", common::said(&audit, &e.rule).join("\n  ")));
            }
        }
    }
    assert!(checked > 10, "only {checked} expectations");
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A page says what a finding can count: none counts more, and where the page says that some do, a node shows it.
#[test]
fn no_finding_is_worse_than_its_page_says() {
    let mut worst: BTreeMap<&str, (Severity, String)> = BTreeMap::new();
    // Rules that judge growth have their worst of two readings.
    let counts = |p: &Path| {
        p.to_string_lossy().contains("errors")
            || p.to_string_lossy().contains("counters")
            || p.to_string_lossy().contains("fabric")
    };
    let since = ALL.iter().filter(|(path, ..)| counts(path)).map(|(path, _, s)| (path, common::judge_since_zero(s)));
    for (path, audit) in ALL.iter().map(|(path, _, s)| (path, common::judge(s))).chain(since) {
        for v in audit.with(Status::Fail) {
            let seen = worst.entry(v.rule.id).or_insert((Severity::Info, String::new()));
            if v.severity() >= seen.0 {
                *seen = (v.severity(), path.display().to_string());
            }
        }
    }
    let over: Vec<_> = rules()
        .iter()
        .filter(|r| worst.get(r.id).is_some_and(|(seen, _)| *seen > r.severity.worst))
        .map(|r| (r.id, &worst[r.id]))
        .collect();
    assert!(over.is_empty(), "{over:#?}");
    let never: Vec<_> = rules()
        .iter()
        .filter(|r| {
            r.severity.worst > r.severity.usual && worst.get(r.id).is_none_or(|(seen, _)| *seen < r.severity.worst)
        })
        .map(|r| r.id)
        .collect();
    assert!(never.is_empty(), "no composed node shows the worst of {never:?}");
}

#[test]
fn every_expectation_names_a_rule_of_the_catalogue() {
    let mut missing: Vec<String> = Vec::new();
    for (_, d, _) in ALL.iter() {
        missing.extend(d.expect.iter().filter(|e| find(&e.rule).is_none()).map(|e| e.rule.clone()));
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "no such rules: {missing:?}");
}

/// Answers that no composed node shows.
const NEVER: &[(&str, &str)] = &[
    // By design: these say what is visible or where a thing does not matter; nothing about the node can be wrong.
    ("acs/guest-ports", "fail"),
    ("nicfw/advanced-pci-settings", "fail"),
    ("nicfw/next-boot-only", "fail"),
    ("nicfw/query-failed", "fail"),
    ("nicfw/visible", "fail"),
    ("pcie/config-space-visible", "fail"),
    // By design: a ConnectX-3 is never right for what this tool is for.
    ("rdma/connectx3", "pass"),
    // Shown by texts in tests/texts.rs: the composer has no such machine.
    ("gpu/bar-unassigned", "fail"),
    ("gpu/gdr-capable", "fail"),
    ("pcie/device-gone", "fail"),
    // An ARI-capable NIC below an ARI-capable port: the composer has no key for it yet.
    ("pcie/ari-forwarding", "pass"),
];

#[test]
fn every_rule_is_shown_to_fail_to_pass_and_to_be_undecided() {
    let mut seen: BTreeSet<(&str, Status)> = BTreeSet::new();
    let mut note = |s: &Snapshot| seen.extend(common::judge(s).verdicts.iter().map(|v| (v.rule.id, v.finding.status)));
    ALL.iter().for_each(|(_, _, s)| note(s));
    note(&Snapshot::new("empty"));
    let mut missing = Vec::new();
    for rule in rules() {
        for status in [Status::Fail, Status::Pass, Status::Unknown] {
            if !seen.contains(&(rule.id, status)) && !NEVER.contains(&(rule.id, status.name())) {
                missing.push(format!("{} {}", rule.id, status.name()));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "no node of lab/nodes shows {} of {}:\n{}",
        missing.len(),
        rules().len() * 3,
        missing.join("\n")
    );
}

/// What a node without any fault may still have above Info: facts of its design that a job's environment can answer.
const BY_DESIGN: &[(&str, &str)] = &[];

#[test]
fn healthy_nodes_have_no_finding() {
    let mut alarms = Vec::new();
    for (path, _, s) in ALL.iter() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("healthy") {
            continue;
        }
        let audit = common::judge(s);
        let bad = audit
            .with(Status::Fail)
            .filter(|v| v.severity() > Severity::Info && !BY_DESIGN.contains(&(name.as_str(), v.rule.id)));
        alarms.extend(bad.map(|v| format!("{name}: {}", common::words(v))));
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

/// What the composer does not make of a node: outputs of mlnx_qos and `ethtool -a`.
const NOT_COMPOSED: &[(&str, &str)] =
    &[("healthy-8gpu-roce", "rdma/global-pause"), ("healthy-8gpu-roce", "rdma/roce-qos")];

/// What a capture by root shows of a healthy node is enough: what cannot be seen by design is not-applicable, with the reason.
#[test]
fn healthy_nodes_can_be_told() {
    let mut open = Vec::new();
    for (path, _, s) in ALL.iter() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("healthy") {
            let audit = common::judge(s);
            let told = |v: &&Verdict| !NOT_COMPOSED.contains(&(name.as_str(), v.rule.id));
            open.extend(audit.with(Status::Unknown).filter(told).map(|v| format!("{name}: {}", common::words(v))));
        }
    }
    assert!(open.is_empty(), "{}", open.join("\n"));
}

#[test]
fn nothing_seen_is_never_a_pass_nor_a_finding() {
    for told in [None, Some(Role::BareMetal), Some(Role::VmHost), Some(Role::VmGuest)] {
        let s = Snapshot::new("empty");
        assert_eq!(s.coverage, Coverage::Partial);
        let node = Node::decode_as(&s, told);
        let audit = audit(&node, &s, rules());
        for v in &audit.verdicts {
            assert!(
                matches!(v.finding.status, Status::Unknown | Status::NotApplicable),
                "{told:?}: {}",
                common::words(v)
            );
        }
        for r in rules() {
            assert!(audit.verdicts.iter().any(|v| v.rule.id == r.id), "{} is silent", r.id);
        }
    }
}

#[test]
fn every_rule_answers_on_every_node_with_evidence_and_remedies() {
    for (path, _, s) in ALL.iter() {
        let node = Node::decode(s);
        let audit = audit(&node, s, rules());
        for r in rules() {
            assert!(audit.verdicts.iter().any(|v| v.rule.id == r.id), "{}: {} is silent", path.display(), r.id);
        }
        for v in &audit.verdicts {
            let f = &v.finding;
            let what = || format!("{}: {}", path.display(), common::words(v));
            assert!(!f.message.is_empty() && !f.message.ends_with('.') && !f.message.contains('\n'), "{}", what());
            assert!(!f.message.contains("please report this as a bug"), "{}", what());
            assert!(
                matches!(f.status, Status::Unknown | Status::NotApplicable) || !f.evidence.is_empty(),
                "{}",
                what()
            );
            for e in &f.evidence {
                assert!(!s.describe(e.place).is_empty(), "{}", what());
            }
        }
    }
}

#[test]
fn a_survey_tells_what_an_audit_tells() {
    for (path, _, s) in ALL.iter() {
        common::survey_agrees(&Node::decode(s), s, &path.display().to_string());
    }
    for told in [None, Some(Role::BareMetal), Some(Role::VmHost), Some(Role::VmGuest)] {
        let s = Snapshot::new("empty");
        common::survey_agrees(&Node::decode_as(&s, told), &s, "empty");
    }
}
