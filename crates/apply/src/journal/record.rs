//! What is written down.

use crate::act::Xattrs;
use crate::protocol::Note;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Which act of a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Key {
    /// Step.
    pub(crate) step: String,
    /// Number among the step's trial acts, then changes.
    pub(crate) number: usize,
}

/// A record. Contents of files are never in it: they are in `kept/`, under the names that records give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub(crate) enum Record {
    /// The plan took the node.
    Begun {
        plan: String,
        who: String,
        when: u64,
        boot: String,
        steps: Vec<String>,
        /// Place among the node's plans, the last used highest. Journals of earlier versions have none.
        #[serde(default)]
        order: u64,
    },
    /// An act is about to be made.
    Announced { act: Key, what: String, before: Seen, boot: String, when: u64 },
    /// An act that was interrupted is made once more.
    Again { act: Key, when: u64 },
    /// It was made, and this was seen.
    Made { act: Key, after: Seen, output: Option<String>, boot: String, when: u64 },
    /// It was not made, and what was there is there.
    Failed { act: Key, why: String, when: u64 },
    /// The plan is being undone. `order`: as in `Begun`.
    Undoing {
        boot: String,
        when: u64,
        #[serde(default)]
        order: u64,
    },
    /// An act is about to be undone.
    UndoAnnounced { act: Key, when: u64 },
    /// The program that undoes it was run, while files of earlier acts were still there.
    UndoRan { act: Key, when: u64 },
    /// It is undone.
    Undone { act: Key, how: String, when: u64 },
    /// It is not undone, because something else is there or because it cannot be from here.
    Left { act: Key, why: String, when: u64 },
    /// A reboot is asked for.
    Reboot { boot: String, when: u64 },
    /// What was read, or is told by the driver.
    Noted { note: Note, when: u64 },
    /// The node is released.
    Finished { when: u64 },
}

impl Record {
    /// Removes the secrets of what programs and services said. What a rollback needs to know stays as it is.
    pub(super) fn clean(&mut self) {
        let said = match self {
            Record::Made { output, .. } => output.as_mut(),
            Record::Failed { why, .. } | Record::Left { why, .. } => Some(why),
            Record::Undone { how, .. } => Some(how),
            Record::Noted { note, .. } => Some(&mut note.why),
            Record::Begun { .. }
            | Record::Announced { .. }
            | Record::Again { .. }
            | Record::Undoing { .. }
            | Record::UndoAnnounced { .. }
            | Record::UndoRan { .. }
            | Record::Reboot { .. }
            | Record::Finished { .. } => None,
        };
        if let Some(text) = said
            && let Cow::Owned(clean) = linerate_snapshot::without_secrets(text)
        {
            *text = clean;
        }
    }
}

/// What was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "seen", rename_all = "kebab-case")]
pub(crate) enum Seen {
    /// Files, and directories that were not there, the outermost first.
    Files { files: Vec<FileSeen>, dirs: Vec<String> },
    /// An entry of a boot loader: its file and, if there is one, the environment block; the entry is in `kept/` under `new`.
    Trial {
        files: Vec<FileSeen>,
        dirs: Vec<String>,
        new: String,
        digest: String,
        choose: Vec<String>,
        forget: Vec<String>,
    },
    /// A value of the kernel, or of a firmware for its next start.
    Value { value: String },
    /// What the driver sees from where it is.
    Elsewhere { note: String },
}

impl Seen {
    /// Files, and the directories above them that were not there.
    pub(crate) fn paths(&self) -> (&[FileSeen], &[String]) {
        match self {
            Seen::Files { files, dirs } | Seen::Trial { files, dirs, .. } => (files, dirs),
            Seen::Value { .. } | Seen::Elsewhere { .. } => (&[], &[]),
        }
    }

    /// Paths of which what was there is kept.
    pub(crate) fn kept(&self) -> Vec<String> {
        self.paths().0.iter().filter(|f| f.kept.is_some()).map(|f| f.path.clone()).collect()
    }
}

/// A path and what was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSeen {
    /// Path.
    pub(crate) path: String,
    /// `None`: no file.
    pub(crate) there: Option<Shape>,
    /// Name in `kept/`.
    pub(crate) kept: Option<String>,
}

/// A file without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// SHA-256 of its content.
    pub(crate) digest: String,
    /// Permissions.
    pub(crate) mode: u32,
    /// Owner.
    pub(crate) uid: u32,
    /// Group.
    pub(crate) gid: u32,
    /// Time of change: seconds, nanoseconds.
    pub(crate) mtime: (i64, i64),
    /// Extended attributes.
    #[serde(default, skip_serializing_if = "Xattrs::is_empty")]
    pub(crate) xattrs: Xattrs,
}

impl Shape {
    /// Whether content, permissions and owner are the same.
    pub(crate) fn like(&self, other: &Shape) -> bool {
        (&self.digest, self.mode, self.uid, self.gid) == (&other.digest, other.mode, other.uid, other.gid)
    }
}

impl FileSeen {
    /// Whether the same is there, times aside.
    pub(crate) fn like(&self, other: &FileSeen) -> bool {
        match (&self.there, &other.there) {
            (None, None) => true,
            (Some(a), Some(b)) => a.like(b),
            _ => false,
        }
    }
}
