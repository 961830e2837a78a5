//! Which runs, and which of their values.

use crate::load::labels_of;
use crate::{Store, StoreError, cells};
use linerate_bench::{Better, Kind, Label, Metric, Run, Stat, Unit};
use linerate_snapshot::without_secrets;
use rusqlite::params_from_iter;
use rusqlite::types::Value;
use smol_str::SmolStr;

/// Which runs, and which of their values. What is not set does not restrict.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// Whose output.
    pub kind: Option<Kind>,
    /// The program.
    pub tool: Option<String>,
    /// Metric's name: `busbw`.
    pub metric: Option<String>,
    /// Which statistic of it.
    pub stat: Option<Stat>,
    /// Labels that a series must have: `place=in-place`. Those of members (`rank`, `stream`) restrict nothing: bands are of whole runs.
    pub series: Vec<Label>,
    /// Bytes. Lists have the runs with a valid value there.
    pub size: Option<u64>,
    /// A host that took part.
    pub host: Option<String>,
    /// A label of the run; of several, all.
    pub labels: Vec<String>,
    /// The session it belongs to.
    pub session: Option<String>,
    /// Parameters, as text: `ranks` = `16`. Numbers are compared as numbers.
    pub params: Vec<(String, String)>,
    /// Not before, in seconds of the Unix epoch.
    pub since: Option<f64>,
    /// Before, in seconds of the Unix epoch.
    pub until: Option<f64>,
    /// First digits of its name.
    pub id: Option<String>,
    /// Whether it counts as a result.
    pub valid: Option<bool>,
    /// Not more runs than this, the newest. Bands and bests use all runs.
    pub limit: Option<u32>,
}

/// Something that is measured: values under one of these can be compared, others never.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Whose output.
    pub kind: Kind,
    /// The program.
    pub tool: Option<SmolStr>,
    /// What.
    pub metric: Metric,
    /// What else tells it from other measurements of the metric.
    pub labels: Vec<Label>,
}

impl Measured {
    pub(crate) fn by(run: &Run, subject: &cells::Subject) -> Self {
        let cells::Subject { metric, labels } = subject.clone();
        Measured { kind: run.kind, tool: run.tool.clone(), metric, labels }
    }
}

/// Conditions in SQL on `run`, with their values.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    sql: String,
    pub(crate) values: Vec<Value>,
}

impl Conditions {
    /// One more. `?` stands for the value.
    pub(crate) fn and(&mut self, condition: &str, value: impl Into<Value>) {
        self.sql.push_str(if self.sql.is_empty() { " WHERE " } else { " AND " });
        self.sql.push_str(condition);
        self.values.push(value.into());
    }

    /// As [`Conditions::and`], where there is a value to ask for.
    fn and_if(&mut self, condition: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.and(condition, value);
        }
    }

    /// With its WHERE; empty where nothing is asked.
    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }
}

impl Filter {
    /// Conditions on the run itself.
    pub(crate) fn runs(&self) -> Conditions {
        let mut c = Conditions::default();
        c.and_if("run.kind = ?", self.kind.map(|kind| kind.name().to_owned()));
        c.and_if("run.tool = ?", self.tool.clone());
        c.and_if("run.key IN (SELECT run FROM run_host WHERE host = ?)", self.host.clone());
        for label in &self.labels {
            c.and("run.key IN (SELECT run FROM run_label WHERE label = ?)", without_secrets(label).into_owned());
        }
        c.and_if("run.session = ?", self.session.clone());
        for (key, value) in &self.params {
            // One condition with two values: its parameters are numbered by position.
            c.and("EXISTS (SELECT 1 FROM run_param p WHERE p.run = run.key AND p.key = ?", key.clone());
            let (text, number) = both(value);
            c.sql.push_str(" AND (p.form = 'text' AND p.value = ? OR p.form <> 'text' AND p.value = ?))");
            c.values.extend([text, number]);
        }
        c.and_if("run.at >= ?", self.since);
        c.and_if("run.at < ?", self.until);
        if let Some(id) = &self.id {
            c.and("run.id >= ?", id.clone());
            // Above every digit.
            c.and("run.id < ?", format!("{id}g"));
        }
        c.and_if("run.valid = ?", self.valid);
        c
    }

    /// As [`Filter::runs`], and on what was measured, given the subjects that fit.
    pub(crate) fn runs_with(&self, subjects: &[(i64, Measured)]) -> Conditions {
        let mut c = self.runs();
        if self.asks_for_values() {
            let keys: Vec<String> = subjects.iter().map(|s| s.0.to_string()).collect();
            let keys = keys.join(",");
            match self.size {
                Some(size) => c.and(
                    &format!(
                        "EXISTS (SELECT 1 FROM cell c WHERE c.subject IN ({keys}) AND c.size = ? AND c.run = run.key)"
                    ),
                    cells::size(Some(size)),
                ),
                None => c.and(
                    &format!("EXISTS (SELECT ? FROM series s WHERE s.run = run.key AND s.subject IN ({keys}))"),
                    1_i64,
                ),
            }
        }
        c
    }

    /// Whether it asks for a series, as far as that does not depend on the run.
    pub(crate) fn asks_for(&self, metric: &Metric, labels: &[Label]) -> bool {
        self.metric.as_ref().is_none_or(|m| metric.name == *m)
            && self.stat.is_none_or(|s| metric.stat == s)
            && self.series.iter().all(|l| l.is_member() || labels.contains(l))
    }

    fn asks_for_values(&self) -> bool {
        self.metric.is_some() || self.stat.is_some() || !self.series.is_empty() || self.size.is_some()
    }
}

/// A parameter's value as text, and as the number or switch that it may be.
fn both(text: &str) -> (Value, Value) {
    let other = match text {
        "true" => Value::Integer(1),
        "false" => Value::Integer(0),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(v), _) => Value::Integer(v),
            (_, Ok(v)) if v.is_finite() => Value::Real(v),
            _ => Value::Null,
        },
    };
    (Value::Text(text.to_owned()), other)
}

impl Store {
    /// What was ever measured and fits.
    ///
    /// # Errors
    /// As any query: [`StoreError::Damaged`], [`StoreError::Locked`].
    pub fn measured(&self, filter: &Filter) -> Result<Vec<Measured>, StoreError> {
        Ok(self.subjects(filter)?.into_iter().map(|s| s.1).collect())
    }

    pub(crate) fn subjects(&self, filter: &Filter) -> Result<Vec<(i64, Measured)>, StoreError> {
        let mut c = Conditions::default();
        c.and_if("kind = ?", filter.kind.map(|kind| kind.name().to_owned()));
        c.and_if("tool = ?", filter.tool.clone());
        c.and_if("metric = ?", filter.metric.clone());
        c.and_if("stat = ?", filter.stat.map(|stat| stat.to_string()));
        let sql =
            format!("SELECT key, kind, tool, metric, unit, stat, better, labels FROM subject{} ORDER BY key", c.sql());
        let wanted = cells::telling(&filter.series);
        let mut all = self.rows(&sql, params_from_iter(&c.values), |row| {
            let e = |e| self.failed(e);
            let text = |i| row.get::<_, String>(i).map_err(e);
            let measured = Measured {
                kind: self.kind(&text(1)?)?,
                tool: row.get::<_, Option<String>>(2).map_err(e)?.map(SmolStr::from),
                metric: self.metric(text(3)?, &text(4)?, &text(5)?, &text(6)?)?,
                labels: labels_of(&text(7)?).ok_or_else(|| self.damaged("labels of a subject"))?,
            };
            Ok((row.get(0).map_err(e)?, measured))
        })?;
        all.retain(|(_, measured)| wanted.iter().all(|l| measured.labels.contains(l)));
        Ok(all)
    }

    /// A kind by its name in the database.
    pub(crate) fn kind(&self, name: &str) -> Result<Kind, StoreError> {
        Kind::of_name(name)
            .ok_or_else(|| self.damaged(format!("{name:?} is not a kind of run that this version knows")))
    }

    pub(crate) fn metric(&self, name: String, unit: &str, stat: &str, better: &str) -> Result<Metric, StoreError> {
        let better = Better::of_name(better).ok_or_else(|| self.damaged(format!("{better:?} is not a direction")))?;
        let stat = Stat::of_name(stat).ok_or_else(|| self.damaged(format!("{stat:?} is not a statistic")))?;
        Ok(Metric { name: name.into(), unit: Unit::of_name(unit), stat, better })
    }
}
