//! Rows that are as the header says, which nearly all are. What is in any way odd is left to the reader that tells why.

use super::columns::{Columns, Field, Lead, is_op, is_type};
use super::run::{Delta, Errors, Measure, PerIteration, Row};
use crate::number::{Fields, simple, whole};
use crate::units::{Bytes, GBps, Microseconds, Percent};
use smol_str::SmolStr;

/// Reads a row that has all its words and no others.
pub(super) fn row(line: u32, bytes: &[u8], columns: &Columns) -> Option<Row> {
    let mut words = Fields::new(untagged(bytes));
    let text = |word| std::str::from_utf8(word).ok();
    let mut row = Row {
        line,
        size: Bytes(0),
        count: None,
        dtype: SmolStr::default(),
        redop: None,
        root: None,
        out_of_place: None,
        in_place: None,
    };
    for lead in &columns.lead {
        let word = words.next()?;
        match lead {
            Lead::Size => row.size = Bytes(whole(word)?),
            Lead::Count => row.count = Some(whole(word)?),
            Lead::Type => row.dtype = text(word).filter(|w| is_type(w)).map(SmolStr::new_inline)?,
            Lead::Op => {
                let op = text(word).filter(|w| is_op(w))?;
                row.redop = (op != "none").then(|| SmolStr::new_inline(op));
            }
            Lead::Root if word == b"-1" => {}
            Lead::Root => row.root = Some(u32::try_from(whole(word)?).ok()?),
        }
    }
    for group in &columns.groups {
        let measure = measure(&mut words, &group.fields, columns.milliseconds)?;
        let slot = if group.in_place { &mut row.in_place } else { &mut row.out_of_place };
        *slot = Some(measure);
    }
    words.next().is_none().then_some(row)
}

fn measure(words: &mut Fields<'_>, fields: &[Field], milliseconds: bool) -> Option<Measure> {
    let time = |v: f64| if milliseconds { Microseconds::from_milliseconds(v) } else { Microseconds(v) };
    let none = Microseconds(0.0);
    let mut m =
        Measure { time: none, algbw: GBps(0.0), busbw: GBps(0.0), errors: Errors::NotShown, per_iteration: None };
    let mut each = PerIteration { min: none, max: none, p99: none, cv: Percent(0.0), more: None };
    for field in fields {
        let word = words.next()?;
        match field {
            Field::Wrong | Field::Delta if word == b"N/A" => m.errors = Errors::NotChecked,
            Field::Wrong => m.errors = Errors::Wrong(whole(word)?),
            Field::Delta => m.errors = Errors::Delta(Delta(exponent(word)?)),
            Field::Check => return None,
            Field::Time => m.time = time(simple(word)?),
            Field::AlgBw => m.algbw = GBps(simple(word)?),
            Field::BusBw => m.busbw = GBps(simple(word)?),
            Field::IterMin => each.min = time(simple(word)?),
            Field::IterMax => each.max = time(simple(word)?),
            Field::IterP99 => each.p99 = time(simple(word)?),
            Field::IterCv => {
                each.cv = Percent(simple(word)?);
                m.per_iteration = Some(each);
            }
        }
    }
    Some(m)
}

/// `0e+00`, `1e-07`, `0.00`.
fn exponent(word: &[u8]) -> Option<f64> {
    if word == b"0e+00" {
        return Some(0.0);
    }
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
