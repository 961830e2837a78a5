//! `cmdline/idle-states`.

use super::words::{self, KPARAM};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/idle-states",
    title: "The kernel chooses the CPU's idle states, or they were limited on purpose",
    severity: Severities::always(Severity::Info),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::estimate("shallow idle states shorten wake-ups by some tens of microseconds and cost power and turbo frequency"),
    sources: &[
        KPARAM,
        Source { title: "Linux: CPU idle time management", at: "https://docs.kernel.org/admin-guide/pm/cpuidle.html" },
    ],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
`intel_idle.max_cstate=`, `processor.max_cstate=`, `idle=poll`/`halt`/`nomwait`, `cpuidle.off=1`.

## Why it matters
They shorten the latency of wake-ups, which shows in small messages. Large transfers of GPUDirect RDMA do not pass the CPU and do
not change. `idle=poll` keeps every core at full power, takes turbo from the busy ones, and disturbs the sibling thread.

## See it yourself
`cat /proc/cmdline; grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/{name,disable}`.

## Fix
Nothing, if it was measured here. Otherwise prefer the runtime knobs (a latency profile of tuned, /dev/cpu_dma_latency) to boot parameters.",
    myths: &[Myth {
        claim: "GPU nodes need processor.max_cstate=1 intel_idle.max_cstate=0 for bandwidth.",
        truth: "It is a latency setting. intel_idle.max_cstate=0 does not forbid idle states: it switches the driver off, and acpi_idle takes over.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    for word in &c.params {
        let name = word.name.replace('-', "_");
        let message = match (name.as_str(), word.value.as_deref()) {
            ("idle", Some("poll")) => "every core polls at full power, turbo and sibling threads suffer",
            ("idle", Some("halt" | "nomwait")) => "MWAIT is not used: only the states that ACPI offers",
            ("cpuidle.off", Some("1")) => "no idle-state driver at all",
            ("intel_idle.max_cstate", Some("0")) => "switches the driver off; acpi_idle takes over with its own states",
            ("intel_idle.max_cstate" | "processor.max_cstate", Some(_)) => "limits the depth of idle states",
            _ => continue,
        };
        out.fail(crate::Subject::KernelArg(words::short(&word.raw)), message).at(place.line(word.line));
    }
    if out.is_empty() {
        words::none_of(out, "limit on idle states", (c, place));
    }
}
