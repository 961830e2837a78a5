//! `modules/modules-from-cmdline`.

use crate::cmdline::words;
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::cmdline::same_name;

pub(super) static RULE: Rule = Rule {
    id: "modules/modules-from-cmdline",
    title: "Options of GPU and RDMA modules are set in modprobe.d",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("a container that loads the module with insmod never sees the option"),
    sources: &[
        Source {
            title: "kmod: modprobe reads module options from the kernel command line",
            at: "https://man7.org/linux/man-pages/man8/modprobe.8.html",
        },
        words::KPARAM,
    ],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
Words `module.parameter=value` on the kernel command line for loadable GPU and RDMA modules.

## Why it matters
The kernel itself hands such words to built-in code only. For a loadable module it is modprobe that reads /proc/cmdline. A driver
container that uses insmod, or that has no view of the host's command line, passes no such option, so that the same line works on
one node and not on another.

## See it yourself
`cat /proc/cmdline; modprobe -c | grep '^options'; cat /proc/driver/nvidia/params`.

## Fix
`options nvidia NVreg_…` in /etc/modprobe.d (and a new initramfs); with the GPU Operator its `driver.kernelModuleConfig`; on Talos
`machine.kernel.modules[].parameters`. Nothing is wrong where /proc/driver/nvidia/params shows the value.",
    myths: &[Myth {
        claim: "Module options on the kernel command line are ignored by loadable modules.",
        truth: "modprobe reads them from /proc/cmdline. Only a loader other than modprobe misses them.",
    }],
    check,
};

const MODULES: [&str; 16] = [
    "nvidia",
    "nvidia_uvm",
    "nvidia_drm",
    "nvidia_modeset",
    "nvidia_peermem",
    "nv_peer_mem",
    "gdrdrv",
    "mlx5_core",
    "mlx5_ib",
    "mlx4_core",
    "mlx4_ib",
    "mlx4_en",
    "ib_core",
    "ib_uverbs",
    "ib_ipoib",
    "rdma_ucm",
];

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    for word in &c.params {
        let Some((module, _)) = word.name.split_once('.').filter(|(m, _)| MODULES.iter().any(|k| same_name(m, k)))
        else {
            continue;
        };
        let raw = words::short(&word.raw);
        out.fail(
            Subject::KernelArg(raw),
            format_args!("read by modprobe when it loads {}, by nobody else", words::short(module)),
        )
        .at(place.line(word.line));
    }
    if out.is_empty() {
        words::none_of(out, "option of a GPU or RDMA module", (c, place));
    }
}
