//! Several guests of one host: along root complexes, each with as many GPUs.

use crate::Refusal;
use crate::choose::Chosen;
use crate::fabric::Fabric;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::{FnId, Kind};
use std::collections::{BTreeMap, BTreeSet};

/// Chosen functions of each part; NVSwitches, and what manages them, are in no part where there are several. Roots go to parts in the order of addresses; a part is whole roots.
///
/// # Errors
/// Parts that would not be alike; GPUs that NVSwitches join and that are no partition of the fabric, or are not known to be one.
pub fn split(node: &Node<'_>, chosen: &Chosen, parts: u32, fabric: &Fabric) -> Result<Vec<BTreeSet<FnId>>, Refusal> {
    let pci = &node.pci;
    let gpus: usize = chosen.functions.iter().filter(|id| pci.get(**id).kind.is_gpu()).count();
    let is_part = parts > 1 || gpus < pci.nvidia_gpus().count();
    // From Blackwell on NVSwitches are no PCI functions; ConnectX-7 functions manage them.
    let joins = |k| matches!(k, Kind::NvSwitch | Kind::NvlinkBridge | Kind::PerhapsNvlinkBridge);
    let switched = gpus > 0 && pci.iter().any(|(_, f)| joins(f.kind));
    if is_part && switched && *fabric == Fabric::Unknown {
        return Err(Refusal::Fabric);
    }
    let mut roots: BTreeMap<(u32, u8), BTreeSet<FnId>> = BTreeMap::new();
    for id in &chosen.functions {
        let top = pci.ancestors(*id).0.last().map_or(*id, |top| *top);
        let bdf = pci.get(top).bdf;
        roots.entry((bdf.domain, bdf.bus)).or_default().insert(*id);
    }
    let counts: Vec<usize> =
        roots.values().map(|r| r.iter().filter(|id| pci.get(**id).kind.is_gpu()).count()).collect();
    let cut = |parts: usize| cut(&counts, gpus, parts);
    let Some(ends) = cut(parts as usize) else {
        let possible = (1..=counts.len()).filter(|n| cut(*n).is_some()).filter_map(|n| u32::try_from(n).ok()).collect();
        return Err(Refusal::Split { parts, possible });
    };
    let mut out: Vec<BTreeSet<FnId>> = vec![BTreeSet::new(); ends.len()];
    for (place, functions) in roots.into_values().enumerate() {
        let part = ends.iter().position(|end| place < *end).unwrap_or(0);
        if let Some(part) = out.get_mut(part) {
            part.extend(functions);
        }
    }
    for part in out.iter_mut().filter(|_| switched) {
        let of_part = |id: &&FnId| pci.get(**id).kind.is_gpu();
        let gpus: BTreeSet<Bdf> = part.iter().filter(of_part).map(|id| pci.get(*id).bdf).collect();
        fabric.holds(node, &gpus)?;
        // Who shares the fabric does not have its switches: the fabric manager of the host does.
        if is_part {
            part.retain(|id| !joins(pci.get(*id).kind));
        }
    }
    Ok(out)
}

/// Where each part ends, if roots in their order can be cut into so many parts with as many GPUs each. Roots without a GPU go with those before them.
fn cut(counts: &[usize], gpus: usize, parts: usize) -> Option<Vec<usize>> {
    if parts == 0 || parts > counts.len() || !gpus.is_multiple_of(parts) || gpus == 0 && parts > 1 {
        return None;
    }
    let (share, mut sum, mut ends) = (gpus / parts, 0, Vec::new());
    for (place, count) in counts.iter().enumerate() {
        if *count > 0 && sum == share {
            ends.push(place);
            sum = 0;
        }
        sum += count;
        if sum > share {
            return None;
        }
    }
    ends.push(counts.len());
    (ends.len() == parts).then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn parts_are_whole_roots_with_as_many_gpus() {
        assert_eq!(cut(&[2, 2, 2, 2], 8, 2), Some(vec![2, 4]));
        assert_eq!(cut(&[2, 0, 2, 0, 4], 8, 2), Some(vec![4, 5]));
        assert_eq!(cut(&[2, 2, 2, 2], 8, 8), None);
        assert_eq!(cut(&[3, 1, 4], 8, 2), Some(vec![2, 3]));
        assert_eq!(cut(&[1, 3, 4], 8, 4), None);
        assert_eq!(cut(&[0, 0], 0, 1), Some(vec![2]));
        assert_eq!(cut(&[0, 0], 0, 2), None);
    }
}
