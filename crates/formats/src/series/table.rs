//! What a table of measurements says.

use super::names::{Role, UnitText};
use crate::bounds::LeftOut;
use crate::error::Why;
use serde::Serialize;
use smol_str::SmolStr;

/// A table. Columns are stored one by one; all have as many cells as there are rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// How it was written.
    pub form: Form,
    /// The columns.
    pub columns: Vec<Column>,
    /// 1-based line of each row.
    pub lines: Vec<u32>,
    /// Cells and rows that could not be read, and why.
    pub refused: Vec<Refused>,
    /// Those beyond the ones that are kept.
    pub refused_not_kept: u64,
    /// Rows, columns, later tables, objects in objects, ends of long words beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// Which of several readings was taken, and why.
    pub notes: Vec<Note>,
}

/// How a table was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Fields parted by a character: `,`, `;` or a tab.
    Delimited(char),
    /// `| a | b |`.
    Markdown,
    /// An object in each line.
    JsonLines,
    /// A list of objects.
    JsonArray,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Its name as written, without the unit.
    pub name: SmolStr,
    /// Its unit, from the name or the cells.
    pub unit: Option<UnitText>,
    /// What it is for.
    pub role: Role,
    /// What it holds.
    pub cells: Cells,
}

/// Cells of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cells {
    /// Numbers; NaN where a cell is missing or was refused. Sizes are in bytes; times of day in seconds since the first.
    Numbers(Vec<f64>),
    /// Words.
    Labels(Labels),
}

/// Words of a column: each different one once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Labels {
    /// Different words, in the order of their first row.
    pub words: Vec<SmolStr>,
    /// Each row's place among the words; [`Labels::MISSING`] where there is none.
    pub rows: Vec<u32>,
}

impl Labels {
    /// The place of a missing cell.
    pub const MISSING: u32 = u32::MAX;

    /// The word of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.words.get(usize::try_from(*self.rows.get(row)?).ok()?).map(SmolStr::as_str)
    }
}

/// A cell or row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// 1-based line.
    pub line: u32,
    /// The column, where one cell is meant.
    pub column: Option<SmolStr>,
    /// What was wrong.
    pub why: Why,
}

/// Which of several readings was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// 1-based line of the first cell that it concerns.
    pub line: u32,
    /// The column.
    pub column: SmolStr,
    /// Which reading.
    pub kind: NoteKind,
}

/// Which reading was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// `MB` is 2²⁰ bytes (and `KB`, `GB` alike): all numbers are powers of two.
    BinarySizes,
    /// `MB` is 10⁶ bytes: not all numbers are powers of two.
    DecimalSizes,
    /// A comma is the decimal sign.
    DecimalComma,
    /// A comma sets off thousands.
    ThousandsComma,
    /// There is no header: columns are named by their place.
    NoHeader,
    /// Lists in JSON are not read.
    ListsLeftOut,
}

impl Column {
    /// The number in a row.
    pub fn number(&self, row: usize) -> Option<f64> {
        match &self.cells {
            Cells::Numbers(all) => all.get(row).copied().filter(|v| v.is_finite()),
            Cells::Labels(_) => None,
        }
    }

    /// The word in a row.
    pub fn label(&self, row: usize) -> Option<&str> {
        match &self.cells {
            Cells::Labels(labels) => labels.get(row),
            Cells::Numbers(_) => None,
        }
    }
}

impl Table {
    /// Rows.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Columns of a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |c| c.role == role)
    }

    /// Whether any cell of any column is a number.
    pub fn has_numbers(&self) -> bool {
        self.columns.iter().any(|c| matches!(&c.cells, Cells::Numbers(all) if all.iter().any(|v| v.is_finite())))
    }
}
