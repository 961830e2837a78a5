//! Texts that tools print, as part of a snapshot: commands run by the capture, and texts that people paste.

use crate::EntryId;
pub use linerate_formats::Kind as OutputKind;

/// One text.
#[derive(Debug, Clone)]
pub struct Output {
    /// Which tool's: one that gives facts. Commands are known by their arguments, pasted texts by their content.
    pub kind: OutputKind,
    /// Its bytes.
    pub entry: EntryId,
    /// The command, where one was run; empty for pasted text.
    pub argv: Vec<String>,
    /// Exit status, where known.
    pub status: Option<i32>,
}
