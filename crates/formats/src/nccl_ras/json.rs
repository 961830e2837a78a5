//! The JSON form: everything that was gathered, which is judged here as RAS judges it for the text form.
//!
//! It is read token by token as it comes, since logs hold it between other lines, and whole or cut; its names occur once each where they matter.

use super::line::{ERRORS, keep};
use super::report::{
    Absent, Calls, Communicator, Errors, Gathered, Group, Member, Reached, Report, Reported, Share, Status, Totals,
    by_frequency,
};
use crate::bounds::{Limit, RAS_KEPT, RAS_RANKS, leave_out};
use crate::text::At;
use smol_str::{SmolStr, format_smolstr};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Names that only RAS writes.
const OWN: [&str; 3] = ["\"communicators_count\"", "\"secondary_hash\"", "\"missing_ranks_count\""];
/// Names that come before those.
const HEAD: [&str; 4] = ["\"nccl_version\"", "\"cuda_runtime_version\"", "\"cuda_driver_version\"", "\"timestamp\""];
/// Lines of others in a row after which a document has ended.
const OTHERS: u32 = 64;
/// NCCL's results that are no errors.
const SUCCESS: i64 = 0;
const IN_PROGRESS: i64 = 7;

/// Whether a document is RAS's.
pub(super) fn is_own(text: &str) -> bool {
    OWN.iter().any(|name| text.contains(name))
}

/// A document that is being read.
#[derive(Debug, Default)]
pub(super) struct Document {
    report: Report,
    /// Brackets that are open; `None` where the beginning was cut.
    depth: Option<u32>,
    key: SmolStr,
    /// Within the numbers of operations of a rank.
    is_counts: bool,
    communicator: Option<One>,
    rank: Option<Rank>,
    operations: Vec<SmolStr>,
    event: Option<(bool, Member)>,
    groups: HashMap<(u32, u32, Status, Errors), usize>,
    hosts: HashMap<SmolStr, u32>,
    processes: HashSet<(u32, u32)>,
    gpus: HashSet<(u32, u32)>,
    absent: HashSet<(SmolStr, Option<u32>)>,
    /// Too many to be counted.
    is_uncounted: bool,
    kept: usize,
    others: u32,
    has_ended: bool,
}

/// A communicator that is being read.
#[derive(Debug, Default)]
struct One {
    line: u32,
    hash: u64,
    size: Option<u32>,
    ranks: Vec<Rank>,
    missing: Vec<Rank>,
    hosts: HashSet<SmolStr>,
}

/// A rank that is being read.
#[derive(Debug, Default)]
struct Rank {
    member: Member,
    cuda: Option<u32>,
    nvml: Option<u32>,
    init: Option<i64>,
    asynchronous: i64,
    finalizes: bool,
    aborted: Option<bool>,
    /// Of a rank that is missing: whether its process did not answer.
    unresponsive: Option<bool>,
    dead: bool,
    calls: Vec<u64>,
}

impl Rank {
    fn status(&self) -> Status {
        match (self.aborted, self.finalizes, self.init) {
            (Some(true), ..) => Status::Abort,
            (_, true, _) => Status::Finalize,
            (_, _, Some(SUCCESS)) => Status::Running,
            _ => Status::Init,
        }
    }

    /// The errors that it reports: while the communicator was made, and later.
    fn errors(&self) -> impl Iterator<Item = (bool, i64)> {
        let of = [(true, self.init.unwrap_or(SUCCESS)), (false, self.asynchronous)];
        of.into_iter().filter(|(_, result)| !matches!(*result, SUCCESS | IN_PROGRESS))
    }
}

impl Document {
    /// Whether a line begins a document of RAS, or (`false`) may be the head of one.
    pub(super) fn begins(line: &str) -> Option<bool> {
        let is_json = line.trim_start().starts_with(['"', '{', '[', '}']);
        let has = |names: &[&str]| names.iter().any(|n| line.contains(n));
        let is_own = || has(&OWN) || line.contains("\"event\"") && line.contains("\"PEER_");
        if !is_json {
            None
        } else if is_own() {
            Some(true)
        } else {
            has(&HEAD).then_some(false)
        }
    }

    /// Whether a line begins the next document.
    pub(super) fn is_before(&self, line: &str) -> bool {
        let begun = self.report.reached > Reached::Head || self.communicator.is_some() || self.report.is_monitor;
        begun && line.contains("\"nccl_version\"")
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Takes a line; whether it is part of the document.
    pub(super) fn line(&mut self, number: u32, line: &str) -> bool {
        let trimmed = line.trim();
        if !is_json(trimmed) {
            self.others += u32::from(!trimmed.is_empty());
            self.has_ended |= self.others > OTHERS;
            return false;
        }
        self.others = 0;
        if self.report.lines.0 == 0 {
            self.report.lines.0 = number;
            self.report.is_json = true;
            let is_first = trimmed.contains(HEAD[0]);
            self.depth = (is_first || trimmed.starts_with('{')).then_some(u32::from(!trimmed.starts_with('{')));
        }
        self.report.lines.1 = number;
        let mut rest = trimmed;
        while let Some(first) = rest.as_bytes().first().copied() {
            rest = match first {
                b'"' => {
                    let Some((string, after)) = string(rest) else { break };
                    match after.trim_start().strip_prefix(':') {
                        Some(value) if self.key.is_empty() => {
                            self.key = keep(string);
                            value
                        }
                        _ => {
                            self.value(number, string);
                            after
                        }
                    }
                }
                b'{' | b'[' => {
                    self.open(number);
                    rest.get(1..).unwrap_or_default()
                }
                b'}' | b']' => {
                    self.close(first);
                    if self.has_ended {
                        break;
                    }
                    rest.get(1..).unwrap_or_default()
                }
                b',' | b':' | b' ' | b'\t' => rest.get(1..).unwrap_or_default(),
                _ => {
                    let is_end = |b: u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'"' | b'{' | b'[' | b':');
                    let end = rest.bytes().position(is_end).unwrap_or(rest.len()).max(1);
                    let Some((word, after)) = rest.split_at_checked(end) else { break };
                    self.value(number, word);
                    after
                }
            };
        }
        self.has_ended |= self.depth.is_none() && self.report.reached == Reached::Last;
        true
    }

    fn open(&mut self, number: u32) {
        if let Some(depth) = &mut self.depth {
            *depth += 1;
        }
        let key = std::mem::take(&mut self.key);
        match key.as_str() {
            "communicators" => self.report.reached = self.report.reached.max(Reached::Table),
            "collective_counts" => self.is_counts = true,
            "missing_ranks" => self.end_rank(number),
            "ras" => self.end_communicator(number),
            _ => {}
        }
    }

    fn close(&mut self, bracket: u8) {
        self.is_counts &= bracket != b'}';
        if let Some(depth) = &mut self.depth {
            *depth = depth.saturating_sub(1);
            self.has_ended |= *depth == 0;
        }
    }

    fn value(&mut self, line: u32, text: &str) {
        let key = std::mem::take(&mut self.key);
        let whole = || text.parse::<u32>().ok();
        let report = &mut self.report;
        if self.is_counts {
            self.calls(key, text);
            return;
        }
        match key.as_str() {
            "nccl_version" => report.nccl = Some(At::new(keep(text), line)),
            "cuda_runtime_version" => report.cuda_runtime = whole().filter(|v| *v > 0),
            "cuda_driver_version" => report.cuda_driver = whole().filter(|v| *v > 0),
            "timestamp" => report.time = Some(keep(text)),
            "communicators_count" => {
                report.reached = report.reached.max(Reached::Table);
                if text == "0" {
                    report.no_data = Some(At::new((), line));
                }
            }
            "hash" => {
                self.end_communicator(line);
                let hash = text.strip_prefix("0x").and_then(|h| u64::from_str_radix(h, 16).ok()).unwrap_or(0);
                self.communicator = Some(One { line, hash, ..One::default() });
            }
            "size" => {
                if let Some(c) = &mut self.communicator {
                    c.size = whole();
                }
            }
            "rank" => {
                self.end_rank(line);
                self.rank =
                    Some(Rank { member: Member { line, rank: whole(), ..Member::default() }, ..Rank::default() });
            }
            "collection_time_sec" => {
                report.gathered =
                    text.parse().ok().filter(|s: &f64| s.is_finite()).map(|seconds| Gathered { line, seconds });
            }
            "timeouts_count" => {
                report.timeouts = whole().filter(|n| *n > 0).map(|n| At::new(n, line));
                self.end_communicator(line);
                self.report.reached = Reached::Last;
            }
            "event" if text.starts_with("PEER_") => {
                report.is_monitor = true;
                self.event = match text {
                    "PEER_DEAD" | "PEER_TIMEOUT_DEAD" => Some((true, Member { line, ..Member::default() })),
                    "PEER_UNRESPONSIVE" => Some((false, Member { line, ..Member::default() })),
                    _ => None,
                };
            }
            _ => self.of_rank(key.as_str(), text),
        }
    }

    /// A field of a rank, or of the process of an event.
    fn of_rank(&mut self, key: &str, text: &str) {
        let is = text == "true";
        let Some(rank) = &mut self.rank else {
            if let Some((_, member)) = &mut self.event {
                match key {
                    "host" | "addr" => member.node = keep(text.split('<').next().unwrap_or(text)),
                    "pid" => member.pid = text.parse().ok(),
                    _ => {}
                }
            }
            return;
        };
        match key {
            "host" if text != "unknown" => rank.member.node = keep(text),
            "pid" => rank.member.pid = text.parse().ok(),
            "cuda_dev" => rank.cuda = text.parse().ok(),
            "nvml_dev" => rank.nvml = text.parse().ok(),
            "init_state" => rank.init = text.parse().ok(),
            "async_error" => rank.asynchronous = text.parse().unwrap_or(SUCCESS),
            "finalize_called" | "destroy_flag" => rank.finalizes |= is,
            "abort_flag" => rank.aborted = Some(is),
            "unresponsive" => rank.unresponsive = Some(is),
            "considered_dead" => {
                rank.dead = is;
                rank.unresponsive = Some(rank.unresponsive.unwrap_or(is));
            }
            _ => {}
        }
    }

    /// A number of operations.
    fn calls(&mut self, key: SmolStr, text: &str) {
        /// Kinds of operations at most: there are five.
        const MOST: usize = 32;
        let (Some(rank), Ok(count)) = (&mut self.rank, text.parse::<u64>()) else { return };
        let at = match self.operations.iter().position(|o| *o == key) {
            Some(at) => at,
            None if self.operations.len() < MOST => {
                self.operations.push(key);
                self.operations.len() - 1
            }
            None => return,
        };
        if rank.calls.len() <= at {
            rank.calls.resize(at + 1, 0);
        }
        if let Some(slot) = rank.calls.get_mut(at) {
            *slot = count;
        }
    }

    /// The rank has ended, at this line or at the end of a text that was cut.
    fn end_rank(&mut self, line: u32) {
        let Some(mut rank) = self.rank.take() else { return };
        self.is_counts = false;
        // Cut before its status.
        if rank.unresponsive.is_none() && rank.aborted.is_none() {
            return;
        }
        rank.member.gpus = match (rank.cuda, rank.nvml) {
            (Some(cuda), Some(nvml)) if cuda != nvml => format_smolstr!("{cuda} (NVML {nvml})"),
            (Some(cuda), _) => format_smolstr!("{cuda}"),
            _ => SmolStr::default(),
        };
        self.count(&rank);
        let Some(c) = &mut self.communicator else { return };
        if c.ranks.len() + c.missing.len() >= RAS_RANKS {
            return leave_out(&mut self.report.left_out, Limit::RAS_RANKS, line);
        }
        c.hosts.insert(rank.member.node.clone());
        if rank.unresponsive.is_some() { c.missing.push(rank) } else { c.ranks.push(rank) }
    }

    /// Counts its process, and keeps it where it does not answer.
    fn count(&mut self, rank: &Rank) {
        let Member { node, pid, line, .. } = &rank.member;
        if let Some(pid) = *pid
            && !node.is_empty()
        {
            let next = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
            let host = *self.hosts.entry(node.clone()).or_insert(next);
            self.processes.insert((host, pid));
            self.gpus.extend(rank.nvml.map(|gpu| (host, gpu)));
            self.is_uncounted |= self.processes.len() > RAS_RANKS || self.gpus.len() > RAS_RANKS;
            if self.is_uncounted {
                self.processes.clear();
                self.gpus.clear();
                self.hosts.clear();
            }
        }
        let is_absent = rank.dead || rank.unresponsive == Some(true);
        if !is_absent || self.absent.contains(&(node.clone(), *pid)) || !self.keep(*line) {
            return;
        }
        self.absent.insert((node.clone(), *pid));
        let list = if rank.dead { &mut self.report.dead } else { &mut self.report.missing };
        let absent = list.get_or_insert_with(|| Absent { line: *line, ..Absent::default() });
        absent.count += 1;
        absent.members.push(Member { rank: None, ..rank.member.clone() });
    }

    fn keep(&mut self, line: u32) -> bool {
        let room = self.kept < RAS_KEPT;
        self.kept += usize::from(room);
        if !room {
            leave_out(&mut self.report.left_out, Limit::RAS_KEPT, line);
        }
        room
    }

    /// The communicator has ended: what is unusual of it is kept.
    fn end_communicator(&mut self, line: u32) {
        self.end_rank(line);
        let Some(c) = self.communicator.take() else { return };
        let (missing, left): (Vec<&Rank>, Vec<&Rank>) =
            c.missing.iter().partition(|r| r.dead || r.unresponsive == Some(true));
        let of_ranks = c.ranks.iter().map(|r| (r.status(), r)).chain(left.iter().map(|r| (Status::NoComm, *r)));
        let mut statuses: BTreeMap<Status, Vec<&Rank>> = BTreeMap::new();
        of_ranks.for_each(|(status, r)| statuses.entry(status).or_default().push(r));
        let furthest = statuses.keys().next_back().copied().unwrap_or(Status::NoComm);
        let mut reported: BTreeMap<(bool, i64), Vec<&Rank>> = BTreeMap::new();
        for r in &c.ranks {
            r.errors().for_each(|e| reported.entry(e).or_default().push(r));
        }
        let operations = std::mem::take(&mut self.operations);
        let differing: Vec<(&SmolStr, BTreeMap<u64, Vec<&Rank>>)> = operations
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let mut by_count: BTreeMap<u64, Vec<&Rank>> = BTreeMap::new();
                for r in &c.ranks {
                    by_count.entry(r.calls.get(at).copied().unwrap_or(0)).or_default().push(r);
                }
                (name, by_count)
            })
            .filter(|(_, by_count)| by_count.len() > 1)
            .collect();
        let errors = Errors {
            incomplete: !missing.is_empty(),
            error: !reported.is_empty(),
            mismatch: !left.is_empty() || statuses.len() > 1 || !differing.is_empty(),
        };
        let seen = c.ranks.len() + c.missing.len();
        let size = c.size.unwrap_or(u32::try_from(seen).unwrap_or(u32::MAX));
        let answered = u32::try_from(c.ranks.len()).unwrap_or(u32::MAX);
        self.group(&c, size, answered, furthest, errors);
        if errors.is_ok() || !self.keep(c.line) {
            return;
        }
        let mut out = Communicator { line: c.line, hash: c.hash, size: c.size, errors, ..Communicator::default() };
        if let Some(first) = missing.first() {
            out.missing = Some(self.absent(first.member.line, &missing));
        }
        if statuses.len() > 1 {
            out.statuses = statuses.into_iter().map(|(what, ranks)| self.share(what, &ranks, seen)).collect();
            by_frequency(&mut out.statuses);
        }
        for (name, by_count) in differing {
            let mut launched: Vec<_> = by_count.into_iter().map(|(n, ranks)| self.share(n, &ranks, seen)).collect();
            by_frequency(&mut launched);
            out.calls.push(Calls { line: c.line, operation: Some(name.clone()), launched });
        }
        for ((is_initialization, result), ranks) in reported {
            let at = usize::try_from(result).unwrap_or(usize::MAX).saturating_sub(1);
            let error = ERRORS.get(at).unwrap_or(&"Unexpected error");
            let what = Reported { is_initialization, error: SmolStr::new_static(error) };
            let Share { line, count, members, .. } = self.share((), &ranks, usize::MAX);
            out.reported.push(Share { line, what, count, members });
        }
        self.report.communicators.push(out);
    }

    /// Adds the communicator to those that are like it.
    fn group(&mut self, c: &One, ranks: u32, answered: u32, status: Status, errors: Errors) {
        let nodes = u32::try_from(c.hosts.len()).unwrap_or(u32::MAX);
        if let Some(g) = self.groups.get(&(ranks, nodes, status, errors)).and_then(|at| self.report.groups.get_mut(*at))
        {
            g.communicators = g.communicators.saturating_add(1);
            g.answered = g.answered.saturating_add(answered);
        } else if self.keep(c.line) {
            let at = self.report.groups.len();
            self.groups.insert((ranks, nodes, status, errors), at);
            let number = u32::try_from(at).unwrap_or(u32::MAX);
            let group = Group { line: c.line, number, communicators: 1, nodes, ranks, answered, status, errors };
            self.report.groups.push(group);
        }
    }

    /// Ranks of which the same is said; those are named that are fewer than half.
    fn share<T>(&mut self, what: T, ranks: &[&Rank], all: usize) -> Share<T> {
        let line = ranks.first().map_or(0, |r| r.member.line);
        let Absent { count, members, .. } = if ranks.len() == 1 || ranks.len() < all.div_ceil(2) {
            self.absent(line, ranks)
        } else {
            Absent { line, count: u32::try_from(ranks.len()).unwrap_or(u32::MAX), members: Vec::new() }
        };
        Share { line, what, count, members }
    }

    fn absent(&mut self, line: u32, ranks: &[&Rank]) -> Absent {
        let count = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
        let mut members = Vec::new();
        for r in ranks {
            if self.keep(r.member.line) {
                members.push(r.member.clone());
            }
        }
        Absent { line, count, members }
    }

    /// What was read; `None` where nothing of it is RAS's.
    pub(super) fn finish(mut self) -> Option<Report> {
        let last = self.report.lines.1;
        self.end_communicator(last);
        if let Some((dead, member)) = self.event.take().filter(|(_, m)| m.pid.is_some() || !m.node.is_empty()) {
            let absent = Absent { line: member.line, count: 1, members: vec![member] };
            *(if dead { &mut self.report.dead } else { &mut self.report.missing }) = Some(absent);
        }
        let [nodes, processes, gpus] =
            [self.hosts.len(), self.processes.len(), self.gpus.len()].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        // Where the beginning was cut, further communicators and their processes may have stood there.
        if self.depth.is_none() {
            self.report.reached = self.report.reached.min(Reached::Errors);
        }
        if processes > 0 && !self.is_uncounted && self.report.reached == Reached::Last {
            self.report.job = Some(At::new(Totals { nodes, processes, gpus }, self.report.lines.0));
        }
        Some(self.report)
    }
}

/// Whether a line can be one of a document.
fn is_json(line: &str) -> bool {
    match line.as_bytes() {
        [b'"', ..] => true,
        [b'{' | b'}' | b'[' | b']', rest @ ..] => {
            let next = rest.iter().find(|b| !b.is_ascii_whitespace());
            next.is_none_or(|b| matches!(b, b'"' | b'{' | b'}' | b'[' | b']' | b','))
        }
        _ => false,
    }
}

/// The string at the beginning of a text, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some((text.get(1..at)?, text.get(at + 1..)?));
        }
        at += 2;
    }
}
