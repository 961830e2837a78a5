//! The node's side: one request, one answer, a journal in between.
//!
//! A hand needs nobody to go on with what it has begun: it ignores a connection that is lost, ends the act and its journal, and answers
//! nobody. Whatever ends it harder is found again in the journal by the next one.

mod backup;
mod begin;
mod carried;
pub(crate) mod fault;
mod hangup;
mod node;
mod perform;
mod seat;
mod undo;

#[cfg(test)]
pub(crate) mod tests;

pub use crate::act::{NoEntry, NoTrial, NodeFiles, Root, TrialEntry, TrialMaker};
pub use node::{boot, node_id};

use crate::act::{Done, Hands, Wrong};
use crate::journal::{Journal, Key, Ledger, Lock, Record, Seen, one_plan, plans};
use crate::protocol::{ActState, Answer, Call, Phase, Request, SCHEMA, Stage, Stands, State, Trouble};
use linerate_remedy::{Act, Plan, Step};
use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

/// An answer, and what is to be done when it was given.
#[derive(Debug)]
pub struct Served {
    /// The answer.
    pub answer: Answer,
    /// What is to be done when the answer was written.
    pub after: Option<After>,
}

/// What is done when an answer was given, because nothing can be answered afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// The node is rebooted.
    Reboot,
}

impl After {
    /// Does it. It does not wait: the node goes down in a moment.
    ///
    /// # Errors
    /// No program that reboots is there, or it did not start.
    pub fn run(self, root: &Root) -> Result<(), NoReboot> {
        match self {
            After::Reboot => node::reboot(root).map_err(|wrong| NoReboot { why: wrong.what }),
        }
    }
}

/// The node was to be rebooted, and was not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the reboot was refused: {why}")]
pub struct NoReboot {
    /// Which program did not start, and why.
    pub why: String,
}

/// What a request found and did.
#[derive(Default)]
pub(crate) struct Work {
    /// Why it was not wholly carried out.
    pub(crate) troubles: Vec<Trouble>,
    /// What people should know.
    pub(crate) told: Vec<String>,
    /// What comes after the answer.
    pub(crate) after: Option<After>,
}

impl Work {
    fn refuse(&mut self, wrong: Wrong, step: Option<&str>) {
        self.troubles.push(wrong.trouble(step));
    }
}

/// Carries out a call. Makes no entries that are started once: see [`serve_with`].
pub fn serve(call: Call, root: &Root) -> Served {
    serve_with(call, root, &NoTrial)
}

/// Carries out a call that came as bytes. What is no call of this version is refused, and says what to do.
pub fn serve_bytes(bytes: &[u8], root: &Root, maker: &dyn TrialMaker) -> Served {
    let asked = linerate_remedy::sha256(bytes);
    match heard(bytes) {
        Ok(call) => serve_call(call, asked, root, maker),
        Err(wrong) => {
            let mut work = Work::default();
            work.refuse(wrong, None);
            served(asked, None, root, work)
        }
    }
}

fn heard(bytes: &[u8]) -> Done<Call> {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    let version = |what: String| {
        Wrong::new(
            "version",
            format!("{what}; this linerate uses {SCHEMA}: install one version of linerate on both sides"),
        )
    };
    let head: Head =
        serde_json::from_slice(bytes).map_err(|e| version(format!("the request is not a valid call ({e})")))?;
    match head.schema {
        Some(schema) if schema == SCHEMA => {
            serde_json::from_slice(bytes).map_err(|e| version(format!("the request is not a valid call ({e})")))
        }
        Some(other) => Err(version(format!("the calling side uses {other:.40?}"))),
        None => Err(version("the calling side is older and uses linerate.hand/1".to_owned())),
    }
}

/// Carries out a call.
pub fn serve_with(call: Call, root: &Root, maker: &dyn TrialMaker) -> Served {
    let asked = call.digest();
    serve_call(call, asked, root, maker)
}

fn serve_call(call: Call, asked: String, root: &Root, maker: &dyn TrialMaker) -> Served {
    let _ignored = hangup::ignore();
    let mut work = Work::default();
    let state = answer(call, root, maker, &mut work).unwrap_or_else(|wrong| {
        work.refuse(wrong, None);
        None
    });
    served(asked, state, root, work)
}

fn served(asked: String, state: Option<State>, root: &Root, mut work: Work) -> Served {
    // Whatever programs said on the way here: it goes to another machine.
    for text in work.troubles.iter_mut().map(|t| &mut t.what).chain(&mut work.told) {
        if let Cow::Owned(clean) = linerate_snapshot::without_secrets(text) {
            *text = clean;
        }
    }
    let answer = Answer {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        asked,
        node: node_id(root),
        holder: seat::holder(root).ok().flatten(),
        state,
        refused: work.troubles,
        told: work.told,
    };
    Served { answer, after: work.after }
}

/// How a plan stands here, for who only looks.
fn look(root: &Root, plan: Option<&str>) -> Done<Option<State>> {
    let found = match plan {
        Some(hash) => one_plan(root, hash)?,
        None => plans(root)?.into_iter().next(),
    };
    Ok(found.map(|(plan, ledger)| state(&plan, &ledger)))
}

fn answer(call: Call, root: &Root, maker: &dyn TrialMaker, work: &mut Work) -> Done<Option<State>> {
    match &call.ask {
        Request::Inspect { plan } => return look(root, plan.as_deref()),
        Request::Check { plan, steps } => {
            return begin::check_only(root, maker, plan, steps, work).map(|()| None);
        }
        _ => {}
    }
    if root.is_real() && !rustix::process::geteuid().is_root() {
        let what =
            "changing a node needs root on it: give a user that is root, or one that may use sudo without a password";
        return Err(Wrong::new("not-root", what));
    }
    if !call.session.is_sound() {
        return Err(Wrong::new("version", "the call does not name its session in a valid form"));
    }
    let _lock = Lock::take(root)?;
    let hash = match &call.ask {
        Request::Leave => return seat::leave(root, &call).map(|()| None),
        Request::Take { plan } => {
            take(root, &call, plan, work)?;
            return look(root, Some(plan));
        }
        Request::Begin { plan, who, steps } => {
            take(root, &call, &plan.hash, work)?;
            let (who, steps) = (who.clone(), steps.clone());
            return begin::begin(root, maker, plan, who, steps, work).map(|j| j.map(|j| state(&j.plan, &j.ledger)));
        }
        Request::Perform { plan, .. }
        | Request::Note { plan, .. }
        | Request::Elsewhere { plan, .. }
        | Request::Reboot { plan, .. }
        | Request::Rollback { plan }
        | Request::Finish { plan } => plan.clone(),
        Request::Inspect { .. } | Request::Check { .. } => return Ok(None),
    };
    let Some(mut journal) = Journal::open(root, &hash)? else {
        return Err(Wrong::new("unknown-plan", format!("plan {hash} was never begun on this node")));
    };
    seat::holds(root, &call)?;
    work.told.extend(journal.torn.take());
    let mark = journal.plan.hash.clone();
    let hands = Hands { root, maker, mark: &mark };
    let done = carry_out(call.ask, &hands, &mut journal, work);
    if let Err(wrong) = done {
        work.refuse(wrong, None);
    }
    Ok(Some(state(&journal.plan, &journal.ledger)))
}

/// Takes the node for a session, and says whom it displaced.
fn take(root: &Root, call: &Call, plan: &str, work: &mut Work) -> Done<()> {
    if let Some(old) = seat::take(root, call, plan)? {
        work.told.push(format!(
            "taken over: {}, and has lost it to session {}",
            old.words(now()),
            call.session.short()
        ));
    }
    Ok(())
}

fn carry_out(request: Request, hands: &Hands<'_>, journal: &mut Journal, work: &mut Work) -> Done<()> {
    if let Request::Rollback { .. } = request {
        return undo::rollback(hands, journal, work);
    }
    if journal.ledger.finished {
        let finish = matches!(request, Request::Finish { .. });
        let released = Wrong::new("order", "the plan has released this node: only a rollback is possible now");
        return if finish { Ok(()) } else { Err(released) };
    }
    match request {
        Request::Perform { phase, .. } => perform::perform(hands, journal, phase, work),
        Request::Note { note, .. } => journal.write(Record::Noted { note, when: now() }),
        Request::Elsewhere { step, number, stands, note, .. } => {
            perform::elsewhere(hands, journal, Key { step, number }, stands, note)
        }
        Request::Reboot { most, .. } => node::ask_reboot(hands.root, journal, most, work),
        Request::Finish { .. } => undo::finish(hands, journal, work),
        Request::Inspect { .. }
        | Request::Take { .. }
        | Request::Leave
        | Request::Check { .. }
        | Request::Begin { .. }
        | Request::Rollback { .. } => Ok(()),
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// The steps that were taken, in order.
pub(crate) fn steps<'a>(plan: &'a Plan, chosen: &'a [String]) -> impl DoubleEndedIterator<Item = &'a Step> {
    plan.steps.iter().filter(move |s| chosen.is_empty() || chosen.contains(&s.id))
}

/// The acts of steps that were taken, in order, with the phase in which they are made.
pub(crate) fn acts<'a>(plan: &'a Plan, chosen: &'a [String]) -> Vec<(Key, Phase, &'a Act)> {
    let mut acts = Vec::new();
    for step in steps(plan, chosen) {
        let change = if step.trial.is_empty() { Phase::First } else { Phase::Lasting };
        let trial = step.trial.iter().map(|act| (Phase::First, act));
        let all = trial.chain(step.change.iter().map(|act| (change, act)));
        let all = all.map(|(phase, act)| (if act.is_claim() { Phase::Claims } else { phase }, act));
        acts.extend(all.enumerate().map(|(number, (phase, act))| (Key { step: step.id.clone(), number }, phase, act)));
    }
    acts
}

/// Whether an act is made. So is an entry on trial that was removed again because what was tried is permanent.
pub(crate) fn is_made(ledger: &Ledger, key: &Key, act: &Act) -> bool {
    let removed = || matches!(act, Act::Trial(_)) && !ledger.undoing && ledger.stands(key) == Stands::Undone;
    ledger.stands(key) == Stands::Made || removed()
}

/// The boot in which a phase was completed, if it was.
fn completed_in(acts: &[(Key, Phase, &Act)], ledger: &Ledger, phase: Phase) -> Option<String> {
    let own = || acts.iter().filter(|(_, p, _)| *p == phase);
    let all = own().all(|(key, _, act)| is_made(ledger, key, act));
    // Not the last of the plan: one that the driver makes may have been made boots ago.
    let last = own().filter_map(|(key, ..)| ledger.acts.get(key)).max_by_key(|a| a.made)?;
    all.then(|| last.boot.clone())
}

/// How a plan stands.
pub(crate) fn state(plan: &Plan, ledger: &Ledger) -> State {
    let acts = acts(plan, &ledger.steps);
    State {
        steps: ledger.steps.clone(),
        first_in: completed_in(&acts, ledger, Phase::First),
        lasting_in: completed_in(&acts, ledger, Phase::Lasting),
        plan: plan.hash.clone(),
        who: ledger.who.clone(),
        since: ledger.since,
        stage: stage(&acts, ledger),
        begun_in: ledger.begun_in.clone(),
        reboots: ledger.reboots.clone(),
        undone_in: ledger.undone_in.clone(),
        acts: acts
            .into_iter()
            .map(|(key, _, act)| ActState {
                stands: if is_made(ledger, &key, act) { Stands::Made } else { ledger.stands(&key) },
                before: ledger.acts.get(&key).and_then(|a| match &a.before {
                    Seen::Elsewhere { note } => Some(note.clone()),
                    _ => None,
                }),
                kept: ledger.acts.get(&key).map(|a| a.before.kept()).unwrap_or_default(),
                step: key.step,
                number: key.number,
            })
            .collect(),
    }
}

fn stage(acts: &[(Key, Phase, &Act)], ledger: &Ledger) -> Stage {
    let made = |last: Phase| acts.iter().filter(|(_, p, _)| *p <= last).all(|(key, _, act)| is_made(ledger, key, act));
    let gone = |key: &Key| !matches!(ledger.stands(key), Stands::Made | Stands::Announced);
    match () {
        () if ledger.finished => Stage::Finished,
        () if ledger.undoing && acts.iter().all(|(key, ..)| gone(key)) => Stage::Undone,
        () if ledger.undoing => Stage::Undoing,
        () if made(Phase::Lasting) => Stage::Lasting,
        () if made(Phase::First) => Stage::First,
        () => Stage::Begun,
    }
}
