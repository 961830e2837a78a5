//! `linerate policy test`.

use crate::output::{Failure, Sink, json};
use crate::policy_args::{ShortFormat, TestArgs};
use crate::sources;
use linerate_fleet::policy::{Policy, Test};
use linerate_rules::Status;
use serde_json::json as object;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Component, Path};

/// What a test shows.
struct Shown {
    test: Test,
    /// What must fail and does not, what fails and must not, what is unknown and must not be.
    missed: Vec<String>,
    surplus: Vec<String>,
    unknown: Vec<String>,
    /// Why it could not be run.
    trouble: Option<String>,
}

impl Shown {
    fn is_right(&self) -> bool {
        self.trouble.is_none() && self.missed.is_empty() && self.surplus.is_empty() && self.unknown.is_empty()
    }

    fn lines(&self) -> Vec<String> {
        let all = |what: &str, ids: &[String]| ids.iter().map(|id| format!("  {what}: {id}")).collect::<Vec<_>>();
        let trouble = self.trouble.iter().map(|t| format!("  {t}")).collect();
        [
            trouble,
            all("must fail, and does not", &self.missed),
            all("fails, and must not", &self.surplus),
            all("unknown, and must not be", &self.unknown),
        ]
        .concat()
    }
}

pub(super) fn run(a: &TestArgs) -> Result<u8, Failure> {
    let policy = super::read_with_groups(&a.policy, &a.names)?;
    let home = a.policy.parent().unwrap_or(Path::new(""));
    let all: Vec<Shown> = policy.tests.iter().map(|t| one(&policy, t, home)).collect();
    let right = all.iter().filter(|s| s.is_right()).count();
    let exit_code = match (all.len(), right) {
        (0, _) => 2,
        (n, r) if n == r => 0,
        _ => 1,
    };
    let mut sink = Sink::open(None)?;
    match a.format {
        ShortFormat::Text => {
            for s in &all {
                let word = if s.is_right() { "ok    " } else { "FAILED" };
                writeln!(sink, "{word} {}", linerate_out::terminal(&s.test.source))?;
                for line in s.lines() {
                    writeln!(sink, "{}", linerate_out::terminal(&line))?;
                }
            }
            writeln!(sink, "{right} of {} tests hold", all.len())?;
        }
        ShortFormat::Json => {
            let tests: Vec<_> = all
                .iter()
                .map(|s| {
                    object!({"source": s.test.source, "line": s.test.line, "right": s.is_right(), "missed": s.missed,
                             "surplus": s.surplus, "unknown": s.unknown, "trouble": s.trouble})
                })
                .collect();
            let version = env!("CARGO_PKG_VERSION");
            let document = object!({"schema": "linerate.policy-test/1", "linerate": version, "tests": tests, "exit_code": exit_code});
            json(&mut sink, &document)?;
        }
    }
    sink.finish()?;
    Ok(exit_code)
}

fn one(policy: &Policy, test: &Test, home: &Path) -> Shown {
    let mut out =
        Shown { test: test.clone(), missed: Vec::new(), surplus: Vec::new(), unknown: Vec::new(), trouble: None };
    let path = Path::new(&test.source);
    // A policy that somebody sends must not read what it likes.
    if !path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
        out.trouble = Some("a source is a path below the policy's directory".to_owned());
        return out;
    }
    let path = home.join(path);
    let snapshot = match sources::unredacted(&path) {
        Ok(s) => s,
        Err(e) => {
            out.trouble = Some(e.what());
            return out;
        }
    };
    let checked = super::checked(policy, &sources::label(&path), &snapshot);
    if checked.classes.is_empty() {
        out.trouble = Some("no class of the policy matches this node".to_owned());
        return out;
    }
    let with = |status| -> BTreeSet<&str> {
        checked.answers.iter().filter(|a| a.status == status).map(|a| a.kind.about().id.as_str()).collect()
    };
    let (fails, open) = (with(Status::Fail), with(Status::Unknown));
    let wanted: BTreeSet<&str> = test.fails.iter().map(String::as_str).collect();
    let texts = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
    out.missed = texts(wanted.difference(&fails).copied().collect());
    out.surplus = texts(fails.difference(&wanted).copied().collect());
    if let Some(may) = &test.unknown {
        out.unknown = texts(open.into_iter().filter(|id| !may.iter().any(|m| m == id)).collect());
    }
    out
}
