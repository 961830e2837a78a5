//! `pcie/link-speed`.

use super::links::Unnamed;
use super::{LINK_ABI, PHYSICAL, PRINT_LINK_STATUS, links};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Rule, Severities, Severity};
use linerate_formats::pci::LinkSpeed;
use linerate_node::pci::{FnId, Kind, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/link-speed",
    title: "Links of GPUs and RDMA NICs run at the speed that both ends have",
    severity: Severities::always(Severity::High),
    roles: PHYSICAL,
    effect: Effect::derived("each generation down halves the bandwidth"),
    sources: &[LINK_ABI, PRINT_LINK_STATUS],
    reads: &["sys/bus/pci/devices/*/{current,max}_link_speed", "lspci -vv", "nvidia-smi -q"],
    docs: "\
## What it checks
Speed of the link of each RDMA NIC against the lower of what the card and the port above it can. A GPU below its speed is not judged:
GPUs lower the speed of their link when idle. What is judged of a GPU is the speed its slot allows. A slot of an older generation
than the card is reported as information.

## Why it matters
32 GT/s x16 carries 63.0 GB/s one way, 16 GT/s 31.5, 8 GT/s 15.8 (after line encoding, before packet overhead). A link that trained
slower reports no error.

## See it yourself
`cat /sys/bus/pci/devices/BDF/{current,max}_link_speed`, without root. For a GPU: `nvidia-smi -q`, `PCIe Generation`: Max, Device Max,
Host Max; or read the speed while a copy runs.

## Fix
Firmware setup: link speed of the slot `Auto` or the wanted generation. Else signal integrity: reseat, riser, cable, retimer firmware.
Correctable errors on the link (pcie/aer-errors) point to the latter.",
    myths: &[Myth {
        claim: "LnkSta 2.5 GT/s (downgraded) on a GPU means a broken slot.",
        truth: "Idle GPUs run their link at 2.5 GT/s to save power and go back within microseconds of work. Judge under load, or by Host Max.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    UNNAMED.judge(cx, out);
    links::judge_other_ends(cx, out, judge);
}

/// A device that only its address names: it may be a GPU, which lowers its speed when idle, or a port above an older card.
static UNNAMED: Unnamed<LinkSpeed> = Unnamed {
    now: |l| &l.speed,
    max: |l| &l.max_speed,
    is: |e| e.link_speed_is,
    what: "link speed that the device can",
    open: "a GPU is slower when idle, a port as slow as the card in it",
};

fn judge<'o>(cx: &Cx<'_>, id: FnId, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let tree = &cx.node.pci;
    let Some(speed) = f.link.speed.known().copied() else {
        return out.unreadable(f.bdf, "link speed", &f.link.speed);
    };
    let (Some(can), Some(own)) = (tree.possible_speed(id), f.link.max_speed.known().copied()) else {
        let less = links::is_less(f, UNNAMED.is);
        if less && !f.kind.is_gpu() {
            let text = format_args!("{speed}, downgraded as lspci says: the device can more");
            return out.fail(f.bdf, text).at(f.link.speed.place()).fix(|| free_speed(cx, f));
        }
        return out.unreadable(f.bdf, "link speed that the device can", &f.link.max_speed);
    };
    let (at, max_at) = (f.link.speed.place(), f.link.max_speed.place());
    if !f.kind.is_gpu() && speed < can {
        return degraded(cx, f, speed, can, out);
    }
    // The driver knows the GPU's own limit where the register shows only what the slot left of it.
    let driver = cx.node.nvidia.gpu(f.bdf).filter(|_| f.kind == Kind::Gpu);
    let told = driver.and_then(|g| Some((g.device_max_speed.known()?, g.host_max_speed.known()?, g)));
    if let Some((device, host, g)) = told.filter(|(device, host, _)| host < device) {
        out.fail(f.bdf, format_args!("the slot allows {host}, the GPU can {device}"))
            .severity(Severity::Info)
            .at(g.host_max_speed.place())
            .at(g.device_max_speed.place())
    } else if can < own {
        out.fail(f.bdf, format_args!("the slot allows {can}, the card can {own}"))
            .severity(Severity::Info)
            .at(max_at)
            .at(tree.bridge_above(id).map(|p| tree.get(p).link.max_speed.place()))
    } else if speed >= can {
        out.pass(f.bdf, format_args!("{speed} of {can}")).at(at).at(max_at)
    } else {
        out.not_applicable_to(
            f.bdf,
            format_args!("{speed} of {can}: GPUs lower the link speed when idle; judge under load"),
        )
        .at(at)
        .at(max_at)
    }
}

fn degraded<'o>(
    cx: &Cx<'_>,
    f: &PciFunction<'_>,
    speed: LinkSpeed,
    can: LinkSpeed,
    out: &'o mut Findings,
) -> &'o mut Finding {
    let carries = |s: LinkSpeed| match f.link.width.known() {
        Some(w) => format!(" ({} with {w})", s.bandwidth(*w)),
        None => String::new(),
    };
    out.fail(f.bdf, format_args!("{speed}{} of {can}{}", carries(speed), carries(can)))
        .at(f.link.speed.place())
        .at(f.link.max_speed.place())
        .fix(|| free_speed(cx, f))
}

fn free_speed(cx: &Cx<'_>, f: &PciFunction<'_>) -> Remedy {
    Remedy::physical(
        "set the slot's link speed to automatic in the firmware setup; reseat card and riser",
        format!("reseat {} {}", cx.node.name_of(f), f.bdf),
    )
    .because("the node must be powered off")
    .prove(format!("sys/bus/pci/devices/{}/current_link_speed", f.bdf))
}
