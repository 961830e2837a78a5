//! sockperf: latency and throughput of sockets.

use super::{Benchmark, Sink};
use crate::model::{Better, Label, Metric, Run, Stat, Unit};
use crate::summary::Area;
use linerate_formats::refusal::End;
use linerate_formats::sockperf::{self as theirs, Latency, Measured, Mode, Observations, Transport};

pub(super) const BENCHMARK: Benchmark =
    Benchmark { tool: &theirs::TOOL, read, area: Area::Tcp, secondary: &["message_rate"] };

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    for found in theirs::parse(bytes) {
        to.record("lines", &found.refused, &found.left_out);
        let line = found.lines.0;
        if found.is_server && found.failures.is_empty() {
            to.refuse(line, "the server's end, which measures nothing: the client's output has the result");
            continue;
        }
        to.run(run(&found), line);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { tool: Some("sockperf".into()), ..Run::default() };
    run.version = found.version.as_ref().map(|v| v.value.clone());
    run.param(
        "mode",
        found.mode.as_ref().map(|m| match m.value {
            Mode::PingPong => "ping-pong",
            Mode::UnderLoad => "under-load",
            Mode::Playback => "playback",
            Mode::Throughput => "throughput",
        }),
    );
    let p = &found.params;
    run.param("message_size", p.message.map(|b| b.0));
    run.param("rate", p.rate);
    run.param("burst", p.burst);
    run.param("reply_every", p.reply_every);
    run.param("duration", p.seconds);
    if let Some(end) = found.endpoints.first() {
        run.param("peer", Some(end.host.clone()));
        run.param(
            "protocol",
            end.transport.map(|t| match t {
                Transport::Tcp => "TCP",
                Transport::Udp => "UDP",
                Transport::Unix => "UNIX",
            }),
        );
    }
    let size = p.message.map(|b| b.0);
    let many = found.servers.len() > 1;
    for server in &found.servers {
        let labels: Vec<Label> = if many { vec![Label::new("server", server.number.to_string())] } else { Vec::new() };
        let measured = server.latency.as_ref().map(|l| l.value.measured);
        // A whole round trip and half of one are two things.
        let name = if measured == Some(Measured::RoundTrip) { "rtt" } else { "latency" };
        if let Some(l) = &server.latency {
            latency(name, &l.value, size, &labels, &mut run);
        }
        if let Some(o) = &server.observations {
            observations(name, &o.value, size, &labels, &mut run);
        }
        if let Some(lost) = server.lost.as_ref().filter(|l| l.value.dropped > 0) {
            run.note(format!("{} messages were dropped", lost.value.dropped), Some(lost.line));
        }
    }
    if let Some(t) = found.throughput.as_ref().map(|t| &t.value) {
        let mut put = |metric: Metric, value: Option<f64>| run.value(metric, &[], size, value);
        put(Metric::new("bandwidth", Unit::Gbps, Better::Higher), t.bandwidth.map(|b| b.gbps().0));
        put(Metric::new("message_rate", Unit::MessagesPerSecond, Better::Higher), t.messages.map(|m| m.0));
        run.note("throughput is what the client handed to the network, not what arrived", None);
    }
    run.said(&found.failures, &found.notes);
    // Of an interrupted run its failure says so.
    if found.end == End::Cut {
        run.ended(End::Cut);
    }
    run
}

fn put(name: &'static str, stat: Stat, value: Option<f64>, size: Option<u64>, labels: &[Label], run: &mut Run) {
    run.value(Metric::new(name, Unit::Microseconds, Better::Lower).stat(stat), labels, size, value);
}

fn latency(name: &'static str, l: &Latency, size: Option<u64>, labels: &[Label], run: &mut Run) {
    put(name, Stat::Mean, Some(l.mean.0), size, labels, run);
    put(name, Stat::Stdev, l.stdev.map(|v| v.0), size, labels, run);
    if l.interval.is_some() {
        run.note("sockperf's own confidence interval takes its observations for independent, which they are not: it is too narrow", None);
    }
}

fn observations(name: &'static str, o: &Observations, size: Option<u64>, labels: &[Label], run: &mut Run) {
    put(name, Stat::Min, o.min.as_ref().map(|v| v.value.0), size, labels, run);
    put(name, Stat::Max, o.max.as_ref().map(|v| v.value.0), size, labels, run);
    for (p, value) in &o.percentiles {
        let stat = if *p == 50.0 { Stat::Median } else { Stat::Percentile(*p) };
        put(name, stat, Some(value.value.0), size, labels, run);
    }
}
