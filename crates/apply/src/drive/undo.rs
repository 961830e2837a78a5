//! Puts a node back as it was.

use super::bios::{self, BiosAct};
use super::boot::Reboot;
use super::elsewhere::{self, At, trouble};
use super::labels::Labelled;
use super::{Event, Node, Stop};
use crate::protocol::{Answer, Request, Stage, Stands, State, Trouble};
use linerate_remedy::Plan;
use linerate_runner::Cancel;
use std::time::Duration;

/// Reboots that undoing may add.
const REBOOTS: u32 = 64;

/// How a plan is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Undoing {
    /// Reboots afterwards: the time that the node may take for it.
    pub reboot: Option<Duration>,
    /// What somebody else changed meanwhile stays as it is, and the plan is ended all the same.
    pub keep_changed: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// Hash of the plan.
    pub plan: String,
    /// The reboot that was asked for ends this process.
    pub ending: bool,
}

/// Undoes what a plan did on a node. What the running kernel took is gone after the next boot: with [`Undoing::reboot`] that is made and
/// waited for.
///
/// # Errors
/// The node does not answer, or something is no longer as the plan left it: that is told, and left.
pub fn rollback(
    node: &dyn Node,
    plan: Option<&str>,
    how: Undoing,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Undone, Stop> {
    tell(Event::Node(node.name()));
    let found = super::node::ask(node, &Request::Inspect, cancel)?;
    let known = found.state.filter(|s| plan.is_none_or(|p| s.plan.starts_with(p)) && !is_over(s));
    let (Some(state), Some(plan)) = (known, found.plan) else {
        let what = format!("{}: no such plan was begun there, or it is undone already", node.name());
        return Err(Stop::Refused(vec![Trouble { code: "no-plan".to_owned(), step: None, what }]));
    };
    undo(node, &plan, &state, found.node.boot, how, cancel, tell)
}

/// Released, with nothing of it left.
fn is_over(state: &State) -> bool {
    state.stage == Stage::Finished && !state.acts.iter().any(|a| matches!(a.stands, Stands::Made | Stands::Announced))
}

pub(super) fn undo(
    node: &dyn Node,
    plan: &Plan,
    state: &State,
    boot: Option<String>,
    how: Undoing,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Undone, Stop> {
    let hash = state.plan.clone();
    tell(Event::Undoing);
    let mut ending = false;
    let mut acts = bios::acts(plan, state);
    foreign(node, &acts, cancel)?;
    // Where all of it is undone, only the reboot behind it, or the release, is missing: the reboot, where the boot still runs in which it
    // was undone.
    let mut due = true;
    if state.stage == Stage::Undone {
        due = state.undone_in.is_some() && state.undone_in == boot;
    } else {
        let mut undoing = Labelled { node, plan, how, cancel, tell };
        undoing.claims_first(state)?;
        let after = match ask(node, &Request::Rollback { plan: hash.clone() }, cancel, tell) {
            Err(Stop::Refused(all)) if how.keep_changed && all.iter().all(|t| t.code == "unexpected") => {
                ask(node, &Request::Inspect, cancel, tell)?
            }
            other => other?,
        };
        let after = after.state.as_ref().unwrap_or(state);
        acts = bios::acts(plan, after);
        firmware(node, &hash, &acts, how.keep_changed, cancel, tell)?;
        Labelled { node, plan, how, cancel, tell }.put_back(after)?;
    }
    let mut started = !due;
    if let Some(wait) = how.reboot.filter(|_| due) {
        started = Reboot { node, plan: &hash, most: REBOOTS, wait, cancel }.make(tell)?.is_some();
        ending = !started;
    }
    if let (true, Some(bmc), false) = (started, node.bmc(), acts.is_empty()) {
        bios::is_back(bmc, &acts, how.keep_changed)?;
    }
    if !ending {
        ask(node, &Request::Finish { plan: hash.clone() }, cancel, tell)?;
    }
    Ok(Undone { plan: hash, ending })
}

/// Refuses another machine's BMC, before anything is undone.
fn foreign(node: &dyn Node, acts: &[BiosAct], cancel: &Cancel) -> Result<(), Stop> {
    let Some(bmc) = node.bmc().filter(|_| !acts.is_empty()) else { return Ok(()) };
    let refuse = |what: String| Err(Stop::Refused(vec![trouble("other-bmc", None, what)]));
    let ours = super::node::ask(node, &Request::Inspect, cancel)?.uuid;
    match bmc.uuid() {
        Ok(theirs) => bios::is_foreign(ours.as_deref(), theirs.as_deref())
            .map_or(Ok(()), |what| refuse(format!("{what}. Nothing is undone"))),
        Err(e) => refuse(format!("its BMC: {e}. Nothing is undone")),
    }
}

/// Puts back what was set by the BMC. `keep`: what somebody else set since is left.
fn firmware(
    node: &dyn Node,
    plan: &str,
    acts: &[BiosAct],
    keep: bool,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<(), Stop> {
    let Some(first) = acts.iter().find(|a| a.is_begun()) else { return Ok(()) };
    let Some(bmc) = node.bmc() else {
        let what = "BIOS attributes were set by Redfish, and no BMC is named to put them back: name it with --redfish, and roll back again";
        let trouble = trouble("not-here", Some(&first.at.step), what);
        tell(Event::Trouble(&trouble));
        return Err(Stop::Refused(vec![trouble]));
    };
    let back = elsewhere::put_back(bmc, acts, keep, &mut |at, stands, note| {
        noted(node, plan, at, stands, note, cancel, tell)
    })?;
    back.iter().for_each(|what| tell(Event::PutBack(what)));
    Ok(())
}

/// Tells the node's journal what became of an act that was made elsewhere.
pub(super) fn noted(
    node: &dyn Node,
    plan: &str,
    at: &At,
    stands: Stands,
    note: String,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<(), Stop> {
    let request = Request::Elsewhere { plan: plan.to_owned(), step: at.step.clone(), number: at.number, stands, note };
    ask(node, &request, cancel, tell).map(|_| ())
}

pub(super) fn ask(
    node: &dyn Node,
    request: &Request,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Answer, Stop> {
    let answer = super::node::ask(node, request, cancel)?;
    answer.refused.iter().for_each(|t| tell(Event::Trouble(t)));
    if answer.refused.is_empty() { Ok(answer) } else { Err(Stop::Refused(answer.refused)) }
}
