//! The report that `--out_json` writes.
//!
//! It names no unit of bandwidth, and up to 23.07 it was not JSON: names stood without quotes, and a comma after the last one.
//! It is therefore read name by name, one a line, as the program writes it; the unit follows from size and rate of messages.

use super::columns::{Raw, Unit, number};
use super::run::{Run, Values};
use super::{head, run::Kind};
use crate::error::Why;
use crate::text::At;
use crate::units::Microseconds;
use crate::units::PerSecond;

/// Collects the names of a report.
#[derive(Debug, Default)]
pub(super) struct Report {
    run: Run,
    raw: Raw,
    has_size: bool,
    is_latency: bool,
    /// Bandwidth or rate alone, where the program was asked to print nothing else.
    only: bool,
    /// Braces that are open. The outermost one may stand in the line before the report's first.
    depth: i32,
}

/// Whether a line begins a report.
pub(super) fn begins(line: &str) -> bool {
    let line = line.trim().trim_start_matches('{').trim_start();
    line.strip_prefix("\"test_info\"")
        .or_else(|| line.strip_prefix("test_info"))
        .is_some_and(|r| r.trim_start().starts_with(':'))
}

impl Report {
    pub(super) fn new(line: u32, first: &str) -> Self {
        let depth = i32::from(!first.trim_start().starts_with('{'));
        Report { depth, run: Run { lines: (line, line), copies: 1, ..Run::default() }, ..Report::default() }
    }

    /// Takes a line, or all of a document that is in one line. Whether the report goes on.
    pub(super) fn line(&mut self, line: u32, text: &str) -> bool {
        self.run.lines.1 = line;
        for part in parts(text) {
            let Some((name, value)) = part.split_once(':') else { continue };
            let unquote = |s: &str| s.trim().trim_matches(['"', '{', '}', ' ']).to_owned();
            self.field(line, &unquote(name), &unquote(value));
        }
        for byte in text.bytes() {
            self.depth = self.depth.saturating_add(i32::from(byte == b'{')).saturating_sub(i32::from(byte == b'}'));
        }
        self.depth > 0
    }

    fn field(&mut self, line: u32, name: &str, value: &str) {
        let v = number(value);
        let us = v.map(Microseconds);
        let raw = &mut self.raw;
        match name {
            "test" => self.run.test = head::title(value).map(|t| At::new(t, line)),
            "MsgSize" => {
                self.has_size = value.parse::<u64>().map(|s| raw.size = s).is_ok();
            }
            "sl" => raw.service_level = value.parse().ok(),
            "n_iterations" => raw.iterations = value.parse().ok(),
            "BW_peak" => raw.peak = v,
            "BW_average" => raw.average = v,
            "MsgRate" => raw.messages = v,
            "bw_avg" | "msgRate_avg" | "avg_lat" => self.only = true,
            "CPU_util" => raw.cpu = v,
            "t_min" => raw.latency.min = us,
            "t_max" => raw.latency.max = us,
            "t_typical" => raw.latency.typical = us,
            "t_avg" => {
                raw.latency.average = us;
                self.is_latency = true;
            }
            "t_stdev" => raw.latency.stdev = us,
            "percentile_99" => raw.latency.p99 = us,
            "percentile_99.9" => raw.latency.p999 = us,
            "tps_average" => raw.latency.transactions = v.map(PerSecond),
            name => {
                head::set(name, value, &mut self.run.header);
            }
        }
    }

    pub(super) fn finish(mut self) -> Run {
        let line = self.run.lines.1;
        let mut refuse = |why: Why| self.run.refused.push(line, why);
        let is_latency = self.is_latency || self.run.test.as_ref().is_some_and(|t| t.value.kind == Kind::Latency);
        let unit: Option<Unit> = self.raw.unit();
        match () {
            () if !self.has_size && self.only => {
                refuse(Why::Missing("the report has one number, without its size or unit"))
            }
            () if !self.has_size => refuse(Why::Missing("the report ends before its results")),
            () if is_latency => {
                let row = self.raw.row(line, None);
                if row.values == Values::Latency(Default::default()) {
                    refuse(Why::Missing("the report has a size and no times"));
                } else {
                    self.run.rows.push(row);
                }
            }
            () => match unit {
                Some(unit) => self.run.rows.push(self.raw.row(line, Some(unit))),
                None => refuse(Why::Unclear(
                    "the report names no unit of bandwidth, and it does not follow from the rate of messages",
                )),
            },
        }
        self.run
    }
}

/// `"name": value` pairs: commas and braces outside of quotes part them.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |c: char| {
        is_quoted ^= c == '"';
        !is_quoted && matches!(c, ',' | '{' | '}')
    })
}
