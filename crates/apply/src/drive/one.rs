//! One node: from a plan to a node that shows it.

use super::boot::Reboot;
use super::elsewhere::trouble;
use super::lifecycle::Service;
use super::link::{Link, refused};
use super::{Event, Lifecycle, LifecycleError, Node, Operator, Unreached};
use crate::plans::{How, Record, StoreError};
use crate::protocol::{ActState, Answer, Note, Phase, Request, Stage, Stands, State, Trouble};
use linerate_remedy::verify::{Outcome as Shown, Proved, StepResult, Told, Verification, verify_told};
use linerate_remedy::{Disruption, Plan, Proof};
use linerate_snapshot::Snapshot;
use linerate_transport::Cancel;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a plan is applied.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who does it.
    pub operator: Operator,
    /// The operator's own record of the plan on this node.
    pub record: Arc<Record>,
    /// Steps; empty: all.
    pub steps: Vec<String>,
    /// Reboots that the plan may have on a node, in all.
    pub reboots: u32,
    /// How long a node may take to come up.
    pub wait: Duration,
    /// Whether it may be rebooted at all.
    pub may_reboot: bool,
    /// A second reboot shows that what was made permanent is what was tried.
    pub twice: bool,
    /// What is not proven is undone.
    pub undo: bool,
    /// File in which the node as it was before is kept, for a plan that goes on.
    pub keep: Option<PathBuf>,
}

/// What became of a node.
#[derive(Debug)]
pub struct Outcome {
    /// Node.
    pub node: String,
    /// How it ended.
    pub ended: Ended,
    /// What it showed when it was last read.
    pub verification: Option<Verification>,
    /// What could not be kept or found again, in words.
    pub remarks: Vec<String>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Every step is effective, nothing else changed, and it is back in service.
    Proven,
    /// What was not proven was undone, and the node shows what it showed before.
    Undone(String),
    /// It stays as it is, out of service, with the reason.
    Left(String),
    /// It waits for a reboot that this driver may not make, or that ends it.
    RebootDue,
    /// Nothing was changed.
    Untouched(String),
    /// Another session holds the node: what becomes of it, that one says.
    Held(String),
}

/// Why the driver stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// No answer.
    #[error(transparent)]
    Unreached(#[from] Unreached),
    /// Another session holds the node.
    #[error("{0}")]
    Held(String),
    /// The hand refused.
    #[error("{}", .0.iter().map(|t| t.what.as_str()).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<Trouble>),
    /// It did not come up in time.
    #[error("it did not come up within {} s after the reboot: look at its console; `linerate apply --resume` goes on once it is up", .0.as_secs())]
    NotBack(Duration),
    /// It never went down.
    #[error("it still runs the old boot {} s after the reboot was requested: something on the node prevents the reboot (`systemd-inhibit --list`, a service that does not stop); `linerate apply --resume` goes on once it was rebooted", .0.as_secs())]
    NotDown(Duration),
    /// The operator.
    #[error("ended on request; `linerate apply --resume` goes on")]
    Cancelled,
}

impl Stop {
    /// Whether something that somebody else changed was left as it is: [`super::Undoing::keep_changed`] ends the plan all the same.
    #[must_use]
    pub fn leaves_changes(&self) -> bool {
        matches!(self, Stop::Refused(all) if all.iter().any(Trouble::is_unexpected))
    }
}

/// Applies a plan to a node, or goes on with it.
pub fn apply(
    node: &dyn Node,
    plan: &Plan,
    lifecycle: &dyn Lifecycle,
    options: &Options,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Event<'_>),
) -> Outcome {
    tell(Event::Node(node.name()));
    let link = Link::new(node, plan, &options.steps, &options.operator, &options.record, cancel);
    let service = Service::new(lifecycle, node.name(), plan);
    let mut work = Work {
        link: &link,
        plan,
        service: &service,
        taken_out: false,
        options,
        cancel,
        tell,
        touched: false,
        boot: None,
        verification: None,
        before: None,
        after: None,
        remarks: Vec::new(),
        answers: Told::default(),
        due: Vec::new(),
        rebooted: false,
        released: false,
        steps: options.steps.clone(),
        failed: false,
    };
    let ended = match work.all() {
        Ok(ended) => ended,
        Err(Stop::Held(who)) => Ended::Held(who),
        Err(stop) if work.touched => Ended::Left(stop.to_string()),
        Err(stop) => Ended::Untouched(stop.to_string()),
    };
    let ended = match ended {
        // Only what was judged: a lost connection, a request to stop or a forgotten BMC says nothing about the change.
        Ended::Left(why) if options.undo && work.touched && work.failed && !work.released => work.undo(why),
        // As it was, in service as well.
        Ended::Untouched(why) if work.taken_out && !work.touched => match work.given_back() {
            Ok(()) => Ended::Untouched(why),
            Err(e) => Ended::Untouched(format!("{why}; the node was not returned to service: {e}")),
        },
        other => other,
    };
    link.leave();
    Outcome { node: node.name().to_owned(), ended, verification: work.verification, remarks: work.remarks }
}

pub(super) struct Work<'a> {
    pub(super) link: &'a Link<'a>,
    pub(super) plan: &'a Plan,
    service: &'a Service<'a>,
    /// It was, or may have been, taken out of service.
    taken_out: bool,
    options: &'a Options,
    cancel: &'a Cancel,
    pub(super) tell: &'a mut dyn FnMut(Event<'_>),
    /// Whether the node may be changed by now.
    pub(super) touched: bool,
    /// The boot that answered last.
    boot: Option<String>,
    verification: Option<Verification>,
    before: Option<Snapshot>,
    /// As it was last read.
    after: Option<Snapshot>,
    pub(super) remarks: Vec<String>,
    /// What the BMC answered when attributes were set.
    pub(super) answers: Told,
    /// Labels that are put when all else is proven, and are not yet.
    pub(super) due: Vec<String>,
    /// It was rebooted for this plan.
    pub(super) rebooted: bool,
    /// The plan has released the node.
    released: bool,
    /// Steps that are taken; empty: all. Those that the node was begun with, once it says so.
    pub(super) steps: Vec<String>,
    /// An act was refused, or the node does not show what the plan wants.
    failed: bool,
}

/// When the node is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// While something is on trial: steps without one may still wait for what follows.
    Trial,
    /// When all is made, but for the labels that claim it.
    Made,
}

impl Work<'_> {
    fn all(&mut self) -> Result<Ended, Stop> {
        let found = self.inspect()?;
        let own = self.link.take(self.tell)?;
        self.touched = own.as_ref().is_some_and(|s| s.acts.iter().any(|a| a.stands != Stands::Open));
        // Of these steps the link has seen that the operator asks for them, or noted them.
        if let Some(state) = own.as_ref().filter(|s| s.stage < Stage::Undoing) {
            self.steps.clone_from(&state.steps);
        }
        self.before = self.before()?;
        if let Some(why) = self.without_services(&found)? {
            return Ok(if self.touched { Ended::Left(why) } else { Ended::Untouched(why) });
        }
        let state = self.begin(own.as_ref())?;
        self.steps.clone_from(&state.steps);
        self.link.settle(&state.steps);
        if self.plan.disruption() > Disruption::None {
            self.taken_out = true;
            if let Err(why) = self.service.take_out(self.tell) {
                let why = format!("it was not drained: {why}");
                return Ok(if self.touched { Ended::Left(why) } else { Ended::Untouched(why) });
            }
        }
        // Released already, by a driver that ended before it could say so: the node is read, and says whether it still holds.
        self.released = state.stage == Stage::Finished && state.acts.iter().all(|a| a.stands == Stands::Made);
        if state.stage > Stage::Lasting && !self.released {
            return Ok(Ended::Left("the plan is finished or was undone on the node: make a new one".to_owned()));
        }
        let mut state = if state.stage < Stage::First { self.perform(&state, Phase::First)? } else { state };
        self.rebooted = state.first_in.is_some() && !self.still(state.first_in.as_ref());
        if self.reboots() && self.still(state.first_in.as_ref()) {
            let Some(rebooted) = self.reboot()? else { return Ok(Ended::RebootDue) };
            state = rebooted;
        }
        self.due = self.claims(&state);
        if state.stage < Stage::Lasting {
            if !self.proven(When::Trial)? {
                return Ok(self.not_proven());
            }
            state = self.perform(&state, Phase::Lasting)?;
        }
        let twice = self.has_trial() && self.options.twice;
        if twice && self.still(state.lasting_in.as_ref()) && self.reboot()?.is_none() {
            return Ok(Ended::RebootDue);
        }
        if !self.proven(When::Made)? || !self.claimed()? {
            return Ok(self.not_proven());
        }
        self.ask(&Request::Finish { plan: self.plan.hash.clone() })?;
        if let Err(e) = self.options.record.end(How::Proven) {
            self.remarks.push(format!("it is proven, but this could not be recorded here, so its record stays: {e}"));
        }
        Ok(match self.given_back() {
            Ok(()) => Ended::Proven,
            Err(why) => Ended::Left(format!("it is proven, but was not returned to service: {why}")),
        })
    }

    /// Gives the node back, where this plan took it out of service.
    fn given_back(&mut self) -> Result<(), LifecycleError> {
        self.remarks.extend(self.service.give_back()?);
        Ok(())
    }

    /// Begins the plan, or goes on with it. That is noted here before, and taken back where the node refuses it.
    fn begin(&mut self, own: Option<&State>) -> Result<State, Stop> {
        let record = &self.options.record;
        let kept = |e: StoreError| Stop::Refused(vec![trouble("not-kept", None, e.to_string())]);
        let earlier = record.begin(&self.steps).map_err(kept)?;
        let (who, steps) = (self.options.operator.session.who.clone(), self.steps.clone());
        let begun = self.state(&Request::Begin { plan: Box::new(self.plan.clone()), who, steps });
        match &begun {
            Ok(state) if state.steps != self.steps => drop(record.begin(&state.steps).map_err(kept)?),
            Err(Stop::Refused(_)) if own.is_none() => record.withdraw(earlier).map_err(kept)?,
            _ => {}
        }
        begun
    }

    /// The node before the first change: read, or as it was kept then.
    fn before(&mut self) -> Result<Option<Snapshot>, Stop> {
        let keep = self.options.keep.clone();
        if !self.touched {
            let now = self.read()?;
            let kept = keep.as_ref().map(|path| (path, now.save(path)));
            if let Some((path, Err(e))) = kept {
                self.remarks.push(format!(
                    "{}: the state of the node before the change could not be saved ({e}): after an interruption, other changes cannot be found",
                    path.display()
                ));
            }
            return Ok(Some(now));
        }
        // Once something was changed, it is too late to see how it was.
        let bytes = keep.as_ref().map(std::fs::read);
        let kept = bytes.and_then(Result::ok).and_then(|b| linerate_snapshot::load_bytes(&b, "before").ok());
        if kept.is_none() {
            self.remarks.push(
                "the state of the node before the change is not known here: other changes are not judged".to_owned(),
            );
        }
        Ok(kept)
    }

    /// Undoes all, and where the running kernel may have taken something, reboots it into what was.
    fn undo(&mut self, why: String) -> Ended {
        let undone = self.standing().and_then(|state| {
            let booted = !state.reboots.is_empty() || state.first_in.is_some() && !self.still(state.first_in.as_ref());
            let rebooted = booted && self.options.may_reboot;
            super::undo::undo(
                self.link,
                &state,
                self.boot.clone(),
                super::undo::Undoing { reboot: rebooted.then_some(self.options.wait), keep_changed: false },
                self.tell,
            )
        });
        match undone {
            Ok(undone) if undone.ending => Ended::Left(format!(
                "{why}; it is undone, and reboots: run `linerate rollback --yes` afterwards to end the plan"
            )),
            Ok(_) => match self.given_back() {
                Ok(()) => Ended::Undone(why),
                Err(e) => Ended::Left(format!("{why}; it is undone, but was not returned to service: {e}")),
            },
            Err(Stop::Held(who)) => Ended::Held(who),
            Err(stop) => Ended::Left(format!("{why}; undoing it failed, too: {stop}")),
        }
    }

    /// Whether the boot still runs in which a phase was completed: then its reboot is due, whoever makes it.
    fn still(&self, boot: Option<&String>) -> bool {
        !self.released && boot.is_some() && boot == self.boot.as_ref()
    }

    fn has_trial(&self) -> bool {
        self.steps().any(|s| !s.trial.is_empty())
    }

    fn reboots(&self) -> bool {
        self.steps().any(|s| s.disruption >= Disruption::DrainReboot)
    }

    fn steps(&self) -> impl Iterator<Item = &linerate_remedy::Step> {
        let wanted = &self.steps;
        self.plan.steps.iter().filter(move |s| wanted.is_empty() || wanted.contains(&s.id))
    }

    pub(super) fn ask(&mut self, request: &Request) -> Result<Answer, Stop> {
        let answer = self.link.ask(request)?;
        self.heard(answer)
    }

    fn inspect(&mut self) -> Result<Answer, Stop> {
        let answer = self.link.inspect()?;
        self.heard(answer)
    }

    fn heard(&mut self, answer: Answer) -> Result<Answer, Stop> {
        self.boot.clone_from(&answer.node.boot);
        let new = answer.told.iter().filter(|told| !self.remarks.contains(told)).cloned().collect::<Vec<_>>();
        self.remarks.extend(new);
        if answer.refused.is_empty() {
            return Ok(answer);
        }
        answer.refused.iter().for_each(|t| (self.tell)(Event::Trouble(t)));
        self.touched |= answer.state.as_ref().is_some_and(|s| s.acts.iter().any(|a| a.stands != Stands::Open));
        Err(refused(answer))
    }

    fn state(&mut self, request: &Request) -> Result<State, Stop> {
        let answer = self.ask(request)?;
        self.of(answer)
    }

    fn standing(&mut self) -> Result<State, Stop> {
        let answer = self.inspect()?;
        self.of(answer)
    }

    fn of(&self, answer: Answer) -> Result<State, Stop> {
        let nothing = || {
            Unreached::Foreign(format!(
                "{}: linerate on the node does not report the state of the plan",
                self.plan.hash
            ))
        };
        Ok(answer.state.ok_or_else(nothing)?)
    }

    fn read(&mut self) -> Result<Snapshot, Stop> {
        (self.tell)(Event::Reading);
        Ok(self.link.read(self.boot.as_deref())?)
    }

    fn perform(&mut self, state: &State, phase: Phase) -> Result<State, Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        let open = state.acts.iter().filter(|a| a.stands != Stands::Made).count();
        (self.tell)(Event::Phase(phase, open));
        self.touched = true;
        // What is refused from afar is refused before the node is changed.
        if phase == Phase::First {
            self.elsewhere(state, phase)?;
        }
        let after = self.state(&Request::Perform { plan: self.plan.hash.clone(), phase });
        self.failed |= matches!(after, Err(Stop::Refused(_)));
        let after = after?;
        let was_made =
            |a: &ActState| state.acts.iter().any(|b| (&b.step, b.number, b.stands) == (&a.step, a.number, a.stands));
        for act in after.acts.iter().filter(|a| a.stands == Stands::Made && !was_made(a)) {
            if let Some(made) = self.plan.act(&act.step, act.number).filter(|made| !made.is_elsewhere()) {
                (self.tell)(Event::Made(&made.summary()));
            }
        }
        Ok(after)
    }

    /// Reboots and waits for another boot. `None`: that is not ours to do, or ends us.
    fn reboot(&mut self) -> Result<Option<State>, Stop> {
        if !self.options.may_reboot {
            return Ok(None);
        }
        let reboot = Reboot { link: self.link, most: self.options.reboots, wait: self.options.wait };
        match reboot.make(self.tell)? {
            None => Ok(None),
            Some(_) => {
                self.rebooted = true;
                Ok(Some(self.standing()?))
            }
        }
    }

    /// Puts the labels that say what the node was just seen to do, and reads them again. Whether they are there.
    fn claimed(&mut self) -> Result<bool, Stop> {
        if self.due.is_empty() {
            return Ok(true);
        }
        (self.tell)(Event::Phase(Phase::Claims, self.due.len()));
        let state = self.standing()?;
        self.touched = true;
        self.elsewhere(&state, Phase::Claims)?;
        self.due.clear();
        let Some(after) = self.after.take() else { return Ok(false) };
        self.judged(&after, When::Made)
    }

    /// Reads the node and judges every step.
    fn proven(&mut self, when: When) -> Result<bool, Stop> {
        let after = self.read()?;
        let fine = self.judged(&after, when);
        self.after = Some(after);
        fine
    }

    fn judged(&mut self, after: &Snapshot, when: When) -> Result<bool, Stop> {
        let told = self.told();
        let mut found = verify_told(self.plan, self.before.as_ref(), after, &told);
        let wanted = &self.steps;
        found.steps.retain(|s| wanted.is_empty() || wanted.contains(&s.id));
        (self.tell)(Event::Verified(&found));
        let noted = if self.released { 0 } else { found.steps.len() };
        for step in found.steps.iter().take(noted) {
            let (what, why) = (step.outcome.name().to_owned(), step.outcome.reason().to_owned());
            let note = Note { step: Some(step.id.clone()), what, why };
            self.ask(&Request::Note { plan: self.plan.hash.clone(), note })?;
        }
        let fine = |s: &StepResult| self.is_fine(s, when);
        let fine = found.steps.iter().all(fine) && found.regressed.is_empty();
        self.verification = Some(found);
        Ok(fine)
    }

    fn is_fine(&self, step: &StepResult, when: When) -> bool {
        let tried = || self.plan.step(&step.id).is_some_and(|s| !s.trial.is_empty());
        let claims = step.proofs.iter().any(|p| matches!(p.proof, Proof::Label { .. }));
        match &step.outcome {
            Shown::Effective => true,
            // Each by itself: that a label is still to come must not hide what another proof says.
            _ if claims => step.proofs.iter().all(|p| match (&p.proof, &p.outcome) {
                (_, Shown::Effective) => true,
                (Proof::Label { key, .. }, Shown::Pending(_)) => self.due.contains(key),
                (Proof::Label { .. }, _) => false,
                // What the labels claim is asked for when all is made.
                _ => when == When::Trial,
            }),
            Shown::Pending(_) => when == When::Trial && !tried(),
            Shown::Ineffective(_) | Shown::Unknown(_) => false,
        }
    }

    fn not_proven(&mut self) -> Ended {
        self.failed = true;
        let Some(found) = &self.verification else { return Ended::Left("it was not read".to_owned()) };
        // A label that is still to come is no reason: what it waits for is.
        let waits = |p: &&Proved| matches!((&p.proof, &p.outcome), (Proof::Label { key, .. }, Shown::Pending(_)) if self.due.contains(key));
        let bad = found.steps.iter().filter_map(|s| {
            let other = s.proofs.iter().find(|p| p.outcome != Shown::Effective && !waits(p));
            let outcome = if s.proofs.iter().any(|p| waits(&p)) { &other?.outcome } else { &s.outcome };
            (*outcome != Shown::Effective).then_some((s, outcome))
        });
        let steps = bad.map(|(s, outcome)| format!("{} is {}: {}", s.id, outcome.name(), outcome.reason()));
        let worse =
            found.regressed.iter().map(|r| format!("{} fails now for {}, and did not before", r.rule, r.subject));
        Ended::Left(steps.chain(worse).collect::<Vec<_>>().join("; "))
    }
}
