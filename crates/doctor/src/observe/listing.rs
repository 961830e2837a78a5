//! Lists of NICs and interfaces that were broken over lines: by a terminal, in mid-word, or by a logger, an entry on each line.

use super::Observer;
use crate::place::Place;
use linerate_formats::nccl_log::{Level, Line, Message, NicList};
use linerate_formats::printed;

/// Bytes of a list: NCCL prints no more.
const MAX: usize = 2048;

/// A list whose end, or further entries, may follow in the next lines.
#[derive(Debug)]
pub(super) struct Listing {
    place: Place,
    /// Thread that prints it.
    thread: Option<usize>,
    /// The message so far: from the network on.
    text: String,
    /// What of the list is in it.
    have: NicList,
}

/// The list in a message.
fn list(text: &str) -> Option<NicList> {
    text.split_once("Using").and_then(|(_, list)| NicList::read(list))
}

impl Listing {
    /// A message that begins a list which may go on. One that names the interface of out-of-band messages is over.
    pub(super) fn begun(place: Place, thread: Option<usize>, message: Message<'_>, text: &str) -> Option<Self> {
        let begun = match message {
            Message::Using { list, .. } => !(list.contains("; OOB ") && list.ends_with('>')),
            Message::Other => text.starts_with("NET/") && text.ends_with("Using"),
            _ => false,
        };
        let have = || list(text).unwrap_or(NicList { nics: 0, whole: false });
        (begun && text.len() < MAX).then(|| Listing { place, thread, text: text.to_owned(), have: have() })
    }

    /// Adds a line that continues the list, and only such a line.
    fn join(&mut self, line: &str) -> bool {
        // Within a word, or where a blank was.
        let line = line.trim_end();
        let entry = format!(" {}", printed::own(line).text);
        for more in [line, &entry] {
            if self.text.len() + more.len() > MAX {
                continue;
            }
            let joined = format!("{}{more}", self.text);
            let new = list(&joined).filter(|l| l.nics > self.have.nics || l.whole && !self.have.whole);
            if let Some(have) = new {
                (self.text, self.have) = (joined, have);
                return true;
            }
        }
        false
    }
}

impl Observer {
    /// Takes a line that continues a list; any other line ends the list.
    pub(super) fn listed(&mut self, line: &str) -> bool {
        let joined = self.listing.as_mut().and_then(|l| l.join(line).then_some(l.place.file));
        match joined {
            Some(file) => self.file(file).other += 1,
            None => self.end_listing(),
        }
        joined.is_some()
    }

    pub(super) fn end_listing(&mut self) {
        let Some(Listing { place, thread, text, .. }) = self.listing.take() else { return };
        if text.ends_with("Using") {
            return;
        }
        let l = Line { before: "", who: "", level: Level::Info, source: None, message: &text };
        let message = Message::read(&l);
        self.file(place.file).understood += u64::from(message != Message::Other);
        self.message(place, &l, message, thread);
    }
}
