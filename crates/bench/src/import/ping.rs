//! ping: round trips, one by one.

use super::{Benchmark, Sink};
use crate::model::{Better, Metric, Point, Run, Stat, Unit};
use crate::summary::Area;
use linerate_formats::ping as theirs;

pub(super) const BENCHMARK: Benchmark = Benchmark { tool: &theirs::TOOL, read, area: Area::Tcp, secondary: &[] };

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    for found in theirs::parse(bytes) {
        to.record("lines", &found.refused, &found.left_out);
        to.run(run(&found), found.lines.0);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { tool: Some("ping".into()), ..Run::default() };
    run.param("peer", found.address.clone().or_else(|| found.host.as_ref().map(|h| h.value.clone())));
    run.param("payload", found.payload.map(|b| b.0));
    run.began = found.replies.first().and_then(|r| r.at);
    let rtt = || Metric::new("rtt", Unit::Microseconds, Better::Lower);
    let replies = || found.replies.iter().filter(|r| !r.duplicate);
    let bounds = replies().filter(|r| r.is_bound).count();
    for (n, reply) in replies().enumerate() {
        let Some(time) = reply.time else { continue };
        let at = Some(reply.sequence.map_or(n as f64, f64::from));
        if reply.is_bound {
            // Not a round trip, but what it stayed below: nothing that runs could be compared by.
            let bound = Metric::new("rtt_below", Unit::Microseconds, Better::Neither);
            run.series_mut(bound, &[]).push(None, at, time.0);
        } else {
            // Those that were long enough for the clock say nothing about all.
            let point = Point { size: None, at, value: time.0, valid: bounds == 0 };
            run.series_mut(rtt(), &[]).points.push(point);
        }
    }
    if let Some(s) = found.summary.as_ref().map(|s| &s.value) {
        let all = [(Stat::Min, s.min), (Stat::Mean, s.mean), (Stat::Max, s.max), (Stat::Stdev, s.stdev)];
        for (stat, value) in all {
            if let Some(value) = value {
                run.series_mut(rtt().stat(stat), &[]).push(None, None, value.0);
            }
        }
    }
    if let Some(c) = found.counts.as_ref() {
        run.param("transmitted", Some(c.value.transmitted));
        let lost = c.value.transmitted.saturating_sub(c.value.received);
        if c.value.transmitted > 0 {
            let share = 100.0 * lost as f64 / c.value.transmitted as f64;
            run.series_mut(Metric::new("loss", Unit::Percent, Better::Lower), &[]).push(None, None, share);
        }
        if c.value.received == 0 {
            run.fault("no reply came", Some(c.line));
        }
    }
    run.said(&found.failures, found.notes.iter().chain(&found.errors));
    if bounds > 0 {
        let all = replies().count();
        let what = format!("{bounds} of {all} replies came below what the tool's clock shows: these are upper bounds");
        run.note(what, None);
        if bounds < all {
            let what = format!("the round trips of the other {} alone are not those of the run", all - bounds);
            run.flaw(what, None);
        }
    }
    run
}
