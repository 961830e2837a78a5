//! Runs out of the history, as they went in.

use crate::imported::SnapshotRef;
use crate::{Store, StoreError, points};
use linerate_bench::{Fault, Kind, Label, Note, Param, Points, Run, RunId, Series, Source};
use rusqlite::{OptionalExtension, Params, Row};
use smol_str::SmolStr;

impl Store {
    /// A run, equal to the one that was stored.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; [`StoreError::Damaged`] where what is read is not what was written.
    pub fn load(&self, id: RunId) -> Result<Run, StoreError> {
        // One view on the database, whatever others write meanwhile.
        let view = self.db.unchecked_transaction().map_err(|e| self.failed(e))?;
        let sql = "SELECT key, kind, tool, version, began, source, line FROM run WHERE id = ?1";
        let head = |row: &Row<'_>| {
            let text = |i| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(i)?.map(SmolStr::from));
            let source = Source { name: row.get(5)?, line: row.get(6)? };
            let run = Run { tool: text(2)?, version: text(3)?, began: row.get(4)?, source, ..Run::default() };
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, run))
        };
        let found = self.db.prepare_cached(sql).and_then(|mut q| q.query_row([id.to_string()], head).optional());
        let Some((key, kind, mut run)) = found.map_err(|e| self.failed(e))? else {
            return Err(StoreError::NoSuchRun { path: self.path.clone(), text: id.to_string() });
        };
        run.kind = self.kind(&kind)?;
        run.hosts = self.rows("SELECT host FROM run_host WHERE run = ?1 ORDER BY place", [key], |row| {
            Ok(row.get::<_, String>(0).map_err(|e| self.failed(e))?.into())
        })?;
        self.rows("SELECT key, form, value FROM run_param WHERE run = ?1", [key], |row| {
            let (name, value) = param(row).map_err(|e| self.failed(e))?;
            run.params.insert(name, value.ok_or_else(|| self.damaged("a parameter of no known form"))?);
            Ok(())
        })?;
        self.rows("SELECT form, what, line FROM run_remark WHERE run = ?1 ORDER BY place", [key], |row| {
            self.remark(row, &mut run)
        })?;
        self.series(key, run.kind, &mut run.series)?;
        view.finish().map_err(|e| self.failed(e))?;
        // Pages that hold rows can be lost without SQLite seeing it: the name is made of the content.
        if run.id() != id {
            return Err(self.damaged("a run whose content is not what its name was made of"));
        }
        Ok(run)
    }

    /// Snapshots that belong to a run.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn snapshots(&self, id: RunId) -> Result<Vec<SnapshotRef>, StoreError> {
        let key = self.key(id)?;
        let sql = "SELECT digest, host, label, path, taken, facts FROM snapshot JOIN run_snapshot ON snapshot = key
                   WHERE run = ?1 ORDER BY host, digest";
        self.rows(sql, [key], |row| {
            let e = |e| self.failed(e);
            let facts: String = row.get(5).map_err(e)?;
            Ok(SnapshotRef {
                digest: row.get(0).map_err(e)?,
                host: row.get(1).map_err(e)?,
                label: row.get(2).map_err(e)?,
                path: row.get(3).map_err(e)?,
                taken: row.get(4).map_err(e)?,
                facts: serde_json::from_str(&facts).map_err(|_| self.damaged("facts of a snapshot"))?,
            })
        })
    }

    /// Row number of a run.
    pub(crate) fn key(&self, id: RunId) -> Result<i64, StoreError> {
        let found = self.db.prepare_cached("SELECT key FROM run WHERE id = ?1");
        let found = found.and_then(|mut q| q.query_row([id.to_string()], |r| r.get(0)).optional());
        let none = || StoreError::NoSuchRun { path: self.path.clone(), text: id.to_string() };
        found.map_err(|e| self.failed(e))?.ok_or_else(none)
    }

    /// What the rows of a query give.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut query = self.db.prepare_cached(sql).map_err(|e| self.failed(e))?;
        let mut rows = query.query(params).map_err(|e| self.failed(e))?;
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(|e| self.failed(e))? {
            out.push(each(row)?);
        }
        Ok(out)
    }

    fn remark(&self, row: &Row<'_>, run: &mut Run) -> Result<(), StoreError> {
        let e = |e| self.failed(e);
        let (form, what, line): (String, String, Option<u32>) =
            (row.get(0).map_err(e)?, row.get(1).map_err(e)?, row.get(2).map_err(e)?);
        match form.as_str() {
            "note" => run.notes.push(Note { what, line }),
            "fault" | "flaw" => run.faults.push(Fault { what, line, whole_run: form == "fault" }),
            other => return Err(self.damaged(format!("{other:?} is not a form of a remark"))),
        }
        Ok(())
    }

    fn series(&self, key: i64, kind: Kind, out: &mut Vec<Series>) -> Result<(), StoreError> {
        let sql = "SELECT s.part, s.labels, s.points, j.kind, j.metric, j.unit, j.stat, j.better, s.place
                   FROM series s LEFT JOIN subject j ON j.key = s.subject WHERE s.run = ?1 ORDER BY s.place, s.part";
        let parts = self.rows(sql, [key], |row| {
            let e = |e| self.failed(e);
            let text = |i| row.get::<_, String>(i).map_err(e);
            let (part, place): (i64, i64) = (row.get(0).map_err(e)?, row.get(8).map_err(e)?);
            if part == 0 {
                if self.kind(&text(3)?)? != kind {
                    return Err(self.damaged("a series of another kind of run"));
                }
                let labels = labels_of(&text(1)?).ok_or_else(|| self.damaged("labels of a series"))?;
                let metric = self.metric(text(4)?, &text(5)?, &text(6)?, &text(7)?)?;
                out.push(Series { metric, labels, points: Points::default() });
            }
            let count = out.len() as i64;
            let Some(series) = out
                .last_mut()
                .filter(|s| place == count - 1 && s.points.len() as i64 == part.saturating_mul(points::PART as i64))
            else {
                return Err(self.damaged("parts of a series are missing"));
            };
            let blob = row.get_ref(2).and_then(|b| Ok(b.as_blob()?)).map_err(e)?;
            points::decode(blob, &mut series.points).map_err(|what| self.damaged(what))
        });
        parts.map(drop)
    }
}

/// A parameter; `None` for a form that does not fit its value.
fn param(row: &Row<'_>) -> rusqlite::Result<(SmolStr, Option<Param>)> {
    use rusqlite::types::ValueRef;
    let form: String = row.get(1)?;
    let value = match (form.as_str(), row.get_ref(2)?) {
        ("flag", ValueRef::Integer(v)) => Some(Param::Flag(v != 0)),
        ("int", ValueRef::Integer(v)) => Some(Param::Int(v)),
        ("real", ValueRef::Real(v)) => Some(Param::Real(v)),
        ("real", ValueRef::Null) => Some(Param::Real(f64::NAN)),
        ("text", text @ ValueRef::Text(_)) => Some(Param::Text(text.as_str()?.into())),
        _ => None,
    };
    Ok((row.get::<_, String>(0)?.into(), value))
}

/// Labels out of a JSON array of pairs.
pub(crate) fn labels_of(json: &str) -> Option<Vec<Label>> {
    let pairs: Vec<[SmolStr; 2]> = serde_json::from_str(json).ok()?;
    Some(pairs.into_iter().map(|[key, value]| Label { key, value }).collect())
}
