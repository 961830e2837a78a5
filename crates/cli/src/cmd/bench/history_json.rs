//! The history for programs: docs/schema/bench-history-1.json, bench-bands-1.json, bench-best-1.json, bench-targets-1.json and
//! bench-check-1.json.

use linerate_bench::{Label, RunId};
use linerate_store::{Band, Best, Measured, Outcome, Standing, Summary, Target, TargetCheck};
use serde_json::{Map, Value, json};

/// Runs.
pub(super) fn runs(all: &[Summary]) -> Value {
    document("linerate.bench-history/1", [("runs", json!(all))])
}

/// What each measurement has been.
pub(super) fn bands(all: &[Band]) -> Value {
    document("linerate.bench-bands/1", [("bands", all.iter().map(band).collect())])
}

/// The best runs of each measurement.
pub(super) fn best(all: &[Best]) -> Value {
    let one = |b: &Best| {
        let runs: Vec<_> = b.runs.iter().map(|(value, id)| json!({"value": value, "run": id})).collect();
        with(measured(&b.of, b.size), json!({"kind": b.of.kind, "tool": b.of.tool, "best": runs}))
    };
    document("linerate.bench-best/1", [("best", all.iter().map(one).collect())])
}

/// What is expected.
pub(super) fn targets(all: &[Target]) -> Value {
    let one = |t: &Target| {
        let params: Map<String, Value> = t.params.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        json!({
            "name": t.name, "kind": t.kind, "tool": t.tool, "metric": t.metric, "stat": t.stat, "labels": labels(&t.labels),
            "size": t.size, "params": params, "unit": t.unit, "low": t.low, "high": t.high, "source": t.source,
        })
    };
    document("linerate.bench-targets/1", [("targets", all.iter().map(one).collect())])
}

/// A run beside targets and beside what it has been.
pub(super) fn check(run: RunId, checks: &[TargetCheck], standing: &[Standing]) -> Value {
    let outcome = |o: Option<Outcome>| match o {
        Some(Outcome::Within) => "within",
        Some(Outcome::Below) => "below",
        Some(Outcome::Above) => "above",
        None => "not measured",
    };
    let target = |c: &TargetCheck| {
        // The value is in the target's unit, not in the run's.
        with(
            measured(&c.of, c.size),
            json!({"target": c.target.name, "unit": c.target.unit, "value": c.value, "outcome": outcome(c.outcome)}),
        )
    };
    let stands = |s: &Standing| {
        let rank = s.band.as_ref().map(|b| b.rank(s.value));
        with(measured(&s.of, s.size), json!({"value": s.value, "rank": rank, "band": s.band.as_ref().map(band)}))
    };
    let (targets, history) = (checks.iter().map(target).collect(), standing.iter().map(stands).collect());
    document("linerate.bench-check/1", [("run", json!(run)), ("targets", targets), ("history", history)])
}

fn document<const N: usize>(schema: &str, members: [(&str, Value); N]) -> Value {
    let mut out = json!({"schema": schema, "linerate": env!("CARGO_PKG_VERSION")});
    if let Value::Object(map) = &mut out {
        map.extend(members.map(|(name, value)| (name.to_owned(), value)));
    }
    out
}

fn band(b: &Band) -> Value {
    let values = json!({
        "kind": b.of.kind, "tool": b.of.tool, "n": b.n(), "min": b.min(), "p25": b.quantile(0.25), "median": b.median(),
        "p75": b.quantile(0.75), "max": b.max(), "median_interval": b.median_interval(), "first": b.first, "last": b.last,
    });
    with(measured(&b.of, b.size), values)
}

/// What a value is of.
fn measured(of: &Measured, size: Option<u64>) -> Value {
    let m = &of.metric;
    json!({"metric": m.name, "stat": m.stat, "unit": m.unit, "labels": labels(&of.labels), "size": size})
}

fn labels(all: &[Label]) -> Map<String, Value> {
    all.iter().map(|l| (l.key.to_string(), json!(l.value.as_str()))).collect()
}

/// Two objects as one; the second has the last word.
fn with(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}
