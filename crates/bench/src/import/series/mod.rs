//! Tables of anybody: CSV, Markdown, JSON lines.
//!
//! A column that is named for runs makes runs; one for time or steps makes each run a time series; without either, every row is a
//! repetition of its own, which is said. A table in long form (`metric`, `value`, `unit`) is what `bench history --export` and the
//! template of `bench compare` write.

mod names;
mod rows;
mod shape;

use super::{Benchmark, Sink};
use crate::model::{Note, Run};
use crate::summary::Area;
use linerate_formats::bounds::Limit;
use linerate_formats::series::{self as theirs, Column, Table};
use rows::{Places, text};
use shape::Shape;
use smol_str::SmolStr;
use std::collections::HashMap;

pub(super) const BENCHMARK: Benchmark = Benchmark { tool: &theirs::TOOL, read, area: Area::Other, secondary: &[] };

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    match theirs::parse(bytes) {
        Err(e) => to.refuse(e.line, e.why.to_string()),
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
    // A label that is cut is no measurement that is missing: a note says it.
    for l in t.left_out.iter().filter(|l| l.limit != Limit::SERIES_TEXT) {
        to.refuse(l.line, l.to_string());
    }
    let nameless = t.notes.iter().any(|n| n.kind == theirs::NoteKind::NoHeader);
    // One column of numbers is a measurement again and again; anything else may be any file with numbers in it.
    let is_repeated = t.columns.len() == 1 && t.len() > 1;
    let has_words = || t.columns.iter().any(|c| matches!(c.cells, theirs::Cells::Labels(_)));
    if nameless && (!is_repeated || has_words()) {
        let line = t.lines.first().copied().unwrap_or(0);
        to.refuse(line, "no line names the columns: what the numbers are is not known");
        return;
    }
    let shape = Shape::of(t);
    let mut runs: Vec<(SmolStr, Run, Places)> = Vec::new();
    let mut by_name: HashMap<SmolStr, usize> = HashMap::new();
    let mut last: Option<usize> = None;
    for row in 0..t.len() {
        // Rows of a run stand together, as a rule: a name is made once for all of them.
        let again = last.filter(|_| shape.run.is_none_or(|c| same(c, row)));
        let at = again.unwrap_or_else(|| {
            let name = shape.run.map_or_else(SmolStr::default, |c| text(c, row).unwrap_or_default());
            *by_name.entry(name).or_insert_with_key(|name| {
                runs.push((name.clone(), shape.begin(name), Places::default()));
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
        run.notes.extend(notes(t));
        if run.points() == 0 && several {
            to.refuse(line, format!("run {name} has no numbers"));
            continue;
        }
        to.run(run, line);
    }
}

/// Whether a cell holds what the one above it holds.
fn same(c: &Column, row: usize) -> bool {
    let Some(above) = row.checked_sub(1) else { return false };
    match &c.cells {
        theirs::Cells::Numbers(all) => all.get(row).map(|v| v.to_bits()) == all.get(above).map(|v| v.to_bits()),
        theirs::Cells::Labels(l) => l.rows.get(row) == l.rows.get(above),
    }
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
    let cut = t.left_out.iter().filter(|l| l.limit == Limit::SERIES_TEXT);
    let cut = cut.map(|l| Note { what: l.to_string(), line: Some(l.line) });
    let of = |n: &theirs::Note| Note { what: format!("column {}: {}", n.column, word(n.kind)), line: Some(n.line) };
    t.notes.iter().map(of).chain(cut).collect()
}
