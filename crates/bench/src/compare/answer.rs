//! What a comparison answers. Renderers show it, JSON has it; nothing here computes.

use crate::ceiling::AgainstCeiling;
use crate::model::{Kind, Label, RunId, Stat, Unit};
use serde::{Serialize, Serializer};
use smol_str::SmolStr;
use std::fmt;

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparisons {
    /// The side that is compared with.
    pub a: Side,
    /// The side that is judged.
    pub b: Side,
    /// Differences below this share count as none: 0.02 is 2 %.
    pub threshold: f64,
    /// Confidence of the intervals: 0.95.
    pub level: f64,
    /// How the measurements are laid out, and what that allows to conclude.
    pub design: Design,
    /// In the order: what is read first comes first.
    pub comparisons: Vec<Comparison>,
    /// What was not compared, and why.
    pub excluded: Vec<Excluded>,
    /// What else differs between the sides, worst first.
    pub confounds: Vec<Confound>,
    /// What it comes to, in sentences, the most important first.
    pub conclusions: Vec<String>,
    /// How it was computed: each method that was used, once.
    pub methods: Vec<MethodNote>,
}

/// A side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// As the user called it.
    pub name: String,
    /// Its runs, in order.
    pub runs: Vec<RunRef>,
    /// Hosts of its runs, as far as the outputs or the snapshots tell.
    pub hosts: Vec<SmolStr>,
    /// Whether snapshots of its nodes are known.
    pub has_snapshot: bool,
}

/// A run of a side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRef {
    /// Its name.
    pub id: RunId,
    /// Whose output.
    pub kind: Kind,
    /// Where it was read.
    pub source: String,
    /// Whether it counts as a result.
    pub valid: bool,
}

/// How the measurements are laid out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Design {
    /// `same-nodes`: both settings on the same nodes; `different-nodes`: each on its own; `overlapping-nodes`; `unknown`.
    pub nodes: &'static str,
    /// `interleaved`, `blocks`, `mixed`, or `unknown` where the order of the runs is not known.
    pub order: &'static str,
    /// What that allows, in one sentence.
    pub sentence: String,
}

/// One metric at one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Whose output.
    pub kind: Kind,
    /// Program, where both sides name the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<SmolStr>,
    /// What is compared.
    pub metric: SmolStr,
    /// Which statistic of it.
    pub stat: Stat,
    /// Unit of both sides' values.
    pub unit: Unit,
    /// What else tells it from other comparisons.
    #[serde(serialize_with = "labels", skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Label>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Side A.
    pub a: SideSummary,
    /// Side B.
    pub b: SideSummary,
    /// B divided by A. `None` where one of them has no value that counts.
    pub estimate: Option<f64>,
    /// Interval of the estimate; `None` where the data carry none.
    pub interval: Option<[f64; 2]>,
    /// What the interval is of: `between runs`: it holds for repetitions; `within the runs`: for these two runs alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_of: Option<&'static str>,
    /// The verdict about B.
    pub verdict: Verdict,
    /// Why, in one line.
    pub reason: String,
    /// p value of "no difference", two-sided, of this comparison alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The same, corrected for all sizes and labels of the metric: what the verdict goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    /// The smallest difference that this many runs would show in 4 of 5 cases, as a share: 0.03 is 3 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// Further runs per side that would probably decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub further_runs: Option<u32>,
    /// Key into [`Comparisons::methods`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    /// What the method takes for granted, checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Both sides beside what the links allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<AgainstCeiling>,
}

fn labels<S: Serializer>(labels: &[Label], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(labels.iter().map(|l| (&l.key, &l.value)))
}

/// A side's values of one metric at one size.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SideSummary {
    /// Runs that count: the n of every statement.
    pub runs: usize,
    /// Values behind them, after the cut of a transient.
    pub values: usize,
    /// The typical value: the geometric mean of the runs, of a single time series that of its values; the arithmetic mean where a
    /// value is not positive.
    pub typical: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Standard deviation between runs; of a single time series, within it.
    pub stdev: Option<f64>,
    /// The part that was cut from the beginning of each run's time series.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transients: Vec<Transient>,
    /// Values far from the others: reported, and kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<Outlier>,
}

/// The start of a time series, which is not like the rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transient {
    /// Whose.
    pub run: RunId,
    /// Values that were cut.
    pub cut: usize,
    /// Of so many.
    pub of: usize,
    /// Mean with them.
    pub mean_before: f64,
    /// Mean without.
    pub mean_after: f64,
    /// No steady state was reached within the series: the cut is not trustworthy.
    pub unsettled: bool,
}

/// A value far from the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// Whose.
    pub run: RunId,
    /// The value.
    pub value: f64,
    /// How far from the median, in robust standard deviations.
    pub deviations: f64,
}

/// What may be said about side B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// B is better.
    Better,
    /// B is worse.
    Worse,
    /// They differ by less than the threshold.
    Equivalent,
    /// The data do not decide.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
        })
    }
}

/// An assumption, checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// What is assumed.
    pub assumption: &'static str,
    /// Whether the data agree; `None` where there are too few to tell.
    pub holds: Option<bool>,
    /// What was seen.
    pub detail: String,
}

/// What was not compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Excluded {
    /// `A`, `B` or `both`.
    pub side: &'static str,
    /// What.
    pub what: String,
    /// Why not.
    pub why: String,
}

/// Something else that differs between the sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confound {
    /// How much it can matter.
    pub weight: Weight,
    /// What differs: `kernel command line`, `NIC firmware`, `ranks`.
    pub what: String,
    /// On side A.
    pub a: String,
    /// On side B.
    pub b: String,
    /// Why it matters, with its rule where one judges it.
    pub why: String,
    /// Id of the rule that judges it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<SmolStr>,
}

/// How much a difference can matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// By itself able to explain any difference: other nodes, another fabric, another program.
    Decisive,
    /// Known to move bandwidth.
    Strong,
    /// Can move it.
    Possible,
    /// Differs; no effect is known.
    Slight,
}

/// How something was computed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodNote {
    /// Key.
    pub id: &'static str,
    /// What is done, in one or two sentences.
    pub text: &'static str,
    /// Who published it.
    pub source: &'static str,
}
