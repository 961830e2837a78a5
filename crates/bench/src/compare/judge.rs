//! One measurement: an estimate, its interval, and what they stand on. Which method is used follows from the data's form alone, never
//! from the result.

use super::answer::{Check, Outlier, SideSummary, Transient};
use super::select::{Cell, OfRun, mean};
use super::{Options, methods};
use linerate_stats as stats;
use linerate_stats::{RatioEstimate, Refused};

/// Power at which detectable differences and further runs are shown.
const POWER: f64 = 0.8;
/// Runs of each side without which nothing is known about how runs differ.
const FEWEST: usize = 2;
/// Rows in a row, from which on their resemblance is looked at.
const MANY: usize = 10;

/// What is known of a cell before all cells are looked at together.
#[derive(Debug, Clone, Default)]
pub(super) struct Judged {
    pub(super) a: SideSummary,
    pub(super) b: SideSummary,
    pub(super) estimate: Option<f64>,
    pub(super) interval: Option<[f64; 2]>,
    pub(super) interval_of: Option<&'static str>,
    /// Two-sided, of no difference.
    pub(super) p: Option<f64>,
    /// Of a difference beyond the threshold.
    pub(super) p_equivalent: Option<f64>,
    pub(super) detectable: Option<f64>,
    pub(super) further: Option<u32>,
    pub(super) method: Option<&'static str>,
    pub(super) checks: Vec<Check>,
    /// Why no verdict may follow, whatever the numbers.
    pub(super) barred: Option<String>,
}

/// A run's values after the cut, and what was cut.
struct Settled {
    values: Vec<f64>,
    transient: Option<Transient>,
}

pub(super) fn judge(cell: &Cell, interleaved: bool, options: &Options) -> Judged {
    let [a, b] = [settled(&cell.sides[0]), settled(&cell.sides[1])];
    let runs = [cell.sides[0].len(), cell.sides[1].len()];
    let single = |side: &[OfRun]| matches!(side, [one] if one.is_series);
    let both_series = single(&cell.sides[0]) && single(&cell.sides[1]);
    let flat = |side: &[Settled]| -> Vec<f64> {
        match side {
            // Of a single time series the values are what there is.
            [one] => one.values.clone(),
            many => many.iter().map(|s| mean(&s.values)).collect(),
        }
    };
    let (va, vb) = (flat(&a), flat(&b));
    let mut j =
        Judged { a: summary(&cell.sides[0], &a, &va), b: summary(&cell.sides[1], &b, &vb), ..Judged::default() };
    if let Some(unsettled) = j.a.transients.iter().chain(&j.b.transients).find(|t| t.unsettled) {
        j.checks.push(Check {
            assumption: "each time series reaches a steady state",
            holds: Some(false),
            detail: format!("run {} does not settle within its {} values", unsettled.run, unsettled.of),
        });
    }
    j.estimate = j.a.typical.zip(j.b.typical).filter(|(a, _)| *a != 0.0).map(|(a, b)| b / a).filter(|r| r.is_finite());
    if runs[0] < FEWEST || runs[1] < FEWEST {
        few(&mut j, runs, both_series.then_some((&va[..], &vb[..])), options);
        return j;
    }
    let result = estimate(cell, &va, &vb, interleaved, options, &mut j);
    match result {
        Ok(r) => conclude(&mut j, &r, &va, &vb, options),
        Err(why) => j.barred = Some(format!("no interval: {why}")),
    }
    if let Some(n) = options.resamples {
        bootstrap(&mut j, &a, &b, n, options);
    }
    j
}

/// One run on a side: it says nothing about how runs differ, however many values are in it.
fn few(j: &mut Judged, runs: [usize; 2], series: Option<(&[f64], &[f64])>, options: &Options) {
    let n = runs[0].min(runs[1]);
    j.barred = Some(match (runs[0], runs[1]) {
        (1, 1) => "n = 1 run per side: the spread between runs is not known".to_owned(),
        (a, b) => format!("n = {a} and {b} runs: with a single run on a side, its spread between runs is not known"),
    });
    // The least with which an interval exists on both sides is two; with three it is of use.
    j.further = u32::try_from(3_usize.saturating_sub(n)).ok();
    let Some((a, b)) = series else { return };
    match stats::ratio_series(a, b, options.level) {
        Ok(s) => {
            j.method = Some(methods::SERIES);
            j.interval = Some([s.ratio.interval.low, s.ratio.interval.high]);
            j.interval_of = Some("within the runs");
            j.estimate = Some(s.ratio.estimate);
            let holds = (!s.correlation_unknown).then_some(true);
            let detail = format!("correlation from step to step {:.2} and {:.2}", s.phi_a, s.phi_b);
            j.checks.push(Check {
                assumption: "the values of a series resemble their neighbours as in a first-order autoregression",
                holds,
                detail,
            });
        }
        Err(why) => j.checks.push(Check {
            assumption: "each time series has a steady mean",
            holds: Some(false),
            detail: why.to_string(),
        }),
    }
}

/// The estimate between runs.
fn estimate(
    cell: &Cell,
    a: &[f64],
    b: &[f64],
    interleaved: bool,
    options: &Options,
    j: &mut Judged,
) -> Result<RatioEstimate, Refused> {
    let times = |side: &[OfRun]| -> Option<Vec<f64>> { side.iter().map(|r| r.order).collect() };
    if interleaved && let (Some(ta), Some(tb)) = (times(&cell.sides[0]), times(&cell.sides[1])) {
        // Rows of one run have one place in time: those are no order.
        match stats::ratio_with_drift(stats::Times { a: &ta, b: &tb }, a, b, options.level) {
            Ok(d) => {
                let holds = d.drift_p.map(|p| p > 0.05);
                let detail = format!(
                    "{:+.1} % from first to last run; it neither biases nor widens the result",
                    d.drift * 100.0
                );
                j.checks.push(Check { assumption: "nothing drifts", holds, detail });
                j.method = Some(methods::DRIFT);
                return Ok(d.ratio);
            }
            Err(
                Refused::NotPositive { .. } | Refused::OrderDecides | Refused::TooFew { .. } | Refused::Argument { .. },
            ) => {}
            Err(other) => return Err(other),
        }
    }
    // Rows in their order, each a repetition: where neighbours resemble each other, they are a series.
    let rows = |side: &[OfRun]| matches!(side, [first, rest @ ..] if rest.len() + 1 >= MANY && rest.iter().all(|r| r.run == first.run));
    if rows(&cell.sides[0]) && rows(&cell.sides[1]) {
        let lag = |x: &[f64]| stats::autocorrelation(x, 1).get(1).copied().unwrap_or(0.0);
        let resembles = |x: &[f64]| lag(x) > 1.96 / (x.len() as f64).sqrt();
        let holds = !(resembles(a) || resembles(b));
        let detail = format!("lag-1 autocorrelation of the rows {:.2} and {:.2}", lag(a), lag(b));
        j.checks.push(Check { assumption: "rows are independent repetitions", holds: Some(holds), detail });
        if !holds {
            let s = stats::ratio_series(a, b, options.level)?;
            j.method = Some(methods::SERIES);
            return Ok(s.ratio);
        }
    }
    let r = stats::ratio(a, b, options.level)?;
    j.method = Some(methods::of(r.method));
    Ok(r)
}

/// What follows from an estimate.
fn conclude(j: &mut Judged, r: &RatioEstimate, a: &[f64], b: &[f64], options: &Options) {
    j.estimate = Some(r.estimate);
    j.interval = Some([r.interval.low, r.interval.high]);
    j.interval_of = Some("between runs");
    if r.no_spread {
        no_spread(j, r.estimate, a.len(), b.len(), options);
        return;
    }
    j.p = r.p;
    j.p_equivalent = stats::equivalent(r, options.threshold).ok().and_then(|t| t.p);
    j.further = options.power.then(|| stats::runs_needed(r, None, options.threshold, POWER)).flatten();
    if options.power
        && let (Some(sd_a), Some(sd_b)) = (r.log_sd_a, r.log_sd_b)
    {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let plan = stats::Plan { sd_a, n_a: count(a.len()), sd_b, n_b: count(b.len()) };
        j.detectable = stats::minimal_detectable_effect(plan, 1.0 - options.level, POWER).ok().map(|r| r - 1.0);
    }
    for o in &r.outliers {
        let side = if o.side == stats::Side::B { &mut j.b } else { &mut j.a };
        // Which run it is was lost where rows are runs; the value finds it.
        if let Some(slot) = side.outliers.iter_mut().find(|s| s.value == o.value) {
            slot.deviations = o.distance;
        }
    }
    for c in stats::check_replicates(a, b) {
        // What holds is not printed for each of thirty sizes.
        if c.holds == Some(false) {
            j.checks.push(Check { assumption: c.name, holds: c.holds, detail: c.detail });
        }
    }
    if let Some(beside) = &r.beside {
        let agree = beside.interval.low <= r.estimate && r.estimate <= beside.interval.high;
        j.checks.push(Check {
            assumption: "the method does not matter",
            holds: Some(agree),
            detail: format!(
                "{}: {:.4} [{:.4}, {:.4}]",
                beside.method.sentence(),
                beside.estimate,
                beside.interval.low,
                beside.interval.high
            ),
        });
    }
}

/// Every run of a side printed the same value: what was printed is coarser than how runs differ. What can be said then goes by
/// counting: two groups of n and m that are distinguished completely have a chance of 2/C(n+m, n) to be so by themselves.
fn no_spread(j: &mut Judged, estimate: f64, n: usize, m: usize, options: &Options) {
    j.method = Some(methods::PERMUTATION);
    j.checks.push(Check {
        assumption: "values are printed finely enough to differ between runs",
        holds: Some(false),
        detail: "every run of a side has the same value".to_owned(),
    });
    let ways = (1..=n).fold(1.0, |c, k| c * (m + k) as f64 / k as f64);
    let p = (2.0 / ways).min(1.0);
    if (estimate - 1.0).abs() <= options.threshold {
        j.p_equivalent = Some(p);
    } else {
        j.p = Some(p);
    }
    j.interval = None;
    j.interval_of = None;
    j.further = (p > 1.0 - options.level).then(|| u32::try_from(4_usize.saturating_sub(n.min(m)).max(1)).unwrap_or(1));
}

/// A bootstrap beside the method: of runs, and of values within each where they have several. It is a check: what the verdict goes by was chosen before.
fn bootstrap(j: &mut Judged, a: &[Settled], b: &[Settled], resamples: u32, options: &Options) {
    let (ga, gb) = (groups(a), groups(b));
    let nested = ga.iter().chain(&gb).any(|g| g.len() > 1);
    let result = if nested {
        stats::hierarchical_bootstrap(&ga, &gb, options.level, resamples, SEED)
    } else {
        stats::bootstrap_ratio(&ga.concat(), &gb.concat(), options.level, resamples, SEED)
    };
    let assumption = "a bootstrap comes to the same";
    j.checks.push(match (result, j.estimate) {
        (Ok(r), Some(estimate)) => Check {
            assumption,
            holds: Some(r.interval.contains(estimate)),
            detail: format!(
                "{} resamples{}: {:.4} [{:.4}, {:.4}]",
                resamples,
                if nested { " of runs and of values within them" } else { " of runs" },
                r.estimate,
                r.interval.low,
                r.interval.high
            ),
        },
        (Ok(_), None) => Check { assumption, holds: None, detail: "there is no estimate to check".to_owned() },
        (Err(why), _) => Check { assumption, holds: None, detail: why.to_string() },
    });
}

/// Values of each run.
fn groups(side: &[Settled]) -> Vec<&[f64]> {
    side.iter().map(|s| s.values.as_slice()).collect()
}

/// Of the generator: the same data give the same answer.
const SEED: u64 = 0x6c69_6e65_7261_7465;

fn settled(side: &[OfRun]) -> Vec<Settled> {
    side.iter()
        .map(|r| {
            let keep = |transient| Settled { values: r.values.clone(), transient };
            if !r.is_series {
                return keep(None);
            }
            let Some(found) = stats::transient(&r.values) else { return keep(None) };
            let told = |cut: usize, unsettled| Transient {
                run: r.run,
                cut,
                of: r.values.len(),
                mean_before: mean(&r.values),
                mean_after: mean(r.values.get(cut..).unwrap_or_default()),
                unsettled,
            };
            match found.cut {
                Some(0) => keep(None),
                Some(cut) => Settled {
                    values: r.values.get(cut..).unwrap_or_default().to_vec(),
                    transient: Some(told(cut, false)),
                },
                // Too few values to look for one is no sign of one.
                None if r.values.len() < MANY => keep(None),
                None => keep(Some(told(0, true))),
            }
        })
        .collect()
}

fn summary(runs: &[OfRun], settled: &[Settled], flat: &[f64]) -> SideSummary {
    let all = || settled.iter().flat_map(|s| s.values.iter().copied());
    let typical = match flat {
        [] => None,
        [one] => Some(*one),
        many if many.iter().all(|v| *v > 0.0) => {
            Some((many.iter().map(|v| v.ln()).sum::<f64>() / many.len() as f64).exp())
        }
        many => Some(mean(many)),
    };
    let of_run = |i: usize| runs.get(i).or_else(|| runs.first()).map(|r| r.run);
    let outliers = stats::outliers(flat)
        .into_iter()
        .filter_map(|o| Some(Outlier { run: of_run(o.index)?, value: o.value, deviations: o.distance }));
    SideSummary {
        runs: runs.len(),
        values: settled.iter().map(|s| s.values.len()).sum(),
        typical: typical.filter(|v| v.is_finite()),
        min: all().reduce(f64::min),
        max: all().reduce(f64::max),
        stdev: stats::describe(flat).filter(|s| s.n > 1).and_then(|s| s.sd),
        transients: settled.iter().filter_map(|s| s.transient.clone()).collect(),
        outliers: outliers.collect(),
    }
}
