//! What of a node's texts was not read because a limit was reached: said, so that nobody takes the rest for all.

use linerate_formats::bounds::{LeftOut, Limit, TEXT_ITEMS};
use linerate_snapshot::{EntryId, Lookup, OutputKind, Snapshot};

/// Part of a text that was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The text.
    pub entry: EntryId,
    /// How much, and by which limit.
    pub left_out: LeftOut,
}

impl Cut {
    /// In one line, with the name of the text.
    #[must_use]
    pub fn words(&self, s: &Snapshot) -> String {
        let command = s.outputs.iter().find(|o| o.entry == self.entry && !o.argv.is_empty());
        let name = command.map_or_else(|| format!("/{}", s.path(self.entry)), |o| o.argv.join(" "));
        format!("{name}: {}", self.left_out)
    }
}

/// Notes what a reader left out of a text.
pub(crate) fn note(cuts: &mut Vec<Cut>, entry: EntryId, left_out: &[LeftOut]) {
    cuts.extend(left_out.iter().map(|left_out| Cut { entry, left_out: *left_out }));
}

/// Files that are lists of lines, whose readers take at most [`TEXT_ITEMS`].
const LISTS: [&str; 3] = ["proc/modules", "proc/driver/nvidia/params", "proc/config.gz"];

/// Lists with more lines than their readers take.
pub(crate) fn lists(s: &Snapshot, cuts: &mut Vec<Cut>) {
    let files = LISTS.iter().filter_map(|path| match s.resolve(path) {
        Lookup::Found(id) => Some(id),
        _ => None,
    });
    let listed = |k| matches!(k, OutputKind::Ibdev2netdev | OutputKind::EthtoolStats | OutputKind::Cmdline);
    let outputs = s.outputs.iter().filter(|o| listed(o.kind)).map(|o| o.entry);
    for entry in files.chain(outputs) {
        let data = s.data(entry);
        if data.len() <= TEXT_ITEMS {
            continue;
        }
        // A command line is one line of words; everything else has one item a line at most.
        let items = data.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty()).count();
        let lines = data.split(|b| *b == b'\n').filter(|l| !l.is_empty()).count();
        let n = if lines > 1 { lines } else { items };
        if let Some(more) = n.checked_sub(TEXT_ITEMS).filter(|more| *more > 0) {
            let line = if lines > 1 { u32::try_from(TEXT_ITEMS + 1).unwrap_or(u32::MAX) } else { 1 };
            cuts.push(Cut { entry, left_out: LeftOut { limit: Limit::TEXT_ITEMS, line, count: more as u64 } });
        }
    }
}
