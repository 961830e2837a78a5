//! `linerate rollback`.

use super::apply_screen::Screen;
use super::{bmc, stored};
use crate::output::Failure;
use crate::plan_args::RollbackArgs;
use linerate_apply::drive::{Lone, Target, Undoing, rollback, standing};
use linerate_apply::protocol::Stands;
use linerate_remedy::Act;
use std::time::Duration;

pub(crate) fn run(a: &RollbackArgs) -> Result<u8, Failure> {
    let node = bmc::with(a.reach.node()?, a.redfish.one(a.reach.host.as_deref())?, a.kube.cluster());
    let operator = super::operator(a.take_over);
    let held = match &a.plan {
        Some(word) => stored::named(word, &*node, &a.step)?,
        None => stored::last(&*node, &operator, "rollback")?,
    };
    let target = Target { node: &*node, plan: &held.plan, record: &held.record, operator: &operator, lifecycle: &Lone };
    if !a.yes {
        return show(&target);
    }
    let screen = Screen::new(false);
    let how = Undoing { reboot: a.reboot.then(|| Duration::from_secs(a.wait)), keep_changed: a.keep_changed };
    let cancel = crate::interrupt::cancel();
    let undone = rollback(&target, how, &cancel, &mut |e| screen.show(node.name(), &e));
    let undone = undone.map_err(|stop| {
        let theirs = stop.leaves_changes();
        let failure = Failure::new(stop);
        if theirs {
            failure.hint("--keep-changed leaves what others changed as it is, and ends the plan")
        } else {
            failure
        }
    })?;
    crate::output::remark(&format!("{}: plan {:.12} is undone", node.name(), undone.plan));
    if undone.ending {
        crate::output::remark("this machine reboots; afterwards, `linerate rollback --yes` releases the plan");
    }
    Ok(0)
}

/// What would be undone: acts of the operator's plan, as the node says that they stand.
fn show(target: &Target<'_>) -> Result<u8, Failure> {
    let Target { node, plan, record, operator, .. } = *target;
    let Some(state) = standing(node, plan, operator, record)? else {
        return Err(Failure::new(format!("{}: this plan was never applied on this node", node.name())));
    };
    for act in state.acts.iter().rev().filter(|a| !matches!(a.stands, Stands::Open | Stands::Undone)) {
        let what = plan.act(&act.step, act.number).map(Act::summary);
        crate::output::remark(&format!("would undo {}: {}", act.step, what.unwrap_or_default()));
    }
    crate::output::remark("nothing was changed; use --yes to undo");
    Ok(0)
}
