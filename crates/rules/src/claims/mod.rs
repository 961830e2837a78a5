//! What schedulers claim of the node, held to what the node shows.

mod gpu_count;
mod machine_configs_applied;
mod rdma_port;
mod schedulable;

use crate::rule::{Rule, Source};
use crate::{Cx, Findings, Subject};
use linerate_snapshot::{Place, Reading, Why};

pub(crate) static RULES: &[&Rule] =
    &[&gpu_count::RULE, &rdma_port::RULE, &schedulable::RULE, &machine_configs_applied::RULE];

const DEVICE_PLUGINS: Source = Source {
    title: "Kubernetes, Device Plugins: healthy devices are what the kubelet advertises as the node's resources",
    at: "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
};

/// How to have a scheduler's claims in a source.
const SEE: &str = "add the output of `kubectl get node NAME -o json` or `scontrol show node NAME`";

/// A place in a text; 0: the text has no line for it.
fn at(place: Place, line: u32) -> Place {
    if line == 0 { place } else { place.line(line) }
}

/// Says where there is a text of a scheduler, and what it claims of this node could not be read from it.
fn unreadable(cx: &Cx<'_>, out: &mut Findings) {
    let cluster = &cx.node.cluster;
    let mut say = |what: &str, place: Place, why: &Why| {
        if *why != Why::NotCollected {
            out.unknown(Subject::Named(what.to_owned()), format_args!("{what}: {why}")).at(place).see(SEE);
        }
    };
    if let Reading::Unreadable(place, why) = &cluster.slurm {
        say("Slurm's record of the node", *place, why);
    }
    if let Reading::Unreadable(place, why) = &cluster.kubernetes {
        say("the node's object in Kubernetes", *place, why);
    }
}
