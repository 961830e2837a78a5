//! Texts that somebody has already read: what they are, and a snapshot of those that belong to one node.

use crate::archive::PackedText;
use crate::hosts::Hosts;
use crate::lines::Lines;
use crate::recognise::recognise;
use crate::{Lookup, Snapshot, source};
use linerate_formats::{Gives, Kind};

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

    /// Adds a text, at most 16 MiB of it. `lines`: where its lines stand in its file.
    /// False where it holds no facts.
    pub fn add(&mut self, name: &str, bytes: &[u8], lines: Lines) -> bool {
        let name = PackedText::name(name);
        let what = recognise(name, bytes);
        if !what.gives().facts() {
            return false;
        }
        self.hosts.add(name, what, bytes);
        if let Some(entry) = source::text(&mut self.snapshot, name, what, bytes) {
            self.snapshot.stands_at(entry, lines);
        }
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
        assert!(texts.add("ticket.txt", DMESG.as_bytes(), Lines::below(40)));
        assert!(!texts.add("notes.txt", b"hello\n", Lines::default()));
        let s = texts.finish().unwrap();
        let entry = s.outputs.first().unwrap().entry;
        let xid = Place::of(entry).line(2);
        assert_eq!(s.excerpt(xid).find("NVRM: Xid"), Some(30));
        assert!(s.describe(xid).ends_with(":42"), "{}", s.describe(xid));
        assert!(Texts::new("none").finish().is_none());
    }
}
