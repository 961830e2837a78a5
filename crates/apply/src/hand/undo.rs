//! Undoing, the last act first.

use super::carried::by_a_boot;
use super::{Work, acts, boot, is_made, now};
use crate::act::{ActDone, Done, Hands, Undo, Wrong, end_left, on_node, run, unexpected};
use crate::hand::fault::boundary;
use crate::journal::{ActRecord, Journal, Key, Record, next_order, open_plan};
use crate::protocol::{Phase, Stands};
use linerate_remedy::{Act, RunAct};

/// An act of which files are back, and a program is still to be run.
struct Later<'a> {
    key: &'a Key,
    how: String,
    programs: Vec<(&'a [String], bool)>,
    limit: u32,
}

/// Undoes all that was made. What cannot be undone is left and told; the rest goes on.
pub(super) fn rollback(hands: &Hands<'_>, journal: &mut Journal, work: &mut Work) -> Done<()> {
    if journal.ledger.finished
        && let Some((other, ledger)) = open_plan(hands.root)?
    {
        return Err(super::begin::taken(&other, &ledger));
    }
    let (plan, chosen) = (journal.plan.clone(), journal.ledger.steps.clone());
    let acts = acts(&plan, &chosen);
    let made = |journal: &Journal, key: &Key| matches!(journal.ledger.stands(key), Stands::Made | Stands::Announced);
    if journal.ledger.finished && !acts.iter().any(|(key, ..)| made(journal, key)) {
        return Ok(());
    }
    let here = boot(hands.root);
    if !journal.ledger.undoing || journal.ledger.finished || journal.ledger.undone_in.as_ref() != Some(&here) {
        // While it holds the node, no other can come behind it.
        let order = if journal.ledger.finished { next_order(hands.root)? } else { journal.ledger.order };
        journal.write(Record::Undoing { boot: here, when: now(), order })?;
        boundary("undo: begun");
    }
    end_left(hands.mark);
    for (key, _, act) in &acts {
        if !made(journal, key)
            && let Some(before) = by_a_boot(hands, journal, key, act)?
        {
            let (act, what, boot) = (key.clone(), act.summary(), boot(hands.root));
            journal.write(Record::Announced { act, what, before, boot, when: now() })?;
        }
    }
    let mut later = Vec::new();
    for (key, _, act) in acts.iter().rev() {
        let Some(record) = journal.ledger.acts.get(key).cloned() else { continue };
        // Others are put back by the driver from where it is, which tells it.
        let Some(done) = on_node(act).filter(|_| made(journal, key)) else { continue };
        match files_back(hands, journal, (key, act, done), &record) {
            Ok(None) => {}
            Ok(Some(rest)) => later.push(rest),
            Err(wrong) => leave(journal, key, wrong, work)?,
        }
    }
    let mut ran: Vec<&[String]> = Vec::new();
    for Later { key, how, programs, limit } in later {
        let mut end = Ok(());
        for (argv, passed) in programs.into_iter().filter(|(argv, _)| !argv.is_empty()) {
            if ran.contains(&argv) {
                continue;
            }
            match run(hands, argv, limit) {
                Ok(_) => ran.push(argv),
                // It has passed before the files were back, and has nothing left to do.
                Err(_) if passed => {}
                Err(wrong) => end = Err(wrong),
            }
            boundary("undo: program run");
        }
        match end {
            Ok(()) => undone(journal, key, how)?,
            Err(wrong) => leave(journal, key, wrong, work)?,
        }
    }
    Ok(())
}

/// Puts files and values of one act back. What its programs still have to do when all files are back is returned.
fn files_back<'a>(
    hands: &Hands<'_>,
    journal: &mut Journal,
    (key, act, done): (&'a Key, &'a Act, &dyn ActDone),
    record: &ActRecord,
) -> Done<Option<Later<'a>>> {
    super::backup::fits(key, act, &record.before)?;
    boundary("undo: act begun");
    journal.write(Record::UndoAnnounced { act: key.clone(), when: now() })?;
    let same_boot = record.boot == boot(hands.root);
    let end = done.undo(hands, journal, &record.before, record.after.as_ref(), same_boot)?;
    boundary("undo: files are back");
    let Act::Run(RunAct { argv, undo, limit, .. }) = act else {
        let (Undo::Back(how) | Undo::Rerun(how)) = end;
        undone(journal, key, how)?;
        return Ok(None);
    };
    // A program with an inverse of its own makes nothing of other files: run again, it would make the change again.
    if let Undo::Rerun(how) = &end
        && !undo.is_empty()
        && undo != argv
    {
        return Err(unexpected(how));
    }
    // `systemctl disable` needs the unit's file, which is still there now; `netplan apply` needs that files are back, which they are later.
    // That it has passed is written down: when it is asked for again, the unit's file may be gone.
    let mut passed = record.undo_ran;
    if !passed && !undo.is_empty() && run(hands, undo, *limit).is_ok() {
        boundary("undo: program run before files are back");
        journal.write(Record::UndoRan { act: key.clone(), when: now() })?;
        passed = true;
    }
    let (how, rerun) = match end {
        Undo::Back(how) => (how, false),
        Undo::Rerun(how) => (format!("{how}: {} was run again", linerate_out::shell::shown(argv)), true),
    };
    if !rerun && undo.is_empty() {
        undone(journal, key, how)?;
        return Ok(None);
    }
    let mut programs: Vec<(&[String], bool)> = Vec::new();
    if rerun {
        programs.push((argv, false));
    }
    programs.push((undo, passed));
    Ok(Some(Later { key, how, programs, limit: *limit }))
}

fn undone(journal: &mut Journal, key: &Key, how: String) -> Done<()> {
    journal.write(Record::Undone { act: key.clone(), how, when: now() })?;
    boundary("undo: noted");
    Ok(())
}

fn leave(journal: &mut Journal, key: &Key, wrong: Wrong, work: &mut Work) -> Done<()> {
    journal.write(Record::Left { act: key.clone(), why: wrong.what.clone(), when: now() })?;
    work.refuse(wrong, Some(&key.step));
    Ok(())
}

/// Releases the node. Entries that were on trial are removed: what was proven has been made permanent.
pub(super) fn finish(hands: &Hands<'_>, journal: &mut Journal, work: &mut Work) -> Done<()> {
    let (plan, chosen) = (journal.plan.clone(), journal.ledger.steps.clone());
    let acts = acts(&plan, &chosen);
    let ledger = &journal.ledger;
    let half = acts.iter().filter(|(key, _, act)| match ledger.stands(key) {
        _ if !ledger.undoing && is_made(ledger, key, act) => false,
        Stands::Made => ledger.undoing && !ledger.acts.get(key).is_some_and(|a| a.left),
        Stands::Announced => !ledger.acts.get(key).is_some_and(|a| a.left),
        Stands::Open | Stands::Failed | Stands::Undone => !ledger.undoing && !ledger.acts.is_empty(),
    });
    let half = half.count();
    if half > 0 {
        let what =
            format!("{half} of {} acts are neither all made nor all undone: make them, or roll back", acts.len());
        return Err(Wrong::new("order", what));
    }
    for (key, phase, act) in acts.iter().rev() {
        let Some(record) = journal.ledger.acts.get(key).cloned() else { continue };
        let Act::Trial(trial) = act else { continue };
        if *phase != Phase::First || record.stands != Stands::Made {
            continue;
        }
        // What was tried is permanent and proven, whatever became of its entry.
        if let Err(wrong) = files_back(hands, journal, (key, act, trial), &record) {
            journal.write(Record::Left { act: key.clone(), why: wrong.what.clone(), when: now() })?;
            work.told.push(format!("{}: {}", key.step, wrong.what));
        }
    }
    journal.write(Record::Finished { when: now() })
}
