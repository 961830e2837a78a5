//! Lists of all nodes of a cluster, as its scheduler prints them, and each snapshot's own entry of them.

use linerate_formats::bounds::LeftOut;
use linerate_formats::{Kind, ParseError, kubernetes, slurm};
pub use linerate_node::cluster::{By, Stranger};
use linerate_node::cluster::{Listed, Register};
use linerate_snapshot::Snapshot;

/// Lists of nodes.
#[derive(Debug, Clone, Default)]
pub struct Lists {
    kubernetes: Option<Register<kubernetes::Node>>,
    slurm: Option<Register<slurm::Node>>,
}

/// A scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheduler {
    /// Kubernetes.
    Kubernetes,
    /// Slurm.
    Slurm,
}

impl Scheduler {
    /// Whose text this is.
    #[must_use]
    pub fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::KubernetesNodes => Some(Scheduler::Kubernetes),
            Kind::SlurmNodes => Some(Scheduler::Slurm),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Kubernetes => "Kubernetes",
            Scheduler::Slurm => "Slurm",
        }
    }
}

/// What became of a snapshot and the list of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The list.
    pub of: Scheduler,
    /// The entry, by number, and by what it was found; or why there is none.
    pub found: Result<(usize, By), Stranger>,
}

impl Lists {
    /// Adds the nodes of a text to those that are known; what a limit left out of it.
    ///
    /// # Errors
    /// The text is of no scheduler, or cannot be read.
    pub fn add(&mut self, scheduler: Scheduler, bytes: &[u8]) -> Result<Vec<LeftOut>, ParseError> {
        fn with<T: Listed + Clone>(known: Option<&Register<T>>, new: Vec<T>) -> Option<Register<T>> {
            let all: Vec<T> = known.into_iter().flat_map(|r| r.items().iter().cloned()).chain(new).collect();
            Some(Register::new(all))
        }
        Ok(match scheduler {
            Scheduler::Kubernetes => {
                let list = kubernetes::read(bytes)?;
                self.kubernetes = with(self.kubernetes.as_ref(), list.items);
                list.left_out
            }
            Scheduler::Slurm => {
                let list = slurm::read(bytes);
                self.slurm = with(self.slurm.as_ref(), list.items);
                list.left_out
            }
        })
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kubernetes.is_none() && self.slurm.is_none()
    }

    /// Names of the nodes of a list, in its order.
    #[must_use]
    pub fn names(&self, of: Scheduler) -> Vec<&str> {
        fn names<T: Listed>(list: Option<&Register<T>>) -> Vec<&str> {
            let all = list.map(Register::items).unwrap_or_default();
            all.iter().map(|n| n.names().first().copied().unwrap_or_default()).collect()
        }
        match of {
            Scheduler::Kubernetes => names(self.kubernetes.as_ref()),
            Scheduler::Slurm => names(self.slurm.as_ref()),
        }
    }

    /// Gives the snapshot of the node that people call `label` its own entries, as if its capture had asked for them. One that has an entry keeps it:
    /// it is of the snapshot's time. `nameless`: without the names of the node, for a snapshot that is redacted.
    pub fn join(&self, snapshot: &mut Snapshot, label: &str, nameless: bool) -> Vec<Joined> {
        let mut out = Vec::new();
        let has = |s: &Snapshot, kind| s.outputs.iter().any(|o| o.kind == kind);
        if let Some(list) = self.kubernetes.as_ref().filter(|_| !has(snapshot, Kind::KubernetesNodes)) {
            let found = list.find(snapshot, label);
            if let Some(node) = found.ok().and_then(|(at, _)| list.items().get(at)) {
                let (text, name) = text(node, &node.write(), label, nameless);
                snapshot.add_output(&["kubectl", "get", "node", &name, "--output=json"], text.as_bytes());
            }
            out.push(Joined { of: Scheduler::Kubernetes, found });
        }
        if let Some(list) = self.slurm.as_ref().filter(|_| !has(snapshot, Kind::SlurmNodes)) {
            let found = list.find(snapshot, label);
            if let Some(node) = found.ok().and_then(|(at, _)| list.items().get(at)) {
                let (text, name) = text(node, &node.write(), label, nameless);
                snapshot.add_output(&["scontrol", "show", "node", &name], text.as_bytes());
            }
            out.push(Joined { of: Scheduler::Slurm, found });
        }
        out
    }
}

/// What stands for the names of a node.
const NAMELESS: &str = "this-node";

/// An entry as it is added, and the name in it.
fn text<T: Listed>(node: &T, written: &str, label: &str, nameless: bool) -> (String, String) {
    let mut names: Vec<&str> = node.names();
    let name = names.first().copied().unwrap_or_default().to_owned();
    if !nameless {
        return (written.to_owned(), name);
    }
    let shorts: Vec<&str> = names.iter().filter_map(|n| n.split('.').next()).collect();
    names.extend(shorts);
    names.push(label);
    // The longest first: one is the beginning of another.
    names.sort_by_key(|n| std::cmp::Reverse(n.len()));
    // The name itself always goes; others where they cannot be a word of something else.
    let goes = |n: &&&str| **n == name || n.len() > 3;
    let text = names.iter().filter(goes).fold(written.to_owned(), |text, n| text.replace(*n, NAMELESS));
    (text, NAMELESS.to_owned())
}
