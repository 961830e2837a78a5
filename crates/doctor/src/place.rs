//! Where something was read.

/// A file among those that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// 1-based line.
    pub line: u64,
}

/// Characters of a line that are kept as evidence.
const MAX_TEXT: usize = 320;

/// A line that is shown as evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Where.
    pub place: Place,
    /// What it says, without what launchers put before it; long lines are cut.
    pub text: String,
}

impl Quote {
    /// Keeps a line, without secrets that stand in it.
    pub(crate) fn new(place: Place, text: &str) -> Self {
        let text = linerate_snapshot::without_secrets(text.trim());
        let cut = text.char_indices().nth(MAX_TEXT).map_or(text.len(), |(at, _)| at);
        let mut kept = text.get(..cut).unwrap_or_default().to_owned();
        if cut < text.len() {
            kept.push('…');
        }
        Quote { place, text: kept }
    }
}
