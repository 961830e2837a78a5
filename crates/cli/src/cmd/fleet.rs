//! `linerate audit` over many snapshots: a line for each, then what fails where. Memory does not grow with their number.

use crate::args::{AuditArgs, Format};
use crate::output::{Failure, Sink, width};
use crate::progress::Line;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_report::Style;
use linerate_report::fleet::{self, Fleet};
use linerate_rules::{Rule, Survey};
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{OpenError, Reader, Snapshot};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

/// Label and answers of a node, or why there are none.
type Answer = (String, Result<Survey, OpenError>);

/// Snapshots that a thread takes at a time: waking another thread for each one costs as much as a rule.
const BATCH: usize = 16;
/// Batches that wait for an earlier one before they are printed, for each thread.
const AHEAD: usize = 4;

pub(crate) fn run(a: &AuditArgs, rules: &[&'static Rule], paths: &[PathBuf]) -> Result<u8, Failure> {
    if a.schema.is_some() {
        return Err(Failure::new("the lines of many snapshots hold no facts, and have one version")
            .hint("leave out --schema, or name one snapshot"));
    }
    let mut sink = Sink::open(a.output.as_deref())?;
    let format = match a.format {
        Format::Text => fleet::Format::Text(Style { colour: sink.colour(a.color), width: width(), verbose: a.verbose }),
        Format::Json => fleet::Format::JsonLines,
        _ => {
            return Err(Failure::new("many snapshots give text or JSON lines only")
                .hint("use --format text or json, or name one snapshot"));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let role = a.role.map(Role::from);
    let next = AtomicUsize::new(0);
    let mut summary = Fleet::new(format);
    let progress = Line::new(a.output.is_some());
    // A small fleet is shared out more finely.
    let batches: Vec<&[PathBuf]> = paths.chunks((paths.len() / threads / 4).clamp(1, BATCH)).collect();
    std::thread::scope(|scope| -> Result<(), Failure> {
        let (to, from) = sync_channel::<(usize, Vec<Answer>)>(threads * AHEAD);
        for _ in 0..threads {
            let (to, next, batches) = (to.clone(), &next, &batches);
            scope.spawn(move || work(batches, rules, role, next, &to));
        }
        drop(to);
        // Printed in the order of the names, whichever thread is faster.
        let (mut waiting, mut at, mut done) = (BTreeMap::new(), 0, 0);
        for (i, answers) in from {
            waiting.insert(i, answers);
            while let Some(answers) = waiting.remove(&at) {
                at += 1;
                for (label, answer) in &answers {
                    match answer {
                        Ok(survey) => summary.node(label, survey, &mut sink)?,
                        Err(e) => summary.unreadable(label, &e.to_string(), &mut sink)?,
                    }
                }
                done += answers.len();
                progress.count(done, paths.len(), "snapshots");
            }
        }
        Ok(())
    })?;
    drop(progress);
    summary.finish(&mut sink)?;
    sink.finish()?;
    Ok(summary.exit_code())
}

/// One thread: reads, decodes and judges one snapshot after the other, with buffers that it keeps.
fn work(
    batches: &[&[PathBuf]],
    rules: &[&'static Rule],
    role: Option<Role>,
    next: &AtomicUsize,
    to: &SyncSender<(usize, Vec<Answer>)>,
) {
    let mut reader = Reader::within(&crate::budget::budget());
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        let Some(batch) = batches.get(i) else { return };
        let answers = batch.iter().map(|path| answer(&mut reader, path, rules, role)).collect();
        // The receiver is gone when the output failed: nothing is left to do.
        if to.send((i, answers)).is_err() {
            return;
        }
    }
}

fn answer(reader: &mut Reader, path: &Path, rules: &[&'static Rule], role: Option<Role>) -> Answer {
    let label = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let survey = read(reader, path).map(|snapshot| {
        let survey = linerate_rules::survey(&Node::decode_as(&snapshot, role), &snapshot, rules);
        reader.recycle(snapshot);
        survey
    });
    (label, survey)
}

fn read(reader: &mut Reader, path: &Path) -> Result<Snapshot, OpenError> {
    if path.is_file() {
        match reader.read(path) {
            Ok(s) => return Ok(s),
            Err(e @ OpenError::TooLarge { .. }) => return Err(e),
            Err(_) => {}
        }
    }
    linerate_snapshot::load(path, &crate::budget::options(path, Purpose::Audit), &|_| {})
}
