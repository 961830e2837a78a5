//! Pods, and services of compose files, that a source holds: what somebody wants to run, on this node or on others.

use crate::cut::{self, Cut};
use linerate_formats::pod_spec::{self, Container, Pod, compose};
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

    /// Its name and a container's: `nccl-test/worker`. A service of compose has one name.
    #[must_use]
    pub fn name_of(&self, c: &Container) -> String {
        let unnamed = || "container".to_owned();
        let name = c.name.clone().unwrap_or_else(unnamed);
        self.pod.name.as_ref().map_or(name.clone(), |pod| format!("{pod}/{name}"))
    }
}

pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<PodAt> {
    let mut all = Vec::new();
    for o in &s.outputs {
        let kept = match o.kind {
            OutputKind::PodSpec => pod_spec::read(s.data(o.entry)),
            OutputKind::Compose => compose::read(s.data(o.entry)),
            _ => continue,
        };
        cut::note(cuts, o.entry, &kept.left_out);
        all.extend(kept.items.into_iter().map(|pod| PodAt { pod, text: Place::of(o.entry) }));
    }
    all
}
