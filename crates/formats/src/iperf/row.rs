//! One row of a table.

use super::line::{self, Tagged, Who};
use super::run::{Measured, Protocol, Row, Scope, Stream};
use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::text::words;
use crate::units::{Bytes, Gbps, Microseconds, PerSecond};

/// What the header above says of the columns behind the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Columns {
    /// `Retr`.
    pub(super) retransmits: bool,
    /// `Total Datagrams`.
    pub(super) datagrams: bool,
}

/// The columns that a header names.
pub(super) fn columns(header: &str) -> Option<Columns> {
    let is_header = header.contains("Interval") && (header.contains("Transfer") || header.contains("Bandwidth"));
    is_header.then(|| Columns {
        retransmits: header.contains("Retr") || header.contains("Rtry"),
        datagrams: header.contains("Total Datagrams"),
    })
}

/// What the words behind the rate tell of the protocol.
pub(super) fn protocol(header: &str) -> Option<Protocol> {
    if header.contains("Datagrams") || header.contains("Jitter") {
        Some(Protocol::Udp)
    } else if header.contains("Retr") || header.contains("Rtry") || header.contains("Cwnd") {
        Some(Protocol::Tcp)
    } else {
        None
    }
}

/// A row that ends in `sender` or `receiver`, or is of an interval; refused where a number is not one.
pub(super) fn row(number: u32, tagged: &Tagged<'_>, columns: Option<Columns>) -> Option<Result<Row, Why>> {
    let Who::Stream(stream) = tagged.who else { return None };
    let (span, rest) = line::interval(tagged.rest)?;
    if let Some(count) = out_of_order(rest) {
        let (start, end) = span.ok()?;
        let more = Measured { out_of_order: Some(count), ..Measured::default() };
        // Without a rate: the reader joins it to the row of the same stream.
        return Some(Ok(Row { rate: Gbps(f64::NAN), ..plain(number, stream, tagged, (start, end), more) }));
    }
    let Some((transfer, rest)) = line::amount(rest, "") else {
        return Some(Err(Why::Missing("the row is cut: no transfer")));
    };
    let Some((rate, rest)) = line::amount(rest, "/sec") else {
        return Some(Err(Why::Missing("the row is cut: no rate")));
    };
    let read = || -> Result<Row, Why> {
        let (span, transfer, rate) = (span?, transfer?, rate?);
        let mut row = plain(number, stream, tagged, span, more(rest, columns)?);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates.
        let bytes = (transfer.bits / 8.0).round() as u64;
        row.transfer = Some(Bytes(bytes));
        row.rate = Gbps::from_bits_per_second(rate.bits);
        row.omitted = rest.contains("(omitted)");
        row.scope = match words(rest).last() {
            Some("sender") => Scope::Sender,
            Some("receiver") => Scope::Receiver,
            _ => Scope::Interval,
        };
        row.more.unless_sender(row.scope);
        Ok(row)
    };
    Some(read())
}

fn plain(line: u32, stream: Stream, tagged: &Tagged<'_>, (start, end): (f64, f64), more: Measured) -> Row {
    Row {
        line,
        stream,
        way: tagged.way,
        scope: Scope::Interval,
        omitted: false,
        start,
        end,
        transfer: None,
        rate: Gbps(0.0),
        more,
    }
}

impl Measured {
    /// The sender knows neither jitter nor loss, and prints zeros.
    pub(super) fn unless_sender(&mut self, scope: Scope) {
        if scope == Scope::Sender {
            (self.jitter, self.lost, self.out_of_order) = (None, None, None);
        }
    }
}

/// `5 datagrams received out-of-order`.
fn out_of_order(rest: &str) -> Option<u64> {
    let mut all = words(rest);
    let count = all.next()?.parse().ok()?;
    (all.next() == Some("datagrams") && all.next() == Some("received")).then_some(count)
}

/// What follows the rate: in iperf3 by its form, where that is not enough by the header.
fn more(rest: &str, columns: Option<Columns>) -> Result<Measured, Why> {
    let mut out = Measured::default();
    let mut all = words(rest).peekable();
    // The first number alone is of the column behind the rate.
    let mut first_count = None;
    while let Some(word) = all.next() {
        let next = all.peek().copied();
        if next == Some("ms") && word.contains('/') {
            // Latency avg/min/max/stdev of iperf 2.
            let mean = word.split('/').next().unwrap_or_default();
            out.latency = decimal(mean, Fraction::Always).ok().map(Microseconds::from_milliseconds);
        } else if next == Some("ms") {
            out.jitter = Some(Microseconds::from_milliseconds(decimal(word, Fraction::Always)?));
        } else if next.is_some_and(|n| n.starts_with("pps")) {
            out.packet_rate = decimal(word, Fraction::Maybe).ok().map(PerSecond);
        } else if next.is_some_and(|n| line::factor(n).is_some()) {
            let size = decimal(word, Fraction::Maybe)? * next.and_then(line::factor).unwrap_or_default() / 8.0;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates.
            let bytes = size.round() as u64;
            // Some builds let large windows overflow.
            out.cwnd = (size >= 0.0).then_some(Bytes(bytes));
        } else if let Some((lost, packets)) = word.split_once('/') {
            slashed(&mut out, lost, packets, next);
        } else if let Ok(count) = word.parse::<u64>() {
            first_count = first_count.or(Some(count));
        }
    }
    match (columns, first_count) {
        (Some(c), count) if c.retransmits => out.retransmits = count,
        (Some(c), count @ Some(_)) if c.datagrams => out.packets = count,
        // Without a header: what comes before a window.
        (None, count) if out.cwnd.is_some() && out.rtt.is_none() => out.retransmits = count,
        _ => {}
    }
    Ok(out)
}

/// `2/11441` and `1/ 5350` lost and all; `Unknown/123`; iperf 2's `3239/0` written and failed, `895K/331(294)` window and time.
fn slashed(out: &mut Measured, first: &str, second: &str, next: Option<&str>) {
    let is_loss = out.jitter.is_some() && out.packets.is_none();
    if is_loss {
        let all = if second.is_empty() { next.unwrap_or_default() } else { second };
        out.packets = all.parse().ok();
        // More lost than sent is what some 32-bit builds print.
        out.lost = first.parse().ok().filter(|l| out.packets.is_none_or(|p| *l <= p));
        return;
    }
    let time = second.split('(').next().unwrap_or_default();
    if next.is_some_and(|n| n == "us" || n.starts_with("us,")) {
        let kib = first.strip_suffix('K').and_then(|k| k.parse::<u64>().ok());
        out.cwnd = kib.and_then(|k| k.checked_mul(1024)).map(Bytes);
        // The last report of a stream has no window any more, and its round trip is that of the closing.
        out.rtt = time.parse().ok().map(Microseconds).filter(|_| out.cwnd.is_some());
    }
}
