//! Texts that somebody has already read: what they are, and a snapshot of those that belong to one node.

use crate::archive::PackedText;
use crate::hosts::Hosts;
use crate::recognise::recognise;
use crate::{Lookup, Snapshot, source};
use linerate_formats::{Gives, Kind};
use std::borrow::Cow;

/// What a text is, by its beginning (64 KiB are enough) and its name, which may end in that of a packing.
#[must_use]
pub fn content(name: &str, head: &[u8]) -> Kind {
    recognise(PackedText::name(name), head)
}

/// The name of a text without the ending that names a packing.
#[must_use]
pub fn unpacked_name(name: &str) -> &str {
    PackedText::name(name)
}

/// Joins a text to the snapshot of its node, where the node's own tree does not have the file that it is a copy of. What linerate captured has all of
/// its own time.
pub(crate) fn join(s: &mut Snapshot, name: &str, bytes: &[u8]) {
    let what = recognise(PackedText::name(name), bytes);
    let is_there = |path: &str| matches!(s.resolve(path), Lookup::Found(_));
    let is_known = matches!(what.gives(), Gives::Copy(path) if is_there(path));
    if s.manifest.linerate.is_empty() && what.gives().facts() && !is_known {
        source::text(s, name, what, bytes);
    }
}

/// A text below as many empty lines as stand above it in its file, so that evidence names the file's own line.
pub(crate) fn below(what: Kind, bytes: &[u8], above: usize) -> Cow<'_, [u8]> {
    // A document begins with its first byte; nothing may stand before it.
    let document = bytes.trim_ascii_start().first().is_some_and(|b| matches!(b, b'<' | b'{' | b'['));
    if above == 0 || document && what.gives() != Gives::KernelLog {
        return bytes.into();
    }
    let mut out = vec![b'\n'; above];
    out.extend_from_slice(bytes);
    out.into()
}

/// Texts of one node.
pub struct Texts {
    snapshot: Snapshot,
    hosts: Hosts,
    known: bool,
}

impl Texts {
    /// None yet.
    #[must_use]
    pub fn new(label: impl Into<String>) -> Self {
        Texts { snapshot: Snapshot::new(label), hosts: Hosts::default(), known: false }
    }

    /// Adds a text, at most 16 MiB of it. `above`: lines of its file that stand before it.
    /// False where it holds no facts.
    pub fn add(&mut self, name: &str, bytes: &[u8], above: usize) -> bool {
        let name = PackedText::name(name);
        let what = recognise(name, bytes);
        if !what.gives().facts() {
            return false;
        }
        self.hosts.add(name, what, bytes);
        source::text(&mut self.snapshot, name, what, &below(what, bytes, above));
        self.known = true;
        true
    }

    /// The snapshot; `None` where no text held facts.
    #[must_use]
    pub fn finish(mut self) -> Option<Snapshot> {
        self.snapshot.problems.extend(self.hosts.contradiction());
        self.known.then_some(self.snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    const DMESG: &str = "Nov 21 07:00:00 gpu-1 kernel: Linux version 6.8.0\nNov 21 07:00:09 gpu-1 kernel: NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.\n";
    const MODULES: &str = "Module                  Size  Used by\nnvidia_peermem         16384  0\n";

    #[test]
    fn each_text_is_what_it_is() {
        assert_eq!(content("kern.log.gz", DMESG.as_bytes()), Kind::Dmesg);
        assert_eq!(content("x", MODULES.as_bytes()).gives(), Gives::Copy("proc/modules"));
        let log = content("x", b"a:1:2 [0] NCCL INFO Using network IB\n");
        assert_eq!((log, log.gives()), (Kind::NcclLog, Gives::NoFacts("an NCCL log")));
        assert_eq!(content("x", b"hello\n").gives(), Gives::Unknown);
        let hosts: Vec<String> =
            crate::hosts::of_text(content("x", DMESG.as_bytes()), DMESG.as_bytes()).into_iter().collect();
        assert_eq!(hosts, ["gpu-1"]);
    }

    #[test]
    fn evidence_names_the_line_of_the_file() {
        let mut texts = Texts::new("ticket");
        assert!(texts.add("ticket.txt", DMESG.as_bytes(), 40));
        assert!(!texts.add("notes.txt", b"hello\n", 0));
        let s = texts.finish().unwrap();
        let entry = s.outputs.first().unwrap().entry;
        assert_eq!(s.excerpt(Place::of(entry).line(42)).find("NVRM: Xid"), Some(30));
        assert!(Texts::new("none").finish().is_none());
    }
}
