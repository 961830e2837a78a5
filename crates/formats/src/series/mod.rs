//! Measurements as plain tables: CSV, TSV, semicolon CSV, Markdown tables, JSON lines, a JSON array of objects.
//!
//! A table is read by its names: which column is the time, the step, the message size, the run, a label or a metric, and in which
//! unit. Rules that are not the data's own are stated here:
//! * A size without a unit is in bytes. `8M` and `1 GiB` are powers of 2¹⁰. `1 MB` is 2²⁰ where every number of the column that has
//!   such a unit is a power of two (the sweeps of nccl-tests and their like: 1, 4, 16, … 2048 MB), else 10⁶. Which one was taken is a
//!   note of the table.
//! * A comma is a decimal comma where fields are not parted by commas and a cell can be nothing else (`12,5`); it sets off
//!   thousands where a cell can be nothing else (`1,234,567`, `1,234.5`). Where all cells with a comma could be either (`1,234`),
//!   they are refused.
//! * An empty cell, `-`, `NA`, `N/A`, `null` and `None` are missing. `nan` and `inf` are refused: they are no measurements.
//! * In JSON, objects in an object are joined to `outer.inner`; lists are not read.

mod build;
mod cell;
mod delimited;
mod json;
mod markdown;
mod names;
mod table;

pub use names::{Role, Unit, UnitText, split};
pub use table::{Cells, Column, Form, Labels, Note, NoteKind, Refused, Table};

use crate::error::{ParseError, Why};
use crate::text;
use crate::tool::{Mark, Tool, seen};

/// A table of measurements. Those who look for facts about a node do not know it.
pub const TOOL: Tool = Tool {
    name: "series",
    called: "table of measurements",
    run: "any program that writes CSV, Markdown or JSON lines",
    marks: &[Mark::last(is_measured)],
    read: Some(|b| seen(parse(b).is_ok())),
    samples: &[
        "time,busbw (GB/s)\n0,93.1\n1,93.2\n",
        "| size | GB/s |\n|---|---|\n| 1 MB | 5.91 |\n",
        "{\"step\": 1, \"loss\": 2.5}\n{\"step\": 2, \"loss\": 2.4}\n",
    ],
    ..Tool::NONE
};

/// A column of numbers that is a metric by its unit or its name, or beside a time, a step, a size or a run. The text may be a
/// beginning alone, and its last line cut.
fn is_measured(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "bw",
        "bandwidth",
        "busbw",
        "algbw",
        "latency",
        "lat",
        "loss",
        "throughput",
        "tps",
        "tflops",
        "mfu",
        "rate",
        "jitter",
        "iops",
    ];
    let whole = text.rfind('\n').map_or(text, |at| text.get(..=at).unwrap_or(text));
    let Ok(tables) = parse(whole.as_bytes()) else { return false };
    tables.iter().any(|t| {
        let rows = t.len();
        let refused = t.refused.len() as u64 + t.refused_not_kept;
        let is_ordered = t.columns.iter().any(|c| matches!(c.role, Role::Time | Role::Step | Role::Size | Role::Run));
        let is_measured = |c: &Column| {
            let name = c.name.to_ascii_lowercase();
            let mut words = name.split(|x: char| !x.is_ascii_alphanumeric());
            is_ordered || c.unit.as_ref().is_some_and(|u| u.unit.is_some()) || words.any(|w| WORDS.contains(&w))
        };
        let mut metrics = t.of(Role::Metric).filter(|c| (0..rows).any(|r| c.number(r).is_some()));
        t.columns.len() > 1 && refused <= rows as u64 && metrics.any(is_measured)
    })
}

/// Reads the tables of a text. A text without any is an error that says why.
pub fn parse(bytes: &[u8]) -> Result<Vec<Table>, ParseError> {
    let text = text::decode(bytes);
    let first = text::lines(&text).map(|(_, l)| l.trim()).find(|l| !l.is_empty() && !l.starts_with('#'));
    let tables = match first.map(str::as_bytes) {
        None => return Err(ParseError::new(0, Why::Missing("the text is empty"))),
        Some([b'{', ..]) => json::lines(&text)?,
        Some([b'[', rest @ ..]) if matches!(rest.trim_ascii_start().first(), None | Some(b'{' | b']')) => {
            json::array(&text)?
        }
        Some(_) => {
            let tables = markdown::parse(&text);
            if tables.is_empty() { delimited::parse(&text)? } else { tables }
        }
    };
    match tables.iter().any(|t| t.has_numbers()) {
        true => Ok(tables),
        false => Err(ParseError::new(0, Why::Foreign("no column has numbers: there is nothing to compare"))),
    }
}

#[cfg(test)]
mod tests;
