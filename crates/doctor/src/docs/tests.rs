//! What the texts name exists.

use super::{cause_docs, symptoms};
use std::collections::BTreeSet;

/// Causes that the texts may name, until each has a text of its own.
const CAUSES: &str = "\
net/ib-disabled-by-env net/socket-forced net/no-rdma-device net/no-libibverbs net/hca-filter-matches-nothing
net/hca-filter-too-narrow net/hca-filter-too-wide net/fewer-nics net/plugin-init-failed net/no-interface net/wrong-interface
gdr/no-peer-memory gdr/dmabuf-disabled-by-env gdr/too-far gdr/level-too-low-by-env gdr/level-forces-far
gdr/read-disabled-by-env gdr/read-off-by-design gdr/default-off-behind-cpu p2p/disabled-by-env p2p/refused-by-driver
p2p/containers-isolated shm/disabled-by-env shm/too-small ib/gid-index ib/retry-exceeded ib/rnr-retry-exceeded
ib/local-protection ib/remote-access ib/flushed ib/memlock ib/gpu-registration ib/port-went-down ib/small-mtu
kernel/iommu-fault kernel/xid kernel/oom gpu/nvlink gpu/imex gpu/out-of-memory gpu/driver-too-old gpu/duplicate
job/peer-exited job/bootstrap-unreachable job/version-mismatch job/collective-mismatch job/straggler
env/algo-or-proto-forced env/topo-file perf/below-ceiling net/efa-without-plugin net/library-missing gdr/peermem-not-loaded
p2p/acs-redirects topo/virtual-link-speed ib/verbs-call-failed";

fn causes() -> BTreeSet<&'static str> {
    match cause_docs() {
        [] => CAUSES.split_whitespace().collect(),
        docs => docs.iter().map(|d| d.id).collect(),
    }
}

/// Words that look like `area/slug`.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let part = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    text.split(|c: char| c.is_whitespace() || "`',;:()".contains(c))
        .map(|w| w.trim_end_matches('.'))
        .filter(move |w| w.split_once('/').is_some_and(|(area, slug)| part(area) && part(slug)))
}

#[test]
fn rules_causes_and_symptoms_that_are_named_exist() {
    let (causes, known) = (causes(), symptoms().iter().map(|s| s.id).collect::<BTreeSet<_>>());
    let mut named = BTreeSet::new();
    for s in symptoms() {
        for id in ids(s.docs) {
            let rule = linerate_rules::find(id).is_some();
            assert!(rule || causes.contains(id) || known.contains(id), "{}: {id}", s.id);
            named.insert(id);
        }
        // Each leads to a command, and to something that it is not.
        assert!(s.docs.contains("`linerate doctor ") && s.docs.contains("linerate audit --rule "), "{}", s.id);
        assert!(s.docs.contains("## What you see\n") && s.docs.contains("## What it is not\n"), "{}", s.id);
    }
    assert!(named.len() > 60, "{}", named.len());
}

#[test]
fn patterns_of_rules_match_some() {
    for s in symptoms() {
        let flat = s.docs.split_whitespace().collect::<Vec<_>>().join(" ");
        for after in flat.split("--rule ").skip(1) {
            let pattern = after.split([' ', '`']).next().unwrap_or_default().trim_matches('\'');
            let some = linerate_rules::rules().iter().any(|r| match pattern.strip_suffix('*') {
                Some(head) => r.id.starts_with(head),
                None => r.id == pattern,
            });
            assert!(some, "{}: {pattern}", s.id);
        }
    }
}

#[test]
fn ids_are_of_one_thing_each() {
    let mut all = BTreeSet::new();
    let rules = linerate_rules::rules().iter().map(|r| r.id);
    for id in rules.chain(causes()).chain(symptoms().iter().map(|s| s.id)) {
        assert!(all.insert(id), "{id} is two things");
    }
}

#[test]
fn causes_name_rules_that_exist() {
    for c in cause_docs() {
        for r in c.rules {
            assert!(linerate_rules::find(r).is_some(), "{}: {r}", c.id);
        }
    }
}
