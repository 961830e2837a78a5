//! `gpumem/open-module`.

use super::registration_path::OPERATOR;
use super::{no_own_gpu, paths};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::gpu::Flavour;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/open-module",
    title: "The open NVIDIA kernel modules are loaded",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("only the open modules export GPU memory as DMA-BUF"),
    sources: &[
        OPERATOR,
        Source {
            title: "open-gpu-kernel-modules, README: supported GPUs are Turing and later",
            at: "https://github.com/NVIDIA/open-gpu-kernel-modules#compatible-gpus",
        },
    ],
    reads: &["proc/driver/nvidia/version"],
    docs: "\
## What it checks
Whether the loaded driver is the open or the proprietary flavour of the kernel modules: the words \"Open Kernel Module\" in
/proc/driver/nvidia/version.

## Why it matters
DMA-BUF, the way to GPUDirect RDMA that needs no extra module, exists in the open modules only. They need Turing or later; Volta and
Pascal work with the proprietary modules only, and depend on a peer-memory module.

## See it yourself
`cat /proc/driver/nvidia/version`; `modinfo -F license nvidia` (open: Dual MIT/GPL).

## Fix
On Turing and later install the open modules of the same driver version. gpumem/registration-path says whether anything is missing.",
    myths: &[Myth {
        claim: "The open kernel modules are nouveau, or slower.",
        truth: "They are NVIDIA's own driver with published source, its default since R560; user space is the same.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_own_gpu(cx, out) {
        return;
    }
    let driver = &cx.node.nvidia.driver;
    let version = driver.version.known().map_or("of unknown version", String::as_str);
    match &driver.flavour {
        Reading::Known(Flavour::Open, place) => {
            out.pass(Subject::Node, format_args!("open modules {version}: can export DMA-BUF")).at(*place)
        }
        Reading::Known(Flavour::Proprietary, place) => {
            let old = paths::before_turing(cx);
            let f = match old {
                Some((name, at)) => {
                    let f = out
                        .not_applicable(format_args!("proprietary modules {version}: {name} GPUs have no open ones"));
                    f.at(at);
                    f
                }
                None => out.fail(
                    Subject::Node,
                    format_args!("proprietary modules {version}: no DMA-BUF; only a peer-memory module can help"),
                ),
            };
            f.at(*place)
        }
        Reading::Absent(place) => out.not_applicable("no NVIDIA driver is loaded: see gpumem/driver-loaded").at(*place),
        r @ Reading::Unreadable(..) => out.unreadable(Subject::Node, "flavour of the NVIDIA kernel modules", r),
    };
}
