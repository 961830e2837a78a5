//! Fills the columns of a table, and decides at its end what was open: commas, sizes in MB, roles.

use super::cell::{self, Cell, Comma};
use super::names::{self, Role, Unit, UnitText};
use super::table::{Cells, Column, Form, Labels, Note, NoteKind, Refused, Table};
use crate::bounds::{LeftOut, Limit, SERIES_COLUMNS, SERIES_REFUSED, SERIES_ROWS, SERIES_TEXT, leave_out};
use crate::error::{Why, shown};
use smol_str::SmolStr;
use std::collections::HashMap;

/// Cells that there may be in any case.
const MIN_BUDGET: usize = 65_536;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// Nothing so far.
    #[default]
    Unknown,
    Numbers,
    Clock,
    Words,
}

#[derive(Debug, Default)]
struct Tally {
    numbers: u32,
    clocks: u32,
    words: u32,
}

#[derive(Debug)]
struct Col {
    /// As written.
    raw: SmolStr,
    name: SmolStr,
    unit: Option<UnitText>,
    role: Role,
    kind: Kind,
    tally: Tally,
    numbers: Vec<f64>,
    labels: Labels,
    places: HashMap<SmolStr, u32>,
    commas: Vec<(usize, Comma)>,
    /// Sizes in units that are 10³ or 2¹⁰: the row, and the power.
    sizes: Vec<(usize, i32)>,
}

/// A table that is being read.
#[derive(Debug)]
pub(super) struct Builder {
    form: Form,
    columns: Vec<Col>,
    lines: Vec<u32>,
    /// Counts what cells are, and keeps none.
    is_sample: bool,
    /// Cells that there may be, missing ones included: as many as the text has bytes. Objects may lack most of their fields.
    budget: usize,
    /// Something of the row that was begun is stored.
    is_dirty: bool,
    left_out: Vec<LeftOut>,
    refused: Vec<Refused>,
    refused_not_kept: u64,
    notes: Vec<Note>,
}

impl Builder {
    pub(super) fn new(form: Form, is_sample: bool, budget: usize) -> Self {
        Builder {
            form,
            columns: Vec::new(),
            lines: Vec::new(),
            is_sample,
            budget,
            is_dirty: false,
            left_out: Vec::new(),
            refused: Vec::new(),
            refused_not_kept: 0,
            notes: Vec::new(),
        }
    }

    /// An empty table with the columns of a sample, each of the kind that most of its cells have.
    pub(super) fn from_sample(sample: Builder) -> Self {
        let mut new = Builder::new(sample.form, false, sample.budget);
        // Objects name their columns again.
        if !matches!(sample.form, Form::JsonLines | Form::JsonArray) {
            new.left_out = sample.left_out;
        }
        for col in sample.columns {
            let Tally { numbers, clocks, words } = col.tally;
            new.push_column(&col.raw);
            let kind = match () {
                () if words > numbers && words >= clocks => Kind::Words,
                () if clocks > numbers && col.role == Role::Time => Kind::Clock,
                () if clocks > numbers => Kind::Words,
                () if numbers > 0 => Kind::Numbers,
                () => Kind::Unknown,
            };
            if let Some(col) = new.columns.last_mut() {
                col.kind = kind;
            }
        }
        new
    }

    /// Adds a column by its name; its place.
    pub(super) fn push_column(&mut self, raw: &str) -> Option<usize> {
        let cells = self.lines.len().saturating_mul(self.columns.len() + 1);
        if self.columns.len() >= SERIES_COLUMNS || cells > self.budget.max(MIN_BUDGET) {
            self.leave_out(Limit::SERIES_COLUMNS);
            return None;
        }
        let (name, unit) = names::split(raw);
        let role = names::role(&name, unit.as_ref().and_then(|u| u.unit));
        self.columns.push(Col {
            raw: SmolStr::new(raw),
            name,
            unit,
            role,
            kind: Kind::Unknown,
            tally: Tally::default(),
            numbers: Vec::new(),
            labels: Labels::default(),
            places: HashMap::new(),
            commas: Vec::new(),
            sizes: Vec::new(),
        });
        Some(self.columns.len() - 1)
    }

    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn name(&self, column: usize) -> Option<&str> {
        self.columns.get(column).map(|c| c.raw.as_str())
    }

    pub(super) fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Begins a row; `false` where the table is full.
    pub(super) fn begin_row(&mut self, line: u32) -> bool {
        let cells = self.lines.len().saturating_mul(self.columns.len().max(1));
        if self.lines.len() >= SERIES_ROWS || cells >= self.budget.max(MIN_BUDGET) {
            leave_out(&mut self.left_out, Limit::SERIES_ROWS, line);
            return false;
        }
        self.lines.push(line);
        self.is_dirty = false;
        true
    }

    /// Counts something of the row that was begun, or of the head, that is beyond a limit.
    pub(super) fn leave_out(&mut self, limit: Limit) {
        let line = self.lines.last().copied().unwrap_or(1);
        leave_out(&mut self.left_out, limit, line);
    }

    /// Counts what begins at a line and is beyond a limit.
    pub(super) fn leave_out_at(&mut self, limit: Limit, line: u32) {
        leave_out(&mut self.left_out, limit, line);
    }

    /// Takes back the row that was begun.
    pub(super) fn drop_row(&mut self) {
        self.lines.pop();
        if !std::mem::take(&mut self.is_dirty) {
            return;
        }
        let rows = self.lines.len();
        for col in &mut self.columns {
            col.numbers.truncate(rows);
            col.labels.rows.truncate(rows);
            while col.commas.last().is_some_and(|(r, _)| *r >= rows) {
                col.commas.pop();
            }
            while col.sizes.last().is_some_and(|(r, _)| *r >= rows) {
                col.sizes.pop();
            }
        }
    }

    pub(super) fn refuse(&mut self, line: u32, column: Option<usize>, why: impl FnOnce() -> Why) {
        if self.refused.len() < SERIES_REFUSED {
            let column = column.and_then(|c| self.columns.get(c)).map(|c| c.name.clone());
            self.refused.push(Refused { line, column, why: why() });
        } else {
            self.refused_not_kept += 1;
        }
    }

    pub(super) fn note(&mut self, line: u32, column: usize, kind: NoteKind) {
        let column = self.columns.get(column).map(|c| c.name.clone()).unwrap_or_default();
        if self.notes.len() < SERIES_REFUSED && self.notes.iter().all(|n| n.kind != kind || n.column != column) {
            self.notes.push(Note { line, column, kind });
        }
    }

    /// Takes a number of the row that was begun.
    pub(super) fn number(&mut self, column: usize, value: f64) {
        let row = self.lines.len().saturating_sub(1);
        self.is_dirty = true;
        let is_sample = self.is_sample;
        let Some(col) = self.columns.get_mut(column) else { return };
        match col.kind {
            _ if is_sample => col.tally.numbers += 1,
            Kind::Words => {
                col.word(row, &value.to_string());
            }
            Kind::Clock => self.odd(column, &value.to_string()),
            Kind::Numbers | Kind::Unknown => {
                col.kind = Kind::Numbers;
                col.put(row, value);
            }
        }
    }

    /// Takes a cell of the row that was begun.
    pub(super) fn text(&mut self, column: usize, text: &str) {
        let row = self.lines.len().saturating_sub(1);
        self.is_dirty = true;
        let is_sample = self.is_sample;
        let Some(col) = self.columns.get_mut(column) else { return };
        if col.kind == Kind::Words {
            if col.word(row, text.trim()) {
                self.leave_out(Limit::SERIES_TEXT);
            }
            return;
        }
        let cell = cell::read(text);
        if is_sample {
            match cell {
                Cell::Missing | Cell::NotFinite => {}
                Cell::Number(_) | Cell::WithUnit(..) | Cell::Comma(_) => col.tally.numbers += 1,
                Cell::Clock(_) => col.tally.clocks += 1,
                Cell::Word => col.tally.words += 1,
            }
            return;
        }
        match (cell, col.kind) {
            (Cell::Missing, _) => {}
            (Cell::Number(v), Kind::Numbers) => col.put(row, v),
            (Cell::Number(v), Kind::Unknown) => {
                col.kind = Kind::Numbers;
                col.put(row, v);
            }
            (Cell::WithUnit(v, word, unit), Kind::Numbers | Kind::Unknown) => {
                col.kind = Kind::Numbers;
                if !col.with_unit(row, v, word, unit) {
                    self.odd(column, text);
                }
            }
            (Cell::Comma(comma), Kind::Numbers | Kind::Unknown) => {
                col.kind = Kind::Numbers;
                col.put(row, f64::NAN);
                col.commas.push((row, comma));
            }
            #[allow(clippy::cast_precision_loss)] // Milliseconds since 1970 are exact.
            (Cell::Clock(ms), Kind::Clock) => col.put(row, ms as f64 / 1000.0),
            #[allow(clippy::cast_precision_loss)]
            (Cell::Clock(ms), Kind::Unknown) if col.role == Role::Time => {
                col.kind = Kind::Clock;
                col.put(row, ms as f64 / 1000.0);
            }
            (Cell::Word | Cell::Clock(_), Kind::Unknown) => {
                col.kind = Kind::Words;
                if col.word(row, text.trim()) {
                    self.leave_out(Limit::SERIES_TEXT);
                }
            }
            _ => self.odd(column, text),
        }
    }

    fn odd(&mut self, column: usize, text: &str) {
        let line = self.lines.last().copied().unwrap_or_default();
        self.refuse(line, Some(column), || Why::Word { word: shown(text.trim(), 32), is: "not a measurement" });
    }

    /// The table, with what was open decided.
    pub(super) fn finish(mut self) -> Table {
        let rows = self.lines.len();
        self.commas();
        self.sizes();
        let mut columns = Vec::with_capacity(self.columns.len());
        for mut col in std::mem::take(&mut self.columns) {
            let cells = match col.kind {
                Kind::Words => {
                    col.labels.rows.resize(rows, Labels::MISSING);
                    if col.role != Role::Run {
                        col.role = Role::Label;
                    }
                    Cells::Labels(col.labels)
                }
                kind => {
                    col.numbers.resize(rows, f64::NAN);
                    if kind == Kind::Clock {
                        let first = col.numbers.iter().copied().fold(f64::INFINITY, f64::min);
                        col.numbers.iter_mut().for_each(|v| *v = ((*v - first) * 1000.0).round() / 1000.0);
                        col.unit = Some(UnitText { text: SmolStr::new("s"), unit: Some(Unit::Second) });
                    }
                    col.role = judged(col.role, &mut col.numbers, &mut col.unit);
                    Cells::Numbers(col.numbers)
                }
            };
            columns.push(Column { name: col.name, unit: col.unit, role: col.role, cells });
        }
        Table {
            form: self.form,
            columns,
            lines: self.lines,
            refused: self.refused,
            refused_not_kept: self.refused_not_kept,
            left_out: self.left_out,
            notes: self.notes,
        }
    }

    /// What the commas of the whole table are.
    fn commas(&mut self) {
        let all = || self.columns.iter().flat_map(|c| &c.commas).map(|(_, c)| *c);
        let is_decimal = all().any(|c| matches!(c, Comma::Decimal(_)));
        let is_thousands = all().any(|c| matches!(c, Comma::Thousands(_)));
        for i in 0..self.columns.len() {
            let commas = self.columns.get_mut(i).map(|c| std::mem::take(&mut c.commas)).unwrap_or_default();
            for (row, comma) in commas {
                let line = self.lines.get(row).copied().unwrap_or_default();
                let (value, kind) = match comma {
                    Comma::Decimal(v) => (Some(v), NoteKind::DecimalComma),
                    Comma::Thousands(v) => (Some(v), NoteKind::ThousandsComma),
                    Comma::Either(v, _) if is_decimal && !is_thousands => (Some(v), NoteKind::DecimalComma),
                    Comma::Either(_, v) if is_thousands && !is_decimal => (Some(v), NoteKind::ThousandsComma),
                    Comma::Either(..) => (None, NoteKind::ThousandsComma),
                };
                match value {
                    Some(v) => {
                        self.note(line, i, kind);
                        if let Some(cell) = self.columns.get_mut(i).and_then(|c| c.numbers.get_mut(row)) {
                            *cell = v;
                        }
                    }
                    None => self.refuse(line, Some(i), || {
                        Why::Unclear(
                            "the comma can be a decimal sign or set off thousands: write the number without it",
                        )
                    }),
                }
            }
        }
    }

    /// What MB is, by column.
    fn sizes(&mut self) {
        for i in 0..self.columns.len() {
            let Some(col) = self.columns.get_mut(i) else { continue };
            let by_name = col.unit.as_ref().and_then(|u| u.unit).and_then(power_of);
            if col.role == Role::Size
                && let Some(power) = by_name
            {
                let rows = 0..col.numbers.len();
                col.sizes =
                    rows.filter(|r| col.numbers.get(*r).is_some_and(|v| v.is_finite())).map(|r| (r, power)).collect();
            }
            if col.sizes.is_empty() {
                continue;
            }
            let is_power = |v: f64| v >= 1.0 && v.fract() == 0.0 && v < 1e15 && v.log2().fract() == 0.0;
            let is_binary = col.sizes.iter().all(|(r, _)| col.numbers.get(*r).is_some_and(|v| is_power(*v)));
            let base: f64 = if is_binary { 1024.0 } else { 1000.0 };
            let first = col.sizes.first().map_or(0, |(r, _)| *r);
            for (row, power) in std::mem::take(&mut col.sizes) {
                if let Some(v) = col.numbers.get_mut(row) {
                    *v *= base.powi(power);
                }
            }
            col.unit = Some(UnitText { text: SmolStr::new("B"), unit: Some(Unit::Byte) });
            let line = self.lines.get(first).copied().unwrap_or_default();
            self.note(line, i, if is_binary { NoteKind::BinarySizes } else { NoteKind::DecimalSizes });
        }
    }
}

/// The power of a unit of size that is 10³ or 2¹⁰.
fn power_of(unit: Unit) -> Option<i32> {
    match unit {
        Unit::Kilobyte => Some(1),
        Unit::Megabyte => Some(2),
        Unit::Gigabyte => Some(3),
        _ => None,
    }
}

/// The power of a unit of size that is 2¹⁰.
fn binary_power_of(unit: Unit) -> Option<i32> {
    match unit {
        Unit::Byte => Some(0),
        Unit::Kibibyte => Some(1),
        Unit::Mebibyte => Some(2),
        Unit::Gibibyte => Some(3),
        _ => None,
    }
}

impl Col {
    fn put(&mut self, row: usize, value: f64) {
        if self.numbers.len() < row {
            self.numbers.resize(row, f64::NAN);
        }
        if self.numbers.len() == row {
            self.numbers.push(value);
        }
    }

    /// A number with its unit; whether the unit fits the column.
    fn with_unit(&mut self, row: usize, value: f64, word: &str, unit: Unit) -> bool {
        if self.role == Role::Size {
            if let Some(power) = binary_power_of(unit) {
                self.put(row, value * 1024_f64.powi(power));
                return true;
            }
            if let Some(power) = power_of(unit) {
                self.put(row, value);
                self.sizes.push((row, power));
                return true;
            }
            return false;
        }
        let known = self.unit.get_or_insert_with(|| UnitText { text: SmolStr::new(word), unit: Some(unit) });
        let fits = known.unit == Some(unit);
        if fits {
            self.put(row, value);
        }
        fits
    }

    /// Takes a label; whether it was cut.
    fn word(&mut self, row: usize, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        if self.labels.rows.len() < row {
            self.labels.rows.resize(row, Labels::MISSING);
        }
        if self.labels.rows.len() > row {
            return false;
        }
        let whole = text.len();
        let text = text.char_indices().nth(SERIES_TEXT).and_then(|(at, _)| text.get(..at)).unwrap_or(text);
        let is_cut = text.len() < whole;
        // Mostly the word of the row before.
        if let Some(last) = self.labels.rows.last().copied()
            && self.labels.words.get(last as usize).is_some_and(|w| w == text)
        {
            self.labels.rows.push(last);
            return is_cut;
        }
        let place = match self.places.get(text) {
            Some(place) => *place,
            None => {
                let place = u32::try_from(self.labels.words.len()).unwrap_or(Labels::MISSING);
                self.labels.words.push(SmolStr::new(text));
                self.places.insert(SmolStr::new(text), place);
                place
            }
        };
        self.labels.rows.push(place);
        is_cut
    }
}

/// The role, after a look at the cells; times and sizes in their own units.
fn judged(role: Role, numbers: &mut [f64], unit: &mut Option<UnitText>) -> Role {
    let of = unit.as_ref().and_then(|u| u.unit);
    let mut scale = |factor: f64, text: &str, to: Unit| {
        numbers.iter_mut().for_each(|v| *v *= factor);
        *unit = Some(UnitText { text: SmolStr::new(text), unit: Some(to) });
    };
    match (role, of) {
        (Role::Size, Some(Unit::Kibibyte)) => scale(1024.0, "B", Unit::Byte),
        (Role::Size, Some(Unit::Mebibyte)) => scale(1_048_576.0, "B", Unit::Byte),
        (Role::Size, Some(Unit::Gibibyte)) => scale(1_073_741_824.0, "B", Unit::Byte),
        (Role::Time, Some(Unit::Millisecond)) => scale(1e-3, "s", Unit::Second),
        (Role::Time, Some(Unit::Microsecond)) => scale(1e-6, "s", Unit::Second),
        (Role::Time, Some(Unit::Nanosecond)) => scale(1e-9, "s", Unit::Second),
        _ => {}
    }
    let seen = || numbers.iter().copied().filter(|v| v.is_finite());
    let pairs = || seen().zip(seen().skip(1));
    match role {
        // A clock goes forward; now and then runs follow each other, or lines of several ranks overtake.
        Role::Time if pairs().filter(|(a, b)| b < a).count() * 4 > pairs().count() => Role::Metric,
        // A step that never goes on tells rows apart, or nothing.
        Role::Step if pairs().all(|(a, b)| b <= a) && seen().count() > 1 => Role::Label,
        Role::Size if seen().any(|v| v < 0.0 || v.fract() != 0.0) => Role::Metric,
        role => role,
    }
}
