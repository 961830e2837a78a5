//! Runs of gpu-burn that a source holds.

use crate::cut::{self, Cut};
use linerate_formats::gpu_burn::{self, Run};
use linerate_snapshot::{OutputKind, Place, Snapshot};

/// A run, and the text that it is in.
#[derive(Debug, Clone)]
pub struct RunAt {
    /// What it found.
    pub run: Run,
    /// The text.
    pub text: Place,
}

impl RunAt {
    /// Where a line of it is.
    #[must_use]
    pub fn at(&self, line: u32) -> Place {
        self.text.line(line)
    }
}

pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<RunAt> {
    let mut all = Vec::new();
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::GpuBurn) {
        let kept = gpu_burn::parse(s.data(o.entry));
        cut::note(cuts, o.entry, &kept.left_out);
        all.extend(kept.items.into_iter().map(|run| RunAt { run, text: Place::of(o.entry) }));
    }
    all
}
