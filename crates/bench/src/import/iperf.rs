//! iperf 2 and 3.

use super::{Benchmark, Sink};
use crate::model::{Better, Kind, Label, Metric, Run, Unit};
use crate::summary::Area;
use linerate_formats::iperf::{self as theirs, Role, Row, Scope, Stream, Tool, Way};

pub(super) const IPERF3: Benchmark = Benchmark {
    tool: &theirs::IPERF3,
    read,
    area: Area::Tcp,
    secondary: &["interval_bandwidth", "cpu", "rtt", "retransmits"],
};
pub(super) const IPERF2: Benchmark = Benchmark { tool: &theirs::IPERF2, ..IPERF3 };

/// `kind` is the program whose runs are wanted: both print similar tables, and are read by one reader.
fn read(bytes: &[u8], to: &mut Sink<'_>) {
    for found in theirs::parse(bytes) {
        let is = |tool| found.tool == Some(tool);
        to.kind = if is(Tool::Iperf2) { Kind::Iperf2 } else { Kind::Iperf3 };
        to.record("rows", &found.refused, &found.left_out);
        // The server's words about the test that the client printed already.
        if found.is_servers_view {
            continue;
        }
        let line = found.lines.0;
        to.run(run(&found), line);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { began: found.began, ..Run::default() };
    run.version = found.version.as_ref().map(|v| v.value.clone());
    params(found, &mut run);
    let ways: &[Option<Way>] = &[None, Some(Way::ToServer), Some(Way::ToClient), Some(Way::Both)];
    for way in ways {
        let labels: Vec<Label> = way.iter().map(|w| Label::new("direction", word(*w))).collect();
        if let Some(total) = found.rate(*way) {
            totals(total, found.retransmits(*way), &labels, &mut run);
        }
        intervals(found, *way, &labels, &mut run);
    }
    if run.points() == 0 {
        streams(found, &mut run);
    }
    if let Some(cpu) = found.cpu.as_ref().map(|c| &c.value) {
        for (end, load) in [("local", cpu.local), ("remote", cpu.remote)] {
            let labels = [Label::new("end", end)];
            run.series_mut(Metric::new("cpu", Unit::Percent, Better::Neither), &labels).push(None, None, load.total.0);
        }
    }
    run.said(&found.failures, &found.notes);
    run.ended(found.end);
    run
}

/// Streams of which nothing says that they ran at once: each for itself, under a name of its own.
fn streams(found: &theirs::Run, run: &mut Run) {
    for row in found.totals() {
        let Stream::One(n) = row.stream else { continue };
        let metric = Metric::new("stream_bandwidth", Unit::Gbps, Better::Higher);
        run.series_mut(metric, &[Label::new("stream", n.to_string())]).push(None, None, row.rate.0);
    }
}

fn word(way: Way) -> &'static str {
    match way {
        Way::ToServer => "to-server",
        Way::ToClient => "to-client",
        Way::Both => "both",
    }
}

/// What the whole test came to.
fn totals(row: &Row, retransmits: Option<u64>, labels: &[Label], run: &mut Run) {
    let mut put = |metric: Metric, value: Option<f64>| run.value(metric, labels, None, value);
    let m = &row.more;
    put(Metric::new("bandwidth", Unit::Gbps, Better::Higher), Some(row.rate.0));
    put(Metric::new("retransmits", Unit::One, Better::Lower), retransmits.map(|n| n as f64));
    put(Metric::new("jitter", Unit::Microseconds, Better::Lower), m.jitter.map(|v| v.0));
    // Without a packet nothing was lost, and nothing measured.
    let lost = m.lost.zip(m.packets.filter(|n| *n > 0)).map(|(lost, sent)| 100.0 * lost as f64 / sent as f64);
    put(Metric::new("loss", Unit::Percent, Better::Lower), lost);
    put(Metric::new("rtt", Unit::Microseconds, Better::Lower), m.rtt.map(|v| v.0));
}

/// The rate over time: of all streams together, where there are several.
fn intervals(found: &theirs::Run, way: Option<Way>, labels: &[Label], run: &mut Run) {
    let rows = || found.rows.iter().filter(move |r| r.scope == Scope::Interval && r.way == way && !r.omitted);
    let summed = rows().any(|r| r.stream == Stream::Sum);
    for row in rows().filter(|r| !summed || r.stream == Stream::Sum) {
        let mut labels = labels.to_vec();
        if let (Stream::One(n), false) = (row.stream, summed) {
            labels.push(Label::new("stream", n.to_string()));
        }
        let metric = Metric::new("interval_bandwidth", Unit::Gbps, Better::Higher);
        run.series_mut(metric, &labels).push(None, Some(row.start), row.rate.0);
    }
}

fn params(found: &theirs::Run, run: &mut Run) {
    let p = &found.params;
    run.param(
        "protocol",
        found.protocol.map(|p| match p {
            theirs::Protocol::Tcp => "TCP",
            theirs::Protocol::Udp => "UDP",
            theirs::Protocol::Sctp => "SCTP",
        }),
    );
    run.param(
        "direction",
        found.direction.map(|d| match d {
            theirs::Direction::Forward => "forward",
            theirs::Direction::Reverse => "reverse",
            theirs::Direction::Both => "both",
        }),
    );
    run.param("role", found.role.map(|r| if r == Role::Server { "server" } else { "client" }));
    run.param("streams", p.streams);
    run.param("block", p.block.map(|b| b.0));
    run.param("omit", p.omit);
    run.param("duration", p.duration);
    run.param("bytes", p.bytes.map(|b| b.0));
    run.param("target_gbps", p.target.map(|t| t.0));
    run.param("tos", p.tos);
    run.param("mss", p.mss.map(|b| b.0));
    run.param("window", p.window.map(|b| b.0));
    run.param("congestion", found.congestion.0.clone());
    run.param("peer", found.peer.as_ref().map(|p| p.value.host.clone()));
}
