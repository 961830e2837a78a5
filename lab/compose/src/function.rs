//! A PCI function before it becomes files.

use crate::description::{Aer, Ats, Nics};
use linerate_formats::pci::{Bdf, LinkSpeed};

/// What a function is to the rest of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Gpu(usize),
    Nic { index: usize, port: u8 },
    Vf { parent: usize, index: u16 },
    Other,
}

/// PCI Express device/port types, as encoded in the capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    Endpoint = 0,
    Root = 4,
    Up = 5,
    Down = 6,
    Integrated = 9,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) speed: LinkSpeed,
    pub(crate) width: u8,
    pub(crate) max_speed: LinkSpeed,
    pub(crate) max_width: u8,
}

impl Link {
    pub(crate) const fn full(speed: LinkSpeed, width: u8) -> Self {
        Link { speed, width, max_speed: speed, max_width: width }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bar {
    /// Index of the (first) register.
    pub(crate) index: u8,
    pub(crate) size: u64,
    pub(crate) wide: bool,
    pub(crate) prefetchable: bool,
    /// Filled when addresses are given out.
    pub(crate) address: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SrIov {
    pub(crate) total: u16,
    pub(crate) number: u16,
    pub(crate) offset: u16,
    pub(crate) stride: u16,
    pub(crate) device: u16,
}

/// Vital Product Data: what mlx5 cards say of themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vpd {
    pub(crate) name: String,
    pub(crate) serial: String,
    /// Keyword V3: the identity that the functions of one card share.
    pub(crate) uuid: String,
    /// Keyword VA, after `MLX:`.
    pub(crate) vendor: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) bdf: Bdf,
    pub(crate) root_bus: u8,
    /// Index of the bridge above; none on a root bus.
    pub(crate) parent: Option<usize>,
    pub(crate) names: Vec<String>,
    pub(crate) kind: Kind,
    /// Which NIC, of functions of NICs.
    pub(crate) model: Option<Nics>,
    /// Vital Product Data.
    pub(crate) vpd: Option<Vpd>,
    pub(crate) vendor: u16,
    pub(crate) device: u16,
    pub(crate) subsystem: (u16, u16),
    pub(crate) class: u32,
    pub(crate) revision: u8,
    /// Bridges: secondary and subordinate bus.
    pub(crate) buses: Option<(u8, u8)>,
    /// None: conventional PCI.
    pub(crate) port: Option<Port>,
    pub(crate) link: Option<Link>,
    pub(crate) socket: u32,
    pub(crate) numa: i32,
    pub(crate) driver: Option<String>,
    pub(crate) bars: Vec<Bar>,
    /// Which of `bars` NVIDIA calls BAR1.
    pub(crate) bar1: Option<usize>,
    pub(crate) mps_supported: u16,
    pub(crate) mps: u16,
    pub(crate) mrrs: u16,
    pub(crate) relaxed_ordering: bool,
    pub(crate) no_snoop: bool,
    pub(crate) ext_tag_supported: bool,
    pub(crate) ext_tag: bool,
    pub(crate) ten_bit_tag_supported: bool,
    pub(crate) ten_bit_tag: bool,
    /// LnkCtl bits 1:0.
    pub(crate) aspm: u8,
    /// Capability and control.
    pub(crate) acs: Option<(u16, u16)>,
    pub(crate) ats: Ats,
    pub(crate) has_aer: bool,
    pub(crate) aer: Aer,
    pub(crate) ari: bool,
    pub(crate) ari_forwarding: bool,
    pub(crate) sriov: Option<SrIov>,
    /// Index of the function, and its BAR that can be resized.
    pub(crate) rebar: bool,
    pub(crate) serial: Option<u64>,
    pub(crate) config_len: u16,
    pub(crate) no_config: bool,
    pub(crate) iommu_group: Option<u32>,
    pub(crate) gone: bool,
}

impl Function {
    pub(crate) fn new(vendor: u16, device: u16, class: u32) -> Self {
        Function {
            bdf: Bdf { domain: 0, bus: 0, device: 0, function: 0 },
            root_bus: 0,
            parent: None,
            names: Vec::new(),
            kind: Kind::Other,
            model: None,
            vpd: None,
            vendor,
            device,
            subsystem: (0, 0),
            class,
            revision: 0,
            buses: None,
            port: Some(Port::Endpoint),
            link: None,
            socket: 0,
            numa: -1,
            driver: None,
            bars: Vec::new(),
            bar1: None,
            mps_supported: 128,
            mps: 128,
            mrrs: 128,
            relaxed_ordering: false,
            no_snoop: false,
            ext_tag_supported: false,
            ext_tag: false,
            ten_bit_tag_supported: false,
            ten_bit_tag: false,
            aspm: 0,
            acs: None,
            ats: Ats::Absent,
            has_aer: false,
            aer: Aer::default(),
            ari: false,
            ari_forwarding: false,
            sriov: None,
            rebar: false,
            serial: None,
            config_len: 4096,
            no_config: false,
            iommu_group: None,
            gone: false,
        }
    }

    pub(crate) fn payload(mut self, supported: u16, mps: u16, mrrs: u16) -> Self {
        (self.mps_supported, self.mps, self.mrrs) = (supported, mps, mrrs);
        self
    }

    pub(crate) fn linked(mut self, speed: LinkSpeed, width: u8) -> Self {
        self.link = Some(Link::full(speed, width));
        self
    }

    pub(crate) fn driven(mut self, driver: &str) -> Self {
        self.driver = (!driver.is_empty()).then(|| driver.to_owned());
        self
    }

    pub(crate) fn bar(mut self, index: u8, size: u64, wide: bool, prefetchable: bool) -> Self {
        self.bars.push(Bar { index, size, wide, prefetchable, address: 0 });
        self
    }

    /// Whether an extended configuration space exists.
    pub(crate) fn is_express(&self) -> bool {
        self.port.is_some()
    }
}
