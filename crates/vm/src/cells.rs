//! NUMA nodes of the guest: one for each node of the host that has a chosen device.

use crate::Refusal;
use crate::host::Root;
use crate::layout::Wishes;
use linerate_formats::cpulist::{self, CpuList};
use linerate_formats::libvirt::MOST_CPUS;
use linerate_node::Node;
use linerate_node::numa::NumaNode;
use serde::Serialize;
use std::collections::BTreeSet;

/// A node of the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Its number.
    pub id: u32,
    /// The host's node; `None`: the host has no NUMA nodes.
    pub host: Option<u32>,
    /// Its CPUs in the guest: first and last.
    pub cpus: (u32, u32),
    /// The host's CPUs on which they run, one each, in their order.
    pub pins: Vec<u32>,
    /// The host's CPUs that are left to the emulator.
    pub emulator: Vec<u32>,
    /// Its memory, MiB.
    pub memory_mib: u64,
    /// How far the cells are from it, itself included.
    pub distances: Vec<u32>,
}

/// Memory that a node keeps for the host where the guest takes all of it, MiB.
const KEPT_MIB: u64 = 8 << 10;

pub(crate) fn cells(node: &Node<'_>, roots: &[Root], wishes: &Wishes) -> Result<Vec<Cell>, Refusal> {
    let empty = Vec::new();
    let all = node.numa.known().unwrap_or(&empty);
    let named: BTreeSet<u32> = roots.iter().filter_map(|r| r.node).collect();
    // A host with one node, and one that shows none: one cell.
    let chosen: Vec<&NumaNode> = match named.is_empty() {
        true => all.iter().take(1).collect(),
        false => all.iter().filter(|n| named.contains(&n.id)).collect(),
    };
    if let Some(node) = named.iter().find(|n| !chosen.iter().any(|c| c.id == **n)) {
        return Err(Refusal::Cell {
            node: *node,
            what: "place among the host's nodes",
            instead: "collect on the host",
        });
    }
    let count = chosen.len().max(1) as u32;
    let most = if wishes.taken.has_eim || wishes.has_iommu { u32::MAX } else { MOST_CPUS };
    if let Some(asked) = wishes.vcpus.filter(|v| *v > most) {
        return Err(Refusal::Cpus(asked));
    }
    // Of more than a guest can have, all nodes give the same.
    let share = if available(chosen.iter().copied()) > most { most / count } else { most };
    let mut first = 0;
    let mut out = Vec::new();
    for (id, n) in (0..).zip(&chosen) {
        let mut host = host_cpus(n);
        let emulator = first_core(&mut host);
        let want = wishes.vcpus.map_or((host.len() as u32).min(share), |v| v / count + u32::from(id < v % count));
        if want == 0 {
            return Err(Refusal::Cell {
                node: n.id,
                what: "CPU left for its cell",
                instead: "the guest needs at least one CPU for each node: give --vcpus, or change <vcpu> of the domain",
            });
        }
        if host.len() < want as usize {
            return Err(Refusal::Cell {
                node: n.id,
                what: "CPUs for the guest",
                instead: "give --vcpus, at most what all its nodes have in common",
            });
        }
        host.truncate(want as usize);
        let memory_mib = wishes.memory_mib.map_or_else(
            || free_mib(n, wishes.page_kib),
            |m| Some(m / u64::from(count) + u64::from(u64::from(id) < m % u64::from(count))),
        );
        let memory_mib = memory_mib.filter(|m| *m > 0).ok_or(Refusal::Cell {
            node: n.id,
            what: "memory that the snapshot shows",
            instead: "give --memory",
        })?;
        let distances = chosen
            .iter()
            .map(|to| n.distance.get(to.id as usize).copied().unwrap_or(if to.id == n.id { 10 } else { 20 }));
        out.push(Cell {
            id,
            host: Some(n.id),
            cpus: (first, first + want - 1),
            pins: host,
            emulator,
            memory_mib,
            distances: distances.collect(),
        });
        first += want;
    }
    if out.is_empty() {
        let cpus = wishes.vcpus.filter(|v| *v > 0).ok_or(Refusal::Cell {
            node: 0,
            what: "CPUs that the snapshot shows",
            instead: "give --vcpus",
        })?;
        let memory_mib = wishes.memory_mib.ok_or(Refusal::Cell {
            node: 0,
            what: "memory that the snapshot shows",
            instead: "give --memory",
        })?;
        out.push(Cell {
            id: 0,
            host: None,
            cpus: (0, cpus - 1),
            pins: Vec::new(),
            emulator: Vec::new(),
            memory_mib,
            distances: vec![10],
        });
    }
    Ok(out)
}

/// CPUs that nodes can give, but for one core of each.
pub(crate) fn available<'n>(nodes: impl Iterator<Item = &'n NumaNode>) -> u32 {
    let of = |n: &NumaNode| {
        let mut all = host_cpus(n);
        first_core(&mut all);
        all.len() as u32
    };
    nodes.map(of).sum()
}

/// CPUs of a node, one thread of each core before the next core: in the kernel's order.
fn host_cpus(n: &NumaNode) -> Vec<u32> {
    cpulist::parse(&n.cpulist).map(|l: CpuList| l.iter().take(1 << 14).collect()).unwrap_or_default()
}

/// Takes the first core, with its other thread where the list shows two halves, off the CPUs.
fn first_core(cpus: &mut Vec<u32>) -> Vec<u32> {
    if cpus.len() < 3 {
        return Vec::new();
    }
    let first = cpus.remove(0);
    // The kernel numbers the second threads behind all first ones: `0-47,96-143`.
    let jump = cpus.iter().zip(cpus.iter().skip(1)).position(|(a, b)| *b != a + 1);
    let second = jump.map(|at| cpus.remove(at + 1));
    std::iter::once(first).chain(second).collect()
}

/// What a node can give: its free huge pages of that size, else all but what the host keeps, in whole GiB.
fn free_mib(n: &NumaNode, page_kib: Option<u64>) -> Option<u64> {
    let pages = page_kib
        .and_then(|size| n.free_huge_pages.iter().find(|(s, _)| *s == size))
        .map(|(size, free)| size.saturating_mul(*free) >> 10);
    pages.filter(|m| *m > 0).or_else(|| Some((n.memory_kib? >> 10).checked_sub(KEPT_MIB)? >> 10 << 10))
}
