//! What the planner says of a desired state on a node: when it holds, how long, what it disturbs and what it can break. The only place: rules state a
//! desired state, and the audit, the plan, its exports and the doctor show what is said here.

use crate::change;
use crate::model::{Disruption, Permanence, Risk};
use crate::platform::Platform;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::nicfw::NicFirmware;
use linerate_rules::Action;
use serde::Serialize;

/// ACS Translation Blocking: to clear it takes no isolation away, VMs with ATS need it clear (facts §2.3).
const TRANSLATION_BLOCKING: u16 = 1 << 1;

/// When a fix holds and how long, what it disturbs, what it can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Terms {
    /// When it holds, and how long.
    pub persistence: Permanence,
    /// What it disturbs.
    pub disruption: Disruption,
    /// What it can break.
    pub risk: Risk,
}

/// What of a node decides the terms of a fix. By default nothing is known of it, and no NIC is reset without a reboot.
#[derive(Debug, Clone, Copy, Default)]
pub struct On<'a> {
    /// Bare metal, VM host or guest.
    pub role: Option<Role>,
    /// The firmware settings of its NICs.
    pub firmware: &'a [NicFirmware],
    /// Its platform, where NICs may be reset without a reboot.
    pub resets_by: Option<&'a Platform>,
    /// Pending settings that the plan sets anew: device and parameter.
    pub set: &'a [(String, String)],
}

impl<'a> On<'a> {
    /// A node, as plans are made by default.
    #[must_use]
    pub fn node(node: &'a Node<'_>) -> On<'a> {
        On { role: node.context.role.value, firmware: &node.nic_firmware, ..On::default() }
    }
}

/// The terms of a desired state; `None`: people do it, and choose when and how.
#[must_use]
pub fn terms(action: &Action, on: &On<'_>) -> Option<Terms> {
    let (.., kind) = change::kind(action)?;
    let mut terms = kind.terms(action, on);
    // All virtual machines go down with their host.
    if terms.disruption >= Disruption::DrainReboot && on.role == Some(Role::VmHost) {
        terms.risk = terms.risk.max(Risk::High);
    }
    if takes_isolation(action) && !matches!(on.role, Some(Role::BareMetal | Role::VmGuest)) {
        terms.risk = Risk::Dangerous;
    }
    Some(terms)
}

/// The terms of several in one step; `None` where none of them is for a plan.
pub(crate) fn of<'w>(actions: impl IntoIterator<Item = &'w Action>, on: &On<'_>) -> Option<Terms> {
    actions.into_iter().filter_map(|a| terms(a, on)).reduce(|a, b| Terms {
        persistence: a.persistence.max(b.persistence),
        disruption: a.disruption.max(b.disruption),
        risk: a.risk.max(b.risk),
    })
}

/// Whether it lets devices reach each other that ACS keeps apart.
pub(crate) fn takes_isolation(action: &Action) -> bool {
    match action {
        Action::AcsControl { clear, .. } => clear & !TRANSLATION_BLOCKING != 0,
        Action::KernelArgs { add, .. } => add.iter().any(|word| {
            let options = word.strip_prefix("pci=").into_iter().flat_map(|v| v.split(','));
            options.into_iter().any(|o| o.starts_with("disable_acs_redir=") || o.starts_with("config_acs="))
        }),
        _ => false,
    }
}

/// Who does what no plan does, in words.
#[must_use]
pub fn by_hand(action: &Action) -> &'static str {
    match action {
        Action::Environment { .. } => "by hand, in the environment of the job",
        Action::Software { .. } => "by hand: software to install or change",
        Action::Physical { .. } => "by hand, at the machine",
        Action::HostSide { .. } => "by hand, on the VM host",
        Action::Investigate { .. } => "needs a decision by an operator",
        _ => "by hand",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(word: &'static str) -> Action {
        Action::KernelArgs { add: vec![word.into()], remove: vec![] }
    }

    #[test]
    fn what_takes_isolation_is_dangerous_unless_the_node_is_known_to_hold_no_vms() {
        let port = "0000:41:00.0".parse().expect("a BDF");
        let clear = |bits| Action::AcsControl { ports: vec![port], clear: bits, set: 0 };
        let risk = |action: &Action, role| terms(action, &On { role, ..On::default() }).map(|t| t.risk);
        for action in [clear(0x1c), args("pci=disable_acs_redir=pci:1:2"), args("pci=realloc,config_acs=x@pci:0:0")] {
            assert_eq!(risk(&action, None), Some(Risk::Dangerous));
            assert_eq!(risk(&action, Some(Role::VmHost)), Some(Risk::Dangerous));
            assert_eq!(risk(&action, Some(Role::BareMetal)), Some(Risk::Medium));
        }
        assert_eq!(risk(&clear(0x02), None), Some(Risk::Medium));
    }

    #[test]
    fn a_reboot_of_a_vm_host_is_a_high_risk() {
        let of = |role| terms(&args("iommu=pt"), &On { role, ..On::default() }).map(|t| (t.disruption, t.risk));
        assert_eq!(of(Some(Role::VmHost)), Some((Disruption::DrainReboot, Risk::High)));
        assert_eq!(of(Some(Role::BareMetal)), Some((Disruption::DrainReboot, Risk::Medium)));
    }

    #[test]
    fn what_people_do_has_no_terms() {
        let what = "x";
        for action in [
            Action::Environment { set: vec![], unset: vec![what.into()] },
            Action::Software { what: what.into() },
            Action::Physical { what: what.into() },
            Action::HostSide { what: what.into() },
            Action::Investigate { what: what.into() },
        ] {
            assert_eq!(terms(&action, &On::default()), None, "{action:?}");
        }
    }

    #[test]
    fn a_step_lasts_and_disturbs_as_the_most_of_its_fixes() {
        let mtu = Action::Mtu { interface: "eth1".into(), mtu: 9000 };
        let module = Action::LoadModule { module: "nvidia".into() };
        let both = of([&module, &mtu], &On::default());
        assert_eq!(both.map(|t| (t.disruption, t.risk)), Some((Disruption::Service, Risk::Medium)));
        assert_eq!(of([&Action::Investigate { what: "x".into() }], &On::default()), None);
    }
}
