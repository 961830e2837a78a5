//! What has changed from one answer to the next, though nothing was asked that changes it: one session alone holds the node.

use super::fits::{Fits, Known, differs, taken};
use crate::journal::Key;
use crate::protocol::{Answer, Call, Phase, Request, Stage, Stands, State};
use linerate_remedy::Act;

/// Compares an answer with the one before.
pub(super) fn unasked(
    known: &Known<'_>,
    call: &Call,
    answer: &Answer,
    planned: &[(Key, Phase, &Act)],
    state: &State,
) -> Fits {
    let begins = matches!(call.ask, Request::Begin { .. });
    let all_open = || state.acts.iter().all(|a| a.stands == Stands::Open);
    let Some(last) = known.last else {
        let anew = !known.is_new || begins && all_open();
        return if anew { Ok(()) } else { differs("unasked", "the plan had not begun, and acts of it are made") };
    };
    let is_same = taken(known.plan, &last.steps) == taken(known.plan, &state.steps);
    // A plan that was undone, or released before it did anything, begins with a new journal.
    if begins && last.stage == Stage::Finished && all_open() {
        return Ok(());
    }
    if !is_same {
        return differs("unasked", "other steps were taken before, and it was not begun again");
    }
    acts(call, planned, state, last)?;
    history(call, answer, state, last)
}

/// Acts that are not as they were.
fn acts(call: &Call, planned: &[(Key, Phase, &Act)], state: &State, last: &State) -> Fits {
    let may = |key: &Key, phase: Phase, act: &Act| match &call.ask {
        Request::Elsewhere { step, number, .. } => (step, *number) == (&key.step, key.number),
        Request::Perform { phase: asked, .. } => {
            !act.is_elsewhere() && (phase == *asked || matches!(act, Act::Trial(_)))
        }
        Request::Rollback { .. } => !act.is_elsewhere(),
        Request::Finish { .. } => matches!(act, Act::Trial(_)),
        _ => false,
    };
    for ((key, phase, act), (now, then)) in planned.iter().zip(state.acts.iter().zip(&last.acts)) {
        if (now.stands, &now.before) != (then.stands, &then.before) && !may(key, *phase, act) {
            return differs(
                "unasked",
                format!(
                    "act {} of {} was {:?} and is {:?} now, and nothing was asked that does that",
                    key.number, key.step, then.stands, now.stands
                ),
            );
        }
    }
    Ok(())
}

/// What was begun, made and rebooted stays so; what is completed now is completed in the boot that answers.
fn history(call: &Call, answer: &Answer, state: &State, last: &State) -> Fits {
    let moved = state.acts.iter().zip(&last.acts).any(|(now, then)| now.stands != then.stands);
    for (now, then) in [(&state.first_in, &last.first_in), (&state.lasting_in, &last.lasting_in)] {
        if now != then && now.is_some() && (!moved || *now != answer.node.boot) {
            return differs("boot", "a phase was completed in another boot than before, or than the one that answers");
        }
    }
    let rebooted = matches!(call.ask, Request::Reboot { .. }) && answer.refused.is_empty();
    if rebooted && state.reboots.last() != answer.node.boot.as_ref() {
        return differs("unasked", "it refuses no reboot, and does not say that one was asked for in this boot");
    }
    let undone = state.undone_in != last.undone_in && !matches!(call.ask, Request::Rollback { .. });
    if undone || state.begun_in != last.begun_in || !state.reboots.starts_with(&last.reboots) {
        let what =
            "it was begun, rebooted or undone in other boots than it said before, and nothing was asked that does that";
        return differs("unasked", what);
    }
    Ok(())
}
