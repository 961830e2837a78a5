//! `memory/memlock-of-runtime`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::limits::Limit;
use linerate_formats::systemd_unit::SoftHard;
use linerate_node::units::UnitAt;

pub(super) static RULE: Rule = Rule {
    id: "memory/memlock-of-runtime",
    title: "Units that start jobs and containers have LimitMEMLOCK=infinity",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("memory registration beyond the limit fails: `ibv_reg_mr failed … Cannot allocate memory`"),
    sources: &[
        Source {
            title: "systemd.exec(5), Process Properties: LimitMEMLOCK=, soft:hard, infinity; an unset one is DefaultLimitMEMLOCK=",
            at: "https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html",
        },
        Source {
            title: "systemd-system.conf(5): DefaultLimitMEMLOCK=",
            at: "https://www.freedesktop.org/software/systemd/man/latest/systemd-system.conf.html",
        },
        Source {
            title: "Slurm FAQ, memory lock limits: slurmd must be started with a limit that is high enough",
            at: "https://slurm.schedmd.com/faq.html#memlock",
        },
        Source {
            title: "dockerd: without default-ulimits a container inherits the limits of the daemon",
            at: "https://docs.docker.com/reference/cli/dockerd/#default-ulimit-settings",
        },
    ],
    reads: &["systemctl cat UNIT"],
    docs: "\
## What it checks
Of each unit in a text of `systemctl cat` (or a unit file, or a drop-in) that starts jobs or containers: slurmd, containerd, docker, crio. LimitMEMLOCK=infinity is right, a limit is low. A unit that
sets none has the default of the service manager, which is not in the text: unknown. kubelet starts no containers itself; their limit is the runtime's.

## Why it matters
A process inherits its limits. What slurmd or the container runtime was started with holds for the jobs below it, whatever limits.conf says: that file is read for logins only. RDMA pins every buffer
that it registers. This is the limit as it is written: a running service has the one that it was started with. Slurm may set the submitter's limit in a job (PropagateResourceLimits), Docker and
containerd one of their own (default-ulimits, the base runtime specification).

## See it yourself
`systemctl show -p LimitMEMLOCK -p LimitMEMLOCKSoft slurmd`, and in a job `grep locked /proc/self/limits`.

## Fix
A drop-in `/etc/systemd/system/UNIT.service.d/memlock.conf` with `[Service]` and `LimitMEMLOCK=infinity`, `systemctl daemon-reload`, and a restart of the unit when no job runs. With Slurm also
`PropagateResourceLimitsExcept=MEMLOCK` in slurm.conf.",
    myths: &[
        Myth {
            claim: "limits.conf raises the limit of services.",
            truth: "pam_limits applies it to sessions. A service gets its limits from its unit.",
        },
        Myth {
            claim: "Kubernetes raises the limit by kubelet's unit.",
            truth: "Containers are started by the container runtime: its unit counts.",
        },
    ],
    check,
};

/// Units that start jobs and containers: name, and the description that their makers' unit files have.
const LAUNCHERS: [(&str, &str); 4] = [
    ("slurmd.service", "Slurm node daemon"),
    ("containerd.service", "containerd container runtime"),
    ("docker.service", "Docker Application Container Engine"),
    ("crio.service", "Container Runtime Interface for OCI (CRI-O)"),
];
const KUBELET: &str = "kubelet.service";

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let units = &cx.node.units;
    let mut any = false;
    for (name, description) in LAUNCHERS {
        let is_it = |u: &&UnitAt| match &u.name {
            Some(own) => own == name,
            None => u.unit.description.as_deref() == Some(description),
        };
        // Of two texts, one that sets a limit says more; the last decides, as for systemd.
        let mut all = units.iter().filter(is_it);
        let Some(first) = all.next() else { continue };
        let unit =
            all.fold(first, |kept, u| if u.unit.memlock.is_some() || kept.unit.memlock.is_none() { u } else { kept });
        judge(name, unit, out);
        any = true;
    }
    if let Some(kubelet) = units.iter().find(|u| u.name.as_deref() == Some(KUBELET)) {
        let text = "starts no containers itself: they have the limit of the container runtime's unit";
        out.not_applicable_to(Subject::Named(KUBELET.to_owned()), text).at(kubelet.at(kubelet.unit.line));
        any = true;
    }
    match units.first() {
        _ if any => {}
        None => _ = out.not_applicable("no unit of systemd in this source"),
        Some(u) => {
            _ = out.not_applicable("no unit in this source is known to start jobs or containers").at(u.at(u.unit.line))
        }
    }
}

fn judge(name: &str, unit: &UnitAt, out: &mut Findings) {
    let subject = Subject::Named(name.to_owned());
    let see = format_args!("systemctl show -p LimitMEMLOCK -p LimitMEMLOCKSoft {name}");
    let Some(memlock) = unit.unit.memlock else {
        let text = "sets no LimitMEMLOCK: it has DefaultLimitMEMLOCK of the service manager, which is not in this text";
        out.unknown(subject, text).at(unit.at(unit.unit.line)).see(see);
        return;
    };
    let at = unit.at(memlock.line);
    match memlock.value {
        None => _ = out.unknown(subject, "the value of LimitMEMLOCK is not shown").at(at).see(see),
        Some(SoftHard { soft: Limit::Unlimited, .. }) => _ = out.pass(subject, "LimitMEMLOCK=infinity").at(at),
        Some(SoftHard { soft: Limit::Value(bytes), hard }) => {
            let limit = linerate_node::memory::Limit::Bytes(bytes);
            let hard = if hard == Limit::Unlimited { " (hard limit unlimited)" } else { "" };
            let text = format_args!("LimitMEMLOCK is {limit}{hard}: what it starts may lock no more");
            out.fail(subject, text).at(at).fix(|| {
                let drop_in = format!("LimitMEMLOCK=infinity in a drop-in of {name}");
                Remedy::investigate("start the unit without a limit of locked memory", drop_in)
                    .because("the unit must be restarted, and jobs that run keep their limit")
                    .prove("systemctl cat UNIT")
            });
        }
    }
}
