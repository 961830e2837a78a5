//! `linerate drift --since`: each node beside its own past, by the index or by the snapshots.

use super::drift::{current, format, missing};
use crate::chosen::Chosen;
use crate::claims::Claims;
use crate::drift_args::DriftArgs;
use crate::many;
use crate::output::Failure;
use crate::progress::Line;
use crate::sources::{self, Member};
use linerate_fleet::Record;
use linerate_fleet::diff::Diff;
use linerate_fleet::since::{Changes, Pairs, between};
use linerate_gather::index::{Index, Taken};
use linerate_report::drift::Unreadable;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{OpenError, Snapshot};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What became of nodes of which there are two times, in the order of their names.
#[derive(Default)]
struct Compared {
    changes: Changes,
    unreadable: Vec<Unreadable>,
}

pub(crate) fn run(a: &DriftArgs, time: u64, chosen: &Chosen) -> Result<u8, Failure> {
    let (found, new, old) = match current(&a.sources)? {
        Some(index) => {
            let Pairs { both, new, old } = of(index.pairs(time)?, chosen, |t: &Taken| &t.label);
            (by_index(&index, &both)?, new, old)
        }
        None => {
            let (sources, claims) = Claims::take_of_many(&a.sources)?;
            let Pairs { both, new, old } = of(sources::pairs(&sources, time), chosen, |m: &Member| &m.label);
            let found = by_snapshots(&both, &claims, chosen)?;
            claims.finish();
            (found, new, old)
        }
    };
    let lost = missing(chosen)?;
    let Compared { changes, mut unreadable } = found;
    if changes.nodes == 0 && unreadable.is_empty() && new.is_empty() && old.is_empty() {
        return Err(Failure::new("no snapshots of nodes at several times")
            .hint("--since reads a fleet's directory, NODE/TIME.tar.zst, as `collect --on` writes it"));
    }
    // What nobody looked at since then is not unchanged.
    let not_since = |source: String| Unreadable { source, why: "it has no snapshot since then".to_owned() };
    unreadable.splice(..0, old.into_iter().map(not_since));
    unreadable.extend(lost);
    let report = linerate_report::since::Report::of(&changes, &new, unreadable);
    let mut sink = a.out.sink()?;
    report.write(format(a, &sink), &mut sink)?;
    sink.finish()?;
    Ok(report.exit_code)
}

/// Those that were chosen.
fn of<T>(mut all: Pairs<T>, chosen: &Chosen, label: impl Fn(&T) -> &str) -> Pairs<T> {
    all.both.retain(|(_, now)| chosen.takes(label(now)));
    all.new.retain(|label| chosen.takes(label));
    all.old.retain(|label| chosen.takes(label));
    all
}

fn by_index(index: &Index, pairs: &[(Taken, Taken)]) -> Result<Compared, Failure> {
    let mut diffs: Vec<Option<Diff>> = vec![None; pairs.len()];
    index.compare(pairs, |i, then, now| {
        if let Some(diff) = diffs.get_mut(i) {
            *diff = Some(between(then, now));
        }
    })?;
    let mut out = Compared::default();
    for ((then, now), diff) in pairs.iter().zip(diffs) {
        let source = now.label.clone();
        match (now.error.as_ref().or(then.error.as_ref()), diff) {
            (Some(why), _) => out.unreadable.push(Unreadable { source, why: why.clone() }),
            (None, Some(diff)) => out.changes.node(&source, &diff),
            (None, None) => {}
        }
    }
    Ok(out)
}

fn by_snapshots(pairs: &[(Member, Member)], claims: &Claims, chosen: &Chosen) -> Result<Compared, Failure> {
    let members: Vec<Member> = pairs.iter().map(|(_, now)| now.clone()).collect();
    let before: HashMap<&Path, &PathBuf> = pairs.iter().map(|(b, now)| (now.path.as_path(), &b.path)).collect();
    let look = |now: &Member, _: &str, snapshot: &Snapshot| -> Result<Diff, OpenError> {
        let path = before.get(now.path.as_path()).copied().cloned().unwrap_or_default();
        let options = Options { redact: false, ..crate::budget::options(&path, Purpose::Audit) };
        let mut then = linerate_snapshot::load(&path, &options, &|_| {})?;
        claims.join(&mut then, &now.label);
        Ok(between(&Record::read(&now.label, &then), &Record::read(&now.label, snapshot)))
    };
    let mut out = Compared::default();
    let join = |label: &str, snapshot: &mut Snapshot| claims.join(snapshot, label);
    many::each(&members, (false, &join, chosen, &Line::new(true)), look, |label, seen| {
        match seen.and_then(|found| found) {
            Ok(found) => out.changes.node(label, &found),
            Err(e) => out.unreadable.push(Unreadable { source: label.to_owned(), why: e.reason() }),
        }
        Ok(())
    })?;
    Ok(out)
}
