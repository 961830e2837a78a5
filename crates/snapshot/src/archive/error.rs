//! How reading ends when it does not end well.

use super::assemble::{Assembly, InArchive};
use crate::Snapshot;
use crate::redact::secrets::Cleaner;
use std::path::PathBuf;

/// Why something is no snapshot. What is merely damaged is read as far as it goes, and says so in [`Snapshot::problems`].
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file system refused.
    #[error("cannot read {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing in it is of use.
    #[error(
        "{what} is not a snapshot: {why}. Expected: an archive of `linerate collect`, an archive or directory that holds \
             sys/ or proc/ (a sosreport, a hwloc topology), or the text of a tool such as lspci, dmesg, nvidia-smi, mlxconfig"
    )]
    NotASnapshot {
        /// The file or directory.
        what: String,
        /// What was found instead.
        why: String,
    },
    /// It would cost too much.
    #[error("{what} is too large: {why}; it was not read")]
    TooLarge {
        /// The file.
        what: String,
        /// Which limit.
        why: String,
    },
    /// It holds the trees of several nodes, and one is read.
    #[error("{}", several(.what, .wanted.as_deref(), .names))]
    Several {
        /// The file or directory.
        what: String,
        /// The node that was asked for, and is none of them.
        wanted: Option<String>,
        /// What the nodes are called, each as it can be named behind the source.
        names: Vec<String>,
    },
    /// The live host or a tree could not be captured.
    #[error(transparent)]
    Capture(#[from] crate::capture::CaptureError),
}

impl OpenError {
    /// Why, without the name of the file and without what was expected: for who names many.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            OpenError::NotASnapshot { why, .. } => format!("it is not a snapshot: {why}"),
            OpenError::TooLarge { why, .. } => format!("it is too large: {why}"),
            OpenError::Io { source, .. } => source.to_string(),
            OpenError::Several { names, .. } => format!("it holds {} nodes, not one", names.len()),
            OpenError::Capture(e) => e.to_string(),
        }
    }
}

/// Names of nodes in an error.
const NAMED: usize = 16;

fn several(what: &str, wanted: Option<&str>, names: &[String]) -> String {
    let (all, first) = (names.len(), names.first().map_or("", String::as_str));
    let more = if all > NAMED { format!(" and {} more", all - NAMED) } else { String::new() };
    let listed = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match wanted {
        Some(wanted) => format!("{what} holds no node {wanted}, but {listed}{more}"),
        None => format!("{what} holds {all} nodes: {listed}{more}. Name one, as in {what}/{first}"),
    }
}

/// Why reading ends early.
pub(super) enum Stop {
    /// What came until here can be kept.
    Damaged(String),
    /// Nothing is kept.
    TooLarge(String),
}

/// A snapshot, unless it shows more devices than a node has.
pub(super) fn counted(s: Snapshot, label: &str) -> Result<Snapshot, OpenError> {
    match crate::census::too_many(&s) {
        Some(why) => Err(OpenError::TooLarge { what: label.to_owned(), why }),
        None => Ok(s),
    }
}

/// The snapshots of what was read until the end, whatever that was, each with where it is.
pub(super) fn conclude(
    end: Result<(), Stop>,
    at: u64,
    mut assembly: Assembly,
    label: &str,
    place: InArchive,
    cleaner: &mut Cleaner,
) -> Result<Vec<(String, Snapshot)>, OpenError> {
    let seen = assembly.seen();
    match end {
        Ok(()) => {}
        Err(Stop::TooLarge(why)) => return Err(OpenError::TooLarge { what: label.to_owned(), why }),
        Err(Stop::Damaged(why)) if seen == 0 => {
            return Err(OpenError::NotASnapshot { what: label.to_owned(), why });
        }
        Err(Stop::Damaged(why)) => {
            assembly.damaged(format!(
                "the archive is damaged after {at} bytes ({seen} entries): {why}; the rest is missing"
            ));
        }
    }
    assembly.finish(label, place, cleaner)
}
