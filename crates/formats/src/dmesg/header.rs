//! What comes before the message.

use crate::text::unquoted;
use crate::{host_name, printed};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// When a line was logged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Time<'a> {
    /// Seconds since boot.
    Seconds(f64),
    /// A date, as printed.
    Text(&'a str),
}

/// What comes before the message, and the message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Head<'a> {
    /// When, where the line says so.
    pub time: Option<Time<'a>>,
    /// The machine that logged it, as it is printed; [`host_name::short`] makes names of one machine equal.
    pub host: Option<&'a str>,
    /// The message without time, level, host.
    pub message: &'a str,
}

/// One prefix, and what is behind it.
struct Prefix<'a> {
    time: Option<Time<'a>>,
    host: Option<&'a str>,
    rest: &'a str,
}

impl<'a> Prefix<'a> {
    fn timed(time: Time<'a>, rest: &'a str) -> Self {
        Prefix { time: Some(time), host: None, rest }
    }

    fn bare(rest: &'a str) -> Self {
        Prefix { time: None, host: None, rest }
    }

    fn of(self, host: Option<&'a str>) -> Self {
        Prefix { host, ..self }
    }
}

/// Separates time and message: [`head`] without the host.
pub fn split(raw: &str) -> (Option<Time<'_>>, &str) {
    let head = head(raw);
    (head.time, head.message)
}

/// Separates what comes before the message. Prefixes stack (`Nov 21 … host kernel: [ 0.1] text`), so they are taken off one by one; seconds since
/// boot win over a date, and the name that the log itself has over that of the machine that printed it.
pub fn head(raw: &str) -> Head<'_> {
    let raw = unquoted(raw.trim()).trim_start();
    let (tag, mut rest) = tagged(raw).map_or((None, raw), |(host, rest)| (Some(host), rest));
    let (mut time, mut host) = (None, None);
    for _ in 0..6 {
        let Some(found) = prefix(rest, time.is_some()) else { break };
        rest = found.rest.trim_start();
        host = host.or(found.host.filter(|h| host_name::short(h).is_some()));
        time = match (time, found.time) {
            (Some(Time::Seconds(s)), _) => Some(Time::Seconds(s)),
            (old, None) => old,
            (_, new) => new,
        };
    }
    Head { time, host: host.or(tag), message: rest }
}

/// `node01: [   12.345678] …`, `node01: [Mon Nov 21 07:00:00 2026] …`, `node01: Nov 21 07:00:00 node01 kernel: …`: what pdsh and clush print of
/// a machine's log, with its name. Behind the name stands the kernel's own head: names alone are anybody's.
pub fn tagged(line: &str) -> Option<(&str, &str)> {
    // Nearly all lines of a log end here.
    if !line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    if let Some(talos) = talos(line) {
        return Some(talos);
    }
    let (name, rest) = printed::host(line)?;
    let rest = rest.trim_start();
    let clock = match rest.as_bytes().first()? {
        b'[' => bracket(rest).is_some_and(|p| p.time.is_some()),
        b'0'..=b'9' | b'A'..=b'Z' => {
            FIND_KERNEL.find(rest.as_bytes()).is_some() && prefix(rest, false).is_some_and(|p| p.time.is_some())
        }
        _ => false,
    };
    (clock && host_name::short(name).is_some()).then_some((name, rest))
}

/// `10.0.0.1: kern: warning: [2025-09-13T20:46:45.810476849Z]: …` of `talosctl dmesg`: the node as it was asked for, by address or by any name. What is
/// behind it makes the name one.
fn talos(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_at_checked(line.bytes().take(MAX_NAME).position(|b| b == b' ')?)?;
    let (name, rest) = (name.strip_suffix(':')?, rest.trim_start());
    let is_dated = bracket(facility(rest)?.trim_start()).is_some_and(|p| matches!(p.time, Some(Time::Text(_))));
    (is_dated && host_name::short(name).is_some()).then_some((name, rest))
}

/// The first prefix, by the byte that it begins with: what is asked of every line of a log costs.
fn prefix(text: &str, timed: bool) -> Option<Prefix<'_>> {
    let by_byte = match text.as_bytes().first()? {
        b'<' => level(text).map(Prefix::bare),
        b'[' => bracket(text),
        b'0'..=b'9' => kmsg(text).or_else(|| iso(text)),
        b'A'..=b'Z' => syslog(text),
        b'a'..=b'z' => facility(text).map(Prefix::bare),
        _ => None,
    };
    by_byte.or_else(|| journal(text)).or_else(|| host(text, timed))
}

/// `<6>`
fn level(text: &str) -> Option<&str> {
    let (digits, rest) = text.strip_prefix('<')?.split_once('>')?;
    (!digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
}

/// `6,1234,5678,-;text`: level, sequence, microseconds, flags.
fn kmsg(text: &str) -> Option<Prefix<'_>> {
    let (head, message) = text.split_once(';')?;
    let mut fields = head.split(',');
    let digits = |f: &str| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit());
    if !digits(fields.next()?) || !digits(fields.next()?) {
        return None;
    }
    let micros = fields.next().filter(|f| digits(f))?.parse::<u64>().ok()?;
    fields.next()?;
    Some(Prefix::timed(Time::Seconds(micros as f64 / 1e6), message))
}

/// Bytes of a node's name.
const MAX_NAME: usize = 80;
/// Bytes between brackets.
const MAX_BRACKET: usize = 48;

/// `[    0.123456]`, `[Mon Nov 21 07:00:00 2026]`, `[  +0.000012]`, and the caller `[    T1]` after them.
fn bracket(text: &str) -> Option<Prefix<'_>> {
    let behind = text.strip_prefix('[')?;
    let end = behind.bytes().take(MAX_BRACKET + 1).position(|b| b == b']')?;
    let (inside, rest) = (behind.get(..end)?, behind.get(end + 1..)?);
    let word = inside.trim();
    if word.is_empty() {
        return None;
    }
    // `    1.234567 <    0.000012>` of `dmesg -d`.
    let word = word.strip_suffix('>').and_then(|w| w.split_once(" <")).map_or(word, |(stamp, _)| stamp.trim_end());
    if is_seconds(word) {
        return word.parse().ok().map(|s| Prefix::timed(Time::Seconds(s), rest));
    }
    if word.strip_prefix('+').is_some_and(is_seconds) {
        return Some(Prefix::timed(Time::Text(word), rest));
    }
    let caller = word.strip_prefix(['T', 'C']).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    if caller {
        return Some(Prefix::bare(rest));
    }
    // Talos: a date, and a colon behind the bracket.
    if let Some(rest) = rest.strip_prefix(':').filter(|_| is_utc(word)) {
        return Some(Prefix::timed(Time::Text(word), rest));
    }
    // `Mon Nov 21 …` of -T, `Nov21 07:00` of -e; other programs write other dates in brackets.
    let day_follows = word.as_bytes().get(3).is_some_and(u8::is_ascii_digit);
    let is_posix = || word.get(..3).is_some_and(|w| WEEKDAYS.contains(&w) || MONTHS.contains(&w) && day_follows);
    let is_date = word.contains(':') && (is_posix() || is_local_date(word));
    is_date.then(|| Prefix::timed(Time::Text(word), rest))
}

/// `Do Apr 24 16:22:15 2025`, `jeu. avril 24 16:22:15 2025`, `四 4月 24 16:22:15 2025`: `dmesg -T` writes days and months in the language of
/// the terminal (util-linux, `sys-utils/dmesg.c`: strftime with `%a %b %e %H:%M:%S %Y`); `4月24 16:22` is what `-H` writes (`%b%e %H:%M`).
fn is_local_date(word: &str) -> bool {
    let mut back = word.split_whitespace().rev();
    let (Some(last), Some(before)) = (back.next(), back.next()) else { return false };
    let others = back.count();
    let digits = |w: &str| w.bytes().all(|b| b.is_ascii_digit());
    let year = last.len() == 4 && digits(last) && (last.starts_with("19") || last.starts_with("20"));
    if year {
        return is_clock(before) && before.matches(':').count() == 2 && (2..=4).contains(&others);
    }
    let minutes = last.split_once(':').is_some_and(|(h, m)| h.len() == 2 && m.len() == 2 && digits(h) && digits(m));
    let month_and_day =
        before.ends_with(|c: char| c.is_ascii_digit()) && before.chars().any(char::is_alphabetic) && before.len() <= 12;
    minutes && month_and_day && others == 0
}

/// Digits of the seconds since the system's start. Ten are those of the epoch, as UCX and `ping -D` write them.
pub const MOST_SECONDS: usize = 9;

/// Seconds since the system's start.
fn is_seconds(word: &str) -> bool {
    word.split_once('.').is_some_and(|(s, f)| {
        (1..=MOST_SECONDS).contains(&s.len())
            && !f.is_empty()
            && s.len() + f.len() < 24
            && (s.bytes().chain(f.bytes())).all(|b| b.is_ascii_digit())
    })
}

/// `kern  :warn  : ` of `dmesg -x`, `kern: warning: ` of `talosctl dmesg`.
fn facility(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_lowercase())?;
    let (a, rest) = text.split_at_checked(end)?;
    if !FACILITIES.contains(&a) {
        return None;
    }
    let rest = rest.trim_start().strip_prefix(':')?;
    let (b, rest) = rest.split_once(':')?;
    LEVELS.contains(&b.trim()).then_some(rest)
}

/// `2025-01-21T04:41:44,285060+00:00 `, then perhaps `host kernel: `.
fn iso(text: &str) -> Option<Prefix<'_>> {
    let (word, rest) = text.split_once(' ')?;
    is_iso(word.as_bytes()).then(|| after_date(word, rest))
}

/// Whether a text begins with a date and a `T`.
pub fn is_iso(text: &[u8]) -> bool {
    matches!(text, [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', ..]
        if [y1, y2, y3, y4, m1, m2, d1, d2].iter().all(|b| b.is_ascii_digit()))
}

/// `2025-09-13T20:46:45.810476849Z`
fn is_utc(word: &str) -> bool {
    is_iso(word.as_bytes()) && word.get(11..).and_then(|w| w.strip_suffix('Z')).is_some_and(is_clock)
}

/// `Nov 21 07:00:00 host kernel: `
fn syslog(text: &str) -> Option<Prefix<'_>> {
    if !text.get(..3).is_some_and(|m| MONTHS.contains(&m)) {
        return None;
    }
    let mut at = 3;
    for accept in [is_day as fn(&str) -> bool, is_clock] {
        let rest = text.get(at..)?;
        let word = rest.trim_start();
        let end = word.find(' ')?;
        if !accept(word.get(..end)?) {
            return None;
        }
        at += rest.len() - word.len() + end;
    }
    let (stamp, rest) = text.split_at_checked(at)?;
    Some(after_date(stamp, rest))
}

/// Words before a clock (`Thu 24 April 2025`), and bytes before ` kernel:`.
const MAX_DATE: usize = 4;
const MAX_HEAD: usize = 120;
const KERNEL: &str = " kernel:";
static FIND_KERNEL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(KERNEL));

/// `april 24 16:22:15 host kernel: `, `24. Okt 16:22:15 host kernel:`, `4月 24 16:22:15 host kernel:`, `2025-04-24 16:22:15 host kernel:`,
/// `Thu 2025-04-24 16:22:15 CEST host kernel:`, `1745504535.123456 host kernel:`: journalctl writes months in the language of the terminal
/// (systemd, `src/shared/logs-show.c`: strftime with `%b %d %H:%M:%S`), and has a dozen forms. What they share is a clock, a host, and the
/// kernel's name; a sentence has not.
fn journal(text: &str) -> Option<Prefix<'_>> {
    let head = text.as_bytes().get(..MAX_HEAD + KERNEL.len()).unwrap_or(text.as_bytes());
    let at = FIND_KERNEL.find(head)?;
    let (before, rest) = text.split_at_checked(at)?;
    if before.contains(['"', '`', '“']) {
        return None;
    }
    let mut words = before.split_whitespace();
    let mut date = 0;
    let mut dated = false;
    let clock = loop {
        let word = words.next()?;
        if is_clock(word) {
            break word;
        }
        dated |= word.bytes().any(|b| b.is_ascii_digit());
        date += 1;
        if date > MAX_DATE {
            return None;
        }
    };
    // The host, perhaps behind a zone.
    let (first, second, more) = (words.next()?, words.next(), words.next());
    if more.is_some() || date > 0 && !dated {
        return None;
    }
    let end = clock.as_ptr() as usize - before.as_ptr() as usize + clock.len();
    let stamp = Time::Text(before.get(..end)?);
    Some(Prefix::timed(stamp, rest.strip_prefix(KERNEL)?).of(second.or(Some(first))))
}

/// `host kernel: `, where the time was cut off or comes before it (`journalctl -o short-monotonic`); and `kernel:` alone, as syslogd writes it to
/// terminals. Without a time, `the kernel: ` is a sentence's: a host's name has a digit or a mark in it, or the kernel's own clock follows.
fn host(text: &str, timed: bool) -> Option<Prefix<'_>> {
    if let Some(rest) = text.strip_prefix("kernel:") {
        return Some(Prefix::bare(rest));
    }
    let (name, rest) = text.split_once(' ')?;
    let rest = rest.strip_prefix("kernel:")?;
    let named = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
        && (name.bytes().any(|b| !b.is_ascii_alphabetic()) || rest.trim_start().starts_with('['));
    (timed || named).then(|| Prefix::bare(rest).of(Some(name)))
}

fn is_day(word: &str) -> bool {
    word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit())
}

fn is_clock(word: &str) -> bool {
    word.len() >= 8 && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.' | b','))
}

/// What follows a date: `host kernel: ` is taken off. Of other programs' lines (`host sshd[12]: …`) the host is known, too, but they keep it and
/// their name, so that their messages are not taken for the kernel's.
fn after_date<'a>(stamp: &'a str, text: &'a str) -> Prefix<'a> {
    let (time, text) = (Time::Text(stamp), text.trim_start());
    let Some((host, rest)) = text.split_once(' ') else { return Prefix::timed(time, text) };
    if let Some(rest) = rest.strip_prefix("kernel:") {
        return Prefix::timed(time, rest).of(Some(host));
    }
    let program = rest.split(' ').next().and_then(|w| w.strip_suffix("]:")?.split_once('['));
    let is_program = program.is_some_and(|(name, pid)| !name.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()));
    Prefix::timed(time, text).of(Some(host).filter(|_| is_program))
}

const WEEKDAYS: &[&str] = &["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
pub(super) const MONTHS: &[&str] =
    &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
pub(super) const FACILITIES: &[&str] =
    &["kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp"];
const LEVELS: &[&str] = &["emerg", "alert", "crit", "err", "warn", "warning", "notice", "info", "debug"];
