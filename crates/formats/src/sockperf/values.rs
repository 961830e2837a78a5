//! The values of single lines.

use super::run::{Bandwidth, Counts, Endpoint, Latency, Lost, Measured, Mode, Params, Throughput, Transport};
use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::text::{leading_number, words};
use crate::units::{Bytes, MiBps, Microseconds, PerSecond};

/// The word behind a mark, up to what ends a value.
fn value<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(mark)?;
    let rest = rest.trim_start();
    let end = rest.find([' ', ')', ';', '(', ']']).unwrap_or(rest.len());
    // A list goes on behind `, `; a decimal comma has no blank behind it.
    rest.get(..end).map(|v| v.trim_end_matches(','))
}

fn count(line: &str, mark: &str) -> Option<u64> {
    value(line, mark)?.parse().ok()
}

/// A time behind a mark: nothing, or the reason why it is not one.
fn time(line: &str, mark: &str) -> Result<Option<Microseconds>, Why> {
    value(line, mark).map(|v| decimal(v, Fraction::Always).map(Microseconds)).transpose()
}

/// `RunTime=2.000 sec; Warm up time=400 msec; SentMessages=320891; ReceivedMessages=320890`.
pub(super) fn counts(line: &str) -> Option<Result<Counts, Why>> {
    let seconds = decimal(value(line, "RunTime=")?, Fraction::Always);
    let (sent, received) = (count(line, "SentMessages=")?, count(line, "ReceivedMessages=")?);
    Some(seconds.map(|seconds| Counts { seconds, sent, received }))
}

/// `====> avg-latency=3.053 (std-dev=5.153)` and its longer form.
pub(super) fn latency(line: &str) -> Option<Result<Latency, Why>> {
    let marks = [
        ("avg-latency=", Measured::HalfRoundTrip),
        ("avg-lat=", Measured::HalfRoundTrip),
        ("avg-rtt=", Measured::RoundTrip),
    ];
    let (mark, measured) = marks.into_iter().find(|(m, _)| line.contains(m))?;
    let read = || -> Result<Latency, Why> {
        Ok(Latency {
            measured,
            mean: time(line, mark)?.ok_or(Why::Missing("no mean"))?,
            stdev: time(line, "std-dev=")?,
            mean_ad: time(line, "mean-ad=")?,
            median_ad: time(line, "median-ad=")?,
            siqr: time(line, "siqr=")?,
            cv: value(line, "cv=").map(|v| decimal(v, Fraction::Always)).transpose()?,
            std_error: time(line, "std-error=")?,
            interval: interval(line),
        })
    };
    Some(read())
}

/// `99.0% ci=[1889.246, 1895.954]`.
fn interval(line: &str) -> Option<(f64, Microseconds, Microseconds)> {
    let (before, rest) = line.split_once("% ci=[")?;
    let level = before.rsplit(' ').next()?;
    let (low, rest) = rest.split_once(", ")?;
    let number = |t: &str| decimal(t.trim(), Fraction::Always).ok();
    let high = rest.split(']').next()?;
    Some((number(level)?, Microseconds(number(low)?), Microseconds(number(high)?)))
}

/// `# dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0`.
pub(super) fn lost(line: &str) -> Option<Lost> {
    Some(Lost {
        dropped: count(line, "dropped messages =")?,
        duplicated: count(line, "duplicated messages =")?,
        out_of_order: count(line, "out-of-order messages =")?,
    })
}

/// `---> percentile 99.999 =  582.289`: the percentile (0 and 100 for the shortest and the longest) and the time.
pub(super) fn percentile(line: &str) -> Option<Result<(f64, Microseconds), Why>> {
    let (_, rest) = line.split_once("---> ")?;
    let (name, value) = rest.split_once('=')?;
    let name = name.trim();
    let which = match name {
        "<MAX> observation" | "MAX observation" => 100.0,
        "<MIN> observation" | "MIN observation" => 0.0,
        _ => decimal(name.strip_prefix("percentile ")?.trim(), Fraction::Always).ok()?,
    };
    let value = words(value).next().unwrap_or_default();
    Some(decimal(value, Fraction::Always).map(|v| (which, Microseconds(v))))
}

/// `[ 0] IP = 127.0.0.1       PORT = 11111 # TCP`.
pub(super) fn endpoint(line: u32, text: &str) -> Option<Endpoint> {
    let (before, rest) = text.split_once("] IP = ").or_else(|| text.split_once("] ADDR = "))?;
    let transport = match text.rsplit('#').next().map(str::trim) {
        Some("TCP") => Some(Transport::Tcp),
        Some("UDP") => Some(Transport::Udp),
        Some(t) if t.starts_with("UNIX") || t.starts_with("DGRAM") => Some(Transport::Unix),
        _ => None,
    };
    let host = words(rest).next()?;
    let (host, own_port) = host.rsplit_once(':').filter(|_| text.contains("ADDR = ")).unwrap_or((host, ""));
    let port = value(text, "PORT =").unwrap_or(own_port).parse().ok();
    before.contains('[').then(|| Endpoint { line, host: host.chars().take(256).collect(), port, transport })
}

/// The lines of a throughput test.
pub(super) fn throughput(line: &str, out: &mut Throughput) -> Option<Result<(), Why>> {
    if let Some((_, rest)) = line.split_once("Total of ") {
        let sent = leading_number(rest)?;
        let (_, seconds) = rest.split_once(" messages sent in ")?;
        out.sent = Some(sent);
        return Some(decimal(words(seconds).next()?, Fraction::Always).map(|s| out.seconds = Some(s)));
    }
    if let Some(rate) = value(line, "Message Rate is") {
        return Some(decimal(rate, Fraction::Maybe).map(|r| out.messages = Some(PerSecond(r))));
    }
    let (_, rest) = line.split_once("BandWidth is ")?;
    let mut all = words(rest);
    let (number, unit) = (all.next()?, all.next()?);
    let factor = match unit {
        "MBps" => 1.0,
        // A thousand of the above, not 1024.
        "GBps" => 1000.0,
        _ => return Some(Err(Why::word(unit, "no unit of bandwidth"))),
    };
    Some(decimal(number, Fraction::Always).map(|v| out.bandwidth = Some(Bandwidth(MiBps(v * factor)))))
}

/// What a command line, the log's header or the remark about the size of messages tell.
pub(super) fn params(line: &str, out: &mut Params) {
    let mut before = "";
    for word in words(line).map(|w| w.trim_end_matches([',', '.'])) {
        let (name, value) = word.split_once('=').unwrap_or((before, word));
        let number = || leading_number::<u64>(value);
        let has_value = value.starts_with(|c: char| c.is_ascii_digit());
        match name {
            "--msg-size" | "-m" | "msg-size" if has_value && (name != "--msg-size" || !line.contains("consider")) => {
                out.message = number().map(Bytes);
            }
            "--mps" | "mps" if has_value => out.rate = number(),
            "--burst" | "-b" if has_value => out.burst = number(),
            "--reply-every" if has_value => out.reply_every = number(),
            "--time" | "-t" if has_value => out.seconds = number(),
            _ => {}
        }
        before = word;
    }
}

/// The test that a command line names.
pub(super) fn mode(line: &str) -> Option<Mode> {
    let (_, rest) = line.split_once("sockperf ")?;
    match words(rest).next()? {
        "pp" | "ping-pong" => Some(Mode::PingPong),
        "ul" | "under-load" => Some(Mode::UnderLoad),
        "pb" | "playback" => Some(Mode::Playback),
        "tp" | "throughput" => Some(Mode::Throughput),
        _ => None,
    }
}
