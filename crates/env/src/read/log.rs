//! NCCL's log: what it says it read. Streaming: of a log only what is said is kept, once for each value.

use super::{Form, Read, Sink};
use crate::context::Fabric;
use crate::setting::{Origin, Setting};
use linerate_formats::bounds::{ENV_LOG_LINE, ENV_LOG_SAID, ENV_SETTINGS, ENV_VALUE};
use linerate_formats::text::at_most;
use linerate_topology::Version;
use memchr::memmem::Finder;
use std::collections::HashSet;

/// What lines are looked at for (NCCL's sources, every wording of 2.4 to 2.30).
const SIGNS: [&[u8]; 11] = [
    b" set by env",
    b" set from env",
    b" set to ",
    b" reset to NCCL_",
    b"NCCL version ",
    b"Using network ",
    b"NET/IB : Using [",
    b"RCCL version ",
    b"librccl",
    // Of the command that started the job, which people paste above its log.
    b"-x NCCL_",
    b"export NCCL_",
];

/// Reads a log piece by piece, in bounded memory.
pub struct LogReader {
    sink: Sink,
    finders: [Finder<'static>; 11],
    pending: Vec<u8>,
    /// The rest of a line that was too long is passed over.
    skipping: bool,
    lines: u64,
    /// The first line that was too long.
    long: Option<u64>,
    seen: HashSet<(String, String)>,
    networks: Vec<String>,
    searched: u64,
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogReader").field("lines", &self.lines).finish_non_exhaustive()
    }
}

impl LogReader {
    /// A reader of the log of this name.
    #[must_use]
    pub fn new(name: Option<&str>) -> Self {
        LogReader {
            sink: Sink::new(Form::Log, name),
            finders: SIGNS.map(Finder::new),
            pending: Vec::new(),
            skipping: false,
            lines: 0,
            long: None,
            seen: HashSet::new(),
            networks: Vec::new(),
            searched: 0,
        }
    }

    /// The next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        let mut piece = piece;
        if !self.pending.is_empty() || self.skipping {
            let Some(end) = memchr::memchr(b'\n', piece) else {
                self.keep(piece);
                return;
            };
            let (first, rest) = piece.split_at(end);
            self.keep(first);
            let line = std::mem::take(&mut self.pending);
            self.whole(&line);
            self.lines += 1;
            self.skipping = false;
            piece = rest.get(1..).unwrap_or_default();
        }
        let end = memchr::memrchr(b'\n', piece).map_or(0, |e| e + 1);
        let (lines, rest) = piece.split_at(end);
        self.whole(lines);
        self.lines += memchr::memchr_iter(b'\n', lines).count() as u64;
        self.keep(rest);
    }

    /// Bytes around the words of NCCL, which were looked at closely.
    #[must_use]
    pub fn searched(&self) -> u64 {
        self.searched
    }

    /// What was found.
    #[must_use]
    pub fn finish(mut self) -> Read {
        let line = std::mem::take(&mut self.pending);
        self.whole(&line);
        if let Some(line) = self.long {
            self.sink.read.left_out(format!(
                "line {line} and perhaps others were read to {} KiB (limit ENV_LOG_LINE)",
                ENV_LOG_LINE >> 10
            ));
        }
        self.sink.read
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = ENV_LOG_LINE.saturating_sub(self.pending.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.pending.extend_from_slice(taken);
        if taken.len() < bytes.len() && !std::mem::replace(&mut self.skipping, true) {
            let line = self.lines + 1;
            self.long.get_or_insert(line);
        }
    }

    /// Whole lines.
    fn whole(&mut self, bytes: &[u8]) {
        let mut hits: Vec<(usize, usize)> = Vec::new();
        for (sign, finder) in self.finders.iter().enumerate() {
            hits.extend(finder.find_iter(bytes).map(|at| (at, sign)));
        }
        hits.sort_unstable();
        let (mut counted, mut line) = (0, self.lines + 1);
        for (at, sign) in hits {
            let between = bytes.get(counted..at).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count() as u64;
            counted = at;
            let found = bytes.get(at..).unwrap_or_default();
            let stop = memchr::memchr(b'\n', found).unwrap_or(found.len()).min(ENV_LOG_SAID);
            let before = bytes.get(at.saturating_sub(120)..at).unwrap_or_default();
            self.searched += (before.len() + stop) as u64;
            let start = memchr::memrchr(b'\n', before).map_or(0, |s| s + 1);
            let before = String::from_utf8_lossy(before.get(start..).unwrap_or_default()).into_owned();
            let after = String::from_utf8_lossy(found.get(..stop).unwrap_or_default()).into_owned();
            self.said(sign, &before, &after, usize::try_from(line).unwrap_or(usize::MAX));
        }
    }

    fn said(&mut self, sign: usize, before: &str, after: &str, line: usize) {
        let after = after.split(['\r', '\x1b']).next().unwrap_or_default().trim_end();
        let at = |sink: &Sink| Origin { line: u32::try_from(line).ok(), ..sink.origin.clone() };
        match sign {
            0 | 1 => {
                if let Some((_, value)) = after.split_once(" to ") {
                    let name = match last_word(before) {
                        // `NET/Plugin: Plugin name set by env to libnccl-net-x.so`
                        "name" if before.contains("TUNER/") => "NCCL_TUNER_PLUGIN",
                        "name" if before.contains("PROFILER/") => "NCCL_PROFILER_PLUGIN",
                        "name" if before.ends_with("Plugin name") => "NCCL_NET_PLUGIN",
                        name => name,
                    };
                    self.setting(name, value, line);
                }
            }
            2 => {
                if let Some(value) = after.strip_prefix(" set to ") {
                    let name = last_word(before);
                    // Only these say it in these words; other sentences have them by chance.
                    let own = ["NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME", "NCCL_TUNER_PLUGIN"];
                    if own.contains(&name) {
                        self.setting(name, value, line);
                    }
                }
            }
            3 => {
                let Some(rest) = after.strip_prefix(" reset to ") else { return };
                if let Some((name, value)) = rest.split_once('=') {
                    self.setting(name, value, line);
                }
            }
            9 | 10 if before.is_empty() || before.ends_with([' ', '\t', ';', '&']) => {
                let word = after.split_once(' ').and_then(|(_, rest)| rest.split_whitespace().next());
                if let Some((name, value)) = word.and_then(|w| w.split_once('=')) {
                    self.setting(name, value.trim_matches(['"', '\'', ';']), line);
                }
            }
            4 if self.sink.read.nccl.is_none() => {
                let word = after.strip_prefix("NCCL version ").and_then(|v| v.split_whitespace().next());
                if let Some(v) = word.and_then(|w| w.parse::<Version>().ok()) {
                    self.sink.read.nccl = Some((v, at(&self.sink)));
                }
            }
            5 => {
                let Some(name) = after.strip_prefix("Using network ").map(|n| at_most(n.trim(), 60).to_owned()) else {
                    return;
                };
                if name.is_empty() || self.networks.contains(&name) || self.networks.len() > 8 {
                    return;
                }
                self.networks.push(name.clone());
                if self.sink.read.network.is_none() {
                    self.sink.read.network = Some((name, at(&self.sink)));
                } else {
                    self.sink.read.notes.push(format!("line {line} uses another network, {name}"));
                }
            }
            // RCCL prints them itself: `RCCL version : 2.21.5-HEAD:9a0e6a1`, `No plugin found (librccl-net.so)`.
            7 | 8 => self.sink.read.rccl = true,
            // `[0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>`
            6 => {
                let devices = after.split("OOB").next().unwrap_or_default();
                let link = |name: &str| devices.split([' ', ';']).any(|w| w.starts_with('[') && w.ends_with(name));
                let seen = match (link("/IB"), link("/RoCE")) {
                    (true, true) => Fabric::Mixed,
                    (true, false) => Fabric::InfiniBand,
                    (false, true) => Fabric::Roce,
                    (false, false) => return,
                };
                let before = self.sink.read.fabric;
                self.sink.read.fabric = Some(before.map_or(seen, |b| if b == seen { b } else { Fabric::Mixed }));
            }
            _ => {}
        }
    }

    fn setting(&mut self, name: &str, value: &str, line: usize) {
        let value = tidy(value);
        if !name.starts_with("NCCL_") {
            return;
        }
        let key = (at_most(name, 200).to_owned(), at_most(&value, ENV_VALUE).to_owned());
        // One more than is kept, so that the sink says what it leaves out.
        if self.seen.len() <= ENV_SETTINGS && self.seen.insert(key) {
            self.sink.put(name, &value, Some(line));
        }
    }
}

fn last_word(text: &str) -> &str {
    let word = text.bytes().rev().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    text.get(text.len() - word..).unwrap_or_default()
}

/// The full stop after a number is the sentence's; up to 2.12.7 negative numbers were printed as unsigned.
fn tidy(value: &str) -> String {
    let value = value.trim();
    let bare = value.strip_suffix('.').unwrap_or(value);
    let digits = bare.strip_prefix('-').unwrap_or(bare);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return value.to_owned();
    }
    match bare.parse::<u64>() {
        Ok(n) if n > i64::MAX.unsigned_abs() => n.cast_signed().to_string(),
        _ => bare.to_owned(),
    }
}

impl Setting {
    /// Whether NCCL itself said it.
    #[must_use]
    pub fn is_logged(&self) -> bool {
        self.origin.kind == crate::OriginKind::Log
    }
}
