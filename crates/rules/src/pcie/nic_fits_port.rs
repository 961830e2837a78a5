//! `pcie/nic-fits-port`.

use super::{LINK_ABI, PHYSICAL, PRINT_LINK_STATUS, links};
use crate::{About, Cx, Effect, Findings, Myth, Remedy, Rule, Severities, Severity, Status};
use linerate_formats::pci::Bdf;
use linerate_formats::units::{GBps, Gbps};
use linerate_node::pci::{DataPath, ExpressRegister, FnId, Kind, PciFunction};
use linerate_node::rdma::PortState;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "pcie/nic-fits-port",
    title: "PCIe carries what the ports of an RDMA NIC carry",
    severity: Severities::always(Severity::High),
    roles: PHYSICAL,
    effect: Effect::derived("the port cannot reach its rate: PCIe is the ceiling"),
    sources: &[PRINT_LINK_STATUS, LINK_ABI],
    reads: &["sys/class/infiniband/*/ports/*/{rate,state}", "sys/bus/pci/devices/*/current_link_{speed,width}"],
    docs: "\
## What it checks
The rate of the active RDMA ports of each NIC against what its PCIe link carries after line encoding and packet overhead. Overhead is
about 26 bytes for each payload of at most MaxPayload bytes (header, sequence number, LCRC, framing): 256-byte packets carry 91 %.
One port above the ceiling is a fault; two ports that only together exceed it cannot both run at full rate.
A ConnectX-8 with Data Direct is judged by the link of its Data Direct function, which moves the data to and from GPUs. A card with several PCIe
links (Socket Direct, multi-host: functions in several slots with one system image GUID) is judged by all of them together; each
of its ports, which every link shows, counts once.

## Why it matters
8 GT/s x8 carries 7.9 GB/s raw, about 7.1 GB/s of data: one 40 Gb/s port fits, two do not. 16 GT/s x16 fits 200 Gb/s, 32 GT/s x16 fits 400.

## See it yourself
`cat /sys/class/infiniband/DEV/ports/1/rate /sys/bus/pci/devices/BDF/current_link_speed /sys/bus/pci/devices/BDF/current_link_width`

## Fix
Where the link is degraded, repair it (pcie/link-width, pcie/link-speed). Else another slot, or plan with the lower number: two ports of
one card are redundancy, not bandwidth.",
    myths: &[Myth {
        claim: "Two 40 Gb/s ports of one card give 80 Gb/s.",
        truth: "Only if PCIe carries it. 8 GT/s x8 ends near 57 Gb/s, one direction, whatever the ports can.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nics: Vec<_> = links::ends(cx).into_iter().filter(|(_, f)| f.kind == Kind::RdmaNic).collect();
    if cx.no_subjects(!nics.is_empty(), "RDMA NIC", out) {
        return;
    }
    for (id, f) in nics {
        if crate::rdma::common::has_vf_here(cx, f) {
            out.not_applicable_to(f.bdf, "its ports are in another network namespace: they show there")
                .at(f.class.place());
            continue;
        }
        judge(cx, id, f, out);
    }
}

/// Rates of the active ports of all functions of the device. `None`: nobody shows the ports.
pub(super) fn active_ports(cx: &Cx<'_>, nic: &PciFunction<'_>) -> Option<Vec<(f64, Place)>> {
    let mut seen = false;
    let mut rates = Vec::new();
    for d in cx.node.rdma.known()? {
        let Some(bdf) = d.pci.filter(|b| links::same_slot(*b, nic.bdf)) else { continue };
        if cx.node.pci.find(bdf).is_none_or(|f| cx.node.pci.get(f).is_vf()) {
            continue;
        }
        for p in &d.ports {
            match (p.state.known(), &p.rate_gbps) {
                (Some(PortState::Active), linerate_snapshot::Reading::Known(r, at)) => {
                    seen = true;
                    rates.push((p.data_rate_gbps().unwrap_or(*r), *at));
                }
                (Some(_), _) => seen = true,
                (None, _) => {}
            }
        }
    }
    seen.then_some(rates)
}

fn judge(cx: &Cx<'_>, id: FnId, f: &PciFunction<'_>, out: &mut Findings) {
    let Some(rates) = active_ports(cx, f) else {
        if f.driven_by("vfio-pci") {
            out.not_applicable_to(f.bdf, "bound to vfio-pci: its ports are the virtual machine's").at(f.driver.place());
            return;
        }
        out.unknown(f.bdf, "rate of the NIC's RDMA ports is not in this source")
            .at(f.link.speed.place())
            .see("capture /sys/class/infiniband with `linerate collect`");
        return;
    };
    if rates.is_empty() {
        out.not_applicable_to(f.bdf, "no active port").at(f.link.speed.place());
        return;
    }
    // The function whose link carries the data.
    let (end, through) = match cx.node.pci.data_path(id) {
        DataPath::Own => (id, String::new()),
        DataPath::Direct(d) => (d, format!("Data Direct function {}: ", cx.node.pci.get(d).bdf)),
        DataPath::Unknown => {
            out.unknown(f.bdf, "which Data Direct function moves its data is not in this source (Vital Product Data)")
                .at(f.class.place())
                .see("capture as root with `linerate collect`");
            return;
        }
    };
    let (nic, f) = (f, cx.node.pci.get(end));
    let Some(own) = links::now(f) else {
        let missing = if f.link.speed.known().is_none() { "link speed" } else { "link width" };
        out.unreadable(nic.bdf, missing, &f.link.speed.as_ref().map(|_| ()));
        return;
    };
    // The NIC's payload, or the largest that fits any: 256 where not seen, as firmware sets.
    let payload = f.express.known().and_then(|e| e.max_payload);
    let share = efficiency(payload.unwrap_or(256));
    let others = other_links(cx, nic);
    let Some(more) = others.iter().map(|o| links::now(o).map(|b| b.0)).sum::<Option<f64>>() else {
        out.unknown(nic.bdf, "the card has another PCIe link, whose speed or width is not seen")
            .at(f.link.speed.place());
        return;
    };
    let raw = GBps(own.0 + more);
    let net = GBps(raw.0 * share);
    let several = if others.is_empty() { "" } else { " with the card's other links" };
    let sum: f64 = rates.iter().map(|(r, _)| r).sum();
    let largest = rates.iter().map(|(r, _)| *r).fold(0.0, f64::max);
    let (need, need_one) = (GBps::from(Gbps(sum)), GBps::from(Gbps(largest)));
    let told = || {
        format!(
            "{through}{}{several} carries {raw} raw, {net} of data; {} needs {need}",
            links::words(f),
            if rates.len() == 1 {
                "the port".to_owned()
            } else {
                format!("{} ports of {} together", rates.len(), Gbps(largest))
            },
        )
    };
    let finding = if need.0 <= net.0 {
        out.pass(nic.bdf, told)
    } else {
        let degraded = links::possible(&cx.node.pci, end).is_some_and(|can| own.0 < can.0 * 0.999);
        let what = if degraded {
            "repair the degraded link of the NIC"
        } else {
            "move the NIC to a slot with more or faster lanes, or plan with what PCIe carries"
        };
        let severity = match need_one.0 > net.0 {
            true => Severity::High,
            // A card whose two ports need more than its own PCIe link carries is built so; it is sold for redundancy and storage.
            false if !degraded && cx.serves_no_gpu(nic) => Severity::Info,
            false => Severity::Medium,
        };
        out.fail(nic.bdf, told).severity(severity).fix(|| {
            Remedy::physical(what, format!("{} {}", cx.node.name_of(nic), nic.bdf))
                .because("the node must be powered off")
                .prove(format!("sys/bus/pci/devices/{}/current_link_{{speed,width}}", f.bdf))
        })
    };
    finding.at(f.link.speed.place()).at(f.link.width.place());
    // The whole link would do: what limits it is the finding.
    if finding.status == Status::Fail
        && links::possible(&cx.node.pci, end).is_some_and(|c| need.0 <= (c.0 + more) * share)
    {
        finding.follows("pcie/link-width", About::Of(f.bdf.into())).follows("pcie/link-speed", About::Of(f.bdf.into()));
    }
    if payload.is_some() {
        finding.at(f.express_place(ExpressRegister::Sizes));
    }
    rates.iter().for_each(|(_, p)| {
        finding.at(*p);
    });
}

/// Functions in other slots that lead to the same card and the same ports: one of each slot.
fn other_links<'a>(cx: &Cx<'a>, nic: &PciFunction<'_>) -> Vec<&'a PciFunction<'a>> {
    let node = cx.node;
    let card = |b: Bdf| {
        let device = node.rdma.known()?.iter().find(|d| d.pci == Some(b))?;
        device.sys_image_guid.known().filter(|g| g.chars().any(|c| !matches!(c, '0' | ':')))
    };
    let Some(own) = card(nic.bdf) else { return Vec::new() };
    let mut out: Vec<&PciFunction<'_>> = Vec::new();
    for (_, f) in node.pci.rdma_nics().filter(|(_, f)| !f.is_vf() && f.vendor.known() == Some(&0x15b3)) {
        let same =
            f.bdf.function == nic.bdf.function && f.device.known() == nic.device.known() && card(f.bdf) == Some(own);
        if same && !links::same_slot(f.bdf, nic.bdf) {
            out.push(f);
        }
    }
    out
}

/// Share of data in a packet: 4-DWORD header 16, sequence number 2, LCRC 4, framing 4 bytes (Gen3 and later).
pub(super) fn efficiency(payload: u16) -> f64 {
    let p = f64::from(payload.max(64));
    p / (p + 26.0)
}
