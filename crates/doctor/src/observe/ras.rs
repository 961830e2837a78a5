//! Reports of NCCL's RAS.

use super::Observer;
use crate::place::{FileId, Place};
use linerate_formats::nccl_ras::Report;

/// Reports that are kept. Of those in which nothing is wrong the last of each file is enough.
const MAX: usize = 32;

/// The reports of all files, in the order of the lines.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    pub(crate) all: Vec<(FileId, Report)>,
    /// Beyond the limit.
    pub(crate) untracked: u64,
}

impl Reports {
    pub(super) fn add(&mut self, file: FileId, report: Report) {
        if let Some((of, last)) = self.all.last_mut()
            && *of == file
            && last.is_sound()
            && report.is_sound()
        {
            *last = report;
            return;
        }
        if self.all.len() >= MAX {
            self.untracked += 1;
            let at = self.all.iter().position(|(_, r)| !r.is_troubled()).unwrap_or(0);
            self.all.remove(at);
        }
        self.all.push((file, report));
    }

    /// What holds at the end of each file: a later report about the same job takes the place of an earlier one. Events of the monitor stay.
    pub(crate) fn standing(&self) -> impl Iterator<Item = (FileId, &Report)> {
        let all = self.all.iter().enumerate();
        all.filter(|(at, (file, r))| {
            let mut later = self.all.iter().skip(at + 1).filter(|(f, l)| f == file && !l.is_monitor);
            r.is_monitor || !later.any(|(_, l)| same_job(r, l))
        })
        .map(|(_, (file, r))| (*file, r))
    }

    /// The report about the same job before one that stands.
    pub(crate) fn before(&self, file: FileId, report: &Report) -> Option<&Report> {
        let earlier = self.all.iter().rev().filter(|(f, r)| *f == file && r.lines < report.lines && !r.is_monitor);
        earlier.map(|(_, r)| r).find(|r| same_job(r, report))
    }

    /// Whether a file has one.
    pub(crate) fn is_in(&self, file: FileId) -> bool {
        self.all.iter().any(|(f, _)| *f == file)
    }
}

/// Whether two reports can be about one job: nothing in their numbers says otherwise.
fn same_job(a: &Report, b: &Report) -> bool {
    let differ = |a: Option<u32>, b: Option<u32>| a.zip(b).is_some_and(|(a, b)| a != b);
    !differ(a.job.map(|j| j.value.processes), b.job.map(|j| j.value.processes))
        && !differ(a.job.map(|j| j.value.nodes), b.job.map(|j| j.value.nodes))
}

impl Observer {
    /// Whether RAS printed the line.
    pub(super) fn ras_line(&mut self, place: Place, line: &str) -> bool {
        let number = u32::try_from(place.line).unwrap_or(u32::MAX);
        let taken = self.tables.ras.line(number, line);
        for report in self.tables.ras.take() {
            self.ras.add(place.file, report);
        }
        if taken {
            self.file(place.file).other += 1;
        }
        taken
    }
}
