//! Facts that a tool printed, where the kernel's own files do not show them.

use linerate_formats::At;
use linerate_snapshot::{OutputKind, Place, Reading, Snapshot, Why};

/// What all outputs of one tool say.
pub(crate) struct Printed<T> {
    /// Each output, parsed.
    texts: Vec<(T, Place)>,
    /// Where a capture would have it: `cmd/` and the tool.
    missing: Place,
}

impl<T> Printed<T> {
    pub(crate) fn of(s: &Snapshot, kind: OutputKind, command: &'static str, parse: fn(&[u8]) -> T) -> Self {
        let texts = s.outputs.iter().filter(|o| o.kind == kind);
        let texts = texts.map(|o| (parse(s.data(o.entry)), Place::of(o.entry))).collect();
        Printed { texts, missing: Place::below(s.root(), command) }
    }

    /// Only those texts.
    pub(crate) fn only(mut self, good: impl Fn(&T) -> bool) -> Self {
        self.texts.retain(|(t, _)| good(t));
        self
    }

    /// A fact, of the first output that shows it.
    pub(crate) fn field<F>(&self, get: impl Fn(&T) -> Option<At<F>>) -> Reading<F> {
        let found = self.texts.iter().find_map(|(t, p)| Some((get(t)?, *p)));
        match (found, self.texts.first()) {
            (Some((v, p)), _) => Reading::Known(v.value, p.line(v.line)),
            (None, Some((_, p))) => {
                let tool = self.missing.leaf.trim_start_matches("cmd/");
                Reading::Unreadable(*p, Why::Malformed(format!("this output of {tool} does not show it").into()))
            }
            (None, None) => Reading::Unreadable(self.missing, Why::NotCollected),
        }
    }
}
