//! From `[layout]` to PCI functions.

use crate::build::Builder;
use crate::complex;
use crate::description::{Complex, Cpu, Description, Group, Hypervisor, Nics, Role, Switch};
use crate::function::{Function, Kind, Vpd};
use crate::models;
use crate::platform::{Platform, intel_platform_controller};
use crate::seed::Seed;
use crate::{DescribeError, patch};

/// More of anything than any node has.
const MAX: u32 = 64;

/// What stands behind a port of the layout.
pub(crate) enum Device {
    Gpu(usize),
    Nic(usize, Nics),
}

impl Device {
    pub(crate) fn kind(&self, index: usize) -> Kind {
        match self {
            Device::Gpu(_) => Kind::Gpu(index),
            Device::Nic(..) => Kind::Nic { index, port: 1 },
        }
    }
}

/// The functions of the node, patched.
pub(crate) fn functions(d: &Description) -> Result<Vec<Function>, DescribeError> {
    check(d)?;
    let platform = Platform::of(&d.node);
    let mut b = Builder::new(platform, Seed(d.node.seed));
    let l = &d.layout;
    for socket in 0..d.node.sockets {
        root_functions(&mut b, d, platform, socket)?;
    }
    let (mut gpus, mut nics) = (0, 0);
    for (number, group) in groups(d).iter().enumerate() {
        let model = group.nic.unwrap_or(l.nic);
        // GPUs and NICs take turns, as on the boards.
        let mut devices = Vec::new();
        for n in 0..group.gpus.max(group.nics) as usize {
            devices.extend((n < group.gpus as usize).then_some(Device::Gpu(gpus + n)));
            devices.extend((n < group.nics as usize).then_some(Device::Nic(nics + n, model)));
        }
        let first_gpu = gpus;
        gpus += group.gpus as usize;
        nics += group.nics as usize;
        let root = group.root.unwrap_or(0) as usize;
        if platform == Platform::HyperV {
            devices.iter().for_each(|device| alone(&mut b, d, group.socket, device));
        } else if l.complex == Complex::RootBus {
            complex::on_root_bus(&mut b, d, group.socket, root, &devices);
        } else if l.complex != Complex::None {
            for n in 0..group.gpus as usize {
                complex::pair(&mut b, d, group.socket, first_gpu + n, root * group.gpus as usize + n)?;
            }
        } else if group.switchless {
            for (n, device) in devices.iter().enumerate() {
                // The GPU of a GB10 is on its last segment.
                let last = d.node.cpu == Cpu::Gb10 && matches!(device, Device::Gpu(_));
                let prefer = match (last, d.node.cpu) {
                    (true, _) => 3,
                    (false, Cpu::Gb10) => n.saturating_sub(1) / 2,
                    _ => root + n / 2,
                };
                let port = b.root_port(group.socket, prefer)?;
                place(&mut b, d, port, device);
            }
        } else {
            switched(&mut b, d, group, number as u32, &devices)?;
        }
    }
    services(&mut b, d, nics)?;
    let per = d.node.numa_per_socket.max(1);
    let nodes = d.node.sockets * per;
    let buses: Vec<Vec<u8>> =
        (0..d.node.sockets).map(|s| platform.root_buses(s).iter().map(|(_, bus)| *bus).collect()).collect();
    b.finish(|socket, root| {
        if nodes == 1 && d.node.role == Role::Guest {
            return -1;
        }
        if platform == Platform::HyperV {
            return (socket * per) as i32;
        }
        let at = buses.get(socket as usize).and_then(|b| b.iter().position(|x| *x == root)).unwrap_or(0) as u32;
        (socket * per + at % per) as i32
    });
    let mut functions = b.functions;
    serials(&mut functions, Seed(d.node.seed));
    patch::apply(d, &mut functions)?;
    Ok(functions)
}

/// The groups of cards: those that are listed, or as many alike as the counts say.
fn groups(d: &Description) -> Vec<Group> {
    let l = &d.layout;
    if !l.group.is_empty() {
        return l.group.clone();
    }
    let one = |socket, switch| Group {
        socket,
        root: Some(switch),
        switchless: l.switchless,
        tiers: None,
        gpus: l.gpus_per_switch,
        nics: l.nics_per_switch,
        nic: None,
    };
    (0..d.node.sockets).flat_map(|s| (0..l.switches_per_socket).map(move |n| (s, n))).map(|(s, n)| one(s, n)).collect()
}

/// A card of a Hyper-V guest: a domain of its own, no port above it.
fn alone(b: &mut Builder, d: &Description, socket: u32, device: &Device) {
    let (mut f, domain, name) = match device {
        Device::Gpu(n) => {
            let Some(mut f) = models::gpu(d.layout.gpu) else { return };
            f.kind = Kind::Gpu(*n);
            if d.nvidia.driver.is_empty() {
                f.driver = None;
            }
            (f, 1 + *n as u32, format!("gpu{n}"))
        }
        Device::Nic(n, model) => {
            let Some(mut f) = models::nic(*model) else { return };
            f.kind = Kind::Nic { index: *n, port: 1 };
            (f, 0x101 + *n as u32, format!("nic{n}"))
        }
    };
    f.has_aer = false;
    let at = b.on_root((domain, 0), socket, 0, 0, f);
    b.name(at, name);
}

fn check(d: &Description) -> Result<(), DescribeError> {
    let (n, l) = (&d.node, &d.layout);
    if !(1..=2).contains(&n.sockets) {
        return Err(DescribeError::impossible(format!("node.sockets = {}", n.sockets), "1 or 2"));
    }
    let counts = [
        ("node.cores_per_socket", n.cores_per_socket, 256),
        ("node.threads_per_core", n.threads_per_core, 8),
        ("node.numa_per_socket", n.numa_per_socket, 8),
        ("layout.switches_per_socket", l.switches_per_socket, MAX),
        ("layout.gpus_per_switch", l.gpus_per_switch, MAX),
        ("layout.nics_per_switch", l.nics_per_switch, MAX),
        ("layout.nvswitches", l.nvswitches, MAX),
        ("layout.nvlink_bridges", l.nvlink_bridges, MAX),
        ("layout.nvme", l.nvme, MAX),
        ("layout.frontend", l.frontend, MAX),
        ("layout.group", l.group.len() as u32, MAX),
    ];
    for g in &l.group {
        if g.socket >= n.sockets || g.gpus > MAX || g.nics > MAX || g.tiers.is_some_and(|t| !(1..=2).contains(&t)) {
            return Err(DescribeError::impossible(
                format!("[[layout.group]] of socket {} with {} GPUs and {} NICs", g.socket, g.gpus, g.nics),
                format!("a socket that there is, at most {MAX} of each, 1 or 2 tiers of switches"),
            ));
        }
    }
    for (name, value, max) in counts {
        let min = u32::from(name.starts_with("node."));
        if value > max || value < min {
            return Err(DescribeError::impossible(format!("{name} = {value}"), format!("{min} to {max}")));
        }
    }
    if n.cores_per_socket % n.numa_per_socket != 0 {
        return Err(DescribeError::impossible(
            format!("{} cores cannot be shared by {} NUMA nodes", n.cores_per_socket, n.numa_per_socket),
            "node.cores_per_socket must be a multiple of node.numa_per_socket",
        ));
    }
    Ok(())
}

fn root_functions(b: &mut Builder, d: &Description, platform: Platform, socket: u32) -> Result<(), DescribeError> {
    let bus0 = platform.platform_bus();
    let roots = platform.root_buses(socket);
    let arm = d.node.cpu.is_arm() && d.node.role != Role::Guest;
    let separate = socket == 0 && !roots.contains(&bus0) && !arm && platform != Platform::HyperV;
    if separate {
        for (device, function, f) in platform.root_functions(bus0) {
            b.on_root(bus0, socket, device, function, f);
        }
    }
    if socket == 0 && d.layout.clutter {
        management(b, platform, bus0)?;
    }
    for root in roots.into_iter().filter(|_| d.layout.clutter || platform != Platform::SapphireRapids) {
        for (device, function, f) in platform.root_functions(root) {
            b.on_root(root, socket, device, function, f);
        }
    }
    if d.layout.clutter {
        for (root, list) in platform.other_buses(socket) {
            for (device, function, f) in list {
                b.on_root(root, socket, device, function, f);
            }
        }
    }
    Ok(())
}

/// The platform controller and, behind a port of it, the management network: two functions, eth0 and eth1.
fn management(b: &mut Builder, platform: Platform, bus0: (u32, u8)) -> Result<(), DescribeError> {
    let guest = platform == Platform::Qemu;
    let port = match platform {
        Platform::SapphireRapids | Platform::IceLake | Platform::CascadeLake => {
            for (device, function, f) in intel_platform_controller() {
                b.on_root(bus0, 0, device, function, f);
            }
            let mut port = platform.root_port().linked(linerate_formats::pci::LinkSpeed::Gen3, 1);
            (port.device, port.revision) = (0x1bbc, 0x11);
            b.on_root(bus0, 0, 0xc, 0, port)
        }
        Platform::Grace | Platform::Gb10 | Platform::Altra | Platform::HyperV => return Ok(()),
        Platform::Nitro => {
            let nic = b.on_root(bus0, 0, 5, 0, models::ena());
            b.name(nic, "mgmt0".into());
            return Ok(());
        }
        Platform::Qemu => b.on_root(bus0, 0, 2, 0, platform.root_port()),
        Platform::Rome | Platform::Genoa | Platform::Turin => b.on_root(bus0, 0, 5, 4, platform.root_port()),
        Platform::Broadwell => b.on_root(bus0, 0, 0x1c, 0, platform.root_port()),
    };
    b.bridge(port)?;
    b.name(port, "mgmt.port".into());
    for function in 0..if guest { 1 } else { 2 } {
        let nic = b.below(port, 0, function, models::management_nic(guest));
        b.name(nic, format!("mgmt{function}"));
    }
    Ok(())
}

fn switched(
    b: &mut Builder,
    d: &Description,
    group: &Group,
    number: u32,
    devices: &[Device],
) -> Result<(), DescribeError> {
    let root = b.root_port(group.socket, group.root.unwrap_or(number) as usize)?;
    let (up, down) = models::switch(d.layout.switch);
    let up = b.below(root, 0, 0, up);
    b.name(up, format!("switch{number}.up"));
    b.name(root, format!("switch{number}.root"));
    b.bridge(up)?;
    // Enumeration gives buses to the downstream ports in order, each before the next.
    for (n, device) in devices.iter().enumerate() {
        let slot = u8::try_from(n).ok().filter(|n| *n < 0x1f).ok_or_else(|| {
            DescribeError::impossible(format!("{} devices behind one switch", devices.len()), "at most 31")
        })?;
        let port = b.below(up, slot, 0, down.clone());
        b.name(port, format!("switch{number}.down{n}"));
        b.bridge(port)?;
        let mut last = port;
        if group.tiers == Some(2) {
            let (up, down) = models::switch(d.layout.switch);
            let up = b.below(port, 0, 0, up);
            b.name(up, format!("switch{number}.{n}.up"));
            b.bridge(up)?;
            last = b.below(up, 0, 0, down);
            b.name(last, format!("switch{number}.{n}.down0"));
            b.bridge(last)?;
        }
        place(b, d, last, device);
    }
    if d.layout.switch != Switch::Xio3130 && d.layout.clutter {
        let port = b.below(up, 0x1f, 0, down);
        b.name(port, format!("switch{number}.mgmtport"));
        b.bridge(port)?;
        let f = models::switch_management();
        let end = b.below(port, 0, 0, f);
        b.name(end, format!("switch{number}.mgmt"));
    }
    Ok(())
}

/// Puts a GPU or NIC behind a port, and names the port after it.
pub(crate) fn place(b: &mut Builder, d: &Description, port: usize, device: &Device) {
    let passthrough = d.node.role == Role::Host;
    match device {
        Device::Gpu(n) => {
            let Some(mut f) = gpu(d) else { return };
            f.kind = Kind::Gpu(*n);
            let at = b.below(port, 0, 0, f);
            b.name(at, format!("gpu{n}"));
            b.name(port, format!("gpu{n}.port"));
        }
        Device::Nic(n, model) => {
            card(b, *model, port, *n, &format!("nic{n}"), passthrough.then_some("vfio-pci"));
            b.name(port, format!("nic{n}.port"));
        }
    }
}

/// A GPU with its driver.
pub(crate) fn gpu(d: &Description) -> Option<Function> {
    let mut f = models::gpu(d.layout.gpu)?;
    if d.node.role == Role::Host {
        f.driver = Some("vfio-pci".into());
    } else if d.nvidia.driver.is_empty() && f.vendor == 0x10de {
        f.driver = None;
    }
    Some(f)
}

pub(crate) fn card(b: &mut Builder, model: Nics, port: usize, index: usize, name: &str, driver: Option<&str>) {
    let Some(info) = models::nic_model(model) else { return };
    for function in 0..info.functions {
        let Some(mut f) = models::nic(model) else { return };
        f.kind = Kind::Nic { index, port: function + 1 };
        f.model = Some(model);
        f.vpd = vpd(model, &info, b.seed(), name);
        if let Some(driver) = driver {
            f.driver = Some(driver.into());
        }
        let at = b.below(port, 0, function, f);
        b.name(at, if function == 0 { name.to_owned() } else { format!("{name}.{function}") });
    }
}

/// Vital Product Data of the cards in whose functions it says what they are.
fn vpd(model: Nics, info: &models::NicModel, seed: Seed, card: &str) -> Option<Vpd> {
    let role = match model {
        Nics::NvlinkBridge => ":SMDL=SW_MNG",
        Nics::ConnectX8 | Nics::ConnectX8Roce => "",
        _ => return None,
    };
    Some(Vpd {
        name: info.product.into(),
        serial: format!("MT{:010X}", seed.bits(&format!("sn/{card}")) & 0xff_ffff_ffff),
        uuid: seed.uuid(&format!("v3/{card}")).replace('-', ""),
        vendor: format!("MLX:MN=MLNX:CSKU=V2:UUID=V3:PCI=V0:MODL={}{role}", info.device_type),
    })
}

/// NVSwitches, disks, the front-end network.
fn services(b: &mut Builder, d: &Description, nics: usize) -> Result<(), DescribeError> {
    let l = &d.layout;
    let last = d.node.sockets - 1;
    if l.nvswitches > 0
        && d.node.role != Role::Guest
        && models::gpu_model(l.gpu).is_some_and(|m| m.nvlinks > 0)
        && !l.gpu.hides_nvswitches()
    {
        let port = b.root_port(last, 2)?;
        let (up, down, end) = models::nvswitch(l.gpu);
        let up = b.below(port, 0, 0, up);
        b.bridge(up)?;
        for n in 0..l.nvswitches {
            let port = b.below(up, n as u8 & 0x1f, 0, down.clone());
            b.bridge(port)?;
            let mut end = end.clone();
            if d.node.role == Role::Host {
                end.driver = Some("vfio-pci".into());
            }
            let at = b.below(port, 0, 0, end);
            b.name(at, format!("nvswitch{n}"));
        }
    }
    complex::nvlink_bridges(b, d)?;
    let model = l.frontend_nic.unwrap_or(Nics::ConnectX6Dx);
    if d.node.hypervisor == Hypervisor::HyperV && d.node.role == Role::Guest {
        for n in 0..l.frontend {
            let Some(mut f) = models::nic(model) else { continue };
            f.kind = Kind::Nic { index: nics + n as usize, port: 1 };
            f.has_aer = false;
            let at = b.on_root((0x201 + n, 0), 0, 0, 2, f);
            b.name(at, format!("frontend{n}"));
        }
        return Ok(());
    }
    for n in 0..l.frontend {
        let port = b.root_port(n % d.node.sockets, 2)?;
        card(b, model, port, nics + n as usize, &format!("frontend{n}"), None);
        b.name(port, format!("frontend{n}.port"));
    }
    for n in 0..l.nvme {
        let socket = n % d.node.sockets;
        let port = b.root_port(socket, if d.node.cpu == Cpu::IntelSapphireRapids { 3 } else { n as usize })?;
        let at = b.below(port, 0, 0, models::nvme(d.node.role == Role::Guest));
        b.name(at, format!("nvme{n}"));
    }
    Ok(())
}

fn serials(functions: &mut [Function], seed: Seed) {
    for f in functions.iter_mut().filter(|f| matches!(f.kind, Kind::Gpu(_)) || f.vendor == 0x1000) {
        let prefix = if f.vendor == 0x10de { 0x48_b02d } else { 0x18_5609 };
        let label = f.names.last().cloned().unwrap_or_default();
        f.serial = Some(seed.guid(prefix, &label));
    }
}
