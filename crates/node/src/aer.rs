//! AER counters of a function, from sysfs. Read on demand: only functions on a path are asked.

use crate::pci::PciFunction;
use linerate_snapshot::{Place, Reading, Snapshot, Why};

/// Totals since boot, and the non-zero ones by name.
#[derive(Debug, Clone)]
pub struct AerCount {
    /// `TOTAL_ERR_*`.
    pub total: u64,
    /// Names with non-zero counts: `RxErr`, `BadTLP`, `Rollover`…
    pub parts: Vec<(String, u64)>,
}

/// The three counters.
#[derive(Debug, Clone)]
pub struct AerCounters {
    /// `aer_dev_correctable`.
    pub correctable: Reading<AerCount>,
    /// `aer_dev_nonfatal`.
    pub nonfatal: Reading<AerCount>,
    /// `aer_dev_fatal`.
    pub fatal: Reading<AerCount>,
}

/// The files of AER counters of a snapshot. Most functions count nothing and show the same bytes: those are looked at once.
#[derive(Debug)]
pub struct AerFiles<'s> {
    snapshot: &'s Snapshot,
    /// The last table of each file in which every count is 0.
    zeros: [&'s [u8]; 3],
}

impl<'s> AerFiles<'s> {
    /// The files of this snapshot.
    #[must_use]
    pub fn of(snapshot: &'s Snapshot) -> Self {
        AerFiles { snapshot, zeros: [&[]; 3] }
    }

    /// Reads the counters of a function. The files exist where the kernel handles AER for the device (since Linux 4.19).
    pub fn counters(&mut self, f: &PciFunction<'_>) -> AerCounters {
        let [correctable, nonfatal, fatal] = &mut self.zeros;
        let s = self.snapshot;
        let one = |leaf: &'static str, zero: &mut &'s [u8]| {
            if !f.in_sysfs {
                return Reading::Unreadable(Place::below(s.root(), leaf), Why::NotCollected);
            }
            s.read(f.home, leaf).parse("not a table of AER counters", |file| {
                if file == *zero && !file.is_empty() {
                    return Some(AerCount { total: 0, parts: Vec::new() });
                }
                let count = parse(std::str::from_utf8(file.trim_ascii()).ok()?)?;
                if count.total == 0 && count.parts.is_empty() {
                    *zero = file;
                }
                Some(count)
            })
        };
        AerCounters {
            correctable: one("aer_dev_correctable", correctable),
            nonfatal: one("aer_dev_nonfatal", nonfatal),
            fatal: one("aer_dev_fatal", fatal),
        }
    }
}

/// Lines `NAME COUNT`, ending in `TOTAL_ERR_COR COUNT` (or FATAL, NONFATAL).
fn parse(text: &str) -> Option<AerCount> {
    if is_all_zero(text.as_bytes()) {
        return Some(AerCount { total: 0, parts: Vec::new() });
    }
    let mut total = None;
    let mut parts = Vec::new();
    // Twenty lines for each of three files of each function on a path: bytes are quicker than characters.
    for line in text.split('\n') {
        let line = line.trim_ascii();
        let at = line.bytes().rposition(|b| b.is_ascii_whitespace())?;
        let (name, count) = (line.get(..at)?, line.get(at + 1..)?);
        let count: u64 = count.parse().ok()?;
        if name.trim_ascii_start().starts_with("TOTAL_ERR") {
            total = Some(count);
        } else if count > 0 {
            parts.push((name.trim().to_owned(), count));
        }
    }
    Some(AerCount { total: total?, parts })
}

/// Whether the text is a table in which every count is 0, as nearly all are: each line ends in a name, a space and a 0, and the last
/// is the total. Every byte is looked at in the same way, which the processor does many at a time. `false` for whatever is in doubt.
fn is_all_zero(text: &[u8]) -> bool {
    let Some(last) = memchr::memrchr(b'\n', text).and_then(|at| text.get(at + 1..)) else { return false };
    if !last.starts_with(b"TOTAL_ERR") || !ends_in_zero(last) || text.iter().take(3).any(|b| *b <= b' ') {
        return false;
    }
    let bytes = |from: usize| text.get(from..).unwrap_or_default().iter();
    let ends = bytes(0).zip(bytes(1)).zip(bytes(2)).zip(bytes(3));
    !ends.fold(false, |odd, (((name, space), zero), end)| {
        odd | ((*end == b'\n') & !((*name > b' ') & (*space == b' ') & (*zero == b'0')))
    })
}

fn ends_in_zero(line: &[u8]) -> bool {
    matches!(line, [.., name, b' ', b'0'] if *name > b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_with_and_without_errors() {
        let zero = "RxErr 0\nBadTLP 0\nTOTAL_ERR_COR 0";
        assert!(is_all_zero(zero.as_bytes()));
        let parsed = |t: &str| parse(t).map(|c| (c.total, c.parts));
        assert_eq!(parsed(zero), Some((0, Vec::new())));
        assert_eq!(parsed("RxErr 7\nBadTLP 0\nTOTAL_ERR_COR 7"), Some((7, vec![("RxErr".to_owned(), 7)])));
        assert_eq!(parsed("RxErr 10\nTOTAL_ERR_COR 10"), Some((10, vec![("RxErr".to_owned(), 10)])));
        assert_eq!(parsed("TOTAL_ERR_FATAL 0"), Some((0, Vec::new())));
        for bad in
            ["", "0\nTOTAL_ERR_COR 0", "RxErr 0\n0\nTOTAL_ERR_COR 0", "RxErr0\nTOTAL_ERR_COR 0", "RxErr 0\nBad 0"]
        {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }
}
