//! What to set, to be pasted: a shell, a pod spec, a Slurm script. Values are quoted for where they go; what has a condition, and what
//! is to be removed, are comments.

use super::{Env, counts};
use linerate_env::{Change, Judgement, Kind, lookup};
use linerate_out::{shell, terminal, yaml};
use std::io::{self, Write};

/// Where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `export NAME='value'`.
    Shell,
    /// Entries of `env`.
    K8s,
    /// A Slurm script's exports, before `srun`.
    Sbatch,
}

/// Writes it.
///
/// # Errors
/// Those of the writer.
pub fn render(env: &Env<'_>, form: Form, out: &mut dyn Write) -> io::Result<()> {
    let r = env.recommendation;
    let node = env.node.map_or_else(|| "no node given".to_owned(), |n| format!("for {n}"));
    let release = env.release().unwrap_or_else(|| "NCCL's release is not known".to_owned());
    comment(out, &format!("{release}, {node}"))?;
    if form == Form::Sbatch {
        comment(out, "before srun, which hands the environment on (--export=ALL, the default)")?;
    }
    let of = |name: &str| env.judgements.iter().filter(|j| j.variable == name).collect::<Vec<_>>();
    let right = |name: &str| {
        let all = of(name);
        !all.is_empty() && all.iter().all(|j| matches!(j.kind, Kind::Fine | Kind::Redundant))
    };
    let changed = |name: &str| of(name).into_iter().find_map(|j| j.change.as_ref());
    // What is set rightly, or is set again below, is not set from the node.
    let set: Vec<_> =
        r.set.iter().filter(|v| !right(v.name) && !matches!(changed(v.name), Some(Change::Set(_)))).collect();
    let fixes = fixes(env);
    let sets = |c: &Option<&Change>| matches!(c, Some(Change::Set(_)));
    if set.is_empty() && !fixes.iter().any(|(_, c)| sets(c)) {
        comment(out, "nothing is to be set")?;
    }
    let certain = set.iter().any(|v| v.condition.is_none()) || fixes.iter().any(|(_, c)| sets(c));
    if form == Form::K8s && certain {
        writeln!(out, "env:")?;
    }
    for v in set.iter().copied() {
        comment(out, &format!("{}: {}", v.name, v.reason))?;
        let lines = entry(form, v.name, &v.value);
        match &v.condition {
            Some(c) => {
                comment(out, c)?;
                for line in lines {
                    comment(out, &line)?;
                }
            }
            None => {
                for line in lines {
                    writeln!(out, "{line}")?;
                }
            }
        }
    }
    for (j, change) in &fixes {
        let about = format!("{}={} ({}): {}", j.variable, j.value, j.at, j.message);
        let again = set.iter().any(|v| v.condition.is_none() && v.name == j.variable);
        match change {
            Some(Change::Set(value)) if known(j) => {
                comment(out, &format!("instead of {about}"))?;
                for line in entry(form, &j.variable, value) {
                    writeln!(out, "{line}")?;
                }
            }
            Some(Change::Unset) => {
                comment(out, &format!("remove {about}"))?;
                // A name that is set again above is not unset below.
                if form != Form::K8s && !again && known(j) {
                    writeln!(out, "unset {}", j.variable)?;
                }
            }
            _ => comment(out, &format!("to decide: {about}"))?,
        }
    }
    for o in &r.open {
        comment(out, &format!("open: {o}"))?;
    }
    for j in env.judgements.iter().filter(|j| j.kind == Kind::Undecided) {
        comment(out, &format!("open: {}={} ({}): {}", j.variable, j.value, j.at, j.message))?;
    }
    Ok(())
}

fn known(j: &Judgement) -> bool {
    lookup(&j.variable).is_some()
}

/// Of each variable that has a finding: the worst, and what is made of the setting, where nothing is left to decide.
fn fixes<'a>(env: &Env<'a>) -> Vec<(&'a Judgement, Option<&'a Change>)> {
    let mut out: Vec<(&Judgement, Option<&Change>)> = Vec::new();
    for j in env.judgements.iter().filter(|j| removes(j)) {
        match out.iter_mut().find(|(first, _)| first.variable == j.variable) {
            Some((_, change)) => *change = change.or(j.change.as_ref()),
            None => out.push((j, j.change.as_ref())),
        }
    }
    out
}

/// What should go.
fn removes(j: &Judgement) -> bool {
    counts(j) && !matches!(j.kind, Kind::Redundant)
}

/// A comment is one line, whatever the text.
fn comment(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "# {}", terminal(text))
}

fn entry(form: Form, name: &str, value: &str) -> Vec<String> {
    match form {
        Form::Shell | Form::Sbatch => vec![format!("export {name}={}", word(value))],
        Form::K8s => vec![format!("- name: {name}"), format!("  value: {}", k8s(value))],
    }
}

/// No word can hold a NUL: it is shown.
fn word(value: &str) -> String {
    shell::word(&value.replace('\0', "\\u{0}")).unwrap_or_default()
}

/// A `$(NAME)` is written so that Kubernetes leaves it alone.
fn k8s(value: &str) -> String {
    yaml::scalar(&value.replace("$(", "$$("))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_leave_their_quotes() {
        assert_eq!(entry(Form::Shell, "A", "x'; rm -rf /; '"), ["export A='x'\\''; rm -rf /; '\\'''"]);
        assert_eq!(entry(Form::K8s, "A", "a\"b\n$(C)"), ["- name: A", "  value: \"a\\\"b\\n$$(C)\""]);
        assert_eq!(entry(Form::Sbatch, "A", "=mlx5_0,mlx5_1"), ["export A='=mlx5_0,mlx5_1'"]);
    }
}
