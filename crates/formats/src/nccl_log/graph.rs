//! What NCCL prints of the machine with `NCCL_DEBUG_SUBSYS=GRAPH`: its tree, the paths between its GPUs and NICs, and the rings and trees that the search found
//! (`ncclTopoPrint`, `ncclTopoPrintPaths` and `ncclTopoPrintGraph` of `src/graph`).

use super::cursor::{after_int, hex, int, uint};
use crate::pci::Bdf;
use crate::text::after;

/// A line of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graph<'a> {
    /// A device or a link of the tree; its head and its end.
    Tree,
    /// The paths from one device: `GPU/0-1b000 :GPU/0-1b000 (0/5000.0/LOC) NET/0 (3/12.0/PIX)`.
    Paths {
        /// `GPU/0-1b000`.
        from: &'a str,
        /// The rest, for [`paths`].
        to: &'a str,
    },
    /// What the search found for a pattern.
    Search(Search<'a>),
    /// The order of GPUs in a channel.
    Channel {
        /// It begins at a NIC: the job spans nodes.
        has_net: bool,
    },
}

/// `Pattern 4, crossNic 0, nChannels 4, bw 24.000000/24.000000, type NVL/PIX, sameChannels 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Search<'a> {
    /// Its number: see [`Search::name`].
    pub pattern: u32,
    /// Channels.
    pub channels: u32,
    /// Bandwidth of a channel between GPUs of the node, hundredths of GB/s.
    pub intra: u32,
    /// Bandwidth of a channel between nodes, hundredths of GB/s.
    pub inter: u32,
    /// The longest path between its GPUs: `NVL`, `PIX`, `SYS`, ….
    pub gpus: &'a str,
    /// The longest path between a GPU and its NIC. Without a NIC in the search it means nothing.
    pub nics: &'a str,
}

impl Search<'_> {
    /// What the pattern is called (`NCCL_TOPO_PATTERN_…` of `src/include/graph.h`).
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        Some(match self.pattern {
            1 => "balanced tree",
            2 => "split tree",
            3 => "tree",
            4 => "ring",
            5 => "NVLS",
            6 => "CollNet direct",
            _ => return None,
        })
    }
}

/// The way to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<'a> {
    /// `NET/0`.
    pub to: &'a str,
    /// Links.
    pub hops: u32,
    /// Hundredths of GB/s.
    pub centi: u32,
    /// `PIX`, `PHB`, …; RCCL has `XGMI`, too.
    pub kind: &'a str,
}

/// The paths of a line. Whatever is no path is passed over: a line may be cut.
pub fn paths(to: &str) -> impl Iterator<Item = Path<'_>> {
    to.split(") ").filter_map(|one| {
        let (to, inside) = one.trim().split_once(" (")?;
        let mut parts = inside.trim_end_matches(')').split('/');
        let (hops, bandwidth, kind) = (parts.next()?, parts.next()?, parts.next()?);
        let is_path = is_device(to) && is_kind(kind) && parts.next().is_none();
        is_path.then_some(Path { to, hops: hops.parse().ok()?, centi: centi(bandwidth)?, kind })
    })
}

/// The nearest NIC as NCCL counts: most bandwidth, then the shortest path (`ncclTopoGetLocal` of `src/graph/topo.cc`). Of several that are equally near the first.
#[must_use]
pub fn nearest_net<'a>(to: &'a str) -> Option<Path<'a>> {
    let rank = |kind: &str| ORDER.iter().position(|k| *k == kind).unwrap_or(ORDER.len());
    let key = |p: &Path<'a>| (std::cmp::Reverse(p.centi), rank(p.kind));
    paths(to).filter(|p| p.to.starts_with("NET/")).min_by_key(key)
}

/// Kinds of paths, the shortest first (`src/graph/topo.h` of 2.30).
const ORDER: &[&str] = &["LOC", "NVL", "XGMI", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS"];

/// The PCI address in the name of a GPU: `GPU/0-1b000`, `GPU/1B000`. `None` where the number cannot be one.
#[must_use]
pub fn address(device: &str) -> Option<Bdf> {
    let (_, id) = device.split_once('/')?;
    let id = id.rsplit('-').next()?;
    // Domain, bus, device and function in hexadecimal digits, without the signs between them.
    let (number, _) = hex(id).filter(|(_, rest)| rest.is_empty())?;
    let byte = |shift: u32| (number >> shift) as u8;
    let (bus, device, function) = (byte(12), byte(4), byte(0) & 0xf);
    let domain = u32::try_from(number >> 20).ok()?;
    (device < 32 && function < 8).then_some(Bdf { domain, bus, device, function })
}

/// Reads a line's message.
pub(super) fn read(text: &str) -> Option<Graph<'_>> {
    let text = text.trim_start();
    match text.as_bytes().first()? {
        b'=' => {
            (text.starts_with("=== System : max") || text.trim_end().bytes().all(|b| b == b'=')).then_some(Graph::Tree)
        }
        b'+' => is_link(text).then_some(Graph::Tree),
        b'P' => search(text.strip_prefix("Pattern ")?),
        b'0'..=b'9' => channel(text),
        _ => devices(text),
    }
}

/// `GPU/1B000 :…`, or `CPU/0-0 (1/2/-1)`.
fn devices(text: &str) -> Option<Graph<'_>> {
    let (from, rest) = text.split_once(' ')?;
    if !is_device(from) {
        return None;
    }
    match rest.strip_prefix(':') {
        Some(to) => Some(Graph::Paths { from, to }),
        None => rest.starts_with('(').then_some(Graph::Tree),
    }
}

/// `+ PCI[24.0] - GPU/0-1b000 (0)`.
fn is_link(text: &str) -> bool {
    let link = text.strip_prefix('+').and_then(|t| t.trim_start().split_once("] - "));
    link.is_some_and(|(kind, to)| kind.contains('[') && is_device(to.split(' ').next().unwrap_or_default()))
}

fn search(text: &str) -> Option<Graph<'_>> {
    let (pattern, rest) = uint(text)?;
    let channels = u32::try_from(after_int(rest, "nChannels ")?).ok()?;
    let speeds = after(rest, ", bw ").or_else(|| after(rest, ", speed "))?;
    let (intra, inter) = speeds.split(',').next()?.split_once('/')?;
    let (gpus, nics) = after(rest, ", type ")?.split(',').next()?.trim().split_once('/')?;
    let is_whole = is_kind(gpus) && is_kind(nics);
    let found = Search { pattern, channels, intra: centi(intra)?, inter: centi(inter)?, gpus, nics };
    is_whole.then_some(Graph::Search(found))
}

/// `0 : NET/0 GPU/0 GPU/1 NET/0`.
fn channel(text: &str) -> Option<Graph<'_>> {
    let (_, rest) = int(text)?;
    let mut devices = rest.trim_start().strip_prefix(':')?.split_whitespace();
    let first = devices.next().filter(|d| is_device(d))?;
    devices.all(is_device).then_some(Graph::Channel { has_net: first.starts_with("NET/") })
}

/// `GPU/0-1b000`, `CPU/FFFFFFFFFFFFFFFF`, `NET/0-0-0`.
fn is_device(word: &str) -> bool {
    const KINDS: &[&str] = &["GPU", "PCI", "NVS", "CPU", "NIC", "NET", "GIN", "DEV"];
    word.split_once('/').is_some_and(|(kind, id)| {
        KINDS.contains(&kind) && !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
    })
}

fn is_kind(word: &str) -> bool {
    (2..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// Hundredths of a number that is not negative.
fn centi(text: &str) -> Option<u32> {
    let value = text.trim().parse::<f64>().ok().filter(|v| (0.0..=1e6).contains(v))?;
    Some((value * 100.0).round() as u32)
}
