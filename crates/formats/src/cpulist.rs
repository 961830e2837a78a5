//! Lists of CPUs or nodes as the kernel prints them: `0-47,96-143`.

use std::ops::RangeInclusive;

/// A list of ranges, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuList {
    /// The ranges; kept as ranges because hostile text may name billions.
    pub ranges: Vec<RangeInclusive<u32>>,
}

impl CpuList {
    /// Whether a number is in the list.
    pub fn contains(&self, cpu: u32) -> bool {
        self.ranges.iter().any(|r| r.contains(&cpu))
    }

    /// How many numbers the list has, overlaps counted twice.
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(|r| u64::from(*r.end()) - u64::from(*r.start()) + 1).sum()
    }

    /// The numbers in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.ranges.iter().cloned().flatten()
    }
}

impl std::fmt::Display for CpuList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        crate::ranges::write(f, self.ranges.iter().map(|r| (*r.start(), *r.end())))
    }
}

/// Parses a list; an empty text is an empty list. `None` for anything else. The `:used/group` strides of cpusets are not accepted.
pub fn parse(text: &str) -> Option<CpuList> {
    let text = text.trim();
    let mut out = CpuList::default();
    if text.is_empty() {
        return Some(out);
    }
    let number =
        |t: &str| (!t.is_empty() && t.bytes().all(|b| b.is_ascii_digit())).then(|| t.parse::<u32>().ok()).flatten();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first.trim())?, number(last.trim())?);
        if first > last {
            return None;
        }
        out.ranges.push(first..=last);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_singles() {
        let l = parse("0-3,8,10-11\n").unwrap();
        assert_eq!(l.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!((l.count(), l.contains(8), l.contains(9), l.to_string().as_str()), (7, true, false, "0-3,8,10-11"));
        assert_eq!(parse("").map(|l| l.count()), Some(0));
        assert_eq!(parse("0-4294967295").map(|l| l.count()), Some(1 << 32));
        for bad in ["a", "3-1", "1,,2", "1-", "-1", "0-3:1/2", "99999999999"] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
