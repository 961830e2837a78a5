//! Defaults of options, as `[defaults]` of linerate.toml says them: for all commands that have the option, or in a table for one.
//!
//! ```toml
//! [defaults]
//! color = "never"
//! fanout = 128
//!
//! [defaults.audit]
//! role = "vm-host"
//! ```

use crate::output::{Failure, remark};
use clap::{Arg, ArgAction, Command};
use linerate_gather::inventory::DefaultOf;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// What `[defaults]` may set: how things look, how much is asked at a time. The way to nodes is in `[way]`. Never which nodes, nor what is done to them.
const MAY_BE_SET: [&str; 12] = [
    "collector",
    "color",
    "fanout",
    "format",
    "leave-nothing",
    "link",
    "max-input",
    "nccl",
    "node-limit",
    "redact-key",
    "role",
    "verbose",
];
/// Commands that change nodes, or whose output is read by one that does; and what may be set of them.
const CHANGING: [&str; 5] = ["plan", "apply", "verify", "rollback", "hand"];
const OF_CHANGING: [&str; 1] = ["color"];

/// The defaults of the site's file.
#[derive(Debug)]
pub(crate) struct Defaults {
    of: BTreeMap<String, DefaultOf>,
    path: PathBuf,
}

/// Those that count for this command line; `None`: there are none.
pub(crate) fn of(args: &[OsString]) -> Option<Defaults> {
    if args.get(1).is_some_and(|a| a == "hand") || args.iter().any(|a| a == "--no-config") {
        return None;
    }
    // What is wrong with the file is said by what needs it.
    let Ok(Some((path, _, config))) = crate::targets::files().site() else { return None };
    if config.defaults.is_empty() {
        return None;
    }
    if !crate::terms_args::is_ours(&path) {
        remark(&format!("{}: its [defaults] are not used, as the file belongs to another user", path.display()));
        return None;
    }
    Some(Defaults { of: config.defaults, path })
}

impl Defaults {
    /// The command line, with the options of all commands, with them.
    pub(crate) fn set(&self, mut command: Command) -> Result<Command, Failure> {
        let wrong = |key: &str, why: &str| Failure::new(format!("{}: [defaults] {key}: {why}", self.path.display()));
        for (name, value) in &self.of {
            if let DefaultOf::Command(of) = value {
                let Some(mut sub) = command.find_subcommand(name).cloned() else {
                    return Err(wrong(name, "there is no such command").hint("`linerate -h` lists them"));
                };
                for (option, value) in of {
                    let key = format!("{name}.{option}");
                    sub = one(sub, name, option, value, &|why| wrong(&key, why))?.ok_or_else(|| {
                        wrong(&key, "the command has no such option")
                            .hint(format!("`linerate {name} --help` lists them"))
                    })?;
                }
                command = command.mut_subcommand(name, |_| sub);
                continue;
            }
            let mut is_known = false;
            for sub in command.clone().get_subcommands() {
                if CHANGING.contains(&sub.get_name()) && !OF_CHANGING.contains(&name.as_str()) {
                    continue;
                }
                let of = sub.get_name().to_owned();
                if let Some(changed) = one(sub.clone(), &of, name, value, &|why| wrong(name, why))? {
                    is_known = true;
                    command = command.mut_subcommand(&of, |_| changed);
                }
            }
            if !is_known {
                return Err(wrong(name, "no command has such an option").hint(may(&MAY_BE_SET)));
            }
        }
        Ok(command)
    }
}

fn may(be_set: &[&str]) -> String {
    format!("options that may be set: {}", be_set.join(", "))
}

/// A command, and those below it, with this default; `None`: none has the option.
fn one(
    command: Command,
    verb: &str,
    option: &str,
    value: &DefaultOf,
    wrong: &dyn Fn(&str) -> Failure,
) -> Result<Option<Command>, Failure> {
    let allowed: &[&str] = if CHANGING.contains(&verb) { &OF_CHANGING } else { &MAY_BE_SET };
    if !allowed.contains(&option) {
        let of = if allowed.len() < MAY_BE_SET.len() { "for a command that changes nodes, " } else { "" };
        return Err(wrong("a file may not set it").hint(format!("{of}{}", may(allowed))));
    }
    let (mut command, mut is_there) = (command, false);
    let found = command.get_arguments().find(|a| a.get_long() == Some(option)).cloned();
    if let Some(arg) = found {
        let values = texts(&arg, value).ok_or_else(|| wrong("the option does not take a value of this kind"))?;
        tried(&arg, option, &values).map_err(|e| wrong(&in_a_line(&e)))?;
        command = command.mut_arg(arg.get_id(), |a| a.default_values(values));
        is_there = true;
    }
    for sub in command.clone().get_subcommands() {
        let name = sub.get_name().to_owned();
        if let Some(changed) = one(sub.clone(), verb, option, value, wrong)? {
            command = command.mut_subcommand(name, |_| changed);
            is_there = true;
        }
    }
    Ok(is_there.then_some(command))
}

/// The value as it would be typed.
fn texts(arg: &Arg, value: &DefaultOf) -> Option<Vec<String>> {
    let is_switch = !arg.get_action().takes_values();
    match value {
        DefaultOf::Switch(on) => is_switch.then(|| vec![on.to_string()]),
        _ if is_switch => None,
        DefaultOf::Number(n) => Some(vec![n.to_string()]),
        DefaultOf::Text(text) => Some(vec![text.clone()]),
        DefaultOf::List(list) => matches!(arg.get_action(), ArgAction::Append).then(|| list.clone()),
        DefaultOf::Command(_) => None,
    }
}

/// Whether the option takes these values.
fn tried(arg: &Arg, option: &str, values: &[String]) -> Result<(), clap::Error> {
    if !arg.get_action().takes_values() {
        return Ok(());
    }
    let alone = Arg::new("value")
        .long(option.to_owned())
        .action(arg.get_action().clone())
        .value_parser(arg.get_value_parser().clone())
        .allow_hyphen_values(true);
    let typed = values.iter().map(|v| format!("--{option}={v}"));
    let typed = std::iter::once("linerate".to_owned()).chain(typed);
    Command::new("linerate").arg(alone).try_get_matches_from(typed).map(|_| ())
}

/// The first line of what clap says.
fn in_a_line(e: &clap::Error) -> String {
    e.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}
