//! The processor's side of PCI: root buses, root ports, the functions that every socket brings along.

use crate::description::{Cpu, Hypervisor, Node, Role};
use crate::function::{Function, Port};
use linerate_formats::pci::LinkSpeed::{Gen3, Gen4, Gen5};

/// What carries root ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Platform {
    SapphireRapids,
    IceLake,
    CascadeLake,
    Broadwell,
    Rome,
    Genoa,
    Turin,
    Grace,
    Altra,
    Gb10,
    Qemu,
    Nitro,
    HyperV,
}

/// A root bus: domain and bus.
pub(crate) type RootBus = (u32, u8);

/// Functions of one bus: device, function, what.
pub(crate) type Placed = Vec<(u8, u8, Function)>;

impl Platform {
    pub(crate) fn of(node: &Node) -> Self {
        match (node.role, node.cpu) {
            (Role::Guest, _) => match node.hypervisor {
                Hypervisor::Qemu => Platform::Qemu,
                Hypervisor::Nitro => Platform::Nitro,
                Hypervisor::HyperV => Platform::HyperV,
            },
            (_, Cpu::IntelIceLake) => Platform::IceLake,
            (_, Cpu::IntelCascadeLake) => Platform::CascadeLake,
            (_, Cpu::AmdRome | Cpu::AmdMilan) => Platform::Rome,
            (_, Cpu::AmpereAltra) => Platform::Altra,
            (_, Cpu::IntelSapphireRapids) => Platform::SapphireRapids,
            (_, Cpu::IntelBroadwell) => Platform::Broadwell,
            (_, Cpu::Gb10) => Platform::Gb10,
            (_, Cpu::AmdGenoa) => Platform::Genoa,
            (_, Cpu::AmdTurin) => Platform::Turin,
            (_, Cpu::Grace) => Platform::Grace,
        }
    }

    /// Root buses of a socket that carry root ports for cards, in the order in which switches take them.
    pub(crate) fn root_buses(self, socket: u32) -> Vec<RootBus> {
        let buses: &[u8] = match (self, socket) {
            (Platform::SapphireRapids, 0) => &[0x15, 0x37, 0x26, 0x48, 0x59],
            (Platform::SapphireRapids, 1) => &[0x97, 0xb7, 0xa7, 0xc7, 0xd7],
            (Platform::IceLake, 0) => &[0x16, 0x30, 0x4a, 0x64],
            (Platform::IceLake, 1) => &[0x97, 0xb0, 0xc9, 0xe2],
            (Platform::CascadeLake, 0) => &[0x17, 0x3a, 0x5d],
            (Platform::CascadeLake, 1) => &[0x85, 0xae, 0xd7],
            // In the order of the NUMA nodes that NPS4 makes of them: bus 0x60 is next to node 0.
            (Platform::Rome, 0) => &[0x60, 0x40, 0x20, 0x00],
            (Platform::Rome, 1) => &[0xe0, 0xc0, 0xa0, 0x80],
            (Platform::Genoa | Platform::Turin, 0) => &[0x00, 0x20, 0x40, 0x60],
            (Platform::Genoa | Platform::Turin, 1) => &[0x80, 0xa0, 0xc0, 0xe0],
            (Platform::Broadwell, 0) => &[0x00],
            (Platform::Broadwell, 1) => &[0x80],
            // One pcie-expander-bus for each NUMA node.
            (Platform::Qemu, 0) => &[0x10],
            (Platform::Qemu, 1) => &[0x80],
            // Every root port of Grace is a PCI segment of its own.
            (Platform::Grace, s) if s < 2 => return (0..10).map(|n| (s * 0x10 + n, 0)).collect(),
            (Platform::Altra, s) if s < 2 => return (0..8).map(|n| (s * 0x10 + n, 0)).collect(),
            (Platform::Gb10, 0) => return vec![(0, 0), (2, 0), (4, 0), (0xf, 0)],
            (Platform::Nitro, 0) => &[0x10, 0x20, 0x30, 0x40],
            (Platform::Nitro, 1) => &[0x90, 0xa0, 0xb0, 0xc0],
            _ => &[],
        };
        buses.iter().map(|b| (0, *b)).collect()
    }

    /// The last bus that hangs below a root bus.
    pub(crate) fn last_bus(self, (_, bus): RootBus) -> u8 {
        match self {
            Platform::SapphireRapids => match bus {
                0x00 => 0x14,
                b if b < 0x59 => b + 0x10,
                0x59 => 0x69,
                0x80 => 0x96,
                b if (0x97..0xd7).contains(&b) => b + 0xf,
                0xd7 => 0xe6,
                b => b,
            },
            Platform::IceLake => match bus {
                0x00 => 0x15,
                b if b < 0x64 => b + 0x19,
                0x64 => 0x7d,
                0xe2 => 0xfd,
                b => b + 0x18,
            },
            Platform::CascadeLake => match bus {
                0x00 => 0x16,
                b => b + 0x22,
            },
            Platform::Rome | Platform::Genoa | Platform::Turin => bus + 0x1f,
            Platform::Broadwell => bus | 0x7e,
            Platform::Grace | Platform::Gb10 | Platform::Altra | Platform::HyperV => 0xff,
            Platform::Nitro => bus + 0xf,
            Platform::Qemu => match bus {
                0 => 0x0f,
                0x10 => 0x7f,
                _ => 0xff,
            },
        }
    }

    /// Where root ports are on a root bus: (device, function).
    pub(crate) fn ports(self) -> &'static [(u8, u8)] {
        match self {
            Platform::SapphireRapids => &[(1, 0), (3, 0), (5, 0), (7, 0)],
            Platform::IceLake => &[(2, 0), (3, 0), (4, 0), (5, 0)],
            Platform::CascadeLake => &[(0, 0), (1, 0), (2, 0), (3, 0)],
            Platform::Broadwell => &[(1, 0), (2, 0), (3, 0), (2, 2), (1, 1)],
            Platform::Rome | Platform::Genoa | Platform::Turin => &[(1, 1), (3, 1), (5, 1), (1, 2), (3, 2), (5, 2)],
            Platform::Grace | Platform::Gb10 => &[(0, 0)],
            Platform::Nitro => &[(1, 0), (2, 0), (3, 0)],
            Platform::Altra => &[(1, 0), (2, 0), (3, 0), (4, 0)],
            Platform::HyperV => &[],
            Platform::Qemu => &[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0)],
        }
    }

    /// Where the boot disk, the management network and the like are: socket 0's first bus.
    pub(crate) fn platform_bus(self) -> RootBus {
        (0, 0)
    }

    pub(crate) fn root_port(self) -> Function {
        let (vendor, device, speed, width) = match self {
            Platform::SapphireRapids => (0x8086, 0x352a, Gen5, 16),
            Platform::IceLake => (0x8086, 0x347a, Gen4, 16),
            Platform::CascadeLake => (0x8086, 0x2030, Gen3, 16),
            Platform::Broadwell => (0x8086, 0x6f04, Gen3, 16),
            Platform::Rome => (0x1022, 0x1483, Gen4, 16),
            Platform::Altra => (0x1def, 0xe101, Gen4, 16),
            Platform::Genoa => (0x1022, 0x14ab, Gen5, 16),
            Platform::Turin => (0x1022, 0x153e, Gen5, 16),
            Platform::Grace => (0x10de, 0x22b1, Gen5, 16),
            Platform::Gb10 => (0x10de, 0x22ce, Gen5, 16),
            Platform::Qemu | Platform::HyperV => (0x1b36, 0x000c, Gen4, 32),
            Platform::Nitro => (0x1d0f, 0x0200, Gen4, 8),
        };
        let mut f = Function::new(vendor, device, 0x06_0400).linked(speed, width).driven("pcieport");
        f.port = Some(Port::Root);
        (f.ext_tag, f.ext_tag_supported, f.has_aer) = (true, true, true);
        f.revision = if self == Platform::SapphireRapids { 4 } else { 0 };
        if matches!(self, Platform::Qemu | Platform::Nitro) {
            (f.ext_tag, f.ext_tag_supported) = (false, false);
            return f;
        }
        f = f.payload(if vendor == 0x1022 { 512 } else { 256 }, 256, if vendor == 0x8086 { 4096 } else { 512 });
        f.ten_bit_tag_supported = speed >= Gen4;
        // Where the firmware describes an SMMU, Linux on Arm isolates every port; on x86 a unit clears the bits after the boot.
        f.acs = Some((0x1f, if matches!(self, Platform::Grace | Platform::Gb10) { 0x1d } else { 0 }));
        f
    }

    /// The functions of a root bus besides root ports: device, function, what.
    pub(crate) fn root_functions(self, (_, bus): RootBus) -> Placed {
        let inner = |vendor, device, class, revision| {
            let mut f = Function::new(vendor, device, class);
            f.port = Some(Port::Integrated);
            (f.revision, f.subsystem) = (revision, (vendor, 0));
            f
        };
        let plain = |vendor, device, class| {
            let mut f = Function::new(vendor, device, class);
            (f.port, f.config_len) = (None, 256);
            f
        };
        match self {
            Platform::SapphireRapids => {
                let i = |device, class, revision| inner(0x8086, device, class, revision);
                vec![
                    (0, 0, i(0x09a2, 0x08_8000, 0x20)),
                    (0, 1, i(0x09a4, 0x08_8000, 0x20)),
                    (0, 2, i(0x09a3, 0x08_8000, 0x20)),
                    (0, 4, i(0x0b23, 0x08_0700, 0x20)),
                ]
            }
            Platform::IceLake => {
                let i = |device, class| inner(0x8086, device, class, 4);
                vec![(0, 0, i(0x09a2, 0x08_8000)), (0, 1, i(0x09a4, 0x08_8000)), (0, 2, i(0x09a3, 0x08_8000))]
            }
            Platform::CascadeLake => {
                vec![(5, 0, plain(0x8086, 0x2034, 0x08_8000)), (5, 2, plain(0x8086, 0x2035, 0x08_8000))]
            }
            Platform::Broadwell if bus == 0 => vec![(0, 0, plain(0x8086, 0x6f00, 0x06_0000))],
            Platform::Broadwell => vec![(4, 0, plain(0x8086, 0x6f20, 0x08_8000))],
            Platform::Rome | Platform::Genoa | Platform::Turin => {
                let (root, iommu, dummy, events) = match self {
                    Platform::Rome => (0x1480, 0x1481, 0x1482, None),
                    Platform::Turin => (0x153a, 0x153b, 0x153d, Some(0x153c)),
                    _ => (0x14a4, 0x149e, 0x149f, Some(0x14a6)),
                };
                let mut list = vec![(0, 0, plain(0x1022, root, 0x06_0000)), (0, 2, plain(0x1022, iommu, 0x08_0600))];
                list.extend(events.map(|id| (0, 3, inner(0x1022, id, 0x08_0700, 0))));
                list.extend([1, 2, 3, 4, 5, 7].map(|d| (d, 0, plain(0x1022, dummy, 0x06_0000))));
                list
            }
            Platform::Grace | Platform::Gb10 | Platform::Altra | Platform::HyperV => Vec::new(),
            Platform::Nitro if bus == 0 => vec![
                (0, 0, plain(0x8086, 0x1237, 0x06_0000)),
                (1, 0, plain(0x8086, 0x7000, 0x06_0100)),
                (3, 0, plain(0x1d0f, 0x1111, 0x03_0000)),
            ],
            Platform::Nitro => Vec::new(),
            Platform::Qemu if bus == 0 => vec![
                (0, 0, plain(0x8086, 0x29c0, 0x06_0000)),
                (1, 0, plain(0x1234, 0x1111, 0x03_0000)),
                (31, 0, plain(0x8086, 0x2918, 0x06_0100)),
                (31, 2, plain(0x8086, 0x2922, 0x01_0601).driven("ahci")),
                (31, 3, plain(0x8086, 0x2930, 0x0c_0500).driven("i801_smbus")),
            ],
            Platform::Qemu => Vec::new(),
        }
    }

    /// Root buses that carry no cards, with their functions.
    pub(crate) fn other_buses(self, socket: u32) -> Vec<(RootBus, Placed)> {
        match self {
            Platform::SapphireRapids => sapphire_rapids(self, socket),
            Platform::Rome | Platform::Genoa | Platform::Turin => {
                // The data fabric is on bus 0, one device for each socket.
                let base = match self {
                    Platform::Rome => 0x1490,
                    Platform::Turin => 0x153f,
                    _ => 0x14ad,
                };
                let fabric = (0..8).map(|n| {
                    let mut f = Function::new(0x1022, base + u16::from(n), 0x06_0000);
                    (f.port, f.config_len) = (None, 256);
                    (0x18 + socket as u8, n, f)
                });
                vec![((0, 0), fabric.collect())]
            }
            _ => Vec::new(),
        }
    }
}

fn sapphire_rapids(platform: Platform, socket: u32) -> Vec<(RootBus, Placed)> {
    let plain = |device, class| {
        let mut f = Function::new(0x8086, device, class);
        (f.port, f.config_len, f.subsystem) = (None, 256, (0x8086, 0));
        f
    };
    let accelerators: [u8; 4] = if socket == 0 { [0x6a, 0x6f, 0x74, 0x79] } else { [0xe7, 0xec, 0xf1, 0xf6] };
    let mut out = Vec::new();
    for bus in accelerators {
        let mut list = platform.root_functions((0, bus));
        if bus & 0xf == 0xa || bus == 0xe7 {
            let mut dsa = plain(0x0b25, 0x08_8000);
            (dsa.port, dsa.config_len, dsa.driver) = (Some(Port::Integrated), 4096, Some("idxd".into()));
            list.push((1, 0, dsa));
        }
        out.push(((0, bus), list));
    }
    let (agents, mesh) = if socket == 0 { (0x7e, 0x7f) } else { (0xfe, 0xff) };
    let mut list = Vec::new();
    for (function, device) in [(0, 0x3250), (1, 0x3251), (2, 0x3252), (5, 0x3255)] {
        list.push((0, function, plain(device, 0x08_8000)));
    }
    for device in 1..=8 {
        let first = if device <= 4 { 0x3240 } else { 0x3245 };
        list.extend((0..3).map(|n| (device, n, plain(first + u16::from(n), 0x08_8000))));
    }
    for device in 0xc..=0xf {
        list.push((device, 0, plain(0x324a, 0x11_0100)));
        list.push((device, 1, plain(0x2880, 0x11_0100)));
    }
    out.push(((0, agents), list));
    let mut list = Vec::new();
    // One pair of functions for every slice of the mesh.
    for (first, device) in [(0, 0x324c_u16), (10, 0x324d)] {
        list.extend((0..56_u8).map(|n| (first + n / 8, n % 8, plain(device, 0x08_8000))));
    }
    for (n, device) in [0x3258_u16, 0x3259, 0x325a, 0x325b, 0x325c, 0x325d, 0x325e, 0x325f].into_iter().enumerate() {
        list.push((30, n as u8, plain(device, 0x08_8000)));
    }
    out.push(((0, mesh), list));
    out
}

/// The platform controller's functions on Intel's bus 0.
pub(crate) fn intel_platform_controller() -> Placed {
    let plain = |device, class, driver: &str| {
        let mut f = Function::new(0x8086, device, class).driven(driver);
        (f.port, f.config_len, f.revision, f.subsystem) = (None, 256, 0x11, (0x1028, 0x0a6b));
        f
    };
    vec![
        (0x14, 0, plain(0x1bcd, 0x0c_0330, "xhci_hcd")),
        (0x14, 2, plain(0x1bce, 0x05_0000, "")),
        (0x15, 0, plain(0x1bff, 0x08_8000, "")),
        (0x16, 0, plain(0x1be0, 0x07_8000, "mei_me")),
        (0x18, 0, plain(0x1bf2, 0x01_0601, "ahci")),
        (0x19, 0, plain(0x1bd2, 0x01_0601, "ahci")),
        (0x1f, 0, plain(0x1b81, 0x06_0100, "")),
        (0x1f, 4, plain(0x1bc9, 0x0c_0500, "i801_smbus")),
        (0x1f, 5, plain(0x1bca, 0x0c_8000, "intel-spi")),
    ]
}
