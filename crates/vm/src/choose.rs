//! Which devices of the host the guest gets.

use crate::Refusal;
use linerate_formats::cpulist;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::{FnId, Kind, PciTree};
use linerate_node::rails;
use std::collections::{BTreeMap, BTreeSet};

/// What was chosen, and what `all` left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chosen {
    /// Functions, by address.
    pub functions: BTreeSet<FnId>,
    /// What was not taken, and why.
    pub left_out: Vec<(Bdf, &'static str)>,
}

/// Resolves words: `all`, an address, `gpu:0-3`, `nic:0,2`, and `+nics` (or `gpu:0-3+nics`) for the nearest NICs of the GPUs that the words before it name.
/// GPUs and NICs are numbered by address.
///
/// # Errors
/// A word that names nothing, or what must not be passed.
pub fn choose(node: &Node<'_>, words: &str) -> Result<Chosen, Refusal> {
    let pci = &node.pci;
    let gpus: Vec<FnId> = pci.gpus().map(|(id, _)| id).collect();
    let nics = rails::candidates(pci);
    let mut out = Chosen::default();
    for word in words.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let (word, with_nics) = word.strip_suffix("+nics").map_or((word, false), |w| (w, true));
        match word.split_once(':') {
            _ if word.is_empty() => {}
            None if word == "all" => all(pci, &gpus, &nics, &mut out),
            Some(("gpu", list)) => out.functions.extend(numbered("GPU", list, &gpus)?),
            Some(("nic", list)) => out.functions.extend(numbered("NIC", list, &nics)?),
            _ => {
                let bdf: Bdf = word.parse().map_err(|_| Refusal::Word { word: word.to_owned() })?;
                out.functions.insert(pci.find(bdf).ok_or_else(|| none(&bdf.to_string(), "other addresses"))?);
            }
        }
        if with_nics {
            let near =
                gpus.iter().filter(|g| out.functions.contains(g)).flat_map(|g| rails::nearest(pci, *g, &nics).nics);
            let near: Vec<FnId> = near.collect();
            out.functions.extend(near);
        }
    }
    if out.functions.is_empty() {
        return Err(Refusal::Nothing);
    }
    for id in &out.functions {
        let f = pci.get(*id);
        if f.kind == Kind::Bridge || f.buses.is_some() {
            return Err(Refusal::Bridge(f.bdf));
        }
        if let Some(why) = hosts_own(node, *id) {
            return Err(Refusal::HostsOwn { bdf: f.bdf, why });
        }
    }
    whole_groups(node, &out)?;
    Ok(out)
}

fn none(what: &str, has: &str) -> Refusal {
    Refusal::NoSuch { what: what.to_owned(), has: has.to_owned() }
}

fn all(pci: &PciTree<'_>, gpus: &[FnId], nics: &[FnId], out: &mut Chosen) {
    out.functions.extend(gpus);
    out.functions.extend(nics);
    let fabric = |k| matches!(k, Kind::NvSwitch | Kind::NvlinkBridge | Kind::DataDirect);
    out.functions.extend(pci.iter().filter(|(_, f)| fabric(f.kind)).map(|(id, _)| id));
    for (_, f) in pci.iter().filter(|(_, f)| f.kind == Kind::PerhapsNvlinkBridge) {
        out.left_out.push((f.bdf, "it may manage NVLink switches; the snapshot does not show it: give its address"));
    }
}

fn numbered(what: &str, list: &str, of: &[FnId]) -> Result<Vec<FnId>, Refusal> {
    let word = || Refusal::Word { word: format!("{}:{list}", what.to_lowercase()) };
    let wanted = cpulist::parse(list).filter(|l| !l.ranges.is_empty()).ok_or_else(word)?;
    let mut out = Vec::new();
    for range in wanted.ranges {
        for n in range {
            let has = || none(&format!("{what} {n}"), &format!("{} of them, numbered from 0 by address", of.len()));
            out.push(*of.get(n as usize).ok_or_else(has)?);
        }
    }
    Ok(out)
}

/// By what a device is known to be the host's own.
fn hosts_own(node: &Node<'_>, id: FnId) -> Option<&'static str> {
    let f = node.pci.get(id);
    let has_display = f.class.known().is_some_and(|c| c.is_display()) && !f.kind.is_gpu();
    if has_display {
        return Some("its console");
    }
    matches!(f.kind, Kind::Nvme)
        .then(|| f.driven_by("nvme"))
        .filter(|is| *is)
        .map(|_| "a disk that its nvme driver uses: unbind it first")
}

/// Members of a group go together: those that stay would be cut off, or keep the guest from starting.
fn whole_groups(node: &Node<'_>, chosen: &Chosen) -> Result<(), Refusal> {
    torn(node, &chosen.functions).into_iter().next().map_or(Ok(()), |t| Err(Refusal::TornGroup(t)))
}

/// An IOMMU group of which only a part is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// Number of the group.
    pub group: u32,
    /// Members that are not chosen and have a driver of the host.
    pub left: Vec<Bdf>,
    /// Their drivers.
    pub drivers: Vec<String>,
}

/// Groups that would be torn, by number. vfio lets ports of PCIe stay with their driver (drivers/vfio/pci, `pcieport`), and functions without one, or with its own.
#[must_use]
pub fn torn(node: &Node<'_>, chosen: &BTreeSet<FnId>) -> Vec<Torn> {
    let pci = &node.pci;
    let groups: BTreeSet<u32> = chosen.iter().filter_map(|id| pci.get(*id).iommu_group.known().copied()).collect();
    let mut left: BTreeMap<u32, (Vec<Bdf>, BTreeSet<String>)> = BTreeMap::new();
    for (id, f) in pci.iter() {
        let Some(group) = f.iommu_group.known().filter(|g| groups.contains(g)) else { continue };
        let driver = f.driver.known().map_or("", |d| d.as_ref());
        let stays = !chosen.contains(&id)
            && f.buses.is_none()
            && !driver.is_empty()
            && !f.driven_by("vfio-pci")
            && driver != "pci-stub";
        if stays {
            let (members, drivers) = left.entry(*group).or_default();
            members.push(f.bdf);
            drivers.insert(driver.to_owned());
        }
    }
    left.into_iter()
        .map(|(group, (left, drivers))| Torn { group, left, drivers: drivers.into_iter().collect() })
        .collect()
}
