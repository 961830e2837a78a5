//! A playbook of Ansible: the acts in order, with modules of `ansible.builtin` only. `--check --diff` shows the files that it would write; it
//! skips programs.

use super::quote::comment;
use super::yaml::Y;
use super::{Export, Rest, TRIAL, Unfit};
use crate::act::Deed;
use crate::model::{Act, Condition, Disruption, Plan, Step, ValueAct};

/// Writes a value that is not there already, and says whether it did. The words come as arguments: nothing of them is read as a script.
const VALUE: &str = "case \"$(cat -- \"$1\")\" in \"$2\"|*\"[$2]\"*) echo same ;; *) printf '%s\\n' \"$2\" >\"$1\" && echo written ;; esac";

/// Whether a program is found.
const FOUND: &str = "command -v \"$1\"";

/// Whether the kernel lets configuration space be written.
const LOCKDOWN: &str = "f=/sys/kernel/security/lockdown; [ ! -e \"$f\" ] || grep -qF '[none]' \"$f\"";

/// The plan as a playbook.
#[must_use]
pub fn ansible(plan: &Plan) -> Export {
    let mut rest = Rest::of(plan);
    let mut tasks = Vec::new();
    for step in &plan.steps {
        for condition in &step.precondition {
            match look(&step.id, condition) {
                Ok(task) => tasks.push(task),
                Err((what, why)) => rest.leave(&step.id, what, why),
            }
        }
    }
    for step in &plan.steps {
        rest.leave_trial(step, TRIAL);
        for act in &step.change {
            match task(step, act) {
                Ok(task) => tasks.push(task),
                Err(why) => rest.leave(&step.id, act.summary(), why.to_string()),
            }
        }
    }
    if plan.disruption() >= Disruption::DrainReboot {
        rest.leave(
            "reboot",
            "the reboot",
            "drain the node and reboot it when the playbook has run; ansible.builtin.reboot can",
        );
    }
    let host = plan.node.host.as_deref().filter(|h| host_name(h)).unwrap_or("the-node-of-this-plan");
    let play = Y::map([
        ("name", Y::str("linerate plan")),
        ("hosts", Y::str(host)),
        ("become", Y::Bool(true)),
        ("gather_facts", Y::Bool(false)),
        ("tasks", Y::List(tasks)),
    ]);
    let head = rest.head(
        plan,
        "Playbook of Ansible. --check --diff shows the files that it would write; it skips programs and values.",
    );
    rest.done(format!("{head}---\n{}", Y::List(vec![play]).document()))
}

/// Looks at a condition before anything is changed. What holds only until the change is made is left out: a playbook runs again and again.
fn look(step: &str, condition: &Condition) -> Result<Y, (String, &'static str)> {
    const WORD: &str = "one of its words has a special meaning in Ansible: check it yourself";
    const ONCE: &str =
        "a playbook also runs on nodes that it has changed already: check this yourself before the first run";
    let asks = |what: String, argv: &[&str]| match as_it_is(argv) {
        Ok(()) => Ok(Y::Map(command(&format!("{step}: {what}"), argv, false))),
        Err(_) => Err((format!("the check whether {what}"), WORD)),
    };
    match condition {
        Condition::Program { name, .. } => asks(format!("{name} is installed"), &["sh", "-c", FOUND, "sh", name]),
        Condition::Exists { path } => asks(format!("{path} is there"), &["test", "-e", path]),
        Condition::NoLockdown => {
            let task = command(&format!("{step}: the kernel is not locked down"), &["sh", "-c", LOCKDOWN], false);
            Ok(Y::Map(task))
        }
        Condition::Value { path, value } => Err((format!("the check whether {path} reads {value}"), ONCE)),
        Condition::Cmdline { has, lacks } => {
            let list = |say: &str, words: &[String]| {
                (!words.is_empty()).then(|| format!("{say} {}", words.join(" "))).into_iter().collect::<String>()
            };
            let all = [list("has", has), list("has not", lacks)].into_iter().filter(|l| !l.is_empty());
            let what = all.collect::<Vec<_>>().join(" and ");
            Err((format!("the check whether the running kernel's line {what}"), ONCE))
        }
    }
}

fn command<S: AsRef<str>>(name: &str, argv: &[S], changes: bool) -> Vec<(String, Y)> {
    let mut task = vec![
        ("name".to_owned(), Y::str(plain(name))),
        ("ansible.builtin.command".into(), Y::map([("argv", Y::strings(argv))])),
    ];
    if !changes {
        task.push(("changed_when".into(), Y::Bool(false)));
    }
    task
}

fn task(step: &Step, act: &Act) -> Result<Y, Unfit> {
    let name = format!("{}: {}", step.id, act.summary());
    let copied = |entries: Vec<(String, Y)>, module: &str| {
        Y::Map(vec![("name".to_owned(), Y::str(plain(&name))), (format!("ansible.builtin.{module}"), Y::Map(entries))])
    };
    let entry = |key: &str, value: Y| (key.to_owned(), value);
    Ok(match act.shown().deed(step) {
        Deed::Write { path, text, mode } => {
            as_it_is(&[path])?;
            if template(text) {
                return Err(Unfit::Template);
            }
            let entries = vec![
                entry("dest", Y::str(path)),
                entry("content", Y::str(text)),
                entry("mode", Y::str(format!("{:04o}", mode & 0o7777))),
                entry("backup", Y::Bool(true)),
            ];
            copied(entries, "copy")
        }
        Deed::Remove { path } => {
            as_it_is(&[path])?;
            copied(vec![entry("path", Y::str(path)), entry("state", Y::str("absent"))], "file")
        }
        Deed::Run { argv, .. } => {
            as_it_is(argv)?;
            Y::Map(command(&name, argv, true))
        }
        Deed::Value(ValueAct { path, after, .. }) => {
            as_it_is(&[path, after])?;
            let mut task = command(&name, &["sh", "-c", VALUE, "sh", path, after], true);
            task.push(entry("register", Y::str("linerate_value")));
            task.push(entry("changed_when", Y::str("linerate_value.stdout == 'written'")));
            Y::Map(task)
        }
        Deed::Set { set, .. } => {
            as_it_is(&set)?;
            Y::Map(command(&name, &set, true))
        }
        Deed::Left { playbook, .. } => return Err(Unfit::Act(playbook.into())),
    })
}

/// A task's name is a template, too.
fn plain(name: &str) -> String {
    comment(name).replace(['{', '}'], " ")
}

/// Whether Ansible takes words of a program, or a path, as they are.
fn as_it_is<S: AsRef<str>>(words: &[S]) -> Result<(), Unfit> {
    if words.iter().any(|w| template(w.as_ref())) {
        return Err(Unfit::Template);
    }
    if words.iter().any(|w| expanded(w.as_ref())) {
        return Err(Unfit::Expanded);
    }
    Ok(())
}

/// Words of programs and paths go through Python's `expanduser` and `expandvars`. `expand_argument_vars: false` would prevent it since
/// ansible-core 2.16; 2.14, which Debian 12 and RHEL 9 have, refuses that word.
/// <https://docs.ansible.com/ansible/latest/collections/ansible/builtin/command_module.html#parameter-expand_argument_vars>
fn expanded(word: &str) -> bool {
    let variable = |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '{'));
    word.starts_with('~') || word.split('$').skip(1).any(variable)
}

fn template(text: &str) -> bool {
    ["{{", "{%", "{#", "}}", "%}", "#}"].iter().any(|t| text.contains(t))
}

/// A name that no pattern of Ansible's inventory is.
fn host_name(host: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    (1..=253).contains(&host.len()) && host.bytes().all(letter) && !host.starts_with(['-', '.']) && host != "all"
}
