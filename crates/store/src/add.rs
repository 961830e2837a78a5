//! Runs into the history.

use crate::cells::{self, Cell, Subject};
use crate::imported::{Added, Imported, Reread, TextRef};
use crate::points::{self, PART};
use crate::{Store, StoreError};
use linerate_bench::{Kind, Label, Param, Point, Run, RunId, Stat};
use linerate_snapshot::without_secrets;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params, types::Value};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

impl Store {
    /// Stores runs, all of them or, where that fails, none. A run that is there already is not stored twice: neither one with the same
    /// content, nor one that was read from the same place of the same text. Labels and the name of the side are stored without secrets;
    /// [`linerate_bench::import`] removed those of the runs.
    ///
    /// `now`: seconds of the Unix epoch; lists order runs by it whose output does not say when they began.
    ///
    /// # Errors
    /// [`StoreError::Unfit`] for what would not come back as it is; [`StoreError::Full`], [`StoreError::Locked`], [`StoreError::Denied`].
    pub fn add(&mut self, runs: &[Imported<'_>], now: f64) -> Result<Added, StoreError> {
        let ids: Vec<RunId> = runs.iter().map(|i| i.run.id()).collect();
        let mut prepared = Vec::with_capacity(runs.len());
        for (imported, id) in runs.iter().zip(&ids) {
            fit(imported, *id)?;
            prepared.push((imported, *id));
        }
        let failed = |e| StoreError::sqlite(&self.path, self.wait.as_secs(), e);
        // The lock is taken before anything is looked up, so nobody can add the same run in between.
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let given: HashSet<RunId> = ids.iter().copied().collect();
        let mut writer = Writer { tx: &tx, now, subjects: HashMap::new(), cells: Vec::new() };
        let mut added = Added::default();
        for (imported, id) in prepared {
            writer.one(imported, id, &given, &mut added).map_err(failed)?;
        }
        writer.flush().map_err(failed)?;
        drop(writer);
        tx.commit().map_err(failed)?;
        Ok(added)
    }
}

/// What SQLite or the schema would change.
fn fit(imported: &Imported<'_>, id: RunId) -> Result<(), StoreError> {
    let unfit = |why: String| Err(StoreError::Unfit { what: format!("run {id} ({})", imported.run.source.name), why });
    for s in &imported.run.series {
        let stat = s.metric.stat;
        if Stat::of_name(&stat.to_string()) != Some(stat) {
            return unfit(format!("{stat} of {} is not a statistic", s.metric.name));
        }
    }
    if imported.run.began.is_some_and(|t| !t.is_finite()) {
        return unfit("it began at no finite time".to_owned());
    }
    for s in imported.snapshots {
        if s.facts.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>() > 1 << 20 {
            return unfit(format!("the facts of the snapshot of {} are larger than 1 MiB", s.host));
        }
    }
    Ok(())
}

/// Cells that are held back, to be written in order: 14 MB.
const CELLS: usize = 1 << 18;

/// Subjects of a transaction that are remembered; beyond, all are forgotten and looked up again: some 10 MB.
const SUBJECTS: usize = 1 << 15;

type SubjectKey = (Kind, Option<SmolStr>, cells::Key);

struct Writer<'a> {
    tx: &'a Transaction<'a>,
    now: f64,
    /// Those of this transaction, with their keys in the database, by kind, tool and [`Subject::key`].
    subjects: HashMap<SubjectKey, Vec<(Subject, i64)>>,
    /// Subject, size, run.
    cells: Vec<(i64, i64, i64, Cell)>,
}

impl Writer<'_> {
    fn one(&mut self, i: &Imported<'_>, id: RunId, given: &HashSet<RunId>, added: &mut Added) -> rusqlite::Result<()> {
        let text = id.to_string();
        let find = "SELECT key FROM run WHERE id = ?1";
        let known: Option<i64> = self.tx.prepare_cached(find)?.query_row([&text], |r| r.get(0)).optional()?;
        let key = match (known, i.text) {
            (Some(key), _) => {
                added.known.push(id);
                key
            }
            (None, Some(place)) => match self.reading(place, given)? {
                Some((key, stored)) => {
                    added.read_differently.push(Reread { stored, given: id });
                    key
                }
                None => self.insert(i.run, &text, id, added)?,
            },
            (None, None) => self.insert(i.run, &text, id, added)?,
        };
        self.beside(key, i)
    }

    /// The run that was read from this place before. One that this import has as well, elsewhere in the text, does not count: the reader has
    /// learned to see a further run before it.
    fn reading(&self, at: TextRef<'_>, given: &HashSet<RunId>) -> rusqlite::Result<Option<(i64, RunId)>> {
        let sql = "SELECT run.key, run.id FROM text JOIN run ON run.key = text.run WHERE digest = ?1 AND ordinal = ?2";
        let mut query = self.tx.prepare_cached(sql)?;
        let mut rows = query.query(params![at.digest, at.ordinal])?;
        while let Some(row) = rows.next()? {
            if let Ok(id) = row.get_ref(1)?.as_str()?.parse::<RunId>()
                && !given.contains(&id)
            {
                return Ok(Some((row.get(0)?, id)));
            }
        }
        Ok(None)
    }

    fn insert(&mut self, run: &Run, text: &str, id: RunId, added: &mut Added) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO run (id, kind, tool, version, began, stored, at, valid, source, line)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        self.tx.prepare_cached(sql)?.execute(params![
            text,
            run.kind.name(),
            run.tool.as_deref(),
            run.version.as_deref(),
            run.began,
            self.now,
            run.began.unwrap_or(self.now),
            run.is_valid(),
            run.source.name,
            run.source.line
        ])?;
        let key = self.tx.last_insert_rowid();
        let mut host = self.tx.prepare_cached("INSERT INTO run_host VALUES (?1, ?2, ?3)")?;
        for (place, name) in run.hosts.iter().enumerate() {
            host.execute(params![key, place as i64, name.as_str()])?;
        }
        let mut param = self.tx.prepare_cached("INSERT INTO run_param VALUES (?1, ?2, ?3, ?4)")?;
        for (name, value) in &run.params {
            let (form, value) = stored(value);
            param.execute(params![key, name.as_str(), form, value])?;
        }
        let mut remark = self.tx.prepare_cached("INSERT INTO run_remark VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let faults = run.faults.iter().map(|f| (if f.whole_run { "fault" } else { "flaw" }, &f.what, f.line));
        for (place, (form, what, line)) in faults.chain(run.notes.iter().map(|n| ("note", &n.what, n.line))).enumerate()
        {
            remark.execute(params![key, place as i64, form, what, line])?;
        }
        self.values(key, run)?;
        added.new.push(id);
        Ok(key)
    }

    fn values(&mut self, key: i64, run: &Run) -> rusqlite::Result<()> {
        let found = cells::cells(run);
        let subjects = found.subjects.into_iter().map(|s| self.subject(run, s)).collect::<Result<Vec<i64>, _>>()?;
        let subject = |i: usize| subjects.get(i).copied();
        let mut series = self.tx.prepare_cached("INSERT INTO series VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        for ((place, s), of) in run.series.iter().enumerate().zip(found.of_series) {
            let labels = json(&s.labels);
            let mut all = s.points.iter();
            // One part, where there is no point.
            for part in 0..s.points.len().div_ceil(PART).max(1) {
                let points: Vec<Point> = all.by_ref().take(PART).collect();
                let blob = points::encode(&points);
                series.execute(params![
                    key,
                    place as i64,
                    part as i64,
                    subject(of),
                    labels,
                    points.len() as i64,
                    blob
                ])?;
            }
        }
        self.cells.extend(found.cells.iter().filter_map(|c| Some((subject(c.subject)?, c.size, key, *c))));
        if self.cells.len() >= CELLS { self.flush() } else { Ok(()) }
    }

    /// Writes the cells in the order of their table: one by one, each would go to another page.
    fn flush(&mut self) -> rusqlite::Result<()> {
        self.cells.sort_unstable_by_key(|c| (c.0, c.1, c.2));
        let mut cell = self.tx.prepare_cached("INSERT INTO cell VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        for (subject, size, run, c) in self.cells.drain(..) {
            cell.execute(params![subject, size, run, c.n, c.mean, (c.median != c.mean).then_some(c.median)])?;
        }
        Ok(())
    }

    fn subject(&mut self, run: &Run, subject: Subject) -> rusqlite::Result<i64> {
        let of = (run.kind, run.tool.clone(), subject.key());
        if let Some((_, key)) = self.subjects.get(&of).and_then(|same| same.iter().find(|s| s.0 == subject)) {
            return Ok(*key);
        }
        let m = &subject.metric;
        let (kind, tool) = (run.kind.name(), run.tool.as_deref());
        let (unit, stat, better, labels) = (m.unit.name(), m.stat.to_string(), m.better.name(), json(&subject.labels));
        let values = params![kind, tool, m.name.as_str(), unit, stat, better, labels];
        let sql = "SELECT key FROM subject WHERE kind = ?1 AND tool IS ?2 AND metric = ?3 AND unit = ?4 AND stat = ?5
                   AND better = ?6 AND labels = ?7";
        let known: Option<i64> = self.tx.prepare_cached(sql)?.query_row(values, |r| r.get(0)).optional()?;
        let key = match known {
            Some(key) => key,
            None => {
                let sql = "INSERT INTO subject (kind, tool, metric, unit, stat, better, labels)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
                self.tx.prepare_cached(sql)?.execute(values)?;
                self.tx.last_insert_rowid()
            }
        };
        if self.subjects.len() >= SUBJECTS {
            self.subjects.clear();
        }
        self.subjects.entry(of).or_default().push((subject, key));
        Ok(key)
    }

    /// What belongs to a run and is no part of it.
    fn beside(&self, key: i64, i: &Imported<'_>) -> rusqlite::Result<()> {
        if let Some(text) = i.text {
            let sql = "INSERT OR IGNORE INTO text VALUES (?1, ?2, ?3)";
            self.tx.prepare_cached(sql)?.execute(params![text.digest, text.ordinal, key])?;
        }
        for label in i.labels {
            let label = without_secrets(label);
            self.tx.prepare_cached("INSERT OR IGNORE INTO run_label VALUES (?1, ?2)")?.execute(params![key, label])?;
        }
        if let Some(place) = i.place {
            let side = place.side.map(without_secrets);
            let sql = "UPDATE run SET session = ?2, side = ?3, position = ?4 WHERE key = ?1 AND session IS NULL";
            self.tx.prepare_cached(sql)?.execute(params![key, place.session, side, place.position])?;
        }
        for s in i.snapshots {
            let facts = serde_json::to_string(&s.facts).unwrap_or_default();
            let sql = "INSERT OR IGNORE INTO snapshot (digest, host, label, path, taken, facts) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            self.tx.prepare_cached(sql)?.execute(params![s.digest, s.host, s.label, s.path, s.taken, facts])?;
            let sql = "INSERT OR IGNORE INTO run_snapshot SELECT ?1, key FROM snapshot WHERE digest = ?2 AND host = ?3";
            self.tx.prepare_cached(sql)?.execute(params![key, s.digest, s.host])?;
        }
        Ok(())
    }
}

/// A parameter with the name of its form.
fn stored(value: &Param) -> (&'static str, Value) {
    match value {
        Param::Flag(v) => ("flag", Value::Integer(i64::from(*v))),
        Param::Int(v) => ("int", Value::Integer(*v)),
        // SQLite has no NaN: it becomes NULL, which is read as NaN again.
        Param::Real(v) => ("real", Value::Real(*v)),
        Param::Text(v) => ("text", Value::Text(v.to_string())),
    }
}

/// Labels as a JSON array of pairs.
pub(crate) fn json(labels: &[Label]) -> String {
    let pairs: Vec<[&str; 2]> = labels.iter().map(|l| [l.key.as_str(), l.value.as_str()]).collect();
    serde_json::to_string(&pairs).unwrap_or_default()
}
