//! Making acts: announced, made, noted.

use super::carried::by_a_boot;
use super::{Work, acts, boot, is_made, now};
use crate::act::{ActDone, Done, Hands, Look, Made, Wrong, end_left, on_node, unexpected};
use crate::hand::fault::boundary;
use crate::journal::{Journal, Key, Record, Seen};
use crate::protocol::{Phase, Stands, UNEXPECTED};
use linerate_remedy::{Act, Plan, TrialAct};

/// How often an act is begun.
const ATTEMPTS: u32 = 5;

/// Makes the acts of a phase, up to the first that cannot be made.
pub(super) fn perform(hands: &Hands<'_>, journal: &mut Journal, phase: Phase, work: &mut Work) -> Done<()> {
    if journal.ledger.undoing {
        return Err(Wrong::new("order", "the plan is being undone: nothing more of it is made"));
    }
    let (plan, chosen) = (journal.plan.clone(), journal.ledger.steps.clone());
    let acts = acts(&plan, &chosen);
    if phase == Phase::Lasting {
        let open = acts.iter().any(|(key, phase, act)| *phase == Phase::First && !is_made(&journal.ledger, key, act));
        if open {
            return Err(Wrong::new("order", "the first phase is not complete: complete it first"));
        }
    }
    let left = end_left(hands.mark);
    if left > 0 {
        work.told.push(format!(
            "{left} programs that an earlier, killed linerate had started were still running, and were ended"
        ));
    }
    for (key, _, act) in acts.iter().filter(|(_, p, _)| *p == phase) {
        if is_made(&journal.ledger, key, act) {
            continue;
        }
        let proven = if phase == Phase::Lasting { trial_runs(hands, &plan, key) } else { Ok(()) };
        if let Err(wrong) = proven.and_then(|()| one(hands, journal, key, act, work)) {
            work.refuse(wrong, Some(&key.step));
            break;
        }
    }
    Ok(())
}

/// What was tried has to be what runs now: a kernel that fell back to the usual entry proves nothing.
fn trial_runs(hands: &Hands<'_>, plan: &Plan, key: &Key) -> Done<()> {
    let trials = plan.step(&key.step).into_iter().flat_map(|s| &s.trial);
    let cmdline = hands.root.text("/proc/cmdline").unwrap_or_default();
    let words: Vec<&str> = cmdline.split_whitespace().collect();
    for act in trials {
        let Act::Trial(TrialAct { add, remove, .. }) = act else { continue };
        let missing = add.iter().filter(|w| !words.contains(&w.as_str())).map(|w| format!("{w} is not there"));
        let still = remove.iter().filter(|w| words.contains(&w.as_str())).map(|w| format!("{w} is there"));
        let differs: Vec<String> = missing.chain(still).collect();
        if !differs.is_empty() {
            let what = format!(
                "the running kernel is not the one on trial (of its arguments, {}): nothing is made permanent. It fell back, or was not rebooted",
                differs.join(", ")
            );
            return Err(Wrong::new("unproven", what));
        }
    }
    Ok(())
}

fn one(hands: &Hands<'_>, journal: &mut Journal, key: &Key, act: &Act, work: &mut Work) -> Done<()> {
    let begun = journal.ledger.acts.get(key).cloned();
    if let Some(begun) = begun.as_ref().filter(|b| b.attempts >= ATTEMPTS) {
        return Err(Wrong::failed(format!(
            "{}: begun {} times and never completed: roll back",
            act.summary(),
            begun.attempts
        )));
    }
    if let Some(begun) = &begun {
        super::backup::fits(key, act, &begun.before)?;
    }
    let done = on_node(act).ok_or_else(not_here)?;
    let before = match begun {
        Some(begun) if begun.stands == Stands::Announced => match done.look(hands, journal, &begun.before)? {
            Look::After(after) => {
                work.told.push(format!("{}: it was made before linerate was interrupted", act.summary()));
                return note(journal, hands, key, Made { after, output: None });
            }
            Look::Before => {
                journal.write(Record::Again { act: key.clone(), when: now() })?;
                begun.before
            }
            Look::Other(what) => return Err(unexpected(what)),
        },
        _ => announce(hands, journal, key, act, done)?,
    };
    boundary("act: announced");
    match done.make(hands, journal, &before) {
        Ok(made) => {
            boundary("act: made");
            note(journal, hands, key, made)
        }
        Err(wrong) => {
            boundary("act: failed");
            let back = done.put_back(hands, journal, &before);
            Err(failed(journal, key, act, back, wrong))
        }
    }
}

fn not_here() -> Wrong {
    Wrong::new(
        "not-here",
        "BIOS attributes are set by Redfish, and labels by the Kubernetes API, from where these can be reached: the operator's side does it",
    )
}

fn announce(hands: &Hands<'_>, journal: &mut Journal, key: &Key, act: &Act, done: &dyn ActDone) -> Done<Seen> {
    boundary("act: begun");
    let order = acts(&journal.plan, &journal.ledger.steps).iter().position(|(k, ..)| k == key).unwrap_or_default();
    let before = match by_a_boot(hands, journal, key, act)? {
        Some(before) => before,
        None => done.before(hands, journal, &format!("{order:03}"))?,
    };
    boundary("act: before is kept");
    let (act, what, boot) = (key.clone(), act.summary(), boot(hands.root));
    journal.write(Record::Announced { act, what, before: before.clone(), boot, when: now() })?;
    Ok(before)
}

fn note(journal: &mut Journal, hands: &Hands<'_>, key: &Key, made: Made) -> Done<()> {
    let Made { after, output } = made;
    journal.write(Record::Made { act: key.clone(), after, output, boot: boot(hands.root), when: now() })?;
    boundary("act: noted");
    Ok(())
}

/// Says whether what a failed act may have changed is put back. Where it is not, the act stays announced, and the rollback does it again.
fn failed(journal: &mut Journal, key: &Key, act: &Act, back: Done<()>, why: Wrong) -> Wrong {
    match back {
        Ok(()) => {
            boundary("act: put back");
            let record = Record::Failed { act: key.clone(), why: why.what.clone(), when: now() };
            let journalled =
                journal.write(record).err().map(|e| format!(" (and the journal could not be written: {})", e.what));
            let tail = journalled.unwrap_or_default();
            Wrong::new(why.code, format!("{}: {}. The old state is restored{tail}", act.summary(), why.what))
        }
        Err(back) => Wrong::new(
            UNEXPECTED,
            format!(
                "{}: {}. And the old state could not be restored: {}. Fix that, then roll back",
                act.summary(),
                why.what,
                back.what
            ),
        ),
    }
}

/// Notes what the driver did from where it is.
pub(super) fn elsewhere(hands: &Hands<'_>, journal: &mut Journal, act: Key, stands: Stands, note: String) -> Done<()> {
    let acts = acts(&journal.plan, &journal.ledger.steps);
    let Some((_, phase, found)) = acts.iter().find(|(key, _, a)| *key == act && a.is_elsewhere()) else {
        return Err(Wrong::new("order", format!("act {} of {} is not made elsewhere", act.number, act.step)));
    };
    let what = found.summary();
    let (boot, when, seen) = (boot(hands.root), now(), Seen::Elsewhere { note: note.clone() });
    let begun = journal.ledger.acts.contains_key(&act);
    let (undoing, now_stands) = (journal.ledger.undoing, journal.ledger.stands(&act));
    if undoing != (stands == Stands::Undone) {
        let which = if undoing { "is being undone: nothing more of it is made" } else { "is not being undone" };
        return Err(Wrong::new("order", format!("the plan {which}")));
    }
    let open = || acts.iter().any(|(key, p, act)| *p < Phase::Claims && !is_made(&journal.ledger, key, act));
    if (*phase, stands) == (Phase::Claims, Stands::Announced) && open() {
        let what = "a label describes what the node does: it is put when everything else in the plan is made";
        return Err(Wrong::new("order", what));
    }
    let record = match stands {
        // What was there before the first attempt is what is put back.
        Stands::Announced if matches!(now_stands, Stands::Announced | Stands::Made) => {
            if journal.ledger.acts.get(&act).is_some_and(|a| a.attempts >= ATTEMPTS) {
                return Err(Wrong::failed(format!("{what}: begun {ATTEMPTS} times and never completed: roll back")));
            }
            Record::Again { act, when }
        }
        Stands::Announced => Record::Announced { act, what, before: seen, boot, when },
        _ if !begun => return Err(Wrong::new("order", "it was not announced: announce it before it is made")),
        Stands::Made => Record::Made { act, after: seen, output: None, boot, when },
        Stands::Failed => Record::Failed { act, why: note, when },
        Stands::Undone => Record::Undone { act, how: note, when },
        Stands::Open => return Err(Wrong::new("order", "an act cannot be opened again")),
    };
    journal.write(record)
}
