//! PCI functions and what their configuration space says.

use super::{Read1, Row, Said, borrowed, copy, counting, fact, known, number, option, quiet, shown, there};
use crate::{Form, Subject, Unit, Value};
use linerate_formats::pci::caps::{Express, PortType, ResizableBar};
use linerate_formats::pci::class;
use linerate_node::Node;
use linerate_node::pci::{Bar, Parent, PciFunction};
use linerate_snapshot::{Place, Reading};

type ReadFunction = for<'n> fn(&'n Node<'n>, &'n PciFunction<'n>) -> Said<'n>;
type ReadResizable = for<'n> fn(&'n Node<'n>, &'n PciFunction<'n>, ResizableBar) -> Said<'n>;

pub(super) static FUNCTION: &[Row<ReadFunction>] = &[
    fact("pci.bdf", Form::Address, "Address of the PCI function", |_, f| known(Value::Address(f.bdf), home(f))),
    fact("pci.kind", Form::Kind, "What it is", |_, f| known(Value::Kind(f.kind), home(f))),
    fact("pci.vendor", Form::Hex, "Vendor id", |_, f| copy(&f.vendor, |v| Value::Hex(v.into(), 4))),
    fact("pci.device", Form::Hex, "Device id", |_, f| copy(&f.device, |v| Value::Hex(v.into(), 4))),
    fact("pci.class", Form::Hex, "Class code", |_, f| copy(&f.class, |c| Value::Hex(c.0, 6))),
    quiet("pci.class_name", Form::Text, "Class, as lspci names it", |_, f| {
        f.class.part(|c| class::name_of(*c).map(Value::Word))
    }),
    fact("pci.name", Form::Text, "Name as lspci prints it; empty where no text was given", |_, f| {
        known(borrowed(&f.name), home(f))
    }),
    quiet("pci.parent", Form::Text, "The bridge above it, or root-complex", |n, f| {
        let parent = match f.parent {
            Parent::Bridge(id) => n.pci.functions.get(id.0 as usize).map(|p| Value::Address(p.bdf)),
            Parent::RootComplex => Some(Value::Word("root-complex")),
            Parent::Unknown => None,
        };
        shown(home(f), parent)
    }),
    quiet("pci.physfn", Form::Address, "Its physical function, where it is a virtual one", |_, f| {
        option(home(f), f.physfn.map(Value::Address))
    }),
    fact("pci.numa_node", Form::Signed, "NUMA node as the kernel knows it; -1: firmware gave none", |_, f| {
        copy(&f.numa_node, |n| Value::Signed(n.into()))
    }),
    fact("pci.driver", Form::Text, "Driver that is bound", |_, f| f.driver.as_ref().map(|d| borrowed(d))),
    fact("pci.iommu_group", Form::Number, "Number of its IOMMU group", |_, f| number(&f.iommu_group)),
    fact("pci.link.speed", Form::Speed, "Speed of its link now", |_, f| copy(&f.link.speed, Value::Speed)),
    fact("pci.link.width", Form::Number, "Current width of its link", |_, f| copy(&f.link.width, Value::Width)),
    fact("pci.link.max_speed", Form::Speed, "Most that its link can", |_, f| copy(&f.link.max_speed, Value::Speed)),
    fact("pci.link.max_width", Form::Number, "Most lanes of its link", |_, f| copy(&f.link.max_width, Value::Width)),
    quiet("pci.buses", Form::Numbers, "Secondary and subordinate bus of a bridge", |_, f| {
        option(home(f), f.buses.map(|(first, last)| Value::Numbers(vec![first.into(), last.into()])))
    }),
    quiet("pci.bars", Form::Members, "Base address registers", |_, f| {
        let all = || Value::Members(f.bars.list.iter().map(|b| Subject::Bar(f, b)).collect());
        shown(home(f), f.bars.seen.then(all))
    }),
    fact("pci.express", Form::There, "PCI Express capability", |_, f| there(&f.express)),
    quiet("pci.express.port_type", Form::PortType, "Device or port type", |_, f| {
        express(f, |e| e.port_type.map(port_type))
    }),
    counting(
        Unit::Bytes,
        quiet("pci.express.max_payload_supported", Form::Number, "Largest payload supported", |_, f| {
            express(f, |e| count(e.max_payload_supported))
        }),
    ),
    counting(
        Unit::Bytes,
        quiet("pci.express.max_payload", Form::Number, "Payload in use", |_, f| express(f, |e| count(e.max_payload))),
    ),
    counting(
        Unit::Bytes,
        quiet("pci.express.max_read_request", Form::Number, "Largest read request", |_, f| {
            express(f, |e| count(e.max_read_request))
        }),
    ),
    quiet("pci.express.relaxed_ordering", Form::Flag, "Relaxed ordering is on", |_, f| {
        express(f, |e| flag(e.relaxed_ordering))
    }),
    quiet("pci.express.no_snoop", Form::Flag, "No-snoop is on", |_, f| express(f, |e| flag(e.no_snoop))),
    quiet("pci.express.extended_tag_supported", Form::Flag, "Extended tags are supported", |_, f| {
        express(f, |e| flag(e.extended_tag_supported))
    }),
    quiet("pci.express.extended_tag", Form::Flag, "Extended tags are on", |_, f| express(f, |e| flag(e.extended_tag))),
    quiet("pci.express.ten_bit_tag_completer", Form::Flag, "10-bit tags: supported as completer", |_, f| {
        express(f, |e| flag(e.ten_bit_tag_completer))
    }),
    quiet("pci.express.ten_bit_tag_requester", Form::Flag, "10-bit tags: supported as requester", |_, f| {
        express(f, |e| flag(e.ten_bit_tag_requester))
    }),
    quiet("pci.express.ten_bit_tag_enabled", Form::Flag, "10-bit tags are on", |_, f| {
        express(f, |e| flag(e.ten_bit_tag_enabled))
    }),
    quiet("pci.express.aspm_enabled", Form::Flag, "ASPM is on (L0s or L1)", |_, f| {
        express(f, |e| flag(e.aspm_enabled))
    }),
    quiet("pci.express.ari_forwarding_supported", Form::Flag, "ARI forwarding is supported", |_, f| {
        express(f, |e| flag(e.ari_forwarding_supported))
    }),
    quiet("pci.express.ari_forwarding", Form::Flag, "ARI forwarding is on", |_, f| {
        express(f, |e| flag(e.ari_forwarding))
    }),
    quiet("pci.express.atomic_requester", Form::Flag, "Atomic operations as requester are on", |_, f| {
        express(f, |e| flag(e.atomic_requester))
    }),
    fact("pci.acs", Form::There, "Access Control Services capability", |_, f| there(&f.acs)),
    quiet("pci.acs.capability", Form::Texts, "What the port can do", |_, f| {
        f.acs.part(|a| a.capability.map(Value::Acs))
    }),
    quiet("pci.acs.control", Form::Texts, "ACS control bits that are set", |_, f| {
        f.acs.part(|a| a.control.map(Value::Acs))
    }),
    fact("pci.ats", Form::There, "Address Translation Services capability", |_, f| there(&f.ats)),
    quiet("pci.ats.invalidate_queue_depth", Form::Number, "Depth of the invalidate queue", |_, f| {
        f.ats.part(|a| count(a.invalidate_queue_depth))
    }),
    quiet("pci.ats.enabled", Form::Flag, "ATS is on", |_, f| f.ats.part(|a| flag(a.enabled))),
    quiet(
        "pci.ats.smallest_translation_unit",
        Form::Number,
        "Smallest translation unit, as the register has it",
        |_, f| f.ats.part(|a| count(a.smallest_translation_unit)),
    ),
    fact("pci.aer", Form::There, "Advanced Error Reporting capability", |_, f| there(&f.aer)),
    quiet("pci.aer.uncorrectable_status", Form::Number, "Uncorrectable errors, as bits", |_, f| {
        f.aer.part(|a| count(a.uncorrectable_status))
    }),
    quiet("pci.aer.uncorrectable_mask", Form::Number, "Uncorrectable errors that are not reported", |_, f| {
        f.aer.part(|a| count(a.uncorrectable_mask))
    }),
    quiet("pci.aer.uncorrectable_severity", Form::Number, "Uncorrectable errors that are fatal", |_, f| {
        f.aer.part(|a| count(a.uncorrectable_severity))
    }),
    quiet("pci.aer.correctable_status", Form::Number, "Correctable errors, as bits", |_, f| {
        f.aer.part(|a| count(a.correctable_status))
    }),
    fact("pci.sriov", Form::There, "Single-root I/O virtualisation capability", |_, f| there(&f.sriov)),
    quiet("pci.sriov.total_vfs", Form::Number, "Most virtual functions", |_, f| f.sriov.part(|s| count(s.total_vfs))),
    quiet("pci.sriov.num_vfs", Form::Number, "Virtual functions", |_, f| f.sriov.part(|s| count(s.num_vfs))),
    quiet("pci.sriov.enabled", Form::Flag, "SR-IOV is on", |_, f| f.sriov.part(|s| flag(s.enabled))),
    quiet("pci.sriov.first_vf_offset", Form::Number, "Routing-id offset of the first virtual function", |_, f| {
        f.sriov.part(|s| count(s.first_vf_offset))
    }),
    quiet("pci.sriov.vf_stride", Form::Number, "Routing-id stride between virtual functions", |_, f| {
        f.sriov.part(|s| count(s.vf_stride))
    }),
    fact("pci.ari", Form::There, "Alternative Routing-ID capability", |_, f| there(&f.ari)),
    quiet("pci.ari.next_function", Form::Number, "Number of the next function", |_, f| {
        f.ari.part(|a| count(a.next_function))
    }),
    fact("pci.resizable_bars", Form::Members, "Resizable BARs", |_, f| {
        f.rebar
            .as_ref()
            .map(|r| Value::Members(r.bars.iter().flatten().map(|b| Subject::ResizableBar(f, *b)).collect()))
    }),
    counting(
        Unit::Bytes,
        quiet("pci.config_bytes", Form::Number, "How much of its configuration space was seen", |_, f| {
            shown(home(f), f.config_len.map(|n| Value::Number(n.into())))
        }),
    ),
];

pub(super) static BAR: &[Row<Read1<Bar>>] = &[
    fact("pci.bars.index", Form::Number, "Number of the BAR", |_, b| known(Value::Number(b.index.into()), b.place)),
    counting(
        Unit::Bytes,
        quiet("pci.bars.size", Form::Number, "Its size", |_, b| {
            shown(b.place, (b.size > 0).then_some(Value::Number(b.size)))
        }),
    ),
    fact("pci.bars.assigned", Form::Flag, "Whether it has an address", |_, b| {
        known(Value::Flag(b.address.is_some()), b.place)
    }),
];

pub(super) static RESIZABLE: &[Row<ReadResizable>] = &[
    fact("pci.resizable_bars.bar", Form::Number, "Number of the BAR", |_, f, b| {
        known(Value::Number(b.bar.into()), f.rebar.place())
    }),
    counting(
        Unit::Mib,
        fact("pci.resizable_bars.current_mib", Form::Number, "Its size", |_, f, b| {
            Reading::Known(Value::Number(mib(b.current_mib_log2.into())), f.rebar.place())
        }),
    ),
    counting(
        Unit::Mib,
        fact("pci.resizable_bars.supported_mib", Form::Numbers, "Sizes that it can have", |_, f, b| {
            let sizes = (0..64).filter(|n| b.supported_mib_log2 >> n & 1 == 1).map(mib);
            known(Value::Numbers(sizes.collect()), f.rebar.place())
        }),
    ),
];

fn home(f: &PciFunction<'_>) -> Place {
    Place::of(f.home)
}

fn express(f: &PciFunction<'_>, part: impl FnOnce(&Express) -> Option<Value<'static>>) -> Said<'static> {
    f.express.part(part)
}

fn count<T: Into<u64>>(n: Option<T>) -> Option<Value<'static>> {
    n.map(|n| Value::Number(n.into()))
}

fn flag(f: Option<bool>) -> Option<Value<'static>> {
    f.map(Value::Flag)
}

/// 2ⁿ MiB; the register can hold an exponent that no size has.
fn mib(log2: u32) -> u64 {
    1u64.checked_shl(log2).unwrap_or(u64::MAX)
}

fn port_type(p: PortType) -> Value<'static> {
    Value::Word(match p {
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
    })
}
