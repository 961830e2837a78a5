//! perftest: bandwidth and latency over RDMA.

use super::{Benchmark, Sink, failed};
use crate::model::{Better, Fault, Label, Metric, Note, Point, Run, Stat, Unit};
use crate::summary::Area;
use linerate_formats::bounds::{Limit, beyond};
use linerate_formats::perftest::{self as theirs, BandwidthValues, LatencyValues, Values};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    tool: &theirs::TOOL,
    read,
    area: Area::Rdma,
    secondary: &["message_rate", "transactions", "cpu", "iterations"],
};

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    for found in theirs::parse(bytes) {
        to.record("rows", &found.refused, &found.left_out);
        if found.rows.is_empty() && found.failures.is_empty() {
            let line = found.lines.0;
            let why = if found.is_server {
                "the server's end, which measured nothing: the client's output has the result"
            } else {
                "a header without results: the test was ended, or the peer did not come"
            };
            to.refuse(line, why);
            continue;
        }
        to.run(run(&found), found.lines.0);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run::default();
    let bidirectional = found.test.as_ref().is_some_and(|t| t.value.bidirectional);
    run.tool = found.test.as_ref().and_then(|t| program(&t.value)).map(Into::into);
    params(found, &mut run);
    // Whoever only receives has no send queue to tell of: the server of a one-way bandwidth test, which prints the same result.
    let is_bandwidth = found.test.as_ref().is_some_and(|t| t.value.kind == theirs::Kind::Bandwidth);
    let serves = found.is_server
        || is_bandwidth && !bidirectional && found.header.tx_depth.is_none() && found.header.qps.is_some();
    run.param("role", serves.then_some("server"));
    run.param("bidirectional", found.test.as_ref().map(|_| bidirectional));
    for row in &found.rows {
        let size = Some(row.size.0);
        let level = row.service_level.map(|sl| Label::new("sl", sl.to_string()));
        let labels: &[Label] = level.as_slice();
        let valid = !nothing_moved(row);
        if !valid {
            let what = format!(
                "nothing was sent at {}: a peer that was gone, or a test that was ended before it began",
                row.size
            );
            run.faults.push(Fault { what, line: Some(row.line), whole_run: found.rows.iter().all(nothing_moved) });
        }
        let mut put = |metric: Metric, value: Option<f64>| {
            if let Some(value) = value.filter(|v| v.is_finite()) {
                run.series_mut(metric, labels).points.push(Point { size, at: None, value, valid });
            }
        };
        match &row.values {
            Values::Bandwidth(b) => bandwidth(b, &mut put),
            Values::Latency(l) => latency(l, &mut put),
        }
        put(Metric::new("cpu", Unit::Percent, Better::Neither), row.cpu.map(|c| c.0));
        put(Metric::new("iterations", Unit::One, Better::Neither).stat(Stat::Count), row.iterations.map(|n| n as f64));
    }
    if let Some(first) = found.failures.first() {
        let more = found.failures.len() as u64 - 1 + beyond(&found.left_out, Limit::PERFTEST_FAILURES);
        let what = failed(first.text.trim(), more);
        run.fault(what, Some(first.line));
    }
    if found.copies > 1 || found.header.is_mixed {
        run.note("several headers came before the first result: the lines of server and client, or of several runs, are mixed", Some(found.lines.0));
    }
    run.notes.extend(found.notes.iter().map(|n| Note { what: n.text.trim().to_owned(), line: Some(n.line) }));
    run
}

/// A row of zeros is printed where no message was completed. Bandwidth alone may be zero for small messages: it has two decimals.
fn nothing_moved(row: &theirs::Row) -> bool {
    let still = |b: &BandwidthValues| {
        b.average.is_some_and(|v| v.gbps().0 == 0.0) && b.messages.is_some_and(|rate| rate.0 == 0.0)
    };
    row.iterations == Some(0) || matches!(&row.values, Values::Bandwidth(b) if still(b))
}

fn bandwidth(b: &BandwidthValues, put: &mut impl FnMut(Metric, Option<f64>)) {
    let metric = || Metric::new("bandwidth", Unit::Gbps, Better::Higher);
    put(metric(), b.average.map(|v| v.gbps().0));
    put(metric().stat(Stat::Peak), b.peak.map(|v| v.gbps().0));
    let rate = Metric::new("message_rate", Unit::MessagesPerSecond, Better::Higher);
    put(rate, b.messages.map(|v| v.0 * 1e6));
}

fn latency(l: &LatencyValues, put: &mut impl FnMut(Metric, Option<f64>)) {
    let metric = |stat| Metric::new("latency", Unit::Microseconds, Better::Lower).stat(stat);
    let values = [
        (Stat::Mean, l.average),
        (Stat::Median, l.typical),
        (Stat::Min, l.min),
        (Stat::Max, l.max),
        (Stat::Stdev, l.stdev),
        (Stat::Percentile(99.0), l.p99),
        (Stat::Percentile(99.9), l.p999),
    ];
    for (stat, value) in values {
        put(metric(stat), value.map(|v| v.0));
    }
    let rate = Metric::new("transactions", Unit::MessagesPerSecond, Better::Higher);
    put(rate, l.transactions.map(|v| v.0));
}

/// The program that prints a title. Only the common ones have a name that follows from it.
fn program(test: &theirs::Test) -> Option<String> {
    let verb = match test.verb.as_str() {
        "RDMA_Write" => "write",
        "RDMA_Read" => "read",
        "Send" => "send",
        v if v.starts_with("Atomic") => "atomic",
        _ => return None,
    };
    let kind = match test.kind {
        theirs::Kind::Bandwidth => "bw",
        theirs::Kind::Latency => "lat",
        theirs::Kind::Other => return None,
    };
    Some(format!("ib_{verb}_{kind}"))
}

fn params(found: &theirs::Run, run: &mut Run) {
    let h = &found.header;
    run.param("device", h.device.clone());
    run.param("dual_port", h.dual_port);
    run.param("qps", h.qps);
    run.param("connection", h.connection.clone());
    run.param("link", h.link.clone());
    run.param("mtu", h.mtu.map(|b| b.0));
    run.param("tx_depth", h.tx_depth);
    run.param("rx_depth", h.rx_depth);
    run.param("cq_moderation", h.cq_moderation);
    run.param("post_list", h.post_list);
    run.param("gid_index", h.gid_index);
    run.param("max_inline", h.max_inline.map(|b| b.0));
    run.param("outstanding_reads", h.outstanding_reads);
    run.param("rdma_cm", h.rdma_cm);
    run.param("relaxed_ordering", h.relaxed_ordering);
    run.param("tos", h.tos);
    run.param("cuda_device", h.cuda_device);
    // Iterations are a parameter where every size had as many.
    let mut counts = found.rows.iter().map(|r| r.iterations);
    let first = counts.next().flatten().filter(|first| counts.all(|n| n == Some(*first)));
    run.param("iterations", first);
}
