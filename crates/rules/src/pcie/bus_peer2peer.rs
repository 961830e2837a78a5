//! `pcie/bus-peer2peer`.

use super::{KERNEL_PARAMETERS, PHYSICAL};
use crate::{Cx, Effect, Findings, Myth, Remedy, Rule, Severities, Severity, Subject};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "pcie/bus-peer2peer",
    title: "No kernel argument cuts every packet to 128 bytes",
    severity: Severities::always(Severity::Medium),
    roles: PHYSICAL,
    effect: Effect::derived("MaxPayload 128 everywhere: 83 % of the raw rate instead of 91 % with 256"),
    sources: &[KERNEL_PARAMETERS],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
Whether the kernel command line holds `pci=pcie_bus_peer2peer`.

## Why it matters
Despite its name the option does not enable peer-to-peer. It sets MaxPayload of every device to 128 bytes, so that hot-plugged devices of any
kind can talk to each other. Peer-to-peer works without it wherever payload sizes agree.

## See it yourself
`tr ' ' '\\n' < /proc/cmdline | grep ^pci=`

## Fix
Remove the word and reboot; read MaxPayload again.",
    myths: &[Myth {
        claim: "pci=pcie_bus_peer2peer is needed for (or speeds up) GPUDirect.",
        truth: "It only forces the smallest packet size, which costs about 8 % of every link.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    match &cx.node.kernel.cmdline {
        Reading::Known(line, at) => match line.options("pci").find(|(o, _)| *o == "pcie_bus_peer2peer") {
            Some((_, p)) => {
                out.fail(Subject::KernelArg("pci=pcie_bus_peer2peer".into()), "forces MaxPayload 128 on every device")
                    .at(at.line(p.line))
                    .fix(|| {
                        Remedy::kernel_args("boot without pci=pcie_bus_peer2peer", &[], &["pci=pcie_bus_peer2peer"])
                            .prove("proc/cmdline")
                    });
            }
            None => {
                out.pass(Subject::Node, "pci=pcie_bus_peer2peer is not on the command line").at(*at);
            }
        },
        r => {
            out.unreadable(Subject::Node, "kernel command line", r);
        }
    }
}
