//! What a run of nvbandwidth says.

use crate::bounds::{LeftOut, Limit};
use crate::record::{keep, recorded};
use crate::refusal::Refusals;
use crate::text::At;
use crate::units::{Bytes, GBps};
use serde::Serialize;
use smol_str::SmolStr;

/// One execution: a header and the tests below it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// Text or JSON.
    pub format: Format,
    /// Version of the program, `v0.8`.
    pub version: Option<At<SmolStr>>,
    /// What it was built from.
    pub git: Option<At<SmolStr>>,
    /// CUDA's runtime as a number, 12040 for 12.4. The program prints the driver's.
    pub cuda: Option<At<u32>>,
    /// Driver, `550.54.15`.
    pub driver: Option<At<SmolStr>>,
    /// Host, printed since 0.8.
    pub host: Option<At<SmolStr>>,
    /// GPUs.
    pub devices: Vec<Device>,
    /// `-b`, where a command line above the output tells it.
    pub buffer: Option<At<Bytes>>,
    /// `-i`: samples of each cell, likewise.
    pub samples: Option<At<u32>>,
    /// `-m`: cells are means, not medians; likewise.
    pub is_mean: Option<At<bool>>,
    /// What ran.
    pub tests: Vec<Test>,
    /// Tests that this machine cannot run; text since 0.5 does not name them.
    pub waived: u64,
    /// The program's own warnings.
    pub notes: Vec<At<String>>,
    /// What failed.
    pub failures: Vec<Failure>,
    /// Rows that could not be read, and why.
    pub refused: Refusals,
    /// Tests, GPUs, remarks, failures and later runs of the text beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// 1-based first and last line that belong to the run.
    pub lines: (u32, u32),
}

/// Form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Tables.
    #[default]
    Text,
    /// `-j`.
    Json,
}

/// A GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// 1-based line.
    pub line: u32,
    /// Its number in the matrices: the device's, in runs on several nodes the process's.
    pub index: u32,
    /// Its name.
    pub name: SmolStr,
    /// `00000009:01:00`, printed since 0.5.
    pub bus_id: Option<SmolStr>,
    /// Its host, in runs on several nodes and in JSON.
    pub host: Option<SmolStr>,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Test {
    /// 1-based line.
    pub line: u32,
    /// `host_to_device_memcpy_ce`. `None` where the lines that name it are missing.
    pub name: Option<SmolStr>,
    /// What became of it.
    pub status: Status,
    /// Results; bidirectional tests have three.
    pub matrices: Vec<Matrix>,
}

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has results.
    Passed,
    /// This machine cannot run it.
    Waived,
    /// It began, and there is no result: the run was ended, or the text is cut.
    Unfinished,
    /// It failed: see the failures.
    Failed,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Matrix {
    /// 1-based line.
    pub line: u32,
    /// `memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)`. Empty where only the sum is there.
    pub description: SmolStr,
    /// The name that the sum has: the test's, with `_read1`, `_total`, … where there are several.
    pub key: Option<SmolStr>,
    /// Rows' names: numbers of the devices, or of host memory.
    pub rows: Vec<SmolStr>,
    /// Columns' names.
    pub columns: Vec<SmolStr>,
    /// Cells, row by row; `None` where a pair was not measured.
    pub values: Values,
    /// `SUM`: in the cells' unit.
    pub sum: Option<f64>,
    /// `COEFFICIENT_OF_VARIATION`, of recent versions.
    pub variation: Option<f64>,
    /// Whether all rows are there: the cells add up to the sum.
    pub is_whole: bool,
}

/// Cells in the unit in which they were printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// `GB/s`, 10⁹ bytes.
    Bandwidth(Vec<Option<GBps>>),
    /// `ns`.
    Latency(Vec<Option<Nanoseconds>>),
}

/// A length of time, 10⁻⁹ s.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Nanoseconds(pub f64);

/// Something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// 1-based line.
    pub line: u32,
    /// The test that was running.
    pub test: Option<SmolStr>,
    /// The message.
    pub text: String,
}

impl Values {
    /// No cells, in the unit that a description names.
    pub(super) fn of(description: &str) -> Option<Values> {
        if description.ends_with("(GB/s)") {
            Some(Values::Bandwidth(Vec::new()))
        } else if description.ends_with("(ns)") {
            Some(Values::Latency(Vec::new()))
        } else {
            None
        }
    }

    pub(super) fn push(&mut self, v: Option<f64>) {
        match self {
            Values::Bandwidth(all) => all.push(v.map(GBps)),
            Values::Latency(all) => all.push(v.map(Nanoseconds)),
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Values::Bandwidth(all) => all.truncate(len),
            Values::Latency(all) => all.truncate(len),
        }
    }

    /// How many cells, measured or not.
    pub fn len(&self) -> usize {
        match self {
            Values::Bandwidth(all) => all.len(),
            Values::Latency(all) => all.len(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cells as plain numbers, in their unit.
    pub fn numbers(&self) -> impl Iterator<Item = Option<f64>> {
        let (bandwidths, latencies): (&[Option<GBps>], &[Option<Nanoseconds>]) = match self {
            Values::Bandwidth(all) => (all, &[]),
            Values::Latency(all) => (&[], all),
        };
        bandwidths.iter().map(|v| v.map(|g| g.0)).chain(latencies.iter().map(|v| v.map(|n| n.0)))
    }
}

impl Test {
    pub(super) fn new(line: u32, name: Option<&str>, status: Status) -> Self {
        Test { line, name: name.map(SmolStr::new), status, matrices: Vec::new() }
    }
}

impl Matrix {
    pub(super) fn new(line: u32, description: &str, values: Values) -> Self {
        Matrix {
            line,
            description: SmolStr::new(description),
            key: None,
            rows: Vec::new(),
            columns: Vec::new(),
            values,
            sum: None,
            variation: None,
            is_whole: false,
        }
    }

    /// Cells with the names of their row and column.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &str, Option<f64>)> {
        let width = self.columns.len().max(1);
        self.values.numbers().enumerate().map(move |(i, v)| {
            (
                self.rows.get(i / width).map_or("", SmolStr::as_str),
                self.columns.get(i % width).map_or("", SmolStr::as_str),
                v,
            )
        })
    }

    /// Takes the sum, and sees whether the cells add up to it: each is rounded to two digits.
    pub(super) fn set_sum(&mut self, sum: f64) {
        self.sum = Some(sum);
        let (total, n) = self.values.numbers().fold((0.0, 1.0), |(t, n), v| (t + v.unwrap_or(0.0), n + 1.0));
        self.is_whole = !self.values.is_empty() && (total - sum).abs() <= 0.006 * n + sum.abs() * 1e-6;
    }
}

impl Run {
    pub(super) fn fail(&mut self, line: u32, test: Option<SmolStr>, text: &str) {
        let failure = Failure { line, test, text: text.trim().chars().take(500).collect() };
        keep(&mut self.failures, failure, Limit::NVBANDWIDTH_SAID, line, &mut self.left_out);
    }

    pub(super) fn note(&mut self, line: u32, text: &str) {
        let note = At::new(text.chars().take(500).collect(), line);
        keep(&mut self.notes, note, Limit::NVBANDWIDTH_SAID, line, &mut self.left_out);
    }

    pub(super) fn push_test(&mut self, test: Test) {
        let line = test.line;
        keep(&mut self.tests, test, Limit::NVBANDWIDTH_TESTS, line, &mut self.left_out);
    }

    pub(super) fn push_device(&mut self, device: Device) {
        let line = device.line;
        keep(&mut self.devices, device, Limit::NVBANDWIDTH_DEVICES, line, &mut self.left_out);
    }
}

recorded!(Run, Limit::NVBANDWIDTH_RUNS);
