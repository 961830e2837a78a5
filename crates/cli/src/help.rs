//! Help in two lengths: `-h` on one screen, `--help` on two. Both have an option a line, or a few; man pages have all of it.

use clap::builder::Resettable;
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;

/// Options that begin a group, such as live nodes: `-h` shows them among those of the command, and leaves out the rest of the group.
const BEGINNINGS: [&str; 5] = ["on", "ignore", "fail_on", "redfish", "label"];

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// What each option is for.
    Short,
    /// What there is to know about the command's own options, and examples.
    Long,
}

impl Length {
    /// That of what is asked for.
    pub(crate) fn of(args: &[OsString]) -> Self {
        let asked = args.iter().take_while(|a| *a != "--").any(|a| a == "--help");
        if asked { Length::Long } else { Length::Short }
    }
}

/// `linerate help plan` is `linerate plan --help`.
pub(crate) fn usual(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.get(1).is_some_and(|a| a == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    args
}

/// The command with texts of this length.
pub(crate) fn laid_out(command: Command, length: Length) -> Command {
    laid_out_below(command, length, "")
}

fn laid_out_below(command: Command, length: Length, above: &str) -> Command {
    let name = format!("{above}{}", command.get_name());
    let flag = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort);
    let said = if length == Length::Short { "Print help; --help prints more" } else { "Print help; -h prints less" };
    let more = more(&command, &name);
    let command = command
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(flag.help(said).display_order(usize::MAX - 1))
        .mut_args(|arg| fitted(arg, length))
        .mut_subcommands(|sub| laid_out_below(sub, length, &format!("{name} ")));
    match (length, command.get_after_help().map(ToString::to_string)) {
        (Length::Short, _) => command.after_help(more).long_about(Resettable::Reset),
        (Length::Long, Some(after)) => command.after_help(narrow(&after)),
        (Length::Long, None) => command,
    }
}

/// Columns of a terminal.
const WIDTH: usize = 80;

/// Examples, each with what is said of it beside it where that fits, and below it where not.
fn narrow(after: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    for line in after.lines() {
        let text = line.trim_start();
        match (line.len() - text.len(), text.split_once("  ")) {
            (2, Some((example, said))) if line.chars().count() > WIDTH => {
                out.extend([format!("  {example}"), format!("      {}", said.trim_start())]);
            }
            // What is said of the line before.
            (10.., _) => out.push(format!("      {text}")),
            _ => out.push(line.to_owned()),
        }
    }
    out.join("\n")
}

/// Where the rest is.
fn more(command: &Command, name: &str) -> String {
    let mut groups: Vec<&str> = command.get_arguments().filter_map(Arg::get_help_heading).collect();
    groups.dedup();
    let groups: String =
        groups.iter().map(|g| format!(", {}", uncapitalised(g.split(',').next().unwrap_or(g)))).collect();
    format!("{name} --help: examples, exit codes{groups}")
}

fn uncapitalised(heading: &str) -> String {
    let (first, second) = (heading.chars().next(), heading.chars().nth(1));
    match (first, second) {
        (Some(a), Some(b)) if b.is_lowercase() => a.to_lowercase().chain(heading.chars().skip(1)).collect(),
        _ => heading.to_owned(),
    }
}

fn fitted(arg: Arg, length: Length) -> Arg {
    let whole = arg.get_long_help().map(|h| h.to_string().replace("\n\n", " "));
    let begins = BEGINNINGS.contains(&arg.get_id().as_str());
    let is_grouped = arg.get_help_heading().is_some();
    let arg = arg.long_help(Resettable::Reset);
    match (length, whole) {
        (Length::Short, _) if begins => arg.help_heading(Resettable::Reset).hide_possible_values(true),
        (Length::Short, _) if is_grouped => arg.hide(true),
        (Length::Short, _) => {
            let shown: usize = arg.get_possible_values().iter().map(|v| v.get_name().len() + 2).sum();
            // `--color` is the same everywhere.
            let is_known = shown > 40 || arg.get_id() == "color";
            arg.hide_possible_values(is_known)
        }
        (Length::Long, Some(whole)) if !is_grouped => arg.help(whole),
        // Of what begins a group, `-h` has said it already.
        (Length::Long, _) => arg,
    }
}
