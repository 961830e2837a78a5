//! Looking after a history: labels, deletion, size, soundness.

use crate::{Filter, Store, StoreError, cells};
use linerate_bench::RunId;
use rusqlite::{OptionalExtension, TransactionBehavior, params};
use serde::Serialize;

/// What a history holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stats {
    /// Runs.
    pub runs: u64,
    /// Of them, no valid results.
    pub invalid: u64,
    /// Values.
    pub points: u64,
    /// Snapshots referred to.
    pub snapshots: u64,
    /// Hosts.
    pub hosts: u64,
    /// When the first run began or was stored: seconds of the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<f64>,
    /// When the last did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<f64>,
    /// Size of the database, in bytes.
    pub bytes: u64,
    /// Of them, those that [`Store::vacuum`] would give back.
    pub free: u64,
}

impl Store {
    /// Adds a label to a run.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; those of any write.
    pub fn label(&mut self, id: RunId, label: &str) -> Result<(), StoreError> {
        let key = self.key(id)?;
        let sql = "INSERT OR IGNORE INTO run_label VALUES (?1, ?2)";
        self.db.execute(sql, params![key, label]).map(drop).map_err(|e| self.failed(e))
    }

    /// Deletes a run with all that belongs to it; references to snapshots that no other run has, too.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; those of any write.
    pub fn delete(&mut self, id: RunId) -> Result<(), StoreError> {
        let path = self.path.clone();
        let wait = self.wait.as_secs();
        let failed = |e| StoreError::sqlite(&path, wait, e);
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let find = "SELECT key FROM run WHERE id = ?1";
        let key: Option<i64> = tx.query_row(find, [id.to_string()], |r| r.get(0)).optional().map_err(failed)?;
        let Some(key) = key else { return Err(StoreError::NoSuchRun { path: path.clone(), text: id.to_string() }) };
        // No index leads from a run to its cells: it would cost every import a third more, and runs are seldom deleted.
        tx.execute("DELETE FROM cell WHERE run = ?1", [key]).map_err(failed)?;
        tx.execute("DELETE FROM run WHERE key = ?1", [key]).map_err(failed)?;
        tx.execute("DELETE FROM snapshot WHERE key NOT IN (SELECT snapshot FROM run_snapshot)", []).map_err(failed)?;
        tx.commit().map_err(failed)
    }

    /// What it holds.
    ///
    /// # Errors
    /// As any query: [`StoreError::Damaged`], [`StoreError::Locked`].
    pub fn stats(&self) -> Result<Stats, StoreError> {
        let sql = "SELECT count(*), coalesce(sum(NOT valid), 0), (SELECT coalesce(sum(n), 0) FROM series),
                     (SELECT count(*) FROM snapshot), (SELECT count(DISTINCT host) FROM run_host), min(at), max(at) FROM run";
        let number = |pragma: &str| self.db.pragma_query_value(None, pragma, |r| r.get::<_, u64>(0));
        let get = || {
            let page = number("page_size")?;
            let (bytes, free) = (number("page_count")? * page, number("freelist_count")? * page);
            self.db.query_row(sql, [], |r| {
                Ok(Stats {
                    runs: r.get(0)?,
                    invalid: r.get(1)?,
                    points: r.get(2)?,
                    snapshots: r.get(3)?,
                    hosts: r.get(4)?,
                    first: r.get(5)?,
                    last: r.get(6)?,
                    bytes,
                    free,
                })
            })
        };
        get().map_err(|e| self.failed(e))
    }

    /// Reads everything: the database's own structure, then every run, whose values must match their checksums, make the same name
    /// again and the same cells as are kept beside them. Returns what is wrong, in words, at most 100 of it; empty: all is sound.
    ///
    /// # Errors
    /// Where not even that can be read.
    pub fn verify(&self) -> Result<Vec<String>, StoreError> {
        const SHOWN: usize = 100;
        let mut wrong: Vec<String> = Vec::new();
        let sql = format!("PRAGMA integrity_check({SHOWN})");
        let check = self.db.prepare(&sql).and_then(|mut q| q.query_map([], |r| r.get(0))?.collect());
        let lines: Vec<String> = check.map_err(|e| self.failed(e))?;
        wrong.extend(lines.into_iter().filter(|l| l != "ok"));
        let strays = "SELECT count(*) FROM cell WHERE run NOT IN (SELECT key FROM run)";
        let strays: i64 = self.db.query_row(strays, [], |r| r.get(0)).map_err(|e| self.failed(e))?;
        if strays > 0 {
            wrong.push(format!("{strays} cells of runs that are not there"));
        }
        let mut sums = self.sums()?;
        for summary in self.list(&Filter::default())? {
            if wrong.len() >= SHOWN {
                break;
            }
            let id = summary.id;
            match self.load(id) {
                Ok(run) if run.id() != id => {
                    wrong.push(format!("run {id}: its content has another name: {}", run.id()))
                }
                Ok(run) => {
                    let made = sum(cells::cells(&run).cells.iter().map(|c| [c.size as f64, c.mean, c.median]));
                    if sums.remove(&self.key(id)?).unwrap_or_default() != made {
                        wrong.push(format!("run {id}: its cells are not made of its values"));
                    }
                }
                Err(StoreError::Damaged { what, .. }) => wrong.push(format!("run {id}: {what}")),
                // Deleted by another program since it was listed.
                Err(StoreError::NoSuchRun { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(wrong)
    }

    /// Of each run, something that its cells make.
    fn sums(&self) -> Result<std::collections::HashMap<i64, u64>, StoreError> {
        let mut out = std::collections::HashMap::new();
        self.rows("SELECT run, size, mean, coalesce(median, mean) FROM cell", [], |row| {
            let get = || {
                let cell = [row.get::<_, i64>(1)? as f64, row.get(2)?, row.get(3)?];
                Ok((row.get(0)?, cell))
            };
            let (run, cell) = get().map_err(|e| self.failed(e))?;
            let known: &mut u64 = out.entry(run).or_default();
            *known = known.wrapping_add(sum([cell].into_iter()));
            Ok(())
        })?;
        Ok(out)
    }
}

/// The same for the same cells in any order.
fn sum(cells: impl Iterator<Item = [f64; 3]>) -> u64 {
    let one = |cell: [f64; 3]| {
        // Minus zero comes back as zero.
        let bits = cell.map(|v| (v + 0.0).to_bits());
        bits.into_iter()
            .fold(0x9e37_79b9_7f4a_7c15_u64, |h, b| (h ^ b).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    };
    cells.map(one).fold(0, u64::wrapping_add)
}
