//! A line taken apart: what a launcher put before it, who printed it, the level, the message.

use super::glued::is_release;
use crate::dmesg::is_iso;
use crate::printed;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Level of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The line with the release.
    Version,
    /// A warning: an error, as a rule.
    Warn,
    /// Information.
    Info,
    /// A call of the interface, or a trace.
    Trace,
}

/// A line of NCCL's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// What comes before: time stamps, tags of launchers. Often empty.
    pub before: &'a str,
    /// `host:pid:tid [device]`, as printed; empty where the line has no head. Equal heads are one thread.
    pub who: &'a str,
    /// Level.
    pub level: Level,
    /// `file:line` in NCCL's source, of warnings.
    pub source: Option<&'a str>,
    /// The rest.
    pub message: &'a str,
}

/// Which thread of which process of which host prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Who<'a> {
    /// Host name, as far as NCCL prints it.
    pub host: &'a str,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// CUDA device of the thread at that moment, as the process numbers them.
    pub device: Option<u32>,
}

impl<'a> Who<'a> {
    /// Reads `host:pid:tid [device]`.
    #[must_use]
    pub fn read(who: &'a str) -> Option<Self> {
        let (ids, device) = match who.split_once(" [") {
            Some((ids, device)) => (ids, device.strip_suffix(']')?.parse().ok()),
            None => (who, None),
        };
        let (rest, tid) = ids.rsplit_once(':')?;
        let (rest, pid) = rest.rsplit_once(':')?;
        // A tag such as `[1,0]<stdout>:` or `12:` may be glued to the host, whose name has no colon; or a time.
        let rest = behind_time(rest).unwrap_or(rest);
        let host = rest.rsplit_once(':').map_or(rest, |(_, host)| host);
        Some(Who { host, pid: pid.parse().ok()?, tid: tid.parse().ok()?, device })
    }
}

/// What is glued to a time: `2025-05-16T16:39:51.208-07:00` of CloudWatch's console, copied.
fn behind_time(text: &str) -> Option<&str> {
    let clock = is_iso(text.as_bytes()).then(|| text.get("2025-05-16T".len()..)).flatten()?;
    let zone = clock.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | ','));
    let rest = zone.strip_prefix('Z').or_else(|| {
        let (offset, rest) = zone.strip_prefix(['+', '-'])?.split_at_checked("07:00".len())?;
        offset.bytes().all(|b| b.is_ascii_digit() || b == b':').then_some(rest)
    })?;
    (!rest.is_empty()).then_some(rest)
}

pub(super) static ANCHOR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("NCCL "));

/// Tries of the anchor in one line: prose names the library, too.
const TRIES: usize = 4;

/// Takes a line apart; `None` for a line that NCCL did not print: a sentence, a list or a command that names one. A head that was cut off
/// leaves `who` empty.
#[must_use]
pub fn split(line: &str) -> Option<Line<'_>> {
    let mut from = 0;
    for _ in 0..TRIES {
        let at = from + ANCHOR.find(line.as_bytes().get(from..)?)?;
        let rest = line.get(at + 5..)?;
        if let Some((level, message)) = level(rest) {
            let text = line.get(..at)?;
            let found = head(text, level, message);
            if is_printed(text, &found) {
                return Some(found);
            }
            // Behind a release that somebody else's text runs into, the next message has its own head.
            if level != Level::Version || !is_release(message) {
                return None;
            }
        }
        from = at + 5;
    }
    None
}

/// A line without the library's name, as releases before 2.4 print it and as people shorten it: `host:1:2 [0] INFO NET/Socket : …`,
/// `include/socket.h:360 WARN Call to connect failed`, `INFO NET/IB : …`. Without a head only what no other program says.
#[must_use]
pub fn split_short(line: &str) -> Option<Line<'_>> {
    let at = line.find("INFO ").or_else(|| line.find("WARN "))?;
    let (level, message) = level(line.get(at..)?)?;
    let text = line.get(..at)?;
    let found = head(text, level, message);
    let ours =
        ["NET/", "Call to ibv_", "Call to connect ", "Failed to open lib", "Bootstrap : ", "P2P is disabled between "];
    let known = ours.iter().any(|o| message.starts_with(o));
    let is_ours = !found.who.is_empty() && Who::read(found.who).is_some() || known;
    (is_ours && is_printed(text, &found)).then_some(found)
}

/// Whether NCCL printed the line: what comes before it is nothing, its head, or what launchers put there.
fn is_printed(text: &str, l: &Line<'_>) -> bool {
    if !l.who.is_empty() {
        let quoted = l.who.starts_with(['`', '"', '\'', '“', '‘']);
        return !quoted && (l.before.len() <= 1 || !printed::is_prose(l.before));
    }
    let text = text.trim_end();
    if l.level == Level::Version && is_release(l.message) && is_label(printed::own(text).text) {
        return true;
    }
    // What is quoted needs its head: without it, it may be anybody's words.
    if printed::own(text).quoted || text.trim_start().starts_with('>') {
        return false;
    }
    if text.is_empty() {
        // Two words of the library's name in a sentence are no version: `NCCL version 2.21.5 hangs here`.
        return match l.level {
            Level::Version => !l.message.contains(' '),
            _ => starts_as_message(l.message),
        };
    }
    // A head that was cut at its beginning: `-1:946:988 [0]`, ` [0] file.cc:839 (function)`.
    let located = if text.ends_with(')') { text.rsplit_once(" (").map_or(text, |(t, _)| t) } else { text };
    let rest = match located.rsplit_once(' ') {
        _ if l.source.is_none() => located,
        Some((rest, _)) => rest.trim_end(),
        None => "",
    };
    let device = rest.strip_suffix(']').and_then(|r| r.rsplit_once('[')).map(|(_, device)| device);
    if device.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit())) {
        return !printed::is_prose(rest);
    }
    // `get_ofi_provider:312 NCCL WARN`: a plugin names its function.
    let own = printed::own(rest).text;
    let function = own.rsplit_once(':').is_some_and(|(name, line)| {
        !line.is_empty()
            && line.bytes().all(|b| b.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'/' | b'-'))
    });
    if function && l.level == Level::Warn {
        return true;
    }
    let tags = printed::is_tags(rest);
    tags && (l.source.is_some() || l.level == Level::Version || starts_as_message(l.message))
}

/// Whether a text is nothing, or one name with its mark: `10.0.0.9 | `, `worker: `, `│ `.
fn is_label(text: &str) -> bool {
    const MARKS: [char; 6] = ['|', '│', '┃', ':', ']', '>'];
    let text = text.trim();
    let name = text.trim_end_matches(MARKS);
    text.is_empty() || name.len() < text.len() && !name.trim_end().contains(char::is_whitespace)
}

/// Whether a text without a head begins as a message does, not as a sentence: `lines of this kind are harmless`.
fn starts_as_message(message: &str) -> bool {
    let word = message.split([' ', '(']).next().unwrap_or_default();
    let first = word.bytes().next();
    // Names of files, of calls, of variables; capitals; numbers.
    first.is_some_and(|b| !b.is_ascii_lowercase())
        || word.contains(['_', '/', ':', '.', '='])
        || MESSAGES.iter().any(|m| message.starts_with(m))
}

/// Messages that begin with a small letter.
const MESSAGES: &[&str] = &[
    "comm 0x",
    "socket",
    "connect",
    "cuda",
    "dlopen",
    "nccl",
    "bootstrap",
    "ibv_",
    "wrap_",
    "peer query",
    "init",
    "misc",
    "no device found ",
    "failed to open CUDA IPC handle : ",
    "failed to peer with device ",
    "improper usage of nccl",
    "communicator encountered a fatal error",
    "lib wrapper not initialized",
    "nvmlInit",
    "nvmlDevice",
];

pub(super) fn level(rest: &str) -> Option<(Level, &str)> {
    let (level, message) = match rest.as_bytes() {
        [b'I', b'N', b'F', b'O', ..] => (Level::Info, rest.get(4..)?),
        [b'W', b'A', b'R', b'N', ..] => (Level::Warn, rest.get(4..)?),
        [b'v', b'e', b'r', b's', b'i', b'o', b'n', b' ', ..] => {
            let text = rest.get(8..)?;
            return text.starts_with(|c: char| c.is_ascii_digit()).then_some((Level::Version, text));
        }
        [b'T', b'R', b'A', b'C', b'E', ..] => (Level::Trace, rest.get(5..)?),
        [b'C', b'A', b'L', b'L', b' ', ..] => (Level::Trace, rest.get(4..)?),
        _ => return None,
    };
    // `NCCL WARN:` of other programs, too.
    let message = message.strip_prefix(':').unwrap_or(message);
    matches!(message.as_bytes().first(), None | Some(b' ' | b'\t')).then(|| (level, trim(message)))
}

/// Without white space at its ends. Nearly all messages have one blank before and nothing after.
fn trim(message: &str) -> &str {
    let message = message.strip_prefix(' ').unwrap_or(message);
    match message.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => message,
        _ => message.trim(),
    }
}

pub(super) fn head<'a>(before: &'a str, level: Level, message: &'a str) -> Line<'a> {
    let bare = Line { before, who: "", level, source: None, message };
    let text = match before.as_bytes() {
        [.., b']', b' '] => before.get(..before.len() - 1).unwrap_or_default(),
        _ => before.trim_end(),
    };
    let (text, source) = match text.as_bytes().last() {
        None => return bare,
        Some(b']') => (text, None),
        // `file.cc:123` or `file.cc:123 (function)`, of warnings and traces.
        Some(_) => {
            let located = if text.ends_with(')') { text.rsplit_once(" (").map_or(text, |(t, _)| t) } else { text };
            match located.rsplit_once(' ') {
                Some((rest, source)) if rest.trim_end().ends_with(']') => (rest.trim_end(), Some(source)),
                // `NCCL CALL` has no device.
                _ if level == Level::Trace => return process(before, text, level, message),
                _ => return Line { source: located.contains(".cc:").then_some(located.trim()), ..bare },
            }
        }
    };
    let headless = Line { source, ..bare };
    let bytes = text.as_bytes();
    let Some(open) = memchr::memrchr(b'[', bytes).filter(|open| *open > 0 && bytes.get(open - 1) == Some(&b' ')) else {
        return headless;
    };
    let device = bytes.get(open + 1..bytes.len() - 1).unwrap_or_default();
    let ids = bytes.get(..open - 1).unwrap_or_default();
    let start = memchr::memrchr3(b' ', b'\t', b'>', ids).map_or(0, |at| at + 1);
    let token = ids.get(start..).unwrap_or_default();
    let colons = token.iter().filter(|b| **b == b':').count();
    if !device.iter().all(u8::is_ascii_digit) || colons < 2 {
        return headless;
    }
    let (Some(before), Some(who)) = (before.get(..start), text.get(start..)) else { return headless };
    Line { before, who: who.strip_prefix(':').unwrap_or(who), level, source, message }
}

/// `host:pid:tid` without a device.
fn process<'a>(before: &'a str, text: &'a str, level: Level, message: &'a str) -> Line<'a> {
    let start = text.rfind([' ', '\t']).map_or(0, |at| at + 1);
    let who = text.get(start..).filter(|w| Who::read(w).is_some()).unwrap_or_default();
    Line { before: before.get(..start).unwrap_or_default(), who, level, source: None, message }
}
