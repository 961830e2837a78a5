//! Line by line: what belongs to which run.

use super::columns::{self, Columns};
use super::head;
use super::json::{self, Report};
use super::run::{Failure, FailureKind, Memory, NoteKind, Row, Run};
use crate::bounds::{BENCH_LINE, Limit, PERFTEST_ROWS, beyond, leave_out};
use crate::launcher;
use crate::record::{Recorder, keep};
use crate::text::{self, At};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Reads lines as they come. Keeps no text, and of a run only what is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    columns: Option<Columns>,
    report: Option<Report>,
    /// What the commands since the last title asked for.
    command: Option<Asked>,
}

/// Whose memory one or several commands ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    One(Memory),
    Different,
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let (reader, _) = text::read(bytes, |reader: &mut Reader, number, line| reader.line(number, line.as_bytes()));
    reader.finish()
}

/// What a line must contain to be looked at outside of a run.
static MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let marks = [
        " Test",
        "ib_write_",
        "ib_read_",
        "ib_send_",
        "ib_atomic_",
        "#bytes",
        "Dual-port",
        " address: LID ",
        "test_info",
        "Waiting for client to connect",
        "BW peak won't",
        "Conflicting CPU",
        "Infiniband/RoCE device",
        "Did not detect devices",
        "IB device ",
        "Couldn't ",
        "Unable to ",
        "Failed to ",
        "Failed status",
        "failed to create mr",
        "Invalid MTU",
        "mtu is higher",
        "inline size set",
        "cuMem",
        "cuCtx",
        "DMA-BUF is not",
        "hipMalloc",
        "ADDR_ERROR",
        "rdma_resolve_",
        "poll CQ failed",
        " limit",
        "produce a report",
        "inaccurate results",
    ];
    crate::text::any_of(marks)
});

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, bytes: &[u8]) {
        if let Some(columns) = self.columns.as_ref().filter(|_| self.report.is_none())
            && let Some(row) = columns::whole_row(number, bytes, columns)
        {
            self.push_row(number, row);
            return;
        }
        let is_inside = self.report.is_some() || self.record.is_begun();
        if bytes.len() > BENCH_LINE || launcher::is_nccl_info(bytes) {
            return;
        }
        if !is_inside && MARKS.as_ref().is_some_and(|m| !m.is_match(bytes)) {
            return;
        }
        let decoded = text::decode(bytes);
        if json::begins(&decoded) {
            self.end_report();
            self.end_run();
            self.report = Some(Report::new(number, &decoded));
        }
        if let Some(report) = &mut self.report {
            if !report.line(number, &decoded) {
                self.end_report();
            }
            return;
        }
        self.text(number, &decoded);
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_report();
        self.end_run();
        self.record.finish()
    }

    fn text(&mut self, number: u32, line: &str) {
        let line = launcher::strip(line.trim_end());
        if line.trim_start().is_empty() || line.starts_with("----") {
            return;
        }
        if let Some(test) = head::title(line) {
            // Server and client that write to one place: titles follow each other.
            let is_copy = self.columns.is_none()
                && self.record.run.addresses.is_empty()
                && self.record.run.failures.is_empty()
                && self.record.run.test.as_ref().is_some_and(|t| t.value == test);
            // Remarks stand before the title.
            if !is_copy && self.record.run.test.is_some() {
                self.end_run();
            }
            let memory = match self.command.take() {
                Some(Asked::One(memory)) => Some(memory),
                _ => None,
            };
            let run = self.record.touch(number);
            run.copies += 1;
            run.header.memory = run.header.memory.or(memory);
            run.test.get_or_insert(At::new(test, number));
        } else if let Some(columns) = columns::columns(line) {
            if self.columns.is_some() && !self.record.run.rows.is_empty() {
                self.end_run();
            }
            self.record.touch(number);
            self.columns = columns.map_err(|why| self.record.refuse(number, why)).ok();
        } else if !self.row(number, line) {
            self.other(number, line);
        }
    }

    fn row(&mut self, number: u32, line: &str) -> bool {
        let Some(columns) = &self.columns else { return false };
        match columns::row(number, line, columns) {
            Some(Ok(row)) => {
                self.push_row(number, row);
                true
            }
            Some(Err(why)) => {
                self.record.refuse(number, why);
                true
            }
            None => false,
        }
    }

    fn push_row(&mut self, number: u32, row: Row) {
        let run = self.record.touch(number);
        if run.rows.len() < PERFTEST_ROWS {
            run.rows.push(row);
        } else {
            leave_out(&mut run.left_out, Limit::PERFTEST_ROWS, number);
        }
    }

    fn other(&mut self, number: u32, line: &str) {
        if line.contains("Waiting for client to connect") {
            // The server's first line, unless its client writes to the same place.
            if self.record.run.test.is_some() && self.columns.is_some() {
                self.end_run();
            }
            self.record.touch(number).is_server = true;
        } else if let Some(address) = head::address(number, line) {
            let run = self.record.touch(number);
            keep(&mut run.addresses, address, Limit::PERFTEST_ADDRESSES, number, &mut run.left_out);
        } else if let Some(gid) = head::gid(line) {
            let run = &mut self.record.run;
            let is_last_kept = beyond(&run.left_out, Limit::PERFTEST_ADDRESSES) == 0;
            if let Some(last) = run.addresses.last_mut().filter(|_| is_last_kept) {
                last.gid = last.gid.or(Some(gid));
            }
        } else if let Some(note) = head::note(number, line) {
            // Remarks come before the title of their run. That on the processors comes where the times are computed: between the
            // table's header and its row.
            if self.columns.is_some() && note.kind != NoteKind::CpuFrequency {
                self.end_run();
            }
            let run = self.record.touch(number);
            keep(&mut run.notes, note, Limit::PERFTEST_NOTES, number, &mut run.left_out);
        } else if let Some(failure) = head::failure(number, line) {
            self.failure(number, failure);
        } else if self.record.run.test.is_some()
            && self.columns.is_none()
            && head::fields(line, &mut self.record.run.header)
        {
            self.record.touch(number);
        } else if line.trim_start().starts_with("Dual-port") {
            head::fields(line, &mut self.record.touch(number).header);
        } else if let Some(memory) = head::command(line) {
            self.command = match self.command {
                Some(asked) if asked != Asked::One(memory) => Some(Asked::Different),
                _ => Some(Asked::One(memory)),
            };
        } else if let Some((_, device)) = line.split_once("Picking device No. ") {
            self.record.touch(number).header.cuda_device = text::leading_number(device);
        }
    }

    fn failure(&mut self, number: u32, failure: Failure) {
        // Words that other programs use, too, count inside of a run only.
        let is_general = matches!(failure.kind, FailureKind::Other | FailureKind::Connection);
        if is_general && !self.record.is_begun() {
            return;
        }
        let run = self.record.touch(number);
        keep(&mut run.failures, failure, Limit::PERFTEST_FAILURES, number, &mut run.left_out);
    }

    fn end_run(&mut self) {
        self.columns = None;
        self.record.close();
    }

    fn end_report(&mut self) {
        if let Some(report) = self.report.take() {
            self.record.push(report.finish());
        }
    }
}
