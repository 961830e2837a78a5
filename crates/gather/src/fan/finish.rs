//! From what a node sent to the file in the fleet's directory.

use super::node::Failed;
use super::{By, Cause, Options, Outcome, Shared, files};
use crate::Target;
use linerate_fleet::cluster::Stranger;
use linerate_formats::bounds::FLEET_UNPACKED;
use linerate_out::file::{self, Access};
use linerate_snapshot::capture::posix;
use linerate_snapshot::{Budget, Reader, Snapshot};
use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Clocks that differ by less are not remarked.
const SKEW: Duration = Duration::from_secs(120);

/// What a node sent.
pub(super) enum Sent {
    /// A snapshot's archive.
    Archive(Vec<u8>),
    /// What the script printed, and the word that marks its records.
    Printed(Vec<u8>, String),
    /// A snapshot of this host.
    Here(Box<Snapshot>),
}

/// What is written of a node.
struct Packed {
    bytes: Vec<u8>,
    root: bool,
    notes: Vec<String>,
}

/// Reads what a node sent, which was asked at a time, and writes its file, whole or not at all.
pub(super) fn write<'a>(
    target: &Target,
    asked: SystemTime,
    sent: Sent,
    by: By,
    shared: &Shared<'a>,
    notes: &mut Vec<String>,
) -> Result<Outcome, Failed> {
    let (label, options) = (target.name.clone(), shared.options);
    let cancel = shared.cancel;
    let during = asked..=SystemTime::now();
    let packed = shared.desk.ask(move |reader| match cancel.is_cancelled() {
        true => Err(interrupted()),
        false => pack(reader, &label, &during, sent, options),
    });
    let mut packed = packed.unwrap_or_else(|| Err(interrupted()))?;
    notes.append(&mut packed.notes);
    let failed = |e: std::io::Error| Failed::new(Cause::NotWritten, e.to_string());
    let dir = files::make(&shared.options.directory, &target.name).map_err(failed)?;
    let path = dir.join(files::file_name(shared.began));
    file::write(&path, Access::Private, &packed.bytes).map_err(failed)?;
    Ok(Outcome::Collected { file: path, bytes: packed.bytes.len() as u64, by, root: packed.root })
}

/// It is read as whatever a stranger sends, and written anew, unless it is to the byte what would be written: a file of the fleet has only
/// what linerate writes.
fn pack(
    reader: &mut Reader,
    label: &str,
    during: &RangeInclusive<SystemTime>,
    sent: Sent,
    options: &Options,
) -> Result<Packed, Failed> {
    let mut notes = Vec::new();
    let mut came = None;
    let mut snapshot = match sent {
        Sent::Here(snapshot) => *snapshot,
        Sent::Archive(bytes) => {
            let snapshot = archive(reader, label, &bytes, &options.version)?;
            came = Some(bytes);
            snapshot
        }
        Sent::Printed(bytes, word) => {
            let found = posix::read(&bytes, &word, options.redact_there())
                .map_err(|e| Failed::new(Cause::Garbage, e.to_string()))?;
            if !found.whole {
                notes.push("the script did not come to its end: a part is missing".to_owned());
            }
            found.snapshot
        }
    };
    notes.extend(clock(snapshot.manifest.time, during));
    let nameless = options.redact || snapshot.manifest.redacted;
    for joined in options.lists.join(&mut snapshot, label, nameless) {
        if let Err(why) = joined.found {
            notes.push(format!("no entry of {} matches: {}", joined.of.name(), brief(why)));
        }
    }
    let root = snapshot.manifest.uid == Some(0);
    let snapshot = redacted(snapshot, options).map_err(|e| Failed::new(Cause::NotWritten, e.to_string()))?;
    let bytes = match came.filter(|bytes| reader.is_as_written(bytes, &snapshot)) {
        Some(bytes) => bytes,
        None => {
            let mut bytes = Vec::new();
            let written = snapshot.write_tar_zst_quickly(&mut bytes);
            written.map_err(|e| Failed::new(Cause::NotWritten, e.to_string()))?;
            bytes
        }
    };
    reader.recycle(snapshot);
    Ok(Packed { bytes, root, notes })
}

fn archive(reader: &mut Reader, label: &str, bytes: &[u8], version: &str) -> Result<Snapshot, Failed> {
    reader.set_budget(&Budget::new(Some(FLEET_UNPACKED)));
    let snapshot = reader
        .read_bytes(bytes, label)
        .map_err(|e| Failed::new(Cause::Garbage, linerate_snapshot::without_secrets(&e.to_string())))?;
    let made_by = &snapshot.manifest.linerate;
    if made_by.is_empty() {
        return Err(Failed::new(Cause::Garbage, "what it sent was not made by linerate collect"));
    }
    if made_by != version {
        let made_by: String = made_by.chars().take(40).collect();
        return Err(Failed::new(Cause::Liar, format!("its snapshot was made by linerate {made_by}, not by {version}")));
    }
    Ok(snapshot)
}

/// The same words for all nodes that have the same trouble.
fn brief(why: Stranger) -> String {
    match why {
        Stranger::None(_) | Stranger::Empty => "it is not listed by its ids or its name".to_owned(),
        other => other.to_string(),
    }
}

/// A clock that says a time, seconds since 1970, at which the node was not being asked by the clock here.
fn clock(there: u64, during: &RangeInclusive<SystemTime>) -> Option<String> {
    let there = UNIX_EPOCH + Duration::from_secs(there.min(1 << 40));
    let apart = |from: SystemTime, to: SystemTime| to.duration_since(from).ok().filter(|d| *d > SKEW);
    if let Some(ahead) = apart(*during.end(), there) {
        return Some(format!("its clock is {} ahead of the one here", about(ahead)));
    }
    apart(there, *during.start()).map(|behind| format!("its clock is {} behind the one here", about(behind)))
}

/// A difference that is two minutes or more, in the largest unit of which it has two: nodes that are off alike are said together.
fn about(apart: Duration) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let s = apart.as_secs();
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| s / unit >= 2).unwrap_or((1, "seconds"));
    format!("{} {name}", s / unit)
}

/// The one place between what a node showed and the disk: with the operator's key, a snapshot is redacted here.
fn redacted(mut snapshot: Snapshot, options: &Options) -> std::io::Result<Snapshot> {
    if options.redact {
        snapshot.redact(options.key.as_ref())?;
    }
    Ok(snapshot)
}

fn interrupted() -> Failed {
    Failed::new(Cause::Interrupted, "interrupted")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node that took three minutes is not late, and a clock that is off by less than two is not remarked.
    #[test]
    fn a_clock_is_off_where_it_says_a_time_at_which_nobody_asked() {
        let at = |s: u64| UNIX_EPOCH + Duration::from_secs(s);
        let during = at(1_000_000)..=at(1_000_180);
        for (there, said) in [
            (1_000_000, None),
            (1_000_090, None),
            (1_000_180, None),
            (999_880, None),
            (999_879, Some("its clock is 2 minutes behind the one here")),
            (1_000_300, None),
            (1_000_301, Some("its clock is 2 minutes ahead of the one here")),
            (1_003_780, Some("its clock is 60 minutes ahead of the one here")),
            (0, Some("its clock is 11 days behind the one here")),
        ] {
            assert_eq!(clock(there, &during).as_deref(), said, "{there}");
        }
        // A number that no clock has.
        assert!(clock(u64::MAX, &during).is_some_and(|s| s.ends_with(" days ahead of the one here")));
    }
}
