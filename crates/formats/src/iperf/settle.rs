//! The lines around the tables, and what can be decided only when a run is over.

use super::line;
use super::run::{Cpu, Direction, Protocol, Role, Row, Run, Scope, Stream, Tool, Utilisation, Way};
use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::refusal::{End, Said};
use crate::text::{At, leading_number, words};
use crate::units::{Bytes, Percent};

/// Reads a line of a run that is no row. Whether it was one of the known.
pub(super) fn inside(run: &mut Run, number: u32, line: &str) -> bool {
    let size = |rest: &str| {
        let (amount, _) = line::amount(rest, "")?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates.
        amount.ok().map(|a| Bytes((a.bits / 8.0).round() as u64))
    };
    if line.contains("Reverse mode, remote host ") {
        run.direction = Some(Direction::Reverse);
    } else if let Some(rest) = behind(line, "TCP window size:").or_else(|| behind(line, "UDP buffer size:")) {
        run.params.window = size(rest);
    } else if let Some(rest) = behind(line, "Write buffer size:").or_else(|| behind(line, "Read buffer size:")) {
        run.params.block = size(rest);
    } else if let Some(rest) = behind(line, "Sending ").filter(|r| r.contains("byte datagrams")) {
        run.params.block = leading_number(rest).map(Bytes);
    } else if let Some(rest) = behind(line, "TCP MSS: ").or_else(|| behind(line, "Control connection MSS ")) {
        run.params.mss = leading_number(rest).map(Bytes);
    } else if let Some(rest) = behind(line, "Starting Test: ") {
        starting(run, rest);
    } else if let Some(rest) = behind(line, "CPU Utilization: ") {
        run.cpu = cpu(rest).map(|c| At::new(c, number));
    } else if let Some(name) = behind(line, "snd_tcp_congestion ") {
        run.congestion.0 = words(name).next().map(Into::into);
    } else if let Some(name) = behind(line, "rcv_tcp_congestion ") {
        run.congestion.1 = words(name).next().map(Into::into);
    } else if line.starts_with("getsockopt ") {
        run.note(Said::new(number, line));
    } else if line.contains(" failed: ") || line.starts_with("connect failed") || line.contains("error: ") {
        if run.rows.is_empty() {
            run.end = End::Failed;
        }
        run.fail(Said::new(number, line));
    } else if line.contains("WARNING:") || line.contains("warning:") {
        run.note(Said::new(number, line));
    } else {
        return false;
    }
    true
}

fn behind<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.split_once(mark).filter(|(before, _)| before.len() < 80).map(|(_, rest)| rest.trim_start())
}

/// `protocol: TCP, 1 streams, 131072 byte blocks, omitting 0 seconds, 10 second test, tos 0`.
fn starting(run: &mut Run, rest: &str) {
    for part in rest.split(',').map(str::trim) {
        if let Some(name) = part.strip_prefix("protocol: ") {
            run.protocol = protocol(name).or(run.protocol);
        } else if part.ends_with(" streams") {
            run.params.streams = leading_number(part);
        } else if part.ends_with(" byte blocks") {
            run.params.block = leading_number(part).map(Bytes);
        } else if let Some(seconds) = part.strip_prefix("omitting ") {
            run.params.omit = leading_number::<u32>(seconds).map(f64::from);
        } else if part.ends_with(" second test") {
            run.params.duration = leading_number::<u32>(part).map(f64::from);
        } else if part.ends_with(" bytes to send") {
            run.params.bytes = leading_number(part).map(Bytes);
        } else if let Some(tos) = part.strip_prefix("tos ") {
            run.params.tos = leading_number(tos);
        }
    }
}

pub(super) fn protocol(name: &str) -> Option<Protocol> {
    match name.to_ascii_uppercase().as_str() {
        "TCP" => Some(Protocol::Tcp),
        "UDP" => Some(Protocol::Udp),
        "SCTP" => Some(Protocol::Sctp),
        _ => None,
    }
}

/// `local/sender 36.7% (0.0%u/36.7%s), remote/receiver 55.6% (2.7%u/52.9%s)`.
fn cpu(rest: &str) -> Option<Cpu> {
    let (local, remote) = rest.split_once("),")?;
    Some(Cpu { local: utilisation(local)?, remote: utilisation(remote)? })
}

fn utilisation(text: &str) -> Option<Utilisation> {
    let (total, parts) = text.split_once('(')?;
    let (user, system) = parts.split_once('/')?;
    let percent = |t: &str| {
        let digits = t.trim().split('%').next().unwrap_or_default();
        decimal(digits, Fraction::Maybe).ok().map(Percent)
    };
    Some(Utilisation { total: percent(words(total).last()?)?, user: percent(user)?, system: percent(system)? })
}

/// Decides what a run of tables was.
pub(super) fn text(run: &mut Run) {
    if run.rows.iter().any(|r| matches!(r.scope, Scope::Sender | Scope::Receiver)) {
        // iperf 2 never says whose row it is.
        run.tool = run.tool.or(Some(Tool::Iperf3));
    }
    if run.tool != Some(Tool::Iperf3) {
        totals(run);
    }
    let ways = run.rows.iter().any(|r| r.way.is_some());
    if ways {
        if run.tool == Some(Tool::Iperf2) {
            duplex(run);
        }
        run.direction = Some(Direction::Both);
    }
    if run.role == Some(Role::Client) && run.peer.is_some() && !run.rows.is_empty() {
        // The other directions are shown.
        run.direction = run.direction.or(Some(Direction::Forward));
    }
    // A duplex test whose way back could not be opened measured the way there.
    let is_measured = run.end == End::Cut || run.end == End::Failed && run.tool == Some(Tool::Iperf2);
    if is_measured && run.totals().next().is_some() {
        run.end = End::Finished;
    }
    check(run);
}

/// iperf 2 does not say which row is the whole test: it is the last of a stream that has several, and begins with the first.
fn totals(run: &mut Run) {
    let mut keys: Vec<(Stream, Option<Way>)> = run.rows.iter().map(|r| (r.stream, r.way)).collect();
    keys.sort_unstable();
    let has_intervals = keys.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    // A row of the server's report is a second one that is no interval.
    let reported = run.rows.iter().filter(|r| r.scope == Scope::Receiver).count();
    keys.dedup();
    let has_intervals = has_intervals && run.rows.len() > keys.len() + reported;
    let is_client_of_udp = run.protocol == Some(Protocol::Udp) && run.role == Some(Role::Client);
    let whole = if is_client_of_udp { Scope::Sender } else { Scope::Total };
    for key in keys {
        let mut own: Vec<&mut Row> = run
            .rows
            .iter_mut()
            .filter(|r| (r.stream, r.way) == key && r.scope == Scope::Interval && r.start < 0.05)
            .collect();
        let is_total = own.len() > 1 || !has_intervals;
        if let Some(last) = own.last_mut().filter(|_| is_total) {
            last.scope = whole;
        }
    }
}

/// The plain rows of a duplex test are the other direction than the marked ones.
fn duplex(run: &mut Run) {
    for row in run.rows.iter_mut().filter(|r| r.stream != Stream::Sum) {
        // A server marks what it sends; a client what it receives: both are to the client.
        row.way = row.way.or(Some(Way::ToServer));
    }
    for row in run.rows.iter_mut().filter(|r| r.stream == Stream::Sum) {
        row.way = Some(Way::Both);
    }
}

/// Takes out rows that look like measurements and are none.
pub(super) fn check(run: &mut Run) {
    let mut why: Vec<Option<&'static str>> = vec![None; run.rows.len()];
    unmeasured(run, &mut why);
    broken_off(run, &mut why);
    if why.iter().all(Option::is_none) {
        return;
    }
    let rows = std::mem::take(&mut run.rows);
    for (row, why) in rows.into_iter().zip(why) {
        match why {
            Some(why) => run.refused.push(row.line, Why::Impossible(why)),
            None => run.rows.push(row),
        }
    }
}

/// Where an end does not know what the other measured, it prints zero: after an interrupt, and a server always.
fn unmeasured(run: &Run, why: &mut [Option<&'static str>]) {
    let is_zero = |r: &Row| r.rate.0 == 0.0 && r.transfer.is_none_or(|t| t.0 == 0);
    let is_ended = run.end == End::Finished && run.role != Some(Role::Server);
    // Where something moved, of each direction.
    let mut moved: Vec<(Scope, Option<Way>)> = Vec::new();
    for row in run.rows.iter().filter(|r| !is_zero(r)) {
        if !moved.contains(&(row.scope, row.way)) {
            moved.push((row.scope, row.way));
        }
    }
    for (row, why) in run.rows.iter().zip(why).filter(|(r, _)| is_zero(r)) {
        let is_false = match row.scope {
            // What arrived was sent.
            Scope::Sender => moved.contains(&(Scope::Receiver, row.way)),
            Scope::Receiver => !is_ended && moved.contains(&(Scope::Sender, row.way)),
            // Some releases forget what a server received by UDP.
            Scope::Total => moved.contains(&(Scope::Interval, row.way)),
            Scope::Interval => false,
        };
        if is_false {
            *why = Some("a total of zero beside what did move: the ends did not exchange their results");
        }
    }
}

/// What is known of a stream while its rows are looked at.
#[derive(Default, Clone, Copy)]
struct Seen {
    last: Option<(f64, f64)>,
    /// Bytes of all intervals, and their end.
    sum: f64,
    end: f64,
}

/// A server whose client broke off prints its last interval again, and a total of all bytes over the time of the intervals: too much.
#[allow(clippy::cast_precision_loss)] // Compared loosely.
fn broken_off(run: &mut Run, why: &mut [Option<&'static str>]) {
    let may_be = run.role == Some(Role::Server) && run.end != End::Failed;
    if !may_be || run.tool == Some(Tool::Iperf2) {
        return;
    }
    let mut streams: std::collections::HashMap<(Stream, Option<Way>), Seen> = std::collections::HashMap::new();
    let has_tagged = run.rows.iter().any(|r| matches!(r.scope, Scope::Sender | Scope::Receiver));
    let mut is_broken = false;
    for (row, why) in run.rows.iter().zip(why).filter(|(r, _)| !r.omitted) {
        let seen = streams.entry((row.stream, row.way)).or_default();
        let bytes = row.transfer.map_or(0.0, |t| t.0 as f64);
        match row.scope {
            Scope::Interval | Scope::Total if has_tagged => {
                if seen.last == Some((row.start, row.end)) && row.end > row.start {
                    *why = Some("the last interval again: the run was broken off");
                } else {
                    (seen.last, seen.sum, seen.end) =
                        (Some((row.start, row.end)), seen.sum + bytes, seen.end.max(row.end));
                }
            }
            // Text has three digits.
            Scope::Sender | Scope::Receiver
                if seen.sum > 0.0 && bytes > seen.sum * 1.05 && row.end < seen.end + 0.02 =>
            {
                *why = Some(
                    "the total counts bytes from behind the last interval, and not their time: the run was broken off",
                );
                is_broken = true;
            }
            _ => {}
        }
    }
    if is_broken {
        run.end = End::Interrupted;
    } else if run.end == End::Interrupted && has_tagged && !run.notes.iter().any(|n| n.text.starts_with("interrupt")) {
        // `the client has terminated` is also said where it came to its end.
        run.end = End::Finished;
    }
}
