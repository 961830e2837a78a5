//! From failing verdicts to a plan.

mod address;
mod bios;
mod group;
mod hand;
mod harmless;
mod labels;
mod pending;
mod refuse;
mod steps;
#[cfg(test)]
mod tests;
mod wish;

use crate::address::Given;
use crate::bios::Setup;
use crate::change::Setting;
use crate::change::labels::Asked;
use crate::model::{NodeId, Plan};
use crate::platform::Platform;
use crate::see;
use crate::wished::Wished;
use linerate_node::Node;
use linerate_rules::Audit;
use linerate_snapshot::Snapshot;

/// The option of the command that allows a dangerous step, by the name of its rule or its own.
pub const ALLOW: &str = "--allow";
/// The name of the step that changes kernel arguments.
pub const KERNEL_ARGS: &str = "kernel-args";

/// What is asked of the planner.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Rules whose findings are fixed; empty: all of severity low and above. A rule that is named is fixed whatever its severity.
    pub fix: Vec<String>,
    /// Dangerous rules or steps that are allowed.
    pub allow: Vec<String>,
    /// Whether a kernel is started on trial first, where the boot loader can.
    pub trial: bool,
    /// Whether NICs are reset without a reboot (`mlxfwreset`); else the reboot does it.
    pub reset_devices: bool,
    /// What the node's BMC shows of its firmware, where one was asked: then BIOS attributes are set by Redfish.
    pub redfish: Option<Setup>,
    /// Addresses for interfaces whose findings ask for one.
    pub addresses: Vec<Given>,
    /// Labels of the node's object in Kubernetes that the operator asks for, and those that it has.
    pub labels: Option<Asked>,
    /// What a policy wishes and does not hold; then rules are asked only where `fix` names them. `None`: there is no policy.
    pub policy: Option<Vec<Wished>>,
    /// The plan is for another system (`--format talos`, `machineconfig`, …): steps that only it can make are planned too, without acts.
    pub export: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            fix: vec![],
            allow: vec![],
            trial: true,
            reset_devices: false,
            redfish: None,
            addresses: vec![],
            labels: None,
            policy: None,
            export: false,
        }
    }
}

/// Plans the fixes of a node's findings. The same input gives the same plan. It is simulated: no verdict is worse after it, as far as its effects can
/// be simulated.
#[must_use]
pub fn plan(snapshot: &Snapshot, node: &Node<'_>, audit: &Audit, options: &Options) -> Plan {
    let platform = Platform::detect(snapshot, node);
    plan_for(snapshot, node, audit, options, &platform)
}

/// As [`plan()`], for a platform that is known.
#[must_use]
pub fn plan_for(snapshot: &Snapshot, node: &Node<'_>, audit: &Audit, options: &Options, platform: &Platform) -> Plan {
    let cx = Cx { snapshot, node, audit, options, platform, set: Vec::new() };
    harmless::plan(&cx).sealed()
}

/// What everything here needs.
#[derive(Clone)]
struct Cx<'a, 's> {
    snapshot: &'s Snapshot,
    node: &'a Node<'s>,
    audit: &'a Audit,
    options: &'a Options,
    platform: &'a Platform,
    /// Settings of NICs that wait for a reset, and that the plan sets anew: device and parameter.
    set: Vec<(String, String)>,
}

impl Cx<'_, '_> {
    /// The node for which changes are made. `reset`: NICs may be reset without a reboot.
    fn setting(&self, reset: bool) -> Setting<'_, '_> {
        Setting {
            snapshot: self.snapshot,
            node: self.node,
            platform: self.platform,
            options: self.options,
            set: &self.set,
            reset,
        }
    }
}

/// A plan that grows.
#[derive(Clone, Default)]
struct Parts {
    steps: Vec<crate::Step>,
    by_hand: Vec<crate::ByHand>,
    refused: Vec<crate::Refused>,
}

impl Parts {
    /// What becomes of the wishes: each one is in a step, left to people, or refused.
    fn of(cx: &Cx<'_, '_>, wishes: Vec<wish::Wish>) -> Parts {
        let mut out = Parts::default();
        address::unasked(cx, &wishes, &mut out.refused);
        let (doable, by_hand) = hand::split(cx, wishes);
        out.by_hand = by_hand;
        let doable = refuse::refuse(cx, doable, &mut out.refused);
        let doable = group::without_contradictions(doable, &mut out.refused);
        steps::steps(cx, doable, &mut out);
        out
    }
}

/// Which node a snapshot is of.
#[must_use]
pub fn node_id(s: &Snapshot) -> NodeId {
    let text = |p: &str| see::text(s, p).map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
    let manifest = |v: &str| (!v.is_empty()).then(|| v.to_owned());
    NodeId {
        host: text("proc/sys/kernel/hostname").or_else(|| manifest(&s.manifest.host)),
        // A redacted one is another in each snapshot: it tells nothing.
        machine: text("etc/machine-id").filter(|m| m.len() == 64 && m.bytes().all(|b| b.is_ascii_hexdigit())),
        boot: text("proc/sys/kernel/random/boot_id")
            .or_else(|| manifest(&s.manifest.boot_id))
            .map(|id| linerate_snapshot::boot_digest(&id)),
        redacted: s.manifest.redacted,
        ..NodeId::default()
    }
}
