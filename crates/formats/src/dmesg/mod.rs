//! The kernel log in all its clothes: `dmesg`, `dmesg -T`, `dmesg -x`, ISO times, `journalctl -k`, `/dev/kmsg`, pstore, plain.

mod amdgpu;
mod classify;
mod driver;
mod event;
mod fault;
mod header;
mod identity;
mod mlx5;
mod nvidia;
mod probe;
mod shape;
mod watchdog;

pub use classify::classify;
use classify::subject;
pub use driver::{DriverClass, Requester};
pub use event::{AerSeverity, AmdVi, DomainKind, Event, GpuFault, LimitedBy, Mlx5Event, StartFault};
pub use header::{Head, MOST_SECONDS, Time, head, is_iso, split, tagged};

use crate::text::{decode, line_number};
use crate::tool::{Command, DIGITS, Gives, Mark, Tool, seen};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Match, Span, packed};
use std::sync::OnceLock;

/// The kernel log.
pub const TOOL: Tool = Tool {
    name: "dmesg",
    called: "kernel log",
    run: "dmesg",
    gives: Gives::KernelLog,
    // Whatever may stand before a message, and what messages begin with.
    marks: &[
        Mark::line(is_own).begins(&["<", "["]).holds(&["kernel:"]),
        Mark::line(|l| tagged(l).is_some()).holds(&[": ["]),
        Mark::line(is_own).begins(DIGITS),
        Mark::line(is_own).begins(header::FACILITIES),
        Mark::line(is_own).begins(header::MONTHS),
        Mark::line(is_own).begins(shape::BEGINNINGS),
        Mark::line(is_own).begins(shape::PEERMEM).holds(shape::OF_MODULES),
        Mark::line(is_own).begins(&["nv_mem_client", "nvidia-nvswitch"]).holds(shape::ADDRESS_ENDS),
    ],
    commands: &[Command::any("dmesg"), Command::any("journalctl")],
    files: &["dmesg", "journal", "kern.log"],
    read: Some(|b| seen(scan(b))),
    samples: &[
        "[    0.5] x\n",
        "6,1,2,-;x\n",
        "<6>[    0.5] x\n",
        "DMAR: IOMMU enabled\n",
        "Nov 21 07:00:00 h kernel: x\n",
        "node1: [    0.5] x\n",
        "10.0.0.1: kern:    info: [2026-11-21T07:00:00.123456789Z]: x\n",
        "[    0.000000] Linux version 6.8.0 (gcc \"13\")\n[    1.5] x \"y\"\n",
        "[  +0.000012] usb 1-1: Product: \"x\"\n",
    ],
    once: true,
    ..Tool::NONE
};

fn is_own(line: &str) -> bool {
    let (time, message) = split(line);
    match time {
        Some(Time::Seconds(_)) => !message.is_empty(),
        Some(Time::Text(_)) => {
            line.contains(" kernel: ")
                || line.starts_with("kern ")
                || line.starts_with("kern:")
                || line.starts_with('[')
        }
        None => classify(message).is_some_and(|e| !is_of_boot(&e)),
    }
}

/// What other files say in the same words: `/proc/version`, a pasted command line.
fn is_of_boot(event: &Event) -> bool {
    matches!(event, Event::CommandLine(_) | Event::KernelRelease(_) | Event::Machine(_) | Event::Hypervisor(_))
}

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
            let subjects = subjects(words, bytes, hit, end);
            push(&mut out, found(raw.trim_end_matches('\r'), line, subjects));
        }
        at = end.saturating_add(1);
        if at >= bytes.len() {
            break;
        }
    }
    out
}

fn scan_all(text: &str) -> Vec<Found> {
    let mut out = Vec::new();
    text.lines().enumerate().for_each(|(i, raw)| push(&mut out, found(raw, i, subject::ALL)));
    out
}

/// Lines at most between the one in which the NVIDIA driver names a GPU and what it says of it: a message of its own has several.
pub const NAMED_FOR: u32 = 2;

/// One more event; one that names no GPU is of the GPU that the line before names.
fn push(out: &mut Vec<Found>, found: Option<Found>) {
    let Some(mut found) = found else { return };
    if let Some(Found { line, event: Event::NvidiaNames(gpu), .. }) = out.last()
        && found.line.saturating_sub(*line) <= NAMED_FOR
        && let Event::NvidiaRefused { bdf: bdf @ None, .. }
        | Event::GpuFault { of: Requester { bdf: bdf @ None, .. }, .. } = &mut found.event
    {
        *bdf = Some(*gpu);
    }
    out.push(found);
}

/// What a line may be about, by the words in it: the first, and those after it up to the end of the line.
fn subjects(words: &Words, text: &[u8], first: Match, end: usize) -> u8 {
    let of = |hit: &Match| ANCHORS.get(hit.pattern().as_usize()).map_or(subject::ALL, |(_, subject)| *subject);
    let line = text.get(..end).unwrap_or(text);
    let mut out = of(&first);
    let mut at = first.end();
    while let Some(hit) = words.find(line, at) {
        out |= of(&hit);
        at = hit.end();
    }
    out
}

fn found(raw: &str, index: usize, subjects: u8) -> Option<Found> {
    let (time, message) = split(raw);
    let event = classify::classify_as(message, subjects)?;
    let seconds = match time {
        Some(Time::Seconds(s)) => Some(s),
        _ => None,
    };
    Some(Found { line: line_number(index), seconds, event })
}

/// Words of which every classified message has at least one of its subject's; a test holds the two together.
const ANCHORS: &[(&str, u8)] = &[
    ("IOMMU", subject::IOMMU),
    ("iommu", subject::IOMMU),
    ("AMD-Vi", subject::IOMMU),
    ("IO_PAGE_FAULT", subject::IOMMU),
    ("DMAR", subject::IOMMU),
    ("dmar_fault", subject::IOMMU),
    ("arm-smmu", subject::IOMMU),
    ("SNP:", subject::IOMMU),
    ("emory Encryption", subject::IOMMU),
    ("emory encryption", subject::IOMMU),
    ("PCI: ", subject::PCI),
    ("available PCIe bandwidth", subject::PCI),
    ("for optimal performance", subject::PCI),
    ("assign", subject::PCI),
    ("no space for", subject::PCI),
    ("can't reserve", subject::PCI),
    ("NVRM", subject::NVIDIA),
    ("SXid (", subject::NVIDIA),
    ("peermem", subject::NVIDIA),
    ("peer_mem", subject::NVIDIA),
    ("nv_mem", subject::NVIDIA),
    ("enabling device (", subject::PCI),
    ("firmware version: ", subject::PCI),
    ("AER: ", subject::PCI),
    ("PCIe Bus Error", subject::PCI),
    ("DPC", subject::PCI),
    ("EDR: ", subject::PCI),
    ("bw_notification", subject::PCI),
    ("pciehp", subject::PCI),
    ("error status/mask=", subject::PCI),
    ("] type 0", subject::PCI),
    ("device inaccessible", subject::PCI),
    ("; giving up", subject::PCI),
    ("mlx5_core", subject::MLX),
    ("Internal error detected", subject::MLX),
    ("amdgpu", subject::DRIVERS),
    (watchdog::NAME, subject::DRIVERS),
    (": probe of ", subject::DRIVERS),
    (": probe with driver ", subject::DRIVERS),
    ("unknown parameter", subject::MODULES),
    ("ockdown:", subject::MODULES),
    ("locked down", subject::MODULES),
    ("version of symbol", subject::MODULES),
    ("Unknown symbol", subject::MODULES),
    ("swiotlb", subject::IOMMU),
    ("SWIOTLB", subject::IOMMU),
    ("ommand line:", subject::BOOT),
    ("Linux version ", subject::BOOT),
    ("DMI: ", subject::BOOT),
    ("Hypervisor detected: ", subject::BOOT),
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
    let words = || ANCHORS.iter().map(|(word, _)| word);
    let build = || {
        let table = || AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words()).ok().map(Words::Table);
        packed::Searcher::new(words()).map(Words::Vector).or_else(table)
    };
    WORDS.get_or_init(build).as_ref()
}

#[cfg(test)]
mod tests;
