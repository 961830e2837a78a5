//! Whether an answer fits the plan that the operator holds. What does not fit is shown, and nothing of it is used.
//!
//! Every answer is an observation of a node that may be somebody else's by now. It is compared with the plan, with the call, and with what the
//! same node said before; a plan, a step, an act, a file or a value that the operator's plan does not have can never come out of it.

use super::elsewhere::is_planned;
use super::head::{self, MOST, TEXT};
use crate::hand::acts;
use crate::journal::Key;
use crate::named::is_named;
use crate::plans::Record;
use crate::protocol::{ActState, Answer, Call, Phase, Request, SCHEMA, Stage, Stands, State};
use linerate_remedy::{Act, Plan};

/// What an answer is compared with.
pub(super) struct Known<'a> {
    /// The operator's plan.
    pub(super) plan: &'a Plan,
    /// Steps that may have been taken: what the operator asks for now, and what the operator noted when the plan was begun. Empty ones: all.
    pub(super) steps: &'a [Vec<String>],
    /// What the operator noted of it.
    pub(super) record: &'a Record,
    /// What the node said last, while this session holds it.
    pub(super) last: Option<&'a State>,
    /// This session holds the node, and the plan has not begun there.
    pub(super) is_new: bool,
    /// The boot that answered last.
    pub(super) boot: Option<&'a str>,
    /// The boot that is over, once the node came back from a reboot.
    pub(super) over: Option<&'a str>,
}

/// How an answer differs from what the operator holds: a stable word, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Differs {
    /// `version`, `asked`, `other-node`, `boot`, `holder`, `plan`, `steps`, `acts`, `stage`, `before`, `kept`, `done`, `unasked`, `trouble`.
    pub(super) code: &'static str,
    pub(super) what: String,
}

pub(super) type Fits = Result<(), Differs>;

pub(super) fn differs(code: &'static str, what: impl Into<String>) -> Fits {
    Err(Differs { code, what: what.into() })
}

/// Compares all of an answer.
pub(super) fn answer(known: &Known<'_>, call: &Call, answer: &Answer) -> Fits {
    if answer.schema != SCHEMA || answer.version != env!("CARGO_PKG_VERSION") {
        return differs(
            "version",
            format!(
                "linerate on the node is {} with protocol {}; here it is {} with {SCHEMA}: install the same version on both",
                answer.version,
                answer.schema,
                env!("CARGO_PKG_VERSION")
            ),
        );
    }
    if answer.asked != call.digest() {
        return differs("asked", "it answers another call");
    }
    head::fits(known, call, answer)?;
    match &answer.state {
        Some(found) => state(known, call, answer, found)?,
        None if is_begun(&call.ask) && answer.refused.is_empty() => {
            return differs("plan", "it does not say the state of the plan");
        }
        None => {}
    }
    if answer.refused.is_empty() { done(known.plan, call, answer) } else { Ok(()) }
}

/// Whether the plan has begun where a request of this kind is not refused.
fn is_begun(request: &Request) -> bool {
    !matches!(request, Request::Inspect { .. } | Request::Check { .. } | Request::Take { .. } | Request::Leave)
}

/// How a plan stands, against the plan itself.
fn state(known: &Known<'_>, call: &Call, answer: &Answer, state: &State) -> Fits {
    let plan = known.plan;
    if state.plan != plan.hash {
        return differs("plan", format!("it is about plan {:.64}, but the plan here is {}", state.plan, plan.hash));
    }
    if !known.steps.iter().any(|held| taken(plan, held) == taken(plan, &state.steps)) {
        let words = |steps: &[String]| if steps.is_empty() { "all".to_owned() } else { steps.join(", ") };
        let held: Vec<String> = known.steps.iter().map(|s| words(s)).collect();
        return differs(
            "steps",
            format!(
                "it says that these steps were taken: {}; here it is: {}. Where that is so, name them with --step",
                words(&state.steps),
                held.join(" or ")
            ),
        );
    }
    let twice = || {
        (1..state.steps.len())
            .any(|n| state.steps.get(..n).zip(state.steps.get(n)).is_some_and(|(earlier, one)| earlier.contains(one)))
    };
    if !known.steps.contains(&state.steps) && (state.steps.len() > plan.steps.len() || twice()) {
        return differs("steps", "it names a step twice");
    }
    if state.reboots.len() > MOST || state.who.len() > TEXT {
        return differs(
            "trouble",
            format!("it was rebooted more than {MOST} times, or its operator's name is too long"),
        );
    }
    let planned = acts(plan, &state.steps);
    let said: Vec<(&str, usize)> = state.acts.iter().map(|a| (a.step.as_str(), a.number)).collect();
    let held: Vec<(&str, usize)> = planned.iter().map(|(key, ..)| (key.step.as_str(), key.number)).collect();
    if said != held {
        let (at, other) = (0..said.len().max(held.len()))
            .find_map(|n| (said.get(n) != held.get(n)).then(|| (n, said.get(n))))
            .unwrap_or_default();
        let other = other.map_or("nothing".to_owned(), |(step, number)| format!("act {number} of {step:?}"));
        return differs("acts", format!("its acts are not those of the plan: at position {at} it has {other}"));
    }
    for ((key, _, act), said) in planned.iter().zip(&state.acts) {
        one(known.record, key, act, said)?;
    }
    stage(&planned, state)?;
    super::moved::unasked(known, call, answer, &planned, state)
}

/// Steps that are taken, in order of the plan, and what is none of its steps; where none is named, all of them.
pub(super) fn taken<'p>(plan: &'p Plan, named: &'p [String]) -> Vec<&'p str> {
    let planned = plan.steps.iter().map(|s| s.id.as_str());
    if named.is_empty() {
        return planned.collect();
    }
    let own = planned.filter(|id| named.iter().any(|n| n == id));
    own.chain(named.iter().map(String::as_str).filter(|n| plan.step(n).is_none())).collect()
}

/// What is said of one act.
fn one(record: &Record, key: &Key, act: &Act, said: &ActState) -> Fits {
    let begun = matches!(said.stands, Stands::Announced | Stands::Made);
    if said.stands == Stands::Open && (said.before.is_some() || !said.kept.is_empty()) {
        let code = if said.before.is_some() { "before" } else { "kept" };
        let what =
            format!("act {} of {}: it was not begun, and what was there before it is known", key.number, key.step);
        return differs(code, what);
    }
    match &said.before {
        Some(_) if !act.is_elsewhere() => {
            let what =
                format!("act {} of {}: it says what was there before an act that is its own", key.number, key.step);
            return differs("before", what);
        }
        Some(before) if said.stands != Stands::Undone => {
            let noted = record.before(&key.step, key.number);
            if noted.as_ref().is_some_and(|noted| noted != before) || noted.is_none() && !is_planned(act, before) {
                let held = noted
                    .map_or("neither value of the plan".to_owned(), |noted| format!("not {noted:.200}, as noted here"));
                let what =
                    format!("act {} of {}: it says that {before:.200} was there before, {held}", key.number, key.step);
                return differs("before", what);
            }
        }
        None if begun && act.is_elsewhere() => {
            let what = format!("act {} of {}: it does not say what was there before", key.number, key.step);
            return differs("before", what);
        }
        _ => {}
    }
    if said.kept.len() > MOST {
        return differs("kept", format!("act {} of {}: it keeps more than {MOST} files", key.number, key.step));
    }
    match said.kept.iter().find(|path| !is_named(act, path)) {
        Some(path) => differs(
            "kept",
            format!(
                "act {} of {}: it keeps {path:?} to put it back, and the plan does not touch that",
                key.number, key.step
            ),
        ),
        None => Ok(()),
    }
}

/// Whether the stage is the one that the acts come to.
fn stage(planned: &[(Key, Phase, &Act)], state: &State) -> Fits {
    let stands = || planned.iter().zip(&state.acts).map(|((_, phase, _), said)| (*phase, said.stands));
    let made = |last: Phase| stands().filter(|(phase, _)| *phase <= last).all(|(_, s)| s == Stands::Made);
    let has = |phase: Phase| stands().any(|(p, _)| p == phase);
    let whole = |phase: Phase| has(phase) && stands().filter(|(p, _)| *p == phase).all(|(_, s)| s == Stands::Made);
    let gone = || stands().all(|(_, s)| !matches!(s, Stands::Made | Stands::Announced));
    let undoing = state.undone_in.is_some();
    let fits = match state.stage {
        Stage::Begun => !undoing && !made(Phase::First),
        Stage::First => !undoing && made(Phase::First) && !made(Phase::Lasting),
        Stage::Lasting => !undoing && made(Phase::Lasting),
        Stage::Undoing => undoing && !gone(),
        Stage::Undone => undoing && gone(),
        Stage::Finished => undoing || made(Phase::Claims) || stands().all(|(_, s)| s == Stands::Open),
    };
    let fits = fits && (undoing || stands().all(|(_, s)| s != Stands::Undone));
    let fits =
        fits && state.first_in.is_some() == whole(Phase::First) && state.lasting_in.is_some() == whole(Phase::Lasting);
    if fits {
        Ok(())
    } else {
        differs(
            "stage",
            format!("it says that the state of the plan is {:?}, but its acts do not agree with that", state.stage),
        )
    }
}

/// Whether what was asked, and not refused, is what is said to be so now.
fn done(plan: &Plan, call: &Call, answer: &Answer) -> Fits {
    let Some(state) = &answer.state else { return Ok(()) };
    let planned = acts(plan, &state.steps);
    let stands = || planned.iter().zip(&state.acts).map(|((_, phase, act), said)| (*phase, *act, said));
    let fits = match &call.ask {
        Request::Perform { phase, .. } => {
            stands().filter(|(p, ..)| p == phase).all(|(_, _, s)| s.stands == Stands::Made)
        }
        Request::Rollback { .. } => {
            let own = |(_, act, s): (Phase, &Act, &ActState)| {
                act.is_elsewhere() || !matches!(s.stands, Stands::Made | Stands::Announced)
            };
            stands().all(own)
        }
        Request::Finish { .. } => state.stage == Stage::Finished,
        Request::Elsewhere { step, number, stands: asked, .. } => {
            let found = state.acts.iter().find(|a| (&a.step, a.number) == (step, *number)).map(|a| a.stands);
            // What is announced again where it was made before stays made.
            found == Some(*asked) || (*asked, found) == (Stands::Announced, Some(Stands::Made))
        }
        _ => true,
    };
    if fits { Ok(()) } else { differs("done", "it refused nothing, but does not say that the request is done") }
}
