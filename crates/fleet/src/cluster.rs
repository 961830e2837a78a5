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
        Ok(match scheduler {
            Scheduler::Kubernetes => {
                let list = kubernetes::read(bytes)?;
                self.kubernetes = with(self.kubernetes.as_ref(), &list.items);
                list.left_out
            }
            Scheduler::Slurm => {
                let list = slurm::read(bytes);
                self.slurm = with(self.slurm.as_ref(), &list.items);
                list.left_out
            }
        })
    }

    /// Adds those of others.
    pub fn append(&mut self, other: Lists) {
        if let Some(list) = &other.kubernetes {
            self.kubernetes = with(self.kubernetes.as_ref(), list.items());
        }
        if let Some(list) = &other.slurm {
            self.slurm = with(self.slurm.as_ref(), list.items());
        }
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
                let node = if nameless { object_without_names(node, label) } else { node.clone() };
                let argv = ["kubectl", "get", "node", &node.name, "--output=json"];
                snapshot.add_output(&argv, node.write().as_bytes());
            }
            out.push(Joined { of: Scheduler::Kubernetes, found });
        }
        if let Some(list) = self.slurm.as_ref().filter(|_| !has(snapshot, Kind::SlurmNodes)) {
            let found = list.find(snapshot, label);
            if let Some(node) = found.ok().and_then(|(at, _)| list.items().get(at)) {
                let node = if nameless { record_without_names(node, label) } else { node.clone() };
                snapshot.add_output(&["scontrol", "show", "node", &node.name], node.write().as_bytes());
            }
            out.push(Joined { of: Scheduler::Slurm, found });
        }
        out
    }
}

/// A list with more nodes.
fn with<T: Listed + Clone>(known: Option<&Register<T>>, new: &[T]) -> Option<Register<T>> {
    let known = known.map(Register::items).unwrap_or_default();
    Some(Register::new(known.iter().chain(new).cloned().collect()))
}

/// What stands for the names of a node.
const NAMELESS: &str = "this-node";

/// Takes the names of a node out of what people and controllers wrote. A short name may be a word of something else.
fn hide(text: &mut String, names: &[String]) {
    for name in names.iter().filter(|n| n.len() > 3) {
        if text.contains(name.as_str()) {
            *text = text.replace(name.as_str(), NAMELESS);
        }
    }
}

/// The names of a node, the longest first: one may be the beginning of another.
fn names_of<T: Listed>(node: &T, label: &str) -> Vec<String> {
    let of = |n: &str| [n.to_owned(), n.split('.').next().unwrap_or(n).to_owned()];
    let mut all: Vec<String> = node.names().into_iter().chain([label]).flat_map(of).collect();
    all.sort_by_key(|n| std::cmp::Reverse(n.len()));
    all
}

fn object_without_names(node: &kubernetes::Node, label: &str) -> kubernetes::Node {
    let (names, mut out) = (names_of(node, label), node.clone());
    NAMELESS.clone_into(&mut out.name);
    out.labels.retain(|l| !kubernetes::NAMES_A_NODE.contains(&l.name.as_str()));
    out.labels.iter_mut().chain(&mut out.annotations).for_each(|p| hide(&mut p.value, &names));
    out.taints.iter_mut().for_each(|t| hide(&mut t.value, &names));
    out
}

fn record_without_names(node: &slurm::Node, label: &str) -> slurm::Node {
    let (names, mut out) = (names_of(node, label), node.clone());
    NAMELESS.clone_into(&mut out.name);
    out.hostname = None;
    out.reason.iter_mut().for_each(|r| hide(&mut r.value, &names));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_joined_by_ids_then_names_and_lose_their_names() {
        let object = |name: &str, machine: &str| {
            format!(
                r#"{{"kind":"Node","metadata":{{"name":"{name}","labels":{{"kubernetes.io/hostname":"{name}","nvidia.com/gpu.product":"H100","site/of":"rack-{name}"}}}},
                "status":{{"allocatable":{{"nvidia.com/gpu":"8"}},"nodeInfo":{{"machineID":"{machine}"}}}}}}"#
            )
        };
        let (a, b) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
        let list = format!(r#"{{"kind":"List","items":[{},{}]}}"#, object("gpu7", a), object("gpu8", b));
        let mut lists = Lists::default();
        lists.add(Scheduler::Kubernetes, list.as_bytes()).unwrap();
        lists
            .add(
                Scheduler::Slurm,
                b"NodeName=gpu7 Arch=x \n   AvailableFeatures=x\n   Reason=gpu7.example.org is slow [root@T]\n",
            )
            .unwrap();
        let machine = |id: &str| {
            let mut s = Snapshot::new("s");
            s.add_file("etc/machine-id", linerate_snapshot::machine_digest(id.as_bytes()).as_bytes());
            s
        };
        let found = |s: &mut Snapshot, label: &str| -> Vec<_> {
            lists.join(s, label, true).into_iter().map(|j| j.found).collect()
        };
        // Its id says more than its name.
        assert_eq!(found(&mut machine(b), "gpu7"), [Ok((1, By::Machine)), Ok((0, By::Name))]);
        assert_eq!(found(&mut machine("0"), "gpu8"), [Err(Stranger::Other), Err(Stranger::None(1))]);
        let mut s = Snapshot::new("s");
        assert_eq!(found(&mut s, "gpu7.example.org"), [Ok((0, By::Name)), Ok((0, By::Name))]);
        let texts: String = s.outputs.iter().map(|o| String::from_utf8_lossy(s.data(o.entry))).collect();
        assert!(
            !texts.contains("gpu7") && texts.contains("nvidia.com/gpu") && texts.contains("rack-this-node"),
            "{texts}"
        );
        assert!(!s.outputs.iter().flat_map(|o| &o.argv).any(|a| a.contains("gpu7")));
        // A snapshot that has its own keeps it.
        assert_eq!(found(&mut s, "gpu7"), []);
    }
}
