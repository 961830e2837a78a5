//! `modules/parameter-unknown`.

use super::nvidia::{self, NV_PROCFS, NV_REG, PARAMETERS};
use crate::cmdline::words;
use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::dmesg::Event;

pub(super) static RULE: Rule = Rule {
    id: "modules/parameter-unknown",
    title: "Options given to the nvidia module exist",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("the module ignores the option with one line in the log"),
    sources: &[NV_REG, NV_PROCFS],
    reads: &["proc/cmdline", "etc/modprobe.d/*.conf", "proc/driver/nvidia/params", "dmesg"],
    docs: "\
## What it checks
The names of options for the `nvidia` module, on the kernel command line (`nvidia.NVreg_…`) and in modprobe.d, against the
parameters that exist in the open kernel modules 515 to 595, with the branch of the loaded driver where it is known. Letter case counts.

## Why it matters
A misspelt or removed parameter does nothing: `nvidia: unknown parameter 'NVreg_…' ignored`. Proof of effect is
/proc/driver/nvidia/params, where names are without `NVreg_`.

## See it yourself
`modinfo -p nvidia | cut -d: -f1; cat /proc/driver/nvidia/params; dmesg | grep 'unknown parameter'`.

## Fix
Correct the spelling, or remove the option.",
    myths: &[
        Myth {
            claim: "nvidia.NVreg_EnablePCIeRelaxedOrderingMode=1 switches relaxed ordering on.",
            truth: "The parameter is spelt NVreg_EnablePCIERelaxedOrderingMode; as written it is ignored. It is not needed for GPUDirect RDMA either.",
        },
        Myth {
            claim: "nvidia.NVreg_RegisterForACPIEvents=1 belongs on every GPU server.",
            truth: "It concerned ACPI hotkeys and left the driver after 515.43.04.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some(asked) = nvidia::asked(cx) else {
        out.unreadable(Subject::Node, "kernel command line and modprobe.d", &cx.node.kernel.cmdline);
        return;
    };
    if asked.is_empty() {
        out.not_applicable(
            "no option for the nvidia module on the command line or in the files of modprobe.d that were read",
        )
        .at(cx.node.kernel.cmdline.place());
        return;
    }
    let branch = nvidia::branch(cx);
    let mut good = 0_u32;
    let first = asked.first().map(|a| a.place);
    for a in &asked {
        let name = a.name();
        let prefixed = a.word.starts_with("NVreg_");
        let row = PARAMETERS.iter().find(|(n, ..)| *n == name).filter(|_| prefixed);
        // What the running driver lists exists, whatever our table says.
        let listed = cx.node.nvidia.driver.param(nvidia::listed_as(name)).filter(|_| prefixed);
        let refused = refused(cx, &a.word);
        let problem = match (row, branch) {
            _ if listed.is_some() => None,
            (Some((_, _, to)), Some(b)) if *to != 0 && b > *to => {
                Some(format!("left the driver after branch {to}; this is {b}"))
            }
            (Some((_, from, _)), Some(b)) if b < *from => Some(format!("exists from branch {from} on; this is {b}")),
            (Some((_, _, to)), None) if *to != 0 => Some(format!("left the driver after branch {to}")),
            (Some(_), _) => None,
            (None, _) => Some(unknown(name, prefixed)),
        };
        let problem = problem.or(refused.map(|_| "the module ignored it".to_owned()));
        let Some(problem) = problem else {
            good += 1;
            continue;
        };
        let option = words::short(&a.word);
        let f = out.fail(Subject::Module(format!("nvidia {option}")), format_args!("ignored: {problem}"));
        f.at(a.place);
        f.at(refused);
        let action = Action::ModuleOption { module: "nvidia".into(), option: option.clone().into(), value: None };
        f.fix(|| Remedy::new(format!("remove {option}, or spell it right"), action).prove("proc/driver/nvidia/params"));
    }
    if let (true, Some(place)) = (out.is_empty(), first) {
        out.pass(Subject::Node, format_args!("all options of the nvidia module exist ({good})")).at(place);
    }
}

fn unknown(name: &str, prefixed: bool) -> String {
    let near = words::nearest(name, PARAMETERS.iter().map(|(n, ..)| *n));
    match near {
        Some(n) if !prefixed || n != name => format!("no such parameter; NVreg_{n} exists"),
        _ => "no such parameter in drivers 515 to 595".to_owned(),
    }
}

fn refused(cx: &Cx<'_>, word: &str) -> Option<linerate_snapshot::Place> {
    let hits = cx.node.kernel.events(move |e| match e {
        Event::UnknownModuleParameter { module, parameter } if module == "nvidia" => Some(parameter.as_str()),
        _ => None,
    });
    hits.filter(|(p, _)| *p == word).map(|(_, place)| place).next()
}
