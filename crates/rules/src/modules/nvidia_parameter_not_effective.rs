//! `modules/nvidia-parameter-not-effective`.

use super::nvidia::{self, NV_PROCFS, NV_REG, PARAMETERS, READS};
use crate::cmdline::words;
use crate::{Action, Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Subject};

pub(super) static RULE: Rule = Rule {
    id: "modules/nvidia-parameter-not-effective",
    title: "Options of the nvidia module are in force with the value that was asked for",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("the driver runs with another setting than the configuration says"),
    sources: &[NV_PROCFS, NV_REG],
    reads: READS,
    docs: "\
## What it checks
For each option of the `nvidia` module that is asked for with a number: the value in /proc/driver/nvidia/params. Of several requests the
last in modprobe's order counts: files of modprobe.d by name, then the command line.

## Why it matters
Options are read when the module is loaded. They do not take effect where the initramfs holds an older copy of modprobe.d, where a
container loads the driver (it has its own modprobe.d and may use insmod, which reads no command line), or before the next load.

## See it yourself
`cat /proc/driver/nvidia/params; modprobe -c | grep '^options nvidia '; cat /proc/cmdline`.

## Fix
Rebuild the initramfs (`update-initramfs -u`, `dracut -f`) and reboot. With the GPU Operator's driver container, use
`driver.kernelModuleConfig`; on Talos, `machine.kernel.modules[].parameters`.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some(asked) = nvidia::asked(cx) else {
        out.unreadable(Subject::Node, "kernel command line and modprobe.d", &cx.node.kernel.cmdline);
        return;
    };
    let mut last: Vec<&nvidia::Asked<'_>> = Vec::new();
    for a in asked.iter().rev() {
        let known = a.word.starts_with("NVreg_") && PARAMETERS.iter().any(|(n, ..)| *n == a.name());
        if known && !last.iter().any(|l| l.name() == a.name()) && a.value.as_deref().and_then(nvidia::number).is_some()
        {
            last.push(a);
        }
    }
    if last.is_empty() {
        out.not_applicable("no option of the nvidia module is asked for with a number").at(cx
            .node
            .kernel
            .cmdline
            .place());
        return;
    }
    let params = &cx.node.nvidia.driver.params;
    if params.is_absent() {
        out.not_applicable("the nvidia driver is not loaded").at(params.place());
        return;
    }
    for a in last {
        let (name, Some(wanted)) = (a.name(), a.value.as_deref().and_then(nvidia::number)) else { continue };
        let subject = Subject::Module(format!("nvidia {}", words::short(&a.word)));
        if params.known().is_none() {
            out.unreadable(subject, "/proc/driver/nvidia/params", params);
            continue;
        }
        match nvidia::effective(cx, nvidia::listed_as(name)) {
            Some((value, place)) if value == wanted => {
                out.pass(subject, format_args!("in force: {value}")).at(place).at(a.place)
            }
            Some((value, place)) => {
                let source = if a.on_cmdline { "the command line" } else { "modprobe.d" };
                let action = Action::ModuleOption {
                    module: "nvidia".into(),
                    option: a.word.clone().into_owned().into(),
                    value: Some(wanted.to_string().into()),
                };
                out.fail(subject, format_args!("{source} asks for {wanted}, the driver runs with {value}"))
                    .at(place)
                    .at(a.place)
                    .fix(|| {
                        Remedy::new("give the option where the module is loaded from", action)
                            .prove("proc/driver/nvidia/params")
                    })
            }
            None => out.not_applicable_to(subject, "the driver does not list this parameter").at(params.place()),
        };
    }
}
