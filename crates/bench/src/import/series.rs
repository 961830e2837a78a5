//! Tables of anybody: CSV, Markdown, JSON lines.
//!
//! A column that is named for runs makes runs; one for time or steps makes each run a time series; without either, every row is a
//! repetition of its own, which is said. A table in long form (`metric`, `value`, `unit`) is what `bench history --export` and the
//! template of `bench compare` write.

use super::Sink;
use super::series_names::metric;
use crate::model::{Kind, Label, Metric, Note, Param, Point, Points, ROWS_ARE_RUNS, Run, Series, Stat, Unit};
use linerate_formats::series::{self as theirs, Column, Role, Table};
use smol_str::{SmolStr, ToSmolStr, format_smolstr};
use std::collections::HashMap;

/// Words of a label beyond which it names rows instead of telling measurements apart.
const MOST_WORDS: usize = 256;

pub(super) fn read(bytes: &[u8], to: &mut Sink<'_>) {
    match theirs::parse(bytes) {
        Err(e) => to.refuse(e.line, e.what),
        Ok(tables) => tables.iter().for_each(|t| table(t, to)),
    }
}

fn table(t: &Table, to: &mut Sink<'_>) {
    for r in &t.refused {
        let column = r.column.as_ref().map_or_else(String::new, |c| format!("column {c}: "));
        to.refuse(r.line, format!("{column}{}", r.why));
    }
    if t.refused_not_kept > 0 {
        to.refuse(0, format!("{} more cells that could not be read", t.refused_not_kept));
    }
    let nameless = t.notes.iter().any(|n| n.kind == theirs::NoteKind::NoHeader);
    if nameless && t.columns.iter().any(|c| matches!(c.cells, theirs::Cells::Labels(_))) {
        let line = t.lines.first().copied().unwrap_or(0);
        to.refuse(line, "a table without a header whose cells are not all numbers: what they are is not known");
        return;
    }
    let shape = Shape::of(t);
    let mut runs: Vec<(SmolStr, Run, HashMap<Place, usize>)> = Vec::new();
    let mut by_name: HashMap<SmolStr, usize> = HashMap::new();
    let mut last: Option<usize> = None;
    for row in 0..t.len() {
        // Rows of a run stand together, as a rule: a name is made once for all of them.
        let again = last.filter(|_| shape.run.is_none_or(|c| same(c, row)));
        let at = again.unwrap_or_else(|| {
            let name = shape.run.map_or_else(SmolStr::default, |c| text(c, row).unwrap_or_default());
            *by_name.entry(name).or_insert_with_key(|name| {
                runs.push((name.clone(), shape.begin(name), HashMap::new()));
                runs.len() - 1
            })
        });
        last = Some(at);
        let Some((_, run, places)) = runs.get_mut(at) else { continue };
        shape.take(row, run, places);
    }
    let line = t.lines.first().copied().unwrap_or(0);
    let several = runs.len() > 1;
    for (name, mut run, _) in runs {
        if t.rows_not_kept > 0 {
            run.notes.push(Note { what: format!("{} more rows were not kept", t.rows_not_kept), line: None });
        }
        run.notes.extend(notes(t));
        if run.points() == 0 && several {
            to.refuse(line, format!("run {name} has no numbers"));
            continue;
        }
        to.run(run, line);
    }
}

/// A series: metric's column, statistic and unit in long form, labels.
type Place = (usize, SmolStr, Vec<SmolStr>);

/// Which column is what.
struct Shape<'a> {
    run: Option<&'a Column>,
    /// Time or step.
    at: Option<&'a Column>,
    size: Option<&'a Column>,
    hosts: Option<&'a Column>,
    labels: Vec<&'a Column>,
    metrics: Vec<(&'a Column, Metric, f64)>,
    long: Option<Long<'a>>,
    /// No sizes, no time, no runs: nothing tells rows apart but their order.
    rows_are_runs: bool,
}

/// Columns of an export that say of a run what is not part of its result.
const ASIDE: [&str; 10] =
    ["run_labels", "run_valid", "version", "began", "stored", "source", "session", "side", "position", "before"];

/// Columns of a table in long form.
struct Long<'a> {
    metric: &'a Column,
    value: &'a Column,
    unit: Option<&'a Column>,
    stat: Option<&'a Column>,
    valid: Option<&'a Column>,
    kind: Option<&'a Column>,
    tool: Option<&'a Column>,
    /// Of an export: objects and lists in JSON.
    labels: Option<&'a Column>,
    params: Option<&'a Column>,
    hosts: Option<&'a Column>,
    /// What an export tells of the run, and what it leaves to its id.
    aside: Vec<&'a Column>,
}

impl<'a> Shape<'a> {
    fn of(t: &'a Table) -> Shape<'a> {
        let named = |name: &str| t.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name));
        let words = |c: &&Column| matches!(&c.cells, theirs::Cells::Labels(_));
        let long =
            named("metric").filter(words).zip(named("value").filter(|c| !words(c))).map(|(metric, value)| Long {
                metric,
                value,
                unit: named("unit").filter(words),
                stat: named("stat").filter(words),
                valid: named("valid"),
                kind: named("kind").filter(words),
                tool: named("tool").filter(words),
                labels: named("labels").filter(words),
                params: named("params").filter(words),
                hosts: named("hosts").filter(words),
                aside: ASIDE.iter().filter_map(|n| named(n)).collect(),
            });
        let run = t.of(Role::Run).next();
        let at = t.of(Role::Time).chain(t.of(Role::Step)).next();
        let hosts = ["host", "node", "hostname", "nodename"].iter().find_map(|n| named(n)).filter(words);
        let used = |c: &&Column| {
            let of_long = long.as_ref().is_some_and(|l| {
                let all = [
                    Some(l.metric),
                    Some(l.value),
                    l.unit,
                    l.stat,
                    l.valid,
                    l.kind,
                    l.tool,
                    l.labels,
                    l.params,
                    l.hosts,
                ];
                all.into_iter().flatten().chain(l.aside.iter().copied()).any(|x| std::ptr::eq(x, *c))
            });
            of_long || hosts.is_some_and(|h| std::ptr::eq(h, *c))
        };
        let few = |c: &&Column| match &c.cells {
            theirs::Cells::Labels(l) => {
                l.words.len() <= MOST_WORDS
                    && (t.len() < 4 || l.words.len() * 2 <= t.len() || c.name.len() < 12 && l.words.len() < 32)
            }
            theirs::Cells::Numbers(_) => true,
        };
        let metrics = match long {
            Some(_) => Vec::new(),
            None => t
                .of(Role::Metric)
                .map(|c| {
                    let (m, f) = metric(&c.name, c.unit.as_ref());
                    (c, m, f)
                })
                .collect(),
        };
        Shape {
            run,
            at,
            size: t.of(Role::Size).next(),
            hosts,
            labels: t.of(Role::Label).filter(|c| !used(c)).filter(few).collect(),
            metrics,
            rows_are_runs: run.is_none() && at.is_none(),
            long,
        }
    }

    fn begin(&self, name: &SmolStr) -> Run {
        let mut run = Run { kind: Kind::Series, ..Run::default() };
        if !name.is_empty() {
            run.param("run", Some(name.clone()));
        }
        if self.rows_are_runs {
            run.params.insert(ROWS_ARE_RUNS.into(), Param::Flag(true));
            run.notes.push(Note {
                what: "no column names runs, time or steps: every row counts as a repetition of its own".to_owned(),
                line: None,
            });
        }
        run
    }

    fn take(&self, row: usize, run: &mut Run, places: &mut HashMap<Place, usize>) {
        if let Some(host) = self.hosts.and_then(|c| c.label(row)) {
            run.host(host);
        }
        let size = self.size.and_then(|c| c.number(row)).filter(|v| (0.0..1e18).contains(v)).map(|v| v as u64);
        let at = self.at.and_then(|c| c.number(row));
        let mut labels: Vec<SmolStr> = self.labels.iter().map(|c| text(c, row).unwrap_or_default()).collect();
        let exported = self.long.as_ref().and_then(|l| l.labels?.label(row));
        labels.extend(exported.map(SmolStr::from));
        let mut put = |column: usize, which: SmolStr, make: &dyn Fn() -> Metric, value: f64, valid: bool| {
            let place = *places.entry((column, which, labels.clone())).or_insert_with(|| {
                let labels = self.labels.iter().zip(&labels).filter(|(_, v)| !v.is_empty());
                let mut labels: Vec<Label> =
                    labels.map(|(c, v)| Label { key: c.name.clone(), value: v.clone() }).collect();
                labels
                    .extend(object(exported).into_iter().map(|(key, value)| Label { key, value: value.to_smolstr() }));
                run.series.push(Series { metric: make(), labels, points: Points::default() });
                run.series.len() - 1
            });
            if let Some(s) = run.series.get_mut(place) {
                s.points.push(Point { size, at, value, valid });
            }
        };
        for (n, (column, metric, factor)) in self.metrics.iter().enumerate() {
            if let Some(v) = column.number(row).map(|v| v * factor).filter(|v| v.is_finite()) {
                put(n, SmolStr::default(), &|| metric.clone(), v, true);
            }
        }
        let Some(long) = &self.long else { return };
        let (Some(name), Some(value)) = (long.metric.label(row), long.value.number(row)) else { return };
        let told = |c: Option<&Column>| c.and_then(|c| c.label(row).map(str::to_owned)).unwrap_or_default();
        let (unit, stat, tool) = (told(long.unit), told(long.stat), told(long.tool));
        let valid = !long.valid.is_some_and(|c| {
            c.label(row).is_some_and(|v| v.eq_ignore_ascii_case("false")) || c.number(row) == Some(0.0)
        });
        let which = format_smolstr!("{name}\0{unit}\0{stat}");
        let make = || {
            let (mut m, _) = metric(name, None);
            if !unit.is_empty() {
                m.unit = Unit::of_name(&unit);
            }
            if let Some(stat) = Stat::of_name(&stat) {
                m.stat = stat;
            }
            m.better = super::series_names::direction(&m.name.to_ascii_lowercase(), &m.unit);
            m
        };
        put(usize::MAX, which, &make, value, valid);
        // One kind and one program make the run theirs again: an export is compared with what it was exported from.
        if !tool.is_empty() {
            run.tool = Some(tool.into());
        }
        if let Some(kind) = Kind::of_name(&told(long.kind)) {
            run.kind = kind;
        }
        if run.hosts.is_empty()
            && let Some(text) = long.hosts.and_then(|c| c.label(row))
        {
            let hosts: Vec<String> = serde_json::from_str(text).unwrap_or_default();
            hosts.iter().for_each(|h| run.host(h));
        }
        if let Some(text) = long.params.and_then(|c| c.label(row))
            && run.params.len() <= 1
        {
            run.params.extend(object(Some(text)));
        }
    }
}

/// An object of an export; whatever else stands there is nothing.
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

/// Whether a cell holds what the one above it holds.
fn same(c: &Column, row: usize) -> bool {
    let Some(above) = row.checked_sub(1) else { return false };
    match &c.cells {
        theirs::Cells::Numbers(all) => all.get(row).map(|v| v.to_bits()) == all.get(above).map(|v| v.to_bits()),
        theirs::Cells::Labels(l) => l.rows.get(row) == l.rows.get(above),
    }
}

/// A cell as a word.
fn text(c: &Column, row: usize) -> Option<SmolStr> {
    c.label(row).map(SmolStr::from).or_else(|| c.number(row).map(|v| v.to_smolstr()))
}

fn notes(t: &Table) -> Vec<Note> {
    let word = |kind: theirs::NoteKind| match kind {
        theirs::NoteKind::BinarySizes => "MB is read as 2^20 bytes: all numbers are powers of two",
        theirs::NoteKind::DecimalSizes => "MB is read as 10^6 bytes: not all numbers are powers of two",
        theirs::NoteKind::DecimalComma => "a comma is read as the decimal sign",
        theirs::NoteKind::ThousandsComma => "a comma is read as setting off thousands",
        theirs::NoteKind::NoHeader => "there is no header: columns are named by their place",
        theirs::NoteKind::ListsLeftOut => "lists in JSON are not read",
    };
    t.notes
        .iter()
        .map(|n| Note { what: format!("column {}: {}", n.column, word(n.kind)), line: Some(n.line) })
        .collect()
}
