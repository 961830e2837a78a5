//! The PCI tree from whatever the snapshot holds: sysfs, the text of `lspci`, or both joined by address.

use crate::cut::{self, Cut};
use crate::pci::{ExpressRegister, FnId, Kind, Parent, PciFunction, PciTree, absorb};
use crate::rdma::RdmaDevice;
use hashbrown::{HashMap, HashSet};
use linerate_formats::pci::caps::Beside;
use linerate_formats::pci::{Bdf, lspci};
use linerate_formats::{amd, hwloc_xml, lstopo};
use linerate_snapshot::{EntryId, Lookup, OutputKind, Place, Reading, Snapshot, Why};
use std::borrow::Cow;

pub(crate) fn tree<'s>(s: &'s Snapshot, rdma: &Reading<Vec<RdmaDevice>>, cuts: &mut Vec<Cut>) -> PciTree<'s> {
    let mut seen = None;
    let mut above: Vec<(Bdf, Bdf)> = Vec::new();
    let mut functions: Vec<PciFunction<'s>> = Vec::new();
    if let Some(list) = crate::pci_sysfs::functions(s) {
        if let Reading::Known(_, p) = s.dir("sys/bus/pci/devices") {
            seen = Some(p);
        }
        (functions, above) = (list.functions, list.above);
        above.sort_unstable();
        functions.sort_unstable_by_key(|f| f.bdf);
    }
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Lspci) {
        let Ok(listed) = lspci::read(s.data(o.entry)) else { continue };
        cut::note(cuts, o.entry, &listed.left_out);
        seen.get_or_insert(Place::of(o.entry));
        join(&mut functions, listed.items, o.entry, s.data(o.entry));
    }
    functions.sort_by_key(|f| f.bdf);
    functions.dedup_by_key(|f| f.bdf);
    crate::pci_shown::trees(s, &mut functions, &mut above, cuts);
    crate::pci_shown::registers(s, &mut functions, cuts);
    near_nodes(s, &mut functions);
    let mut tree = PciTree { functions, seen, data_paths: Vec::new() };
    classify(&mut tree, rdma);
    parents(&mut tree, &above);
    doubt(&mut tree, s);
    tree.data_paths = crate::direct::data_paths(&tree);
    tree
}

/// NUMA nodes that `lstopo` shows, as text or as XML, of functions whose own is not seen. It leaves out most functions: it adds none.
fn near_nodes(s: &Snapshot, functions: &mut [PciFunction<'_>]) {
    for o in &s.outputs {
        if matches!(o.kind, OutputKind::AmdSmi | OutputKind::RocmSmi) {
            near_amd(s.data(o.entry), o.entry, functions);
        }
        let devices = match o.kind {
            OutputKind::Lstopo => lstopo::parse(s.data(o.entry)),
            OutputKind::HwlocXml => hwloc_xml::parse(s.data(o.entry)).unwrap_or_default(),
            _ => continue,
        };
        for d in devices {
            let Ok(at) = functions.binary_search_by_key(&d.bdf, |f| f.bdf) else { continue };
            if let Some(f) = functions.get_mut(at) {
                let node = d.node.and_then(|n| i32::try_from(n).ok());
                put(&mut f.numa_node, node, Place::of(o.entry).line(d.line));
            }
        }
    }
}

/// NUMA nodes of AMD's GPUs, where a text shows them with their addresses.
fn near_amd(text: &[u8], entry: EntryId, functions: &mut [PciFunction<'_>]) {
    for gpu in amd::parse(text).gpus {
        let (Some(bdf), Some(node)) = (gpu.bdf, gpu.numa_affinity) else { continue };
        let Ok(at) = functions.binary_search_by_key(&bdf.value, |f| f.bdf) else { continue };
        if let Some(f) = functions.get_mut(at) {
            put(&mut f.numa_node, Some(node.value), Place::of(entry).line(node.line));
        }
    }
}

/// Adds what a text shows: to functions that sysfs already has, what sysfs did not show; else new functions.
fn join(functions: &mut Vec<PciFunction<'_>>, mut devices: Vec<lspci::Device>, entry: EntryId, text: &[u8]) {
    // A text without domains joins a tree by bus, device and function where that is unambiguous: domain 0.
    let sorted = functions.len();
    let habits = Habits {
        drivers: devices.iter().any(|d| d.driver.is_some()),
        groups: devices.iter().any(|d| d.iommu_group.is_some()),
        unfinished: devices.iter().map(|d| d.line).max().filter(|_| !ends_with_block(text)),
    };
    // "nvid" without the end of its line may be the beginning of "nvidia".
    if !text.ends_with(b"\n") {
        let last = u32::try_from(text.split(|b| *b == b'\n').count()).unwrap_or(u32::MAX);
        devices.iter_mut().filter(|d| d.driver_line == last).for_each(|d| d.driver = None);
    }
    for d in devices {
        match functions[..sorted].binary_search_by_key(&d.bdf, |f| f.bdf) {
            Ok(i) => fill(&mut functions[i], d, entry, &habits),
            Err(_) => {
                let place = Place::of(entry).line(d.line);
                let mut f = PciFunction::unseen(d.bdf, entry, place, &Why::NotCollected);
                fill(&mut f, d, entry, &habits);
                functions.push(f);
            }
        }
    }
}

/// What one text as a whole tells about the meaning of a line that is not there.
struct Habits {
    drivers: bool,
    groups: bool,
    /// Line of the last device, where the text may end in the middle of it: then what it lacks may be behind the end.
    unfinished: Option<u32>,
}

/// Whether a verbose text ends as `lspci` ends: with an empty line after the last device.
fn ends_with_block(text: &[u8]) -> bool {
    text.ends_with(b"\n\n") || text.ends_with(b"\n\r\n")
}

fn fill(f: &mut PciFunction<'_>, d: lspci::Device, entry: EntryId, habits: &Habits) {
    let base = Place::of(entry);
    let at = |line: u32| base.line(if line == 0 { d.line } else { line });
    put(&mut f.vendor, d.vendor, at(0));
    put(&mut f.device, d.device, at(0));
    put(&mut f.subsystem, d.subsystem_vendor.zip(d.subsystem_device), at(0));
    put(&mut f.class, d.class, at(0));
    put(&mut f.numa_node, d.numa_node, at(d.numa_node_line));
    put(&mut f.iommu_group, d.iommu_group, at(d.iommu_group_line));
    // Where the text names drivers and groups of other functions, their lines are missing because there is none.
    let whole = habits.unfinished != Some(d.line);
    if habits.groups && whole && d.verbosity >= lspci::Verbosity::Verbose && f.iommu_group.is_unreadable() {
        f.iommu_group = Reading::Absent(at(0));
    }
    put(&mut f.driver, d.driver.map(Cow::Owned), at(d.driver_line));
    if habits.drivers && whole && d.verbosity >= lspci::Verbosity::Verbose && f.driver.is_unreadable() {
        f.driver = Reading::Absent(at(0));
    }
    if f.name.is_empty() {
        // What lspci prints for an id that its list lacks is no name.
        f.name = if d.name == "Device" { String::new() } else { d.name };
    }
    if let (None, Some(line)) = (f.silent, d.unknown_header_line.or((d.revision == Some(0xff)).then_some(d.line))) {
        f.silent = Some(at(line));
    }
    f.buses = f.buses.or(d.bus.map(|(_, secondary, subordinate)| (secondary, subordinate)));
    absorb(f, d.caps, entry, d.line);
    if let Some(e) = f.express.known().copied() {
        let (cap, sta) = (f.express_place(ExpressRegister::LnkCap), f.express_place(ExpressRegister::LnkSta));
        put(&mut f.link.speed, e.link_speed, sta);
        put(&mut f.link.width, e.link_width.filter(|w| w.plausible()), sta);
        put(&mut f.link.max_speed, e.link_cap_speed, cap);
        put(&mut f.link.max_width, e.link_cap_width.filter(|w| w.plausible()), cap);
        // `(ok)` of a line without the other register: the maximum is the same.
        let same = |is: Option<Beside>| is == Some(Beside::Equal);
        put(&mut f.link.max_speed, e.link_speed.filter(|_| same(e.link_speed_is)), sta);
        put(&mut f.link.max_width, e.link_width.filter(|w| w.plausible() && same(e.link_width_is)), sta);
    }
    f.bars = std::mem::take(&mut f.bars).or_regions(d.regions, base);
}

/// Keeps what is known already.
fn put<T>(slot: &mut Reading<T>, value: Option<T>, place: Place) {
    if let (Some(v), true) = (value, slot.known().is_none()) {
        *slot = Reading::Known(v, place);
    }
}

fn classify(tree: &mut PciTree<'_>, rdma: &Reading<Vec<RdmaDevice>>) {
    let with_rdma: Vec<Bdf> = rdma.known().into_iter().flatten().filter_map(|d| d.pci).collect();
    for f in &mut tree.functions {
        let (Some(vendor), Some(class)) = (f.vendor.known().copied(), f.class.known().copied()) else {
            // A bridge is one whoever made it.
            let is_bridge = f.class.known().is_some_and(|c| c.sub() == 0x0604);
            f.kind = match with_rdma.contains(&f.bdf) {
                true => Kind::RdmaNic,
                false if is_bridge => Kind::Bridge,
                false => Kind::Unknown,
            };
            continue;
        };
        f.kind = match (vendor, class.sub()) {
            (0x15b3, _) if f.device.known() == Some(&0x2100) => Kind::DataDirect,
            (0x15b3, _) if class.is_network() && f.vpd.known().is_some_and(|v| v.manages_switches) => {
                Kind::NvlinkBridge
            }
            _ if with_rdma.contains(&f.bdf) => Kind::RdmaNic,
            (0x10de, _) if class.is_display() => Kind::Gpu,
            (0x10de, 0x0680) => Kind::NvSwitch,
            (0x15b3, _) if class.is_network() => Kind::RdmaNic,
            _ if f.is_efa() => Kind::RdmaNic,
            (0x1002, sub) if sub >> 8 == 0x12 || sub == 0x0380 => Kind::AmdGpu,
            (_, sub) if sub >> 8 == 0x12 => Kind::Accelerator,
            _ if class.is_network() => Kind::Nic,
            (_, 0x0604) => Kind::Bridge,
            (_, 0x0108) => Kind::Nvme,
            _ => Kind::Other,
        };
    }
}

/// B200 and B300 (supported-gpus of NVIDIA's open kernel modules: 2901, 3182): eight on a baseboard whose NVLink switches are managed
/// through four functions of a ConnectX-7 (docs.nvidia.com, Fabric Manager user guide, fourth-generation NVSwitches).
const NVLINK5_GPUS: [u16; 2] = [0x2901, 0x3182];

/// On such a baseboard a ConnectX-7 with an InfiniBand port is a NIC or manages NVLink: VPD says which (`SMDL=SW_MNG`). Without it a
/// network interface shows a NIC, and so does a switch with a GPU below it, which the managing functions never share (`nvidia-smi
/// topo -m` of DGX B200, github.com/NVIDIA/nccl issue 1646: NIC0 to NIC3 are one card, and NODE to every GPU).
fn doubt(tree: &mut PciTree<'_>, s: &Snapshot) {
    let gpus: Vec<FnId> = tree
        .of_kind(Kind::Gpu)
        .filter(|(_, f)| !f.is_vf() && f.device.known().is_some_and(|d| NVLINK5_GPUS.contains(d)))
        .map(|(id, _)| id)
        .collect();
    if gpus.len() < 8 {
        return;
    }
    let beside: Vec<FnId> = gpus.iter().flat_map(|id| tree.ancestors(*id).0).collect();
    let is_open = |id: FnId, f: &PciFunction<'_>| {
        let card = f.vendor.known() == Some(&0x15b3) && f.device.known() == Some(&0x1021) && !f.is_vf();
        let infiniband = f.class.known().is_some_and(|c| c.sub() == 0x0207);
        let has_netdev = f.in_sysfs && matches!(s.resolve_from(f.home, "net"), Lookup::Found(_));
        let shares = tree.ancestors(id).0.iter().any(|b| beside.contains(b));
        card && infiniband && matches!(f.vpd, Reading::Unreadable(..)) && !has_netdev && !shares
    };
    let open: Vec<FnId> = tree.of_kind(Kind::RdmaNic).filter(|(id, f)| is_open(*id, f)).map(|(id, _)| id).collect();
    for id in open {
        if let Some(f) = tree.functions.get_mut(id.0 as usize) {
            f.kind = Kind::PerhapsNvlinkBridge;
        }
    }
}

/// Parents by path where the tree had one, else by bus numbers: the bridge whose secondary bus is the function's bus. A bus that
/// is no bridge's secondary, where bridges show their buses, hangs off the root complex. Where no host bridge is shown, as by
/// `lspci | grep NVIDIA`, bridges are not shown either: only bus 0 hangs there.
fn parents(tree: &mut PciTree<'_>, above: &[(Bdf, Bdf)]) {
    let mut behind: HashMap<(u32, u8), FnId> = HashMap::new();
    let mut blind_bridge = false;
    let is_host = |f: &PciFunction<'_>| f.class.known().is_some_and(|c| c.sub() == 0x0600);
    let whole: HashSet<u32> = tree.iter().filter(|(_, f)| is_host(f)).map(|(_, f)| f.bdf.domain).collect();
    for (id, f) in tree.iter() {
        match f.buses {
            // Secondary bus 0 is a bridge that nobody configured.
            Some((secondary, _)) if secondary != 0 => {
                behind.entry((f.bdf.domain, secondary)).or_insert(id);
            }
            Some(_) => {}
            None => blind_bridge |= f.kind == Kind::Bridge,
        }
    }
    for i in 0..tree.functions.len() {
        let f = &tree.functions[i];
        let (bdf, vf_of) = (f.bdf, f.physfn);
        let by_path = above.binary_search_by_key(&bdf, |(f, _)| *f).ok().and_then(|i| above.get(i));
        let parent = match by_path.and_then(|(_, p)| tree.find(*p)) {
            Some(p) => Parent::Bridge(p),
            None if f.parent == Parent::RootComplex => Parent::RootComplex,
            None => match behind
                .get(&(bdf.domain, bdf.bus))
                .or_else(|| vf_of.and_then(|pf| behind.get(&(pf.domain, pf.bus))))
            {
                Some(p) if p.0 as usize != i => Parent::Bridge(*p),
                _ if blind_bridge || (bdf.bus != 0 && !whole.contains(&bdf.domain)) => Parent::Unknown,
                // An all-virtual-function bus would hang in the air; with every bridge's buses known it is a root bus.
                _ => Parent::RootComplex,
            },
        };
        tree.functions[i].parent = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lstopo_shows_the_node_of_a_function_that_is_listed() {
        let mut s = Snapshot::new("x");
        let mut add = |kind, name: &str, text: &str| {
            let entry = s.add_file(name, text.as_bytes()).expect("room");
            s.outputs.push(linerate_snapshot::Output { kind, entry, argv: Vec::new(), status: None });
        };
        add(OutputKind::Lspci, "pasted/a", "41:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330]\n");
        add(
            OutputKind::Lstopo,
            "pasted/b",
            "Machine\n  Package L#0\n    NUMANode L#0 (P#1 1GB)\n    HostBridge\n      PCI 41:00.0 (3D)\n      PCI 42:00.0 (NVMe)\n",
        );
        let missing = Reading::Unreadable(Place::of(s.root()), Why::NotCollected);
        let tree = tree(&s, &missing, &mut Vec::new());
        let [f] = tree.functions.as_slice() else { panic!("{}", tree.functions.len()) };
        assert_eq!((f.numa_node.known(), f.numa_node.place().pos), (Some(&1), linerate_snapshot::Pos::Line(5)));
    }
}
