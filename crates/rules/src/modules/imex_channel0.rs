//! `modules/imex-channel0`.

use super::nvidia::{self, NV_REG, READS};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Subject};

pub(super) static RULE: Rule = Rule {
    id: "modules/imex-channel0",
    title: "IMEX channel 0 is created by default only where all users are trusted",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("none on bandwidth; any user may share GPU memory across nodes through the channel"),
    sources: &[NV_REG],
    reads: READS,
    docs: "\
## What it checks
`NVreg_CreateImexChannel0=1` in force (else asked for).

## Why it matters
With 1 the driver creates the device of IMEX channel 0 with access for everybody. Its authors recommend it only in trusted
environments: the channel is what separates tenants that export GPU memory over NVLink between nodes.

## See it yourself
`grep CreateImexChannel0 /proc/driver/nvidia/params; ls -l /dev/nvidia-caps-imex-channels`.

## Fix
Single tenant: keep it. Several tenants: remove the option and create channels for each job (the GPU Operator's compute domains, or Slurm's prolog).",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let subject = || Subject::Module("nvidia NVreg_CreateImexChannel0".into());
    match nvidia::effective_or_asked(cx, "CreateImexChannel0") {
        Some((0, place)) => out.pass(subject(), "0: channels are created one by one").at(place),
        Some((value, place)) => {
            let rack = cx
                .node
                .nvidia
                .gpus
                .iter()
                .any(|g| g.name.known().is_some_and(|n| ["GB200", "GB300"].iter().any(|w| n.contains(w))));
            let f = out.fail(
                subject(),
                format_args!("{value}: channel 0 exists for every user; right only where all are trusted"),
            );
            f.at(place);
            if rack {
                // Multi-node NVLink needs a channel, and on racks of one tenant this is how NVIDIA makes it: nothing to take away.
                f.severity(Severity::Info)
            } else {
                f.fix(|| {
                    nvidia::reset(
                        "CreateImexChannel0",
                        "jobs that use NVLink across nodes need a channel from elsewhere",
                    )
                })
            }
        }
        None => nvidia::without_value(cx, out, "the driver does not list the parameter (it exists from branch 555 on)"),
    };
}
