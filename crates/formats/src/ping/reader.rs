//! Line by line: what belongs to which run.

use super::windows::{self, Line};
use super::{Run, line};
use crate::bounds::{BENCH_SHORT_LINE, Limit};
use crate::error::Why;
use crate::launcher;
use crate::record::{Recorder, keep};
use crate::refusal::{End, Said};
use crate::text::{self, At, leading_number};
use crate::units::Bytes;

/// Reads lines as they come. Keeps no text, and of a run only what is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    /// Answers of routers in the run, which Windows counts as received.
    answers: u64,
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let mut reader = Reader::default();
    text::for_lines(bytes, |number, line| reader.line(number, line));
    reader.finish()
}

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        if line.len() > BENCH_SHORT_LINE {
            return;
        }
        let line = launcher::strip(line.trim_end()).trim_start();
        if let Some(rest) = line.strip_prefix("PING ") {
            self.heading(number, rest);
        } else if let Some(reply) = line::reply(number, line) {
            self.reply(number, reply);
        } else if let Some(host) = line.strip_prefix("--- ").and_then(|r| r.strip_suffix(" ping statistics ---")) {
            // The paste may begin here.
            if self.record.run.counts.is_some() {
                self.end_run();
            }
            self.record.touch(number).host.get_or_insert(At::new(host.chars().take(256).collect(), number));
        } else if let Some(counts) = line::counts(line) {
            let run = self.record.touch(number);
            run.counts = Some(At::new(counts, number));
            run.end = End::Finished;
        } else if let Some(summary) = self.record.is_begun().then(|| line::summary(line)).flatten() {
            let run = self.record.touch(number);
            match summary {
                Ok(summary) => run.summary = Some(At::new(summary, number)),
                Err(why) => run.refused.push(number, why),
            }
        } else if let Some(said) = windows::line(number, line) {
            self.windows(number, line, said);
        } else if let Some(what) = line.strip_prefix("ping: ").or_else(|| line.strip_prefix("ping6: ")) {
            self.said(number, what);
        } else if self.record.is_begun() && self.record.run.counts.is_none() && is_error(line) {
            let run = self.record.touch(number);
            keep(&mut run.errors, Said::new(number, line), Limit::PING_SAID, number, &mut run.left_out);
        }
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_run();
        self.record.finish()
    }

    /// `127.0.0.1 (127.0.0.1) 56(84) bytes of data.`, `::1(::1) 56 data bytes`, `host (1.2.3.4): 56 data bytes`.
    fn heading(&mut self, number: u32, rest: &str) {
        let Some((host, after)) = rest.split_once('(') else { return };
        let Some((address, after)) = after.split_once(')') else { return };
        if !after.contains("bytes") {
            return;
        }
        self.end_run();
        let run = self.record.touch(number);
        run.host = Some(At::new(host.trim().chars().take(256).collect(), number));
        run.address = Some(address.chars().take(256).collect());
        let size = after.trim_start_matches([':', ' ']);
        // BSD with -6: `PING6(56=40+8+8 bytes) a --> b`: not this form.
        let size = size.split_once("from ").map_or(size, |(before, behind)| {
            if before.trim().is_empty() { behind.split_once(": ").map_or(behind, |(_, s)| s) } else { before }
        });
        run.payload = leading_number(size).map(Bytes);
    }

    fn reply(&mut self, number: u32, reply: Result<super::Reply, Why>) {
        if self.record.run.counts.is_some() {
            self.end_run();
        }
        let run = self.record.touch(number);
        match reply {
            Ok(reply) => keep(&mut run.replies, reply, Limit::PING_REPLIES, number, &mut run.left_out),
            Err(why) => run.refused.push(number, why),
        }
    }

    /// A line of Windows.
    fn windows(&mut self, number: u32, text: &str, line: Line<'_>) {
        match line {
            Line::Heading { host, address, payload } => {
                self.end_run();
                let run = self.record.touch(number);
                run.host = Some(At::new(host.chars().take(256).collect(), number));
                run.address = address.map(|a| a.chars().take(256).collect());
                run.payload = payload.map(Bytes);
            }
            Line::Reply(reply) => self.reply(number, reply),
            Line::Statistics(host) => {
                if self.record.run.counts.is_some() {
                    self.end_run();
                }
                self.record.touch(number).host.get_or_insert(At::new(host.chars().take(256).collect(), number));
            }
            Line::Counts(mut counts) if self.record.is_begun() => {
                // Answers of routers are counted as received.
                counts.errors = self.answers;
                counts.received = counts.received.saturating_sub(self.answers);
                let run = self.record.touch(number);
                run.counts = Some(At::new(counts, number));
                run.end = End::Finished;
            }
            Line::Summary(summary) if self.record.is_begun() => {
                let run = self.record.touch(number);
                match summary {
                    Ok(summary) => run.summary = Some(At::new(summary, number)),
                    Err(why) => run.refused.push(number, why),
                }
            }
            Line::Error { is_answer } if self.record.is_begun() && self.record.run.counts.is_none() => {
                self.answers += u64::from(is_answer);
                let run = self.record.touch(number);
                keep(&mut run.errors, Said::new(number, text), Limit::PING_SAID, number, &mut run.left_out);
            }
            Line::Failure => {
                self.end_run();
                let run = self.record.touch(number);
                keep(&mut run.failures, Said::new(number, text), Limit::PING_SAID, number, &mut run.left_out);
                run.end = End::Failed;
                self.end_run();
            }
            Line::Counts(_) | Line::Summary(_) | Line::Error { .. } => {}
        }
    }

    /// `unknown host`, `sendmsg: Network is unreachable`, `Warning: …`.
    fn said(&mut self, number: u32, what: &str) {
        let said = Said::new(number, what);
        if what.starts_with("Warning") || what.starts_with("WARNING") {
            if self.record.is_begun() {
                let run = self.record.touch(number);
                keep(&mut run.notes, said, Limit::PING_SAID, number, &mut run.left_out);
            }
            return;
        }
        let is_inside = self.record.is_begun() && self.record.run.counts.is_none() && self.record.run.host.is_some();
        if !is_inside {
            self.end_run();
        }
        let run = self.record.touch(number);
        if is_inside {
            keep(&mut run.errors, said, Limit::PING_SAID, number, &mut run.left_out);
        } else {
            keep(&mut run.failures, said, Limit::PING_SAID, number, &mut run.left_out);
            run.end = End::Failed;
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        self.answers = 0;
        if let Some(run) = self.record.end() {
            self.record.push(run);
        }
    }
}

/// `From 10.0.0.1 icmp_seq=1 Destination Host Unreachable`, `Request timeout for icmp_seq 3`, `no answer yet for icmp_seq=2`.
fn is_error(line: &str) -> bool {
    line.starts_with("From ") && line.contains("icmp_seq")
        || line.starts_with("Request timeout for icmp_seq")
        || line.contains("no answer yet for icmp_seq")
        || line.contains(" bytes from ") && line.contains("nreachable")
}
