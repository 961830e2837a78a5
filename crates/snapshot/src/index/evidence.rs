//! Places in words, and what is there.

use super::{EntryId, EntryKind, Snapshot};
use crate::{Lines, Place, Pos};
use linerate_formats::clip;

impl Snapshot {
    /// The place in words: a path, a command with a line, a pasted file with a line.
    #[must_use]
    pub fn describe(&self, place: Place) -> String {
        let output = self.outputs.iter().find(|o| o.entry == place.base);
        let mut s = match output {
            Some(o) if !o.argv.is_empty() => format!("`{}`", o.argv.join(" ")),
            Some(_) => self.path(place.base),
            None => {
                let path = self.path(place.base);
                match (path.is_empty(), place.leaf.is_empty()) {
                    (_, true) => format!("/{path}"),
                    (true, false) => format!("/{}", place.leaf),
                    (false, false) => format!("/{path}/{}", place.leaf),
                }
            }
        };
        match place.pos {
            Pos::Whole => {}
            Pos::Line(n) => s.push_str(&format!(":{}", self.line_in_file(place.base, n))),
            Pos::Bytes { offset, len } => s.push_str(&format!(" @{offset:#x}+{len}")),
        }
        s
    }

    /// The line of its file that a line of an entry is, both from 1: texts are cut out of files.
    #[must_use]
    pub fn line_in_file(&self, entry: EntryId, line: u32) -> u32 {
        self.lines.get(&entry).map_or(line, |l| l.in_file(line))
    }

    /// Notes where the lines of a text stand in the file that it was cut out of.
    pub(crate) fn stands_at(&mut self, entry: EntryId, lines: Lines) {
        if lines != Lines::default() {
            self.lines.insert(entry, lines);
        }
    }

    /// The bytes at the place, as text: the line, the hex bytes, or the start of the file. Empty when nothing is there.
    #[must_use]
    pub fn excerpt(&self, place: Place) -> String {
        const MAX: usize = 200;
        if !place.leaf.is_empty() {
            return String::new();
        }
        let data = match self.kind(place.base) {
            EntryKind::Failed(_) => return String::new(),
            EntryKind::Dir => return format!("({} entries)", self.children(place.base).len()),
            _ => self.data(place.base),
        };
        match place.pos {
            Pos::Bytes { offset, len } => {
                let end = (usize::from(offset) + usize::from(len)).min(data.len());
                let bytes = data.get(usize::from(offset)..end).unwrap_or_default();
                bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
            }
            Pos::Line(n) => {
                let line = data.split(|b| *b == b'\n').nth((n as usize).saturating_sub(1)).unwrap_or_default();
                clip::bytes(line, MAX)
            }
            // Configuration spaces and ACPI tables: bytes are no text.
            Pos::Whole if data.contains(&0) => format!("({} bytes, binary)", data.len()),
            Pos::Whole => clip::bytes(data, MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_not_shown_as_text() {
        let mut s = Snapshot::new("x");
        let config = s.add_file("sys/config", b"\xb3\x15\x21\x10\x46\x05\x10\x00").map(Place::of);
        let value = s.add_file("sys/value", b" on\n").map(Place::of);
        assert_eq!(config.map(|p| s.excerpt(p)).as_deref(), Some("(8 bytes, binary)"));
        assert_eq!(value.map(|p| s.excerpt(p)).as_deref(), Some("on"));
    }
}
