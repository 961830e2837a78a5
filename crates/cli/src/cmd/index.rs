//! `linerate fleet index`, and the index that `collect --on` brings up to what it collected.

use crate::claims;
use crate::index_args::IndexArgs;
use crate::output::{Failure, remark};
use crate::progress::Line;
use linerate_gather::index::{IndexError, Update, Updated, update};
use std::path::Path;

/// Snapshots that are named which could not be read.
const NAMED: usize = 8;
/// Threads that read what was collected: a collection takes little memory to its end.
const AFTER: usize = 2;

pub(crate) fn run(a: &IndexArgs) -> Result<u8, Failure> {
    let done = bring(&a.dir, a.rebuild, 0, a.quiet)?;
    for (name, why) in done.unreadable.iter().take(NAMED) {
        remark(&format!("{name}: {why}"));
    }
    if done.unreadable.len() > NAMED {
        remark(&format!("{} more snapshots could not be read", done.unreadable.len() - NAMED));
    }
    Ok(if done.unreadable.is_empty() { 0 } else { 2 })
}

/// What was collected goes into the directory's index. A failure leaves the index as it was, and the snapshots are there all the same: it is said.
/// Whether the index has all of them.
pub(super) fn append(dir: &Path, quiet: bool) -> bool {
    let again = format!("`linerate fleet index {}` tries again", dir.display());
    match bring(dir, false, AFTER, quiet) {
        Ok(done) if done.unreadable.is_empty() => true,
        Ok(done) => {
            remark(&format!(
                "{} snapshots of the directory could not be read for the index; {again}",
                done.unreadable.len()
            ));
            true
        }
        Err(e) => {
            remark(&format!("the index was not written: {e}; {again}"));
            false
        }
    }
}

fn bring(dir: &Path, rebuild: bool, threads: usize, quiet: bool) -> Result<Updated, IndexError> {
    let line = Line::new(!quiet);
    let how = Update { rebuild, budget: crate::budget::budget(), threads };
    let done = update(dir, &how, &mut |done, all| line.count(done, all, "snapshots for the index"))?;
    drop(line);
    claims::left_out(&done.lists);
    claims::said(&done.lists, &done.joins);
    if let Some(why) = &done.rebuilt {
        remark(&format!("all snapshots were read again for the index: {why}"));
    }
    if !quiet {
        let gone = if done.gone > 0 { format!(", {} gone", done.gone) } else { String::new() };
        remark(&format!("{} snapshots in the index: {} read now{gone}", done.snapshots, done.read));
    }
    Ok(done)
}
