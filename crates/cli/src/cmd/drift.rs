//! `linerate drift`.

use crate::chosen::{Chosen, NO_SOURCE};
use crate::claims::Claims;
use crate::diff_args::DiffFormat;
use crate::drift_args::DriftArgs;
use crate::live::{self, Unread};
use crate::output::{Failure, Sink, remark};
use crate::progress::Line;
use crate::sightings::{self, Seen};
use crate::sources::{self, Member};
use crate::targets;
use linerate_fleet::Record;
use linerate_fleet::drift::{Head, Members, Options, Reference, Table, drift};
use linerate_fleet::identity::Remark;
use linerate_gather::fan::directory_name;
use linerate_gather::index::{Index, NAME, Tabled, When};
use linerate_gather::inventory::References;
use linerate_report::drift::{Format, Report, Unreadable};
use linerate_snapshot::Snapshot;
use std::collections::BTreeSet;
use std::path::PathBuf;

pub(crate) fn run(a: &DriftArgs) -> Result<u8, Failure> {
    let chosen = a.of.read()?;
    if let Some(time) = a.since {
        return super::drift_since::run(a, time, &chosen);
    }
    // What hashing makes of names differs from node to node, and would be taken for a difference.
    let Compared { table, unreadable, remarks: identities } = match live::many(&a.on, false)? {
        Some(live) => {
            let mut all = of_snapshots(&[], live.members.clone(), (&Claims::default(), &chosen))?;
            let lost = live.unread.iter().map(|Unread { name, why, .. }| (name.clone(), why.clone()));
            all.unreadable.extend(lost.map(|(source, why)| Unreadable { source, why }));
            all
        }
        None => of_sources(&a.sources, &chosen)?,
    };
    let (references, named) = match &a.reference {
        Some(name) => (vec![Reference { node: reference(&table, name)?, of: None }], Vec::new()),
        None => configured(&table, &targets::references(&a.on.read.names)?),
    };
    let found = drift(&table, &Options { references });
    let heads: Vec<&Head> = table.heads().collect();
    let mut report = Report::of(&heads, &found, unreadable, &identities);
    let used: BTreeSet<&str> = report.classes.iter().filter_map(|c| c.reference.as_deref()).collect();
    let said: Vec<String> = named.iter().map(|n| n.said(&used)).collect();
    report.remarks.extend(said);
    let mut sink = a.out.sink()?;
    report.write(format(a, &sink), &mut sink)?;
    sink.finish()?;
    Ok(report.exit_code)
}

pub(super) fn format(a: &DriftArgs, sink: &Sink) -> Format {
    match a.format {
        DiffFormat::Text => Format::Text(a.out.style(sink)),
        DiffFormat::Json => Format::Json,
        DiffFormat::Markdown => Format::Markdown,
    }
}

/// What is compared.
struct Compared {
    /// Who shows what.
    table: Table,
    unreadable: Vec<Unreadable>,
    /// What names and identities say together.
    remarks: Vec<Remark>,
}

/// Of an index or of snapshots.
fn of_sources(named: &[PathBuf], chosen: &Chosen) -> Result<Compared, Failure> {
    // Lists that lie in its directory are joined in an index. Those that are named beside it are not, and then it is not the only source.
    let mut found = match indexed(named, chosen)? {
        Some(answer) => answer,
        None => {
            let (paths, claims) = Claims::take_of_many(named)?;
            let found = of_snapshots(&paths, chosen.of(sources::latest(&paths)), (&claims, chosen))?;
            claims.finish();
            found
        }
    };
    found.unreadable.extend(missing(chosen)?);
    Ok(found)
}

/// The index of what is named, where it says what the snapshots do.
pub(super) fn current(sources: &[PathBuf]) -> Result<Option<Index>, Failure> {
    let [source] = sources else { return Ok(None) };
    if source.is_dir() && !source.join(NAME).is_file()
        || source.is_file() && source.extension() != Some("parquet".as_ref())
    {
        return Ok(None);
    }
    let index = Index::open(source)?;
    if source.is_dir() {
        let stale = index.stale_beside(source, &sources::listing(source).all)?;
        if stale.new + stale.gone > 0 || !index.is_current() {
            remark("the index is out of date, so the snapshots are read (`linerate fleet index` updates it)");
            return Ok(None);
        }
    }
    Ok(Some(index))
}

/// Of an index that says what the snapshots do.
fn indexed(sources: &[PathBuf], chosen: &Chosen) -> Result<Option<Compared>, Failure> {
    let Some(index) = current(sources)? else { return Ok(None) };
    let Tabled { table, unreadable, remarks } = index.table(When::Newest, chosen.set())?;
    table
        .heads()
        .map(|h| h.label.as_str())
        .chain(unreadable.iter().map(|(l, _)| l.as_str()))
        .for_each(|l| _ = chosen.takes(l));
    let unreadable = unreadable.into_iter().map(|(source, why)| Unreadable { source, why }).collect();
    Ok(Some(Compared { table, unreadable, remarks }))
}

/// Of snapshots. A node that is found under several names in a directory counts once, and so all are read again without its older snapshots.
fn of_snapshots(
    named: &[PathBuf],
    mut members: Vec<Member>,
    (claims, chosen): (&Claims, &Chosen),
) -> Result<Compared, Failure> {
    let (mut found, seen) = table(&members, claims, chosen)?;
    let older = sightings::older(named, &seen);
    if !older.is_empty() {
        members.retain(|m| !older.contains(&m.path));
        found = table(&members, claims, chosen)?.0;
    }
    // Sightings of snapshots that were left out count here.
    let (table, unreadable) = found;
    let remarks = sightings::remarks(named, seen)?;
    Ok(Compared { table, unreadable, remarks })
}

/// Who shows what, those that could not be read, and who the nodes are.
type Read = ((Table, Vec<Unreadable>), Vec<Seen>);

fn table(members: &[Member], claims: &Claims, chosen: &Chosen) -> Result<Read, Failure> {
    let look = |m: &Member, label: &str, snapshot: &Snapshot| {
        let time = sightings::taken(&m.path, snapshot);
        (Record { time, ..Record::facts(label, snapshot) }, Seen::of(&m.path, label, snapshot))
    };
    let before = |label: &str, snapshot: &mut Snapshot| claims.join(snapshot, label);
    let (mut table, mut unreadable, mut all) = (Table::new(), Vec::new(), Vec::new());
    crate::many::each(members, (false, &before, chosen, &Line::new(true)), look, |label, seen| {
        match seen {
            Ok((record, seen)) => {
                table.record(&record);
                all.push(seen);
            }
            Err(e) => {
                unreadable.push(Unreadable { source: label.to_owned(), why: e.reason() });
                all.extend(Seen::unread(members, label));
            }
        }
        Ok(())
    })?;
    Ok(((table, unreadable), all))
}

/// A reference of linerate.toml.
struct Named {
    file: String,
    /// Empty: of all nodes.
    group: String,
    node: String,
    /// How it is called among those that are compared; `None`: it is none of them.
    label: Option<String>,
}

impl Named {
    /// What became of it, where these are the references that count.
    fn said(&self, used: &BTreeSet<&str>) -> String {
        let Named { file, group, node, label } = self;
        let of = if group.is_empty() { String::new() } else { format!(" of @{group}") };
        let what = format!("{node}, the reference{of} in {file},");
        match label {
            Some(l) if used.contains(l.as_str()) => format!("{what} is what the others are compared with"),
            Some(_) => {
                format!("{what} is not used: no class of hardware has it alone, or has nodes of its group alone")
            }
            None => format!("{what} is not among these nodes"),
        }
    }
}

/// The references that linerate.toml names, among these nodes.
fn configured(table: &Table, file: &References) -> (Vec<Reference>, Vec<Named>) {
    let (mut out, mut named) = (Vec::new(), Vec::new());
    let all = file.all.iter().map(|node| ("", node, None));
    for (group, node, set) in all.chain(file.groups.iter().map(|(g, n, set)| (g.as_str(), n, Some(set)))) {
        let found = find(table, node);
        if let Some((n, _)) = found {
            let of = set.map(|set| {
                table.heads().zip(0..).filter(|(h, _)| set.contains(&h.label)).map(|(_, n)| n).collect::<Members>()
            });
            out.push(Reference { node: n, of });
        }
        let (file, group, node) = (file.file.display().to_string(), group.to_owned(), node.clone());
        named.push(Named { file, group, node, label: found.map(|(_, label)| label.to_owned()) });
    }
    (out, named)
}

/// The node of this name: directories are named after nodes, with other letters where a name has some that files do not.
fn find<'t>(table: &'t Table, name: &str) -> Option<(u32, &'t str)> {
    let directory = directory_name(name);
    let found = table.heads().zip(0..).find(|(h, _)| h.label == name || h.label == directory);
    found.map(|(h, n)| (n, h.label.as_str()))
}

/// Nodes that were asked for, of which there is nothing.
pub(super) fn missing(chosen: &Chosen) -> Result<impl Iterator<Item = Unreadable>, Failure> {
    let lost = chosen.missing()?.into_iter();
    Ok(lost.map(|source| Unreadable { source, why: NO_SOURCE.to_owned() }))
}

fn reference(table: &Table, name: &str) -> Result<u32, Failure> {
    find(table, name).map(|(n, _)| n).ok_or_else(|| {
        Failure::new(format!("no node has the name {name}"))
            .hint("--reference names one of the nodes that are compared")
    })
}
