//! What PyTorch's `ProcessGroupNCCL` logs when collectives fail: the watchdog's lines of releases 1.8 to 2.9, and NCCL's errors
//! as exceptions show them.
//!
//! A rank is shown twice: `[rank3]:` is the process's rank in the job (since 2.2), `[PG ID 2 PG GUID 5(tp) Rank 1]` its rank in one
//! process group. They are kept apart.

mod event;
mod shape;

pub use shape::is_error_class;

pub use event::{Error, ErrorKind, Event, Group, Lag, Line, Progress, Reason, Timeout};

use crate::printed;
use crate::text::decode;
use aho_corasick::AhoCorasick;
use smol_str::SmolStr;
use std::sync::LazyLock;
use std::time::Duration;

/// Longest text that is kept of a line.
const MAX_TEXT: usize = 1024;
/// Lines beyond this length are cut: tracebacks of exceptions in one line.
const MAX_LINE: usize = 65_536;
/// Ranks that one line may name.
const MAX_RANKS: usize = 65_536;

/// Reads lines as they come.
#[derive(Debug, Default)]
pub struct Reader {
    /// The line before was `Last error:`.
    awaits_error: bool,
    /// The beginning of a timeout's line that a terminal or a mail wrapped, and how many lines it has.
    wrapped: Option<(String, u8)>,
}

/// What a line must contain to be looked at.
static MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let marks = [
        "WorkNCCL(",
        "caught collective operation timeout:",
        "NCCL work: ",
        "enqueued work: ",
        "dump signal from",
        "watchdog got stuck",
        "Heartbeat monitor timed out",
        "entire process down",
        "thread terminated with exception",
        "NCCL error in",
        "NCCL Error ",
        "nccl",
        "Last error:",
        "the lagging ranks",
        " collective #",
        "mismatch between collectives",
        "store->get",
        "client socket has timed out",
    ];
    crate::text::any_of(marks)
});

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Line> {
    let text = decode(bytes);
    let mut reader = Reader::default();
    let lines = crate::text::lines(&text);
    lines.filter_map(|(number, line)| reader.line(number, line.as_bytes())).take(crate::bounds::TEXT_ITEMS).collect()
}

impl Reader {
    /// Takes the next line, without its end, and says what it is. `number` is 1-based.
    pub fn line(&mut self, number: u32, bytes: &[u8]) -> Option<Line> {
        // The library's log of other threads may come between.
        if crate::launcher::is_nccl_info(bytes) {
            return None;
        }
        let awaits = std::mem::take(&mut self.awaits_error);
        if let Some(line) = self.unwrap_line(number, bytes) {
            return Some(line);
        }
        if !awaits && MARKS.as_ref().is_some_and(|m| !m.is_match(bytes)) {
            return None;
        }
        let text = decode(bytes.get(..MAX_LINE).unwrap_or(bytes));
        let text = text.trim_end();
        if !awaits && !shape::begins(text) {
            return None;
        }
        let (rank, after) = job_rank(text);
        let (group, group_rank, message) = group(after);
        let event = match event(message) {
            Some(event) => event,
            // NCCL's words stand in the line after; an empty line means that it had none.
            None if awaits && !message.trim().is_empty() => Event::LastError { text: kept(message) },
            None => {
                self.awaits_error = message.trim_end().ends_with("Last error:");
                if message.contains(TIMEOUT) {
                    self.wrapped = Some((text.to_owned(), 1));
                }
                return None;
            }
        };
        self.awaits_error = message.trim_end().ends_with("Last error:");
        Some(Line { line: number, rank, group_rank, group, event })
    }
}

/// What a timeout's line begins with; it ends with how long the collective ran.
const TIMEOUT: &str = "caught collective operation timeout:";
/// Lines that a wrapped one may have.
const MAX_WRAPS: u8 = 4;

impl Reader {
    /// The line before, and this one as its rest.
    fn unwrap_line(&mut self, number: u32, bytes: &[u8]) -> Option<Line> {
        let (before, count) = self.wrapped.take()?;
        let rest = decode(bytes.get(..MAX_TEXT).unwrap_or(bytes));
        let rest = printed::own(&rest).text;
        // A new line of the logger ends the wait.
        if rest.is_empty() || rest.contains(TIMEOUT) || rest.starts_with('[') || before.len() > MAX_TEXT * 4 {
            return None;
        }
        // A terminal cuts numbers in two; a person breaks at blanks.
        let cut = before.ends_with(|c: char| c.is_ascii_alphanumeric())
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric);
        let text = if cut { format!("{before}{rest}") } else { format!("{before} {rest}") };
        let (rank, after) = job_rank(&text);
        let (group, group_rank, message) = group(after);
        if let Some((_, work)) = message.split_once("WorkNCCL(")
            && let Some(timeout) = timeout(work)
        {
            return Some(Line { line: number, rank, group_rank, group, event: Event::Timeout(timeout) });
        }
        self.wrapped = (count < MAX_WRAPS).then_some((text, count + 1));
        None
    }
}

fn kept(text: &str) -> String {
    text.trim().chars().take(MAX_TEXT).collect()
}

/// `[rank3]:`, behind tags of launchers.
fn job_rank(text: &str) -> (Option<u32>, &str) {
    let found = text.split_once("[rank").and_then(|(_, r)| {
        let (number, rest) = r.split_once(']')?;
        Some((number.parse().ok()?, rest.strip_prefix(':').unwrap_or(rest)))
    });
    found.map_or((None, text), |(rank, rest)| (Some(rank), rest))
}

/// `[E ProcessGroupNCCL.cpp:828] [Rank 3] `, `[E227 16:30:43.5 ProcessGroupNCCL.cpp:1785] [PG ID 2 PG GUID 3 Rank 3] `.
fn group(text: &str) -> (Option<Group>, Option<u32>, &str) {
    let none = (None, None, text);
    for (at, _) in text.match_indices('[').take(64) {
        let Some((inner, rest)) = text.get(at + 1..).and_then(|t| t.split_once(']')) else { return none };
        let Some((before, number)) = inner.rsplit_once("Rank ") else { continue };
        let Ok(rank) = number.trim().parse::<u32>() else { continue };
        let before = before.trim();
        if before.is_empty() {
            return (None, Some(rank), rest);
        }
        if let Some(group) = process_group(before) {
            return (Some(group), Some(rank), rest);
        }
    }
    none
}

fn process_group(text: &str) -> Option<Group> {
    let mut group = Group::default();
    let (text, name) = match text.split_once('(') {
        Some((text, name)) => (text.trim_end(), Some(name.trim_end_matches(')'))),
        None => (text, None),
    };
    group.name = name.filter(|n| !n.is_empty()).map(short);
    match text.split_once("PG GUID ") {
        Some((id, guid)) => {
            group.guid = Some(short(guid));
            group.id = id.trim().strip_prefix("PG ID ").and_then(|n| n.trim().parse().ok());
        }
        None => group.id = Some(text.strip_prefix("PG ")?.trim().parse().ok()?),
    }
    Some(group)
}

fn short(text: &str) -> SmolStr {
    text.trim().chars().take(128).collect::<String>().into()
}

fn event(text: &str) -> Option<Event> {
    if let Some((_, rest)) = text.split_once("thread terminated with exception:") {
        // The exception's text is the watchdog's own line, as a rule cut out of the log above it.
        let caught = rest.split_once("caught collective operation timeout: WorkNCCL(").and_then(|(_, w)| timeout(w));
        if let Some(timeout) = caught {
            return Some(Event::Timeout(timeout));
        }
        if let Some(error) = error(rest).filter(|e| e.kind != ErrorKind::Other) {
            return Some(Event::Error(error));
        }
        return Some(Event::Terminated { text: kept(rest) });
    }
    if let Some((_, work)) = text.split_once("WorkNCCL(")
        && let Some(timeout) = timeout(work)
    {
        return Some(Event::Timeout(timeout));
    }
    if let Some(progress) = progress(text) {
        return Some(Event::Progress(progress));
    }
    if text.contains("dump signal from another rank") {
        return Some(Event::DumpObserved);
    }
    if text.contains("watchdog got stuck") || text.contains("Heartbeat monitor timed out") {
        let seconds = text.split_once("got stuck for ").and_then(|(_, r)| leading(r));
        return Some(Event::WatchdogStuck { after: seconds.map(Duration::from_secs) });
    }
    if text.contains("taking the entire process down") {
        return Some(Event::TakenDown);
    }
    if text.contains("are the lagging ranks") || text.contains("collective #") && text.contains("didn't ") {
        return Some(lagging(text));
    }
    if text.contains("mismatch between collectives") {
        return Some(Event::Mismatch { text: kept(text) });
    }
    if text.contains("store->get(") && text.contains("error") || text.contains("client socket has timed out") {
        return Some(Event::Store { text: kept(text) });
    }
    error(text).map(Event::Error).or_else(|| {
        let (_, words) = text.split_once("Last error:")?;
        (!words.trim().is_empty()).then(|| Event::LastError { text: kept(words) })
    })
}

/// The digits at the start.
fn leading(text: &str) -> Option<u64> {
    crate::text::leading_number(text)
}

/// What follows `WorkNCCL(`.
fn timeout(work: &str) -> Option<Timeout> {
    let operation = field(work, "OpType=")?;
    let milliseconds = |t: &str| leading(t).map(Duration::from_millis);
    let number = |name: &str| work.split_once(name).and_then(|(_, v)| leading(v));
    Some(Timeout {
        sequence: number("SeqNum="),
        operation: short(operation),
        elements_in: number("NumelIn="),
        elements_out: number("NumelOut="),
        shape: work.split_once("TensorShape=[").and_then(|(_, s)| s.split_once(']')).map(|(s, _)| short(s)),
        limit: work.split_once("Timeout(ms)=").and_then(|(_, v)| milliseconds(v)),
        // Without this the line only names a collective.
        ran: Some(work.split_once(") ran for ").and_then(|(_, v)| milliseconds(v))?),
    })
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = text.split_once(name)?;
    value.split([',', ')']).next()
}

fn progress(text: &str) -> Option<Progress> {
    let number = |names: [&str; 2]| {
        let (_, value) = names.iter().find_map(|n| text.split_once(n))?;
        // -1: none.
        Some(if value.starts_with('-') { None } else { Some(leading(value)?) })
    };
    let enqueued = number(["enqueued NCCL work: ", "enqueued work: "])?;
    let completed = number(["completed NCCL work: ", "completed work: "])?;
    let at = ["work sequence id: ", "watchdog at work: ", "Timeout at NCCL work: "];
    let at = at.iter().find_map(|n| text.split_once(n)).and_then(|(_, v)| leading(v));
    let reason = match () {
        () if at.is_some() => Reason::Failure,
        () if text.contains("from this local rank") => Reason::DumpOfItself,
        () if text.contains("dump signal") => {
            let rank = text.split_once("timeout from ").map(|(_, r)| r.trim_start());
            let rank = rank.and_then(|r| leading(r.strip_prefix("rank ")?)).and_then(|r| u32::try_from(r).ok());
            Reason::DumpForAnother(rank)
        }
        () if text.contains("periodically") => Reason::Periodic,
        () => Reason::Failure,
    };
    Some(Progress { reason, at, enqueued, completed })
}

/// `- [0, 2] finished collective #3, but didn't join collective #4 (count from 1)`, `ranks [1] are the lagging ranks …`.
fn lagging(text: &str) -> Event {
    // Tags of launchers have brackets, too; the list is the last one.
    let list = text.rsplit_once('[').and_then(|(_, r)| r.split_once(']')).map(|(l, _)| l).unwrap_or_default();
    let ranks = list.split(',').filter_map(|r| r.trim().parse().ok()).take(MAX_RANKS).collect();
    let collective = text.rsplit_once("collective #").and_then(|(_, r)| leading(r));
    let lag = match () {
        () if text.contains("didn't join") => Lag::DidNotJoin,
        () if text.contains("didn't finish") => Lag::DidNotFinish,
        () => Lag::NeverJoined,
    };
    Event::Lagging { ranks, lag, collective, text: kept(text) }
}

/// NCCL's results, as exceptions name them: `ncclSystemError: …`.
const RESULTS: &[(&str, ErrorKind)] = &[
    ("ncclUnhandledCudaError", ErrorKind::Cuda),
    ("ncclSystemError", ErrorKind::System),
    ("ncclInternalError", ErrorKind::Internal),
    ("ncclInvalidArgument", ErrorKind::InvalidArgument),
    ("ncclInvalidUsage", ErrorKind::InvalidUsage),
    ("ncclRemoteError", ErrorKind::Remote),
];

fn error(text: &str) -> Option<Error> {
    const WORDS: &[(&str, ErrorKind)] = &[
        ("unhandled cuda error", ErrorKind::Cuda),
        ("unhandled system error", ErrorKind::System),
        ("internal error", ErrorKind::Internal),
        ("invalid argument", ErrorKind::InvalidArgument),
        ("invalid usage", ErrorKind::InvalidUsage),
        ("remote process exited", ErrorKind::Remote),
    ];
    let in_exception = ["NCCL error in: ", "NCCL error: ", "NCCL Error "]
        .iter()
        .find_map(|m| text.split_once(m).map(|(_, rest)| rest));
    let Some(rest) = in_exception else {
        let text = text.trim_start();
        let (_, kind) = RESULTS.iter().find(|(n, _)| text.strip_prefix(n).is_some_and(|r| r.starts_with(':')))?;
        return Some(Error { kind: *kind, version: None, text: kept(text) });
    };
    let named = WORDS.iter().find(|(w, _)| rest.contains(w)).or_else(|| RESULTS.iter().find(|(n, _)| rest.contains(n)));
    let version = rest.split_once("NCCL version ").and_then(|(_, v)| {
        let end = v.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '+'))).unwrap_or(v.len());
        v.get(..end).map(|v| v.trim_end_matches('.')).filter(|v| v.starts_with(|c: char| c.is_ascii_digit()))
    });
    Some(Error { kind: named.map_or(ErrorKind::Other, |(_, k)| *k), version: version.map(short), text: kept(rest) })
}

#[cfg(test)]
mod tests;
