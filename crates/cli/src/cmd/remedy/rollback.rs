//! `linerate rollback`.

use super::apply_screen::Screen;
use super::{bmc, read_plan};
use crate::output::Failure;
use crate::plan_args::RollbackArgs;
use linerate_apply::drive::{Stop, Undoing, rollback};
use linerate_apply::protocol::{Request, Stands};
use std::path::Path;
use std::time::Duration;

pub(crate) fn run(a: &RollbackArgs) -> Result<u8, Failure> {
    let node = bmc::with(a.reach.node()?, a.redfish.one(a.reach.host.as_deref())?, a.kube.cluster());
    let named = match &a.plan {
        Some(plan) if Path::new(plan).exists() => Some(read_plan(Path::new(plan))?.hash),
        Some(hash) if hash.len() >= 8 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => Some(hash.clone()),
        Some(other) => return Err(Failure::new(format!("{other}: neither a plan nor the beginning of a plan's hash"))),
        None => None,
    };
    if !a.yes {
        return show(&*node, named.as_deref());
    }
    let screen = Screen::new(false);
    let how = Undoing { reboot: a.reboot.then(|| Duration::from_secs(a.wait)), keep_changed: a.keep_changed };
    let cancel = crate::interrupt::cancel();
    let undone = rollback(&*node, named.as_deref(), how, &cancel, &mut |e| screen.show(node.name(), &e));
    let undone = undone.map_err(|stop| {
        let theirs = matches!(&stop, Stop::Refused(all) if all.iter().any(|t| t.code == "unexpected"));
        let failure = Failure::new(stop);
        if theirs {
            failure.hint("--keep-changed leaves what others changed as it is, and ends the plan")
        } else {
            failure
        }
    })?;
    crate::output::remark(&format!("{}: plan {:.12} is undone", node.name(), undone.plan));
    if undone.ending {
        crate::output::remark("this machine reboots; `linerate rollback --yes` after it releases the plan");
    }
    Ok(0)
}

/// What would be undone.
fn show(node: &dyn linerate_apply::drive::Node, plan: Option<&str>) -> Result<u8, Failure> {
    let answer = node.ask(&Request::Inspect).map_err(Failure::new)?;
    let state = answer.state.filter(|s| plan.is_none_or(|p| s.plan.starts_with(p)));
    let Some(state) = state else {
        return Err(Failure::new(format!("{}: no such plan was begun there", node.name())));
    };
    for act in state.acts.iter().rev().filter(|a| !matches!(a.stands, Stands::Open | Stands::Undone)) {
        let what = answer.plan.as_ref().and_then(|p| {
            let step = p.step(&act.step)?;
            Some(step.trial.iter().chain(&step.change).nth(act.number)?.summary())
        });
        crate::output::remark(&format!("would undo {}: {}", act.step, what.unwrap_or_default()));
    }
    crate::output::remark("nothing was changed; --yes does it");
    Ok(0)
}
