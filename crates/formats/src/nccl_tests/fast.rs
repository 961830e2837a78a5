//! Rows that are as the header says, which nearly all are. What is in any way odd is left to the reader that tells why.

use super::columns::{self, Columns, Field, Lead};
use super::run::{Delta, Errors, Measure, PerIteration, Row};
use crate::number::Fields;
use crate::units::{Bytes, GBps, Microseconds, Percent};
use smol_str::SmolStr;

/// Reads a row that has all its words and no others.
pub(super) fn row(line: u32, bytes: &[u8], table: &Columns) -> Option<Row> {
    let mut words = Fields::new(untagged(bytes));
    let mut row = Row {
        line,
        size: Bytes(0),
        count: None,
        dtype: SmolStr::default(),
        redop: None,
        root: None,
        out_of_place: None,
        in_place: None,
        each: None,
    };
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
        let (measure, each) = measure(&mut words, &group.fields, table.milliseconds)?;
        if let Some(each) = each {
            row.set_per_iteration(group.in_place, each);
        }
        let slot = if group.in_place { &mut row.in_place } else { &mut row.out_of_place };
        *slot = Some(measure);
    }
    words.next().is_none().then_some(row)
}

fn measure(words: &mut Fields<'_>, fields: &[Field], milliseconds: bool) -> Option<(Measure, Option<PerIteration>)> {
    let time = |v: f64| if milliseconds { Microseconds::from_milliseconds(v) } else { Microseconds(v) };
    let none = Microseconds(0.0);
    let mut m = Measure { time: none, algbw: GBps(0.0), busbw: GBps(0.0), errors: Errors::NotShown };
    let mut each = PerIteration { min: none, max: none, p99: none, cv: Percent(0.0), more: None };
    let mut has_each = false;
    for field in fields {
        match field {
            Field::Wrong => {
                m.errors = match words.next()? {
                    b"0" => Errors::Wrong(0),
                    b"N/A" => Errors::NotChecked,
                    number => Errors::Wrong(Fields::new(number).whole()?),
                }
            }
            Field::Delta => {
                m.errors = match words.next()? {
                    b"0e+00" => Errors::Delta(Delta(0.0)),
                    b"N/A" => Errors::NotChecked,
                    number => Errors::Delta(Delta(exponent(number)?)),
                }
            }
            Field::Check => return None,
            Field::Time => m.time = time(words.decimal()?),
            Field::AlgBw => m.algbw = GBps(words.decimal()?),
            Field::BusBw => m.busbw = GBps(words.decimal()?),
            Field::IterMin => each.min = time(words.decimal()?),
            Field::IterMax => each.max = time(words.decimal()?),
            Field::IterP99 => each.p99 = time(words.decimal()?),
            Field::IterCv => {
                each.cv = Percent(words.decimal()?);
                has_each = true;
            }
        }
    }
    Some((m, has_each.then_some(each)))
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
