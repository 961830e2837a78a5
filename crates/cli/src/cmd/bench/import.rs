//! `linerate bench import`.

use super::load::{self, Loaded};
use super::store;
use crate::bench_args::{BenchFormat, ImportArgs};
use crate::output::{Failure, Sink};
use crate::progress::Line;
use linerate_bench::Run;
use linerate_formats::counted;
use linerate_report::Style;
use linerate_report::bench::{Refused, runs_json, runs_text};
use linerate_snapshot::Snapshot;
use linerate_store::{Added, Imported, SnapshotRef, TextRef};

/// A run is no valid result.
const EXIT_INVALID: u8 = 1;
/// Something could not be read.
const EXIT_REFUSED: u8 = 2;
/// Nothing was read.
const EXIT_NOTHING: u8 = 3;

pub(super) fn run(a: &ImportArgs) -> Result<u8, Failure> {
    if matches!(a.answer.format, BenchFormat::Markdown | BenchFormat::Html) {
        return Err(
            Failure::new("runs are shown as text or JSON").hint("`linerate bench summary` makes a page of them")
        );
    }
    let line = Line::new(true);
    let loaded = load::files(&a.files, !a.no_store, &line)?;
    let nodes = a.node.iter().map(|path| load::snapshot(path, &line)).collect::<Result<Vec<_>, _>>()?;
    drop(line);
    let kept = if a.no_store || loaded.runs().next().is_none() { None } else { Some(keep(a, &loaded, &nodes)?) };
    let (mut sink, style) = super::open(&a.answer.out)?;
    let refused = super::refused(&loaded.refused);
    let all: Vec<Run> = loaded.texts.into_iter().flat_map(|t| t.runs).collect();
    match a.answer.format {
        BenchFormat::Json => runs_json(&all, &refused, &mut sink)?,
        _ => {
            if a.quiet {
                brief(&all, &refused, style, &mut sink)?;
            } else {
                runs_text(&all, &refused, style, &mut sink)?;
            }
            if let Some((added, path)) = &kept {
                history(added, path, style, &mut sink)?;
            }
        }
    }
    sink.finish()?;
    let code = match () {
        () if all.is_empty() => EXIT_NOTHING,
        () if all.iter().any(|r| !r.faults.is_empty()) => EXIT_INVALID,
        () if !refused.is_empty() => EXIT_REFUSED,
        () => 0,
    };
    // The program ends here. Giving the memory of many runs back piece by piece would take a tenth of its time.
    std::mem::forget(all);
    Ok(code)
}

/// How much was read, and the first of what is wrong.
fn brief(runs: &[Run], refused: &[Refused], style: Style, sink: &mut Sink) -> Result<(), Failure> {
    const FIRST: usize = 5;
    let invalid: Vec<&Run> = runs.iter().filter(|r| !r.is_valid()).collect();
    let points: usize = runs.iter().map(Run::points).sum();
    let counts = format!(
        "{} with {}; {} invalid; {} not read",
        counted(runs.len(), "run", "runs"),
        counted(points, "value", "values"),
        invalid.len(),
        counted(refused.len(), "part", "parts")
    );
    style.text(0, &counts, sink)?;
    for run in invalid.iter().take(FIRST) {
        let why = run.void().map_or("", |f| f.what.as_str());
        style.text(2, &format!("{}: {why}", run.source.name), sink)?;
    }
    for r in refused.iter().take(FIRST) {
        style.text(2, &format!("{}:{}: {}", r.name, r.line, r.why), sink)?;
    }
    Ok(())
}

/// `nodes` are the snapshots that were named.
fn keep(a: &ImportArgs, loaded: &Loaded, nodes: &[Snapshot]) -> Result<(Added, String), Failure> {
    let named = a.node.iter().zip(nodes).map(|(path, s)| {
        let digest = std::fs::read(path).map_or_else(|_| String::new(), |b| load::digest(&b));
        store::reference(s, Some(path), digest)
    });
    let found = loaded.snapshots.iter().map(|s| store::reference(s, None, String::new()));
    let snapshots: Vec<SnapshotRef> = named.chain(found).collect();
    let mut opened = store::open_to_write(a.answer.store.store.as_deref())?;
    let labels: Vec<&str> = a.label.iter().map(String::as_str).collect();
    let mut list = Vec::new();
    for text in &loaded.texts {
        for (ordinal, run) in text.runs.iter().enumerate() {
            let place = TextRef { digest: &text.digest, ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX) };
            list.push(Imported { text: Some(place), snapshots: &snapshots, labels: &labels, ..Imported::from(run) });
        }
    }
    let added = opened.store.add(&list, store::now())?;
    Ok((added, opened.path.display().to_string()))
}

fn history(added: &Added, path: &str, style: Style, sink: &mut Sink) -> Result<(), Failure> {
    let known = added.known.len();
    let again = if known > 0 { format!(", {known} already there") } else { String::new() };
    style.text(0, &format!("history: {} new{again} ({path})", added.new.len()), sink)?;
    for r in &added.read_differently {
        let what = format!(
            "run {} is kept as an earlier version read it; this version reads it as {}. To replace it: `linerate bench history --delete {}`, then import it again",
            r.stored, r.given, r.stored
        );
        style.text(2, &what, sink)?;
    }
    Ok(())
}
