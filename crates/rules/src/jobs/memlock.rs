//! `jobs/memlock`.

use super::{READS, SBATCH, each, subject};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_formats::limits::Limit;
use linerate_formats::sbatch::{Given, Opt, Value};
use linerate_node::jobs::ScriptAt;

pub(super) static RULE: Rule = Rule {
    id: "jobs/memlock",
    title: "A batch script does not limit the memory that its ranks may lock",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("memory registration beyond the limit fails: `ibv_reg_mr failed … Cannot allocate memory`"),
    sources: &[
        SBATCH,
        Source {
            title: "slurm.conf(5), PropagateResourceLimits: all limits of the submitter by default; no more than slurmd's hard limits",
            at: "https://slurm.schedmd.com/slurm.conf.html#OPT_PropagateResourceLimits",
        },
        Source {
            title: "Slurm FAQ, memory lock limits",
            at: "https://slurm.schedmd.com/faq.html#memlock",
        },
        Source {
            title: "bash(1), ulimit: -l in KiB; without -H and -S it sets both limits",
            at: "https://man7.org/linux/man-pages/man1/bash.1.html",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
`ulimit -l` and `--propagate` of a batch script. A number of KiB is a limit: low. `unlimited` limits nothing; whether it takes effect depends on the hard limit of slurmd (memory/memlock-of-runtime).
`--propagate`, alone or with ALL or MEMLOCK, carries the limit of the shell that submits: unknown. With NONE, or other limits alone, the job has slurmd's: unknown, too. A script that says nothing is not
judged: PropagateResourceLimits of slurm.conf decides.

## Why it matters
RDMA pins every buffer that it registers. The soft limit of a login node is often 64 KiB or 8 MiB. Slurm carries it to the job unless slurm.conf or the script says otherwise.

## See it yourself
In the job: `srun sh -c 'ulimit -l'`, and `grep locked /proc/self/limits`.

## Fix
Leave out `ulimit -l NUMBER`. `#SBATCH --propagate=NONE` where slurmd runs with LimitMEMLOCK=infinity, or PropagateResourceLimitsExcept=MEMLOCK in slurm.conf for all jobs.",
    myths: &[Myth {
        claim: "`ulimit -l unlimited` in the script is enough.",
        truth: "It cannot go beyond the hard limit of slurmd. bash then prints an error, and the script goes on.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(job: &ScriptAt, out: &mut Findings) {
    let said = job.script.memlock.last();
    let propagated = job.script.asked.get(Opt::Propagate);
    match said {
        None if propagated.is_none() => {
            let text = "the script sets no limit of locked memory: PropagateResourceLimits of slurm.conf decides";
            out.not_applicable_to(subject(job, "job"), text).at(job.at(job.script.first_line()));
        }
        None => {}
        Some(m) => {
            let (limit, at) = (subject(job, "ulimit -l"), job.at(m.line));
            match m.value.limit {
                None => _ = out.unknown(limit, "the limit is a variable, or not a number").at(at),
                Some(Limit::Unlimited) => {
                    let text = "unlimited: the script limits nothing; the hard limit of slurmd decides whether it takes effect";
                    out.pass(limit, text).at(at);
                }
                Some(Limit::Value(_)) if m.value.is_inner => {
                    _ = out
                        .unknown(limit, "a condition, a loop or a function decides whether this limit is set")
                        .at(at);
                }
                Some(Limit::Value(bytes)) => {
                    let bytes = linerate_node::memory::Limit::Bytes(bytes);
                    let text = format_args!("the script sets the limit to {bytes}: what it starts may lock no more");
                    out.fail(limit, text).at(at).fix(|| {
                        Remedy::investigate("leave out the limit, or set it to unlimited", "ulimit -l of the script")
                            .prove("cat JOB.sbatch")
                    });
                }
            }
        }
    }
    if let Some(given) = propagated {
        propagate(job, given, out);
    }
}

fn propagate(job: &ScriptAt, given: &Given, out: &mut Findings) {
    let carries = match &given.value {
        Some(Value::Limits(all)) => Some(all.iter().any(|l| matches!(*l, "ALL" | "MEMLOCK"))),
        _ => None,
    };
    let (text, see) = match carries {
        Some(true) => (
            "the job has the soft limit of the shell that submits it, which is not in the script",
            "`ulimit -l` where the job is submitted, and in the job",
        ),
        Some(false) => (
            "the job has the limit of slurmd, which is not in the script",
            "`systemctl show -p LimitMEMLOCK -p LimitMEMLOCKSoft slurmd`, and `ulimit -l` in the job",
        ),
        None => ("what is propagated is not readable", "`ulimit -l` in the job"),
    };
    out.unknown(subject(job, "--propagate"), text).at(job.at(given.line)).see(see);
}
