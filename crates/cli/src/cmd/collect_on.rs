//! `linerate collect --on`: many nodes into a directory.

use crate::collect_args::{CollectArgs, SummaryFormat};
use crate::live;
use crate::output::{Failure, Sink, json, remark};
use crate::progress::Line;
use linerate_gather::fan::{self, Options, Outcome, Summary};
use linerate_out::terminal;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// Some nodes were not collected, or the index was not written.
const EXIT_SOME: u8 = 2;

pub(super) fn run(set: &str, a: &CollectArgs) -> Result<u8, Failure> {
    let directory = a.output.as_deref().unwrap_or(Path::new("fleet"));
    if directory == Path::new("-") || (directory.exists() && !directory.is_dir()) {
        return Err(Failure::new(format!("{} is not a directory", directory.display()))
            .hint("many nodes go into a directory: -o fleet/"));
    }
    let read = &a.fan.on.read;
    let (targets, lists) = live::named(set, read, &a.fan.on.ssh)?;
    let options = Options {
        key: super::collect::key(a)?,
        fresh: a.fan.resume.then_some(a.fan.stale),
        ..live::options(directory, read, !a.no_redact, lists)?
    };
    let cancel = crate::interrupt::cancel();
    let line = Line::new(!a.quiet);
    let summary = fan::collect(&targets, &options, &cancel, &mut |p| line.nodes(p))?;
    drop(line);
    if let Some(key) = &options.key {
        key.save().map_err(|e| Failure::new(e.to_string()))?;
    }
    // After an interruption as well: what is there is there. A further signal ends this command, and leaves the index as it was.
    crate::interrupt::done();
    let some = summary.nodes.iter().any(|n| !matches!(n.outcome, Outcome::Failed { .. }));
    let indexed = a.fan.no_index || !some || super::index::append(directory, a.quiet);
    let failed = summary.nodes.iter().any(|n| matches!(n.outcome, Outcome::Failed { .. }));
    let code = if failed || summary.interrupted || !indexed { EXIT_SOME } else { 0 };
    let mut sink = Sink::open(None)?;
    match a.fan.format {
        SummaryFormat::Json => {
            let said = fan::json(&summary, &directory.display().to_string(), env!("CARGO_PKG_VERSION"), code);
            json(&mut sink, &said)?;
        }
        SummaryFormat::Text => text(&summary, directory, &mut sink)?,
    }
    sink.finish()?;
    if !summary.twice.is_empty() {
        remark(&format!("named more than once, collected once: {}", names(&summary.twice)));
    }
    if summary.interrupted {
        remark("interrupted: nothing was left running; --resume takes what is missing");
    }
    Ok(code)
}

/// Names of nodes, for people.
fn names<S: AsRef<str>>(all: &[S]) -> String {
    terminal(&linerate_fleet::names::folded(all.iter().map(AsRef::as_ref))).into_owned()
}

fn text(summary: &Summary, directory: &Path, to: &mut impl Write) -> io::Result<()> {
    let count = |f: fn(&Outcome) -> bool| summary.nodes.iter().filter(|n| f(&n.outcome)).count();
    let collected = count(|o| matches!(o, Outcome::Collected { .. }));
    let fresh = count(|o| matches!(o, Outcome::Fresh { .. }));
    let (all, dir) = (summary.nodes.len(), directory.display().to_string());
    write!(to, "{}: {collected} of {all} nodes collected in {:.1} s", terminal(&dir), summary.seconds)?;
    if fresh > 0 {
        write!(to, ", {fresh} were new enough")?;
    }
    let failed = summary.failed();
    match failed.values().map(Vec::len).sum::<usize>() {
        0 => writeln!(to)?,
        n => writeln!(to, ", {n} failed")?,
    }
    for (cause, nodes) in &failed {
        let of: Vec<&str> = nodes.iter().map(|n| n.name.as_str()).collect();
        writeln!(to, "  {} ({}): {}", cause.words(), nodes.len(), names(&of))?;
        // What was said most often stands for the others.
        let mut said: BTreeMap<&str, usize> = BTreeMap::new();
        for node in nodes {
            if let Outcome::Failed { why, .. } = &node.outcome {
                *said.entry(why).or_default() += 1;
            }
        }
        if let Some((why, _)) = said.iter().max_by_key(|(_, n)| **n) {
            writeln!(to, "    said: {}", terminal(why))?;
        }
        writeln!(to, "    what to do: {}", cause.hint())?;
    }
    for (note, of) in &summary.notes() {
        writeln!(to, "  note: {} ({}): {}", terminal(note), of.len(), names(of))?;
    }
    let user = summary.without_root();
    if !user.is_empty() {
        writeln!(
            to,
            "  not collected as root, so that configuration space, kernel log and firmware settings are missing ({}): {}",
            user.len(),
            names(&user)
        )?;
    }
    Ok(())
}
