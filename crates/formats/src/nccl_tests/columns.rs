//! The header of a table: which columns there are.

use super::run::{Measure, PerIteration, Row};
use crate::error::Why;
use crate::units::{GBps, Microseconds, Percent};

/// A column before the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    Size,
    Count,
    Type,
    Op,
    Root,
}

/// A column of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Time,
    AlgBw,
    BusBw,
    /// `#wrong`.
    Wrong,
    /// `error`, `res`: a difference.
    Delta,
    /// A column after the bandwidths, whose heading is missing.
    Check,
    IterMin,
    IterMax,
    IterP99,
    IterCv,
}

/// One measurement of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) in_place: bool,
    pub(super) fields: Vec<Field>,
}

/// What the columns of a [`Group`] say, as they are read.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) measure: Measure,
    each: PerIteration,
    has_each: bool,
}

impl Cells {
    /// Takes the number of a column. Errors are not plain numbers: who reads them sets them.
    #[inline]
    pub(super) fn set(&mut self, field: Field, v: f64, milliseconds: bool) {
        let time = if milliseconds { Microseconds::from_milliseconds(v) } else { Microseconds(v) };
        match field {
            Field::Time => self.measure.time = time,
            Field::AlgBw => self.measure.algbw = GBps(v),
            Field::BusBw => self.measure.busbw = GBps(v),
            Field::IterMin => self.each.min = time,
            Field::IterMax => self.each.max = time,
            Field::IterP99 => self.each.p99 = time,
            Field::IterCv => (self.each.cv, self.has_each) = (Percent(v), true),
            Field::Wrong | Field::Delta | Field::Check => {}
        }
    }

    #[inline]
    pub(super) fn put(self, row: &mut Row, in_place: bool) {
        if self.has_each {
            row.set_per_iteration(in_place, self.each);
        }
        let slot = if in_place { &mut row.in_place } else { &mut row.out_of_place };
        *slot = Some(self.measure);
    }
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) lead: Vec<Lead>,
    pub(super) groups: Vec<Group>,
    pub(super) is_cpu_time: bool,
    /// nccl-tests of 2017 and the tests of NCCL 1 print milliseconds and say no unit.
    pub(super) milliseconds: bool,
}

/// Which measurements the line above the names announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placement {
    pub(super) out_of_place: bool,
    pub(super) in_place: bool,
}

/// The line `out-of-place   in-place`.
pub(super) fn placement(text: &str) -> Option<Placement> {
    let only_words = text.trim_start_matches('#').split_whitespace();
    let mut found = Placement { out_of_place: false, in_place: false };
    for word in only_words {
        match word {
            "out-of-place" => found.out_of_place = true,
            "in-place" => found.in_place = true,
            "(+" | "per-iteration)" => {}
            _ => return None,
        }
    }
    (found.out_of_place || found.in_place).then_some(found)
}

/// The line of names: `#  size  count  type  redop  root  time  algbw  busbw  #wrong …`.
pub(super) fn columns(text: &str, placement: Option<Placement>) -> Option<Columns> {
    let text = text.strip_prefix('#')?;
    let mut columns = Columns { lead: Vec::new(), groups: Vec::new(), is_cpu_time: false, milliseconds: false };
    for word in text.split_whitespace().take(64) {
        let lead = match word {
            "size" | "bytes" => Some(Lead::Size),
            "count" | "N" => Some(Lead::Count),
            "type" => Some(Lead::Type),
            "redop" | "op" => Some(Lead::Op),
            "root" => Some(Lead::Root),
            _ => None,
        };
        if let Some(lead) = lead {
            columns.milliseconds |= word == "bytes";
            columns.lead.push(lead);
            continue;
        }
        let field = match word {
            "time" | "cputime" => {
                columns.is_cpu_time = word == "cputime";
                columns.groups.push(Group { in_place: false, fields: vec![Field::Time] });
                continue;
            }
            "algbw" => Field::AlgBw,
            "busbw" => Field::BusBw,
            "#wrong" => Field::Wrong,
            "error" | "res" => Field::Delta,
            "i_min" => Field::IterMin,
            "i_max" => Field::IterMax,
            "i_p99" => Field::IterP99,
            "i_cv%" => Field::IterCv,
            // The time of day comes last.
            "timestamp" => break,
            _ => return None,
        };
        columns.groups.last_mut()?.fields.push(field);
    }
    let complete = |g: &Group| g.fields.starts_with(&[Field::Time, Field::AlgBw, Field::BusBw]);
    if !columns.lead.starts_with(&[Lead::Size, Lead::Count, Lead::Type])
        || !(1..=2).contains(&columns.groups.len())
        || !columns.groups.iter().all(complete)
    {
        return None;
    }
    match &mut columns.groups[..] {
        [only] => only.in_place = placement.is_some_and(|p| p.in_place && !p.out_of_place),
        [_, second] => second.in_place = true,
        _ => {}
    }
    Some(columns)
}

/// Columns of a row whose header is not there: from its own words after size, count and type.
pub(super) fn guess(words: &[&str]) -> Result<Columns, Why> {
    let mut lead = vec![Lead::Size, Lead::Count, Lead::Type];
    let mut rest = words;
    if let [op, tail @ ..] = rest
        && is_op(op)
    {
        lead.push(Lead::Op);
        rest = tail;
    }
    let milliseconds = |time: &str| time.rsplit_once('.').is_some_and(|(_, digits)| digits.len() == 3);
    let groups = match rest.len() {
        4 | 8 => rest.len() / 4,
        5 | 9 => {
            lead.push(Lead::Root);
            rest = rest.get(1..).unwrap_or_default();
            rest.len() / 4
        }
        _ => return Err(Why::Unclear("there is no header that says what its columns are")),
    };
    let group = |in_place| Group { in_place, fields: vec![Field::Time, Field::AlgBw, Field::BusBw, Field::Check] };
    Ok(Columns {
        lead,
        // The first measurement of a row is the one out of place in every release that prints both.
        groups: [false, true].into_iter().take(groups).map(group).collect(),
        is_cpu_time: false,
        milliseconds: rest.first().is_some_and(|time| milliseconds(time)),
    })
}

/// Reductions of every release.
const OPS: &[&str] = &["sum", "none", "prod", "max", "min", "avg", "mulsum"];

/// Element types of every release.
const TYPES: &[&str] = &[
    "float", "half", "bfloat16", "char", "int", "int8", "uint8", "int32", "uint32", "int64", "uint64", "double",
    "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2",
];

/// The reduction of that name.
#[inline]
pub(super) fn op(word: &[u8]) -> Option<&'static str> {
    OPS.iter().find(|op| op.as_bytes() == word).copied()
}

/// The element type of that name.
#[inline]
pub(super) fn element(word: &[u8]) -> Option<&'static str> {
    TYPES.iter().find(|t| t.as_bytes() == word).copied()
}

pub(super) fn is_op(word: &str) -> bool {
    op(word.as_bytes()).is_some()
}

pub(super) fn is_type(word: &str) -> bool {
    element(word.as_bytes()).is_some()
}
