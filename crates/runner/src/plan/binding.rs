//! Where a program runs: on the NUMA node of its network device, because the way between sockets is measured otherwise.

use crate::facts::Facts;
use crate::probe::Probe;

/// NUMA binding of a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// CPUs and memory of a node, with numactl.
    Numactl(u32),
    /// CPUs of a node, with taskset; memory follows them as long as the node has some.
    Taskset(u32, String),
    /// Not bound; why, where that is worth a word.
    None(&'static str),
}

impl Binding {
    /// For a device on this NUMA node.
    #[must_use]
    pub fn choose(node: Option<u32>, facts: &Facts, probe: &Probe) -> Binding {
        if facts.known && facts.numa.len() == 1 {
            return Binding::None("one NUMA node, so there is nothing to bind");
        }
        let Some(node) = node else { return Binding::None("the device's NUMA node is not known") };
        if probe.has("numactl") {
            return Binding::Numactl(node);
        }
        match facts.numa.iter().find(|(id, cpus)| *id == node && !cpus.is_empty()) {
            Some((_, cpus)) if probe.has("taskset") => Binding::Taskset(node, cpus.clone()),
            _ => Binding::None("neither numactl nor taskset is there"),
        }
    }

    /// What stands before the program.
    #[must_use]
    pub fn prefix(&self) -> Vec<String> {
        match self {
            Binding::Numactl(n) => {
                vec!["numactl".into(), format!("--cpunodebind={n}"), format!("--membind={n}"), "--".into()]
            }
            Binding::Taskset(_, cpus) => vec!["taskset".into(), "-c".into(), cpus.clone()],
            Binding::None(_) => Vec::new(),
        }
    }

    /// In words; `None` where nothing was asked for.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        match self {
            Binding::Numactl(n) => Some(format!("CPUs and memory of NUMA node {n} (numactl)")),
            Binding::Taskset(n, cpus) => Some(format!("CPUs {cpus} of NUMA node {n} (taskset; memory is not bound)")),
            Binding::None("") => None,
            Binding::None(why) => Some(format!("not bound to a NUMA node: {why}")),
        }
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> Option<u32> {
        match self {
            Binding::Numactl(n) | Binding::Taskset(n, _) => Some(*n),
            Binding::None(_) => None,
        }
    }
}
