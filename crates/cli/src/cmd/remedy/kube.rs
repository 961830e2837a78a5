//! The cluster as the user named it.

use super::policy::Wishes;
use crate::output::Failure;
use crate::plan_args::{KubeArgs, PlanArgs};
use linerate_apply::kube::{Kube, Program};
use linerate_remedy::change::labels::{Asked, LabelError, Wanted, distinct};
use linerate_remedy::plan::node_id;
use linerate_snapshot::Snapshot;

impl KubeArgs {
    fn is_named(&self) -> bool {
        self.kube_node.is_some() || self.kube_context.is_some() || self.kubeconfig.is_some()
    }

    fn api(&self) -> Kube {
        let program = Program {
            config: self.kubeconfig.clone(),
            context: self.kube_context.clone(),
            cancel: crate::interrupt::cancel(),
        };
        Kube::new(Box::new(program), self.kube_node.clone())
    }

    /// The cluster, where one was named: labels are not changed in one that merely happens to be configured.
    pub(super) fn cluster(&self) -> Option<Kube> {
        self.is_named().then(|| self.api())
    }
}

/// Labels that are asked for, beside those that the node has.
pub(super) fn asked(a: &PlanArgs, policy: Option<&Wishes>, snapshot: &Snapshot) -> Result<Option<Asked>, Failure> {
    // A policy's labels are for a cluster that is named.
    let of_policy = policy.map_or(&[][..], |p| &p.labels).iter().filter(|_| a.kube.is_named());
    let words: Vec<&String> = a.label.iter().chain(of_policy).collect();
    if words.is_empty() {
        let unused = "--kube-node, --kube-context and --kubeconfig are for --label, and none is given";
        return if a.kube.is_named() { Err(Failure::new(unused)) } else { Ok(None) };
    }
    let wrong = |why: LabelError| Failure::new(format!("--label: {why}"));
    let wanted = words.iter().map(|w| w.parse()).collect::<Result<Vec<Wanted>, _>>().map_err(wrong)?;
    distinct(&wanted).map_err(wrong)?;
    let name = a.kube.kube_node.clone().or_else(|| node_id(snapshot).host.map(|h| h.to_ascii_lowercase()));
    let name = name.ok_or_else(|| {
        Failure::new("the source does not say the node's name").hint("name its object in Kubernetes with --kube-node")
    })?;
    let seen = a.kube.api().look(&name)?;
    Ok(Some(Asked { node: seen.node, labels: seen.labels, wanted }))
}
