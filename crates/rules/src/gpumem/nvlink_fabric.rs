//! `gpumem/nvlink-fabric`.

use super::no_shown_gpu;
use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::clip::clip;
use linerate_node::context::Role;
use linerate_node::gpu::Gpu;
use linerate_node::pci::Kind;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/nvlink-fabric",
    title: "Every GPU of an NVSwitch system joined the NVLink fabric",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("CUDA does not start on the GPU (system not yet initialized), or GPUs talk over PCIe"),
    sources: &[
        Source {
            title: "NVIDIA Fabric Manager user guide: fabric state of a GPU",
            at: "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
        },
        Source { title: "nvidia-smi: Fabric, State and Status", at: "https://docs.nvidia.com/deploy/nvidia-smi/index.html" },
    ],
    reads: &["nvidia-smi -q -x"],
    docs: "\
## What it checks
`Fabric: State` and `Status` of each GPU, on systems with NVSwitches: `Completed` with `Success` is right. `N/A` is normal on GPUs before
Hopper, whose driver does not report it.

## Why it matters
On NVSwitch systems a GPU must be registered with the fabric, by nvidia-fabricmanager, before CUDA works. `In Progress` that stays means
that the service does not run, has another version than the driver, or that a switch is broken.

## See it yourself
`nvidia-smi -q | grep -A4 Fabric`; `systemctl status nvidia-fabricmanager`.

## Fix
It depends on where the fabric manager of the machine runs:
- HGX with its NVSwitches on this system's PCI bus (bare metal, or a guest that was given all of them): nvidia-fabricmanager here, in exactly the
  driver's version.
- HGX B200 and B300: the same, with NVLSM beside it and the module ib_umad.
- GB200 and GB300 NVL72: on the NVLink switches (NMX-C). nvidia-fabricmanager on a compute node changes nothing.
- A guest that was given GPUs and no NVSwitch: on the host, or in its service VM.",
    myths: &[Myth {
        claim: "Fabric Manager is only needed to partition GPUs for virtual machines.",
        truth: "On Hopper systems with NVSwitches CUDA does not initialise without it.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_shown_gpu(cx, out) {
        return;
    }
    let gpus = &cx.node.nvidia.gpus;
    let switches = cx.node.pci.of_kind(Kind::NvSwitch).next().map(|(_, f)| f.class.place());
    if gpus.is_empty() {
        match switches {
            Some(_) => out.unreadable(Subject::Node, "answer of nvidia-smi", &cx.node.nvidia.asked),
            None => out.not_applicable("no NVSwitch on the PCI bus").at(cx.node.nvidia.asked.place()),
        };
        return;
    }
    let mut joined: Vec<&Gpu> = Vec::new();
    let mut unseen: Vec<&Gpu> = Vec::new();
    let mut none: Option<&Gpu> = None;
    for g in gpus {
        match &g.fabric_state {
            Reading::Known(s, _) if s == "N/A" || s == "Not Supported" => none = Some(g),
            Reading::Known(s, _) if s == "Completed" => match &g.fabric_status {
                Reading::Known(status, p) if !matches!(status.as_str(), "Success" | "N/A") => {
                    fail(cx, g, &format!("Completed, but its status is {status}"), *p, out);
                }
                _ => joined.push(g),
            },
            Reading::Known(s, p) => fail(cx, g, s, *p, out),
            _ => unseen.push(g),
        }
    }
    if let Some(first) = joined.first() {
        out.pass(
            Subject::Node,
            format_args!("{} joined the fabric", linerate_formats::counted(joined.len(), "GPU", "GPUs")),
        )
        .at(first.fabric_state.place());
    }
    if let (Some(first), Some(_)) = (unseen.first(), switches) {
        out.unknown(
            Subject::Node,
            format_args!(
                "NVSwitches are present, but the fabric state of {} is not shown",
                linerate_formats::counted(unseen.len(), "GPU", "GPUs")
            ),
        )
        .at(first.fabric_state.place())
        .see("nvidia-smi -q | grep -A4 Fabric");
    }
    if out.is_empty() {
        let place = none.or(unseen.first().copied()).map_or(cx.node.nvidia.asked.place(), |g| g.fabric_state.place());
        out.not_applicable("no fabric state here: no NVSwitch, or GPUs before Hopper").at(place);
    }
}

fn fail(cx: &Cx<'_>, g: &Gpu, state: &str, place: linerate_snapshot::Place, out: &mut Findings) {
    let state = clip(state, 80);
    out.fail(g.bdf, format_args!("fabric state: {state}")).at(place).fix(|| {
        let (summary, action): (&str, Action) = match manager(cx, g) {
            Manager::Here => (
                "run nvidia-fabricmanager in the driver's version; where it runs, read its log",
                Action::Service { service: "nvidia-fabricmanager".into() },
            ),
            Manager::HereWithNvlsm => (
                "run nvidia-fabricmanager in the driver's version with NVLSM, and load ib_umad; where they run, read their logs",
                Action::Software { what: "nvidia-fabricmanager and nvlsm of the driver's version, enabled at boot".into() },
            ),
            Manager::Switches => (
                "look at the NVLink switches' controller (NMX-C): the fabric manager of this rack runs there, not on the node",
                Action::Investigate { what: "state of the NVLink partition in NMX-C; IMEX domain of the nodes".into() },
            ),
            Manager::Host => (
                "have the fabric manager checked on the host: this guest was given no NVSwitch",
                Action::HostSide { what: "nvidia-fabricmanager on the host or in its service VM, and the guest's partition".into() },
            ),
            Manager::Unknown => (
                "find out where this machine's fabric manager runs, and read its log",
                Action::Investigate { what: "fabric manager: on this system, its host, or the NVLink switches".into() },
            ),
        };
        Remedy::new(summary, action)
            .because("restarting it ends CUDA programs that use NVLink")
            .prove("nvidia-smi -q -x")
    });
}

/// Where the fabric manager of a machine runs.
enum Manager {
    Here,
    HereWithNvlsm,
    Switches,
    Host,
    Unknown,
}

/// By the GPU's name, the NVSwitches on the bus and the role. Fabric Manager user guide, chapters on full passthrough, shared NVSwitch and vGPU
/// models, and NVL72.
fn manager(cx: &Cx<'_>, g: &Gpu) -> Manager {
    let name = g.name.known().map_or("", String::as_str);
    let has = |words: &[&str]| words.iter().any(|w| name.contains(w));
    if has(&["GB200", "GB300"]) {
        return Manager::Switches;
    }
    if cx.node.pci.of_kind(Kind::NvSwitch).next().is_some() {
        return Manager::Here;
    }
    // Their NVSwitches are managed through ConnectX bridges and are no PCI functions of their own.
    let bridged = has(&["B200", "B300"]);
    match cx.node.context.role.value {
        Some(Role::VmGuest) if !bridged => Manager::Host,
        Some(Role::BareMetal) if bridged => Manager::HereWithNvlsm,
        _ => Manager::Unknown,
    }
}
