//! `rdma/nic-fault`.

use crate::log::{count, no_log, silent_log};
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::dmesg::Event;
use linerate_formats::pci::Bdf;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "rdma/nic-fault",
    title: "The kernel log holds no report of a fault inside an RDMA NIC",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("the card's ports are down until it is reset; jobs that use them fail"),
    sources: &[
        linux!("drivers/net/ethernet/mellanox/mlx5/core/health.c", "poll_health, print_health_info"),
        linux!("drivers/net/ethernet/mellanox/mlx5/core/cmd.c", "wait_func: timeout. Will cause a leak of a command resource"),
        linux!("drivers/net/ethernet/mellanox/mlx4/catas.c", "Internal error detected"),
    ],
    reads: &["dmesg"],
    docs: "\
## What it checks
Lines of mlx5_core about the card's health (`device's health compromised`, `Fatal error N detected`, the health buffer with its syndrome), firmware commands that got no answer
(`timeout`), and `Internal error detected` of mlx4_core, by card. Commands that the firmware refuses are frequent and harmless; reports with a level below error do not count.

## Why it matters
The firmware or the hardware of the card stopped. The driver resets what it can (devlink health), which takes the ports down for seconds to minutes, and gives up when that fails.

## See it yourself
`dmesg | grep -E 'mlx[45]_core'`: what came first, and whether the driver recovered the card. `devlink health show`. `mstflint -d BDF q`: the firmware.

## Fix
A PCIe error before it is the cause: look there first (pcie/aer-errors). Else update the firmware to a current release, power-cycle the node, and have the card replaced if it comes back.
Keep the lines with the syndrome: the vendor asks for them.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_log(cx, "faults of NICs", out) {
        return;
    }
    let log = cx.node.kernel.log.place();
    let mut cards: Vec<(Option<Bdf>, u32, Place)> = count(cx.node.kernel.events(Event::nic_fault));
    // A line that names no card adds nothing where others do.
    if cards.iter().any(|(card, ..)| card.is_some()) {
        cards.retain(|(card, ..)| card.is_some());
    }
    for (card, n, place) in &cards {
        let subject = card.map_or_else(|| Subject::Named("NIC".into()), Subject::Pci);
        let lines = linerate_formats::counted(*n, "line", "lines");
        out.fail(subject, format_args!("its driver reports a fault of the card or its firmware, {lines}")).at(*place).fix(|| {
            Remedy::investigate(
                "read what the driver says before and after it: a PCIe error first? recovered? Then update the firmware and power-cycle the node; replace the card if it comes back",
                "the driver's lines about the card, its firmware's release",
            )
            .because("the card's ports go down as it is reset")
            .prove("dmesg")
        });
    }
    if !out.is_empty() {
        return;
    }
    let mellanox = |v: &u16| *v == 0x15b3;
    if cx.node.pci.seen.is_some() && !cx.node.pci.rdma_nics().any(|(_, f)| f.vendor.known().is_none_or(mellanox)) {
        out.not_applicable("no NIC of the mlx5 or mlx4 driver").at(log);
    } else {
        silent_log(cx, "no fault inside a NIC", out);
    }
}
