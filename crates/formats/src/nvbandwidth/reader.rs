//! Line by line: header, tests, matrices.

use super::json;
use super::run::{Device, Matrix, Run, Status, Test, Values};
use crate::bounds::{BENCH_JSON, BENCH_LINE, Limit, NVBANDWIDTH_CELLS, NVBANDWIDTH_DEVICES, leave_out};
use crate::error::Why;
use crate::launcher;
use crate::record::Recorder;
use crate::text::{self, At, words};
use crate::units::Bytes;
use smol_str::SmolStr;
use std::collections::HashSet;

/// Reads lines as they come. Keeps no text but that of an open JSON document.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    test: Option<Test>,
    matrix: Option<Matrix>,
    document: Option<Document>,
    /// Names of the run's tests that ran.
    names: HashSet<SmolStr>,
    /// The line before, where it is one word: the host is above the devices.
    word: Option<At<SmolStr>>,
    /// A command line above the next run.
    command: Option<At<String>>,
    /// Cells of all matrices so far.
    cells: usize,
}

/// A JSON document that is not yet whole.
#[derive(Debug, Default)]
struct Document {
    first: u32,
    text: String,
    depth: i64,
    is_quoted: bool,
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let (mut reader, is_whole) =
        text::read(bytes, |reader: &mut Reader, number, line| reader.line(number, line.as_bytes()));
    if !is_whole {
        reader.drop_cut();
    }
    reader.finish()
}

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, bytes: &[u8]) {
        let is_json = self.document.is_some() || bytes.trim_ascii_start().starts_with(b"{");
        if !is_json && (bytes.len() > BENCH_LINE || launcher::is_nccl_info(bytes)) {
            return;
        }
        let text = text::decode(bytes);
        if is_json && self.json(number, &text) {
            return;
        }
        self.text(number, launcher::strip(text.trim_end()).trim());
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        if let Some(document) = self.document.take() {
            self.end_document(document, u32::MAX);
        }
        self.end_run();
        self.record.finish()
    }

    /// Whether the line belongs to a document.
    fn json(&mut self, number: u32, line: &str) -> bool {
        let mut document = match self.document.take() {
            Some(d) => d,
            None => Document { first: number, ..Document::default() },
        };
        let trimmed = line.trim();
        // The first name decides.
        let is_first = document.text.trim() == "{" && !trimmed.is_empty() || document.text.is_empty() && trimmed != "{";
        if is_first && !trimmed.trim_start_matches('{').trim_start().starts_with("\"nvbandwidth\"") {
            return false;
        }
        document.text.push_str(line);
        document.text.push('\n');
        let mut is_escaped = false;
        for b in line.bytes() {
            match b {
                _ if is_escaped => is_escaped = false,
                b'\\' if document.is_quoted => is_escaped = true,
                b'"' => document.is_quoted = !document.is_quoted,
                b'{' if !document.is_quoted => document.depth += 1,
                b'}' if !document.is_quoted => document.depth -= 1,
                _ => {}
            }
        }
        if document.depth <= 0 || document.text.len() > BENCH_JSON {
            self.end_document(document, number);
        } else {
            self.document = Some(document);
        }
        true
    }

    fn end_document(&mut self, document: Document, last: u32) {
        if !document.text.contains("\"nvbandwidth\"") {
            return;
        }
        self.end_run();
        let lines = document.text.bytes().filter(|b| *b == b'\n').count();
        let last = last.min(document.first.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)).saturating_sub(1));
        self.take(json::parse(&document.text, (document.first, last), document.depth > 0));
    }

    fn text(&mut self, number: u32, line: &str) {
        if self.row(number, line) {
            return;
        }
        let word = self.word.take();
        if line.is_empty() {
            self.word = word;
            return;
        }
        let short = |s: &str| At::new(s.trim().chars().take(128).collect::<SmolStr>(), number);
        if let Some(version) = line.strip_prefix("nvbandwidth Version:") {
            self.end_run();
            self.record.touch(number).version = Some(short(version));
            self.command();
        } else if let Some(name) =
            line.strip_prefix("Running ").and_then(|r| r.strip_suffix('.')).filter(|n| is_name(n))
        {
            self.begin_test(number, name);
        } else if let Some(values) = Values::of(line).filter(|_| is_description(line)) {
            self.end_matrix();
            self.record.touch(number);
            self.matrix = Some(Matrix::new(number, line, values));
        } else if let Some((what, rest)) = summary(line) {
            self.summary(number, what, rest);
        } else if line == "Waived:" || line.starts_with("Waiving ") && line.ends_with('.') && (self.record.is_begun()) {
            self.end_test();
            self.record.touch(number).waived += 1;
            let name = line.strip_prefix("Waiving ").map(|n| n.trim_end_matches('.'));
            if let Some(name) = name.filter(|n| is_name(n)) {
                self.record.run.push_test(Test::new(number, Some(name), Status::Waived));
            }
        } else if self.record.is_begun() && self.header(number, line, word) {
        } else if is_failure(line) && (self.record.is_begun() || line.contains("nvbandwidth")) {
            let name = self.test.as_ref().and_then(|t| t.name.clone());
            if let Some(test) = &mut self.test {
                test.status = Status::Failed;
            }
            self.record.touch(number).fail(number, name, line);
        } else if line.contains("nvbandwidth") && line.contains(" -") {
            self.command = Some(At::new(line.chars().take(1000).collect(), number));
        } else if !line.contains(char::is_whitespace) {
            self.word = Some(short(line));
        }
    }

    /// Lines above the tests.
    fn header(&mut self, number: u32, line: &str, word: Option<At<SmolStr>>) -> bool {
        let short = |s: &str| At::new(s.trim().chars().take(128).collect::<SmolStr>(), number);
        if let Some(git) = line.strip_prefix("Built from Git version:") {
            self.record.run.git = Some(short(git)).filter(|g| !g.value.is_empty());
        } else if let Some(version) = line.strip_prefix("CUDA Runtime Version:") {
            self.record.run.cuda = version.trim().parse().ok().map(|v| At::new(v, number));
        } else if line.starts_with("CUDA Driver Version:") {
            // The program prints the same number.
        } else if let Some(version) = line.strip_prefix("Driver Version:") {
            self.record.run.driver = Some(short(version));
        } else if let Some(rest) = line.strip_prefix("Device ") {
            let Some(found) = device(number, rest, None) else { return false };
            if self.record.run.devices.is_empty() {
                self.record.run.host = word;
            }
            self.record.run.push_device(found);
        } else if let Some(rest) = line.strip_prefix("Process ") {
            // `Process  0 (host): device 0: NAME (bus)`.
            let Some((process, rest)) = rest.split_once(" (") else { return false };
            let Some((host, rest)) = rest.split_once("): device ") else { return false };
            let (Ok(index), Some(found)) = (process.trim().parse(), device(number, rest, Some(SmolStr::new(host))))
            else {
                return false;
            };
            self.record.run.push_device(Device { index, ..found });
        } else if line.starts_with("NOTE: You have chosen a buffer size") || line.starts_with("Warning: ") {
            self.record.run.note(number, line);
        } else {
            return false;
        }
        self.record.touch(number);
        true
    }

    /// Lines of an open matrix: names of the columns, rows.
    fn row(&mut self, number: u32, line: &str) -> bool {
        let Some(m) = &mut self.matrix else { return false };
        if m.sum.is_some() || line.is_empty() {
            return false;
        }
        let mut all = words(line);
        if m.columns.is_empty() {
            let names: Vec<SmolStr> = all.take(NVBANDWIDTH_DEVICES + 1).map(SmolStr::new).collect();
            let is_head = names.iter().all(|n| n.bytes().all(|b| b.is_ascii_digit()));
            if is_head && names.len() > NVBANDWIDTH_DEVICES {
                leave_out(&mut self.record.run.left_out, Limit::NVBANDWIDTH_DEVICES, number);
                return false;
            }
            if is_head {
                m.columns = names;
                self.record.run.lines.1 = number;
            }
            return is_head;
        }
        let Some(name) = all.next().filter(|n| n.len() <= 64) else { return false };
        let before = m.values.len();
        let mut n = 0;
        let mut why = None;
        for word in all {
            let value = match word {
                "N/A" => Ok(None),
                _ => word
                    .parse::<f64>()
                    .ok()
                    .filter(|v| v.is_finite() && *v >= 0.0)
                    .map(|v| (v > 0.0).then_some(v))
                    .ok_or(word),
            };
            match value {
                Ok(v) => m.values.push(v),
                Err(word) if matches!(word, "nan" | "-nan" | "inf" | "-inf") => {
                    why.get_or_insert(Why::word(word, "not a measurement"));
                    m.values.push(None);
                }
                // Another line: a sample (`-v`), a message.
                Err(_) => {
                    m.values.truncate(before);
                    return false;
                }
            }
            n += 1;
            if n > NVBANDWIDTH_DEVICES {
                break;
            }
        }
        if n == 0 {
            return false;
        }
        if n != m.columns.len() {
            why = Some(Why::Columns { has: n, cells: "cells", columns: m.columns.len() });
        }
        if let Some(why) = why {
            m.values.truncate(before);
            self.record.refuse(number, why);
        } else {
            m.rows.push(SmolStr::new(name));
            self.record.touch(number);
        }
        true
    }

    fn summary(&mut self, number: u32, what: &str, rest: &str) {
        let mut all = words(rest);
        let (Some(key), Some(value)) = (all.next(), all.next()) else { return };
        let number_end = value.bytes().position(|b| !(b.is_ascii_digit() || b == b'.')).unwrap_or(value.len());
        let Some(value) = value.get(..number_end).and_then(|v| v.parse::<f64>().ok()).filter(|v| v.is_finite()) else {
            return;
        };
        if !is_name(key) {
            return;
        }
        self.record.touch(number);
        let key = SmolStr::new(key);
        if what != "SUM" && what != "PERF" {
            let all = self.test.iter_mut().flat_map(|t| &mut t.matrices);
            if let Some(m) =
                all.rev().take(4).find(|m| m.key.as_ref() == Some(&key)).filter(|_| what == "COEFFICIENT_OF_VARIATION")
            {
                m.variation = Some(value);
            }
            return;
        }
        // `nvbandwidth | grep SUM`: sums alone are results, too.
        let mut m = match self.matrix.take() {
            Some(m) => m,
            None => {
                let is_latency = key.contains("_latency_");
                let values = if is_latency { Values::Latency(Vec::new()) } else { Values::Bandwidth(Vec::new()) };
                Matrix::new(number, "", values)
            }
        };
        m.set_sum(value);
        if !m.is_whole && !m.values.is_empty() {
            let why = Why::Impossible("the cells do not add up to the sum: rows are missing, or changed");
            self.record.run.refused.push(number, why);
        }
        let test = self.test_of(m.line, &key);
        test.name.get_or_insert_with(|| key.clone());
        if test.status == Status::Unfinished {
            test.status = Status::Passed;
        }
        m.key = Some(key);
        test.matrices.push(m);
    }

    /// The open test where the key is its own; else a new one.
    fn test_of(&mut self, number: u32, key: &str) -> &mut Test {
        let fits = |t: &Test| t.name.as_ref().is_none_or(|n| key.starts_with(n.as_str()));
        if self.test.as_ref().is_some_and(|t| !fits(t)) {
            self.end_test();
        }
        self.test.get_or_insert(Test::new(number, None, Status::Unfinished))
    }

    fn begin_test(&mut self, number: u32, name: &str) {
        self.end_test();
        // Without the header of a run, a test that runs again begins one.
        if !self.names.insert(SmolStr::new(name)) {
            self.end_run();
            self.command();
            self.names.insert(SmolStr::new(name));
        }
        self.record.touch(number);
        self.test = Some(Test::new(number, Some(name), Status::Unfinished));
    }

    fn end_matrix(&mut self) {
        let Some(m) = self.matrix.take() else { return };
        let line = m.line;
        if m.values.is_empty() {
            return;
        }
        // A matrix without a sum: its last rows may be missing. The rows that are there are whole.
        let test = self.test.get_or_insert(Test::new(line, None, Status::Unfinished));
        if test.status == Status::Unfinished {
            test.status = Status::Passed;
        }
        test.matrices.push(m);
    }

    fn end_test(&mut self) {
        self.end_matrix();
        if let Some(test) = self.test.take() {
            self.record.run.push_test(test);
        }
    }

    /// Options of a command line above the run.
    fn command(&mut self) {
        let Some(command) = self.command.take() else { return };
        let all: Vec<&str> = words(&command.value).collect();
        for (i, word) in all.iter().enumerate() {
            let (name, inline) = word.split_once('=').map_or((*word, None), |(n, v)| (n, Some(v)));
            let value = inline.or(all.get(i + 1).copied());
            match name {
                "-b" | "--bufferSize" => {
                    let size = value.and_then(|v| v.parse::<u64>().ok()).and_then(|v| v.checked_mul(1 << 20));
                    self.record.run.buffer = size.map(|s| At::new(Bytes(s), command.line));
                }
                "-i" | "--testSamples" => {
                    self.record.run.samples = value.and_then(|v| v.parse().ok()).map(|v| At::new(v, command.line));
                }
                "-m" | "--useMean" => self.record.run.is_mean = Some(At::new(true, command.line)),
                _ => {}
            }
        }
    }

    /// A text that ends in a row: a last number with fewer digits than the first is cut.
    fn drop_cut(&mut self) {
        let Some(m) = self.matrix.as_mut().filter(|m| !m.rows.is_empty()) else { return };
        let rows = m.rows.len() - 1;
        let line = self.record.run.lines.1;
        m.rows.truncate(rows);
        m.values.truncate(rows * m.columns.len());
        self.record.run.refused.push(line, Why::Missing("the text ends in this row: its last number may be cut"));
    }

    fn end_run(&mut self) {
        self.end_test();
        self.names.clear();
        if let Some(run) = self.record.end() {
            self.take(run);
        }
    }

    /// Takes a run that is over. Of a matrix beyond the limit its sum remains.
    fn take(&mut self, mut run: Run) {
        for m in run.tests.iter_mut().flat_map(|t| &mut t.matrices) {
            let cells = self.cells.saturating_add(m.values.len());
            if cells <= NVBANDWIDTH_CELLS {
                self.cells = cells;
            } else {
                m.rows.clear();
                m.values.truncate(0);
                leave_out(&mut run.left_out, Limit::NVBANDWIDTH_CELLS, m.line);
            }
        }
        self.record.push(run);
    }
}

/// `0: NVIDIA GH200 480GB (00000009:01:00)`; before 0.5 without the address.
pub(super) fn device(line: u32, text: &str, host: Option<SmolStr>) -> Option<Device> {
    let (index, rest) = text.split_once(':')?;
    let index = index.trim().parse().ok()?;
    let rest = rest.trim();
    let (name, bus_id) = match rest.rsplit_once(" (") {
        Some((name, bus)) if bus.ends_with(')') && bus.contains(':') => {
            (name, Some(SmolStr::new(bus.trim_end_matches(')'))))
        }
        _ => (rest, None),
    };
    let name: String = name.trim().chars().take(128).collect();
    Some(Device { line, index, name: name.into(), bus_id, host })
}

/// `host_to_device_memcpy_ce`.
fn is_name(text: &str) -> bool {
    let is_plain = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_plain && text.contains('_') && text.len() <= 128
}

/// The line above a matrix.
fn is_description(line: &str) -> bool {
    let begins = ["memcpy ", "memory latency ", "multicast ", "Device to Device Latency "];
    line.len() < 200 && begins.iter().any(|b| line.starts_with(b)) && (line.contains("GPU") || line.contains(" All "))
}

/// `SUM name value`, `&&&& PERF name value unit`, and what is below.
fn summary(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("&&&& ").unwrap_or(line);
    let (what, rest) = line.split_once(' ')?;
    matches!(what, "SUM" | "PERF" | "MIN" | "MAX" | "AVG" | "COEFFICIENT_OF_VARIATION").then_some((what, rest))
}

fn is_failure(line: &str) -> bool {
    let begins =
        ["ERROR: ", "ERROR:", "Error: ", "NVML_ERROR: ", "ASSERT in expression", "Invalid value when checking"];
    begins.iter().any(|b| line.starts_with(b))
        || line.starts_with("[CUDA_ERROR_") && line.contains(" in expression ")
        || line.starts_with("[cudaError") && line.contains(" in expression ")
}
