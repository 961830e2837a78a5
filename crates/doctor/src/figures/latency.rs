//! Latency between two ports: what explains it.

use super::explain::{Basis, Fit, Why};
use super::measured::LatencyTest;
use super::steps::number;

/// µs one way of small messages that adapters of the last ten years reach over a few switches: 0.6 to 0.9 back to back, 0.13 to 0.23 a switch.
const USUAL: f64 = 2.5;

/// Explanations that fit, in no order; none where the figure is usual.
pub(super) fn fits(test: &LatencyTest<'_>) -> Vec<Fit> {
    // A read or atomic waits for its answer: a round trip.
    let trips =
        if test.run.test.as_ref().is_some_and(|t| t.value.verb.contains("Read") || t.value.verb.contains("Atomic")) {
            2.0
        } else {
            1.0
        };
    let one_way = test.typical / trips;
    if one_way <= USUAL {
        return Vec::new();
    }
    let mut out = vec![
        Fit::new(
            Why::Asleep,
            Basis::Estimate,
            if one_way <= 200.0 { 0.8 } else { 0.2 },
            "the processor sleeps deeply or runs slowly between messages",
            "waking from deep idle states takes 10 to 200 µs",
        ),
        Fit::new(
            Why::Events,
            Basis::Estimate,
            if (5.0..80.0).contains(&one_way) { 0.6 } else { 0.2 },
            "completions by interrupt instead of polling (-e), or a virtual machine that exits for each",
            "an interrupt and a wake-up cost 5 µs and more",
        ),
        Fit::new(
            Why::FarHost,
            Basis::Derived,
            0.5,
            "the hosts are far apart: many switches, routers, or long fibres",
            format!(
                "{} µs are {} switches of 0.2 µs, or {} km of fibre",
                number(one_way),
                number((one_way - 0.8) / 0.2),
                number(one_way / 5.0)
            ),
        ),
        Fit::new(
            Why::FarMemory,
            Basis::Estimate,
            if one_way <= 5.0 { 0.5 } else { 0.1 },
            "process or memory are on the other socket than the NIC",
            "each access crosses the link between sockets: some tenths of a µs",
        ),
    ];
    if let Some(p99) = test.p99.filter(|p| *p > test.typical * 3.0) {
        let what = format!("queues in the fabric: 1 of 100 messages takes {} µs and more", number(p99));
        out.push(Fit::new(Why::Congestion, Basis::Estimate, 0.7, what, "the tail is far above the median"));
    }
    out
}
