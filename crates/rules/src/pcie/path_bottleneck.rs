//! `pcie/path-bottleneck`.

use super::demand::{self, Demand};
use super::links::{self, Uplink};
use super::nic_fits_port::efficiency;
use super::{LINK_ABI, PHYSICAL, PRINT_LINK_STATUS};
use crate::{Cx, Effect, Findings, Remedy, Rule, Severities, Severity};
use linerate_formats::units::GBps;
use linerate_node::pci::{FnId, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/path-bottleneck",
    title: "Links of switches between a NIC and its GPU carry what the NIC's ports need",
    severity: Severities::always(Severity::High),
    roles: PHYSICAL,
    effect: Effect::derived("everything below the link shares it on the way to memory, to other switches and to the other socket"),
    sources: &[PRINT_LINK_STATUS, LINK_ABI],
    reads: &[
        "sys/bus/pci/devices/*/{current,max}_link_{speed,width}",
        "sys/class/infiniband/*/ports/*/{rate,state}",
        "lspci -vv",
    ],
    docs: "\
## What it checks
Every link between a PCIe switch and what is above it, on the way of a GPU or RDMA NIC to the root complex: it must run at the speed and
width that both its ends can. Where NICs are on one side of the link and the GPUs whose nearest NICs they are on the other, the link must carry the
active ports of these NICs together, after packet overhead (see pcie/nic-fits-port); a NIC counts by the share of its GPUs that is on the other
side. Any other link that runs as built but is narrower than one device below it is reported as information.

## Why it matters
Peer-to-peer traffic below one switch does not pass its uplink; host memory, other switches and the other socket do. Nobody looks at
these links: the card's own link shows full speed and width. The mlx5 driver does, once, in the kernel log:
`… Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8 link at 0000:…`.

## See it yourself
`readlink -f /sys/bus/pci/devices/BDF` shows the chain; read `current_link_speed` and `current_link_width` at each step.

## Fix
A degraded uplink is hardware: switch board seating, cables, retimer or switch firmware. A narrow one is the design of the board: put the
NICs below the switches of their GPUs, or plan with what the link carries.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some(ends) = links::some_ends(cx, out) else { return };
    let unknown_parent = ends.iter().find(|(id, _)| !cx.node.pci.ancestors(*id).1);
    let uplinks = links::uplinks(cx, &ends);
    for u in &uplinks {
        judge(cx, u, out);
    }
    match unknown_parent {
        Some((_, f)) => {
            out.unknown(f.bdf, "the source does not show the bridges between this device and the root complex")
                .see("add `lspci -D -vvv` as root, or capture with `linerate collect`")
                .at(cx.node.pci.seen);
        }
        None if uplinks.is_empty() => {
            out.not_applicable("no PCIe switch above any GPU or RDMA NIC").at(cx.node.pci.seen);
        }
        None => {}
    }
}

fn judge(cx: &Cx<'_>, u: &Uplink, out: &mut Findings) {
    let tree = &cx.node.pci;
    let f = tree.get(u.port);
    let (Some(now), Some(can)) = (links::now(f), links::possible(tree, u.port)) else {
        let missing = if f.link.speed.known().is_none() { &f.link.speed } else { &f.link.max_speed };
        if missing.known().is_none() {
            out.unreadable(f.bdf, "speed of the switch's uplink", missing);
        } else {
            out.unreadable(f.bdf, "width of the switch's uplink", &f.link.width);
        }
        return;
    };
    let below = || links::list(tree, &u.below);
    let (speed_at, width_at) = (f.link.speed.place(), f.link.width.place());
    if now.0 < can.0 * 0.999 {
        out.fail(f.bdf, || format!("uplink runs {}: {now} of {can}; below it {}", links::words(f), below()))
            .at(speed_at)
            .at(width_at)
            .fix(|| {
                Remedy::physical(
                    "reseat the switch board or cable; update switch and retimer firmware; check the port's link speed in the firmware setup",
                    format!("link above switch port {}", f.bdf),
                )
                .because("the node must be powered off")
                .prove(format!("sys/bus/pci/devices/{}/current_link_{{speed,width}}", f.bdf))
            });
        return;
    }
    let demand = demand::through(cx, u);
    let payload = f.express.known().and_then(|e| e.max_payload).unwrap_or(256);
    let net = GBps(now.0 * efficiency(payload));
    if demand.total.0 > net.0 * 1.001 {
        overloaded(cx, f, &demand, net, out);
        return;
    }
    match widest(cx, &u.below) {
        Some((end, need)) if need.0 > now.0 * 1.001 => {
            let e = tree.get(end);
            let what = if e.kind.is_gpu() { "GPU" } else { "NIC" };
            out.fail(f.bdf, || {
                format!("uplink {} carries {now}, {what} {} below it {need}; built so", links::words(f), e.bdf)
            })
            .severity(Severity::Info)
            .at(speed_at)
            .at(width_at)
        }
        _ => out
            .pass(f.bdf, || format!("uplink {} ({now}) above {}", links::words(f), below()))
            .at(speed_at)
            .at(width_at),
    };
}

fn overloaded(cx: &Cx<'_>, f: &PciFunction<'_>, demand: &Demand, net: GBps, out: &mut Findings) {
    let alone = demand.largest.0 > net.0;
    let nics = links::list(&cx.node.pci, &demand.nics);
    let finding = out.fail(f.bdf, || {
        let words = links::words(f);
        format!("uplink {words} carries {net} of data; {nics} need {} through it to their GPUs", demand.total)
    });
    finding
        .severity(if alone { Severity::High } else { Severity::Medium })
        .at(f.link.speed.place())
        .at(f.link.width.place())
        .fix(|| {
            Remedy::physical(
                "put the NICs below the switches of their GPUs, or plan with what the link carries",
                nics.clone(),
            )
            .because("the node must be powered off")
        });
    finding.at_all(demand.rates.iter().take(4).copied());
}

/// The end with the widest link, by what it can: an idle GPU runs slower.
fn widest(cx: &Cx<'_>, ends: &[FnId]) -> Option<(FnId, GBps)> {
    let with = ends.iter().filter_map(|e| Some((*e, links::possible(&cx.node.pci, *e)?)));
    with.max_by(|a, b| a.1.0.total_cmp(&b.1.0))
}
