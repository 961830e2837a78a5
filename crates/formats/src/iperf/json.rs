//! iperf3's JSON: one document (`-J`), or an event a line (`--json-stream`).

use super::intervals::Intervals;
use super::reader::Reader;
use super::run::{
    Connection, Cpu, Direction, Endpoint, Measured, Role, Row, Run, Scope, Stream, Tool, Utilisation, Way,
};
use super::settle;
use super::shape::{Connected, CpuValues, Data, Document, Interval, Part, Side, Values};
use crate::error::Why;
use crate::json_docs::{Piece, Place};
use crate::json_loose::{Num, Text};
use crate::refusal::{End, Said};
use crate::text::At;
use crate::units::{Bytes, Gbps, Microseconds, Percent};

/// Whether a text that begins with `{` is iperf3's.
pub(super) fn is_ours(head: &str) -> bool {
    let has = |key: &str| head.contains(key);
    has("\"start\"") && (has("\"connected\"") || has("\"iperf ")) || has("\"event\"") && has("\"data\"")
}

/// A run whose events come line by line.
#[derive(Debug, Default)]
pub(super) struct Events {
    run: Option<Run>,
}

/// Takes a piece of a text.
pub(super) fn piece(piece: Piece<'_, Document>, reader: &mut Reader, events: &mut Events) {
    match piece {
        Piece::Line(number, line) => reader.line(number, line),
        Piece::Document(document, place) if document.event.is_some() => event(document, place, reader, events),
        Piece::Document(document, place) => {
            // `--json-stream-full-output`: the whole document again, behind its events.
            let is_again = events.run.as_ref().is_some_and(|r| r.end == End::Finished && is_same(r, &document));
            if is_again {
                events.run = None;
            }
            end_events(reader, events);
            reader.push(run(document, place));
        }
        Piece::Broken(place, why) => {
            end_events(reader, events);
            let mut run = Run { tool: Some(Tool::Iperf3), lines: place.lines, ..Run::default() };
            run.refused.push(place.lines.0, why);
            reader.push(run);
        }
    }
}

/// The events are over.
pub(super) fn end_events(reader: &mut Reader, events: &mut Events) {
    if let Some(mut run) = events.run.take() {
        settle::check(&mut run);
        reader.push(run);
    }
}

fn is_same(run: &Run, document: &Document) -> bool {
    let first = document.start.connected.first().and_then(|c| connection(0, c));
    first.is_some_and(|f| run.connections.first().is_some_and(|c| c.local == f.local && c.remote == f.remote))
}

fn event(document: Document, place: Place, reader: &mut Reader, events: &mut Events) {
    let name = document.event.and_then(|e| e.0).unwrap_or_default();
    if name == "start" {
        end_events(reader, events);
    }
    let line = place.lines.0;
    let run = events.run.get_or_insert_with(|| Run { tool: Some(Tool::Iperf3), lines: place.lines, ..Run::default() });
    run.lines.1 = place.lines.1;
    match (name.as_str(), document.data) {
        ("start", Some(Data::Object(part))) => start(run, &part, line),
        ("interval", Some(Data::Object(part))) => {
            let interval = Interval { streams: part.streams, sum: part.sum, sum_bidir_reverse: part.sum_bidir_reverse };
            let mut intervals = Intervals::default();
            intervals.add(&interval);
            intervals.give(run, line);
        }
        ("end", Some(Data::Object(part))) => {
            end(run, &part, line);
            if run.end == End::Cut {
                run.end = End::Finished;
            }
        }
        ("error", Some(Data::Text(text))) => error(run, &text, line),
        _ => {}
    }
}

fn run(document: Document, place: Place) -> Run {
    let line = place.lines.0;
    let mut run = Run { tool: Some(Tool::Iperf3), lines: place.lines, ..Run::default() };
    start(&mut run, &document.start, line);
    document.intervals.give(&mut run, line);
    end(&mut run, &document.end, line);
    if let Some(text) = &document.error {
        error(&mut run, text, line);
    } else if !place.is_cut && run.totals().next().is_some() {
        run.end = End::Finished;
    }
    place.refuse(&mut run.refused);
    settle::check(&mut run);
    run
}

fn error(run: &mut Run, text: &Text, line: u32) {
    let text = text.0.as_deref().unwrap_or_default();
    let is_interrupt = text.starts_with("interrupt") || text.contains("has terminated");
    run.end = if is_interrupt { End::Interrupted } else { End::Failed };
    run.fail(Said::new(line, text));
}

fn start(run: &mut Run, part: &Part, line: u32) {
    let version = part.version.0.as_deref().unwrap_or_default();
    run.version = version.strip_prefix("iperf ").map(|v| At::new(v.into(), line));
    run.began = part.timestamp.timemillisecs.get().map(|ms| ms / 1e3).or(part.timestamp.timesecs.get());
    run.role = match (&part.connecting_to, &part.accepted_connection) {
        (Some(_), _) => Some(Role::Client),
        (None, Some(_)) => Some(Role::Server),
        (None, None) => None,
    };
    let peer = part.connecting_to.as_ref().or(part.accepted_connection.as_ref());
    run.peer = peer.and_then(|t| endpoint(&t.host, t.port)).map(|e| At::new(e, line));
    for each in part.connected.iter().filter_map(|c| connection(line, c)) {
        run.push_connection(each);
    }
    let test = &part.test_start;
    run.protocol = test.protocol.0.as_deref().and_then(settle::protocol);
    let positive = |n: Num| n.u64().filter(|v| *v > 0).map(Bytes);
    run.params.streams = test.num_streams.u32();
    run.params.block = positive(test.blksize);
    run.params.omit = test.omit.get();
    run.params.duration = test.duration.get().filter(|d| *d > 0.0);
    run.params.bytes = positive(test.bytes);
    run.params.target = test.target_bitrate.get().filter(|r| *r > 0.0).map(Gbps::from_bits_per_second);
    run.params.tos = test.tos.u32();
    run.params.mss = positive(part.tcp_mss).or_else(|| positive(part.tcp_mss_default));
    run.params.window = positive(part.sock_bufsize);
    run.direction = match (test.bidir.flag(), test.reverse.flag()) {
        (Some(true), _) => Some(Direction::Both),
        (_, Some(true)) => Some(Direction::Reverse),
        (_, Some(false)) => Some(Direction::Forward),
        (_, None) => None,
    };
}

fn endpoint(host: &Text, port: Num) -> Option<Endpoint> {
    Some(Endpoint { host: host.0.clone()?, port: u16::try_from(port.u64()?).ok()? })
}

fn connection(line: u32, c: &Connected) -> Option<Connection> {
    let (local, remote) = (endpoint(&c.local_host, c.local_port)?, endpoint(&c.remote_host, c.remote_port)?);
    Some(Connection { line, stream: Stream::One(c.socket.u32()?), local, remote })
}

/// Which direction the data goes that this end sends, or not.
pub(super) fn way(run: &Run, sends: bool) -> Way {
    if (run.role == Some(Role::Server)) == sends { Way::ToClient } else { Way::ToServer }
}

fn end(run: &mut Run, part: &Part, line: u32) {
    let is_both = run.direction == Some(Direction::Both) || part.sum_sent_bidir_reverse.is_some();
    if is_both {
        run.direction = Some(Direction::Both);
    }
    let first = run.rows.len();
    for values in &part.streams {
        for (side, scope) in
            [(&values.sender, Scope::Sender), (&values.receiver, Scope::Receiver), (&values.udp, Scope::Total)]
        {
            let Side::Values(v) = side else { continue };
            let sends = matches!(v.sender, Side::Flag(true));
            let stream = v.socket.u32().map(Stream::One);
            push(run, line, v, stream, is_both.then(|| way(run, sends)), scope);
        }
    }
    // On the server the names do not tell the direction, the flag of what was sent does.
    let flag = |v: &Option<Box<Values>>| v.as_ref().map(|v| matches!(v.sender, Side::Flag(true)));
    let sends = flag(&part.sum_sent).unwrap_or(run.role != Some(Role::Server));
    let sums = [
        (&part.sum_sent, Scope::Sender, sends),
        (&part.sum_received, Scope::Receiver, sends),
        (&part.sum_sent_bidir_reverse, Scope::Sender, !sends),
        (&part.sum_received_bidir_reverse, Scope::Receiver, !sends),
        (&part.sum, Scope::Total, sends),
        (&part.sum_bidir_reverse, Scope::Total, !sends),
    ];
    let before = run.rows.len();
    for (values, scope, sends) in sums {
        let Some(values) = values else { continue };
        let way = is_both.then(|| way(run, sends));
        let alike = run.rows.iter().take(before).skip(first).filter(|r| r.scope == scope && r.way == way).count();
        if alike != 1 {
            push(run, line, values, Some(Stream::Sum), way, scope);
        }
    }
    if let Some(cpu) = &part.cpu_utilization_percent {
        run.cpu = utilisation(cpu).map(|c| At::new(c, line));
    }
    run.congestion = (part.sender_tcp_congestion.0.clone(), part.receiver_tcp_congestion.0.clone());
}

fn utilisation(cpu: &CpuValues) -> Option<Cpu> {
    let of = |total: Num, user: Num, system: Num| {
        Some(Utilisation { total: Percent(total.get()?), user: Percent(user.get()?), system: Percent(system.get()?) })
    };
    Some(Cpu {
        local: of(cpu.host_total, cpu.host_user, cpu.host_system)?,
        remote: of(cpu.remote_total, cpu.remote_user, cpu.remote_system)?,
    })
}

fn push(run: &mut Run, line: u32, v: &Values, stream: Option<Stream>, way: Option<Way>, scope: Scope) {
    match row(line, v, stream, way, scope) {
        Ok(row) => run.push_row(row),
        Err(why) => run.refused.push(line, why),
    }
}

pub(super) fn row(line: u32, v: &Values, stream: Option<Stream>, way: Option<Way>, scope: Scope) -> Result<Row, Why> {
    let Some(stream) = stream else { return Err(Why::Missing("a stream without its number")) };
    let (Some(start), Some(end), Some(rate)) = (v.start.get(), v.end.get(), v.bits_per_second.get()) else {
        return Err(Why::Missing("a measurement without a rate or without its time"));
    };
    let us = |n: Num| n.get().map(Microseconds);
    let positive = |n: Num| n.u64().filter(|v| *v > 0).map(Bytes);
    let mut more = Measured {
        retransmits: v.retransmits.u64(),
        cwnd: positive(v.snd_cwnd),
        rtt: us(v.rtt).or(us(v.mean_rtt)).filter(|t| t.0 > 0.0),
        rttvar: us(v.rttvar),
        pmtu: positive(v.pmtu),
        jitter: v.jitter_ms.get().map(Microseconds::from_milliseconds),
        lost: v.lost_packets.u64(),
        packets: v.packets.u64(),
        out_of_order: v.out_of_order.u64(),
        ..Measured::default()
    };
    more.unless_sender(scope);
    let omitted = v.omitted.flag() == Some(true);
    let rate = Gbps::from_bits_per_second(rate);
    let transfer = v.bytes.u64().map(Bytes);
    Ok(Row { line, stream, way, scope, omitted, start, end, transfer, rate, more })
}
