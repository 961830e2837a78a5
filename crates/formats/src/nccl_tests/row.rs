//! A row of a table.

use super::columns::{Cells, Columns, Field, Group, Lead, guess, is_op, is_type};
use super::run::{Delta, Errors, Row};
use crate::error::{ParseError, Why};
use crate::text::words;
use crate::units::Bytes;
use smol_str::SmolStr;

/// A row whose line was broken by another's output: what it has so far.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) row: Row,
    pub(super) next_group: usize,
}

/// What a line is, seen as a row.
#[derive(Debug)]
pub(super) enum Seen {
    /// A row, with measurements that could not be read.
    Row(Row, Vec<ParseError>),
    /// A row that may go on in a later line, and where in this line another's output begins.
    Open(Open, usize),
    /// Looks like a row but is not one.
    Refused(ParseError),
    /// Something else.
    Other,
}

/// Words in front of a row that may be tags of unknown form.
const MAX_TAGS: usize = 6;

/// Columns of blanks that stand for a measurement which was not made.
const BLANK_MEASURE: usize = 24;

/// Reads a line. Without `columns` they are concluded from the line itself.
pub(super) fn read(line: u32, text: &str, columns: Option<&Columns>) -> Seen {
    let all: Vec<&str> = words(text).take(64).collect();
    for start in 0..all.len().min(MAX_TAGS) {
        let rest = all.get(start..).unwrap_or_default();
        let seen = match columns {
            Some(columns) => with(line, text, rest, columns),
            None => without(line, text, rest),
        };
        if !matches!(seen, Seen::Other) {
            return seen;
        }
    }
    Seen::Other
}

fn without(line: u32, text: &str, words: &[&str]) -> Seen {
    let [size, count, kind, rest @ ..] = words else { return Seen::Other };
    if size.parse::<u64>().is_err() || count.parse::<u64>().is_err() || !is_type(kind) {
        return Seen::Other;
    }
    match guess(rest) {
        Ok(columns) => with(line, text, words, &columns),
        Err(why) => Seen::Refused(ParseError { line, why }),
    }
}

fn with(line: u32, text: &str, words: &[&str], columns: &Columns) -> Seen {
    let [size, count, kind, ..] = words else { return Seen::Other };
    if kind.parse::<f64>().is_ok() || count.parse::<u64>().is_err() {
        return Seen::Other;
    }
    let Ok(size) = size.parse::<u64>() else {
        let looks_like_a_row = size.starts_with(|c: char| c.is_ascii_digit()) && is_type(kind);
        let why = || Why::word(size, "not a number of bytes; the tests print plain numbers");
        return if looks_like_a_row { Seen::Refused(ParseError { line, why: why() }) } else { Seen::Other };
    };
    let Some((mut row, taken)) = lead(line, size, words, columns) else { return Seen::Other };
    let mut rest = words.get(taken..).unwrap_or_default();
    let mut refused = Vec::new();
    let mut next = 0;
    // Another's output may follow without a blank.
    let may_be_glued = is_log(text) || text.contains("failure");
    let mut end = taken.checked_sub(1).and_then(|i| words.get(i)).map_or(0, |w| offset(text, w) + lead_len(w));
    if is_blank_before(text, rest) && rest.len() < measures(columns) {
        // The first measurement was not made: its columns are blank.
        next = 1;
    }
    while let Some(group) = columns.groups.get(next) {
        let Some((mine, after)) = rest.split_at_checked(group.fields.len()) else { break };
        let (last, before) = mine.split_last().unwrap_or((&"", &[]));
        let last_own = if may_be_glued { unglued(last) } else { last };
        let own: Vec<&str> = before.iter().copied().chain([last_own]).collect();
        match measure(&own, group, columns.milliseconds) {
            Ok(m) => {
                m.put(&mut row, group.in_place);
                end = offset(text, last) + last_own.len();
            }
            Err(_) if may_be_glued => break,
            Err(why) => refused.push(ParseError { line, why }),
        }
        if last_own.len() < last.len() {
            (rest, next) = (&[], next + 1);
            break;
        }
        (rest, next) = (after, next + 1);
    }
    let complete = next >= columns.groups.len();
    if row.out_of_place.is_none() && row.in_place.is_none() {
        return match refused.into_iter().next() {
            Some(first) => Seen::Refused(first),
            // Size, count and type alone are three words of anything.
            None if taken > 3 || is_type(row.dtype.as_str()) => Seen::Open(Open { row, next_group: next }, end),
            None => Seen::Other,
        };
    }
    // Numbers where the line should have ended: these are not the header's columns.
    if complete && rest.first().is_some_and(|w| w.parse::<f64>().is_ok()) && !is_log(text) {
        return Seen::Refused(ParseError { line, why: Why::Impossible("it has more columns than the header names") });
    }
    if complete { Seen::Row(row, refused) } else { Seen::Open(Open { row, next_group: next }, end) }
}

/// The rest of a row that was broken: measurements alone. Whether the row is complete now; `None` where the line is no such rest.
pub(super) fn go_on(open: &mut Open, text: &str, columns: &Columns) -> Option<bool> {
    let all: Vec<&str> = words(text).take(64).collect();
    let mut rest = &all[..];
    let mut found = Vec::new();
    while let Some(group) = columns.groups.get(open.next_group + found.len()) {
        let Some((mine, after)) = rest.split_at_checked(group.fields.len()) else { break };
        let Ok(m) = measure(mine, group, columns.milliseconds) else { break };
        found.push((group, m));
        rest = after;
    }
    let starts_anew = rest.first().is_some_and(|w| w.parse::<f64>().is_ok());
    if found.is_empty() || starts_anew {
        return None;
    }
    open.next_group += found.len();
    found.into_iter().for_each(|(group, m)| m.put(&mut open.row, group.in_place));
    Some(open.next_group >= columns.groups.len())
}

fn measures(columns: &Columns) -> usize {
    columns.groups.iter().map(|g| g.fields.len()).sum()
}

fn is_log(text: &str) -> bool {
    text.contains("NCCL INFO ") || text.contains("NCCL WARN ")
}

/// Whether a whole measurement's width of blanks comes before the first of `rest`.
fn is_blank_before(text: &str, rest: &[&str]) -> bool {
    let Some(first) = rest.first() else { return false };
    let before = text.get(..offset(text, first)).unwrap_or_default();
    before.len() - before.trim_end().len() >= BLANK_MEASURE
}

/// Where a word of `text` begins in it.
fn offset(text: &str, word: &str) -> usize {
    (word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

/// The part of `0node7:31:99` or `N/Anode7:31:99` that is a measurement's.
fn unglued(word: &str) -> &str {
    let end = match word.starts_with("N/A") {
        true => 3,
        false => word.bytes().position(|b| !(b.is_ascii_digit() || b == b'.')).unwrap_or(word.len()),
    };
    let exponent = word.get(end..).and_then(|r| r.strip_prefix(['e'])).and_then(|r| r.strip_prefix(['+', '-']));
    let digits = |r: &str| r.bytes().take_while(u8::is_ascii_digit).count();
    word.get(..exponent.map_or(end, |r| end + 2 + digits(r))).unwrap_or(word)
}

/// The part of `-1node7:31:99` or `sumnode7:31:99` that is a row's.
fn lead_len(word: &str) -> usize {
    let number = word.strip_prefix('-').unwrap_or(word);
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 { word.len() - number.len() + digits } else { known_op(word).map_or(word.len(), str::len) }
}

/// What comes before the measurements, and how many words that is.
fn lead(line: u32, size: u64, words: &[&str], columns: &Columns) -> Option<(Row, usize)> {
    let mut row = Row { line, size: Bytes(size), ..Row::default() };
    let mut taken = 0;
    for column in &columns.lead {
        let Some(word) = words.get(taken) else { return (taken >= 3).then_some((row, taken)) };
        match column {
            Lead::Size => {}
            Lead::Count => row.count = Some(word.parse().ok()?),
            Lead::Type => row.dtype = SmolStr::new(word),
            Lead::Op => {
                // AlltoAll before 2.13 has the heading, and blanks below it.
                if word.parse::<f64>().is_ok() {
                    continue;
                }
                let op = known_op(word)?;
                row.redop = (op != "none").then(|| SmolStr::new(op));
            }
            Lead::Root => row.root = root(word)?,
        }
        taken += 1;
    }
    Some((row, taken))
}

/// The reduction; another's output may follow without a blank.
fn known_op(word: &str) -> Option<&str> {
    if is_op(word) {
        return Some(word);
    }
    ["sum", "prod", "max", "min", "avg", "mulsum", "none"].into_iter().find(|op| word.starts_with(op))
}

/// `-1`: none. Another's output may follow without a blank: `-1node7:31:99 [0] NCCL INFO`.
fn root(word: &str) -> Option<Option<u32>> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let end = digits.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    let (number, after) = digits.split_at_checked(end)?;
    if after.starts_with(|c: char| !c.is_ascii_alphabetic()) {
        return None;
    }
    let value: u32 = number.parse().ok()?;
    Some((!word.starts_with('-')).then_some(value))
}

fn measure(words: &[&str], group: &Group, milliseconds: bool) -> Result<Cells, Why> {
    let mut cells = Cells::default();
    for (word, field) in words.iter().zip(&group.fields) {
        match field {
            Field::Wrong => cells.measure.errors = wrong(word)?,
            Field::Delta => cells.measure.errors = delta(word)?,
            Field::Check if word.contains("e-") || word.ends_with("e+00") => cells.measure.errors = delta(word)?,
            Field::Check => cells.measure.errors = wrong(word)?,
            field => cells.set(*field, number(word)?, milliseconds),
        }
    }
    Ok(cells)
}

/// A number that is one: neither `nan` nor `inf`, and nothing negative.
fn number(word: &str) -> Result<f64, Why> {
    match word.parse::<f64>() {
        Ok(v) if v.is_finite() && v >= 0.0 => Ok(v),
        _ => Err(Why::word(word, "not a measurement")),
    }
}

fn wrong(word: &str) -> Result<Errors, Why> {
    if word == "N/A" {
        return Ok(Errors::NotChecked);
    }
    // Printed with %g: a million is 1e+06.
    let v = number(word.trim_end_matches('*'))?;
    if v.fract() == 0.0 && v < 1e18 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked above.
        return Ok(Errors::Wrong(v as u64));
    }
    Err(Why::word(word, "not a number of wrong elements"))
}

fn delta(word: &str) -> Result<Errors, Why> {
    if word == "N/A" {
        return Ok(Errors::NotChecked);
    }
    number(word.trim_end_matches('*')).map(|v| Errors::Delta(Delta(v)))
}
