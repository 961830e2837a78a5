//! A file with a content.

use crate::hash::sha256;
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
    /// A file whose content has this SHA-256: it is not told in the plan.
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
