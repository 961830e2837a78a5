//! A file with a content.

use super::{ActShown, Deed};
use crate::diff::{Found, of_file};
use crate::effect::{self, Effect};
use crate::hash::sha256;
use crate::model::Step;
use serde::{Deserialize, Serialize};

/// A file with this content. Written beside, synced, renamed. Undone: the bytes, mode and owner that were there, or no file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileAct {
    /// Absolute path; none of its directories may be a link that leaves the root.
    pub path: String,
    /// What must be there now.
    pub before: FileState,
    /// What is there then; `None`: no file.
    pub after: Option<Content>,
    /// Permissions, octal digits as a number: `0o644`.
    pub mode: u32,
}

/// The first lines of a file that a step writes. A playbook or a script writes the same file, and `linerate rollback` knows nothing of it there.
pub(crate) fn head(step: &str) -> String {
    format!(
        "# Written by linerate (plan step {step}).\n# To undo: linerate rollback, if linerate apply wrote this; otherwise delete this file.\n"
    )
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content(pub String);

/// What must be at a path before it is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A file with this content.
    Content(String),
    /// A file whose content has this SHA-256: the plan does not hold the content.
    Digest(String),
}

impl FileState {
    /// Whether this is what is there; `None`: no file.
    #[must_use]
    pub fn is(&self, there: Option<&[u8]>) -> bool {
        match (self, there) {
            (FileState::Absent, None) => true,
            (FileState::Content(text), Some(bytes)) => text.as_bytes() == bytes,
            (FileState::Digest(digest), Some(bytes)) => *digest == sha256(bytes),
            _ => false,
        }
    }
}

/// Permissions that need no word.
const USUAL: u32 = 0o644;

impl ActShown for FileAct {
    fn summary(&self) -> String {
        let verb = match (&self.before, &self.after) {
            (FileState::Absent, Some(_)) => "create",
            (_, Some(_)) => "change",
            (_, None) => "remove",
        };
        format!("{verb} {}", self.path)
    }

    fn notes(&self) -> Vec<String> {
        let unseen = match &self.before {
            FileState::Digest(digest) => {
                Some(format!("the plan does not show the present file; its SHA-256 must be {digest}"))
            }
            _ => None,
        };
        let mode = (self.after.is_some() && self.mode != USUAL).then(|| format!("permissions {:04o}", self.mode));
        unseen.into_iter().chain(mode).collect()
    }

    fn rollback(&self) -> Option<String> {
        Some(match self.before {
            FileState::Absent => format!("remove {}", self.path),
            _ => format!("put {} back as it was", self.path),
        })
    }

    fn effects(&self) -> Vec<Effect> {
        effect::of_file(&self.path, self.after.as_ref().map(|c| c.0.as_str()))
    }

    fn explains(&self, found: &mut Found) {
        of_file(&self.path, self.after.as_ref().map_or("", |c| c.0.as_str()), found);
    }

    fn deed(&self, _: &Step) -> Deed<'_> {
        match &self.after {
            Some(Content(text)) => Deed::Write { path: &self.path, text, mode: self.mode },
            None => Deed::Remove { path: &self.path },
        }
    }
}
