//! The PCI tree: every function, its place in the tree, and what its configuration space says.

use linerate_formats::pci::caps::{
    Acs, Aer, Ari, Ats, Cap, Capabilities, Express, PortType, ResizableBars, Spot, SrIov, Unseen,
};
use linerate_formats::pci::class::Class;
use linerate_formats::pci::lspci::Region;
use linerate_formats::pci::vpd::Vpd;
use linerate_formats::pci::{Bdf, LinkSpeed, LinkWidth};
use linerate_snapshot::{EntryId, Place, Reading, Why};
use std::borrow::Cow;

/// Index of a function in [`PciTree::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FnId(pub u32);

/// What sits above a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parent {
    /// A bridge.
    Bridge(FnId),
    /// Nothing but the root complex.
    RootComplex,
    /// The source does not tell.
    Unknown,
}

/// What a function is, as far as the GPUDirect-RDMA path is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// NVIDIA GPU: vendor 10de, class 03.
    Gpu,
    /// AMD accelerator: vendor 1002, class 12, or 0380 as the Instinct cards before MI300 have it.
    AmdGpu,
    /// Any other accelerator (class 12): named, not judged.
    Accelerator,
    /// NVIDIA NVSwitch: vendor 10de, class 0680.
    NvSwitch,
    /// ConnectX-7 function that manages NVLink switches: its Vital Product Data says `SMDL=SW_MNG`. No network card.
    NvlinkBridge,
    /// ConnectX-7 function of a baseboard that has such functions, where the source does not show whether it is one: neither VPD, nor
    /// a network interface, nor a GPU below the same switch. Judged neither as a NIC nor as none.
    PerhapsNvlinkBridge,
    /// NIC that does RDMA: in class/infiniband, or an NVIDIA/Mellanox (15b3) network function, or AWS' EFA (1d0f:efa*).
    RdmaNic,
    /// Any other network function.
    Nic,
    /// ConnectX-8 Data Direct function: 15b3:2100.
    DataDirect,
    /// PCI-to-PCI bridge: root port, switch port, or an old bridge.
    Bridge,
    /// Non-volatile memory controller.
    Nvme,
    /// Everything else.
    Other,
    /// Class or vendor could not be read.
    Unknown,
}

impl Kind {
    /// A GPU that is an end of peer-to-peer traffic with NICs: of NVIDIA or AMD.
    #[must_use]
    pub fn is_gpu(self) -> bool {
        matches!(self, Kind::Gpu | Kind::AmdGpu)
    }
}

/// Link of a function to the port above it.
#[derive(Debug, Clone)]
pub struct Link {
    /// Speed now.
    pub speed: Reading<LinkSpeed>,
    /// Width now.
    pub width: Reading<LinkWidth>,
    /// Most that this function can.
    pub max_speed: Reading<LinkSpeed>,
    /// Most that this function can.
    pub max_width: Reading<LinkWidth>,
}

/// A PCI function.
#[derive(Debug, Clone)]
pub struct PciFunction<'s> {
    /// Address.
    pub bdf: Bdf,
    /// Its sysfs directory, or the text that names it.
    pub home: EntryId,
    /// Whether `home` is a sysfs directory.
    pub in_sysfs: bool,
    /// What it is.
    pub kind: Kind,
    /// What it is below.
    pub parent: Parent,
    /// Vendor id.
    pub vendor: Reading<u16>,
    /// Device id.
    pub device: Reading<u16>,
    /// Subsystem vendor and device id; zeros where the function has none.
    pub subsystem: Reading<(u16, u16)>,
    /// Class code.
    pub class: Reading<Class>,
    /// Name as `lspci` printed it; empty where no text was given.
    pub name: String,
    /// NUMA node as the kernel knows it; -1 where firmware gave none.
    pub numa_node: Reading<i32>,
    /// Driver bound.
    pub driver: Reading<Cow<'s, str>>,
    /// IOMMU group number.
    pub iommu_group: Reading<u32>,
    /// Link to the port above.
    pub link: Link,
    /// Secondary and subordinate bus of a bridge.
    pub buses: Option<(u8, u8)>,
    /// Base address registers.
    pub bars: Bars,
    /// Physical function, where this is a virtual one.
    pub physfn: Option<Bdf>,
    /// PCI Express capability.
    pub express: Reading<Express>,
    /// Access Control Services.
    pub acs: Reading<Acs>,
    /// Address Translation Services.
    pub ats: Reading<Ats>,
    /// Advanced Error Reporting.
    pub aer: Reading<Aer>,
    /// Single-root I/O virtualisation.
    pub sriov: Reading<SrIov>,
    /// Alternative Routing-ID.
    pub ari: Reading<Ari>,
    /// Resizable BAR.
    pub rebar: Reading<ResizableBars>,
    /// Serial number of the device (extended capability 0x0003). Redacted snapshots have a hash of it.
    pub serial: Reading<u64>,
    /// Vital Product Data.
    pub vpd: Reading<Vpd>,
    /// How many bytes of configuration space were seen; `None` from text.
    pub config_len: Option<u32>,
    /// Where a domain of this host gives it to a guest, running or not.
    pub given: Option<Place>,
    /// Where the function was seen not to answer: its configuration space reads as all ones. Virtual functions are never asked:
    /// their vendor and device id read as ones by design.
    pub silent: Option<Place>,
}

/// Sizes of base address registers: from the kernel's `resource` file (a driver-independent view) or from text.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// BAR number, size in bytes, address (0: unassigned), where. Empty: none seen.
    pub list: Vec<Bar>,
    /// Whether any source showed the registers at all.
    pub seen: bool,
}

/// A base address register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Number, 0..=5.
    pub index: u8,
    /// Bytes; 0 where the source shows the BAR but not its size.
    pub size: u64,
    /// Bus address; `None`: unassigned.
    pub address: Option<u64>,
    /// 64 bits and prefetchable: it may be above 4 GiB, also below a bridge. `None`: the source does not show it.
    pub high: Option<bool>,
    /// Where.
    pub place: Place,
}

impl Bars {
    /// By number.
    #[must_use]
    pub fn get(&self, index: u8) -> Option<&Bar> {
        self.list.iter().find(|b| b.index == index)
    }

    /// These, or the regions of a text where none were seen.
    pub(crate) fn or_regions(self, regions: Vec<Region>, base: Place) -> Self {
        if self.seen || regions.is_empty() {
            return self;
        }
        let bar = |r: Region| {
            let high = Some(r.is_64bit && r.prefetchable);
            let (size, address) = (r.size_bytes.unwrap_or(0), r.address);
            Some(Bar { index: r.index?, size, address, high, place: base.line(r.line) })
        };
        Bars { list: regions.into_iter().filter_map(bar).collect(), seen: true }
    }
}

/// Whether a driver hands its device to virtual machines: vfio-pci, and what vendors made of it (`nvgrace_gpu_vfio_pci` of GH200 and GB200,
/// `mlx5_vfio_pci`, `pds_vfio_pci`; Linux drivers/vfio/pci). sysfs prints both `-` and `_`.
#[must_use]
pub fn is_vfio(driver: &str) -> bool {
    let driver = driver.replace('_', "-");
    driver == "vfio-pci" || driver.ends_with("-vfio-pci")
}

impl<'s> PciFunction<'s> {
    /// A function of which nothing but its address is seen, for this reason.
    pub(crate) fn unseen(bdf: Bdf, home: EntryId, place: Place, why: &Why) -> Self {
        macro_rules! unseen {
            () => {
                Reading::Unreadable(place, why.clone())
            };
        }
        PciFunction {
            bdf,
            home,
            in_sysfs: false,
            kind: Kind::Unknown,
            parent: Parent::Unknown,
            vendor: unseen!(),
            device: unseen!(),
            subsystem: unseen!(),
            class: unseen!(),
            name: String::new(),
            numa_node: unseen!(),
            driver: unseen!(),
            iommu_group: unseen!(),
            link: Link { speed: unseen!(), width: unseen!(), max_speed: unseen!(), max_width: unseen!() },
            buses: None,
            bars: Bars::default(),
            physfn: None,
            express: unseen!(),
            acs: unseen!(),
            ats: unseen!(),
            aer: unseen!(),
            sriov: unseen!(),
            ari: unseen!(),
            rebar: unseen!(),
            serial: unseen!(),
            vpd: unseen!(),
            config_len: None,
            silent: None,
            given: None,
        }
    }
}

impl PciFunction<'_> {
    /// Whether this driver is bound. `vfio-pci` stands for the drivers made of it, too ([`is_vfio`]).
    #[must_use]
    pub fn driven_by(&self, driver: &str) -> bool {
        self.driver.known().is_some_and(|d| d == driver || driver == "vfio-pci" && is_vfio(d))
    }

    /// Whether a guest has it or is to have it: bound to vfio-pci, or given by a domain of this host.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        self.given.is_some() || self.driven_by("vfio-pci")
    }

    /// By what [`is_passed`](Self::is_passed) is known.
    #[must_use]
    pub fn passed_at(&self) -> Place {
        self.given.filter(|_| !self.driven_by("vfio-pci")).unwrap_or_else(|| self.driver.place())
    }

    /// Device/port type, where the Express capability was seen.
    #[must_use]
    pub fn port_type(&self) -> Option<PortType> {
        self.express.known().and_then(|e| e.port_type)
    }

    /// A virtual function: its link to the physical one says so, else the name that `lspci` prints, else the device ids of
    /// Mellanox virtual functions in pci.ids (in a guest nothing else tells).
    #[must_use]
    pub fn is_vf(&self) -> bool {
        let mellanox = || {
            const VFS: [u16; 10] = [0x1002, 0x1004, 0x1012, 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e, 0xa2d3];
            self.vendor.known() == Some(&0x15b3) && self.device.known().is_some_and(|d| VFS.contains(d))
        };
        self.physfn.is_some() || self.name.contains("Virtual Function") || mellanox()
    }

    /// GPU or RDMA NIC: an end of the path.
    #[must_use]
    pub fn is_endpoint_of_path(&self) -> bool {
        self.kind.is_gpu() || matches!(self.kind, Kind::RdmaNic | Kind::DataDirect)
    }

    /// AWS' Elastic Fabric Adapter.
    #[must_use]
    pub fn is_efa(&self) -> bool {
        self.vendor.known() == Some(&0x1d0f)
            && self.device.known().is_some_and(|d| d >> 8 == 0xef && d >> 4 & 0xf == 0xa)
    }

    /// Place of a register of the Express capability: the line in text, the register in binary.
    #[must_use]
    pub fn express_place(&self, register: ExpressRegister) -> Place {
        let place = self.express.place();
        let Some(e) = self.express.known() else { return place };
        let (line, offset, len) = match register {
            ExpressRegister::DevCap => (e.lines.devcap, 0x04, 4),
            ExpressRegister::DevCtl => (e.lines.devctl, 0x08, 2),
            ExpressRegister::Sizes => (e.lines.maxpayload, 0x08, 2),
            ExpressRegister::LnkCap => (e.lines.lnkcap, 0x0c, 4),
            ExpressRegister::LnkCtl => (e.lines.lnkctl, 0x10, 2),
            ExpressRegister::LnkSta => (e.lines.lnksta, 0x12, 2),
            ExpressRegister::DevCap2 => (e.lines.devcap2, 0x24, 4),
            ExpressRegister::DevCtl2 => (e.lines.devctl2, 0x28, 2),
        };
        match place.pos {
            linerate_snapshot::Pos::Bytes { offset: at, .. } => place.bytes(at.saturating_add(offset), len),
            _ if line != 0 => place.line(line),
            _ => place,
        }
    }
}

/// A register of the PCI Express capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpressRegister {
    /// +0x04.
    DevCap,
    /// +0x08: flags.
    DevCtl,
    /// +0x08: payload and read request sizes.
    Sizes,
    /// +0x0c.
    LnkCap,
    /// +0x10.
    LnkCtl,
    /// +0x12.
    LnkSta,
    /// +0x24.
    DevCap2,
    /// +0x28.
    DevCtl2,
}

/// All functions, sorted by address.
#[derive(Debug, Clone, Default)]
pub struct PciTree<'s> {
    /// Sorted by BDF.
    pub functions: Vec<PciFunction<'s>>,
    /// Whether the list itself is known: sysfs or a text was there.
    pub seen: Option<Place>,
    /// NIC functions and the function that moves their data, where that is another one: see [`crate::direct`].
    pub data_paths: Vec<(FnId, DataPath)>,
}

/// Which function moves the data of a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPath {
    /// The NIC's own function.
    Own,
    /// A Data Direct function.
    Direct(FnId),
    /// There are Data Direct functions, and the source does not show which NIC each belongs to.
    Unknown,
}

/// How two functions reach each other, in `nvidia-smi topo -m`'s words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Distance {
    /// At most one PCIe switch: one bridge between them.
    Pix,
    /// Several bridges, no host bridge.
    Pxb,
    /// Through a host bridge of one root complex, or several of one NUMA node.
    Phb,
    /// Across NUMA nodes.
    Sys,
    /// The source does not tell.
    Unknown,
}

impl Distance {
    /// Of two functions below a common bridge, with so many bridges on each side up to it. PIX: one switch, i.e. at most one downstream port on each side of the common upstream port.
    #[must_use]
    pub fn below(side_a: usize, side_b: usize) -> Self {
        if side_a <= 1 && side_b <= 1 { Distance::Pix } else { Distance::Pxb }
    }
}

impl std::fmt::Display for Distance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Distance::Pix => "PIX",
            Distance::Pxb => "PXB",
            Distance::Phb => "PHB",
            Distance::Sys => "SYS",
            Distance::Unknown => "unknown",
        })
    }
}

/// The PCIe way between two functions.
#[derive(Debug, Clone)]
pub struct P2pPath {
    /// How far.
    pub distance: Distance,
    /// The bridge under which both are: an upstream port of a switch, or a root port.
    pub common: Option<FnId>,
    /// Bridges strictly between each end and the common one, both sides.
    pub between: Vec<FnId>,
}

/// The bridges above a function.
#[derive(Debug, Clone)]
pub struct WayUp {
    /// The function.
    pub of: FnId,
    /// Bridges, nearest first.
    pub bridges: Vec<FnId>,
    /// Whether the last of them is seen to be below the root complex.
    pub complete: bool,
}

impl WayUp {
    /// Numbers of bridges on both sides below the first common one; `None` where there is none.
    fn meets(&self, other: &WayUp) -> Option<(usize, usize)> {
        let place = |x: &FnId| other.bridges.iter().position(|y| x == y);
        self.bridges.iter().enumerate().find_map(|(side, x)| Some((side, place(x)?)))
    }
}

impl<'s> PciTree<'s> {
    /// By id.
    #[must_use]
    pub fn get(&self, id: FnId) -> &PciFunction<'s> {
        &self.functions[id.0 as usize]
    }

    /// By address.
    #[must_use]
    pub fn find(&self, bdf: Bdf) -> Option<FnId> {
        self.functions.binary_search_by_key(&bdf, |f| f.bdf).ok().map(|i| FnId(i as u32))
    }

    /// With ids.
    pub fn iter(&self) -> impl Iterator<Item = (FnId, &PciFunction<'s>)> {
        self.functions.iter().enumerate().map(|(i, f)| (FnId(i as u32), f))
    }

    /// Of one kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (FnId, &PciFunction<'s>)> {
        self.iter().filter(move |(_, f)| f.kind == kind)
    }

    /// GPUs, of NVIDIA and AMD.
    pub fn gpus(&self) -> impl Iterator<Item = (FnId, &PciFunction<'s>)> {
        self.iter().filter(|(_, f)| f.kind.is_gpu())
    }

    /// AMD's display adapters: graphics cards, GPUs inside CPUs, and accelerators whose firmware makes them such (MI50). Nothing judges them.
    pub fn amd_displays(&self) -> impl Iterator<Item = &PciFunction<'s>> {
        let is_one = |f: &&PciFunction<'s>| {
            f.kind == Kind::Other
                && f.vendor.known() == Some(&0x1002)
                && f.class.known().is_some_and(|c| c.is_display())
        };
        self.functions.iter().filter(is_one)
    }

    /// GPUs of NVIDIA.
    pub fn nvidia_gpus(&self) -> impl Iterator<Item = (FnId, &PciFunction<'s>)> {
        self.of_kind(Kind::Gpu)
    }

    /// Which function moves the data of a NIC.
    #[must_use]
    pub fn data_path(&self, nic: FnId) -> DataPath {
        self.data_paths.iter().find(|(id, _)| *id == nic).map_or(DataPath::Own, |(_, p)| *p)
    }

    /// The function whose link and place count for the data of a NIC; `None` where that is not known.
    #[must_use]
    pub fn data_end(&self, nic: FnId) -> Option<FnId> {
        match self.data_path(nic) {
            DataPath::Own => Some(nic),
            DataPath::Direct(id) => Some(id),
            DataPath::Unknown => None,
        }
    }

    /// RDMA NIC functions, physical and virtual.
    pub fn rdma_nics(&self) -> impl Iterator<Item = (FnId, &PciFunction<'s>)> {
        self.of_kind(Kind::RdmaNic)
    }

    /// The bridge above.
    #[must_use]
    pub fn bridge_above(&self, id: FnId) -> Option<FnId> {
        match self.get(id).parent {
            Parent::Bridge(p) => Some(p),
            _ => None,
        }
    }

    /// Speed that both ends of the link to the port above can: what the function can where the port is not seen.
    #[must_use]
    pub fn possible_speed(&self, id: FnId) -> Option<LinkSpeed> {
        let own = self.get(id).link.max_speed.known().copied()?;
        let above = self.bridge_above(id).and_then(|p| self.get(p).link.max_speed.known().copied());
        Some(above.map_or(own, |a| a.min(own)))
    }

    /// Width that both ends of the link to the port above can: what the function can where the port is not seen.
    #[must_use]
    pub fn possible_width(&self, id: FnId) -> Option<LinkWidth> {
        let own = self.get(id).link.max_width.known().copied()?;
        let above = self.bridge_above(id).and_then(|p| self.get(p).link.max_width.known().copied());
        Some(above.map_or(own, |a| a.min(own)))
    }

    /// Bridges above, nearest first, and whether the walk ended at the root complex (not at "unknown").
    #[must_use]
    pub fn ancestors(&self, id: FnId) -> (Vec<FnId>, bool) {
        let mut out = Vec::new();
        let mut at = id;
        while let Parent::Bridge(p) = self.get(at).parent {
            // Parents come from bus numbers or paths that may be garbage: a loop ends here.
            if out.contains(&p) || out.len() > 64 {
                return (out, false);
            }
            out.push(p);
            at = p;
        }
        let complete = self.get(at).parent == Parent::RootComplex;
        (out, complete)
    }

    /// The way of a function's data up to the root complex: of a NIC with a Data Direct function, that function's. Where it is not known
    /// which that is, nothing is: no bridges, not complete.
    #[must_use]
    pub fn way_up(&self, of: FnId) -> WayUp {
        let (bridges, complete) = self.data_end(of).map_or((Vec::new(), false), |end| self.ancestors(end));
        WayUp { of, bridges, complete }
    }

    /// How far two functions are, by their ways up, and the number of bridges between.
    #[must_use]
    pub fn distance(&self, a: &WayUp, b: &WayUp) -> (Distance, usize) {
        if let Some((side_a, side_b)) = a.meets(b) {
            return (Distance::below(side_a, side_b), side_a + side_b);
        }
        let node = |id: FnId| self.get(id).numa_node.known().copied().filter(|n| *n >= 0);
        let distance = match (node(a.of), node(b.of)) {
            _ if !a.complete || !b.complete => Distance::Unknown,
            (Some(x), Some(y)) if x == y => Distance::Phb,
            (Some(_), Some(_)) => Distance::Sys,
            _ => Distance::Unknown,
        };
        (distance, a.bridges.len() + b.bridges.len())
    }

    /// The way between two functions themselves, as `nvidia-smi topo -m` shows it: not that of a NIC's Data Direct function.
    #[must_use]
    pub fn path(&self, a: FnId, b: FnId) -> P2pPath {
        let own = |of: FnId| {
            let (bridges, complete) = self.ancestors(of);
            WayUp { of, bridges, complete }
        };
        self.between(own(a), own(b))
    }

    fn between(&self, a: WayUp, b: WayUp) -> P2pPath {
        let (distance, _) = self.distance(&a, &b);
        let (side_a, side_b) = a.meets(&b).unwrap_or((a.bridges.len(), b.bridges.len()));
        let common = a.bridges.get(side_a).copied();
        let between = a.bridges.into_iter().take(side_a).chain(b.bridges.into_iter().take(side_b)).collect();
        P2pPath { distance, common, between }
    }

    /// The NIC functions closest to a GPU: those below the deepest common bridge, else those on its NUMA node.
    #[must_use]
    pub fn nearest_nics(&self, gpu: FnId) -> Vec<(FnId, P2pPath)> {
        let mut all: Vec<(FnId, P2pPath)> =
            self.rdma_nics().map(|(n, _)| (n, self.between(self.way_up(gpu), self.way_up(n)))).collect();
        let best = all.iter().map(|(_, p)| (p.distance, p.between.len())).min();
        all.retain(|(_, p)| Some((p.distance, p.between.len())) == best);
        all
    }
}

/// A capability as a fact about the node.
pub(crate) fn reading<T>(cap: Cap<T>, entry: EntryId, line: u32) -> Reading<T> {
    let base = Place::of(entry);
    let at = if line != 0 { base.line(line) } else { base };
    match cap {
        // A hex dump inside a text: the bytes are the dump's, the line is the device's.
        Cap::Present(t, Spot::Bytes { .. }) if line != 0 => Reading::Known(t, at),
        Cap::Present(t, Spot::Bytes { offset, len }) => Reading::Known(t, base.bytes(offset, len)),
        Cap::Present(t, Spot::Line(n)) => Reading::Known(t, base.line(n)),
        Cap::NotPresent => Reading::Absent(at),
        Cap::Unseen(Unseen::Cut(n)) => Reading::Unreadable(at, Why::Cut(u32::from(n))),
        Cap::Unseen(Unseen::AccessDenied) => Reading::Unreadable(at, Why::Denied),
        Cap::Unseen(Unseen::NotPrinted) => Reading::Unreadable(
            at,
            Why::Malformed("the text does not print capabilities (lspci -vvv as root does)".into()),
        ),
        Cap::Unseen(Unseen::Malformed) => {
            Reading::Unreadable(at, Why::Malformed("garbled or cut capability list".into()))
        }
        Cap::NotLooked => Reading::Unreadable(at, Why::NotCollected),
    }
}

/// Capabilities of one source as readings, taking what an earlier source did not show.
pub(crate) fn absorb(f: &mut PciFunction<'_>, caps: Capabilities, entry: EntryId, line: u32) {
    macro_rules! take {
        ($($field:ident),*) => {$(
            let old = std::mem::replace(&mut f.$field, Reading::Absent(Place::of(entry)));
            f.$field = old.or(|| reading(caps.$field, entry, line));
        )*};
    }
    take!(express, acs, ats, aer, sriov, ari, rebar);
}
