//! What an answer says besides the plan: which machine answers, from which boot, what it refuses, and whose session holds it.

use super::fits::{Fits, Known, differs};
use crate::protocol::{Answer, Call, Request};
use linerate_remedy::Plan;

/// The longest list of troubles, remarks, kept files or reboots.
pub(super) const MOST: usize = 4096;
/// The longest text in an answer, in bytes.
pub(super) const TEXT: usize = 64 << 10;
/// The longest word.
const WORD: usize = 40;

pub(super) fn fits(known: &Known<'_>, call: &Call, answer: &Answer) -> Fits {
    identity(known.plan, answer)?;
    boot(known, answer)?;
    troubles(known.plan, answer)?;
    holder(call, answer)
}

/// The machine of the plan, by what the operator's side saw when the plan was made.
fn identity(plan: &Plan, answer: &Answer) -> Fits {
    let word = |id: &Option<String>| id.clone().unwrap_or_else(|| "unknown".to_owned());
    if plan.node.machine.is_some() && plan.node.machine != answer.node.machine {
        return differs(
            "other-node",
            format!(
                "the plan was made for node {} (machine {}), but {} (machine {}) answers",
                word(&plan.node.host),
                word(&plan.node.machine),
                word(&answer.node.host),
                word(&answer.node.machine)
            ),
        );
    }
    match (&plan.node.uuid, &answer.node.uuid) {
        (Some(then), Some(now)) if !then.eq_ignore_ascii_case(now) => {
            differs("other-node", format!("the plan was made for the machine {then} (SMBIOS UUID), but {now} answers"))
        }
        _ => Ok(()),
    }
}

/// The boot that answers: always one, and the same until a reboot was asked for.
fn boot(known: &Known<'_>, answer: &Answer) -> Fits {
    let Some(now) = answer.node.boot.as_deref() else {
        return differs("boot", "it does not say in which boot it answers");
    };
    if known.over == Some(now) {
        return differs("boot", "it answers from the boot that ended before the node came back");
    }
    match known.boot {
        Some(last) if last != now && known.over != Some(last) => differs(
            "boot",
            format!(
                "boot {now:.64} answers, {last} answered before, and no reboot was asked for: somebody else rebooted it, or it crashed. Find out why; `linerate apply --resume` goes on"
            ),
        ),
        _ => Ok(()),
    }
}

fn troubles(plan: &Plan, answer: &Answer) -> Fits {
    if answer.refused.len() > MOST || answer.told.len() > MOST {
        return differs("trouble", format!("it has more than {MOST} troubles or remarks"));
    }
    let texts = answer.refused.iter().map(|t| &t.what).chain(&answer.told);
    if texts.into_iter().any(|text| text.len() > TEXT) {
        return differs("trouble", format!("one of its troubles or remarks is longer than {TEXT} bytes"));
    }
    let is_word = |code: &str| code.len() <= WORD && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    if answer.refused.iter().any(|t| !is_word(&t.code)) {
        return differs("trouble", "the code of one of its troubles is not a word");
    }
    let unknown = answer.refused.iter().filter_map(|t| t.step.as_ref()).find(|step| plan.step(step).is_none());
    match unknown {
        Some(step) => differs("trouble", format!("it has trouble with a step {step:?}, which the plan does not have")),
        None => Ok(()),
    }
}

/// Whose session the node says that it is. Who else holds it is another question: [`Link::take`](super::link::Link::take) asks it.
fn holder(call: &Call, answer: &Answer) -> Fits {
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let is_address = |text: &String| text.len() <= 64 && text.bytes().all(|b| b.is_ascii_graphic());
    if let Some(holder) = &answer.holder
        && !(holder.session.is_sound() && is_digest(&holder.plan) && holder.from.iter().all(is_address))
    {
        return differs("holder", "what it says about the session that holds it has not the form of a session");
    }
    let takes = matches!(call.ask, Request::Take { .. });
    // Who only looks is answered whoever holds it.
    if !answer.refused.is_empty()
        || matches!(call.ask, Request::Inspect { .. } | Request::Check { .. } | Request::Leave)
    {
        return Ok(());
    }
    match &answer.holder {
        None => differs("holder", "it refuses nothing, and says that no session holds it: this one took it"),
        Some(holder) if !takes && holder.session.id != call.session.id => {
            differs("holder", format!("it refuses nothing, and says: {}", holder.words(crate::hand::now())))
        }
        Some(_) => Ok(()),
    }
}
