//! Lines of a file between two that divide it.

use super::items::Form;
use super::line::Class;
use super::tagged;
use crate::recognise::HEAD;
use linerate_formats::{Gives, Kind, sniff};

/// What is done with the lines of the segment.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// They are held.
    #[default]
    Open,
    /// They are a tool's.
    Kept(Kind),
    /// They are a tool's, of which no more fits: a text without lines of its middle would be another.
    Ended(Kind),
    /// Each is looked at by itself.
    Searched,
}

/// Lines between two that divide the file.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) stage: Stage,
    /// Lines of the file above it.
    pub(super) above: u64,
    pub(super) host: Option<String>,
    /// What the heading of a loop above it names.
    pub(super) heading: Option<String>,
    /// Whether its first line of words has the name of a host in front, once there is one.
    is_tagged: Option<bool>,
    /// Its lines, until it is searched.
    pub(super) text: String,
    /// Of those that are held, where each ends in the text, and what it is.
    pub(super) held: Vec<(usize, Class)>,
    pub(super) lines: u64,
    /// It begins with a command line.
    pub(super) prompted: bool,
    /// A program's heading is above it, which names hosts.
    pub(super) headed: bool,
    /// A line that is a bracket alone began a document, which the next such line ends.
    pub(super) is_document: bool,
    /// Something stands in it.
    pub(super) says: bool,
    /// The tool that one of its lines showed.
    pub(super) shown: Option<Kind>,
    /// By how much its first line is indented that is no command.
    pub(super) margin: Option<usize>,
}

/// Room for the lines of the next segment; what one long line took is given back.
pub(super) fn emptied(mut text: String, mut held: Vec<(usize, Class)>) -> (String, Vec<(usize, Class)>) {
    if text.capacity() > 4 * HEAD || held.capacity() > 4 * HEAD {
        return Default::default();
    }
    text.clear();
    held.clear();
    (text, held)
}

impl Segment {
    pub(super) fn push(&mut self, line: &str, class: Class) {
        self.text.push_str(line);
        if matches!(self.stage, Stage::Open) {
            self.held.push((self.text.len(), class));
        }
        self.text.push('\n');
        self.lines += 1;
        self.says |= class != Class::Blank;
        if class == Class::Other {
            self.is_tagged.get_or_insert_with(|| tagged::split(line).is_some());
        }
    }

    /// The next one. What is no longer needed of this one holds its lines.
    pub(super) fn next(self) -> Segment {
        let (text, held) = emptied(self.text, self.held);
        Segment { text, held, ..Segment::default() }
    }

    /// A line alone says little: the next paragraph may be prose.
    pub(super) fn may_be_whole(&self) -> bool {
        self.says && (self.prompted || self.headed || self.lines > 1 || self.text.contains("BOOT_IMAGE="))
    }

    /// What its beginning shows.
    pub(super) fn known(&self) -> Kind {
        let head = self.text.as_bytes();
        sniff::shown(head.get(..HEAD).unwrap_or(head))
    }

    /// The tool whose text it is as a whole.
    pub(super) fn tool(&self) -> Option<Kind> {
        let known = self.known();
        // Words alone are no evidence; below a command they are.
        let is_shown = self.is_tagged != Some(true) && (self.prompted || !known.tool().is_weak());
        (is_kept(known) && is_shown && !Form::cuts(known)).then_some(known)
    }
}

/// Whether a tool's text is kept.
pub(super) fn is_kept(kind: Kind) -> bool {
    matches!(kind.gives(), Gives::Facts | Gives::Copy(_))
}
