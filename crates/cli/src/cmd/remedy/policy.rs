//! What a policy wishes of the node that a plan is for.

use crate::output::{Failure, remark};
use linerate_fleet::policy::{self, Policy, condition};
use linerate_fleet::{Profile, Traits};
use linerate_formats::wildcard;
use linerate_node::Node;
use linerate_remedy::Wished;
use linerate_rules::Status;
use linerate_snapshot::Snapshot;
use std::path::Path;

/// What is wished.
pub(super) struct Wishes {
    /// Facts that are not as wanted.
    pub(super) wishes: Vec<Wished>,
    /// Labels of the node's object in Kubernetes, as kubectl writes them.
    pub(super) labels: Vec<String>,
    /// Expectations that could not be told.
    pub(super) unknown: usize,
}

/// Of a policy's expectations; `patterns`: of those alone, by their ids.
pub(super) fn wished(
    (file, policy): (&Path, &Policy),
    patterns: &[String],
    name: &str,
    (snapshot, node): (&Snapshot, &Node<'_>),
) -> Result<Wishes, Failure> {
    let named = |id: &str| patterns.is_empty() || patterns.iter().any(|p| wildcard::star(p.as_bytes(), id.as_bytes()));
    if let Some(p) =
        patterns.iter().find(|p| !policy.all().any(|(_, k)| wildcard::star(p.as_bytes(), k.about().id.as_bytes())))
    {
        return Err(Failure::new(format!("no expectation of {} matches `{p}`", file.display()))
            .hint("`linerate policy explain` lists all"));
    }
    let profile = Profile::of(name, node, snapshot, &policy.rules());
    let facts = condition::Facts::new(linerate_report::json::node_facts(node, snapshot));
    let checked = policy::check(policy, &profile, &Traits::of(node), Some(&facts));
    if checked.classes.is_empty() {
        return Err(Failure::new(format!("no class of {} matches this node", file.display()))
            .hint("`linerate policy check` shows what it may be"));
    }
    for (class, unseen) in checked.classes.iter().filter(|(_, u)| !u.is_empty()) {
        remark(&format!("its class is assumed to be {}: the source does not show {}", class.name, unseen.join(", ")));
    }
    let answers = || checked.answers.iter().filter(|a| named(&a.kind.about().id));
    let wishes = answers().filter_map(|a| policy::wish(a, node)).collect();
    let labels = checked.classes.iter().flat_map(|(c, _)| &c.labels);
    let labels = labels.map(|(key, value)| value.as_ref().map_or_else(|| format!("{key}-"), |v| format!("{key}={v}")));
    let unknown = answers().filter(|a| a.status == Status::Unknown).count();
    Ok(Wishes { wishes, labels: labels.collect(), unknown })
}
