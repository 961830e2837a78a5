//! Line by line: what belongs to which run.

use super::line::{self, Line};
use super::{Run, windows};
use crate::bounds::Limit;
use crate::launcher;
use crate::record::{Recorder, keep};
use crate::refusal::{End, Said};
use crate::text::{self, At};

/// Reads lines as they come. Keeps no text, and of a run only what is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    /// Answers of routers in the run, which Windows counts as received.
    answers: u64,
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    text::read(bytes, Reader::line).0.finish()
}

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        let Some(line) = launcher::short(line).map(str::trim_start) else { return };
        let found = line::line(number, line)
            .or_else(|| line::summary(line).filter(|_| self.record.is_begun()).map(Line::Summary))
            .or_else(|| windows::line(number, line, self.record.is_begun()));
        if let Some(found) = found {
            self.take(number, line, found);
        } else if let Some(what) = line.strip_prefix("ping: ").or_else(|| line.strip_prefix("ping6: ")) {
            self.said(number, what);
        } else if is_error(line) {
            self.take(number, line, Line::Error { is_answer: false });
        }
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_run();
        self.record.finish()
    }

    fn take(&mut self, number: u32, text: &str, line: Line<'_>) {
        match line {
            Line::Heading { host, address, payload } => {
                self.end_run();
                let run = self.record.touch(number);
                run.host = Some(At::new(host.chars().take(256).collect(), number));
                run.address = address.map(|a| a.chars().take(256).collect());
                run.payload = payload;
            }
            Line::Reply(reply) => {
                self.end_counted();
                let run = self.record.touch(number);
                match reply {
                    Ok(reply) => keep(&mut run.replies, reply, Limit::PING_REPLIES, number, &mut run.left_out),
                    Err(why) => run.refused.push(number, why),
                }
            }
            Line::Statistics(host) => {
                // The paste may begin here.
                self.end_counted();
                self.record.touch(number).host.get_or_insert(At::new(host.chars().take(256).collect(), number));
            }
            Line::Counts(mut counts) => {
                // Windows counts answers of routers as received.
                counts.errors += self.answers;
                counts.received = counts.received.saturating_sub(self.answers);
                let run = self.record.touch(number);
                run.counts = Some(At::new(counts, number));
                run.end = End::Finished;
            }
            Line::Summary(summary) => {
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
            Line::Error { .. } => {}
            Line::Failure => {
                self.end_run();
                self.fail(number, text);
            }
        }
    }

    /// `unknown host`, `sendmsg: Network is unreachable`, `Warning: …`.
    fn said(&mut self, number: u32, what: &str) {
        if what.starts_with("Warning") || what.starts_with("WARNING") {
            if self.record.is_begun() {
                let run = self.record.touch(number);
                keep(&mut run.notes, Said::new(number, what), Limit::PING_SAID, number, &mut run.left_out);
            }
            return;
        }
        let is_inside = self.record.is_begun() && self.record.run.counts.is_none() && self.record.run.host.is_some();
        if !is_inside {
            self.end_run();
        }
        if is_inside {
            let run = self.record.touch(number);
            keep(&mut run.errors, Said::new(number, what), Limit::PING_SAID, number, &mut run.left_out);
        } else {
            self.fail(number, what);
        }
    }

    fn fail(&mut self, number: u32, what: &str) {
        let run = self.record.touch(number);
        keep(&mut run.failures, Said::new(number, what), Limit::PING_SAID, number, &mut run.left_out);
        run.end = End::Failed;
        self.end_run();
    }

    /// Ends the run where its counts were shown: what follows is of the next.
    fn end_counted(&mut self) {
        if self.record.run.counts.is_some() {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        self.answers = 0;
        self.record.close();
    }
}

/// `From 10.0.0.1 icmp_seq=1 Destination Host Unreachable`, `Request timeout for icmp_seq 3`, `no answer yet for icmp_seq=2`.
fn is_error(line: &str) -> bool {
    line.starts_with("From ") && line.contains("icmp_seq")
        || line.starts_with("Request timeout for icmp_seq")
        || line.contains("no answer yet for icmp_seq")
        || line.contains(" bytes from ") && line.contains("nreachable")
}
