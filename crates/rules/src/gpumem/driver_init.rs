//! `gpumem/driver-init`.

use crate::gpu_start;
use crate::log::{no_log, silent_log};
use crate::sources::open_modules;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::dmesg::{Event, StartFault};
use linerate_formats::pci::Bdf;
use linerate_node::Place;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/driver-init",
    title: "The NVIDIA driver initialised every GPU, and its parts are of one version",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("the GPU cannot be opened; nvidia-smi and CUDA fail"),
    sources: &[
        open_modules!("src/nvidia/arch/nvalloc/unix/src/osinit.c", "RmInitAdapter failed; API mismatch"),
        gpu_start::CHECKS,
    ],
    reads: &["dmesg"],
    docs: "\
## What it checks
Lines `RmInitAdapter failed` and `API mismatch` of the driver in the kernel log, and the reason that it prints before them: `requires use of the NVIDIA open
kernel modules`, `is not supported by the NVIDIA … driver release`, `failed to wait for GFW_BOOT`, `No firmware image found`.

## Why it matters
A GPU that does not initialise is missing from every list of CUDA devices. An API mismatch means that programs and kernel module come from
different driver packages, mostly after an update without reboot, or a container with its own libraries.

## See it yourself
`dmesg | grep NVRM`; `cat /proc/driver/nvidia/version` against `nvidia-smi --version`.

## Fix
Mismatch: drain the node and reload the modules, or reboot. Init failure: what the reason asks for. Without one, check BAR space, power and the
PCIe link, then reseat or replace.",
    myths: &[Myth {
        claim: "\"Driver/library version mismatch\" needs a reinstall of the driver.",
        truth: "Mostly the package was updated under a running module: a reboot (or a reload of the modules) is enough.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_log(cx, "initialisation of GPUs", out) {
        return;
    }
    let log = &cx.node.kernel.log;
    let reasons: Vec<(Option<Bdf>, StartFault)> = cx.node.kernel.events(refused).map(|(reason, _)| reason).collect();
    let mut failed: Vec<(Option<Bdf>, Place)> = Vec::new();
    for (bdf, place) in cx.node.kernel.events(given_up) {
        if !failed.iter().any(|(seen, _)| *seen == bdf) {
            failed.push((bdf, place));
        }
    }
    // A reason without an address is of a GPU whose failure has a line of its own.
    let named = failed.iter().any(|(bdf, _)| bdf.is_some());
    for (bdf, place) in failed.into_iter().filter(|(bdf, _)| bdf.is_some() || !named) {
        let subject = bdf.map_or_else(|| Subject::Named("GPU".into()), Subject::Pci);
        let why =
            reasons.iter().filter(|(of, _)| of.is_none() || bdf.is_none() || *of == bdf).map(|(_, why)| *why).min();
        let words = why.map_or("RmInitAdapter failed", gpu_start::words);
        out.fail(subject, format_args!("the driver could not initialise the GPU ({words})"))
            .at(place)
            .fix(|| why.map_or_else(without_reason, gpu_start::remedy));
    }
    let mismatch = |e: &Event| matches!(e, Event::NvidiaVersionMismatch).then_some(());
    if let Some(((), place)) = cx.node.kernel.events(mismatch).next() {
        out.fail(Subject::Node, "programs and kernel module of the NVIDIA driver differ in version (API mismatch)")
            .at(place)
            .fix(|| {
                Remedy::investigate(
                    "drain the node and reboot it, so that the module of the installed driver is loaded",
                    "which version of the driver is installed, and which is loaded",
                )
                .because("running jobs end")
                .prove("proc/driver/nvidia/version")
            });
    }
    if out.is_empty() {
        if cx.node.pci.seen.is_some() && cx.node.pci.nvidia_gpus().next().is_none() {
            out.not_applicable("no NVIDIA GPU").at(log.place());
        } else {
            silent_log(cx, "no failed initialisation", out);
        }
    }
}

/// What the driver says of a GPU that it does not start.
fn refused(e: &Event) -> Option<(Option<Bdf>, StartFault)> {
    match e {
        Event::NvidiaRefused { bdf, why } => Some((*bdf, *why)),
        _ => None,
    }
}

/// A GPU that the driver gave up. One that another driver has may be a guest's, and one that is too old for this release may be the host's display.
fn given_up(e: &Event) -> Option<Option<Bdf>> {
    match e {
        Event::NvidiaInitFailed { bdf } => Some(*bdf),
        Event::NvidiaRefused { why: StartFault::OtherDriver | StartFault::Legacy, .. } => None,
        Event::NvidiaRefused { bdf, .. } => Some(*bdf),
        _ => None,
    }
}

fn without_reason() -> Remedy {
    Remedy::investigate(
        "drain the node, check BARs, power and PCIe link of the GPU, reboot; replace it if it comes back",
        "why the GPU does not initialise",
    )
    .because("needs a reboot")
    .prove("dmesg")
}
