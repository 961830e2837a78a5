//! NUMA nodes.

use crate::cpu::Cpu;
use linerate_formats::{lscpu, numactl};
use linerate_snapshot::{EntryId, Lookup, OutputKind, Place, Reading, Snapshot, Why};

/// A NUMA node.
#[derive(Debug, Clone)]
pub struct NumaNode {
    /// Number.
    pub id: u32,
    /// CPUs, as the kernel lists them.
    pub cpulist: String,
    /// The same as a mask in the kernel's words (`ffff,ffffffff`), where it was collected.
    pub cpumap: Option<String>,
    /// The socket of its CPUs (`physical_package_id`), where all of them are seen to be in one. The node's number says nothing about it: a
    /// socket may have several nodes (NPS2, NPS4, SNC), and several sockets one (node interleaving).
    pub socket: Option<u32>,
    /// Distances to nodes 0, 1, …
    pub distance: Vec<u32>,
    /// Its memory, KiB.
    pub memory_kib: Option<u64>,
    /// Huge pages that nobody uses: size of a page in KiB, how many.
    pub free_huge_pages: Vec<(u64, u64)>,
    /// Where.
    pub place: Place,
}

pub(crate) fn decode(s: &Snapshot, cpu: &Cpu) -> Reading<Vec<NumaNode>> {
    let own = s.dir("sys/devices/system/node").map(|dir| {
        let mut nodes: Vec<NumaNode> = s
            .children(dir)
            .into_iter()
            .filter_map(|(name, e)| {
                let id = name.strip_prefix("node")?.parse().ok()?;
                let text = |leaf| s.text(e, leaf).known().map_or_else(String::new, |t| (*t).to_owned());
                let distance = text("distance").split_whitespace().filter_map(|d| d.parse().ok()).collect();
                let cpumap = s.text(e, "cpumap").known().map(|t| (*t).to_owned());
                let cpulist = text("cpulist");
                let socket = socket(s, cpu, &cpulist);
                let memory_kib = s.text(e, "meminfo").known().and_then(|t| total(t));
                let free_huge_pages = free_huge_pages(s, e);
                Some(NumaNode {
                    id,
                    cpulist,
                    cpumap,
                    socket,
                    distance,
                    memory_kib,
                    free_huge_pages,
                    place: Place::of(e),
                })
            })
            .collect();
        nodes.sort_unstable_by_key(|n| n.id);
        nodes
    });
    own.or(|| by_numactl(s, cpu)).or(|| by_lscpu(s, cpu))
}

/// `Node 0 MemTotal:  1056417280 kB`.
fn total(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|l| l.split_once("MemTotal:"))?.1;
    value.split_whitespace().next()?.parse().ok()
}

/// `hugepages/hugepages-1048576kB/free_hugepages`.
fn free_huge_pages(s: &Snapshot, node: EntryId) -> Vec<(u64, u64)> {
    let Some(dir) = s.child(node, "hugepages") else { return Vec::new() };
    let size = |(name, e): (&str, EntryId)| {
        let size = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        Some((size, s.text(e, "free_hugepages").known()?.trim().parse().ok()?))
    };
    s.children(dir).into_iter().filter_map(size).collect()
}

/// The nodes as `numactl --hardware` printed them. Rules count nodes: a part of the text shows none.
fn by_numactl(s: &Snapshot, cpu: &Cpu) -> Reading<Vec<NumaNode>> {
    let missing = Reading::Unreadable(Place::below(s.root(), "sys/devices/system/node"), Why::NotCollected);
    let Some(text) = s.outputs.iter().find(|o| o.kind == OutputKind::Numactl) else { return missing };
    let at = Place::of(text.entry);
    let hardware = numactl::parse(s.data(text.entry));
    if !hardware.is_whole() {
        return Reading::Unreadable(at, Why::Malformed("not one whole output of numactl --hardware".into()));
    }
    let node = |n: numactl::NumaNode| {
        let cpulist = n.cpus.map_or_else(String::new, |c| c.to_string());
        let socket = socket(s, cpu, &cpulist);
        NumaNode {
            id: n.id,
            cpulist,
            cpumap: None,
            socket,
            distance: n.distance,
            memory_kib: None,
            free_huge_pages: Vec::new(),
            place: at.line(n.line),
        }
    };
    let mut nodes: Vec<NumaNode> = hardware.nodes.into_iter().map(node).collect();
    nodes.sort_unstable_by_key(|n| n.id);
    Reading::Known(nodes, at)
}

/// The nodes as `lscpu` printed them, without distances. As with [`by_numactl`], a part shows none.
fn by_lscpu(s: &Snapshot, cpu: &Cpu) -> Reading<Vec<NumaNode>> {
    let missing = Reading::Unreadable(Place::below(s.root(), "sys/devices/system/node"), Why::NotCollected);
    let texts = s.outputs.iter().filter(|o| o.kind == OutputKind::Lscpu);
    let mut read = texts.map(|o| (lscpu::parse(s.data(o.entry)), Place::of(o.entry)));
    let Some((text, at)) = read.find(|(l, _)| l.has_all_nodes()) else { return missing };
    let node = |n: lscpu::NumaNode| {
        let cpulist = n.cpus.value.to_string();
        let socket = socket(s, cpu, &cpulist);
        NumaNode {
            id: n.id,
            cpulist,
            cpumap: None,
            socket,
            distance: Vec::new(),
            memory_kib: None,
            free_huge_pages: Vec::new(),
            place: at.line(n.cpus.line),
        }
    };
    let mut nodes: Vec<NumaNode> = text.numa.into_iter().map(node).collect();
    nodes.sort_unstable_by_key(|n| n.id);
    Reading::Known(nodes, at)
}

/// The socket in which all these CPUs are: by sysfs where it shows the first and the last of each range, else by `/proc/cpuinfo`.
fn socket(s: &Snapshot, cpu: &Cpu, cpulist: &str) -> Option<u32> {
    let mut found = None;
    for range in cpulist.split(',').filter(|r| !r.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        let own = |n: u32| in_sysfs(s, n);
        let ends = match (own(first), own(last)) {
            (Some(a), Some(b)) => [a, b],
            _ => by_cpuinfo(cpu.packages.known()?, first, last)?,
        };
        for id in ends {
            if *found.get_or_insert(id) != id {
                return None;
            }
        }
    }
    found
}

fn in_sysfs(s: &Snapshot, cpu: u32) -> Option<u32> {
    match s.resolve(&format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id")) {
        Lookup::Found(e) => std::str::from_utf8(s.data(e)).ok()?.trim().parse().ok(),
        _ => None,
    }
}

/// Sockets of the first and the last of a range; `None` where a run of another socket begins in between.
fn by_cpuinfo(runs: &[(u32, u32)], first: u32, last: u32) -> Option<[u32; 2]> {
    let of = |cpu: u32| runs.iter().rev().find(|(from, _)| *from <= cpu).map(|(_, id)| *id);
    let (a, b) = (of(first)?, of(last)?);
    let other = runs.iter().any(|(from, id)| (first..=last).contains(from) && *id != a);
    (!other).then_some([a, b])
}

/// Whether two NUMA nodes are of one socket; `None` where that is not seen.
pub(crate) fn same_socket(nodes: &[NumaNode], sockets: Option<u32>, a: i32, b: i32) -> Option<bool> {
    if a == b || sockets == Some(1) {
        return Some(true);
    }
    let of = |id: i32| nodes.iter().find(|n| i64::from(n.id) == i64::from(id))?.socket;
    Some(of(a)? == of(b)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sockets of two nodes each, hyper-threads behind all cores, as Linux numbers them.
    #[test]
    fn a_node_is_of_the_socket_of_its_cpus() {
        let mut s = Snapshot::new("x");
        let block = |n: u32| {
            format!(
                "processor\t: {n}\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel name\t: EPYC\nphysical id\t: {}\n\n",
                n % 8 / 4
            )
        };
        let text: String = (0..16).map(block).collect();
        s.add_file("proc/cpuinfo", text.as_bytes());
        for (n, list) in [(0, "0-1,8-9"), (1, "2-3,10-11"), (2, "4-5,12-13"), (3, "6-7,14-15"), (4, ""), (5, "3-4")] {
            s.add_file(&format!("sys/devices/system/node/node{n}/cpulist"), list.as_bytes());
        }
        let cpu = Cpu::decode(&s);
        let nodes = decode(&s, &cpu);
        let nodes = nodes.known().map(Vec::as_slice).unwrap_or_default();
        let sockets: Vec<_> = nodes.iter().map(|n| n.socket).collect();
        assert_eq!(sockets, [Some(0), Some(0), Some(1), Some(1), None, None]);
        let same = |a, b| same_socket(nodes, cpu.sockets.known().copied(), a, b);
        assert_eq!(
            (same(0, 1), same(1, 2), same(0, 4), same(0, 9), same(7, 7)),
            (Some(true), Some(false), None, None, Some(true))
        );
        assert_eq!(same_socket(&[], Some(1), 0, 3), Some(true));
    }

    #[test]
    fn numactl_shows_the_nodes_where_sysfs_is_missing() {
        let read = |text: &str, sysfs: bool| {
            let mut s = Snapshot::new("x");
            let entry = s.add_file("numactl.txt", text.as_bytes()).expect("room");
            s.outputs.push(linerate_snapshot::Output {
                kind: OutputKind::Numactl,
                entry,
                argv: Vec::new(),
                status: None,
            });
            if sysfs {
                let of = |n: u32| format!("sys/devices/system/node/node{n}/cpulist");
                s.add_file(&of(0), b"0-3");
            }
            decode(&s, &Cpu::decode(&s))
        };
        let two = "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 0 size: 1 MB\nnode 1 cpus: 2 3\nnode 1 size: 1 MB\nnode distances:\nnode 0 1\n 0: 10 21\n 1: 21 10\n";
        let nodes = read(two, false);
        let lists: Vec<_> =
            nodes.known().into_iter().flatten().map(|n| (n.cpulist.as_str(), n.distance.clone())).collect();
        assert_eq!(lists, [("0-1", vec![10, 21]), ("2-3", vec![21, 10])]);
        assert_eq!(read(two, true).known().map(Vec::len), Some(1), "the kernel's own files count first");
        assert!(read("available: 2 nodes (0-1)\nnode 0 cpus: 0 1\n", false).is_unreadable(), "a part");
    }

    #[test]
    fn lscpu_shows_the_nodes_where_nothing_else_does() {
        let read = |text: &str| {
            let mut s = Snapshot::new("x");
            let entry = s.add_file("pasted/lscpu.txt", text.as_bytes()).expect("room");
            s.outputs.push(linerate_snapshot::Output {
                kind: OutputKind::Lscpu,
                entry,
                argv: Vec::new(),
                status: None,
            });
            decode(&s, &Cpu::decode(&s))
        };
        let two = "NUMA node(s): 2\nNUMA node0 CPU(s): 0-3\nNUMA node1 CPU(s): 4-7\n";
        let nodes = read(two);
        let lists: Vec<_> = nodes.known().into_iter().flatten().map(|n| (n.id, n.cpulist.as_str())).collect();
        assert_eq!(lists, [(0, "0-3"), (1, "4-7")]);
        assert!(read("NUMA node(s): 2\nNUMA node0 CPU(s): 0-3\n").is_unreadable(), "a part");
    }

    #[test]
    fn a_cut_cpuinfo_counts_no_sockets() {
        let mut s = Snapshot::new("x");
        s.add_cut_file("proc/cpuinfo", b"processor\t: 0\nvendor_id\t: GenuineIntel\nphysical id\t: 0\n");
        let cpu = Cpu::decode(&s);
        assert!(cpu.vendor.known().is_some() && cpu.sockets.is_unreadable() && cpu.processors.is_unreadable());
    }
}
