//! `numa/balancing`.

use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::pci::Kind;

pub(super) static RULE: Rule = Rule {
    id: "numa/balancing",
    title: "Automatic NUMA balancing is off on GPU nodes",
    severity: Severities::up_to(Severity::Info, Severity::Low),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::direction_only("page faults by sampling, and moving pages under running jobs: jitter"),
    sources: &[
        Source {
            title: "Linux Documentation/admin-guide/sysctl/kernel.rst: numa_balancing",
            at: "https://docs.kernel.org/admin-guide/sysctl/kernel.html#numa-balancing",
        },
        Source {
            title: "NVIDIA Grace performance tuning guide: disable automatic NUMA balancing",
            at: "https://docs.nvidia.com/grace-perf-tuning-guide/",
        },
        Source {
            title: "RCCL src/init.cc, ncclInit: a warning where kernel.numa_balancing is 1, with the command that switches it off",
            at: "https://github.com/ROCm/rccl/blob/develop/src/init.cc",
        },
    ],
    reads: &["proc/sys/kernel/numa_balancing"],
    docs: "\
## What it checks
`kernel.numa_balancing`: 0 is off. The kernel's default on machines with several nodes is on, so this is information; it is low on
Arm (Grace), where NVIDIA asks for it and the GPU's memory is a NUMA node, and with AMD GPUs, whose RCCL warns of it.

## Why it matters
Balancing unmaps pages at intervals to see who touches them. On GPU nodes jobs place themselves, and the faults only disturb.

## See it yourself
`sysctl kernel.numa_balancing`.

## Fix
`kernel.numa_balancing = 0` in /etc/sysctl.d.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let setting = &cx.node.memory.numa_balancing;
    if let Some([_]) = cx.node.numa.known().map(Vec::as_slice) {
        out.not_applicable("one NUMA node: nothing to balance").at(cx.node.numa.place());
        return;
    }
    match setting.known() {
        Some(0) => out.pass(Subject::Node, "off").at(setting.place()),
        Some(n) => {
            // Its GPUs' makers ask for it: NVIDIA for Grace, AMD's RCCL warns of it at every start.
            let asked = cx.node.cpu.is_arm() || cx.node.pci.of_kind(Kind::AmdGpu).next().is_some();
            let severity = if asked { Severity::Low } else { Severity::Info };
            out.fail(Subject::Node, format_args!("on (kernel.numa_balancing = {n})"))
                .severity(severity)
                .at(setting.place())
                .fix(|| {
                    Remedy::sysfs("switch automatic NUMA balancing off", "/proc/sys/kernel/numa_balancing", "0")
                        .prove("proc/sys/kernel/numa_balancing")
                })
        }
        None if setting.is_absent() => out.not_applicable("the kernel has no NUMA balancing").at(setting.place()),
        None => out.unreadable(Subject::Node, "kernel.numa_balancing", setting),
    };
}
