//! Results of a document differ in their numbers, as a rule in nothing else: what is between the numbers of one is looked for in the
//! next, and only the numbers are read.

use super::records::{Half, NcclResult, Number};
use crate::number;

/// Which number of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Size,
    Count,
    /// In place, or out of place.
    Half(bool, Field),
    /// One that is not kept.
    Other,
}

/// Which number of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Time,
    AlgBw,
    BusBw,
    Wrong,
}

impl Slot {
    /// Where the number belongs. `None`: nowhere.
    #[inline]
    pub(super) fn of<'r>(self, result: &'r mut NcclResult<'_>) -> Option<&'r mut Number> {
        match self {
            Slot::Size => Some(&mut result.size),
            Slot::Count => Some(&mut result.count),
            Slot::Half(in_place, field) => half(result, in_place).as_mut().map(|half| field.of(half)),
            Slot::Other => None,
        }
    }
}

/// The measurement in place, or out of place.
#[inline]
pub(super) fn half<'r>(result: &'r mut NcclResult<'_>, in_place: bool) -> &'r mut Option<Half> {
    if in_place { &mut result.in_place } else { &mut result.out_of_place }
}

impl Field {
    #[inline]
    fn of(self, half: &mut Half) -> &mut Number {
        match self {
            Field::Time => &mut half.time,
            Field::AlgBw => &mut half.alg_bw,
            Field::BusBw => &mut half.bus_bw,
            Field::Wrong => &mut half.nwrong,
        }
    }
}

/// A result, and how to read one that differs from it in its numbers only.
#[derive(Debug)]
pub(super) struct Template<'a> {
    pub(super) result: NcclResult<'a>,
    /// What comes before each number, and where the number belongs.
    pub(super) numbers: Vec<(&'a [u8], Slot)>,
    /// What follows the last one.
    pub(super) end: &'a [u8],
}

impl Template<'_> {
    /// Reads the result that a text begins with, into [`Template::result`], and says how long it is. `None`: it is no such one.
    pub(super) fn read(&mut self, text: &[u8]) -> Option<usize> {
        let mut rest = text;
        for (before, slot) in &self.numbers {
            let (value, behind) = number::json(rest.strip_prefix(*before)?)?;
            rest = behind;
            if let Some(number) = slot.of(&mut self.result) {
                *number = Number::Value(value);
            }
        }
        Some(text.len() - rest.strip_prefix(self.end)?.len())
    }
}
