//! Single lines.

use super::{Counts, Reply, Summary};
use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::text::{leading_number, words};
use crate::units::{Bytes, Microseconds, Percent};

/// What a line is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line<'a> {
    /// `PING h.example (10.0.0.9) 56(84) bytes of data.`, `Pinging h.example [10.0.0.9] with 32 bytes of data:`.
    Heading { host: &'a str, address: Option<&'a str>, payload: Option<Bytes> },
    /// See [`reply`]; `Reply from 10.0.0.9: bytes=32 time<1ms TTL=64`, of IPv6 without bytes and time to live.
    Reply(Result<Reply, Why>),
    /// `--- h.example ping statistics ---`, `Ping statistics for 10.0.0.9:`.
    Statistics(&'a str),
    /// See [`counts`]; `Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),`.
    Counts(Counts),
    /// See [`summary`]; `Minimum = 0ms, Maximum = 1ms, Average = 0ms`.
    Summary(Result<Summary, Why>),
    /// `Request timeout for icmp_seq 3`, `Request timed out.`, `Reply from 10.0.0.1: Destination host unreachable.`: the latter is counted as received.
    Error { is_answer: bool },
    /// `Ping request could not find host nowhere. …`.
    Failure,
}

/// What a line says, of all but Windows, apart from the summary.
pub(super) fn line(number: u32, text: &str) -> Option<Line<'_>> {
    if let Some(rest) = text.strip_prefix("PING ") {
        return heading(rest);
    }
    if let Some(reply) = reply(number, text) {
        return Some(Line::Reply(reply));
    }
    let host = text.strip_prefix("--- ").and_then(|r| r.strip_suffix(" ping statistics ---"));
    host.map(Line::Statistics).or_else(|| counts(text).map(Line::Counts))
}

/// `127.0.0.1 (127.0.0.1) 56(84) bytes of data.`, `::1(::1) 56 data bytes`, `host (1.2.3.4): 56 data bytes`.
fn heading(rest: &str) -> Option<Line<'_>> {
    let (host, after) = rest.split_once('(')?;
    let (address, after) = after.split_once(')').filter(|(_, after)| after.contains("bytes"))?;
    let size = after.trim_start_matches([':', ' ']);
    // BSD with -6: `PING6(56=40+8+8 bytes) a --> b`: not this form.
    let size = size.split_once("from ").map_or(size, |(before, behind)| {
        if before.trim().is_empty() { behind.split_once(": ").map_or(behind, |(_, s)| s) } else { before }
    });
    Some(Line::Heading { host: host.trim(), address: Some(address), payload: leading_number(size).map(Bytes) })
}

/// `64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.078 ms`.
fn reply(line: u32, text: &str) -> Option<Result<Reply, Why>> {
    let (at, text) = stamp(text);
    let (size, rest) = text.split_once(" bytes from ")?;
    if size.is_empty() || !size.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let sequence = ["icmp_seq=", "icmp_req=", " seq="].iter().find_map(|m| leading_number(rest.split_once(m)?.1));
    let ttl = ["ttl=", "hlim="].iter().find_map(|m| leading_number(rest.split_once(m)?.1));
    // A row that ends behind the size is cut; that of a short payload ends behind the time to live.
    if sequence.is_none() {
        return Some(Err(Why::Missing("the reply is cut: no number")));
    }
    let duplicate = rest.contains("DUP!");
    let mut out = Reply { line, sequence, time: None, is_bound: false, ttl, at, duplicate };
    let (value, bound) = match (rest.split_once("time="), rest.split_once("time<")) {
        (Some((_, v)), _) => (v, false),
        (None, Some((_, v))) => (v, true),
        (None, None) => return Some(Ok(out)),
    };
    out.is_bound = bound;
    Some(time(value).map(|t| Reply { time: Some(t), ..out }))
}

/// `0.078 ms`, `0.1ms`, `12 usec`.
pub(super) fn time(text: &str) -> Result<Microseconds, Why> {
    let end =
        text.find(|c: char| c.is_ascii_alphabetic() || c == ' ').ok_or(Why::Missing("the time is cut: no unit"))?;
    let (value, rest) = text.split_at_checked(end).ok_or(Why::Missing("the time is cut"))?;
    let unit = words(rest).next().unwrap_or_default();
    let value = if value.is_empty() { unit } else { value };
    let value = decimal(value, Fraction::Maybe)?;
    if value < 0.0 {
        return Err(Why::Impossible("a negative time: the clock was set back"));
    }
    match unit {
        "ms" => Ok(Microseconds::from_milliseconds(value)),
        "us" | "usec" => Ok(Microseconds(value)),
        "s" | "sec" => Ok(Microseconds::from_seconds(value)),
        _ => Err(Why::Unclear("the time has no known unit")),
    }
}

/// `[1795294324.960938] `.
fn stamp(text: &str) -> (Option<f64>, &str) {
    let parts = text.strip_prefix('[').and_then(|r| r.split_once("] "));
    match parts.and_then(|(t, rest)| Some((t.parse::<f64>().ok().filter(|t| t.is_finite())?, rest))) {
        Some((at, rest)) => (Some(at), rest),
        None => (None, text),
    }
}

/// `3 packets transmitted, 3 received, +1 duplicates, 0% packet loss, time 418ms`.
fn counts(text: &str) -> Option<Counts> {
    let (transmitted, rest) = text.split_once(" packets transmitted,")?;
    let mut out = Counts {
        transmitted: transmitted.trim().parse().ok()?,
        received: leading_number(rest)?,
        duplicates: 0,
        errors: 0,
        loss: None,
        milliseconds: None,
    };
    for part in rest.split(',').map(str::trim) {
        let number = || leading_number(part.trim_start_matches('+'));
        if part.ends_with(" duplicates") {
            out.duplicates = number()?;
        } else if part.ends_with(" errors") {
            out.errors = number()?;
        } else if part.contains("packet loss") {
            out.loss = part.split('%').next().and_then(|p| decimal(p.trim(), Fraction::Maybe).ok()).map(Percent);
        } else if let Some(time) = part.strip_prefix("time ") {
            out.milliseconds = leading_number(time);
        }
    }
    Some(out)
}

/// `rtt min/avg/max/mdev = 0.034/0.051/0.078/0.019 ms, ipg/ewma 0.034/0.017 ms`, `round-trip min/avg/max = …`.
pub(super) fn summary(text: &str) -> Option<Result<Summary, Why>> {
    let (names, rest) = text.split_once(" = ")?;
    let names = names.trim().rsplit(' ').next()?;
    if !names.starts_with("min/avg/max") {
        return None;
    }
    let mut all = words(rest);
    let (values, unit) = (all.next()?, all.next().unwrap_or_default().trim_end_matches(','));
    if unit != "ms" {
        return Some(Err(Why::Missing("the summary is cut: no unit")));
    }
    let read = |v: &str| decimal(v, Fraction::Always).map(Microseconds::from_milliseconds);
    let parse = || -> Result<Summary, Why> {
        let values = values.split('/').map(read).collect::<Result<Vec<_>, _>>()?;
        let (Some(min), Some(mean), Some(max)) = (values.first(), values.get(1), values.get(2)) else {
            return Err(Why::Missing("the summary is cut"));
        };
        let ewma = rest.split_once("ipg/ewma ").and_then(|(_, e)| words(e).next()?.split_once('/'));
        let ewma = ewma.and_then(|(_, e)| read(e).ok());
        Ok(Summary { min: Some(*min), mean: Some(*mean), max: Some(*max), stdev: values.get(3).copied(), ewma })
    };
    Some(parse())
}
