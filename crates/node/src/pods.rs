//! Pods that a source holds: what somebody wants to run, on this node or on others.

use crate::cut::{self, Cut};
use linerate_formats::pod_spec::{self, Container, Pod};
use linerate_snapshot::{OutputKind, Place, Snapshot};

/// A pod, and the text that it is in.
#[derive(Debug, Clone)]
pub struct PodAt {
    /// What it asks for.
    pub pod: Pod,
    /// The text.
    pub text: Place,
}

impl PodAt {
    /// Where a line of it is.
    #[must_use]
    pub fn at(&self, line: u32) -> Place {
        self.text.line(line)
    }

    /// Its name and a container's: `nccl-test/worker`.
    #[must_use]
    pub fn name_of(&self, c: &Container) -> String {
        let unnamed = || "container".to_owned();
        let name = c.name.clone().unwrap_or_else(unnamed);
        self.pod.name.as_ref().map_or(name.clone(), |pod| format!("{pod}/{name}"))
    }
}

pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<PodAt> {
    let mut all = Vec::new();
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::PodSpec) {
        let kept = pod_spec::read(s.data(o.entry));
        cut::note(cuts, o.entry, &kept.left_out);
        all.extend(kept.items.into_iter().map(|pod| PodAt { pod, text: Place::of(o.entry) }));
    }
    all
}
