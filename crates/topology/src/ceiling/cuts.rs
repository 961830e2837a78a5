//! What a ring within a node can carry: a ring that visits all GPUs leaves every group of them at least once.

use super::derive::{Element, ElementKind, Range, Step};
use super::elements::{Elements, Info, gpu_name, together};
use super::pcie::Direction;
use crate::path::PathType;
use crate::paths::Paths;
use crate::system::{LinkKind, NodeId, NodeKind, System};

/// Whether all GPUs reach each other by NVLink alone. NCCL then uses nothing else.
pub(crate) fn all_nvlink(s: &System, paths: &Paths) -> bool {
    let gpus = s.of(NodeKind::Gpu);
    let near = |a: &NodeId, b: &NodeId| a == b || paths.path(*a, *b).kind <= PathType::Nvb;
    gpus.len() > 1 && gpus.iter().all(|a| gpus.iter().all(|b| near(a, b)))
}

/// The bounds: one for each GPU, group of GPUs below a switch, CPU, and group that NVLink joins.
pub(crate) fn ring(e: &Elements, paths: &Paths) -> (Vec<Element>, Vec<Step>) {
    let s = e.system;
    let nvlink_only = all_nvlink(s, paths);
    let mut found: Vec<(Element, Vec<Step>)> = Vec::new();
    let devs = gpu_devices(s);
    for dev in &devs {
        found.extend(cut(e, &[*dev], &devs, nvlink_only));
    }
    if !nvlink_only {
        for kind in [NodeKind::Pci, NodeKind::Cpu] {
            for top in s.of(kind) {
                found.extend(cut(e, &e.tree.subtree(*top), &devs, false));
            }
        }
        for group in nvlink_groups(s, &devs) {
            found.extend(cut(e, &group, &devs, false));
        }
    }
    found.sort_by(|a, b| a.0.limit.low.total_cmp(&b.0.limit.low).then(a.0.name.cmp(&b.0.name)));
    // Symmetric nodes have the same bound many times: one name for all that are equal.
    let mut merged: Vec<(Element, Vec<Step>, usize)> = Vec::new();
    for (el, steps) in found {
        match merged.last_mut() {
            Some((last, _, n)) if last.kind == el.kind && last.limit == el.limit => {
                if last.name != el.name {
                    *n += 1;
                }
            }
            _ => merged.push((el, steps, 0)),
        }
    }
    let steps = merged.first().map(|(_, s, _)| s.clone()).unwrap_or_default();
    let elements = merged.into_iter().map(|(el, _, n)| {
        let name = if n > 0 { format!("{} (and {n} alike)", el.name) } else { el.name };
        Element { name, ..el }
    });
    (elements.collect(), steps)
}

/// Devices that hold a rank.
pub(crate) fn gpu_devices(s: &System) -> Vec<NodeId> {
    let mut devs: Vec<NodeId> = s.gpus().map(|(_, g)| g.parent).collect();
    devs.sort_unstable();
    devs.dedup();
    devs
}

/// What leaves a set of nodes, if GPUs are on both sides of it and all links out of it are known.
fn cut(e: &Elements, inside: &[NodeId], devs: &[NodeId], nvlink_only: bool) -> Option<(Element, Vec<Step>)> {
    let s = e.system;
    let mut is_inside = vec![false; s.nodes().len()];
    for n in inside {
        *is_inside.get_mut(n.index())? = true;
    }
    let within = |id: NodeId| is_inside.get(id.index()).copied().unwrap_or(false);
    let gpus_in = devs.iter().filter(|d| within(**d)).count();
    if gpus_in == 0 || gpus_in == devs.len() {
        return None;
    }
    let mut infos: Vec<&Info> = Vec::new();
    for id in inside {
        for l in s.links_of(*id).iter().filter(|l| !within(l.to)) {
            let leads_to_gpus = s.node(l.to).is_some_and(|n| !matches!(n.kind, NodeKind::Gpu | NodeKind::Nic));
            // Devices without a rank are no way anywhere.
            let idle = s.node(l.to).is_some_and(|n| n.kind == NodeKind::Dev) && !devs.contains(&l.to);
            if !leads_to_gpus || idle || (nvlink_only && l.kind != LinkKind::Nvl) {
                continue;
            }
            infos.push(e.of(l)?);
        }
    }
    let limit = infos.iter().map(|i| i.write).reduce(|a, b| Range { low: a.low + b.low, high: a.high + b.high })?;
    let steps = infos.iter().flat_map(|i| i.steps(Direction::Write)).cloned().collect();
    let one_gpu =
        if gpus_in == 1 { inside.first().and_then(|d| s.node(*d)).filter(|n| n.kind == NodeKind::Dev) } else { None };
    let (name, kind) = match one_gpu {
        Some(dev) if infos.len() > 1 && infos.iter().all(|i| i.kind == ElementKind::NvLink) => {
            (format!("NVLink of {}", gpu_name(s, dev)), ElementKind::NvLink)
        }
        _ => together(&infos)?,
    };
    Some((Element { name, kind, limit }, steps))
}

/// Groups of GPUs that NVLink joins, where there are several and they have several.
fn nvlink_groups(s: &System, devs: &[NodeId]) -> Vec<Vec<NodeId>> {
    let mut left: Vec<NodeId> = devs.to_vec();
    let mut groups = Vec::new();
    while let Some(start) = left.pop() {
        let mut group = vec![start];
        let mut at = 0;
        while let Some(id) = group.get(at).copied() {
            for l in s.links_of(id).iter().filter(|l| l.kind == LinkKind::Nvl) {
                let joins = s.node(l.to).is_some_and(|n| matches!(n.kind, NodeKind::Dev | NodeKind::Nvs));
                if joins && !group.contains(&l.to) {
                    group.push(l.to);
                }
            }
            at += 1;
        }
        left.retain(|d| !group.contains(d));
        if group.iter().filter(|d| devs.contains(d)).count() > 1 {
            groups.push(group);
        }
    }
    groups
}
