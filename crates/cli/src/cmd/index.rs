//! `linerate fleet index`.

use crate::index_args::IndexArgs;
use crate::output::{Failure, remark};
use crate::progress::Line;
use linerate_gather::index::{Update, update};

/// Snapshots that are named which could not be read.
const NAMED: usize = 8;

pub(crate) fn run(a: &IndexArgs) -> Result<u8, Failure> {
    let line = Line::new(!a.quiet);
    let how = Update { rebuild: a.rebuild, budget: crate::budget::budget() };
    let done = update(&a.dir, &how, &mut |done, all| line.count(done, all, "snapshots"))?;
    drop(line);
    if let Some(why) = &done.rebuilt {
        remark(&format!("all snapshots were read again: {why}"));
    }
    for (name, why) in done.unreadable.iter().take(NAMED) {
        remark(&format!("{name}: {why}"));
    }
    if done.unreadable.len() > NAMED {
        remark(&format!("{} more snapshots could not be read", done.unreadable.len() - NAMED));
    }
    if !a.quiet {
        let gone = if done.gone > 0 { format!(", {} gone", done.gone) } else { String::new() };
        remark(&format!("{} snapshots in the index: {} read now{gone}", done.snapshots, done.read));
    }
    Ok(if done.unreadable.is_empty() { 0 } else { 2 })
}
