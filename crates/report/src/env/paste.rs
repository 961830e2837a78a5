//! What to set, to be pasted: a shell, a pod spec, a Slurm script. Values are quoted for where they go; what has a condition, and what
//! is to be removed, are comments.

use super::{Env, counts};
use crate::style::clean;
use linerate_env::{Judgement, Kind, lookup};
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
    comment(out, &format!("{}, {node}", env.release()))?;
    if form == Form::Sbatch {
        comment(out, "before srun, which hands the environment on (--export=ALL, the default)")?;
    }
    if r.set.is_empty() {
        comment(out, "nothing is to be set")?;
    }
    if form == Form::K8s && r.certain().next().is_some() {
        writeln!(out, "env:")?;
    }
    for v in &r.set {
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
    for o in &r.open {
        comment(out, &format!("open: {o}"))?;
    }
    let wanted = |j: &&Judgement| r.set.iter().any(|v| v.name == j.variable && v.value == j.value);
    let mut gone: Vec<&str> = Vec::new();
    for j in env.judgements.iter().filter(|j| removes(j) && !wanted(j)) {
        if gone.contains(&j.variable.as_str()) {
            continue;
        }
        gone.push(&j.variable);
        comment(out, &format!("remove {}={} ({}): {}", j.variable, j.value, j.at, j.message))?;
        // A name that is to be set again above is not unset below.
        let set = r.certain().any(|v| v.name == j.variable);
        if form != Form::K8s && !set && lookup(&j.variable).is_some() {
            writeln!(out, "unset {}", j.variable)?;
        }
    }
    Ok(())
}

/// What should go.
fn removes(j: &Judgement) -> bool {
    counts(j) && !matches!(j.kind, Kind::Redundant)
}

/// A comment is one line, whatever the text.
fn comment(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "# {}", clean(text))
}

fn entry(form: Form, name: &str, value: &str) -> Vec<String> {
    match form {
        Form::Shell | Form::Sbatch => vec![format!("export {name}={}", shell(value))],
        Form::K8s => vec![format!("- name: {name}"), format!("  value: {}", yaml(value))],
    }
}

/// Single quotes, always: nothing in them means anything to a shell but their end.
fn shell(value: &str) -> String {
    format!("'{}'", clean(value).replace('\'', "'\\''"))
}

/// A double-quoted scalar, which is JSON; a `$(NAME)` is written so that Kubernetes leaves it alone.
fn yaml(value: &str) -> String {
    let escaped = clean(value).replace("$(", "$$(");
    serde_json::Value::String(escaped).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_leave_their_quotes() {
        assert_eq!(entry(Form::Shell, "A", "x'; rm -rf /; '"), ["export A='x'\\''; rm -rf /; '\\'''"]);
        assert_eq!(entry(Form::K8s, "A", "a\"b\n$(C)"), ["- name: A", "  value: \"a\\\"b $$(C)\""]);
        assert_eq!(entry(Form::Sbatch, "A", "=mlx5_0,mlx5_1"), ["export A='=mlx5_0,mlx5_1'"]);
    }
}
