//! `linerate drift`.

use crate::chosen::{Chosen, NO_SOURCE};
use crate::claims::Claims;
use crate::diff_args::DiffFormat;
use crate::drift_args::DriftArgs;
use crate::live::{self, Unread};
use crate::output::{Failure, Sink, remark};
use crate::progress::Line;
use crate::sources::{self, Member};
use linerate_fleet::diff::{Diff, diff};
use linerate_fleet::drift::{Head, Options, Table, drift};
use linerate_fleet::since::Changes;
use linerate_fleet::{Profile, Record};
use linerate_gather::index::{Index, NAME, When};
use linerate_node::Node;
use linerate_report::drift::{Format, Report, Unreadable};
use linerate_snapshot::capture::{Options as CaptureOptions, Purpose};
use linerate_snapshot::{OpenError, Snapshot};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub(crate) fn run(a: &DriftArgs) -> Result<u8, Failure> {
    let chosen = a.of.read()?;
    if let Some(time) = a.since {
        return since(a, time, &chosen);
    }
    // What hashing makes of names differs from node to node, and would be taken for a difference.
    let (table, unreadable) = match live::many(&a.on, false)? {
        Some(live) => {
            let (table, mut unreadable) = table(&live.members, &Claims::default(), &chosen)?;
            let lost = live.unread.iter().map(|Unread { name, why, .. }| (name.clone(), why.clone()));
            unreadable.extend(lost.map(|(source, why)| Unreadable { source, why }));
            (table, unreadable)
        }
        None => of_sources(&a.sources, &chosen)?,
    };
    let reference = match &a.reference {
        Some(name) => Some(reference(&table, name)?),
        None => None,
    };
    let found = drift(&table, Options { reference });
    let heads: Vec<&Head> = table.heads().collect();
    let report = Report::of(&heads, &found, unreadable);
    let mut sink = Sink::open(a.output.as_deref())?;
    report.write(format(a, &sink), &mut sink)?;
    sink.finish()?;
    Ok(report.exit_code)
}

fn format(a: &DriftArgs, sink: &Sink) -> Format {
    match a.format {
        DiffFormat::Text => Format::Text(sink.style(a.color, a.verbose)),
        DiffFormat::Json => Format::Json,
        DiffFormat::Markdown => Format::Markdown,
    }
}

/// Who shows what, of an index or of snapshots.
fn of_sources(named: &[PathBuf], chosen: &Chosen) -> Result<(Table, Vec<Unreadable>), Failure> {
    let (paths, claims) = Claims::take(named)?;
    // An index does not hold what is joined here.
    let known = if claims.is_empty() { indexed(&paths, chosen)? } else { None };
    let mut found = match known {
        Some(answer) => answer,
        None => table(&chosen.of(sources::latest(&paths)), &claims, chosen)?,
    };
    found.1.extend(missing(chosen)?);
    claims.finish();
    Ok(found)
}

/// Who shows what, of an index that says what the snapshots do.
fn indexed(sources: &[PathBuf], chosen: &Chosen) -> Result<Option<(Table, Vec<Unreadable>)>, Failure> {
    let [source] = sources else { return Ok(None) };
    if source.is_dir() && !source.join(NAME).is_file()
        || source.is_file() && source.extension() != Some("parquet".as_ref())
    {
        return Ok(None);
    }
    let index = Index::open(source)?;
    if source.is_dir() {
        let stale = index.stale(source)?;
        if stale.new + stale.gone > 0 || !index.is_current() {
            remark(
                "the index does not say what the snapshots do: they are read (`linerate fleet index` brings it up to them)",
            );
            return Ok(None);
        }
    }
    let (table, unreadable) = index.table(When::Newest, chosen.set())?;
    table
        .heads()
        .map(|h| h.label.as_str())
        .chain(unreadable.iter().map(|(l, _)| l.as_str()))
        .for_each(|l| _ = chosen.takes(l));
    let unreadable = unreadable.into_iter().map(|(source, why)| Unreadable { source, why }).collect();
    Ok(Some((table, unreadable)))
}

/// Each node beside its own past.
fn since(a: &DriftArgs, time: u64, chosen: &Chosen) -> Result<u8, Failure> {
    let (mut pairs, mut new) = sources::pairs(&a.sources, time);
    pairs.retain(|(_, now)| chosen.takes(&now.label));
    new.retain(|label| chosen.takes(label));
    let lost = missing(chosen)?;
    if pairs.is_empty() && new.is_empty() {
        return Err(Failure::new("no snapshots of nodes at several times")
            .hint("--since reads a fleet's directory, NODE/TIME.tar.zst, as `collect --on` writes it"));
    }
    let members: Vec<Member> = pairs.iter().map(|(_, now)| now.clone()).collect();
    let nobody = Member::of(Path::new(""));
    let before: HashMap<&Path, &Member> = pairs.iter().map(|(b, now)| (now.path.as_path(), b)).collect();
    let look = |now: &Member, _: &str, snapshot: &Snapshot| -> Result<Diff, OpenError> {
        let member = before.get(now.path.as_path()).map_or(&nobody, |m| *m);
        let options = CaptureOptions { redact: false, ..crate::budget::options(&member.path, Purpose::Audit) };
        let then = linerate_snapshot::load(&member.path, &options, &|_| {})?;
        let profile = |s: &Snapshot| Profile::of(&member.label, &Node::decode(s), s, linerate_rules::rules());
        Ok(diff(&profile(&then), &profile(snapshot)))
    };
    let (mut changes, mut unreadable) = (Changes::default(), Vec::new());
    crate::many::each(&members, (false, &crate::many::as_it_is, chosen, &Line::new(true)), look, |label, seen| {
        match seen.and_then(|found| found) {
            Ok(found) => changes.node(label, &found),
            Err(e) => unreadable.push(Unreadable { source: label.to_owned(), why: e.reason() }),
        }
        Ok(())
    })?;
    unreadable.extend(lost);
    let report = linerate_report::since::Report::of(&changes, &new, unreadable);
    let mut sink = Sink::open(a.output.as_deref())?;
    report.write(format(a, &sink), &mut sink)?;
    sink.finish()?;
    Ok(report.exit_code)
}

/// Who shows what, of snapshots.
fn table(members: &[Member], claims: &Claims, chosen: &Chosen) -> Result<(Table, Vec<Unreadable>), Failure> {
    let look = |_: &Member, label: &str, snapshot: &Snapshot| Record::read(label, snapshot);
    let before = |label: &str, snapshot: &mut Snapshot| claims.join(snapshot, label);
    let (mut table, mut unreadable) = (Table::new(), Vec::new());
    crate::many::each(members, (false, &before, chosen, &Line::new(true)), look, |label, seen| {
        match seen {
            Ok(record) => table.record(&record),
            Err(e) => unreadable.push(Unreadable { source: label.to_owned(), why: e.reason() }),
        }
        Ok(())
    })?;
    Ok((table, unreadable))
}

/// Nodes that were asked for, of which there is nothing.
fn missing(chosen: &Chosen) -> Result<impl Iterator<Item = Unreadable>, Failure> {
    let lost = chosen.missing()?.into_iter();
    Ok(lost.map(|source| Unreadable { source, why: NO_SOURCE.to_owned() }))
}

fn reference(table: &Table, name: &str) -> Result<u32, Failure> {
    let found = table.heads().zip(0..).find(|(h, _)| h.label == name).map(|(_, n)| n);
    found.ok_or_else(|| {
        Failure::new(format!("no node is called {name}")).hint("--reference names one of the nodes that are compared")
    })
}
