//! iperf 2 with `-y C`: a line of 9 values for each report, of UDP 14.
//!
//! Time, address and port of both ends, number of the stream (-1: all together), interval, bytes, bits per second; of UDP also
//! jitter in milliseconds, datagrams lost, all datagrams, loss, datagrams out of order. The time is the local one, and since 2.1 it is
//! the year 1970 where no interval was asked for. Which end printed a line it does not say: a server of 2.1 puts the client first, one
//! of 2.0 itself.
//!
//! Nor does it say which lines belong to one test. Several streams of one test have one end in common and end together; a server
//! that serves one client after the other prints the same. Where the times show that streams ran at once they are summed up,
//! as the sum that some releases print; elsewhere they are kept as streams.

use super::run::{Endpoint, Measured, Protocol, Role, Row, Run, Scope, Stream, Tool};
use crate::bounds::IPERF_STREAMS;
use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::refusal::Said;
use crate::units::{Bytes, Gbps, Microseconds};

/// Longest line.
const MAX_LINE: usize = 512;

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// Seconds, in a zone that is not printed: good for differences. `None` where it is none.
    stamp: Option<Stamp>,
    ends: [Option<Endpoint>; 2],
    row: Row,
    is_udp: bool,
}

/// A time of day, and how exact it is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stamp {
    seconds: f64,
    /// Below a second is cut.
    exact: bool,
}

/// Whether a line is one of iperf 2's `-y C`.
pub fn is_ours(line: &str) -> bool {
    let Some((stamp, rest)) = line.split_once(',').filter(|_| line.len() <= MAX_LINE) else { return false };
    let (whole, part) = stamp.split_once('.').unwrap_or((stamp, "0"));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    whole.len() == 14 && digits(whole) && digits(part) && matches!(rest.matches(',').count(), 7 | 12)
}

/// Reads one. `None`: it is no such line.
pub(super) fn line(number: u32, line: &str) -> Option<Result<Line, Why>> {
    is_ours(line).then(|| read(number, line))
}

fn read(number: u32, line: &str) -> Result<Line, Why> {
    let fields: Vec<&str> = line.split(',').collect();
    let [stamp, host_a, port_a, host_b, port_b, id, span, bytes, rate, udp @ ..] = &fields[..] else {
        return Err(Why::Missing("the line is cut"));
    };
    let stream = match id.parse::<i64>() {
        Ok(id) if id < 0 => Stream::Sum,
        Ok(id) => Stream::One(u32::try_from(id).map_err(|_| Why::Impossible("the stream's number is too large"))?),
        Err(_) => return Err(Why::Missing("the stream has no number")),
    };
    let (start, end) = span.split_once('-').ok_or(Why::Foreign("the interval is not START-END"))?;
    let (start, end) = (decimal(start, Fraction::Maybe)?, decimal(end, Fraction::Maybe)?);
    if start < 0.0 || start > end {
        return Err(Why::Impossible("the interval ends before it begins"));
    }
    // 32-bit builds count beyond their range.
    let bytes = bytes.parse::<u64>().map_err(|_| Why::Impossible("the bytes are not a count: some builds overflow"))?;
    let rate = decimal(rate, Fraction::Maybe)?;
    if rate < 0.0 {
        return Err(Why::Impossible("a negative rate: some builds overflow"));
    }
    let row = Row {
        line: number,
        stream,
        way: None,
        scope: Scope::Interval,
        omitted: false,
        start,
        end,
        transfer: Some(Bytes(bytes)),
        rate: Gbps::from_bits_per_second(rate),
        more: datagrams(udp)?,
    };
    let ends = [endpoint(host_a, port_a), endpoint(host_b, port_b)];
    Ok(Line { stamp: self::stamp(stamp), ends, row, is_udp: !udp.is_empty() })
}

/// Nothing where none were counted: a sender prints -1 of them.
fn datagrams(fields: &[&str]) -> Result<Measured, Why> {
    let [jitter, lost, packets, _, out_of_order] = fields else { return Ok(Measured::default()) };
    let Some(packets) = packets.parse::<u64>().ok().filter(|n| *n > 0) else { return Ok(Measured::default()) };
    let jitter = decimal(jitter, Fraction::Always)?;
    Ok(Measured {
        jitter: (jitter >= 0.0).then(|| Microseconds::from_milliseconds(jitter)),
        lost: lost.parse().ok().filter(|l| *l <= packets),
        packets: Some(packets),
        out_of_order: out_of_order.parse().ok(),
        ..Measured::default()
    })
}

fn endpoint(host: &str, port: &str) -> Option<Endpoint> {
    let port = port.parse().ok().filter(|p| *p > 0)?;
    (!host.is_empty()).then(|| Endpoint { host: host.into(), port })
}

/// `20261122003748`, `20261122003756.314`.
fn stamp(text: &str) -> Option<Stamp> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
    let days = crate::clock::days(year, month, day).filter(|_| year > 1971)?;
    #[allow(clippy::cast_precision_loss)] // Far below 2^53.
    let whole = (((days * 24 + hour) * 60 + minute) * 60 + second) as f64;
    let part = text.get(14..).filter(|p| p.len() > 1).and_then(|p| p.parse::<f64>().ok());
    Some(Stamp { seconds: whole + part.unwrap_or(0.0), exact: part.is_some() })
}

/// What of a test is known while its lines come.
#[derive(Debug, Default)]
pub(super) struct Test {
    streams: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    stream: Stream,
    ends: [Option<Endpoint>; 2],
    /// End of the last interval.
    end: f64,
    /// When it began at the earliest, and when its last line came at the latest.
    time: Option<(f64, f64)>,
    /// Both are exact to a thousandth.
    exact: bool,
    /// The whole was printed.
    is_over: bool,
    /// What arrived was printed.
    is_received: bool,
}

impl Test {
    /// Whether a line belongs to the test so far.
    pub(super) fn takes(&self, line: &Line) -> bool {
        let is_full = self.streams.len() >= IPERF_STREAMS;
        let is_summed = self.is_summed();
        match self.streams.iter().find(|s| s.stream == line.row.stream) {
            Some(seen) if line.row.stream == Stream::Sum || seen.ends == line.ends => {
                !seen.is_over || is_report(seen, line)
            }
            // The server's report of UDP may have its ends the other way round.
            Some(seen) => seen.ends.iter().eq(line.ends.iter().rev()) && is_report(seen, line),
            None if self.streams.is_empty() => true,
            None if line.row.stream == Stream::Sum => !is_full,
            None => !is_full && !is_summed && self.may_be_beside(line),
        }
    }

    fn is_summed(&self) -> bool {
        self.streams.iter().any(|s| s.stream == Stream::Sum)
    }

    /// One end in common at the same place, and no proof that it came later.
    fn may_be_beside(&self, line: &Line) -> bool {
        let shares = |s: &Seen| s.ends.iter().zip(&line.ends).any(|(a, b)| a.is_some() && a == b);
        let is_later = |s: &Seen| s.time.zip(time(line)).is_some_and(|((_, end), (begin, _))| begin >= end);
        self.streams.iter().any(shares) && !self.streams.iter().any(is_later)
    }

    /// Takes a line, which then belongs to the run.
    pub(super) fn push(&mut self, line: Line, run: &mut Run) {
        run.tool = Some(Tool::Iperf2);
        if line.is_udp {
            run.protocol = Some(Protocol::Udp);
        }
        let time = time(&line);
        let exact = line.stamp.is_some_and(|s| s.exact);
        let is_received = line.row.more.packets.is_some();
        match self.streams.iter_mut().find(|s| s.stream == line.row.stream) {
            Some(seen) if is_report(seen, &line) => {
                seen.is_received = true;
                (seen.is_over, run.role) = (true, Some(Role::Client));
                return run.push_row(Row { scope: Scope::Receiver, ..line.row });
            }
            Some(seen) => {
                // From the beginning again: the whole.
                seen.is_over = line.row.start < 0.05 && line.row.end > seen.end - 0.05;
                seen.end = seen.end.max(line.row.end);
                seen.time = seen.time.zip(time).map(|((begin, _), (_, end))| (begin, end));
            }
            None => {
                let Line { ends, row, .. } = &line;
                let (stream, ends, end) = (row.stream, ends.clone(), row.end);
                self.streams.push(Seen { stream, ends, end, time, exact, is_over: false, is_received });
            }
        }
        if line.is_udp && !is_received {
            // Only a sender knows nothing about what arrived.
            run.role = Some(Role::Client);
        }
        run.push_row(line.row);
    }

    /// Adds what the streams come to, where they are known to have run at once and nobody did.
    pub(super) fn end(self, run: &mut Run) {
        let is_summed = self.is_summed();
        let mut one = self.streams.iter().filter(|s| s.stream != Stream::Sum);
        let count = one.clone().count();
        let Some(first) = one.next().filter(|_| count > 1) else { return };
        let are_at_once = one.all(|s| at_once(first, s));
        if is_summed || are_at_once {
            run.params.streams = u32::try_from(count).ok();
        }
        if is_summed {
            return;
        }
        if !are_at_once {
            let text = format!("{count} streams, and nothing says that they ran at once: they are not summed up");
            return run.note(Said::new(run.lines.0, &text));
        }
        // Streams end one after the other: the whole of each is the whole of all.
        let span = |r: &Row| if r.scope == Scope::Interval { (r.scope, r.start, r.end) } else { (r.scope, 0.0, 0.0) };
        let mut sorted: Vec<&Row> = run.rows.iter().collect();
        sorted.sort_by(|a, b| {
            let (a, b) = (span(a), span(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        let whole = sorted.chunk_by(|a, b| span(a) == span(b)).filter(|rows| rows.len() == count);
        let sums: Vec<Row> = whole.filter_map(sum).collect();
        sums.into_iter().for_each(|row| run.push_row(row));
        run.note(Said::new(run.lines.0, "the streams are summed up here: their times show that they ran at once"));
    }
}

/// Rows of all streams as one.
fn sum(rows: &[&Row]) -> Option<Row> {
    let first = rows.first()?;
    let whole =
        |get: fn(&Row) -> Option<u64>| rows.iter().map(|r| get(r)).try_fold(0_u64, |sum, v| sum.checked_add(v?));
    let (lost, packets) = (whole(|r| r.more.lost), whole(|r| r.more.packets));
    Some(Row {
        line: rows.iter().map(|r| r.line).max()?,
        stream: Stream::Sum,
        end: rows.iter().map(|r| r.end).fold(first.end, f64::max),
        transfer: whole(|r| r.transfer.map(|t| t.0)).map(Bytes),
        rate: Gbps(rows.iter().map(|r| r.rate.0).sum()),
        more: Measured { lost, packets, ..Measured::default() },
        ..**first
    })
}

/// What the server counted, behind the sender's own whole.
fn is_report(seen: &Seen, line: &Line) -> bool {
    let is_first = !seen.is_received && line.row.more.packets.is_some();
    is_first && line.row.start < 0.05 && (line.row.end - seen.end).abs() < 1.0
}

/// When the interval of a line began and ended.
fn time(line: &Line) -> Option<(f64, f64)> {
    let stamp = line.stamp?;
    // Cut seconds: it may have begun up to one later.
    Some((stamp.seconds - (line.row.end - line.row.start), stamp.seconds + if stamp.exact { 0.0 } else { 1.0 }))
}

/// By their times, two streams began together and ran at once.
fn at_once(a: &Seen, b: &Seen) -> bool {
    let (Some((begin_a, end_a)), Some((begin_b, end_b))) = (a.time, b.time) else { return false };
    // Where seconds are cut, a stream began up to one later, and ended up to one earlier.
    let slack = if a.exact && b.exact { 0.0 } else { 2.0 };
    begin_a + slack < end_b && begin_b + slack < end_a && (begin_a - begin_b).abs() <= 1.0
}
