//! iperf3's JSON: one document (`-J`), or an event a line (`--json-stream`).

use super::reader::Reader;
use super::run::{
    Connection, Cpu, Direction, Endpoint, Measured, Role, Row, Run, Scope, Stream, Tool, Utilisation, Way,
};
use super::settle;
use crate::json_docs::{Num, Piece, Place, Text, loose};
use crate::refusal::{End, Said};
use crate::text::At;
use crate::units::{Bytes, Gbps, Microseconds, Percent};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Whether a text that begins with `{` is iperf3's.
pub(super) fn is_ours(head: &str) -> bool {
    let has = |key: &str| head.contains(key);
    has("\"start\"") && (has("\"connected\"") || has("\"iperf ")) || has("\"event\"") && has("\"data\"")
}

loose! {
    pub(super) struct Document {
        start b"start": Part,
        intervals b"intervals": Vec<Interval>,
        end b"end": Part,
        error b"error": Option<Text>,
        event b"event": Option<Text>,
        data b"data": Option<Data>,
    }
}

/// What an event carries: an object whose names depend on the event, or a text.
#[derive(Debug)]
enum Data {
    Text(Text),
    Object(Box<Part>),
    Other,
}

loose! {
/// The start, the end, or what an event carries: their names do not collide.
    struct Part {
        connected b"connected": Vec<Connected>,
        version b"version": Text,
        timestamp b"timestamp": Timestamp,
        connecting_to b"connecting_to": Option<Target>,
        accepted_connection b"accepted_connection": Option<Target>,
        tcp_mss b"tcp_mss": Num,
        tcp_mss_default b"tcp_mss_default": Num,
        sock_bufsize b"sock_bufsize": Num,
        test_start b"test_start": TestStart,
        streams b"streams": Vec<Values>,
        sum b"sum": Option<Box<Values>>,
        sum_bidir_reverse b"sum_bidir_reverse": Option<Box<Values>>,
        sum_sent b"sum_sent": Option<Box<Values>>,
        sum_received b"sum_received": Option<Box<Values>>,
        sum_sent_bidir_reverse b"sum_sent_bidir_reverse": Option<Box<Values>>,
        sum_received_bidir_reverse b"sum_received_bidir_reverse": Option<Box<Values>>,
        cpu_utilization_percent b"cpu_utilization_percent": Option<CpuValues>,
        sender_tcp_congestion b"sender_tcp_congestion": Text,
        receiver_tcp_congestion b"receiver_tcp_congestion": Text,
    }
}

loose! {
    struct Connected {
        socket b"socket": Num,
        local_host b"local_host": Text,
        local_port b"local_port": Num,
        remote_host b"remote_host": Text,
        remote_port b"remote_port": Num,
    }
}

loose! {
    struct Timestamp {
        timesecs b"timesecs": Num,
        timemillisecs b"timemillisecs": Num,
    }
}

loose! {
    struct Target {
        host b"host": Text,
        port b"port": Num,
    }
}

loose! {
    struct TestStart {
        protocol b"protocol": Text,
        num_streams b"num_streams": Num,
        blksize b"blksize": Num,
        omit b"omit": Num,
        duration b"duration": Num,
        bytes b"bytes": Num,
        reverse b"reverse": Num,
        bidir b"bidir": Num,
        tos b"tos": Num,
        target_bitrate b"target_bitrate": Num,
    }
}

loose! {
    struct Interval {
        streams b"streams": Vec<Values>,
        sum b"sum": Option<Box<Values>>,
        sum_bidir_reverse b"sum_bidir_reverse": Option<Box<Values>>,
    }
    // The sum of one stream says nothing new.
    skip |interval| interval.streams.len() == 1
}

loose! {
    struct CpuValues {
        host_total b"host_total": Num,
        host_user b"host_user": Num,
        host_system b"host_system": Num,
        remote_total b"remote_total": Num,
        remote_user b"remote_user": Num,
        remote_system b"remote_system": Num,
    }
}

loose! {
/// Of an interval, a stream or a sum.
    struct Values {
        socket b"socket": Num,
        start b"start": Num,
        end b"end": Num,
        bytes b"bytes": Num,
        bits_per_second b"bits_per_second": Num,
        retransmits b"retransmits": Num,
        snd_cwnd b"snd_cwnd": Num,
        rtt b"rtt": Num,
        rttvar b"rttvar": Num,
        pmtu b"pmtu": Num,
        mean_rtt b"mean_rtt": Num,
        omitted b"omitted": Num,
        sender b"sender": Side,
        receiver b"receiver": Side,
        udp b"udp": Side,
        jitter_ms b"jitter_ms": Num,
        lost_packets b"lost_packets": Num,
        packets b"packets": Num,
        out_of_order b"out_of_order": Num,
    }
}

/// `true` in an interval, an object at the end.
#[derive(Debug, Default)]
enum Side {
    #[default]
    Missing,
    Flag(bool),
    Values(Box<Values>),
}

macro_rules! visit {
    ($name:ident, $value:ty, $what:literal, $map:expr, $text:expr, $flag:expr, $other:expr) => {
        struct $name;
        impl<'de> Visitor<'de> for $name {
            type Value = $value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($what)
            }
            fn visit_bool<E>(self, v: bool) -> Result<$value, E> {
                Ok($flag(v))
            }
            fn visit_i64<E>(self, v: i64) -> Result<$value, E> {
                Ok($flag(v != 0))
            }
            fn visit_u64<E>(self, v: u64) -> Result<$value, E> {
                Ok($flag(v != 0))
            }
            fn visit_f64<E>(self, _: f64) -> Result<$value, E> {
                Ok($other)
            }
            fn visit_unit<E>(self) -> Result<$value, E> {
                Ok($other)
            }
            fn visit_str<E>(self, v: &str) -> Result<$value, E> {
                Ok($text(v))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<$value, A::Error> {
                while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                Ok($other)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$value, A::Error> {
                Ok($map(Box::new(Deserialize::deserialize(MapAccessDeserializer::new(map))?)))
            }
        }
        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                d.deserialize_any($name)
            }
        }
    };
}

visit!(SideVisitor, Side, "a flag or an object", Side::Values, |_| Side::Missing, Side::Flag, Side::Missing);
visit!(
    DataVisitor,
    Data,
    "an object or a text",
    Data::Object,
    |v: &str| Data::Text(Text(Some(v.chars().take(300).collect()))),
    |_| Data::Other,
    Data::Other
);

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
            reader.push(run(&document, place));
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
            self::interval(run, &interval, line);
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

fn run(document: &Document, place: Place) -> Run {
    let line = place.lines.0;
    let mut run = Run { tool: Some(Tool::Iperf3), lines: place.lines, ..Run::default() };
    start(&mut run, &document.start, line);
    for each in &document.intervals {
        interval(&mut run, each, line);
    }
    end(&mut run, &document.end, line);
    if let Some(text) = &document.error {
        error(&mut run, text, line);
    } else if !place.is_cut && run.totals().next().is_some() {
        run.end = End::Finished;
    }
    if place.is_cut {
        run.refused.push(place.lines.1, "the document ends in the middle: what stands before is kept");
    }
    if place.had_nan {
        run.refused.push(line, "`nan` or `inf` stands where a number belongs: nothing was measured there");
    }
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
fn way(run: &Run, sends: bool) -> Way {
    if (run.role == Some(Role::Server)) == sends { Way::ToClient } else { Way::ToServer }
}

fn interval(run: &mut Run, interval: &Interval, line: u32) {
    if interval.sum_bidir_reverse.is_some() {
        run.direction = Some(Direction::Both);
    }
    let is_both = run.direction == Some(Direction::Both);
    let mut streams = [0u32; 2];
    for values in &interval.streams {
        let sends = matches!(values.sender, Side::Flag(true));
        streams.iter_mut().skip(usize::from(sends)).take(1).for_each(|n| *n += 1);
        let stream = values.socket.u32().map(Stream::One);
        push(run, line, values, stream, is_both.then(|| way(run, sends)), Scope::Interval);
    }
    for values in [&interval.sum, &interval.sum_bidir_reverse].into_iter().flatten() {
        let sends = matches!(values.sender, Side::Flag(true));
        let count: u32 =
            if is_both { streams.iter().skip(usize::from(sends)).take(1).sum() } else { streams.iter().sum() };
        // The sum of one stream says nothing new.
        if count != 1 {
            push(run, line, values, Some(Stream::Sum), is_both.then(|| way(run, sends)), Scope::Interval);
        }
    }
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
    let Some(stream) = stream else { return run.refused.push(line, "a stream without its number") };
    let (Some(start), Some(end), Some(rate)) = (v.start.get(), v.end.get(), v.bits_per_second.get()) else {
        return run.refused.push(line, "a measurement without a rate or without its time");
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
    run.push_row(Row { line, stream, way, scope, omitted, start, end, transfer: v.bytes.u64().map(Bytes), rate, more });
}
