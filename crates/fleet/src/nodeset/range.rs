//! What is in a bracket: `001-128,130,200-300/2`.

use super::error::Why;
use super::index::{DIGITS, Index};

/// The numbers of a bracket with digits right before and behind it (`a1[2-3]5`): the digits belong to each number. `most`: how many there may be.
pub(super) fn numbers(before: &str, inner: &str, behind: &str, most: usize) -> Result<Vec<Index>, Why> {
    if !behind.is_empty() && inner.contains('/') {
        return Err(Why::Step);
    }
    let mut out = Vec::new();
    for part in inner.split(',').map(str::trim_start) {
        if !behind.is_empty() && part.contains(char::is_whitespace) {
            return Err(Why::Number);
        }
        elements(part.trim_end(), behind, most, &mut out)?;
    }
    if before.is_empty() {
        return Ok(out);
    }
    let length = out.first().map(|i| i.digits);
    if out.iter().any(|i| Some(i.digits) != length) {
        return Err(Why::Digits);
    }
    out.iter().map(|i| Index::of(&format!("{before}{i}")).ok_or(Why::Number)).collect()
}

/// One part between commas.
fn elements(part: &str, behind: &str, most: usize, out: &mut Vec<Index>) -> Result<(), Why> {
    if part.is_empty() {
        return Err(Why::EmptyRange);
    }
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range.trim(), Some(step.trim())),
        None => (part, None),
    };
    let step = step.map(|s| Index::of(s).ok_or(Why::Number)).transpose()?.map(|i| i.value);
    let (first, last) = range.split_once('-').map_or((range, None), |(a, b)| (a.trim(), Some(b.trim())));
    let number = |text: &str| Index::of(&format!("{text}{behind}")).filter(|_| !text.is_empty()).ok_or(Why::Number);
    let begin = number(first)?;
    let Some(last) = last else {
        if step.is_some_and(|s| s != 1) {
            return Err(Why::Range);
        }
        room(out, 1, most)?;
        out.push(begin);
        return Ok(());
    };
    let end = number(last)?;
    if (begin.padded() || end.padded()) && begin.digits != end.digits {
        return Err(Why::Padding);
    }
    let step = step.unwrap_or(1);
    if step == 0 || begin.value > end.value {
        return Err(Why::Range);
    }
    // Digits behind make each number ten times as large for each of them.
    let shift = u32::try_from(behind.len().min(DIGITS)).unwrap_or(0);
    let step = step.checked_mul(10_u64.pow(shift)).ok_or(Why::Number)?;
    let digits = if begin.padded() { usize::from(begin.digits) } else { 1 };
    let count = (end.value - begin.value) / step + 1;
    room(out, usize::try_from(count).unwrap_or(usize::MAX), most)?;
    out.extend((0..count).map(|i| Index::new(begin.value + i * step, digits)));
    Ok(())
}

fn room(out: &[Index], more: usize, most: usize) -> Result<(), Why> {
    if out.len().saturating_add(more) > most { Err(Why::Many) } else { Ok(()) }
}
