//! The lines of Windows.

use super::line::{self, Line};
use super::{Counts, Reply, Summary};
use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::text::leading_number;
use crate::units::{Bytes, Microseconds, Percent};

/// What a line says, where Windows prints such. Counts and summary say too little to begin a run.
pub(super) fn line(number: u32, text: &str, is_begun: bool) -> Option<Line<'_>> {
    if let Some(rest) = text.strip_prefix("Reply from ") {
        let (_, rest) = rest.split_once(": ")?;
        return if rest.contains("time=") || rest.contains("time<") {
            Some(Line::Reply(reply(number, rest)))
        } else if rest.starts_with("bytes=") {
            Some(Line::Reply(Err(Why::Missing("the reply is cut: no time"))))
        } else {
            Some(Line::Error { is_answer: true })
        };
    }
    if let Some(rest) = text.strip_prefix("Pinging ") {
        let (host, size) = rest.split_once(" with ")?;
        // `-S`: where it is sent from.
        let host = host.split(" from ").next().unwrap_or(host);
        let payload = leading_number(size).filter(|_| size.contains(" bytes of data")).map(Bytes)?;
        let (host, address) = match host.split_once(" [") {
            Some((host, address)) => (host, address.strip_suffix(']')),
            None => (host, Some(host)),
        };
        return Some(Line::Heading { host, address, payload: Some(payload) });
    }
    if let Some(host) = text.strip_prefix("Ping statistics for ") {
        return Some(Line::Statistics(host.trim_end_matches(':')));
    }
    if text.starts_with("Packets: Sent = ") {
        return counts(text).filter(|_| is_begun).map(Line::Counts);
    }
    if text.starts_with("Minimum = ") && text.contains("Maximum") {
        return is_begun.then(|| Line::Summary(summary(text)));
    }
    if text.starts_with("Ping request could not find host ") {
        return Some(Line::Failure);
    }
    let is_error = matches!(text, "Request timed out." | "General failure." | "Destination host unreachable.")
        || text.starts_with("PING: transmit failed");
    is_error.then_some(Line::Error { is_answer: false })
}

/// `bytes=32 time=31ms TTL=239`, `time<1ms`.
fn reply(line: u32, rest: &str) -> Result<Reply, Why> {
    let (value, is_bound) = match (rest.split_once("time="), rest.split_once("time<")) {
        (Some((_, value)), _) => (value, false),
        (None, Some((_, value))) => (value, true),
        (None, None) => return Err(Why::Missing("the reply is cut: no time")),
    };
    let time = line::time(value)?;
    // Some releases print nought for less than one.
    let (time, is_bound) = if time.0 > 0.0 { (time, is_bound) } else { (Microseconds::from_milliseconds(1.0), true) };
    let ttl = rest.split_once("TTL=").and_then(|(_, ttl)| leading_number(ttl));
    Ok(Reply { line, sequence: None, time: Some(time), is_bound, ttl, at: None, duplicate: false })
}

fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split_once(name)?.1.trim_start().strip_prefix('=').map(str::trim_start)
}

fn counts(text: &str) -> Option<Counts> {
    let number = |name| after(text, name).and_then(leading_number::<u64>);
    let loss = text.split_once('(').and_then(|(_, l)| decimal(l.split('%').next()?, Fraction::Maybe).ok());
    Some(Counts {
        transmitted: number("Sent")?,
        received: number("Received")?,
        duplicates: 0,
        errors: 0,
        loss: loss.map(Percent),
        milliseconds: None,
    })
}

/// Whole milliseconds, cut. A round trip below one is counted as none: then the mean is of no measurement.
fn summary(text: &str) -> Result<Summary, Why> {
    let of = |name| -> Result<f64, Why> {
        let value = after(text, name).ok_or(Why::Missing("the summary is cut"))?;
        let end = value.find("ms").ok_or(Why::Missing("the summary is cut: no unit"))?;
        decimal(value.get(..end).unwrap_or_default(), Fraction::Maybe)
    };
    let (min, max, mean) = (of("Minimum")?, of("Maximum")?, of("Average")?);
    if min < 0.0 || min > max || mean > max {
        return Err(Why::Impossible(
            "a summary that cannot be: the shortest, the longest and the mean contradict each other",
        ));
    }
    let time = |v: f64| (v > 0.0).then(|| Microseconds::from_milliseconds(v));
    Ok(Summary { min: time(min), max: time(max), mean: time(mean).filter(|_| min > 0.0), stdev: None, ewma: None })
}
