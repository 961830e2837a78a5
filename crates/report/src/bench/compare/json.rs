//! The comparison for programs, schema `linerate.bench-compare/1` (docs/schema/bench-compare-1.json).

use linerate_bench::compare::{Comparison, Comparisons, SideSummary};
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.bench-compare/1";

/// Writes the document. What is not a number is not in it: JSON has no word for infinity.
///
/// # Errors
/// Those of the writer.
pub fn comparison_json(answer: &Comparisons, out: &mut dyn Write) -> io::Result<()> {
    let mut answer = answer.clone();
    answer.comparisons.iter_mut().for_each(finite);
    crate::json::write_document(SCHEMA, &answer, out)
}

fn finite(c: &mut Comparison) {
    drop_odd(&mut c.p);
    drop_odd(&mut c.p_adjusted);
    drop_odd(&mut c.estimate);
    drop_odd(&mut c.detectable);
    c.interval = c.interval.filter(|i| i.iter().all(|v| v.is_finite()));
    for side in [&mut c.a, &mut c.b] {
        let SideSummary { typical, min, max, stdev, .. } = side;
        [typical, min, max, stdev].into_iter().for_each(drop_odd);
        side.transients.retain(|t| t.mean_before.is_finite() && t.mean_after.is_finite());
        side.outliers.retain(|o| o.value.is_finite() && o.deviations.is_finite());
    }
    c.ceiling = c.ceiling.take().filter(|x| x.ceiling.low.is_finite() && x.ceiling.high.is_finite());
    if let Some(x) = &mut c.ceiling {
        drop_odd(&mut x.share_a);
        drop_odd(&mut x.share_b);
    }
}

fn drop_odd(v: &mut Option<f64>) {
    *v = v.filter(|v| v.is_finite());
}
