//! PCI functions as JSON.

use super::value::{Seer, Value};
use linerate_formats::pci::caps::{Acs, AcsBits, Aer, Ats, Express, PortType, SrIov};
use linerate_formats::pci::{Bdf, LinkSpeed, LinkWidth, class};
use linerate_node::pci::{Kind, Parent, PciFunction, PciTree};
use serde::{Serialize, Serializer};

#[derive(Serialize)]
pub(super) struct FunctionOut<'a> {
    bdf: Bdf,
    kind: Kind,
    vendor: Value<Hex<4>>,
    device: Value<Hex<4>>,
    class: Value<Hex<6>>,
    class_name: Option<&'static str>,
    name: &'a str,
    parent: ParentOut,
    physfn: Option<Bdf>,
    numa_node: Value<i32>,
    driver: Value<&'a str>,
    iommu_group: Value<u32>,
    link: LinkOut,
    buses: Option<(u8, u8)>,
    bars: Option<Vec<BarOut>>,
    express: Value<ExpressOut<'a>>,
    acs: Value<AcsOut>,
    ats: Value<&'a Ats>,
    aer: Value<&'a Aer>,
    sriov: Value<&'a SrIov>,
    ari: Value<AriOut>,
    resizable_bars: Value<Vec<ResizableOut>>,
    config_bytes: Option<u32>,
}

/// A number as hexadecimal digits, as `lspci -n` prints it.
pub(super) struct Hex<const WIDTH: usize>(u32);

impl<const WIDTH: usize> Serialize for Hex<WIDTH> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("{:0WIDTH$x}", self.0))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ParentOut {
    Bridge(Bdf),
    Root(&'static str),
    Unknown,
}

#[derive(Serialize)]
struct LinkOut {
    speed: Value<LinkSpeed>,
    width: Value<LinkWidth>,
    max_speed: Value<LinkSpeed>,
    max_width: Value<LinkWidth>,
}

#[derive(Serialize)]
struct BarOut {
    index: u8,
    /// `null` where the source shows the register but not its size.
    size: Option<u64>,
    assigned: bool,
}

#[derive(Serialize)]
struct ExpressOut<'a> {
    port_type: Option<&'static str>,
    max_payload_supported: &'a Option<u16>,
    max_payload: &'a Option<u16>,
    max_read_request: &'a Option<u16>,
    relaxed_ordering: &'a Option<bool>,
    no_snoop: &'a Option<bool>,
    extended_tag_supported: &'a Option<bool>,
    extended_tag: &'a Option<bool>,
    ten_bit_tag_completer: &'a Option<bool>,
    ten_bit_tag_requester: &'a Option<bool>,
    ten_bit_tag_enabled: &'a Option<bool>,
    aspm_enabled: &'a Option<bool>,
    ari_forwarding_supported: &'a Option<bool>,
    ari_forwarding: &'a Option<bool>,
    atomic_requester: &'a Option<bool>,
}

/// Names of the bits that are set, as `lspci` prints them.
#[derive(Serialize)]
struct AcsOut {
    capability: Option<Vec<&'static str>>,
    control: Option<Vec<&'static str>>,
}

#[derive(Serialize)]
struct AriOut {
    next_function: Option<u8>,
}

#[derive(Serialize)]
struct ResizableOut {
    bar: u8,
    current_mib: u64,
    supported_mib: Vec<u64>,
}

pub(super) fn function<'a>(tree: &PciTree<'_>, f: &'a PciFunction<'a>, seer: &mut Seer<'_, '_>) -> FunctionOut<'a> {
    let base = format!("pci[{}]", f.bdf);
    let b = base.as_str();
    FunctionOut {
        bdf: f.bdf,
        kind: f.kind,
        vendor: seer.value(b, "vendor", &f.vendor, |v| Hex(u32::from(*v))),
        device: seer.value(b, "device", &f.device, |v| Hex(u32::from(*v))),
        class: seer.value(b, "class", &f.class, |c| Hex(c.0)),
        class_name: f.class.known().and_then(|c| class::name_of(*c)),
        name: &f.name,
        parent: match f.parent {
            Parent::Bridge(id) => {
                tree.functions.get(id.0 as usize).map_or(ParentOut::Unknown, |p| ParentOut::Bridge(p.bdf))
            }
            Parent::RootComplex => ParentOut::Root("root-complex"),
            Parent::Unknown => ParentOut::Unknown,
        },
        physfn: f.physfn,
        numa_node: seer.copy(b, "numa_node", &f.numa_node),
        driver: seer.value(b, "driver", &f.driver, |d| d.as_ref()),
        iommu_group: seer.copy(b, "iommu_group", &f.iommu_group),
        link: LinkOut {
            speed: seer.copy(b, "link.speed", &f.link.speed),
            width: seer.copy(b, "link.width", &f.link.width),
            max_speed: seer.copy(b, "link.max_speed", &f.link.max_speed),
            max_width: seer.copy(b, "link.max_width", &f.link.max_width),
        },
        buses: f.buses,
        bars: f.bars.seen.then(|| f.bars.list.iter().map(bar).collect()),
        express: seer.value(b, "express", &f.express, express),
        acs: seer.value(b, "acs", &f.acs, acs),
        ats: seer.value(b, "ats", &f.ats, |a| a),
        aer: seer.value(b, "aer", &f.aer, |a| a),
        sriov: seer.value(b, "sriov", &f.sriov, |s| s),
        ari: seer.value(b, "ari", &f.ari, |a| AriOut { next_function: a.next_function }),
        resizable_bars: seer.value(b, "resizable_bars", &f.rebar, |r| {
            r.bars
                .iter()
                .flatten()
                .map(|r| ResizableOut {
                    bar: r.bar,
                    current_mib: mib(u32::from(r.current_mib_log2)),
                    supported_mib: (0..64).filter(|n| r.supported_mib_log2 >> n & 1 == 1).map(mib).collect(),
                })
                .collect()
        }),
        config_bytes: f.config_len,
    }
}

/// 2ⁿ MiB; the register can hold an exponent that no size has.
fn mib(log2: u32) -> u64 {
    1u64.checked_shl(log2).unwrap_or(u64::MAX)
}

fn bar(b: &linerate_node::pci::Bar) -> BarOut {
    BarOut { index: b.index, size: (b.size > 0).then_some(b.size), assigned: b.address.is_some() }
}

fn express(e: &Express) -> ExpressOut<'_> {
    ExpressOut {
        port_type: e.port_type.map(port_type),
        max_payload_supported: &e.max_payload_supported,
        max_payload: &e.max_payload,
        max_read_request: &e.max_read_request,
        relaxed_ordering: &e.relaxed_ordering,
        no_snoop: &e.no_snoop,
        extended_tag_supported: &e.extended_tag_supported,
        extended_tag: &e.extended_tag,
        ten_bit_tag_completer: &e.ten_bit_tag_completer,
        ten_bit_tag_requester: &e.ten_bit_tag_requester,
        ten_bit_tag_enabled: &e.ten_bit_tag_enabled,
        aspm_enabled: &e.aspm_enabled,
        ari_forwarding_supported: &e.ari_forwarding_supported,
        ari_forwarding: &e.ari_forwarding,
        atomic_requester: &e.atomic_requester,
    }
}

fn port_type(p: PortType) -> &'static str {
    match p {
        PortType::Endpoint => "endpoint",
        PortType::LegacyEndpoint => "legacy-endpoint",
        PortType::RootPort => "root-port",
        PortType::UpstreamPort => "upstream-port",
        PortType::DownstreamPort => "downstream-port",
        PortType::PcieToPci => "pcie-to-pci",
        PortType::PciToPcie => "pci-to-pcie",
        PortType::RootComplexEndpoint => "root-complex-endpoint",
        PortType::RootComplexEventCollector => "root-complex-event-collector",
        PortType::Other(_) => "reserved",
    }
}

fn acs(a: &Acs) -> AcsOut {
    let names = |bits: AcsBits| AcsBits::names().filter(|(bit, _)| bits.has(*bit)).map(|(_, name)| name).collect();
    AcsOut { capability: a.capability.map(names), control: a.control.map(names) }
}
