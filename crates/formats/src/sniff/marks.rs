//! What a text shows, by the marks of tools, the command line above it, and its name.

use super::index::{Index, Set};
use super::{MAX_LINES, by_name, is_prompted, prompt};
use crate::Kind;
use crate::tool::{Mark, Shows, starts};

/// A text, and the tools whose it may be.
pub(super) struct Marks<'a> {
    pub(super) index: &'a Index,
    pub(super) kinds: &'a [Kind],
    pub(super) text: &'a str,
}

/// What the lines of a text show.
#[derive(Default)]
struct OfLines {
    /// By the first line that only one tool prints.
    own: Option<Kind>,
    /// By the first of those that people paste beside what matters more.
    aside: Option<Kind>,
}

impl Marks<'_> {
    /// By content, command line and name.
    pub(super) fn shown(&self, name: &str) -> Option<Kind> {
        let mut command = None;
        // A text that starts like a document is one; a `<6>` starts a log.
        let mut first_content = None;
        let mut lines = self.text.lines().map(str::trim).filter(|l| !l.is_empty()).take(3).peekable();
        while let Some(line) = lines.next() {
            match prompt(self.kinds, line) {
                Some(kind) => command = command.or(Some(kind)),
                // A command that is not known, and the document that it printed.
                None if is_prompted(line) && lines.peek().is_some_and(|l| opens_document(l)) => {}
                None => {
                    first_content = Some(line);
                    break;
                }
            }
        }
        let document = match first_content.map(str::as_bytes) {
            // Markup of a page (`<details>`, `<!-- … -->`) is the root of no document that is read: its lines say what is below.
            Some([b'<', b'?' | b'!' | b'a'..=b'z' | b'A'..=b'Z', ..]) => self.xml().map(Some),
            Some([b'{', ..]) if looks_like_json(self.text) => Some(self.json()),
            Some([b'[', ..]) if opens_array(self.text, first_content) && looks_like_json(self.text) => {
                Some(self.json())
            }
            _ => None,
        };
        let by_content = document.unwrap_or_else(|| {
            let by = self.lines();
            by.own.or_else(|| self.whole()).or(by.aside)
        });
        let is_document = document.is_some() || first_content.is_some_and(|l| l.starts_with("<?xml"));
        by_content.or(command).or_else(|| by_name(self.kinds, name, is_document))
    }

    /// By a text that is one line.
    pub(super) fn line(&self) -> Option<Kind> {
        self.lines().own
    }

    /// The first tool with a mark, of anything but a line, that holds.
    fn find(&self, holds: impl Fn(&Mark) -> bool) -> Option<Kind> {
        let first = self.index.others.iter().find(|(kind, mark)| holds(mark) && self.kinds.contains(kind));
        first.map(|(kind, _)| *kind)
    }

    /// Lines without the marks of quotations.
    fn lines(&self) -> OfLines {
        let mut out = OfLines::default();
        let mut matrix_tried = false;
        for (line, within) in self.index.lines(self.text).take(MAX_LINES) {
            let line = unquoted(line);
            let set = within | self.index.by_head(line);
            let may_be_matrix = !matrix_tried && line.starts_with("GPU0");
            if set == 0 && !may_be_matrix {
                continue;
            }
            let line = line.trim_end();
            if line.is_empty() || line.len() > 4096 {
                continue;
            }
            // Measurements of the network and of disks are often pasted beside what matters more.
            let aside = self.first(set & self.index.asides, line);
            if aside.is_some() {
                out.aside = out.aside.or(aside);
                continue;
            }
            out.own = self.first(set & !self.index.asides, line);
            // The matrix is searched in the whole text, so one try is enough.
            if out.own.is_none() && may_be_matrix && line.starts_with("GPU0") {
                matrix_tried = true;
                out.own = self.find(|m| matches!(m.shows, Shows::Matrix(is) if is(self.text)));
            }
            if out.own.is_some() {
                break;
            }
        }
        out
    }

    /// The first tool with a mark of these that holds for a line.
    fn first(&self, set: Set, line: &str) -> Option<Kind> {
        self.index.first(set, |(kind, mark)| {
            let holds = match mark.shows {
                Shows::Line(is) | Shows::Aside(is) => is(line),
                Shows::Begins(words) => starts(line, words),
                Shows::LineWhere(is, whole) => is(line) && whole(self.text),
                Shows::LineWith(is, words) => is(line) && self.text.contains(words),
                _ => false,
            };
            holds && self.kinds.contains(kind)
        })
    }

    fn whole(&self) -> Option<Kind> {
        let can = |m: &Mark| m.holds.is_empty() || m.holds.iter().any(|w| self.text.contains(w));
        self.find(|m| matches!(m.shows, Shows::Whole(is) if can(m) && is(self.text)))
    }

    pub(super) fn last(&self) -> Option<Kind> {
        self.find(|m| matches!(m.shows, Shows::Last(is) if is(self.text)))
    }

    fn json(&self) -> Option<Kind> {
        self.find(|m| matches!(m.shows, Shows::Json(is) if is(self.text)))
    }

    fn xml(&self) -> Option<Kind> {
        let mut rest = self.text;
        while let Some((_, after)) = rest.split_once('<') {
            if let Some(comment) = after.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, r)| r);
                continue;
            }
            if after.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                let root = after.get(..end)?;
                return self.find(|m| matches!(m.shows, Shows::Root(is) if is(root, after)));
            }
            rest = after;
        }
        None
    }
}

/// A line without the marks of quotations and the spaces before it.
fn unquoted(line: &str) -> &str {
    let at = line.bytes().position(|b| !matches!(b, b'>' | b' ' | b'\t')).unwrap_or(line.len());
    line.get(at..).unwrap_or_default()
}

/// The first line of a document that is printed over several lines.
fn opens_document(line: &str) -> bool {
    matches!(line, "{" | "[") || line.starts_with("<?xml")
}

/// `[ {`, `[]`, `["x"`, over several lines, too; `[    0.5] …` is a time of the kernel's.
fn opens_array(text: &str, line: Option<&str>) -> bool {
    let at = line.and_then(|l| text.find(l)).unwrap_or_default();
    let inside = text.get(at..).and_then(|t| t.strip_prefix('[')).unwrap_or_default();
    inside.trim_start().starts_with(['{', ']', '"', '['])
}

fn looks_like_json(text: &str) -> bool {
    text.contains('"') || text.trim_end().ends_with("[]")
}
