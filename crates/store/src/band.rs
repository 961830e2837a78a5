//! What was ever measured, as bands: "194–309 GB/s" with its n.

use crate::filter::Measured;
use crate::{Filter, Store, StoreError, cells};
use linerate_bench::{Better, Run, RunId};
use std::collections::BTreeMap;

/// Which number stands for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Typical {
    /// The mean of its values.
    #[default]
    Mean,
    /// Their median: of a time series, hardly moved by how it began.
    Median,
}

/// What runs say of one measurement at one size. A run counts once, whatever it repeats within itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// What is measured.
    pub of: Measured,
    /// Bytes.
    pub size: Option<u64>,
    /// One value of each run, ascending. Never empty.
    pub values: Vec<f64>,
    /// When the first of the runs began (or was stored): seconds of the Unix epoch.
    pub first: f64,
    /// When the last did.
    pub last: f64,
    /// The run with the smallest value, and the one with the largest.
    pub ends: [RunId; 2],
}

impl Band {
    /// Runs: the n of every statement about it.
    #[must_use]
    pub fn n(&self) -> usize {
        self.values.len()
    }

    /// Smallest value.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.quantile(0.0)
    }

    /// Largest value.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.quantile(1.0)
    }

    /// A quantile, q in 0..=1, linear between neighbours (type 7 of Hyndman and Fan, 1996: R's and NumPy's default).
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        let h = q.clamp(0.0, 1.0) * self.values.len().saturating_sub(1) as f64;
        let at = |i: f64| self.values.get(i as usize).copied().unwrap_or(f64::NAN);
        let (low, high) = (at(h.floor()), at(h.ceil()));
        if low == high { low } else { low + (high - low) * h.fract() }
    }

    /// The typical value.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// A 95 % interval of the median that assumes nothing of the values but that they are independent: the order statistics between
    /// which it lies with that probability (David and Nagaraja, *Order Statistics*, 2003, §7.1). Below six runs there is none.
    ///
    /// Runs of one afternoon on one node are hardly independent: it is then an interval of that afternoon.
    #[must_use]
    pub fn median_interval(&self) -> Option<[f64; 2]> {
        let k = below_with_2_5_percent(self.values.len())?;
        Some([*self.values.get(k)?, *self.values.get(self.values.len() - 1 - k)?])
    }

    /// The share of runs with a smaller value, those with the same counted half: 0.9 is the 90th percentile.
    #[must_use]
    pub fn rank(&self, value: f64) -> f64 {
        let below = self.values.partition_point(|v| *v < value);
        let same = self.values.partition_point(|v| *v <= value) - below;
        (below as f64 + same as f64 / 2.0) / self.values.len() as f64
    }

    /// The best value and its run; `None` where neither direction is good.
    #[must_use]
    pub fn best(&self) -> Option<(f64, RunId)> {
        let [low, high] = self.ends;
        match self.of.metric.better {
            Better::Higher => Some((self.max(), high)),
            Better::Lower => Some((self.min(), low)),
            Better::Neither => None,
        }
    }
}

/// How many values at each end lie outside a 95 % interval of the median of n; `None` where even all do not suffice.
fn below_with_2_5_percent(n: usize) -> Option<usize> {
    // P(fewer than k + 1 of n coins) ≤ 0.025, in logarithms: 2⁻ⁿ is no number for large n.
    let (mut log, mut sum, mut k) = (-(n as f64) * std::f64::consts::LN_2, 0.0, None);
    for i in 0..n {
        sum += log.exp();
        if sum > 0.025 {
            return k;
        }
        k = Some(i);
        log += ((n - i) as f64 / (i + 1) as f64).ln();
    }
    k
}

/// A run's value beside those of other runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The run's value.
    pub value: f64,
    /// Those of others; `None` where it is the first.
    pub band: Option<Band>,
    /// What is measured.
    pub of: Measured,
    /// Bytes.
    pub size: Option<u64>,
}

/// A run among the best.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// What is measured.
    pub of: Measured,
    /// Bytes.
    pub size: Option<u64>,
    /// The best values with their runs, best first.
    pub runs: Vec<(f64, RunId)>,
}

/// Times of runs by their row number, ascending.
struct Times(Vec<(i64, f64)>);

impl Times {
    fn get(&self, run: i64) -> Option<f64> {
        let place = self.0.binary_search_by_key(&run, |r| r.0).ok()?;
        self.0.get(place).map(|r| r.1)
    }
}

/// Of one subject: size, value, row number of the run.
type Rows = Vec<(i64, f64, i64)>;

impl Store {
    /// Bands of all that fits, by what is measured, then by size. Only valid points of valid runs are in them.
    ///
    /// # Errors
    /// As any query: [`StoreError::Damaged`], [`StoreError::Locked`].
    pub fn bands(&self, filter: &Filter, typical: Typical) -> Result<Vec<Band>, StoreError> {
        let view = self.db.unchecked_transaction().map_err(|e| self.told(e))?;
        let runs = self.times(filter, None)?;
        let mut out = Vec::new();
        for (subject, of) in self.subjects(filter)? {
            let rows = self.cells(subject, filter.size, typical, &runs)?;
            for same in rows.chunk_by(|a, b| a.0 == b.0) {
                out.extend(self.band(&of, same, &runs)?);
            }
        }
        view.finish().map_err(|e| self.told(e))?;
        Ok(out)
    }

    /// The best runs of all that fits, at most `count` of each. What has no good direction is left out.
    ///
    /// # Errors
    /// As [`Store::bands`].
    pub fn best(&self, filter: &Filter, typical: Typical, count: usize) -> Result<Vec<Best>, StoreError> {
        let view = self.db.unchecked_transaction().map_err(|e| self.told(e))?;
        let runs = self.times(filter, None)?;
        let mut out = Vec::new();
        for (subject, of) in self.subjects(filter)? {
            let sign = match of.metric.better {
                Better::Higher => -1.0,
                Better::Lower => 1.0,
                Better::Neither => continue,
            };
            for same in self.cells(subject, filter.size, typical, &runs)?.chunk_by(|a, b| a.0 == b.0) {
                let mut sorted = same.to_vec();
                sorted.sort_by(|a, b| (a.1 * sign).total_cmp(&(b.1 * sign)));
                sorted.truncate(count);
                let named = sorted.iter().map(|r| Ok((r.1, self.name(r.2)?))).collect::<Result<_, StoreError>>()?;
                out.push(Best { of: of.clone(), size: size_of(same.first().map_or(-1, |r| r.0)), runs: named });
            }
        }
        view.finish().map_err(|e| self.told(e))?;
        Ok(out)
    }

    /// Where a run stands among the others that measured the same with the same parameters, as far as `same` names them
    /// (`["ranks", "dtype"]`); the run itself is left out, whether it is stored or not.
    ///
    /// # Errors
    /// As [`Store::bands`].
    pub fn standing(
        &self,
        run: &Run,
        filter: &Filter,
        same: &[&str],
        typical: Typical,
    ) -> Result<Vec<Standing>, StoreError> {
        let tool = run.tool.as_ref().map(ToString::to_string);
        let mut filter = Filter { kind: Some(run.kind), tool: tool.or_else(|| filter.tool.clone()), ..filter.clone() };
        let params = same.iter().filter_map(|key| Some(((*key).to_owned(), run.params.get(*key)?.to_string())));
        filter.params.extend(params);
        let view = self.db.unchecked_transaction().map_err(|e| self.told(e))?;
        let runs = self.times(&filter, Some(run.id()))?;
        let subjects = self.subjects(&filter)?;
        let found = cells::cells(run);
        let mut out = Vec::new();
        for cell in found.cells.iter().filter(|c| filter.size.is_none_or(|s| cells::size(Some(s)) == c.size)) {
            let Some(subject) = found.subjects.get(cell.subject) else { continue };
            let asked = filter.metric.as_ref().is_none_or(|m| subject.metric.name == *m)
                && filter.stat.is_none_or(|s| subject.metric.stat == s)
                && filter.series.iter().all(|l| l.is_member() || subject.labels.contains(l));
            if !asked {
                continue;
            }
            let of = Measured {
                kind: run.kind,
                tool: run.tool.clone(),
                metric: subject.metric.clone(),
                labels: subject.labels.clone(),
            };
            let value = if typical == Typical::Mean { cell.mean } else { cell.median };
            let band = match subjects.iter().find(|s| s.1 == of) {
                Some((key, _)) => self.band(&of, &self.cells(*key, size_of(cell.size), typical, &runs)?, &runs)?,
                None => None,
            };
            out.push(Standing { value, band, of, size: size_of(cell.size) });
        }
        view.finish().map_err(|e| self.told(e))?;
        Ok(out)
    }

    /// Parameters that differ between the runs that fit, with their values, as text: what a band over them mixes. At most 16 values each.
    ///
    /// # Errors
    /// As [`Store::bands`].
    pub fn mixed(&self, filter: &Filter) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
        let conditions = filter.runs_with(&self.subjects(filter)?);
        let sql = format!(
            "SELECT DISTINCT key, iif(form = 'flag', iif(value, 'true', 'false'), CAST(value AS TEXT)) FROM run_param
             WHERE run IN (SELECT run.key FROM run{}) ORDER BY key, value",
            conditions.sql()
        );
        let mut query = self.db.prepare(&sql).map_err(|e| self.told(e))?;
        let mut rows = query.query(rusqlite::params_from_iter(&conditions.values)).map_err(|e| self.told(e))?;
        let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        while let Some(row) = rows.next().map_err(|e| self.told(e))? {
            let value: Option<String> = row.get(1).map_err(|e| self.told(e))?;
            let values = out.entry(row.get(0).map_err(|e| self.told(e))?).or_default();
            if values.len() < 16 {
                values.push(value.unwrap_or_else(|| "nan".to_owned()));
            }
        }
        out.retain(|_, values| values.len() > 1);
        Ok(out)
    }

    /// Runs that fit, with their time, by row number. Joined here: a lookup in SQLite for each cell would cost three times as much.
    fn times(&self, filter: &Filter, but: Option<RunId>) -> Result<Times, StoreError> {
        let mut conditions = filter.runs();
        if let Some(id) = but {
            conditions.and("run.id <> ?", id.to_string());
        }
        let sql = format!("SELECT run.key, run.at FROM run{} ORDER BY run.key", conditions.sql());
        let mut query = self.db.prepare(&sql).map_err(|e| self.told(e))?;
        let rows = query.query_map(rusqlite::params_from_iter(&conditions.values), |r| Ok((r.get(0)?, r.get(1)?)));
        rows.and_then(Iterator::collect).map(Times).map_err(|e| self.told(e))
    }

    /// By size.
    fn cells(&self, subject: i64, size: Option<u64>, typical: Typical, runs: &Times) -> Result<Rows, StoreError> {
        let value = if typical == Typical::Mean { "mean" } else { "coalesce(median, mean)" };
        let one = if size.is_some() { " AND size = ?2" } else { "" };
        let sql = format!("SELECT size, {value}, run FROM cell WHERE subject = ?1{one} ORDER BY size, run");
        let mut query = self.db.prepare_cached(&sql).map_err(|e| self.told(e))?;
        let mut rows = match size {
            Some(_) => query.query([subject, cells::size(size)]),
            None => query.query([subject]),
        }
        .map_err(|e| self.told(e))?;
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(|e| self.told(e))? {
            let get = || Ok((row.get(0)?, row.get::<_, f64>(1)?, row.get(2)?));
            let cell: (i64, f64, i64) = get().map_err(|e| self.told(e))?;
            if runs.get(cell.2).is_some() {
                out.push(cell);
            }
        }
        Ok(out)
    }

    fn band(&self, of: &Measured, cells: &[(i64, f64, i64)], runs: &Times) -> Result<Option<Band>, StoreError> {
        let mut sorted = cells.to_vec();
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else { return Ok(None) };
        let times = sorted.iter().filter_map(|c| runs.get(c.2));
        Ok(Some(Band {
            of: of.clone(),
            size: size_of(low.0),
            first: times.clone().fold(f64::INFINITY, f64::min),
            last: times.fold(f64::NEG_INFINITY, f64::max),
            ends: [self.name(low.2)?, self.name(high.2)?],
            values: sorted.into_iter().map(|c| c.1).collect(),
        }))
    }

    /// Name of the run in a row.
    pub(crate) fn name(&self, key: i64) -> Result<RunId, StoreError> {
        let found = self.db.prepare_cached("SELECT id FROM run WHERE key = ?1");
        let text: String = found.and_then(|mut q| q.query_row([key], |r| r.get(0))).map_err(|e| self.told(e))?;
        self.run_id(&text)
    }
}

fn size_of(size: i64) -> Option<u64> {
    u64::try_from(size).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_medians_are_those_of_tables() {
        // Conover, Practical Nonparametric Statistics; R: qbinom(0.025, n, 0.5) - 1 where pbinom does not exceed 0.025.
        for (n, want) in [
            (0, None),
            (5, None),
            (6, Some(0)),
            (8, Some(0)),
            (9, Some(1)),
            (12, Some(2)),
            (20, Some(5)),
            (50, Some(17)),
            (100, Some(39)),
            (1000, Some(468)),
        ] {
            assert_eq!(below_with_2_5_percent(n), want, "{n}");
        }
        assert!(below_with_2_5_percent(100_000).is_some_and(|k| (49_688..=49_692).contains(&k)));
    }
}
