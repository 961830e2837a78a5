//! A page of Markdown for each verb: all of its options, examples and exit codes.

use crate::args::Cli;
use crate::output::Failure;
use clap::{Arg, Command, CommandFactory};
use linerate_out::file::{self, Access};
use std::fmt::Write;
use std::path::Path;

/// Writes a page for each verb into a directory.
pub(crate) fn write(dir: &Path) -> Result<u8, Failure> {
    std::fs::create_dir_all(dir).map_err(|e| Failure::writing(dir, &e))?;
    let mut all = <Cli>::command().disable_help_subcommand(true);
    all.build();
    let mut index = String::from("# Verbs\n\nWritten from the command line's own texts: `cargo xtask docs`.\n\n");
    for verb in visible(&all) {
        let name = verb.get_name();
        let _ = writeln!(index, "- [{name}]({name}.md): {}", sentence(&about(verb)));
        let mut page = format!("# linerate {name}\n\n");
        described(&mut page, verb, "#");
        put(&dir.join(format!("{name}.md")), &page)?;
    }
    put(&dir.join("README.md"), &index)?;
    Ok(0)
}

fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let text = format!("{}\n", text.trim_end());
    file::write(path, Access::Umask, text.as_bytes()).map_err(|e| Failure::writing(path, &e))
}

/// The commands below one, without those that are hidden.
pub(super) fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|c| !c.is_hide_set())
}

fn about(command: &Command) -> String {
    command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default()
}

/// With the full stop that clap takes away.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', ':', '!']) { text.to_owned() } else { format!("{text}.") }
}

/// What a command is, its options by their headings, its examples, and the commands below it.
fn described(page: &mut String, command: &Command, level: &str) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage:").unwrap_or(&usage).trim().to_owned();
    let _ = write!(page, "{}\n\n```\n{usage}\n```\n", sentence(&about(command)));
    let mut headings: Vec<&str> = Vec::new();
    let args = || command.get_arguments().filter(|a| !a.is_hide_set() && a.get_id() != "help");
    for arg in args() {
        let heading = heading(arg);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for of in headings {
        let _ = write!(page, "\n{level}# {of}\n\n");
        args().filter(|a| heading(a) == of).for_each(|a| item(page, a));
    }
    let after = command.get_after_long_help().or_else(|| command.get_after_help());
    if let Some(after) = after {
        let _ = write!(page, "\n{level}# Examples and exit codes\n\n```text\n{}\n```\n", after.to_string().trim_end());
    }
    for below in visible(command) {
        let _ = write!(page, "\n{level}# {} {}\n\n", command.get_name(), below.get_name());
        described(page, below, &format!("{level}#"));
    }
}

fn heading(arg: &Arg) -> &str {
    let own = if arg.is_positional() { "Arguments" } else { "Options" };
    arg.get_help_heading().unwrap_or(own)
}

fn item(page: &mut String, arg: &Arg) {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = sentence(&help.replace("\n\n", " "));
    let short = arg.get_short().map(|c| format!("-{c}, ")).unwrap_or_default();
    let _ = write!(page, "- `{short}{arg}`: {help}");
    let names: Vec<String> =
        arg.get_possible_values().iter().filter(|v| !v.is_hide_set()).map(|v| format!("`{}`", v.get_name())).collect();
    if arg.get_action().takes_values() && !names.is_empty() && !arg.is_hide_possible_values_set() {
        let _ = write!(page, " One of {}.", names.join(", "));
    }
    let defaults: Vec<String> = arg.get_default_values().iter().map(|v| format!("`{}`", v.to_string_lossy())).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        let _ = write!(page, " Without it: {}.", defaults.join(", "));
    }
    page.push('\n');
}
