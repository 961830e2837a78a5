//! Attributes as acts that are made elsewhere.

use super::{Bmc, LOOKS, Seen, Was};
use crate::drive::Stop;
use crate::drive::elsewhere::{Afar, Place, Way, trouble};
use crate::protocol::UNEXPECTED;
use crate::redfish::{Attributes, Error, same};
use linerate_remedy::BiosAct;
use linerate_remedy::verify::Told;
use serde_json::Value;
use std::time::Duration;

impl Place for Bmc {
    type Set = BiosAct;
    type Seen = Seen;
    type Error = Error;

    fn look(&self) -> Result<Seen, Error> {
        Bmc::look(self)
    }

    fn before(&self, seen: &Seen, act: &Afar<BiosAct>) -> Result<String, Stop> {
        Ok(serde_json::to_string(&was(seen, act)?).unwrap_or_default())
    }

    fn is_due(&self, seen: &Seen, act: &Afar<BiosAct>) -> bool {
        seen.of(&act.set.attribute).is_some_and(|was| !same(was.next(), &act.set.after))
    }

    fn send(&self, _: &Seen, acts: &[&Afar<BiosAct>], way: Way) -> Result<Seen, Error> {
        let value = |act: &Afar<BiosAct>| match way {
            Way::Make => act.set.after.clone(),
            Way::Back => target(act).clone(),
        };
        self.set(&acts.iter().map(|act| (act.set.attribute.clone(), value(act))).collect::<Attributes>())
    }

    fn is_unwritten(e: &Error) -> bool {
        match e {
            Error::Status { status, .. } => (400..500).contains(status),
            Error::Refused { .. }
            | Error::Changed { .. }
            | Error::Missing { .. }
            | Error::Program { .. }
            | Error::Credentials(_)
            | Error::Address(..) => true,
            Error::Sent(_)
            | Error::NoAnswer { .. }
            | Error::Answer { .. }
            | Error::Link { .. }
            | Error::Task { .. } => false,
        }
    }

    fn made(&self, after: &Seen, act: &Afar<BiosAct>) -> Result<(String, String), Stop> {
        let (is, wanted) = (was(after, act)?, &act.set.after);
        let how = match () {
            () if same(&is.active, wanted) => "in force".to_owned(),
            () if same(is.next(), wanted) => "waits for the next start through POST".to_owned(),
            () => {
                format!("not confirmed: {} is in force, and the service does not show that {wanted} waits", is.active)
            }
        };
        let said = answer(after).map(|a| format!("; the service answered with {a}")).unwrap_or_default();
        Ok((how.clone(), format!("{how}{said}")))
    }

    fn goes_back(&self, seen: &Seen, act: &Afar<BiosAct>) -> Result<bool, Stop> {
        let is = was(seen, act)?;
        let next = is.next();
        // Where the service does not show what waits, the change may wait unseen: it is overwritten.
        if same(next, target(act)) && is.pending.is_some() {
            return Ok(false);
        }
        if !same(next, &act.set.after) && !same(next, target(act)) {
            let what = format!(
                "the BIOS attribute {} is set to {next} by somebody else meanwhile; it is left as it is. Look at it, then decide",
                act.set.attribute
            );
            return Err(Stop::Refused(vec![trouble(UNEXPECTED, Some(&act.at.step), what)]));
        }
        Ok(true)
    }

    fn back(&self, after: &Seen, act: &Afar<BiosAct>) -> Result<String, Stop> {
        let (is, target, attribute) = (was(after, act)?, target(act), &act.set.attribute);
        if !same(is.next(), target) && after.pending.is_some() {
            let what = format!(
                "the BMC accepted {target} for the BIOS attribute {attribute}, but still shows {}: look at its jobs, and roll back again",
                is.next()
            );
            return Err(Stop::Refused(vec![trouble("failed", Some(&act.at.step), what)]));
        }
        let when =
            if same(&is.active, target) { "it is in force" } else { "in force after the next start through POST" };
        Ok(format!("the BIOS attribute {attribute} is {target} again: {when}"))
    }
}

/// How the service answered to what was sent.
fn answer(after: &Seen) -> Option<String> {
    after.task.as_ref().map(|t| format!("a task that ended as {}", t.state))
}

/// The same for each attribute that was sent, for the proof.
pub(in crate::drive) fn answers(after: &Seen, acts: &[Afar<BiosAct>], told: &mut Told) {
    let Some(answer) = answer(after) else { return };
    for BiosAct { attribute, after: wanted, .. } in acts.iter().map(|a| &a.set) {
        if !after.sent.contains(attribute) {
            continue;
        }
        let waits = after.of(attribute).is_some_and(|is| same(is.next(), wanted));
        let waited = if waits { ", it showed the value waiting" } else { "" };
        told.bios_answers.insert(attribute.clone(), format!("{answer}{waited}"));
    }
}

/// After a start: whether what was put back is in force. `keep`: what somebody else set is left.
pub(in crate::drive) fn is_back(bmc: &Bmc, acts: &[Afar<BiosAct>], keep: bool) -> Result<(), Stop> {
    let mut last = Ok(());
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(bmc.patience.pause.max(Duration::from_millis(1)));
        }
        let step = acts.first().map(|a| a.at.step.as_str());
        let seen = bmc.look().map_err(|e| Stop::Refused(vec![trouble("failed", step, e.to_string())]))?;
        let other = acts.iter().filter(|a| a.was.is_some()).find_map(|a| {
            let is = seen.of(&a.set.attribute)?.active;
            let theirs = keep && !same(&is, &a.set.after);
            (!same(&is, target(a)) && !theirs).then_some((a, is))
        });
        let Some((act, is)) = other else { return Ok(()) };
        let what = format!(
            "the BIOS attribute {} was put back to {}, and the node was started, but {is} is in force: that start did not go through POST, or the service did not accept the value",
            act.set.attribute,
            target(act)
        );
        last = Err(Stop::Refused(vec![trouble("unproven", Some(&act.at.step), what)]));
    }
    last
}

/// What is put back: what the next start would have brought.
fn target(act: &Afar<BiosAct>) -> &Value {
    act.was.as_ref().map_or(&act.set.before, Was::next)
}

fn was(seen: &Seen, act: &Afar<BiosAct>) -> Result<Was, Stop> {
    seen.of(&act.set.attribute).ok_or_else(|| {
        let what = format!("the BMC shows no BIOS attribute {}: is it this node's? Make a new plan", act.set.attribute);
        Stop::Refused(vec![trouble("stale", Some(&act.at.step), what)])
    })
}
