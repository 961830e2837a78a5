//! Whether a guest has what its domain was defined with.

use super::prove::Answer;
use super::{Cx, Outcome};
use crate::model::{Act, Step};
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::vms::{Vm, put_beside};
use linerate_rules::{Status, audit};

/// The rule by which a guest is held against its domain.
const RULE: &str = "vm/as-the-domain-says";

const START: &str = "shut the guest down and start it (a reboot from inside is not enough)";

/// What is still due of a step that changes domains; `None`: nothing.
pub(super) fn is_due(cx: &Cx<'_>, step: &Step) -> Option<String> {
    step.acts().find_map(|a| if let Act::Domain(act) = a { due(vm(cx, &act.domain)?) } else { None })
}

fn vm<'a>(cx: &'a Cx<'_>, domain: &str) -> Option<&'a Vm> {
    cx.node.vms.read.iter().find(|v| v.domain.name == domain)
}

fn due(vm: &Vm) -> Option<String> {
    let what = vm.awaits()?;
    Some(format!("the domain is redefined, but the guest runs with what it had before ({what}): {START}"))
}

/// The guest, read beside the domain with which it runs.
pub(super) fn prove(cx: &Cx<'_>, domain: &str) -> Answer {
    let unseen = |outcome| (outcome, String::new(), String::new());
    let Some(vm) = vm(cx, domain) else {
        return unseen(Outcome::Unknown(format!(
            "the domain {domain} is not in this source: collect on its host as root"
        )));
    };
    let place = cx.after.describe(vm.text);
    if let Some(due) = due(vm) {
        return (Outcome::Pending(due), String::new(), place);
    }
    let Some(guest) = cx.told.guests.get(domain) else {
        let why = match vm.domain.is_running {
            true => {
                format!("the guest was not read: collect in it, and give its snapshot with --guest {domain}=SNAPSHOT")
            }
            false => format!(
                "the guest does not run, or the source does not show it: start it, collect in it, and give its snapshot with --guest {domain}=SNAPSHOT"
            ),
        };
        return (Outcome::Unknown(why), String::new(), place);
    };
    let mut beside = guest.clone();
    put_beside(&mut beside, domain, cx.after.data(vm.text.base));
    let node = Node::decode_as(&beside, Some(Role::VmGuest));
    let Some(rule) = linerate_rules::find(RULE) else {
        return unseen(Outcome::Unknown(format!("this version has no rule {RULE}")));
    };
    let judged = audit(&node, &beside, &[rule]);
    let subject = format!("domain {domain}");
    let Some(v) = judged.verdicts.iter().find(|v| v.finding.subject.to_string() == subject) else {
        return unseen(Outcome::Unknown(format!("{RULE} has no answer for the guest")));
    };
    let message = v.finding.message.to_string();
    let outcome = match v.finding.status {
        Status::Pass => Outcome::Effective,
        Status::Fail => Outcome::Ineffective(message.clone()),
        Status::Unknown | Status::NotApplicable => Outcome::Unknown(message.clone()),
    };
    (outcome, message, format!("the guest's snapshot {}", guest.manifest.host))
}
