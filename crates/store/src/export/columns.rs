//! Samples as flat rows: the columns of CSV and Parquet.

use crate::Filter;
use crate::list::Summary;
use linerate_bench::{Label, Point, Run, Series};

/// A column.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) form: Values,
}

/// What a column holds, and how it is got from a row.
pub(super) enum Values {
    Text(for<'a> fn(&'a Row<'a>) -> Option<&'a str>),
    Real(fn(&Row<'_>) -> Option<f64>),
    Whole(fn(&Row<'_>) -> Option<u64>),
    Flag(fn(&Row<'_>) -> bool),
    /// Seconds of the Unix epoch.
    Time(fn(&Row<'_>) -> Option<f64>),
}

/// All columns, in order. Lists and labels are JSON in their field: any number of them, with any text, fits in one column.
pub(super) const COLUMNS: [Column; 21] = [
    Column { name: "run", form: Values::Text(|r| Some(&r.head.id)) },
    Column { name: "kind", form: Values::Text(|r| Some(r.run.kind.name())) },
    Column { name: "tool", form: Values::Text(|r| r.run.tool.as_deref()) },
    Column { name: "version", form: Values::Text(|r| r.run.version.as_deref()) },
    Column { name: "began", form: Values::Time(|r| r.run.began) },
    Column { name: "stored", form: Values::Time(|r| Some(r.about.stored)) },
    Column { name: "hosts", form: Values::Text(|r| Some(&r.head.hosts)) },
    Column { name: "params", form: Values::Text(|r| Some(&r.head.params)) },
    Column { name: "run_labels", form: Values::Text(|r| Some(&r.head.labels)) },
    Column { name: "session", form: Values::Text(|r| r.about.session.as_deref()) },
    Column { name: "side", form: Values::Text(|r| r.about.side.as_deref()) },
    Column { name: "position", form: Values::Whole(|r| r.about.position.map(u64::from)) },
    Column { name: "run_valid", form: Values::Flag(|r| r.about.valid) },
    Column { name: "metric", form: Values::Text(|r| Some(&r.series.metric.name)) },
    Column { name: "stat", form: Values::Text(|r| Some(r.stat)) },
    Column { name: "unit", form: Values::Text(|r| Some(r.series.metric.unit.name())) },
    Column { name: "labels", form: Values::Text(|r| Some(r.labels)) },
    Column { name: "size", form: Values::Whole(|r| r.point.size) },
    Column { name: "at", form: Values::Real(|r| r.point.at) },
    Column { name: "value", form: Values::Real(|r| Some(r.point.value)) },
    Column { name: "valid", form: Values::Flag(|r| r.point.valid) },
];

/// What all rows of a run have, made once.
pub(super) struct Head {
    id: String,
    hosts: String,
    params: String,
    labels: String,
}

/// A sample with all that tells what it is.
pub(super) struct Row<'a> {
    run: &'a Run,
    about: &'a Summary,
    head: &'a Head,
    series: &'a Series,
    stat: &'a str,
    labels: &'a str,
    point: Point,
}

/// Each sample that a filter asks for.
pub(super) fn samples<'a>(run: &'a Run, filter: &'a Filter) -> impl Iterator<Item = (&'a Series, Point)> {
    series(run, filter).flat_map(|s| points(s, filter).map(move |p| (s, p)))
}

fn series<'a>(run: &'a Run, filter: &'a Filter) -> impl Iterator<Item = &'a Series> {
    run.series.iter().filter(|s| filter.asks_for(&s.metric, &s.labels))
}

fn points<'a>(series: &'a Series, filter: &'a Filter) -> impl Iterator<Item = Point> + use<'a> {
    series.points.iter().filter(|p| filter.size.is_none() || p.size == filter.size)
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Labels of a series as an object, as in the JSON of runs. Of two with the same key, readers take the last.
fn object(labels: &[Label]) -> String {
    let mut out = String::from("{");
    for (i, l) in labels.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        out.push_str(&format!("{comma}{}:{}", json(&l.key), json(&l.value)));
    }
    out + "}"
}

/// Hands each row to a writer.
pub(super) fn each<E>(
    run: &Run,
    about: &Summary,
    filter: &Filter,
    mut f: impl FnMut(&Row<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let head = Head {
        id: about.id.to_string(),
        hosts: json(&run.hosts),
        params: json(&run.params),
        labels: json(&about.labels),
    };
    for series in series(run, filter) {
        let (stat, labels) = (series.metric.stat.to_string(), object(&series.labels));
        for point in points(series, filter) {
            f(&Row { run, about, head: &head, series, stat: &stat, labels: &labels, point })?;
        }
    }
    Ok(())
}
