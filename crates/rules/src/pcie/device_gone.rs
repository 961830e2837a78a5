//! `pcie/device-gone`.

use super::PCI_REGS;
use crate::log::count;
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::clip::clip;
use linerate_formats::dmesg::{Event, GpuFault};
use linerate_formats::pci::Bdf;
use linerate_node::pci::Kind;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "pcie/device-gone",
    title: "Every PCI function answers",
    severity: Severities::always(Severity::Critical),
    roles: Roles::ALL,
    effect: Effect::sourced("the device is unusable, and what talks to it hangs or fails"),
    sources: &[
        Source {
            title: "pciutils, lspci: `(rev ff)` and `Unknown header type 7f` are a configuration space that reads as all ones",
            at: "https://github.com/pciutils/pciutils/blob/master/lspci.c",
        },
        linux!("include/linux/pci.h", "PCI_POSSIBLE_ERROR, reads that fail return all ones"),
        PCI_REGS,
        Source {
            title: "NVML: NVML_ERROR_GPU_IS_LOST, the GPU has fallen off the bus or has otherwise become inaccessible",
            at: "https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html",
        },
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci", "nvidia-smi", "dmesg"],
    docs: "\
## What it checks
Whether the configuration space of any function reads as all ones: every byte ff, `rev ff`, `Unknown header type 7f`. And whether nvidia-smi says that a GPU is lost; other
errors of a GPU that it cannot ask are unknown here. And the GPU driver's line `fallen off the bus` in the kernel log where no Xid 79 is beside it (with one: gpumem/xid).

## Why it matters
That is what a read returns when nobody answers: the device fell off the bus (link down, power, overheating, a fatal error), or sleeps in D3cold.
For a GPU the driver logs Xid 79.

## See it yourself
`lspci | grep 'rev ff'`; `dmesg | grep -E 'fallen off the bus|Link Down|Xid.*79'`.

## Fix
Drain the node and power-cycle it (a warm reboot often does not bring the link back). If it returns and falls off again: power cables,
temperature, reseat, then replace.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let fell = off_bus(cx);
    lost(cx, out);
    fell_off(cx, &fell, out);
    if !out.is_empty() && pci.functions.is_empty() {
        return;
    }
    if cx.no_subjects(!pci.functions.is_empty(), "function", out) {
        return;
    }
    let mut answered: Option<Place> = None;
    for f in &pci.functions {
        let Some(at) = f.silent else {
            // A class or capability that was read is an answer.
            if answered.is_none() && (f.config_len.is_some() || f.express.known().is_some()) {
                answered = Some(f.express.place());
            }
            continue;
        };
        if is_lost(cx, f.bdf) || fell.iter().any(|(gpu, _)| *gpu == Some(f.bdf)) {
            continue;
        }
        let finding = out.fail(f.bdf, format_args!("does not answer: {} reads as all ones", cx.node.name_of(f))).at(at);
        let path = f.is_endpoint_of_path() || matches!(f.kind, Kind::Bridge | Kind::NvSwitch | Kind::Unknown);
        finding
            .severity(if path { Severity::Critical } else { Severity::Medium })
            .fix(|| power_cycle(f.bdf).prove(format!("sys/bus/pci/devices/{}/config", f.bdf)));
    }
    if out.is_empty() {
        match answered {
            Some(at) => {
                out.pass(Subject::Node, format_args!("every listed function answers ({})", pci.functions.len())).at(at)
            }
            None => {
                out.unknown(Subject::Node, "no configuration space in this source").see("add `lspci -D -vvv` as root")
            }
        };
    }
}

/// GPUs that nvidia-smi lists and cannot ask.
fn lost(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    for (n, g) in cx.node.nvidia.silent.iter().enumerate() {
        // Two runs say the same, and an empty configuration space says more than an unknown error.
        let again = cx.node.nvidia.silent.iter().take(n).any(|o| o.bdf == g.bdf);
        let shown = !g.is_lost && pci.find(g.bdf).is_some_and(|id| pci.get(id).silent.is_some());
        if again || shown {
            continue;
        }
        if g.is_lost {
            out.fail(
                g.bdf,
                "nvidia-smi says that this GPU is lost: it fell off the bus, or cannot be reached otherwise",
            )
            .at(g.place)
            .fix(|| power_cycle(g.bdf).prove("nvidia-smi"));
        } else {
            let error = clip(&g.error, 64);
            out.unknown(g.bdf, format_args!("gives nvidia-smi no answer: {error}")).at(g.place).see(format_args!(
                "dmesg as root (Xid, `fallen off the bus`, RmInitAdapter), and lspci -vvs {}",
                g.bdf
            ));
        }
    }
}

/// GPUs of which the driver says without an Xid that they fell off the bus, each once; an old driver's line names none.
fn off_bus(cx: &Cx<'_>) -> Vec<(Option<Bdf>, Place)> {
    let has_xid = |gpu: Option<Bdf>| {
        let is_79 = |e: &Event| match e {
            Event::Xid { bdf, number: 79, .. } => (gpu.is_none() || *bdf == gpu).then_some(()),
            _ => None,
        };
        cx.node.kernel.events(is_79).next().is_some()
    };
    let events = cx.node.kernel.events(|e| match e {
        Event::GpuFault { of, fault: GpuFault::Lost } => Some(of.bdf),
        _ => None,
    });
    count(events).into_iter().map(|(gpu, _, place)| (gpu, place)).filter(|(gpu, _)| !has_xid(*gpu)).collect()
}

/// Whether nvidia-smi says that this GPU is lost.
fn is_lost(cx: &Cx<'_>, gpu: Bdf) -> bool {
    cx.node.nvidia.silent.iter().any(|g| g.bdf == gpu && g.is_lost)
}

/// What the driver's lines in the kernel log say.
fn fell_off(cx: &Cx<'_>, fell: &[(Option<Bdf>, Place)], out: &mut Findings) {
    for (gpu, place) in fell.iter().copied().filter(|(gpu, _)| !gpu.is_some_and(|b| is_lost(cx, b))) {
        let subject = gpu.map_or_else(|| Subject::Named("GPU".into()), Subject::Pci);
        let finding = out.fail(subject, "fell off the bus: the driver says so without an Xid").at(place);
        finding.fix(|| match gpu {
            Some(gpu) => power_cycle(gpu).prove("dmesg"),
            None => Remedy::investigate(
                "find the GPU that nvidia-smi no longer lists; drain the node and power-cycle it",
                "which GPU: the driver's line does not name it",
            )
            .because("takes the node down")
            .prove("nvidia-smi"),
        });
    }
}

fn power_cycle(device: Bdf) -> Remedy {
    Remedy::physical(
        "drain the node and power-cycle it; then check power, temperature and seating of the device",
        format!("power-cycle; inspect {device}"),
    )
    .because("takes the node down")
}
