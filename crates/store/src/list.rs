//! Lists of runs.

use crate::{Filter, Store, StoreError};
use linerate_bench::{Kind, RunId};
use rusqlite::{Row, params_from_iter};
use serde::Serialize;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Its name.
    pub id: RunId,
    /// Whose output.
    pub kind: Kind,
    /// The program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// When it began, where its output says so: seconds of the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<f64>,
    /// When it was stored.
    pub stored: f64,
    /// Whether it counts as a result.
    pub valid: bool,
    /// Where it was read.
    pub source: String,
    /// Hosts that took part.
    pub hosts: Vec<String>,
    /// What people call it.
    pub labels: Vec<String>,
    /// Its experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Its side there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Its place in the order of execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// Metrics, each once.
    pub metrics: Vec<String>,
    /// Values.
    pub points: u64,
    /// Snapshots that belong to it.
    pub snapshots: u32,
}

// Lists travel as JSON arrays: no separator is safe in a name.
const COLUMNS: &str = "run.id, run.kind, run.tool, run.version, run.began, run.stored, run.valid, run.source,
  (SELECT json_group_array(host) FROM (SELECT host FROM run_host WHERE run = run.key ORDER BY place)),
  (SELECT json_group_array(label) FROM run_label WHERE run = run.key),
  run.session, run.side, run.position,
  (SELECT json_group_array(metric) FROM (SELECT DISTINCT j.metric FROM series s JOIN subject j ON j.key = s.subject
     WHERE s.run = run.key)),
  (SELECT coalesce(sum(n), 0) FROM series WHERE run = run.key),
  (SELECT count(*) FROM run_snapshot WHERE run = run.key)";

impl Store {
    /// Runs, newest first.
    ///
    /// # Errors
    /// As any query: [`StoreError::Damaged`], [`StoreError::Locked`].
    pub fn list(&self, filter: &Filter) -> Result<Vec<Summary>, StoreError> {
        let conditions = filter.runs_with(&self.subjects(filter)?);
        let limit = filter.limit.map_or(-1, i64::from);
        // The names are gathered for those runs only that are shown.
        let order = "ORDER BY run.at DESC, run.key DESC";
        let sql = format!(
            "SELECT {COLUMNS} FROM run WHERE run.key IN (SELECT run.key FROM run{} {order} LIMIT {limit}) {order}",
            conditions.sql()
        );
        self.rows(&sql, params_from_iter(&conditions.values), |row| self.summary(row))
    }

    fn summary(&self, row: &Row<'_>) -> Result<Summary, StoreError> {
        let e = |e| self.failed(e);
        let text = |i| row.get::<_, Option<String>>(i).map_err(e);
        let list = |i| {
            let json: String = row.get(i).map_err(e)?;
            serde_json::from_str::<Vec<String>>(&json).map_err(|_| self.damaged("a list of names"))
        };
        let id: String = row.get(0).map_err(e)?;
        Ok(Summary {
            id: self.run_id(&id)?,
            kind: self.kind(&row.get::<_, String>(1).map_err(e)?)?,
            tool: text(2)?,
            version: text(3)?,
            began: row.get(4).map_err(e)?,
            stored: row.get(5).map_err(e)?,
            valid: row.get(6).map_err(e)?,
            source: row.get(7).map_err(e)?,
            hosts: list(8)?,
            labels: list(9)?,
            session: text(10)?,
            side: text(11)?,
            position: row.get(12).map_err(e)?,
            metrics: list(13)?,
            points: row.get(14).map_err(e)?,
            snapshots: row.get(15).map_err(e)?,
        })
    }

    pub(crate) fn run_id(&self, text: &str) -> Result<RunId, StoreError> {
        text.parse().map_err(|_| self.damaged(format!("{text:?} is not the name of a run")))
    }

    /// The run whose name begins so.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; [`StoreError::Ambiguous`] names the candidates.
    pub fn find(&self, beginning: &str) -> Result<RunId, StoreError> {
        const SHOWN: usize = 5;
        let none = || StoreError::NoSuchRun { path: self.path.clone(), text: beginning.to_owned() };
        let digits = beginning.to_ascii_lowercase();
        if digits.is_empty() || digits.len() > 16 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(none());
        }
        let sql = format!("SELECT id FROM run WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT {}", SHOWN + 1);
        let id = |row: &Row<'_>| self.run_id(&row.get::<_, String>(0).map_err(|e| self.failed(e))?);
        let mut candidates = self.rows(&sql, [&digits], id)?;
        match candidates[..] {
            [] => Err(none()),
            [one] => Ok(one),
            _ => {
                let more = candidates.len() > SHOWN;
                candidates.truncate(SHOWN);
                Err(StoreError::Ambiguous { text: beginning.to_owned(), candidates, more })
            }
        }
    }
}
