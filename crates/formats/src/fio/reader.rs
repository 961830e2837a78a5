//! Line by line: what belongs to which run.

use super::defined::{Defined, Seen};
use super::run::{Direction, Job, Kind, Run, Times};
use super::terse::{self, Terse};
use super::text::{self, Latency};
use super::{json, settle};
use crate::bounds::{BENCH_SHORT_LINE, FIO_PERCENTILES, Limit, leave_out};
use crate::error::Why;
use crate::launcher;
use crate::record::{Recorder, add_left_out, keep};
use crate::refusal::{End, Said};
use crate::text::{At, decode};
use crate::units::Microseconds;

/// Reads lines as they come. Keeps no text, and of a run only what is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    /// Jobs as defined at the beginning.
    defined: Defined,
    /// The jobs of this run.
    seen: Seen,
    /// What the percentiles below are of.
    percentiles: Option<(Latency, f64)>,
    /// `fsync/fdatasync/sync_file_range:` was said.
    in_sync: bool,
    group: Option<u32>,
    /// That lines of one name are undecided was noted.
    is_undecided: bool,
}

/// Reads a whole text: tables and JSON documents, one after the other.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let text = decode(bytes);
    let mut reader = Reader::default();
    crate::json_docs::pieces(&text, json::is_ours, |piece| json::piece(piece, &mut reader));
    reader.finish()
}

impl Reader {
    /// Takes the next line of a table. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        if line.len() > BENCH_SHORT_LINE && !terse::is_ours(line) {
            return;
        }
        // Progress is overwritten by what follows.
        let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
        let line = launcher::strip(line);
        let line = line.split_once("[stdout] ").map_or(line, |(_, rest)| rest).trim_start();
        if line.is_empty() || self.outer(number, line) || !self.record.is_begun() {
            return;
        }
        if self.record.run.jobs.is_empty() {
            return self.before(number, line);
        }
        self.inner(number, line);
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_run();
        settle::runs(self.record.done());
        self.record.finish()
    }

    /// A run that was read otherwise. What stood before it, and was nothing but a beginning, belongs to it.
    pub(super) fn push(&mut self, mut run: Run) {
        if self.record.run.jobs.is_empty()
            && let Some(beginning) = self.record.end()
        {
            run.lines.0 = beginning.lines.0;
            run.notes.extend(beginning.notes);
            run.failures.extend(beginning.failures);
            run.refused.extend(beginning.refused);
            add_left_out(&mut run.left_out, beginning.left_out);
            if beginning.end == End::Interrupted {
                run.end = End::Interrupted;
            }
        }
        // The text of the same jobs may follow.
        self.end_run_of_these_jobs();
        self.record.push(run);
    }

    fn outer(&mut self, number: u32, line: &str) -> bool {
        if let Some(defined) = text::definition(line) {
            if !self.record.run.jobs.is_empty() {
                self.end_run();
            }
            if !self.record.is_begun() {
                self.defined = Defined::default();
            }
            self.defined.keep(defined, number, &mut self.record.touch(number).left_out);
        } else if let Some(version) = version(line) {
            if self.record.run.version.is_some() {
                self.end_run();
            }
            self.record.touch(number).version = Some(At::new(version.into(), number));
        } else if let Some(job) = text::job(number, line) {
            self.job(number, job);
        } else if let Some(what) = line.strip_prefix("fio: ") {
            self.said(number, what);
        } else if let Some(group) = line.strip_prefix("Run status group ").filter(|_| self.record.is_begun()) {
            self.group = crate::text::leading_number(group);
            self.percentiles = None;
            let run = self.record.touch(number);
            if run.end == End::Cut {
                run.end = End::Finished;
            }
        } else if terse::is_ours(line) {
            match terse::line(number, line) {
                Ok(found) => self.terse(number, found),
                Err(why) => self.record.refuse(number, why),
            }
        } else {
            return false;
        }
        true
    }

    fn job(&mut self, number: u32, mut job: Job) {
        if self.record.run.is_terse {
            // The same call again, in words.
            self.end_run_of_these_jobs();
        }
        let is_again = job.pid.is_some() && self.seen.has(&job);
        if is_again {
            // `--status-interval`: the same processes report again.
            let mut next = Run { version: self.record.run.version.clone(), ..Run::default() };
            next.notes.clone_from(&self.record.run.notes);
            self.record.run.is_interim = true;
            self.end_run_of_these_jobs();
            self.record.run = next;
        } else if self.group.is_some() {
            self.end_run_of_these_jobs();
        }
        job.options = self.defined.options(&job);
        (self.percentiles, self.in_sync) = (None, false);
        let run = self.record.touch(number);
        if let (Some(code), Some(reason)) = (job.error.filter(|e| *e != 0), &job.error_text) {
            let text = format!("{}: error {code}: {reason}", job.name);
            run.fail(Said::new(number, &text));
        }
        self.seen.take(&job);
        run.push_job(job);
    }

    /// A line of `--minimal`. Calls that were appended to one file show by their disks, and where a group is below the last.
    fn terse(&mut self, number: u32, found: Terse) {
        let Terse { version, job, disks } = found;
        let last = self.record.run.jobs.last();
        let is_before = last.is_some_and(|l| job.group < l.group);
        let is_other = self.record.run.version.as_ref().is_some_and(|v| v.value != version);
        let has_moved = self.record.run.disks.is_some() && disks.is_some() && self.record.run.disks != disks;
        if last.is_some() && (!self.record.run.is_terse || is_before || is_other || has_moved) {
            self.end_run_of_these_jobs();
        }
        let is_again = self.seen.has(&job);
        // Disks that did the same until now are those of one call.
        let is_decided = disks.is_some() && self.record.run.disks == disks;
        let options = self.defined.options(&job);
        let is_new = is_again && !is_decided && !std::mem::replace(&mut self.is_undecided, is_again && !is_decided);
        let run = self.record.touch(number);
        (run.is_terse, run.end, run.disks) = (true, End::Finished, disks);
        run.version.get_or_insert(At::new(version, number));
        if is_new {
            let text = "lines of one name: the terse format does not show whether they are processes of one call or several calls; they count as one run";
            run.note(Said::new(number, text));
        }
        if let Some(code) = job.error.filter(|e| *e != 0) {
            run.fail(Said::new(number, &format!("{}: error {code}", job.name)));
        }
        self.seen.take(&job);
        run.push_job(Job { options, ..job });
    }

    /// Before the first job.
    fn before(&mut self, number: u32, line: &str) {
        if line.contains("WARNING") || line.contains("note: both iodepth") {
            self.record.touch(number).note(Said::new(number, line));
        }
    }

    fn said(&mut self, number: u32, what: &str) {
        let is_interrupt = what.starts_with("terminating on signal");
        let lower = what.to_ascii_lowercase();
        let is_failure = [
            "err=",
            "fail",
            "error",
            "no such",
            "not loadable",
            "no jobs",
            "bad option",
            "unable",
            "doesn't exist",
            "refus",
        ]
        .iter()
        .any(|w| lower.contains(w));
        let said = Said::new(number, what);
        let run = self.record.touch(number);
        if is_interrupt {
            run.end = End::Interrupted;
            run.note(said);
        } else if is_failure {
            run.fail(said);
        } else {
            run.note(said);
        }
    }

    fn inner(&mut self, number: u32, line: &str) {
        if let Some(group) = self.group {
            match text::group(number, group, line) {
                Some(Ok(group)) => {
                    let run = self.record.touch(number);
                    keep(&mut run.groups, group, Limit::FIO_JOBS, number, &mut run.left_out);
                }
                Some(Err(why)) => self.record.refuse(number, why),
                None => {}
            }
            return;
        }
        if let Some(direction) = text::direction(number, line) {
            (self.percentiles, self.in_sync) = (None, false);
            self.keep(number, direction, |job, d| job.directions.push(d));
        } else if line.starts_with("fsync/fdatasync") {
            self.in_sync = true;
            self.keep(number, Ok(()), |job, ()| {
                job.directions.push(Direction { line: number, kind: Kind::Sync, ..Direction::default() });
            });
        } else if let Some((which, unit)) = text::percentiles(line) {
            self.percentiles = Some((which, unit));
        } else if let Some((which, times)) = text::times(number, line) {
            self.percentiles = None;
            self.keep(number, times, |job, times| set(job, which, times));
        } else if let Some((is_iops, samples)) = text::samples(line) {
            self.percentiles = None;
            self.keep(number, samples, |job, samples| {
                if let Some(d) = job.directions.last_mut() {
                    if is_iops { d.iops_samples = Some(samples) } else { d.bandwidth_samples = Some(samples) }
                }
            });
        } else if let Some((which, unit)) = self.percentiles {
            match text::percentile_row(line, unit) {
                Some(row) => self.percentiles(number, which, row),
                None => self.percentiles = None,
            }
        } else if let Some(cpu) = text::cpu(line) {
            self.keep(number, Ok(cpu), |job, cpu| job.cpu = Some(cpu));
        } else if let Some(issued) = text::issued(line) {
            self.keep(number, Ok(issued), |job, issued| {
                for (kind, count) in issued {
                    job.directions.iter_mut().filter(|d| d.kind == kind).for_each(|d| d.operations = Some(count));
                }
            });
        } else if line.starts_with("Starting ") {
            self.end_run();
        }
    }

    fn keep<T>(&mut self, number: u32, read: Result<T, Why>, set: impl FnOnce(&mut Job, T)) {
        let run = self.record.touch(number);
        match (read, run.jobs.last_mut()) {
            (Ok(value), Some(job)) => set(job, value),
            (Ok(_), None) => {}
            (Err(why), _) => run.refused.push(number, why),
        }
    }

    fn percentiles(&mut self, number: u32, which: Latency, row: Result<Vec<(f64, Microseconds)>, Why>) {
        let mut more = 0;
        self.keep(number, row, |job, row| more = percentiles(job, which, row));
        (0..more).for_each(|_| leave_out(&mut self.record.run.left_out, Limit::FIO_PERCENTILES, number));
    }

    /// Ends a run; what follows is of the same jobs.
    fn end_run_of_these_jobs(&mut self) {
        let defined = std::mem::take(&mut self.defined);
        self.end_run();
        self.defined = defined;
    }

    fn end_run(&mut self) {
        (self.percentiles, self.in_sync, self.group) = (None, false, None);
        self.is_undecided = false;
        (self.defined, self.seen) = Default::default();
        if let Some(mut run) = self.record.end() {
            if run.jobs.is_empty() && !run.failures.is_empty() {
                run.end = End::Failed;
            }
            self.record.push(run);
        }
    }
}

fn set(job: &mut Job, which: Latency, times: Times) {
    let Some(d) = job.directions.last_mut() else { return };
    match which {
        Latency::Submission => d.submission = Some(times),
        Latency::Completion => d.completion = Some(times),
        Latency::Total | Latency::Sync => d.total = Some(times),
    }
}

/// Adds percentiles; says how many are beyond the limit.
fn percentiles(job: &mut Job, which: Latency, row: Vec<(f64, Microseconds)>) -> usize {
    let Some(d) = job.directions.last_mut() else { return 0 };
    let slot = match which {
        Latency::Submission => &mut d.submission,
        Latency::Completion => &mut d.completion,
        Latency::Total | Latency::Sync => &mut d.total,
    };
    // Where the row with the mean was refused, its percentiles are still good.
    let times = slot.get_or_insert_default();
    let room = FIO_PERCENTILES.saturating_sub(times.percentiles.len());
    let more = row.len().saturating_sub(room);
    times.percentiles.extend(row.into_iter().take(room));
    more
}

/// `fio-3.33`, `fio 2.0.7`, `fio-3.7-44-gabcd`.
fn version(line: &str) -> Option<&str> {
    let version = line.strip_prefix("fio-").or_else(|| line.strip_prefix("fio "))?;
    let is_version = version.len() < 40 && version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' ');
    is_version.then_some(version)
}
