//! `cpu/idle-states`.

use crate::sources::nccl;
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "cpu/idle-states",
    title: "Waking a CPU takes no longer than a network step",
    severity: Severities::always(Severity::Info),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::derived("up to the state's exit latency is added when a sleeping core must react; bandwidth is not affected"),
    sources: &[
        Source {
            title: "Linux ABI and admin guide: CPU idle time management, state*/latency and disable",
            at: "https://docs.kernel.org/admin-guide/pm/cpuidle.html",
        },
        nccl!("src/graph/tuning.cc", "latency of one network hop, 2.7 µs (LL) to 14 µs (Simple)"),
    ],
    reads: &["sys/devices/system/cpu/cpu0/cpuidle/state*/{name,latency,disable}"],
    docs: "\
## What it checks
Enabled idle states of CPU 0 whose exit latency is above 14 µs, the longest step that NCCL's own model has for one network hop.
Information: polling threads do not sleep, and power saved elsewhere can feed turbo.

## Why it matters
A core in a deep state needs that long to react. It shows in the tail of latency, not in bandwidth.

## See it yourself
`cpupower idle-info`, `grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/{name,latency,disable}`.

## Fix
For latency tests: `cpupower idle-set -D 15` (until reboot), or a tuned profile such as network-latency.",
    myths: &[],
    check,
};

/// NCCL's hardware latency of a network hop with protocol Simple, µs.
const STEP_US: u32 = 14;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let states = match &cx.node.cpu.idle_states {
        Reading::Known(s, _) if !s.is_empty() => s,
        Reading::Known(_, p) => {
            out.unknown(Subject::Node, "no idle state could be read").at(*p);
            return;
        }
        Reading::Absent(p) => {
            out.not_applicable("no cpuidle: the kernel does not choose idle states").at(*p);
            return;
        }
        r @ Reading::Unreadable(..) => {
            out.unreadable(Subject::Node, "idle states", r);
            return;
        }
    };
    let mut deep = Vec::new();
    for s in states.iter().filter(|s| !s.disabled) {
        match s.latency_us.known() {
            Some(us) if *us > STEP_US => deep.push((s, *us)),
            Some(_) => {}
            None => {
                out.unreadable(Subject::Node, "exit latency of an idle state", &s.latency_us);
                return;
            }
        }
    }
    if deep.is_empty() {
        out.pass(
            Subject::Node,
            format_args!("no enabled idle state of {} takes longer than {STEP_US} µs to leave", states.len()),
        )
        .at_all(states.iter().map(|s| s.place));
        return;
    }
    let list: Vec<String> = deep.iter().map(|(s, us)| format!("{} {us} µs", s.name)).collect();
    let f = out.fail(Subject::Node, format_args!("enabled: {}", list.join(", ")));
    for (s, _) in &deep {
        f.at(s.place);
    }
    f.fix(|| {
        // The kernel has at most ten (CPUIDLE_STATE_MAX): one digit each.
        let numbers: String = deep.iter().map(|(s, _)| s.number.to_string()).collect();
        Remedy::sysfs(
            "for latency tests disable idle states that take longer to leave than a network step",
            format!("/sys/devices/system/cpu/cpu*/cpuidle/state[{numbers}]/disable"),
            "1",
        )
        .because("more power and less turbo")
        .prove("sys/devices/system/cpu/cpu0/cpuidle/state*/disable")
    });
}
