//! Puts a node back as it was.

use super::bios;
use super::boot::Reboot;
use super::elsewhere::{self, Afar, At, trouble};
use super::labels::Labelled;
use super::lifecycle::Service;
use super::link::{Link, refused};
use super::{Event, Lifecycle, Node, Operator, Stop};
use crate::plans::{How, Record};
use crate::protocol::{Answer, Request, Stage, Stands, State, Trouble};
use linerate_remedy::{BiosAct, Plan};
use linerate_transport::Cancel;
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

/// What is undone, and by whom.
pub struct Target<'a> {
    /// Node.
    pub node: &'a dyn Node,
    /// The operator's plan.
    pub plan: &'a Plan,
    /// What the operator noted of it on this node.
    pub record: &'a Record,
    /// Who undoes it.
    pub operator: &'a Operator,
    /// What took the node out of service for this plan, and gives it back.
    pub lifecycle: &'a dyn Lifecycle,
}

/// Undoes what a plan did on a node. What the running kernel took is gone after the next boot: with [`Undoing::reboot`] that is made and
/// waited for.
///
/// # Errors
/// The node does not answer, its answers do not fit the plan, another session holds it, or something is no longer as the plan left it: that is
/// told, and left.
pub fn rollback(
    target: &Target<'_>,
    how: Undoing,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Undone, Stop> {
    let Target { node, plan, record, operator, lifecycle } = *target;
    tell(Event::Node(node.name()));
    let link = Link::new(node, plan, &record.steps(), operator, record, cancel);
    let found = link.inspect()?;
    if !found.refused.is_empty() {
        return Err(refused(found));
    }
    if found.state.as_ref().is_none_or(is_over) {
        let what = format!("{}: this plan was never applied on this node, or it is undone already", node.name());
        return Err(Stop::Refused(vec![Trouble { code: "no-plan".to_owned(), step: None, what }]));
    }
    // Looked at again when nobody else can change it any more.
    let undone = link.take(tell).and_then(|state| match state.filter(|s| !is_over(s)) {
        Some(state) => {
            link.settle(&state.steps);
            undo(&link, &state, found.node.boot, how, tell)
        }
        None => {
            let what = format!("{}: it was undone by another session meanwhile", node.name());
            Err(Stop::Refused(vec![Trouble { code: "no-plan".to_owned(), step: None, what }]))
        }
    });
    if undone.as_ref().is_ok_and(|undone| !undone.ending) {
        let stays = match Service::new(lifecycle, node.name(), plan).give_back() {
            Ok(stays) => stays,
            Err(why) => Some(format!("it is undone, but was not returned to service: {why}")),
        };
        stays.iter().for_each(|words| tell(Event::Lifecycle(words)));
    }
    link.leave();
    undone
}

/// Released, with nothing of it left.
fn is_over(state: &State) -> bool {
    state.stage == Stage::Finished && !state.acts.iter().any(|a| matches!(a.stands, Stands::Made | Stands::Announced))
}

pub(super) fn undo(
    link: &Link<'_>,
    state: &State,
    boot: Option<String>,
    how: Undoing,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Undone, Stop> {
    let (plan, record) = (link.plan, link.record);
    let hash = plan.hash.clone();
    tell(Event::Undoing);
    let mut ending = false;
    let mut acts = elsewhere::acts(plan, record, state);
    foreign(link, &acts)?;
    // Where all of it is undone, only the reboot behind it, or the release, is missing: the reboot, where the boot still runs in which it
    // was undone.
    let mut due = true;
    if state.stage == Stage::Undone {
        due = state.undone_in.is_some() && state.undone_in == boot;
    } else {
        let mut undoing = Labelled { link, how, tell };
        undoing.claims_first(state)?;
        let after = match ask(link, &Request::Rollback { plan: hash.clone() }, tell) {
            Err(Stop::Refused(all)) if how.keep_changed && all.iter().all(Trouble::is_unexpected) => link.inspect()?,
            other => other?,
        };
        let after = after.state.as_ref().unwrap_or(state);
        acts = elsewhere::acts(plan, record, after);
        firmware(link, &acts, how.keep_changed, tell)?;
        Labelled { link, how, tell }.put_back(after)?;
    }
    let mut started = !due;
    if let Some(wait) = how.reboot.filter(|_| due) {
        started = Reboot { link, most: REBOOTS, wait }.make(tell)?.is_some();
        ending = !started;
    }
    if let (true, Some(bmc), false) = (started, link.bmc(), acts.is_empty()) {
        bios::is_back(bmc, &acts, how.keep_changed)?;
    }
    if !ending {
        ask(link, &Request::Finish { plan: hash.clone() }, tell)?;
        // Where that cannot be noted, the record stays for good.
        let _ = record.end(How::Undone);
    }
    Ok(Undone { plan: hash, ending })
}

/// Refuses a BMC of which is not known that it is this machine's, before anything is undone.
fn foreign(link: &Link<'_>, acts: &[Afar<BiosAct>]) -> Result<(), Stop> {
    let Some(bmc) = link.bmc().filter(|_| !acts.is_empty()) else { return Ok(()) };
    let refuse =
        |what: String| Err(Stop::Refused(vec![trouble("other-bmc", None, format!("{what}. Nothing is undone"))]));
    let node = link.inspect()?.node.uuid;
    match bmc.uuid() {
        Ok(theirs) => {
            let sure = link.is_sure().and_then(|()| bios::is_sure(link.plan, node.as_deref(), theirs.as_deref()));
            sure.or_else(|why| refuse(why.to_string()))
        }
        Err(e) => refuse(format!("its BMC: {e}")),
    }
}

/// Puts back what was set by the BMC. `keep`: what somebody else set since is left.
fn firmware(link: &Link<'_>, acts: &[Afar<BiosAct>], keep: bool, tell: &mut dyn FnMut(Event<'_>)) -> Result<(), Stop> {
    let Some(first) = acts.iter().find(|a| a.is_begun()) else { return Ok(()) };
    let Some(bmc) = link.bmc() else {
        let what = "BIOS attributes were set by Redfish, but no BMC is given to put them back: give it with --redfish, and roll back again";
        let trouble = trouble("not-here", Some(&first.at.step), what);
        tell(Event::Trouble(&trouble));
        return Err(Stop::Refused(vec![trouble]));
    };
    let back = elsewhere::put_back(bmc, acts, keep, &mut |at, stands, note| noted(link, at, stands, note, tell))?;
    back.iter().for_each(|what| tell(Event::PutBack(what)));
    Ok(())
}

/// Tells the node's journal what became of an act that was made elsewhere.
pub(super) fn noted(
    link: &Link<'_>,
    at: &At,
    stands: Stands,
    note: String,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<(), Stop> {
    let (plan, step, number) = (link.plan.hash.clone(), at.step.clone(), at.number);
    ask(link, &Request::Elsewhere { plan, step, number, stands, note }, tell).map(|_| ())
}

fn ask(link: &Link<'_>, request: &Request, tell: &mut dyn FnMut(Event<'_>)) -> Result<Answer, Stop> {
    let answer = link.ask(request)?;
    answer.refused.iter().for_each(|t| tell(Event::Trouble(t)));
    if answer.refused.is_empty() { Ok(answer) } else { Err(refused(answer)) }
}
