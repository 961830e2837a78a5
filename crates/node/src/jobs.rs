//! Batch scripts of Slurm that a source holds: what somebody wants to run, on this node or on others.

use crate::cut::{self, Cut};
use linerate_formats::sbatch::{self, Script};
use linerate_snapshot::{OutputKind, Place, Snapshot};

/// A script, and the text that it is in.
#[derive(Debug, Clone)]
pub struct ScriptAt {
    /// What it asks for.
    pub script: Script,
    /// The text.
    pub text: Place,
    /// Which one it is, where there are several: `script 2: `.
    pub name: String,
}

impl ScriptAt {
    /// Where a line of it is.
    #[must_use]
    pub fn at(&self, line: u32) -> Place {
        self.text.line(line)
    }
}

pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<ScriptAt> {
    let mut all: Vec<ScriptAt> = Vec::new();
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Sbatch) {
        let kept = sbatch::parse(s.data(o.entry));
        cut::note(cuts, o.entry, &kept.left_out);
        all.extend(kept.items.into_iter().map(|script| ScriptAt {
            script,
            text: Place::of(o.entry),
            name: String::new(),
        }));
    }
    if all.len() > 1 {
        for (n, job) in (1_u32..).zip(&mut all) {
            job.name = format!("script {n}: ");
        }
    }
    all
}
