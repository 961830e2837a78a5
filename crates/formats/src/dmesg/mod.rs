//! The kernel log in all its clothes: `dmesg`, `dmesg -T`, `dmesg -x`, ISO times, `journalctl -k`, `/dev/kmsg`, pstore, plain.

mod classify;
mod event;
mod header;

pub use classify::classify;
pub use event::{AerSeverity, AmdVi, DomainKind, Event, LimitedBy, Mlx5Event};
pub use header::{Time, split};

use crate::text::{decode, line_number};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Match, Span, packed};
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
    while let Some(hit) = words.find(bytes, at) {
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
    "IO_PAGE_FAULT",
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

/// Finds the anchors: with vector instructions where the processor has them (several GB/s), else with a table (some 400 MB/s).
enum Words {
    Vector(packed::Searcher),
    Table(AhoCorasick),
}

impl Words {
    fn find(&self, text: &[u8], from: usize) -> Option<Match> {
        match self {
            Words::Vector(searcher) => searcher.find_in(text, Span { start: from, end: text.len() }),
            Words::Table(table) => table.find(Input::new(text).range(from..)),
        }
    }
}

fn anchors() -> Option<&'static Words> {
    static WORDS: OnceLock<Option<Words>> = OnceLock::new();
    let build = || {
        let table = || AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(ANCHORS).ok().map(Words::Table);
        packed::Searcher::new(ANCHORS).map(Words::Vector).or_else(table)
    };
    WORDS.get_or_init(build).as_ref()
}

#[cfg(test)]
mod tests;
