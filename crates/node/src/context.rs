//! What kind of node this is. A rule without its context is folklore.

use crate::Node;
use crate::direct::{Part, part};
use crate::pci::{Kind, PciFunction};
use crate::rdma::LinkLayer;
use linerate_formats::dmesg;
use linerate_formats::pci::Bdf;
use linerate_formats::pci::caps::PortType;
use linerate_snapshot::{Place, Reading};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where the system is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// On the hardware, using GPUs and NICs itself.
    BareMetal,
    /// On the hardware, passing GPUs or NICs to virtual machines.
    VmHost,
    /// In a virtual machine.
    VmGuest,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::BareMetal => "bare metal",
            Role::VmHost => "VM host",
            Role::VmGuest => "VM guest",
        })
    }
}

/// How a conclusion about the context was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A fact says so.
    Seen,
    /// It follows from indirect signs, which are listed.
    Inferred,
    /// The user said so.
    Told,
    /// Nothing tells.
    Unknown,
}

/// A conclusion with its reasons.
#[derive(Debug, Clone)]
pub struct Judged<T> {
    /// The value; `None` when nothing tells.
    pub value: Option<T>,
    /// How it was reached.
    pub basis: Basis,
    /// Why, with the places.
    pub reasons: Vec<(String, Option<Place>)>,
}

impl<T> Judged<T> {
    fn unknown(reason: &str) -> Self {
        Judged { value: None, basis: Basis::Unknown, reasons: vec![(reason.to_owned(), None)] }
    }

    fn of(value: T, basis: Basis, reason: impl Into<String>, place: Option<Place>) -> Self {
        Judged { value: Some(value), basis, reasons: vec![(reason.into(), place)] }
    }

    /// Places of all reasons.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.reasons.iter().filter_map(|(_, p)| *p)
    }
}

/// How peer-to-peer traffic is meant to be routed (rdma_topo's distinction).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum P2pPlan {
    /// No translation, no redirection: switches route directly.
    BareMetal,
    /// Virtual machines: ATS in the NIC, Direct Translated in the switch.
    PassthroughWithAts,
}

/// Shape of the PCIe tree around GPUs and NICs (rdma_topo's `__detect_topo_type`, extended to plain switches).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyType {
    /// ConnectX-8 Data Direct function (15b3:2100) present.
    DataDirect,
    /// GPU directly under a Grace or Vera root port.
    GraceRootPort,
    /// ConnectX or BlueField switch with GPU and NIC inline.
    Inline,
    /// GPU and NIC share a PCIe switch.
    Switch,
    /// Each behind its own root port.
    RootPorts,
}

/// What speaks to GPU and NIC, device by device.
#[derive(Debug, Clone, Default)]
pub struct Devices {
    /// GPUs: address, architecture, how it is known.
    pub gpus: Vec<(Bdf, Judged<&'static str>)>,
    /// RDMA NICs: address, driver family (`mlx5`, `mlx4`, …).
    pub nics: Vec<(Bdf, Judged<String>)>,
    /// Link layer of each RDMA port: device, port, layer.
    pub fabric: Vec<(String, u32, LinkLayer, Place)>,
}

/// Facts §0: computed before any rule runs.
#[derive(Debug, Clone)]
pub struct Context {
    /// Generations and fabrics.
    pub devices: Devices,
    /// Role.
    pub role: Judged<Role>,
    /// Direction of the ACS and ATS rules.
    pub p2p_plan: Judged<P2pPlan>,
    /// Shape.
    pub topology: Judged<TopologyType>,
}

impl Context {
    pub(crate) fn undecided() -> Self {
        Context {
            devices: Devices::default(),
            role: Judged::unknown("not computed"),
            p2p_plan: Judged::unknown("not computed"),
            topology: Judged::unknown("not computed"),
        }
    }

    pub(crate) fn of(node: &Node<'_>, told: Option<Role>) -> Self {
        let role = match told {
            Some(r) => Judged::of(r, Basis::Told, "the user said so", None),
            None => role(node),
        };
        Context { devices: devices(node), p2p_plan: plan(node, &role), topology: topology(node), role }
    }
}

fn devices(node: &Node<'_>) -> Devices {
    let gpu = |f: &PciFunction<'_>| {
        if let Some(Reading::Known(a, p)) = node.nvidia.gpu(f.bdf).map(|g| &g.architecture)
            && let Some(known) = ARCHITECTURES.iter().map(|(.., a)| *a).find(|k| a.eq_ignore_ascii_case(k))
        {
            return Judged::of(known, Basis::Seen, "nvidia-smi says so", Some(*p));
        }
        let by_id = f.device.known().and_then(|d| ARCHITECTURES.iter().find(|(lo, hi, _)| (lo..=hi).contains(&d)));
        match by_id {
            Some((.., name)) => Judged::of(*name, Basis::Inferred, "by its device id", Some(f.device.place())),
            None => Judged::unknown("device id of no known generation"),
        }
    };
    let nic = |f: &PciFunction<'_>| match &f.driver {
        Reading::Known(d, p) => {
            let family = d.split('_').next().unwrap_or(d).to_owned();
            Judged::of(family, Basis::Seen, format!("driven by {d}"), Some(*p))
        }
        _ => match (f.vendor.known(), f.device.known()) {
            // ConnectX-3 and older carry 0x1002..=0x1010; everything later of this vendor is driven by mlx5.
            (Some(0x15b3), Some(d)) => {
                let family = if *d < 0x1011 { "mlx4" } else { "mlx5" };
                Judged::of(family.to_owned(), Basis::Inferred, "by its device id", Some(f.device.place()))
            }
            _ => Judged::unknown("no driver is bound, or it is not visible"),
        },
    };
    let ports = node.rdma.known().into_iter().flatten().flat_map(|d| d.ports.iter().map(move |p| (d, p)));
    Devices {
        gpus: node.pci.nvidia_gpus().map(|(_, f)| (f.bdf, gpu(f))).collect(),
        nics: node.pci.rdma_nics().map(|(_, f)| (f.bdf, nic(f))).collect(),
        fabric: ports
            .filter_map(|(d, p)| Some((d.name.clone(), p.number, *p.link_layer.known()?, p.link_layer.place())))
            .collect(),
    }
}

/// Device ids of NVIDIA GPUs by architecture: first, last, name as nvidia-smi prints it. From the ids in NVIDIA's open kernel
/// modules (list of supported GPUs) and pci.ids; ranges hold GPUs of one generation only.
const ARCHITECTURES: &[(u16, u16, &str)] = &[
    (0x15f0, 0x15ff, "Pascal"),
    (0x1b00, 0x1cff, "Pascal"),
    (0x1d80, 0x1dff, "Volta"),
    (0x1e00, 0x1fff, "Turing"),
    (0x2080, 0x20ff, "Ampere"),
    (0x2180, 0x21ff, "Turing"),
    (0x2200, 0x225f, "Ampere"),
    (0x2300, 0x23ff, "Hopper"),
    (0x2480, 0x25ff, "Ampere"),
    (0x2680, 0x28ff, "Ada Lovelace"),
    (0x2900, 0x29ff, "Blackwell"),
    (0x2b80, 0x2fff, "Blackwell"),
    (0x3180, 0x31ff, "Blackwell"),
];

fn role(node: &Node<'_>) -> Judged<Role> {
    if let Some(guest) = guest(node) {
        return guest;
    }
    let passed: Vec<&PciFunction<'_>> =
        node.pci.functions.iter().filter(|f| f.is_passed() && interesting(f.kind)).collect();
    if let Some(first) = passed.first() {
        let n = passed.len();
        let by =
            if first.driven_by("vfio-pci") { "bound to vfio-pci" } else { "given to a virtual machine by its domain" };
        let reason = format!(
            "{} {by}, {} first",
            linerate_formats::counted(n, "GPU or network function", "GPU or network functions"),
            first.bdf
        );
        let sure = if node.cpu.hypervisor.known().is_some() { Basis::Seen } else { Basis::Inferred };
        return Judged::of(Role::VmHost, sure, reason, Some(first.passed_at()));
    }
    if let Some((vm, device)) =
        node.vms.read.iter().filter(|vm| !vm.is_at_rest).find_map(|vm| Some((vm, vm.domain.hostdevs.first()?)))
    {
        let reason = format!("a domain of it, {}, gives devices of the host to a virtual machine", vm.domain.name);
        return Judged::of(Role::VmHost, Basis::Inferred, reason, Some(vm.at(device.span.line)));
    }
    match &node.cpu.hypervisor {
        Reading::Known(false, p) => {
            Judged::of(Role::BareMetal, Basis::Seen, "the CPU shows no hypervisor flag", Some(*p))
        }
        // Other architectures have no such flag.
        _ => match &node.firmware.detected_virt {
            Reading::Known(virt, p) if virt == "none" => {
                Judged::of(Role::BareMetal, Basis::Seen, "systemd-detect-virt says none", Some(*p))
            }
            _ => bare_by_signs(node),
        },
    }
}

fn interesting(kind: Kind) -> bool {
    kind.is_gpu() || matches!(kind, Kind::RdmaNic | Kind::Nic | Kind::NvSwitch | Kind::DataDirect)
}

/// Whether the node is a virtual machine, as the user or its own files say.
pub(crate) fn is_guest(node: &Node<'_>, told: Option<Role>) -> bool {
    told.map_or_else(|| guest(node).is_some(), |t| t == Role::VmGuest)
}

fn guest(node: &Node<'_>) -> Option<Judged<Role>> {
    if let Reading::Known(true, p) = node.cpu.hypervisor {
        return Some(Judged::of(Role::VmGuest, Basis::Seen, "the CPU shows the hypervisor flag", Some(p)));
    }
    if let Reading::Known(virt, p) = &node.firmware.detected_virt
        && !matches!(virt.as_str(), "none" | "")
        && !node.firmware.is_container_virt()
    {
        return Some(Judged::of(Role::VmGuest, Basis::Seen, format!("systemd-detect-virt says {virt}"), Some(*p)));
    }
    if let Reading::Known(name, p) = &node.cpu.named_hypervisor {
        return Some(Judged::of(Role::VmGuest, Basis::Seen, format!("lscpu names the hypervisor {name}"), Some(*p)));
    }
    // The kernel's name of what Xen's own first domain runs on, too.
    let mut detected = node.kernel.log.known().into_iter().flatten().filter_map(|e| match &e.event {
        dmesg::Event::Hypervisor(n) if n != "Xen PV" => Some((n, e.place)),
        _ => None,
    });
    if let Some((name, p)) = detected.next_back() {
        let reason = format!("the kernel's log says `Hypervisor detected: {name}`");
        return Some(Judged::of(Role::VmGuest, Basis::Seen, reason, Some(p)));
    }
    // The flag can be hidden from a guest (`-cpu …,-hypervisor`, VirtualBox without paravirtualisation): what the machine calls itself counts first.
    if let Some((name, p)) = crate::firmware::hypervisor_by_dmi(&node.firmware) {
        return Some(Judged::of(Role::VmGuest, Basis::Inferred, format!("DMI says {name}"), Some(p)));
    }
    // Devices that only a hypervisor makes. virtio is also hardware (BlueField and other cards offer it), and Amazon's and Google's devices are on
    // their bare metal, too: where the CPU shows no hypervisor they tell nothing.
    let bare = node.cpu.hypervisor.known() == Some(&false);
    let made = |v: u16| matches!(v, 0x1b36 | 0x15ad | 0x1414 | 0x80ee | 0x5853 | 0x1ab8) || v == 0x1af4 && !bare;
    // Of other makers' devices that QEMU and Xen play the subsystem tells: it is QEMU's or XenSource's.
    let played = |s: &(u16, u16)| *s == (0x1af4, 0x1100) || s.0 == 0x5853;
    if let Some(f) = node.pci.functions.iter().find(|f| f.subsystem.known().is_some_and(played)) {
        let (vendor, device) = f.subsystem.known().copied()?;
        let reason = format!("{} is an emulated device (subsystem {vendor:04x}:{device:04x})", f.bdf);
        return Some(Judged::of(Role::VmGuest, Basis::Inferred, reason, Some(f.subsystem.place())));
    }
    let emulated = node.pci.functions.iter().find(|f| f.vendor.known().is_some_and(|v| made(*v)))?;
    let reason = format!("{} is an emulated device (vendor {:04x})", emulated.bdf, emulated.vendor.known()?);
    Some(Judged::of(Role::VmGuest, Basis::Inferred, reason, Some(emulated.vendor.place())))
}

/// No CPU flags: a root complex of hardware, no emulated device, nothing on vfio-pci. Drivers must be visible for that.
fn bare_by_signs(node: &Node<'_>) -> Judged<Role> {
    let ends: Vec<_> = node.pci.functions.iter().filter(|f| interesting(f.kind)).collect();
    let own_driver = ends.iter().find(|f| f.driver.known().is_some());
    let root_ports = node.pci.functions.iter().filter(|f| f.port_type() == Some(PortType::RootPort)).count();
    let integrated = node
        .pci
        .functions
        .iter()
        .filter(|f| matches!(f.port_type(), Some(PortType::RootComplexEndpoint | PortType::RootComplexEventCollector)))
        .count();
    match own_driver {
        Some(f) if root_ports > 0 && integrated > 0 => {
            let driver = f.driver.known().map(|d| d.as_ref()).unwrap_or_default();
            let mut judged = Judged::of(
                Role::BareMetal,
                Basis::Inferred,
                format!("{} is used by its own driver ({driver}), no GPU or NIC is on vfio-pci", f.bdf),
                Some(f.driver.place()),
            );
            judged.reasons.push((
                format!("{root_ports} root ports and {integrated} root-complex integrated functions, none emulated"),
                node.pci.seen,
            ));
            judged
        }
        _ => match &node.firmware.logged_machine {
            Reading::Known(machine, p) => Judged {
                value: None,
                basis: Basis::Unknown,
                reasons: vec![(
                    format!(
                        "DMI names {machine}, which no hypervisor writes; CPU flags and PCI devices of this source do not show more"
                    ),
                    Some(*p),
                )],
            },
            _ => Judged::unknown(
                "CPU flags, DMI and PCI devices of this source do not show whether this is bare metal or a virtual machine",
            ),
        },
    }
}

/// rdma_topo's rule: a NIC physical function that exposes ATS means virtual machines are planned.
fn plan(node: &Node<'_>, role: &Judged<Role>) -> Judged<P2pPlan> {
    if let Some(Role::VmHost) = role.value {
        let mut judged =
            Judged::of(P2pPlan::PassthroughWithAts, role.basis, "this node passes devices to virtual machines", None);
        judged.reasons.extend(role.reasons.iter().cloned());
        return judged;
    }
    let mut unseen = false;
    // rdma_topo looks at ConnectX and BlueField: others' NICs have the capability whatever is planned.
    let mellanox = |f: &PciFunction<'_>| f.vendor.known().is_none_or(|v| *v == 0x15b3);
    for (_, nic) in node.pci.rdma_nics().filter(|(_, f)| !f.is_vf() && mellanox(f)) {
        match &nic.ats {
            Reading::Known(_, p) => {
                let reason = format!("NIC {} exposes ATS", nic.bdf);
                return Judged::of(P2pPlan::PassthroughWithAts, Basis::Inferred, reason, Some(*p));
            }
            Reading::Absent(_) => {}
            Reading::Unreadable(..) => unseen = true,
        }
    }
    match node.pci.rdma_nics().next() {
        Some(_) if unseen => Judged::unknown("configuration space of the NICs is not visible as far as ATS"),
        Some((_, nic)) => Judged::of(P2pPlan::BareMetal, Basis::Inferred, "no NIC exposes ATS", Some(nic.ats.place())),
        None => Judged::unknown("no RDMA NIC"),
    }
}

fn topology(node: &Node<'_>) -> Judged<TopologyType> {
    if let Some((_, f)) = node.pci.of_kind(Kind::DataDirect).next() {
        return Judged::of(
            TopologyType::DataDirect,
            Basis::Seen,
            format!("{} is a ConnectX-8 Data Direct function", f.bdf),
            Some(f.device.place()),
        );
    }
    let mut best: Option<(TopologyType, String)> = None;
    for (gpu, f) in node.pci.gpus() {
        if let Some(up) = node.pci.bridge_above(gpu)
            && matches!(part(node.pci.get(up)), Some(Part::GraceRootPort | Part::VeraRootPort))
        {
            return Judged::of(
                TopologyType::GraceRootPort,
                Basis::Seen,
                format!("GPU {} is under a Grace or Vera root port", f.bdf),
                Some(f.device.place()),
            );
        }
        for (nic, path) in node.pci.nearest_nics(gpu) {
            let Some(common) = path.common else { continue };
            let inline = node
                .pci
                .ancestors(gpu)
                .0
                .iter()
                .any(|b| matches!(part(node.pci.get(*b)), Some(Part::ConnectXSwitch | Part::BlueFieldSwitch)));
            let kind = if inline { TopologyType::Inline } else { TopologyType::Switch };
            best = Some((
                kind,
                format!("GPU {} and NIC {} are both below {}", f.bdf, node.pci.get(nic).bdf, node.pci.get(common).bdf),
            ));
            break;
        }
        if best.is_some() {
            break;
        }
    }
    match best {
        Some((kind, reason)) => Judged::of(kind, Basis::Seen, reason, node.pci.seen),
        None if node.pci.gpus().next().is_none() => Judged::unknown("no GPU"),
        None if node.pci.rdma_nics().next().is_none() => Judged::unknown("no RDMA NIC"),
        None if node.pci.gpus().chain(node.pci.rdma_nics()).any(|(id, _)| !node.pci.ancestors(id).1) => {
            Judged::unknown("which bridges are above GPUs and NICs is not in this source")
        }
        None => {
            Judged::of(TopologyType::RootPorts, Basis::Seen, "no GPU shares a PCIe switch with a NIC", node.pci.seen)
        }
    }
}
