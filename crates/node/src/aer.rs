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

/// Reads the counters of a function. The files exist where the kernel handles AER for the device (since Linux 4.19).
#[must_use]
pub fn counters(s: &Snapshot, f: &PciFunction<'_>) -> AerCounters {
    let one = |leaf: &'static str| {
        if !f.in_sysfs {
            return Reading::Unreadable(Place::below(s.root(), leaf), Why::NotCollected);
        }
        s.text(f.home, leaf).parse("not a table of AER counters", parse)
    };
    AerCounters {
        correctable: one("aer_dev_correctable"),
        nonfatal: one("aer_dev_nonfatal"),
        fatal: one("aer_dev_fatal"),
    }
}

/// Lines `NAME COUNT`, ending in `TOTAL_ERR_COR COUNT` (or FATAL, NONFATAL).
fn parse(text: &str) -> Option<AerCount> {
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
