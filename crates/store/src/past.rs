//! Bands, bests and standings out of the history.

use crate::band::{Band, Typical};
use crate::filter::Measured;
use crate::{Filter, Store, StoreError, cells};
use linerate_bench::{Better, Run, RunId};
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use std::collections::{BTreeMap, HashMap};

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
        let view = self.db.unchecked_transaction().map_err(|e| self.failed(e))?;
        let runs = self.times(filter, None)?;
        let mut out = Vec::new();
        for (subject, of) in self.subjects(filter)? {
            let rows = self.cells(subject, filter.size, typical, &runs)?;
            for same in rows.chunk_by(|a, b| a.0 == b.0) {
                out.extend(self.band(&of, same, &runs)?);
            }
        }
        view.finish().map_err(|e| self.failed(e))?;
        Ok(out)
    }

    /// The best runs of all that fits, at most `count` of each. What has no good direction is left out.
    ///
    /// # Errors
    /// As [`Store::bands`].
    pub fn best(&self, filter: &Filter, typical: Typical, count: usize) -> Result<Vec<Best>, StoreError> {
        let view = self.db.unchecked_transaction().map_err(|e| self.failed(e))?;
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
        view.finish().map_err(|e| self.failed(e))?;
        Ok(out)
    }

    /// The rank of a run among the others that measured the same with the same parameters, as far as `same` names them
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
        let view = self.db.unchecked_transaction().map_err(|e| self.failed(e))?;
        let runs = self.times(&filter, Some(run.id()))?;
        // Those of this run's kind and tool, by name and labels.
        let mut subjects: HashMap<_, Vec<(i64, Measured)>> = HashMap::new();
        for (key, of) in self.subjects(&filter)? {
            subjects.entry(cells::key(&of.metric, &of.labels)).or_default().push((key, of));
        }
        let found = cells::cells(run);
        let mut out = Vec::new();
        for cell in found.cells.iter().filter(|c| filter.size.is_none_or(|s| cells::size(Some(s)) == c.size)) {
            let Some(subject) = found.subjects.get(cell.subject) else { continue };
            if !filter.asks_for(&subject.metric, &subject.labels) {
                continue;
            }
            let of = Measured::by(run, subject);
            let value = if typical == Typical::Mean { cell.mean } else { cell.median };
            let band = match subjects.get(&subject.key()).and_then(|same| same.iter().find(|s| s.1 == of)) {
                Some((key, _)) => self.band(&of, &self.cells(*key, size_of(cell.size), typical, &runs)?, &runs)?,
                None => None,
            };
            out.push(Standing { value, band, of, size: size_of(cell.size) });
        }
        view.finish().map_err(|e| self.failed(e))?;
        Ok(out)
    }

    /// Parameters that differ between the runs that fit, with their values, as text: what a band over them mixes. At most 16 values each. `but`:
    /// parameters that are not asked for, because they differ by their nature (`run`, `repetition`).
    ///
    /// # Errors
    /// As [`Store::bands`].
    pub fn mixed(&self, filter: &Filter, but: &[&str]) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
        let conditions = filter.runs_with(&self.subjects(filter)?);
        let sql = format!(
            "SELECT DISTINCT key, iif(form = 'flag', iif(value, 'true', 'false'), CAST(value AS TEXT)) FROM run_param
             WHERE run IN (SELECT run.key FROM run{}) AND key NOT IN ({}) ORDER BY key, value",
            conditions.sql(),
            vec!["?"; but.len()].join(",")
        );
        let mut asked = conditions.values.clone();
        asked.extend(but.iter().map(|key| Value::Text((*key).to_owned())));
        let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        self.rows(&sql, params_from_iter(&asked), |row| {
            let value: Option<String> = row.get(1).map_err(|e| self.failed(e))?;
            let values = out.entry(row.get(0).map_err(|e| self.failed(e))?).or_default();
            if values.len() < 16 {
                values.push(value.unwrap_or_else(|| "nan".to_owned()));
            }
            Ok(())
        })?;
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
        let run = |r: &Row<'_>| Ok((r.get(0)?, r.get(1)?));
        let all = self.rows(&sql, params_from_iter(&conditions.values), |r| run(r).map_err(|e| self.failed(e)))?;
        Ok(Times(all))
    }

    /// By size.
    fn cells(&self, subject: i64, size: Option<u64>, typical: Typical, runs: &Times) -> Result<Rows, StoreError> {
        let value = if typical == Typical::Mean { "mean" } else { "coalesce(median, mean)" };
        let one = if size.is_some() { " AND size = ?2" } else { "" };
        let sql = format!("SELECT size, {value}, run FROM cell WHERE subject = ?1{one} ORDER BY size, run");
        let asked = [Some(subject), size.map(|_| cells::size(size))];
        let cell = |r: &Row<'_>| Ok((r.get(0)?, r.get(1)?, r.get(2)?));
        let mut out = Rows::new();
        self.rows(&sql, params_from_iter(asked.into_iter().flatten()), |r| {
            let cell: (i64, f64, i64) = cell(r).map_err(|e| self.failed(e))?;
            out.extend(runs.get(cell.2).map(|_| cell));
            Ok(())
        })?;
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
        let text: String = found.and_then(|mut q| q.query_row([key], |r| r.get(0))).map_err(|e| self.failed(e))?;
        self.run_id(&text)
    }
}

fn size_of(size: i64) -> Option<u64> {
    u64::try_from(size).ok()
}
