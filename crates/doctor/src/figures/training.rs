//! A training whose steps became slower: from which step on, by how much, and what explains it.

use super::explain::{Basis, Fit, Why};
use super::measured::{Measured, NOWHERE, Of};
use super::steps::number;
use linerate_formats::train_steps::{Run, Unit};
use linerate_stats::{change, quantile};

/// Steps that a log must have, and that each side of a change must have: fewer say nothing of a level.
const STEPS: usize = 20;
const SIDE: usize = 8;
/// A change of which less is nothing that somebody would notice.
const NOTABLE: f64 = 1.05;
/// Probability of as clear a change by chance (Pettitt) from which on none is said.
const CHANCE: f64 = 0.01;
/// A step that takes so many times the usual stands out.
const SPIKE: f64 = 1.5;
/// Steps at the beginning that compile and fill caches: left out as long as they stand out.
const WARM_UP: usize = 16;

/// A training that became slower.
#[derive(Debug, Clone)]
pub(super) struct Slower {
    unit: Unit,
    /// First step at the new level.
    step: u64,
    /// Typical value before and after, in the unit.
    before: f64,
    after: f64,
    /// Steps at the new level.
    since: usize,
    /// How many times as long a step takes.
    ratio: f64,
    /// Steps between those that stand out, where they come evenly.
    every: Option<u64>,
}

/// A training that became slower, with the line from which on. `None`: it did not, or too few steps show.
pub(super) fn measured(run: &Run) -> Option<(u32, Measured<'static>)> {
    let cost = |v: f64| if run.unit == Unit::Seconds { v } else { 1.0 / v };
    let all: Vec<f64> = run.steps.iter().map(|s| cost(s.value)).collect();
    let typical = quantile(&all, 0.5)?;
    let warm = all.iter().take(WARM_UP).take_while(|c| **c > typical * SPIKE).count();
    let costs = all.get(warm..)?;
    if costs.len() < STEPS {
        return None;
    }
    let found = change(costs).filter(|c| c.p < CHANCE)?;
    let (first, second) = costs.split_at_checked(found.at)?;
    if first.len() < SIDE || second.len() < SIDE {
        return None;
    }
    let (a, b) = (quantile(first, 0.5)?, quantile(second, 0.5)?);
    let ratio = b / a;
    if ratio < NOTABLE || !ratio.is_finite() {
        return None;
    }
    let at = run.steps.get(warm + found.at)?;
    let spikes: Vec<u64> = run
        .steps
        .iter()
        .skip(warm + found.at)
        .zip(second)
        .filter(|(_, c)| **c > b * SPIKE)
        .map(|(s, _)| s.step)
        .collect();
    let slower = Slower {
        unit: run.unit,
        step: at.step,
        before: cost(a),
        after: cost(b),
        since: second.len(),
        ratio,
        every: evenly(&spikes),
    };
    let m = Measured {
        place: NOWHERE,
        name: format!("training, {}", run.framework),
        value: slower.after,
        size: 0,
        points: Vec::new(),
        of: Of::Training(slower),
    };
    Some((at.line, m))
}

/// The distance of steps that come evenly, three at least.
fn evenly(steps: &[u64]) -> Option<u64> {
    let gaps: Vec<u64> = steps.iter().zip(steps.iter().skip(1)).map(|(a, b)| b.saturating_sub(*a)).collect();
    let first = *gaps.first()?;
    (gaps.len() >= 2 && first > 1 && gaps.iter().all(|g| *g == first)).then_some(first)
}

impl Slower {
    pub(super) fn unit(&self) -> &'static str {
        match self.unit {
            Unit::Seconds => "s a step",
            Unit::PerSecond => "in a second",
        }
    }

    /// The change in words.
    pub(super) fn words(&self) -> String {
        let unit = self.unit();
        let (step, times) = (self.step, number(self.ratio));
        format!(
            "from step {step} on each takes {times} times as long: {} {unit}, {} before",
            number(self.after),
            number(self.before)
        )
    }

    pub(super) fn shape(&self) -> String {
        let every = self.every.map(|n| format!("; every {n} steps one is slower")).unwrap_or_default();
        format!("{} steps at the new level{every}", self.since)
    }
}

/// Explanations that fit, in no order.
pub(super) fn fits(t: &Slower) -> Vec<Fit> {
    let slower = number((t.ratio - 1.0) * 100.0);
    let mut out = vec![
        Fit::new(
            Why::Throttled,
            Basis::Estimate,
            if t.ratio < 3.0 { 0.7 } else { 0.2 },
            "GPUs run at lower clocks since then: power, heat, or a brake of the chassis",
            format!("{slower} % more time is a clock that is lower by as much, where computing decides"),
        ),
        Fit::new(
            Why::Straggler,
            Basis::Estimate,
            0.6,
            "one GPU or host is slower since then, and all wait for it",
            "collectives end with the slowest rank",
        ),
        Fit::new(
            Why::LostRail,
            Basis::Estimate,
            if t.ratio < 2.5 { 0.5 } else { 0.3 },
            "a port or rail is down or slower since then: the others carry its share",
            "one of n rails lost makes communication n/(n-1) times as long; one that crawls, far longer",
        ),
        Fit::new(
            Why::Congestion,
            Basis::Estimate,
            0.4,
            "others use the same links since then, or flow control spreads",
            "communication takes longer, computing does not",
        ),
        Fit::new(
            Why::PcieStep,
            Basis::Estimate,
            if t.ratio >= 1.3 { 0.3 } else { 0.2 },
            "a PCIe link retrained, and came back slower",
            "half of the width or a generation less halves what passes",
        ),
        Fit::new(
            Why::Input,
            Basis::Estimate,
            0.4,
            "data comes more slowly: storage, other users of it, a cache that is exhausted",
            "ranks wait for batches while links and GPUs are idle",
        ),
    ];
    if let Some(n) = t.every {
        out.push(Fit::new(
            Why::Periodic,
            Basis::Derived,
            0.5,
            format!("something runs every {n} steps: a checkpoint, an evaluation, a log"),
            "the slow steps come at regular intervals",
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_formats::train_steps::Step;

    fn run(values: impl Iterator<Item = f64>, unit: Unit) -> Run {
        let steps = values.zip(1..).map(|(value, n)| Step { line: n + 100, step: u64::from(n) * 10, value }).collect();
        Run { framework: "Megatron-LM", unit, steps, left_out: Vec::new() }
    }

    /// 0.5 s with some noise, times a factor from the 40th on.
    fn noisy(factor: f64) -> impl Iterator<Item = f64> {
        (0..80_u32).map(move |i| (0.5 + f64::from(i * 7919 % 13) / 1000.0) * if i >= 40 { factor } else { 1.0 })
    }

    #[test]
    fn a_drop_is_found_where_it_is() {
        let (line, m) = measured(&run(noisy(1.4), Unit::Seconds)).unwrap();
        let Of::Training(t) = &m.of else { panic!("no training") };
        assert_eq!((line, t.step, t.since), (141, 410, 40));
        assert!((1.38..1.42).contains(&t.ratio), "{t:?}");
        let rates = run(noisy(1.4).map(|s| 1.0 / s), Unit::PerSecond);
        assert!(measured(&rates).is_some_and(|(line, _)| line == 141), "a rate that falls is a step that takes longer");
    }

    #[test]
    fn nothing_is_said_of_what_is_none() {
        for factor in [1.0, 1.02, 0.7] {
            assert!(measured(&run(noisy(factor), Unit::Seconds)).is_none(), "{factor}");
        }
        assert!(measured(&run(noisy(2.0).take(15), Unit::Seconds)).is_none(), "too few steps");
        // The first steps compile: slow, and no level.
        let warm = [30.0, 9.0, 2.0].into_iter().chain(noisy(1.0));
        assert!(measured(&run(warm, Unit::Seconds)).is_none());
        assert!(measured(&run(std::iter::empty(), Unit::Seconds)).is_none());
    }

    #[test]
    fn steps_that_come_evenly() {
        let values = noisy(1.2).enumerate().map(|(i, v)| if i >= 40 && i % 10 == 0 { v * 4.0 } else { v });
        let (_, m) = measured(&run(values, Unit::Seconds)).unwrap();
        let Of::Training(t) = &m.of else { panic!("no training") };
        assert_eq!(t.every, Some(100));
        assert!(fits(t).iter().any(|f| f.why == Why::Periodic));
    }
}
