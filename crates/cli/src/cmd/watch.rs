//! `linerate watch`.

use crate::live;
use crate::output::{Failure, remark};
use crate::progress::Line;
use crate::scratch::Scratch;
use crate::watch_args::{CountersArgs, WatchArgs, WatchCommand, WatchFormat};
use linerate_gather::Target;
use linerate_gather::fan::{self, Options, Outcome};
use linerate_node::counters::{Grown, Growth, Sample, Watch};
use linerate_report::watch::{Format, Node, Report};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::{Options as Capture, Purpose, capture};
use linerate_transport::Cancel;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a wait looks for an interruption.
const TICK: Duration = Duration::from_millis(50);

pub(crate) fn run(a: &WatchArgs) -> Result<u8, Failure> {
    let WatchCommand::Counters(a) = &a.command;
    let nodes = match (&a.on.read.on, a.sources.as_slice()) {
        (Some(set), _) => many(set, a)?,
        (None, []) => {
            live::no_inventory(&a.on.read)?;
            vec![here(a)?]
        }
        (None, sources) => vec![dumps(sources, a.apart)?],
    };
    let report = Report::of(nodes);
    let mut sink = a.out.sink()?;
    let format = match a.format {
        WatchFormat::Text => Format::Text(a.out.style(&sink)),
        WatchFormat::Json => Format::Json,
    };
    report.write(format, &mut sink)?;
    sink.finish()?;
    // A signal left readings out: a script must not take the part for the whole.
    Ok(crate::interrupt::code().unwrap_or(report.exit_code))
}

/// Waits for the next reading. Whether to go on.
fn wait(until: Instant, cancel: &Cancel) -> bool {
    while !cancel.is_cancelled() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(TICK));
    }
    false
}

/// Takes readings at their times until there are all, or somebody ends it.
fn readings(a: &CountersArgs, mut take: impl FnMut(&Cancel) -> Result<(), Failure>) -> Result<(), Failure> {
    let cancel = crate::interrupt::cancel();
    let line = Line::new(true);
    let (all, started) = (a.count as usize + 1, Instant::now());
    for n in 0..all {
        // From the beginning on, so that the time that readings take adds up to nothing.
        let due = started.checked_add(a.interval.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX)));
        if due.is_some_and(|due| !wait(due, &cancel)) {
            break;
        }
        take(&cancel)?;
        line.count(n + 1, all, "readings");
    }
    drop(line);
    if cancel.is_cancelled() {
        remark("interrupted: this is what was read so far");
    }
    crate::interrupt::done();
    Ok(())
}

/// This machine.
fn here(a: &CountersArgs) -> Result<Node, Failure> {
    let mut watch = Watch::new(None);
    let mut last = None;
    readings(a, |_| {
        let options = Capture { redact: false, ..crate::budget::options(Path::new("/"), Purpose::Counters) };
        let snapshot = capture(&options, &|_| {})?;
        watch.push(Sample::of(&snapshot));
        last = Some(snapshot);
        Ok(())
    })?;
    let name = last.as_ref().map(|s| s.label.clone()).unwrap_or_default();
    Ok(node(&name, watch.growth(), last.as_ref()))
}

fn node(name: &str, growth: Growth, last: Option<&Snapshot>) -> Node {
    let at = |g: &Grown| last.zip(g.place).map(|(s, place)| s.describe(place)).unwrap_or_default();
    Node::of(name, &growth, &at)
}

/// Sources of one node, in the order of their time.
fn dumps(sources: &[PathBuf], apart: Option<Duration>) -> Result<Node, Failure> {
    if let [one] = sources {
        let what = format!("{} is one reading, but growth is measured between two", one.display());
        return Err(Failure::new(what).hint("name an earlier one before it; without a source this machine is watched"));
    }
    let mut watch = Watch::new(apart.map(|d| d.as_secs_f64()));
    let mut last: Option<Snapshot> = None;
    for path in sources {
        let snapshot = crate::sources::unredacted(path)?;
        if let Some(before) = &last {
            crate::readings::follow(before, &snapshot)?;
        }
        watch.push(Sample::of(&snapshot));
        last = Some(snapshot);
    }
    let name = last.as_ref().map(|s| s.label.clone()).unwrap_or_default();
    Ok(node(&name, watch.growth(), last.as_ref()))
}

/// A node that is read again and again.
#[derive(Default)]
struct Followed {
    watch: Option<Watch>,
    last: Option<Snapshot>,
    /// Why the last reading failed.
    why: Option<String>,
}

/// Nodes of a set, over ssh.
fn many(set: &str, a: &CountersArgs) -> Result<Vec<Node>, Failure> {
    let read = &a.on.read;
    let (targets, lists) = live::named(set, read, &a.on.ssh)?;
    let mut nodes: BTreeMap<String, Followed> = BTreeMap::new();
    readings(a, |cancel| {
        let scratch = Scratch::make()?;
        let options =
            Options { purpose: Purpose::Counters, ..live::options(scratch.path(), read, false, lists.clone())? };
        round(&targets, &options, cancel, &mut nodes)
    })?;
    let found = nodes.into_iter().map(|(name, f)| match (f.watch, f.why) {
        (Some(watch), _) => node(&name, watch.growth(), f.last.as_ref()),
        (None, why) => Node::unread(name, why.unwrap_or_default()),
    });
    Ok(found.collect())
}

/// One reading of all nodes.
fn round(
    targets: &[Target],
    options: &Options,
    cancel: &Cancel,
    nodes: &mut BTreeMap<String, Followed>,
) -> Result<(), Failure> {
    let summary = fan::collect(targets, options, cancel, &mut |_| {})?;
    for n in &summary.nodes {
        let followed = nodes.entry(n.name.clone()).or_default();
        match &n.outcome {
            Outcome::Collected { file, .. } | Outcome::Fresh { file } => {
                let member = crate::sources::Member { label: n.name.clone(), path: file.clone() };
                let snapshot = live::load(&member)?;
                followed.watch.get_or_insert_with(|| Watch::new(None)).push(Sample::of(&snapshot));
                followed.last = Some(snapshot);
            }
            Outcome::Failed { cause, why } => followed.why = Some(format!("{}: {why}", cause.words())),
        }
    }
    Ok(())
}
