//! NUMA nodes: the domain's own where it has some that are of the host's nodes, else the layout's.

use super::user::User;
use super::{Difference, Refused, Replace, Work};
use crate::cells::Cell;
use crate::host::Root;
use crate::layout::Wishes;
use crate::write::parts;
use linerate_formats::cpulist::{self, CpuList};
use linerate_formats::libvirt::Element;
use linerate_node::Node;
use std::collections::{BTreeMap, BTreeSet};

/// Whose cells they are, and what the layout is made with.
pub(super) struct Plan {
    /// With the domain's CPUs and memory, where it says them.
    pub(super) wishes: Wishes,
    /// Nodes of the host for which the domain has a cell, if its cells stay.
    pub(super) theirs: Option<BTreeMap<u32, u32>>,
}

pub(super) fn plan(
    node: &Node<'_>,
    roots: &[Root],
    wishes: &Wishes,
    replace: Replace,
    user: &User,
) -> Result<Plan, Refused> {
    let is_replacing = replace == Replace::All;
    let (vcpus, memory) = (user.domain.vcpus.as_ref().map(|v| v.value), memory_mib(user));
    let or = |first: Option<u64>, second: Option<u64>| if is_replacing { second.or(first) } else { first.or(second) };
    let mut out = wishes.clone();
    out.vcpus = or(vcpus.map(u64::from), wishes.vcpus.map(u64::from)).and_then(|v| u32::try_from(v).ok());
    out.memory_mib = or(memory, wishes.memory_mib);
    if user.domain.cells.is_empty() {
        return Ok(Plan { wishes: out, theirs: None });
    }
    let theirs = bound(user, node);
    let missing: BTreeSet<u32> = roots.iter().filter_map(|r| r.node).filter(|n| !theirs.contains_key(n)).collect();
    let differs =
        wishes.vcpus.is_some_and(|v| vcpus != Some(v)) || wishes.memory_mib.is_some_and(|m| memory != Some(m));
    if !missing.is_empty() && !is_replacing {
        let line = user.domain.cells.first().map_or(0, |c| user.line(c.span.line));
        return Err(Refused::NoCell { line, nodes: missing.into_iter().collect() });
    }
    let theirs = Some(theirs).filter(|_| missing.is_empty() && !(is_replacing && differs));
    Ok(Plan { wishes: out, theirs })
}

/// Memory of the domain: what its cells have, else what it says.
fn memory_mib(user: &User) -> Option<u64> {
    let of_cells: Option<u64> = user.domain.cells.iter().map(|c| c.memory_kib).sum();
    let all = of_cells.filter(|m| *m > 0).or_else(|| user.domain.memory_kib.as_ref().map(|m| m.value))?;
    Some(all.div_ceil(1024))
}

/// Nodes of the host, and the first cell whose memory is from that node alone.
fn bound(user: &User, node: &Node<'_>) -> BTreeMap<u32, u32> {
    let d = &user.domain;
    let single = |list: &Option<CpuList>| {
        let list = list.as_ref()?;
        let first = *list.ranges.first()?.start();
        (list.count() == 1).then_some(first)
    };
    let mut out = BTreeMap::new();
    for cell in &d.cells {
        let own = d.memory_nodes.iter().find(|m| m.cell == Some(cell.id));
        let all = d.memory_nodes.iter().find(|m| m.cell.is_none());
        if let Some(host) = own.or(all).and_then(|m| single(&m.nodes)) {
            out.entry(host).or_insert(cell.id);
        }
    }
    // A host with one node.
    if let (Some([one]), Some(cell), true) = (node.numa.known().map(Vec::as_slice), d.cells.first(), out.is_empty()) {
        out.insert(one.id, cell.id);
    }
    out
}

pub(super) fn write(work: &mut Work<'_>, node: &Node<'_>, asked: &Wishes, plan: &Plan) {
    let cells = &work.layout.cells;
    let is_theirs = plan.theirs.is_some();
    let vcpus = if is_theirs { asked.vcpus } else { asked.vcpus.or(Some(parts::vcpus(cells))) };
    let memory = if is_theirs { asked.memory_mib } else { asked.memory_mib.or(Some(parts::memory_mib(cells))) };
    sizes(work, vcpus, memory);
    match &plan.theirs {
        Some(theirs) => pinned(work, node, theirs),
        None => {
            add_cells(work);
            add_nodes(work);
            add_pins(work, node);
        }
    }
}

/// `<vcpu>` and `<memory>`.
fn sizes(work: &mut Work<'_>, vcpus: Option<u32>, memory: Option<u64>) {
    let (user, root) = (work.user, &work.user.outline.root);
    let has = user.domain.vcpus.as_ref().map(|v| v.value);
    match (root.child("vcpu"), vcpus) {
        (None, Some(count)) => work.edits.in_domain(root, "vcpu", &parts::vcpu(count)),
        (Some(element), Some(count)) if has != Some(count) => {
            let has = has.map_or_else(|| "no number".to_owned(), |h| h.to_string());
            let difference =
                Difference::of("<vcpu>", has, count, "the guest has another number of CPUs than asked for");
            work.differs(element.span, difference, Some(&parts::vcpu(count)));
        }
        _ => {}
    }
    let has = memory_mib(user);
    match (root.child("memory"), memory) {
        (None, Some(mib)) => work.edits.in_domain(root, "memory", &parts::memory(mib)),
        (Some(element), Some(mib)) if has != Some(mib) => {
            let has = has.map_or_else(|| "no size".to_owned(), |h| format!("{h} MiB"));
            let difference = Difference::of(
                "<memory>",
                has,
                format!("{mib} MiB"),
                "the guest has another size of memory than asked for",
            );
            work.differs(element.span, difference, Some(&parts::memory(mib)));
        }
        _ => {}
    }
}

fn add_cells(work: &mut Work<'_>) {
    let (root, cells) = (&work.user.outline.root, &work.layout.cells);
    match (root.child("cpu"), root.child("cpu").and_then(|c| c.child("numa"))) {
        (None, _) => work.edits.in_domain(root, "cpu", &parts::cpu(cells)),
        (Some(cpu), None) => work.edits.last_in(cpu, &parts::numa(cells)),
        (_, Some(numa)) => {
            let has = format!("{} cells", work.user.domain.cells.len());
            let wants = format!("{} cells, one for each NUMA node of the host with a device", cells.len());
            let costs = "expander buses have no cell to be bound to";
            // Without a cell in it, it binds nothing, and an empty one is not kept.
            work.replaces(numa, Difference::of("<numa>", has, wants, costs), &parts::numa(cells));
        }
    }
}

/// Memory of each cell from its node.
fn add_nodes(work: &mut Work<'_>) {
    let (user, root, cells) = (work.user, &work.user.outline.root, &work.layout.cells);
    let Some(element) = root.child("numatune") else {
        return work.edits.in_domain(root, "numatune", &parts::numatune(cells));
    };
    if !user.domain.cells.is_empty() {
        let costs = "memory of a cell is not on the node of its devices";
        let difference =
            Difference::of("<numatune>", "what belongs to the cells before", "a node for each cell", costs);
        return work.replaces(element, difference, &parts::numatune(cells));
    }
    let all = user.domain.memory_nodes.iter().find(|m| m.cell.is_none());
    let mode = if all.is_some_and(|m| m.mode == "restrictive") { "restrictive" } else { "strict" };
    let has = |c: &&Cell| user.domain.memory_nodes.iter().any(|m| m.cell == Some(c.id));
    work.edits.last_in(element, &parts::memory_nodes(cells.iter().filter(|c| !has(c)), mode));
}

/// CPUs of each cell on its node.
fn add_pins(work: &mut Work<'_>, node: &Node<'_>) {
    let (user, root, cells) = (work.user, &work.user.outline.root, &work.layout.cells);
    let Some(element) = root.child("cputune") else {
        return work.edits.in_domain(root, "cputune", &parts::cputune(cells));
    };
    let pins: Vec<&Element> = element.elements().filter(|e| e.name == "vcpupin").collect();
    let emulator = element.child("emulatorpin").map_or_else(|| parts::emulator(cells), |_| String::new());
    let written = format!("{}{emulator}", parts::pins(cells));
    let Some(first) = pins.first() else { return work.edits.last_in(element, &written) };
    let of_cells = cells.iter().filter_map(|c| {
        let all = CpuList { ranges: vec![c.cpus.0..=c.cpus.1] };
        Some((all, c.host?))
    });
    let Some(difference) = elsewhere(user, node, &of_cells.collect::<Vec<_>>()) else { return };
    if work.replace == Replace::All {
        pins.iter().for_each(|p| work.edits.remove(p.span));
        work.edits.last_in(element, &written);
    }
    let is_replaced = work.replace == Replace::All;
    work.differs(first.span, Difference { is_replaced, ..difference }, None);
}

/// Cells of the domain: whether its CPUs run on the nodes of their memory.
fn pinned(work: &mut Work<'_>, node: &Node<'_>, theirs: &BTreeMap<u32, u32>) {
    let d = &work.user.domain;
    let of_cell = |(host, cell): (&u32, &u32)| {
        let cell = d.cells.iter().find(|c| c.id == *cell)?;
        Some((cell.cpus.clone()?, *host))
    };
    let of_cells: Vec<_> = theirs.iter().filter_map(of_cell).collect();
    let Some(numa) = work.user.outline.root.child("cpu").and_then(|c| c.child("numa")) else { return };
    if d.pins.iter().all(|p| p.vcpu.is_none()) && !node.numa.known().is_none_or(Vec::is_empty) {
        let costs = "CPUs of a cell run on any node, and its memory and devices are then remote";
        return work.differs(numa.span, Difference::of("<cputune>", "no <vcpupin>", "one for each CPU", costs), None);
    }
    if let Some(difference) = elsewhere(work.user, node, &of_cells) {
        work.differs(numa.span, difference, None);
    }
}

/// CPUs of cells that run on other nodes than their memory is on.
fn elsewhere(user: &User, node: &Node<'_>, of_cells: &[(CpuList, u32)]) -> Option<Difference> {
    let nodes = node.numa.known()?;
    let of_host = |host: u32| nodes.iter().find(|n| n.id == host).and_then(|n| cpulist::parse(&n.cpulist));
    let lists: Vec<(&CpuList, CpuList)> =
        of_cells.iter().filter_map(|(cpus, host)| Some((cpus, of_host(*host)?))).collect();
    let is_elsewhere = |vcpu: u32, pin: &CpuList| {
        let own = lists.iter().find(|(cpus, _)| cpus.contains(vcpu));
        own.is_some_and(|(_, host)| {
            !pin.ranges.iter().all(|r| host.ranges.iter().any(|h| h.contains(r.start()) && h.contains(r.end())))
        })
    };
    let wrong = user
        .domain
        .pins
        .iter()
        .filter(|p| p.vcpu.zip(p.cpus.as_ref()).is_some_and(|(vcpu, cpus)| is_elsewhere(vcpu, cpus)));
    let count = wrong.count();
    let has = format!("{count} CPUs of the guest on other nodes than their memory");
    let costs = "memory and devices of a cell are remote for its CPUs";
    (count > 0).then(|| Difference::of("<vcpupin>", has, "each on the node of its cell", costs))
}
