//! What connections and NICs show of GPUDirect RDMA.

use crate::answer::Evidence;
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::ranks::Rank;
use linerate_formats::nccl_log::Direction;
use std::collections::BTreeSet;

/// What the connections over RDMA show, by direction.
pub(super) struct Seen {
    /// Receiving without it, by process.
    pub(super) receive: BTreeSet<usize>,
    /// Sending without it.
    pub(super) send: BTreeSet<usize>,
    /// With it, either way.
    pub(super) with: BTreeSet<usize>,
    /// Any connection at all.
    pub(super) any: bool,
}

pub(super) fn seen(c: &Case<'_>) -> Seen {
    let mut s = Seen { receive: BTreeSet::new(), send: BTreeSet::new(), with: BTreeSet::new(), any: false };
    for (r, cell) in c.rdma_cells() {
        s.any = true;
        match (cell.gdr, cell.direction) {
            (true, _) => s.with.insert(r.process),
            (false, Some(Direction::Send)) => s.send.insert(r.process),
            (false, _) => s.receive.insert(r.process),
        };
    }
    s
}

/// Whether connections are direct, and none that receives lacks it.
pub(crate) fn works(c: &Case<'_>) -> bool {
    let s = seen(c);
    !s.with.is_empty() && s.receive.is_empty()
}

/// Processes whose GPUDirect is missing altogether: not merely for sending, which may be by design.
pub(crate) fn missing(c: &Case<'_>) -> BTreeSet<usize> {
    let s = seen(c);
    // Where no receiving is seen, and no pair is said to be direct, sending has to tell.
    let pairs = c.of(&c.o.pairs).any(|(p, _)| p.enabled);
    if s.receive.is_empty() && s.with.is_empty() && !pairs { s.send } else { s.receive }
}

/// The connections that lack it.
pub(crate) fn lacking(c: &Case<'_>) -> Vec<Evidence> {
    let missing = missing(c);
    let counts = |r: &Rank| missing.is_empty() || missing.contains(&r.process);
    let mut cells: Vec<_> = c.rdma_cells().filter(|(r, cell)| !cell.gdr && counts(r)).collect();
    cells.sort_by_key(|(_, cell)| cell.direction != Some(Direction::Receive));
    c.cells(cells.into_iter())
}

/// NICs of which NCCL says that they cannot use GPU memory.
pub(super) fn incapable<'a>(c: &Case<'a>) -> Vec<&'a Group> {
    c.of(&c.o.gdr_nics).filter(|(nic, _)| !nic.able).map(|(_, g)| g).collect()
}

pub(super) fn incapable_processes(c: &Case<'_>) -> BTreeSet<usize> {
    c.processes().filter(|(_, p)| p.gdr_nics.unable > 0 && p.gdr_nics.able == 0).map(|(i, _)| i).collect()
}

/// Whether the job runs on Grace: device names in a benchmark's header, or the nodes that were given.
pub(super) fn is_grace(c: &Case<'_>) -> bool {
    let named = |n: &str| ["GH200", "GB200", "GB300", "GB10"].iter().any(|g| n.contains(g));
    c.o.nccl_tests.iter().flat_map(|(_, r)| &r.ranks).any(|r| named(&r.name))
        || c.of(&c.o.pairs).any(|(_, g)| g.quotes.iter().any(|q| q.text.contains("C2C")))
}
