//! The methods, in words, with their sources.

use super::answer::{Comparison, MethodNote};
use linerate_stats::Method;

pub(super) const WELCH: &str = "welch-log";
pub(super) const YUEN: &str = "yuen-log";
pub(super) const FIELLER: &str = "fieller";
pub(super) const DRIFT: &str = "drift-log";
pub(super) const SERIES: &str = "series-log";
pub(super) const PERMUTATION: &str = "permutation";
const HOLM: &str = "holm";
const TOST: &str = "tost";
const TRANSIENT: &str = "mser";
const OUTLIERS: &str = "outliers";
const POWER: &str = "power";

pub(super) fn of(method: Method) -> &'static str {
    match method {
        Method::YuenOnLogs => YUEN,
        Method::Fieller => FIELLER,
        Method::DriftOnLogs => DRIFT,
        Method::SeriesOnLogs => SERIES,
        _ => WELCH,
    }
}

const NOTES: [MethodNote; 11] = [
    MethodNote {
        id: WELCH,
        text: "ratio of the geometric means of runs, Welch's t interval on logarithms: sides may differ in spread; assumes runs that do \
               not depend on each other",
        source: "Welch, Biometrika 34 (1947) 28",
    },
    MethodNote {
        id: YUEN,
        text: "ratio of geometric means with 20 % trimmed from each end, Yuen's t interval on logarithms: used where a value lies more than eight robust standard deviations away",
        source: "Yuen, Biometrika 61 (1974) 165",
    },
    MethodNote {
        id: FIELLER,
        text: "ratio of arithmetic means, Fieller's interval: used where a value is not positive",
        source: "Fieller, J. R. Stat. Soc. B 16 (1954) 175",
    },
    MethodNote {
        id: DRIFT,
        text: "ratio of geometric means beside a straight drift in time, least squares on logarithms: used where runs of both sides took turns",
        source: "Cox, Biometrika 38 (1951) 312",
    },
    MethodNote {
        id: SERIES,
        text: "ratio of the geometric means of two series whose values resemble their neighbours: first-order autoregression on logarithms, \
               its coefficient integrated out",
        source: "Cheang & Reinsel, J. Am. Stat. Assoc. 95 (2000) 1173",
    },
    MethodNote {
        id: PERMUTATION,
        text: "all runs of a side print the same value: what is left is the chance that runs would fall apart like this by themselves",
        source: "Fisher, The Design of Experiments (1935)",
    },
    MethodNote {
        id: HOLM,
        text: "verdicts of many sizes of one metric are corrected, so that all of them together err in at most 5 of 100 comparisons; \
               intervals are each one's own",
        source: "Holm, Scand. J. Stat. 6 (1979) 65",
    },
    MethodNote {
        id: TOST,
        text: "equivalent: both one-sided tests against the threshold reject, each at 5 %",
        source: "Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657",
    },
    MethodNote {
        id: TRANSIENT,
        text: "the start of a time series is cut where that lowers the standard error of the rest's mean (MSER; MSER-5 from 50 values on), and where it clearly \
               differs from the rest",
        source: "White, Cobb & Spratt, Winter Simulation Conference (2000)",
    },
    MethodNote {
        id: OUTLIERS,
        text: "outlier: more than five robust standard deviations from the median, on logarithms; reported, never dropped",
        source: "Hampel, J. Am. Stat. Assoc. 69 (1974) 383",
    },
    MethodNote {
        id: POWER,
        text: "detectable difference and further runs: at a power of 80 %, if spreads stay as they are",
        source: "Cohen, Statistical Power Analysis (1988)",
    },
];

/// Notes on what was used.
pub(super) fn used(comparisons: &[Comparison]) -> Vec<MethodNote> {
    let sides = || comparisons.iter().flat_map(|c| [&c.a, &c.b]);
    let is_used = |id: &str| match id {
        HOLM => comparisons.iter().filter(|c| c.p.is_some()).count() > 1,
        TOST => comparisons.iter().any(|c| c.p.is_some()),
        TRANSIENT => sides().any(|s| !s.transients.is_empty()),
        OUTLIERS => sides().any(|s| !s.outliers.is_empty()),
        POWER => comparisons.iter().any(|c| c.detectable.is_some()),
        id => comparisons.iter().any(|c| c.method == Some(id)),
    };
    NOTES.iter().filter(|n| is_used(n.id)).cloned().collect()
}
