//! The fault matrix: a node's hand is ended, or its disk or connection is broken under it, at every boundary of a plan, and then it goes
//! on, or undoes.
//!
//! The matrix is made from the plan: the hand itself counts its boundaries (`LINERATE_FAULT=count`), and each is a case. What is expected
//! after each is the same: the plan's end state, and after the rollback every file with content, mode and owner as at the start.

mod fault;
mod hand;
mod plan;

use super::super::{Extent, Group, Lab, Spec};
use super::BOOT;
use super::apply::Operator;
use crate::lab::Result;
use fault::{Fault, Then};
use hand::Hand;
use std::fs;
use std::time::Instant;

/// What one guest was put through.
struct Tested {
    boundaries: usize,
    acts: usize,
    cases: Vec<Fault>,
    wrong: Vec<String>,
}

/// Guests that share the whole matrix.
const GUESTS: usize = 2;

pub(super) fn matrix(lab: &Lab<'_>) -> Result<()> {
    let began = Instant::now();
    // What an earlier run left would be taken for this one's.
    let _ = fs::remove_dir_all(&lab.out);
    let guests = if lab.extent == Extent::All { GUESTS } else { 1 };
    let tested: Vec<Result<Tested>> = std::thread::scope(|threads| {
        let each: Vec<_> = (0..guests).map(|place| threads.spawn(move || share(lab, place, guests))).collect();
        each.into_iter().map(|t| t.join().unwrap_or_else(|_| Err("a guest's thread panicked".to_owned()))).collect()
    });
    let tested = tested.into_iter().collect::<Result<Vec<_>>>()?;
    let first = tested.first().ok_or("no guest was started")?;
    let of = |fault: Fault| tested.iter().flat_map(|t| &t.cases).filter(|c| **c == fault).count();
    let wrong: Vec<&str> = tested.iter().flat_map(|t| &t.wrong).map(String::as_str).collect();
    let words = format!(
        "{} faults injected at {} boundaries of {} acts: {} kills, {} power cuts, {} full disks, {} read-only filesystems, \
         {} connections cut; {} wrong; {} s",
        tested.iter().map(|t| t.cases.len()).sum::<usize>(),
        first.boundaries,
        first.acts,
        of(Fault::Killed),
        of(Fault::PowerCut),
        of(Fault::Full),
        of(Fault::ReadOnly),
        of(Fault::Cut),
        wrong.len(),
        began.elapsed().as_secs()
    );
    println!("  {words}");
    fs::write(lab.out.join("faults.txt"), format!("{words}\n{}\n", wrong.join("\n"))).map_err(|e| e.to_string())?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// One guest's share of the cases.
fn share(lab: &Lab<'_>, place: usize, guests: usize) -> Result<Tested> {
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
    let mut tested = Tested { boundaries, acts, cases: Vec::new(), wrong: Vec::new() };
    let (began, mut log) = (Instant::now(), String::new());
    // In pairs: every other case is the short one, which undoes at once.
    let own = |at: &usize| at / 2 % guests == place;
    let all = cases(boundaries, lab.extent).into_iter().enumerate();
    for (n, fault, then) in all.filter(|(at, _)| own(at)).map(|(_, case)| case) {
        let end = hand.case(n, fault, then);
        let said = end.as_ref().map_or_else(String::as_str, |()| "as it should be");
        log.push_str(&format!("{} s: boundary {n}, {fault:?}, {then:?}: {said}\n", began.elapsed().as_secs()));
        fs::write(out.join("cases.txt"), &log).map_err(|e| e.to_string())?;
        tested.cases.push(fault);
        if let Err(why) = end {
            tested.wrong.push(format!("boundary {n}, {fault:?}, {then:?}: {why}"));
            if tested.wrong.len() >= 5 {
                break;
            }
            hand.recover()?;
        }
    }
    Ok(tested)
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
