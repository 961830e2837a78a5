//! Setting, and putting back: announced before, sent once, noted after.

use super::{BiosAct, Bmc, LOOKS, Seen, Was, trouble};
use crate::drive::Stop;
use crate::hand::fault::boundary;
use crate::protocol::Stands;
use crate::redfish::{Attributes, Error, same};
use linerate_remedy::verify::Told;
use serde_json::Value;
use std::time::Duration;

/// Writes one announcement or its end into the node's journal.
pub(in crate::drive) type Note<'a> = dyn FnMut(&BiosAct, Stands, String) -> Result<(), Stop> + 'a;

/// Sets what is not yet set: announced before, sent once, noted after. What was made is told.
pub(in crate::drive) fn make(bmc: &Bmc, acts: &[BiosAct], note: &mut Note<'_>) -> Result<(Vec<String>, Told), Stop> {
    let open: Vec<&BiosAct> = acts.iter().filter(|a| a.stands != Stands::Made).collect();
    let mut told = Told::default();
    if open.is_empty() {
        return Ok((Vec::new(), told));
    }
    let seen = bmc.look().map_err(|e| refused(&open, &e))?;
    let mut wanted = Attributes::new();
    for act in &open {
        let was = was(&seen, act)?;
        boundary("bios: seen");
        let text = serde_json::to_string(&was).unwrap_or_default();
        // Announced once more where it was interrupted: the attempts are counted there.
        note(act, Stands::Announced, text)?;
        boundary("bios: announced");
        if !same(was.next(), &act.after) {
            wanted.insert(act.attribute.clone(), act.after.clone());
        }
    }
    let mut answer = None;
    let after = if wanted.is_empty() {
        seen
    } else {
        match bmc.set(&wanted) {
            Ok(sent) => {
                answer = sent.task.map(|t| format!("a task that ended as {}", t.state));
                sent.after
            }
            Err(e) => {
                // Where it is certain that nothing was written, the journal says so; else it stays announced, and is looked at again.
                if unwritten(&e) {
                    for act in &open {
                        note(act, Stands::Failed, e.to_string())?;
                    }
                }
                return Err(refused(&open, &e));
            }
        }
    };
    boundary("bios: sent");
    let mut made = Vec::new();
    for act in &open {
        let is = was(&after, act)?;
        let how = match () {
            () if same(&is.active, &act.after) => "in force".to_owned(),
            () if same(is.next(), &act.after) => "waits for the next start through POST".to_owned(),
            () => format!(
                "not confirmed: in force is {}, and the service does not show that {} waits",
                is.active, act.after
            ),
        };
        let said = answer.as_ref().map(|a| format!("; the service answered with {a}")).unwrap_or_default();
        if let (Some(a), true) = (&answer, wanted.contains_key(&act.attribute)) {
            let waited = if same(is.next(), &act.after) { ", it showed the value waiting" } else { "" };
            told.bios_answers.insert(act.attribute.clone(), format!("{a}{waited}"));
        }
        note(act, Stands::Made, format!("{how}{said}"))?;
        boundary("bios: noted");
        made.push(format!("{} ({how})", act.what));
    }
    Ok((made, told))
}

/// Puts back what was there before, the last first. What was put back is told.
pub(in crate::drive) fn put_back(bmc: &Bmc, acts: &[BiosAct], note: &mut Note<'_>) -> Result<Vec<String>, Stop> {
    let open: Vec<&BiosAct> =
        acts.iter().rev().filter(|a| matches!(a.stands, Stands::Made | Stands::Announced)).collect();
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let seen = bmc.look().map_err(|e| refused(&open, &e))?;
    let mut wanted = Attributes::new();
    for act in &open {
        let is = was(&seen, act)?;
        let next = is.next().clone();
        // Where the service does not show what waits, the change may wait unseen: it is overwritten.
        if same(&next, target(act)) && is.pending.is_some() {
            continue;
        }
        if !same(&next, &act.after) && !same(&next, target(act)) {
            let what = format!(
                "the BIOS attribute {} is set to {next} by somebody else meanwhile; it is left as it is. Look at it, then decide",
                act.attribute
            );
            return Err(Stop::Refused(vec![trouble("unexpected", Some(&act.step), what)]));
        }
        wanted.insert(act.attribute.clone(), target(act).clone());
    }
    let after = if wanted.is_empty() { seen } else { bmc.set(&wanted).map_err(|e| refused(&open, &e))?.after };
    boundary("bios: put back");
    let mut out = Vec::new();
    for act in &open {
        let (is, target) = (was(&after, act)?, target(act));
        if !same(is.next(), target) && after.pending.is_some() {
            let what = format!(
                "the BMC took {target} for the BIOS attribute {}, and still shows {}: look at its jobs, and roll back again",
                act.attribute,
                is.next()
            );
            return Err(Stop::Refused(vec![trouble("failed", Some(&act.step), what)]));
        }
        let when =
            if same(&is.active, target) { "it is in force" } else { "in force after the next start through POST" };
        let how = format!("the BIOS attribute {} is {target} again: {when}", act.attribute);
        note(act, Stands::Undone, how.clone())?;
        boundary("bios: undoing noted");
        out.push(how);
    }
    Ok(out)
}

/// After a start: whether what was put back is in force.
pub(in crate::drive) fn is_back(bmc: &Bmc, acts: &[BiosAct]) -> Result<(), Stop> {
    let mut last = Ok(());
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(bmc.patience.pause.max(Duration::from_millis(1)));
        }
        let seen = bmc.look().map_err(|e| refused(&acts.iter().collect::<Vec<_>>(), &e))?;
        let other = acts.iter().filter(|a| a.was.is_some()).find_map(|a| {
            let is = seen.of(&a.attribute)?.active;
            (!same(&is, target(a))).then_some((a, is))
        });
        let Some((act, is)) = other else { return Ok(()) };
        let what = format!(
            "the BIOS attribute {} was put back to {}, the node was started, and {is} is in force: that start did not go through POST, or the \
             service did not take it",
            act.attribute,
            target(act)
        );
        last = Err(Stop::Refused(vec![trouble("unproven", Some(&act.step), what)]));
    }
    last
}

/// What is put back: what the next start would have brought.
fn target(act: &BiosAct) -> &Value {
    act.was.as_ref().map_or(&act.before, Was::next)
}

fn was(seen: &Seen, act: &BiosAct) -> Result<Was, Stop> {
    seen.of(&act.attribute).ok_or_else(|| {
        let what = format!("the BMC shows no BIOS attribute {}: is it this node's? Make a new plan", act.attribute);
        Stop::Refused(vec![trouble("stale", Some(&act.step), what)])
    })
}

fn refused(acts: &[&BiosAct], e: &Error) -> Stop {
    let step = acts.first().map(|a| a.step.as_str());
    Stop::Refused(vec![trouble("failed", step, e.to_string())])
}

/// Whether it is certain that a failed request changed nothing.
fn unwritten(e: &Error) -> bool {
    match e {
        Error::Status { status, .. } => (400..500).contains(status),
        Error::Refused { .. }
        | Error::Changed { .. }
        | Error::Missing { .. }
        | Error::Program { .. }
        | Error::Credentials(_)
        | Error::Address(..) => true,
        Error::Sent(_) | Error::NoAnswer { .. } | Error::Answer { .. } | Error::Link { .. } | Error::Task { .. } => {
            false
        }
    }
}
