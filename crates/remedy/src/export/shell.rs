//! A POSIX shell script for people to read, and to run as root. It checks everything before its first change, keeps what it replaces, and
//! can be run again; it makes no trial start of a kernel, proves nothing and undoes nothing: `linerate apply` does.

use super::quote::comment;
use super::{Export, NUL, Rest, TRIAL, Unfit};
use crate::act::Deed;
use crate::hash::sha256;
use crate::model::{Act, Condition, Content, Disruption, FileAct, FileState, Plan, Step, ValueAct};
use linerate_out::shell;
use std::collections::BTreeMap;

/// Functions of the script. They only use their arguments.
const FUNCTIONS: &str = include_str!("shell.sh");

/// The plan as a script.
#[must_use]
pub fn shell(plan: &Plan) -> Export {
    let mut rest = Rest::of(plan);
    let checks = checks(plan, &mut rest);
    let mut body = String::new();
    for step in &plan.steps {
        body.push_str(&heading(step));
        rest.leave_trial(step, TRIAL);
        for act in &step.change {
            match one(step, act) {
                Ok(text) => body.push_str(&text),
                Err(why) => {
                    let why = why.to_string();
                    body.push_str(&format!("# LEFT OUT: {}: {}\n", comment(&act.summary()), comment(&why)));
                    rest.leave(&step.id, act.summary(), why);
                }
            }
        }
    }
    let last = match plan.disruption() {
        Disruption::None | Disruption::Service => "",
        Disruption::DrainReboot => "echo 'Drain and reboot the node, then see what is in force: linerate audit'\n",
        Disruption::PowerCycle => {
            "echo 'Drain the node and power it off and on, then see what is in force: linerate audit'\n"
        }
    };
    let head = rest.head(plan, "Script of a plan. Read it before you run it as root.");
    let used = FUNCTIONS.split("\n\n").filter(|f| needed(f, &checks, &body)).collect::<Vec<_>>().join("\n\n");
    let kept = if used.contains("KEPT") {
        format!("KEPT=/var/lib/linerate/kept-{}\n", kept_name(plan))
    } else {
        String::new()
    };
    let text = format!(
        "#!/bin/sh\n{head}{}\n\n{kept}[ \"$(id -u)\" = 0 ] || refuse 'only root can do this'\n\n# What must hold, before anything is changed.\n{checks}{body}\n{last}",
        used.trim_end()
    );
    rest.done(text)
}

/// Functions that are called, from the script or by one that is.
fn needed(function: &str, checks: &str, body: &str) -> bool {
    let Some(name) = function.lines().find_map(|l| l.strip_suffix("() {")) else { return true };
    let piped = format!("| {name} ");
    let called =
        |text: &str, name: &str| text.lines().any(|l| l.split_whitespace().next() == Some(name) || l.contains(&piped));
    let direct = called(checks, name) || called(body, name);
    direct
        || match name {
            "refuse" => true,
            "keep" => called(body, "put_file") || body.contains("| put_file "),
            "digest" => called(checks, "need_file"),
            _ => false,
        }
}

/// The plan's own name for what is kept; a plan without a hash gets one.
fn kept_name(plan: &Plan) -> String {
    let hash: String = plan.hash.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    if hash.is_empty() { plan.digest().chars().take(12).collect() } else { hash }
}

fn heading(step: &Step) -> String {
    let mut text = format!("\n# Step {}: {}\n", comment(&step.id), comment(&step.summary));
    for why in &step.why {
        text.push_str(&format!("#   because: {}\n", comment(why)));
    }
    let risk = step.risk.words();
    let note = if step.risk_note.is_empty() { String::new() } else { format!(": {}", comment(&step.risk_note)) };
    text.push_str(&format!("#   risk {risk}{note}\n"));
    text
}

/// What must hold before the first change: each step's conditions, and what is at each path now (or already what it becomes).
fn checks(plan: &Plan, rest: &mut Rest) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for step in &plan.steps {
        for condition in &step.precondition {
            match check(condition) {
                Some(more) => lines.extend(more),
                None => rest.leave(&step.id, "a condition", NUL),
            }
        }
        for FileAct { path, before, after, .. } in step.files() {
            let states = files.entry(path).or_default();
            if states.is_empty() {
                states.push(match before {
                    FileState::Absent => "absent".into(),
                    FileState::Content(text) => sha256(text.as_bytes()),
                    FileState::Digest(digest) => digest.chars().filter(char::is_ascii_hexdigit).collect(),
                });
            }
            states.push(after.as_ref().map_or("absent".into(), |Content(text)| sha256(text.as_bytes())));
        }
    }
    for (path, states) in files {
        let words: Vec<&str> = ["need_file", path].into_iter().chain(states.iter().map(String::as_str)).collect();
        lines.extend(shell::words(&words));
    }
    let mut seen = std::collections::BTreeSet::new();
    lines.into_iter().filter(|l| seen.insert(l.clone())).map(|l| l + "\n").collect()
}

fn check(condition: &Condition) -> Option<Vec<String>> {
    Some(match condition {
        Condition::Program { name, package } => vec![shell::words(&["need_program", name, package])?],
        Condition::Exists { path } => vec![shell::words(&["need_there", path])?],
        Condition::Value { path, value } => vec![shell::words(&["need_value", path, value])?],
        Condition::Cmdline { has, lacks } => {
            let line = |function: &str, word: &String| shell::words(&[function, word]);
            let has = has.iter().map(|w| line("need_argument", w));
            has.chain(lacks.iter().map(|w| line("need_no_argument", w))).collect::<Option<_>>()?
        }
        Condition::NoLockdown => vec!["need_no_lockdown".into()],
    })
}

/// One act, or why it is not in a script.
fn one(step: &Step, act: &Act) -> Result<String, Unfit> {
    let nul = || Unfit::Nul;
    Ok(match act.shown().deed(step) {
        Deed::Write { text, .. } if text.contains('\0') => return Err(Unfit::Nul),
        Deed::Write { path, text, mode } => {
            let put = format!("put_file {} {:04o}", shell::word(path).ok_or_else(nul)?, mode & 0o7777);
            if text.ends_with('\n') {
                let end = delimiter(text);
                format!("{put} <<'{end}'\n{text}{end}\n")
            } else {
                format!("printf '%s' {} | {put}\n", shell::word(text).ok_or_else(nul)?)
            }
        }
        Deed::Remove { path } => {
            let path = shell::word(path).ok_or_else(nul)?;
            format!("keep {path}\nrm -f -- {path}\n")
        }
        Deed::Run { argv, writes } => {
            let mut text = String::new();
            for path in writes {
                text.push_str(&format!("keep {}\n", shell::word(path).ok_or_else(nul)?));
            }
            text.push_str(&format!("{}\n", shell::command(argv).ok_or_else(nul)?));
            text
        }
        Deed::Value(ValueAct { path, before, after }) => {
            format!("{}\n", shell::words(&["put_value", path, before, after]).ok_or_else(nul)?)
        }
        Deed::Set { show, set, .. } => {
            let line = |argv| shell::command(argv).ok_or_else(nul);
            format!("{}\n{}\n", line(&show)?, line(&set)?)
        }
        Deed::Left { script, .. } => return Err(Unfit::Act(script)),
    })
}

/// A line that is not in the text.
fn delimiter(text: &str) -> String {
    let mut end = "LINERATE".to_owned();
    let mut n = 0;
    while text.lines().any(|l| l == end) {
        n += 1;
        end = format!("LINERATE_{n}");
    }
    end
}
