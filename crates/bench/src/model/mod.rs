//! What was measured. A [`Run`] is one execution of one tool: the unit of replication. Whatever is inside it (iterations, steps,
//! streams, ranks) shares its node, its moment and its settings, and is no independent repetition.

mod id;
mod json;
mod metric;
mod places;
mod points;
mod series;
mod sweep;

pub use crate::import::Kind;
pub use id::RunId;
pub use metric::{Better, Dimension, Metric, Stat, Unit};
pub use places::Places;
pub use points::Points;
pub use series::{Label, Point, Series};
pub use sweep::Sweep;

use serde::Serialize;
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// Parameter: every row is a repetition of its own.
pub const ROWS_ARE_RUNS: &str = "rows_are_runs";
/// Parameter: place in the order of measurements.
pub const ORDER: &str = "order";

/// One execution of one tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// Whose output it is.
    pub kind: Kind,
    /// The program: `all_reduce_perf`, `ib_write_bw`.
    pub tool: Option<SmolStr>,
    /// Its release, as it prints it.
    pub version: Option<SmolStr>,
    /// How it was run, as far as the output says: `ranks`, `dtype`, `qps`, `mtu`, `streams` …
    pub params: BTreeMap<SmolStr, Param>,
    /// Hosts that took part, in order of appearance, each once.
    pub hosts: Vec<SmolStr>,
    /// When it began, in seconds of the Unix epoch, where the output says so with its zone.
    pub began: Option<f64>,
    /// What was measured.
    pub series: Vec<Series>,
    /// Why it, or part of it, is no valid result. Empty: nothing speaks against it.
    pub faults: Vec<Fault>,
    /// What the tool remarked, and what the reader of the output noticed.
    pub notes: Vec<Note>,
    /// Where it was read.
    pub source: Source,
    /// Where a series lies: a run has thousands.
    pub places: Places,
}

impl Run {
    /// Its name, made of its content: the same output is the same run wherever and whenever it is read.
    #[must_use]
    pub fn id(&self) -> RunId {
        RunId::of(self)
    }

    /// Whether the whole run counts as a result. Single points may still be invalid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.void().is_none()
    }

    /// Why the whole run does not count, where that is so.
    #[must_use]
    pub fn void(&self) -> Option<&Fault> {
        self.faults.iter().find(|f| f.whole_run)
    }

    /// What ran: the program or, where the output does not name it, whose output it is.
    #[must_use]
    pub fn program(&self) -> &str {
        self.tool.as_deref().unwrap_or(self.kind.name())
    }

    /// Points of all series.
    #[must_use]
    pub fn points(&self) -> usize {
        self.series.iter().map(|s| s.points.len()).sum()
    }

    /// The series of a metric and its labels; made where there is none.
    pub fn series_mut(&mut self, metric: Metric, labels: &[Label]) -> &mut Series {
        let place = self.places.of(&self.series, &metric, labels).unwrap_or_else(|| {
            self.series.push(Series { metric, labels: labels.to_vec(), points: Points::default() });
            self.series.len() - 1
        });
        &mut self.series[place]
    }

    /// Sets a parameter where the output prints it.
    pub fn param(&mut self, key: &'static str, value: Option<impl Into<Param>>) {
        if let Some(value) = value {
            self.params.insert(SmolStr::new_static(key), value.into());
        }
    }

    /// Whether every row of it is a repetition of its own: a table of another maker without a column that names runs or time.
    #[must_use]
    pub fn rows_are_runs(&self) -> bool {
        self.params.get(ROWS_ARE_RUNS) == Some(&Param::Flag(true))
    }

    /// Its place in the order of all measurements: when it began, else the number that the one who measured gave it.
    #[must_use]
    pub fn order(&self) -> Option<f64> {
        self.began.or_else(|| match self.params.get(ORDER) {
            Some(Param::Int(n)) => Some(*n as f64),
            Some(Param::Real(n)) => Some(*n),
            _ => None,
        })
    }

    /// Adds a host once.
    pub fn host(&mut self, host: &str) {
        self.all_hosts([host]);
    }

    /// Adds hosts, each once. There may be as many as ranks, or as rows of a table: those are added in one go.
    pub fn all_hosts<'h>(&mut self, hosts: impl IntoIterator<Item = &'h str>) {
        let mut seen: HashSet<SmolStr> = self.hosts.iter().cloned().collect();
        let new = hosts.into_iter().filter(|h| !h.is_empty()).map(SmolStr::from).filter(|h| seen.insert(h.clone()));
        self.hosts.extend(new);
    }
}

/// A parameter's value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Param {
    /// A switch.
    Flag(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// Words.
    Text(SmolStr),
}

/// What can be a parameter.
macro_rules! params {
    ($($from:ty: $value:ident => $param:expr),* $(,)?) => {
        $(impl From<$from> for Param {
            fn from($value: $from) -> Self {
                $param
            }
        })*
    };
}

params! {
    bool: v => Param::Flag(v),
    u32: v => Param::Int(i64::from(v)),
    i64: v => Param::Int(v),
    f64: v => Param::Real(v),
    SmolStr: v => Param::Text(v),
    &str: v => Param::Text(v.into()),
}

impl From<u64> for Param {
    fn from(v: u64) -> Self {
        i64::try_from(v).map_or(Param::Real(v as f64), Param::Int)
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Param::Flag(v) => v.fmt(f),
            Param::Int(v) => v.fmt(f),
            Param::Real(v) => v.fmt(f),
            Param::Text(v) => f.pad(v),
        }
    }
}

/// Why a run, or some of its points, are no valid result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What is wrong: `12 wrong elements at 8 MiB, out of place`.
    pub what: String,
    /// 1-based line, where it is one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Nothing of the run counts. Otherwise the points concerned are marked.
    pub whole_run: bool,
}

/// Something worth knowing that takes nothing from the result's validity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// In words.
    pub what: String,
    /// 1-based line, where it is one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Where a run was read. Not part of its identity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Source {
    /// File, pipe or command.
    pub name: String,
    /// 1-based first line of the run; 0 where lines mean nothing (JSON).
    pub line: u32,
}

#[cfg(test)]
mod tests;
