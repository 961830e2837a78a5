//! The kernel log in all its clothes: `dmesg`, `dmesg -T`, `dmesg -x`, ISO times, `journalctl -k`, `/dev/kmsg`, pstore, plain.

mod classify;
mod event;
mod header;

pub use classify::classify;
pub use event::{AerSeverity, AmdVi, DomainKind, Event, LimitedBy, Mlx5Event};
pub use header::{Time, split};

use crate::text::{decode, line_number};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::OnceLock;

/// One line of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line<'a> {
    /// 1-based line.
    pub number: u32,
    /// When, where the line says so.
    pub time: Option<Time<'a>>,
    /// The message without time, level, host.
    pub message: &'a str,
}

/// A line that means something to this tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// 1-based line.
    pub line: u32,
    /// Seconds since boot, where the line shows them.
    pub seconds: Option<f64>,
    /// What it says.
    pub event: Event,
}

/// The lines of a log.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().enumerate().map(|(i, raw)| {
        let (time, message) = split(raw);
        Line { number: line_number(i), time, message }
    })
}

/// Every event of a log. Lines without one of the words that events consist of are skipped without being looked at, so that a log
/// of 100 MB takes a fraction of a second.
pub fn scan(bytes: &[u8]) -> Vec<Found> {
    let text = decode(bytes);
    let mut out = Vec::new();
    let Some(words) = anchors() else { return scan_all(&text) };
    let (mut at, mut line_at, mut line) = (0, 0, 0usize);
    let bytes = text.as_bytes();
    while let Some(hit) = words.find(aho_corasick::Input::new(bytes).range(at..)) {
        let start = memchr::memrchr(b'\n', bytes.get(at..hit.start()).unwrap_or_default()).map_or(at, |n| at + n + 1);
        let end =
            memchr::memchr(b'\n', bytes.get(hit.end()..).unwrap_or_default()).map_or(bytes.len(), |n| hit.end() + n);
        line += memchr::memchr_iter(b'\n', bytes.get(line_at..start).unwrap_or_default()).count();
        line_at = start;
        if let Some(raw) = text.get(start..end) {
            out.extend(found(raw.trim_end_matches('\r'), line));
        }
        at = end.saturating_add(1);
        if at >= bytes.len() {
            break;
        }
    }
    out
}

fn scan_all(text: &str) -> Vec<Found> {
    text.lines().enumerate().filter_map(|(i, raw)| found(raw, i)).collect()
}

fn found(raw: &str, index: usize) -> Option<Found> {
    let (time, message) = split(raw);
    let event = classify(message)?;
    let seconds = match time {
        Some(Time::Seconds(s)) => Some(s),
        _ => None,
    };
    Some(Found { line: line_number(index), seconds, event })
}

/// Words of which every classified message has at least one; a test holds the two together.
const ANCHORS: &[&str] = &[
    "IOMMU",
    "iommu",
    "AMD-Vi",
    "DMAR",
    "dmar_fault",
    "arm-smmu",
    "SNP:",
    "emory Encryption",
    "emory encryption",
    "PCI: ",
    "available PCIe bandwidth",
    "assign",
    "no space for",
    "can't reserve",
    "NVRM",
    "peermem",
    "peer_mem",
    "nv_mem",
    "AER: ",
    "PCIe Bus Error",
    "bw_notification",
    "pciehp",
    "mlx5_core",
    "unknown parameter",
    "ockdown:",
    "locked down",
    "version of symbol",
    "Unknown symbol",
    "swiotlb",
    "SWIOTLB",
    "ommand line:",
];

fn anchors() -> Option<&'static AhoCorasick> {
    static WORDS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    WORDS.get_or_init(|| AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(ANCHORS).ok()).as_ref()
}

#[cfg(test)]
mod tests;
