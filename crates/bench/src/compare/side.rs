//! A side, as it is shown.

use super::Input;
use super::answer::{RunRef, Side};
use smol_str::SmolStr;

pub(super) fn side(input: &Input<'_>) -> Side {
    Side {
        name: input.name.to_owned(),
        runs: input
            .runs
            .iter()
            .map(|r| RunRef { id: r.id(), kind: r.kind, source: r.source.name.clone(), valid: r.is_valid() })
            .collect(),
        hosts: hosts(input),
        has_snapshot: !input.facts.is_empty(),
    }
}

/// Hosts of a side: as given, of its snapshots, of its runs.
pub(super) fn hosts(input: &Input<'_>) -> Vec<SmolStr> {
    let facts = input.facts.iter().map(|f| SmolStr::from(f.host.as_str())).filter(|h| !h.is_empty());
    let runs = input.runs.iter().flat_map(|r| r.hosts.iter().cloned());
    let mut all: Vec<SmolStr> = if input.hosts.is_empty() { facts.chain(runs).collect() } else { input.hosts.to_vec() };
    all.sort_unstable();
    all.dedup();
    all
}
