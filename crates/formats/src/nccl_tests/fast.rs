//! Rows that are as the header says, which nearly all are. What is in any way odd is left to the reader that tells why.

use super::columns::{self, Cells, Columns, Field, Lead};
use super::run::{Delta, Errors, Row};
use crate::number::Fields;
use crate::units::Bytes;
use smol_str::SmolStr;

/// Reads a row that has all its words and no others.
pub(super) fn row(line: u32, bytes: &[u8], table: &Columns) -> Option<Row> {
    let mut words = Fields::new(untagged(bytes));
    let mut row = Row { line, ..Row::default() };
    for lead in &table.lead {
        match lead {
            Lead::Size => row.size = Bytes(words.whole()?),
            Lead::Count => row.count = Some(words.whole()?),
            Lead::Type => row.dtype = SmolStr::new_static(columns::element(words.next()?)?),
            Lead::Op => {
                let op = columns::op(words.next()?)?;
                row.redop = (op != "none").then(|| SmolStr::new_static(op));
            }
            Lead::Root => match words.next()? {
                b"-1" => {}
                root => row.root = Some(std::str::from_utf8(root).ok()?.parse().ok()?),
            },
        }
    }
    for group in &table.groups {
        cells(&mut words, &group.fields, table.milliseconds)?.put(&mut row, group.in_place);
    }
    words.next().is_none().then_some(row)
}

fn cells(words: &mut Fields<'_>, fields: &[Field], milliseconds: bool) -> Option<Cells> {
    let mut cells = Cells::default();
    for field in fields {
        match field {
            Field::Wrong => {
                cells.measure.errors = match words.next()? {
                    b"0" => Errors::Wrong(0),
                    b"N/A" => Errors::NotChecked,
                    number => Errors::Wrong(Fields::new(number).whole()?),
                }
            }
            Field::Delta => {
                cells.measure.errors = match words.next()? {
                    b"0e+00" => Errors::Delta(Delta(0.0)),
                    b"N/A" => Errors::NotChecked,
                    number => Errors::Delta(Delta(exponent(number)?)),
                }
            }
            Field::Check => return None,
            field => cells.set(*field, words.decimal()?, milliseconds),
        }
    }
    Some(cells)
}

/// `1e-07`, `0.00`.
fn exponent(word: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(word).ok()?;
    text.parse().ok().filter(|v: &f64| v.is_finite() && *v >= 0.0)
}

/// The line behind mpirun's tag, `[1,0]<stdout>:`.
fn untagged(bytes: &[u8]) -> &[u8] {
    if bytes.first() != Some(&b'[') {
        return bytes;
    }
    let head = bytes.get(..64).unwrap_or(bytes);
    let after = memchr::memchr(b'>', head).and_then(|at| bytes.get(at + 1..));
    after.map_or(bytes, |rest| rest.strip_prefix(b":").unwrap_or(rest))
}
