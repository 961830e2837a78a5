//! What is expected of measurements, and whether a run meets it.

use crate::filter::Measured;
use crate::load::labels_of;
use crate::{Store, StoreError, add, cells};
use linerate_bench::{Kind, Label, Run, Stat, Unit};
use linerate_snapshot::without_secrets;
use rusqlite::{Row, params};
use serde::Serialize;

/// What is expected of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Of which output; `None`: of any.
    pub kind: Option<Kind>,
    /// Of which program.
    pub tool: Option<String>,
    /// Of which metric.
    pub metric: String,
    /// Of which statistic.
    pub stat: Option<Stat>,
    /// Labels that the series must have.
    pub labels: Vec<Label>,
    /// At which size, in bytes.
    pub size: Option<u64>,
    /// Parameters that the run must have, as text.
    pub params: Vec<(String, String)>,
    /// Unit of the bounds; runs in other units of the same kind are converted.
    pub unit: Unit,
    /// Not below.
    pub low: Option<f64>,
    /// Not above.
    pub high: Option<f64>,
    /// Who says so.
    pub source: String,
}

/// A target beside a run's value.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetCheck {
    /// What is expected.
    pub target: Target,
    /// What was measured.
    pub of: Measured,
    /// Bytes.
    pub size: Option<u64>,
    /// In the target's unit; `None` where the run's unit measures something else.
    pub value: Option<f64>,
    /// How it compares; `None` where it cannot be compared.
    pub outcome: Option<Outcome>,
}

/// How a value relates to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Below the lower bound.
    Below,
    /// Within.
    Within,
    /// Above the upper bound.
    Above,
}

impl Store {
    /// Sets a target; one of the same name is replaced. `now`: seconds of the Unix epoch.
    ///
    /// # Errors
    /// [`StoreError::Unfit`] for bounds that nothing can meet; those of any write.
    pub fn set_target(&mut self, target: &Target, now: f64) -> Result<(), StoreError> {
        let bounds = (target.low, target.high);
        let why = match bounds {
            (None, None) => Some("it has no bound"),
            _ if [target.low, target.high].into_iter().flatten().any(|v| !v.is_finite()) => {
                Some("a bound is not a number")
            }
            (Some(low), Some(high)) if low > high => Some("its lower bound is above its upper one"),
            _ if target.name.is_empty() => Some("it has no name"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(StoreError::Unfit { what: format!("target {:?}", target.name), why: why.to_owned() });
        }
        let params = serde_json::to_string(&target.params).unwrap_or_default();
        let sql = "INSERT OR REPLACE INTO target VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        let row = params![
            without_secrets(&target.name),
            target.kind.map(Kind::name),
            target.tool,
            target.metric,
            target.stat.map(|s| s.to_string()),
            add::json(&target.labels),
            target.size.map(|s| cells::size(Some(s))),
            params,
            target.unit.name(),
            target.low,
            target.high,
            without_secrets(&target.source),
            now
        ];
        self.db.execute(sql, row).map(drop).map_err(|e| self.failed(e))
    }

    /// Removes a target; whether there was one.
    ///
    /// # Errors
    /// Those of any write.
    pub fn remove_target(&mut self, name: &str) -> Result<bool, StoreError> {
        let removed = self.db.execute("DELETE FROM target WHERE name = ?1", [without_secrets(name)]);
        removed.map(|n| n > 0).map_err(|e| self.failed(e))
    }

    /// All targets, by name.
    ///
    /// # Errors
    /// As any query: [`StoreError::Damaged`], [`StoreError::Locked`].
    pub fn targets(&self) -> Result<Vec<Target>, StoreError> {
        let sql = "SELECT name, kind, tool, metric, stat, labels, size, params, unit, low, high, source FROM target
                   ORDER BY name";
        self.rows(sql, [], |row| self.target(row))
    }

    fn target(&self, row: &Row<'_>) -> Result<Target, StoreError> {
        let e = |e| self.failed(e);
        let text = |i| row.get::<_, String>(i).map_err(e);
        let maybe = |i| row.get::<_, Option<String>>(i).map_err(e);
        let stat = |s: String| Stat::of_name(&s).ok_or_else(|| self.damaged(format!("{s:?} is not a statistic")));
        Ok(Target {
            name: text(0)?,
            kind: maybe(1)?.map(|k| self.kind(&k)).transpose()?,
            tool: maybe(2)?,
            metric: text(3)?,
            stat: maybe(4)?.map(stat).transpose()?,
            labels: labels_of(&text(5)?).ok_or_else(|| self.damaged("labels of a target"))?,
            size: row.get::<_, Option<i64>>(6).map_err(e)?.and_then(|s| u64::try_from(s).ok()),
            params: serde_json::from_str(&text(7)?).map_err(|_| self.damaged("parameters of a target"))?,
            unit: Unit::of_name(&text(8)?),
            low: row.get(9).map_err(e)?,
            high: row.get(10).map_err(e)?,
            source: text(11)?,
        })
    }

    /// A run's values beside all targets that are about them. A run that is no valid result meets and misses nothing.
    ///
    /// # Errors
    /// As [`Store::targets`].
    pub fn check(&self, run: &Run) -> Result<Vec<TargetCheck>, StoreError> {
        let found = cells::cells(run);
        let mut out = Vec::new();
        for target in self.targets()? {
            if !target.is_about(run) {
                continue;
            }
            for cell in found.cells.iter().filter(|c| target.size.is_none_or(|s| cells::size(Some(s)) == c.size)) {
                let Some(subject) = found.subjects.get(cell.subject) else { continue };
                let metric = &subject.metric;
                let about = metric.name == target.metric
                    && target.stat.is_none_or(|s| s == metric.stat)
                    && target.labels.iter().all(|l| subject.labels.contains(l));
                if about {
                    let value = metric.unit.convert(cell.mean, &target.unit);
                    out.push(TargetCheck {
                        of: Measured::by(run, subject),
                        size: u64::try_from(cell.size).ok(),
                        value,
                        outcome: value.map(|v| target.outcome(v)),
                        target: target.clone(),
                    });
                }
            }
        }
        Ok(out)
    }
}

impl Target {
    fn is_about(&self, run: &Run) -> bool {
        self.kind.is_none_or(|k| k == run.kind)
            && self.tool.as_ref().is_none_or(|t| run.tool.as_ref().is_some_and(|r| r == t))
            && self.params.iter().all(|(k, v)| run.params.get(k.as_str()).is_some_and(|p| p.to_string() == *v))
    }

    /// How a value, in the target's unit, compares with it.
    #[must_use]
    pub fn outcome(&self, value: f64) -> Outcome {
        if self.low.is_some_and(|low| value < low) {
            Outcome::Below
        } else if self.high.is_some_and(|high| value > high) {
            Outcome::Above
        } else {
            Outcome::Within
        }
    }
}
