//! `cpu/governor`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::cpu::Tally;

pub(super) static RULE: Rule = Rule {
    id: "cpu/governor",
    title: "The CPU frequency policy prefers performance",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::direction_only("latency and jitter of the threads that drive the NIC and of small messages; large RDMA transfers are not affected"),
    sources: &[
        Source {
            title: "Linux Documentation/admin-guide/pm/intel_pstate.rst: active mode, powersave is dynamic, energy_performance_preference",
            at: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html",
        },
        Source {
            title: "Linux Documentation/admin-guide/pm/amd-pstate.rst",
            at: "https://docs.kernel.org/admin-guide/pm/amd-pstate.html",
        },
        Source {
            title: "Linux Documentation/admin-guide/pm/cpufreq.rst: generic governors",
            at: "https://docs.kernel.org/admin-guide/pm/cpufreq.html",
        },
    ],
    reads: &["sys/devices/system/cpu/cpu*/cpufreq/{scaling_governor,scaling_driver,energy_performance_preference}"],
    docs: "\
## What it checks
The governor of all CPUs, read with the driver's meaning. `performance` is right. With intel_pstate or amd-pstate-epp in active mode, `powersave` is a
dynamic policy steered by the energy-performance preference: performance passes, balance_performance (the default) is
information, the others are low. With any other driver `powersave` pins the lowest frequency: medium. schedutil, ondemand and conservative are low.
No cpufreq at all: the firmware or the hypervisor decides, not judged.

## Why it matters
A proxy thread that wakes on a slow core adds microseconds to each step of a collective with small messages.

## See it yourself
`cpupower frequency-info`, `grep . /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor | sort | uniq -c`.

## Fix
`cpupower frequency-set -g performance`, kept by a tuned profile (throughput-performance, accelerator-performance).",
    myths: &[
        Myth {
            claim: "powersave means that the CPU runs at its lowest frequency.",
            truth: "With acpi-cpufreq and cppc. In the active mode of intel_pstate and amd-pstate it is dynamic.",
        },
        Myth {
            claim: "perftest's warning about conflicting CPU frequencies makes the bandwidth invalid.",
            truth: "It says that cores ran at different clocks at that instant. Bandwidth is valid; latency may include waking.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let cpu = &cx.node.cpu;
    let governors = match cpu.governors.known() {
        Some(g) => g,
        None if cpu.governors.is_absent() => {
            out.not_applicable("no cpufreq: the firmware sets the frequency").at(cpu.governors.place());
            return;
        }
        None => {
            out.unreadable(Subject::Node, "frequency governors", &cpu.governors);
            return;
        }
    };
    let mut worst: Option<(Severity, String, linerate_snapshot::Place)> = None;
    for (name, n, place) in governors {
        let judged = match name.as_str() {
            "performance" => continue,
            "powersave" => match powersave(cx) {
                Powersave::Fine => continue,
                Powersave::Slow(severity, what) => (severity, format!("powersave on {n} CPUs{what}"), *place),
                Powersave::Unseen(what) => {
                    out.unknown(Subject::Node, what).at(*place);
                    return;
                }
            },
            other => (Severity::Low, format!("{other} on {n} CPUs"), *place),
        };
        if worst.as_ref().is_none_or(|w| w.0 < judged.0) {
            worst = Some(judged);
        }
    }
    match worst {
        None => {
            let f = out.pass(Subject::Node, words(governors));
            for (_, _, place) in governors {
                f.at(*place);
            }
        }
        Some((severity, message, place)) => {
            out.fail(Subject::Node, message).severity(severity).at(place).fix(|| {
                Remedy::sysfs(
                    "set the governor performance on all CPUs, kept by a tuned profile",
                    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
                    "performance",
                )
                .prove("sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
            });
        }
    }
}

/// What powersave means here.
enum Powersave {
    Fine,
    Slow(Severity, String),
    Unseen(String),
}

fn powersave(cx: &Cx<'_>) -> Powersave {
    let cpu = &cx.node.cpu;
    let Some(driver) = cpu.frequency_driver.known() else {
        return Powersave::Unseen(
            "governor powersave; its meaning depends on the frequency driver, which is not visible".into(),
        );
    };
    if !matches!(driver.as_str(), "intel_pstate" | "amd-pstate-epp" | "amd_pstate_epp") {
        return Powersave::Slow(Severity::Medium, format!(" with {driver}: the lowest frequency"));
    }
    let Some(preferences) = cpu.energy_preferences.known() else {
        if cpu.energy_preferences.is_absent() {
            return Powersave::Slow(Severity::Info, format!(" with {driver}: dynamic, no energy preference"));
        }
        return Powersave::Unseen(format!(
            "governor powersave with {driver}; the energy-performance preference is not visible"
        ));
    };
    let rank = |p: &str| match p {
        "performance" | "0" => None,
        "balance_performance" => Some(Severity::Info),
        _ => Some(Severity::Low),
    };
    match preferences.iter().filter_map(|(p, ..)| rank(p)).max() {
        Some(worst) => Powersave::Slow(worst, format!(" with {driver}: dynamic, preference {}", words(preferences))),
        None => Powersave::Fine,
    }
}

fn words(tally: &Tally) -> String {
    let list: Vec<String> = tally.iter().map(|(v, n, _)| format!("{v} on {n}")).collect();
    format!("{} CPUs", list.join(", "))
}
