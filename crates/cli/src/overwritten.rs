//! A command does not write over a file that it reads: a snapshot would be replaced by its report.

use crate::output::Failure;
use clap::{ArgMatches, Command, ValueHint};
use linerate_out::file::directory;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Options that name a file to write.
const WRITTEN: [&str; 3] = ["output", "export", "nccl"];

/// Refuses a command that would write over a file that another of its arguments names, or over a snapshot in a directory that one names.
pub(crate) fn refuse(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let mut at = (command, matches);
    while let Some((name, below)) = at.1.subcommand() {
        let Some(command) = at.0.find_subcommand(name) else { return Ok(()) };
        at = (command, below);
    }
    let (command, matches) = at;
    let values = |id: &str| -> Vec<&OsStr> {
        let values = matches.try_get_raw(id).ok().flatten();
        values.into_iter().flatten().filter(|v| *v != "-").collect()
    };
    let paths: Vec<&str> = command
        .get_arguments()
        .filter(|a| a.get_value_hint() == ValueHint::AnyPath)
        .map(|a| a.get_id().as_str())
        .collect();
    for written in paths.iter().filter(|id| WRITTEN.contains(id)) {
        for output in values(written).into_iter().map(Path::new) {
            // A link is replaced, not followed; pipes and devices lose nothing.
            let Some(there) = output.symlink_metadata().ok().filter(|m| m.is_file() || m.is_symlink()) else {
                continue;
            };
            let others = paths.iter().filter(|id| *id != written).flat_map(|id| values(id));
            if let Some(input) = others.map(Path::new).find(|i| names(i, output, &there)) {
                return Err(lost(output, input));
            }
        }
    }
    Ok(())
}

/// Whether reading `input` reads what is written over.
fn names(input: &Path, output: &Path, there: &Metadata) -> bool {
    let is_same = |m: std::io::Result<Metadata>| m.is_ok_and(|m| (m.dev(), m.ino()) == (there.dev(), there.ino()));
    is_same(input.symlink_metadata()) || is_same(input.metadata()) || is_snapshot_in(input, output)
}

/// Whether it is an archive below a directory of snapshots. Archives in the tree of a node are not read.
fn is_snapshot_in(dir: &Path, file: &Path) -> bool {
    let is_archive = file.file_name().is_some_and(|n| linerate_snapshot::is_archive_name(&n.to_string_lossy()));
    let below = || Some(directory(file)?.canonicalize().ok()?.starts_with(dir.canonicalize().ok()?));
    is_archive && dir.is_dir() && !linerate_snapshot::is_snapshot_dir(dir) && below().unwrap_or(false)
}

fn lost(output: &Path, input: &Path) -> Failure {
    let named = if input == output { String::new() } else { format!(" (named by {})", input.display()) };
    Failure::new(format!("{} is not written: this command reads it{named}", output.display()))
        .hint("write to another name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn of(command: &Command, all: &mut Vec<(String, String)>) {
        // Into a directory go files of their own names.
        let is_dir = |a: &clap::Arg| a.get_value_names().is_some_and(|n| n.iter().any(|n| n == "DIR"));
        for arg in command.get_arguments().filter(|a| a.get_value_hint() == ValueHint::AnyPath && !is_dir(a)) {
            all.push((arg.get_id().to_string(), arg.get_help().map(ToString::to_string).unwrap_or_default()));
        }
        command.get_subcommands().for_each(|c| of(c, all));
    }

    #[test]
    fn options_that_write_a_file_are_known() {
        let mut all = Vec::new();
        let mut command = <crate::args::Cli>::command();
        command.build();
        of(&command, &mut all);
        for id in WRITTEN {
            assert!(all.iter().any(|(a, _)| a == id), "{id}");
        }
        let writes = |help: &str| ["Write ", "Where to write", "Export "].iter().any(|w| help.starts_with(w));
        for (id, help) in all.iter().filter(|(_, help)| writes(help)) {
            assert!(WRITTEN.contains(&id.as_str()), "{id}: {help}");
        }
    }
}
