//! The fault matrix: a node's hand is ended, or its disk or connection is broken under it, at every boundary of a plan, and then it goes
//! on, or undoes.
//!
//! The matrix is made from the plan: the hand itself counts its boundaries (`LINERATE_FAULT=count`), and each is a case. What is expected
//! after each is the same: the plan's end state, and after the rollback every file with content, mode and owner as at the start.

mod fault;
mod hand;
mod page;
mod plan;

use super::super::{Extent, Group, Lab, Spec};
use super::BOOT;
use super::apply::Operator;
use crate::lab::Result;
use fault::{Fault, Then};
use hand::Hand;
pub(super) use hand::call;
use page::{Case, Found};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Wrong cases after which a guest is given up.
const MOST_WRONG: usize = 5;

/// Guests that share the whole matrix.
const GUESTS: usize = 2;

pub(super) fn matrix(lab: &Lab<'_>) -> Result<()> {
    let began = Instant::now();
    // What an earlier run left would be taken for this one's.
    let _ = fs::remove_dir_all(&lab.out);
    let guests = if lab.extent == Extent::All { GUESTS } else { 1 };
    let shares: Vec<Result<Found>> = std::thread::scope(|threads| {
        let each: Vec<_> = (0..guests).map(|place| threads.spawn(move || share(lab, place, guests))).collect();
        each.into_iter().map(|t| t.join().unwrap_or_else(|_| Err("a guest's thread panicked".to_owned()))).collect()
    });
    let mut shares = shares.into_iter();
    let mut found = shares.next().ok_or("no guest was started")??;
    for share in shares {
        found.cases.extend(share?.cases);
    }
    found.seconds = began.elapsed().as_secs();
    let (line, wrong) = (found.line(), found.wrong().join("\n"));
    println!("  {line}");
    let write = |path: &Path, text: String| fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()));
    write(&lab.out.join("faults.txt"), format!("{line}\n{wrong}\n"))?;
    if lab.extent == Extent::All {
        write(&lab.docs.join("faults.md"), found.page())?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// One guest's share of the cases.
fn share(lab: &Lab<'_>, place: usize, guests: usize) -> Result<Found> {
    let out = lab.out.join((place + 1).to_string());
    let group = Group::new(lab.image, &out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let mut spec = Spec::new("a");
    if guests > 1 {
        // Emulated CPUs that have none to run on make the others wait.
        spec.machine.cpus = 1;
    }
    let mut guest = group.start(spec)?;
    guest.wait_ssh(BOOT)?;
    guest.copy_in(operator.linerate(), "/usr/local/bin/linerate", "755")?;
    // What the plan finds: a value, a file of somebody's, a setting of GRUB.
    guest.shell("sysctl -q -w kernel.numa_balancing=1 2>/dev/null || :; printf 'theirs\n' >/etc/lab.conf && chmod 640 /etc/lab.conf && chown 1:2 /etc/lab.conf && sync")?;
    let mut hand = Hand::new(&mut guest, &out);
    hand.start()?;
    let (begin, perform) = hand.count()?;
    let boundaries = begin + perform;
    let acts = hand.acts();
    let mut found = Found { boundaries, acts, cases: Vec::new(), seconds: 0 };
    let (began, mut log) = (Instant::now(), String::new());
    // In pairs: every other case is the short one, which undoes at once.
    let own = |at: &usize| at / 2 % guests == place;
    let all = cases(boundaries, lab.extent).into_iter().enumerate();
    for (n, fault, then) in all.filter(|(at, _)| own(at)).map(|(_, case)| case) {
        let end = hand.case(n, fault, then);
        let said = end.as_ref().map_or_else(String::as_str, |()| "as it should be");
        log.push_str(&format!("{} s: boundary {n}, {fault:?}, {then:?}: {said}\n", began.elapsed().as_secs()));
        fs::write(out.join("cases.txt"), &log).map_err(|e| e.to_string())?;
        let wrong = end.err();
        let is_wrong = wrong.is_some();
        found.cases.push(Case { boundary: n, fault, then, wrong });
        if is_wrong {
            if found.wrong().len() >= MOST_WRONG {
                break;
            }
            hand.recover()?;
        }
    }
    Ok(found)
}

/// What is tried: of all, every boundary in every way, going on after two ways and undone after the others, but power cuts, which cost a
/// boot each, at every eighth. Else a sample that takes every kind of fault.
fn cases(boundaries: usize, extent: Extent) -> Vec<(usize, Fault, Then)> {
    // (fault, every how many boundaries in the sample, and in full)
    let kinds = [
        (Fault::Killed, 12, 1),
        (Fault::Full, 25, 1),
        (Fault::ReadOnly, 31, 1),
        (Fault::Cut, 37, 1),
        (Fault::PowerCut, boundaries.div_ceil(2).max(1), 8),
    ];
    let mut cases = Vec::new();
    for (kind, (fault, sample, all)) in kinds.into_iter().enumerate() {
        let step = match extent {
            Extent::Few => sample * 3,
            Extent::Sample => sample,
            Extent::All => all,
        };
        for (place, n) in (1..=boundaries).step_by(step).enumerate() {
            cases.push((n, fault, if (place + kind) % 2 == 0 { Then::Undo } else { Then::Resume }));
        }
    }
    cases
}
