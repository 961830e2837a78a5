//! Jobs as fio says them before it runs them, and what has been reported of them: looked up by name, because there may be thousands.

use super::run::Job;
use super::text::Definition;
use crate::bounds::{LeftOut, Limit, leave_out};
use crate::record::has_room;
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// The options of each defined job, by its name and group.
#[derive(Debug, Default)]
pub(super) struct Defined(HashMap<(SmolStr, u32), Vec<(SmolStr, SmolStr)>>);

impl Defined {
    /// Keeps a definition; the first of a name and group counts.
    pub(super) fn keep(&mut self, (name, group, options): Definition, line: u32, left_out: &mut Vec<LeftOut>) {
        if has_room(self.0.len(), Limit::FIO_JOBS) {
            self.0.entry((name, group)).or_insert(options);
        } else {
            leave_out(left_out, Limit::FIO_JOBS, line);
        }
    }

    /// The options that a job was defined with; none where it was not.
    pub(super) fn options(&self, job: &Job) -> Vec<(SmolStr, SmolStr)> {
        let own = job.group.and_then(|group| self.0.get(&(job.name.clone(), group)));
        own.cloned().unwrap_or_default()
    }
}

/// Which jobs a run has reported: name, group, process.
#[derive(Debug, Default)]
pub(super) struct Seen(HashSet<(SmolStr, Option<u32>, Option<u64>)>);

impl Seen {
    /// Whether the same process of the job was reported before.
    pub(super) fn has(&self, job: &Job) -> bool {
        self.0.contains(&(job.name.clone(), job.group, job.pid))
    }

    /// Takes a job, as long as the run has room for it.
    pub(super) fn take(&mut self, job: &Job) {
        if has_room(self.0.len(), Limit::FIO_JOBS) {
            self.0.insert((job.name.clone(), job.group, job.pid));
        }
    }
}
