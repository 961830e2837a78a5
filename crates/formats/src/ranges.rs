//! Numbers in few characters: `0-3,5`.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// Numbers in order, each once, consecutive ones as a range: `0-3,5`, `9-10`.
#[must_use]
pub fn ranges<N: Into<u32>>(numbers: impl IntoIterator<Item = N>) -> String {
    from(2, numbers)
}

/// The same, where a range is written only for so many consecutive numbers: with 3, `0-3,9,10`.
#[must_use]
pub fn from<N: Into<u32>>(least: usize, numbers: impl IntoIterator<Item = N>) -> String {
    let sorted: BTreeSet<u32> = numbers.into_iter().map(Into::into).collect();
    let sorted: Vec<u32> = sorted.into_iter().collect();
    let runs = sorted.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let pairs = runs.flat_map(|run| match run {
        [first, .., last] if run.len() >= least => vec![(*first, *last)],
        few => few.iter().map(|n| (*n, *n)).collect(),
    });
    let mut out = String::new();
    // A String takes everything.
    let _ = write(&mut out, pairs);
    out
}

/// Writes ranges as they are given, by their first and last numbers.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, ranges: impl Iterator<Item = (u32, u32)>) -> fmt::Result {
    for (i, (first, last)) in ranges.enumerate() {
        let comma = if i == 0 { "" } else { "," };
        if first == last {
            write!(out, "{comma}{first}")?;
        } else {
            write!(out, "{comma}{first}-{last}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_few_characters() {
        for (numbers, two, three) in [
            (vec![], "", ""),
            (vec![7_u32], "7", "7"),
            (vec![3, 0, 1, 2, 7, 9, 10, 10], "0-3,7,9-10", "0-3,7,9,10"),
            (vec![u32::MAX, u32::MAX - 1, 0], "0,4294967294-4294967295", "0,4294967294,4294967295"),
        ] {
            assert_eq!((ranges(numbers.clone()).as_str(), from(3, numbers).as_str()), (two, three));
        }
        assert_eq!(ranges([1_u16, 2]), "1-2");
    }
}
