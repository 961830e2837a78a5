//! From rows to series.

use super::names::{direction, metric};
use super::shape::{Long, Shape};
use crate::model::{Kind, Label, Metric, Param, Point, Points, ROWS_ARE_RUNS, Run, Series, Stat, Unit};
use linerate_formats::series::{self as theirs, Column};
use smol_str::{SmolStr, ToSmolStr};
use std::collections::{HashMap, HashSet};

/// A run's series by what tells them apart: numbers that stand for cells, so that a row of a known series makes no words.
#[derive(Default)]
pub(super) struct Places {
    known: HashMap<Box<[u64]>, usize>,
    key: Vec<u64>,
    /// Cells of the hosts that the run has.
    hosts: HashSet<u64>,
}

/// What a row gives to one series.
#[derive(Clone, Copy)]
struct Given {
    size: Option<u64>,
    at: Option<f64>,
    value: f64,
    valid: bool,
}

impl Places {
    /// Adds a value to the series of the key, which is made where there is none.
    fn put(&mut self, run: &mut Run, given: Given, make: impl FnOnce() -> (Metric, Vec<Label>)) {
        let place = match self.known.get(&self.key[..]) {
            Some(place) => *place,
            None => {
                let (metric, labels) = make();
                run.series.push(Series { metric, labels, points: Points::default() });
                self.known.insert(self.key.as_slice().into(), run.series.len() - 1);
                run.series.len() - 1
            }
        };
        if let Some(s) = run.series.get_mut(place) {
            let Given { size, at, value, valid } = given;
            s.points.push(Point { size, at, value, valid });
        }
    }
}

impl Shape<'_> {
    pub(super) fn begin(&self, name: &SmolStr) -> Run {
        let mut run = Run { kind: Kind::Series, ..Run::default() };
        if !name.is_empty() {
            run.param("run", Some(name.clone()));
        }
        if self.rows_are_runs {
            run.params.insert(ROWS_ARE_RUNS.into(), Param::Flag(true));
            run.note("no column names runs, time or steps: every row counts as one run", None);
        }
        run
    }

    pub(super) fn take(&self, row: usize, run: &mut Run, places: &mut Places) {
        if let Some(c) = self.hosts
            && places.hosts.insert(cell(c, row))
            && let Some(host) = c.label(row).filter(|h| !h.is_empty())
        {
            // A word of a column is there once.
            run.hosts.push(host.into());
        }
        let size = self.size.and_then(|c| c.number(row)).filter(|v| (0.0..1e18).contains(v)).map(|v| v as u64);
        let at = self.at.and_then(|c| c.number(row));
        places.key.clear();
        places.key.extend(self.labels.iter().map(|c| cell(c, row)));
        let common = places.key.len();
        for (n, (column, metric, factor)) in self.metrics.iter().enumerate() {
            if let Some(value) = column.number(row).map(|v| v * factor).filter(|v| v.is_finite()) {
                places.key.truncate(common);
                places.key.push(n as u64);
                places.put(run, Given { size, at, value, valid: true }, || (metric.clone(), self.labels_of(row)));
            }
        }
        if let Some(long) = &self.long {
            self.take_long(long, row, Given { size, at, value: 0.0, valid: true }, run, places);
        }
    }

    /// The labels of a row's series.
    fn labels_of(&self, row: usize) -> Vec<Label> {
        let own = self.labels.iter().map(|c| Label { key: c.name.clone(), value: text(c, row).unwrap_or_default() });
        own.filter(|l| !l.value.is_empty()).collect()
    }

    fn take_long(&self, long: &Long<'_>, row: usize, given: Given, run: &mut Run, places: &mut Places) {
        let (Some(name), Some(value)) = (long.metric.label(row), long.value.number(row)) else { return };
        // Without a column for it the unit may stand behind the name: `bandwidth (Gb/s)`.
        let (named, unit) = long.unit.map_or_else(|| theirs::split(name), |_| (name.into(), None));
        let (metric, factor) = metric(&named, unit.as_ref());
        let valid = !long.valid.is_some_and(|c| {
            c.label(row).is_some_and(|v| v.eq_ignore_ascii_case("false")) || c.number(row) == Some(0.0)
        });
        let telling = [Some(long.metric), long.unit, long.stat, long.labels];
        places.key.extend(telling.map(|c| c.map_or(MISSING, |c| cell(c, row))));
        places.put(run, Given { value: value * factor, valid, ..given }, || {
            let mut m = metric;
            let unit = told(long.unit, row);
            if !unit.is_empty() {
                m.unit = Unit::of_name(unit);
            }
            if let Some(stat) = Stat::of_name(told(long.stat, row)) {
                m.stat = stat;
            }
            m.better = direction(&m.name.to_ascii_lowercase(), &m.unit);
            let mut labels = self.labels_of(row);
            let exported = object(long.labels.and_then(|c| c.label(row)));
            labels.extend(exported.into_iter().map(|(key, value)| Label { key, value: value.to_smolstr() }));
            (m, labels)
        });
        // One kind and one program make the run theirs again: an export is compared with what it was exported from.
        let tool = told(long.tool, row);
        if !tool.is_empty() && run.tool.as_deref() != Some(tool) {
            run.tool = Some(tool.into());
        }
        if let Some(kind) = Kind::of_name(told(long.kind, row)) {
            run.kind = kind;
        }
        if run.hosts.is_empty()
            && let Some(text) = long.hosts.and_then(|c| c.label(row))
        {
            let hosts: Vec<String> = serde_json::from_str(text).unwrap_or_default();
            run.all_hosts(hosts.iter().map(String::as_str));
        }
        if let Some(text) = long.params.and_then(|c| c.label(row))
            && run.params.len() <= 1
        {
            run.params.extend(object(Some(text)));
        }
    }
}

/// An object of an export; whatever else is there is nothing.
fn object(text: Option<&str>) -> Vec<(SmolStr, Param)> {
    let map: serde_json::Map<String, serde_json::Value> =
        text.and_then(|t| serde_json::from_str(t).ok()).unwrap_or_default();
    let param = |v: serde_json::Value| match v {
        serde_json::Value::Bool(v) => Some(Param::Flag(v)),
        serde_json::Value::Number(n) => n.as_i64().map(Param::Int).or(n.as_f64().map(Param::Real)),
        serde_json::Value::String(s) => Some(Param::Text(s.into())),
        _ => None,
    };
    map.into_iter().filter_map(|(k, v)| Some((SmolStr::from(k), param(v)?))).collect()
}

/// A cell that says nothing.
const MISSING: u64 = u64::MAX;

/// What stands for a cell: the same for the same words or numbers of its column.
fn cell(c: &Column, row: usize) -> u64 {
    match &c.cells {
        theirs::Cells::Labels(l) => match l.rows.get(row) {
            Some(place) if l.get(row).is_some_and(|word| !word.is_empty()) => u64::from(*place),
            _ => MISSING,
        },
        theirs::Cells::Numbers(_) => c.number(row).map_or(MISSING, f64::to_bits),
    }
}

/// A cell's word, where it has one.
fn told(c: Option<&Column>, row: usize) -> &str {
    c.and_then(|c| c.label(row)).unwrap_or_default()
}

/// A cell as a word.
pub(super) fn text(c: &Column, row: usize) -> Option<SmolStr> {
    c.label(row).map(SmolStr::from).or_else(|| c.number(row).map(|v| v.to_smolstr()))
}
