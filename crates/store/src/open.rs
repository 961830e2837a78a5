//! Opening a history: ours or refused, never altered before that is known.

use crate::error::{StoreError, WAIT_S};
use crate::look::{look, waiting};
use crate::place;
use crate::schema::{self, FORM, Form, STEPS};
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The history of runs: one SQLite file.
///
/// Several programs may read and write it at once. A write is one transaction: it happens as a whole or not at all, also when the
/// program is killed, the disk is full or the power fails.
#[derive(Debug)]
pub struct Store {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
    pub(crate) wait: Duration,
    created: bool,
}

/// How to open a history.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// For queries only: nothing is created, migrated or changed.
    pub read_only: bool,
    /// How long to wait for other writers.
    pub wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options { read_only: false, wait: Duration::from_secs(WAIT_S) }
    }
}

impl Store {
    /// Opens a history for writing; makes it, with its directories (for the user alone), where there is none, and brings an older one up to date.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Newer`], [`StoreError::Damaged`] and [`StoreError::Exposed`] leave the file as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        Options::default().open(path.as_ref())
    }

    /// Opens a history for queries. Works where nothing may be written, too.
    ///
    /// # Errors
    /// [`StoreError::Missing`] where there is none; the others as for [`Store::open`].
    pub fn read(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        Options { read_only: true, ..Options::default() }.open(path.as_ref())
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether opening made it.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.created
    }

    /// An error of SQLite, with the path.
    pub(crate) fn failed(&self, e: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, self.wait.as_secs(), e)
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into() }
    }
}

impl Options {
    /// Opens a history so.
    ///
    /// # Errors
    /// As [`Store::open`] and [`Store::read`].
    pub fn open(self, path: &Path) -> Result<Store, StoreError> {
        if !self.read_only {
            place::fit(path)?;
        }
        let there = look(path)?;
        if self.read_only && !there {
            return Err(StoreError::Missing { path: path.to_path_buf() });
        }
        if !there {
            directory(path)?;
        }
        let failed = |e| StoreError::sqlite(path, self.wait.as_secs(), e);
        let (db, form) = match self.prepared(path) {
            Err(e) if self.read_only && may_not_write(&e) && !["-wal", "-journal"].iter().any(|s| waiting(path, s)) => {
                self.frozen(path)
            }
            other => other,
        }
        .map_err(failed)?;
        let mut store = Store { db, path: path.to_path_buf(), wait: self.wait, created: false };
        let (path, known) = (store.path.clone(), FORM);
        match form {
            Form::Current => {}
            Form::Older(found) if self.read_only => return Err(StoreError::Older { path, found, known }),
            Form::Older(found) => match schema::migrate(&mut store.db, STEPS).map_err(failed)? {
                Form::Newer(found) => return Err(StoreError::Newer { path, found, known }),
                Form::Current => store.created = found == 0,
                _ => {
                    return Err(StoreError::Foreign { path, what: "an SQLite database of another program".to_owned() });
                }
            },
            Form::Newer(found) => return Err(StoreError::Newer { path, found, known }),
            Form::Foreign => {
                return Err(StoreError::Foreign { path, what: "an SQLite database of another program".to_owned() });
            }
        }
        if !self.read_only {
            self.journal(&store.db, &store.path).map_err(failed)?;
        }
        Ok(store)
    }

    fn prepared(self, path: &Path) -> rusqlite::Result<(Connection, Form)> {
        let access = if self.read_only {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        } else {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        };
        let db = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        self.guarded(db)
    }

    /// On a file system that may not be written, SQLite cannot take the locks of a write-ahead log; where no log is pending, the file
    /// alone is the whole history and is read without locks.
    fn frozen(self, path: &Path) -> rusqlite::Result<(Connection, Form)> {
        let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let mut uri = "file:".to_owned();
        for byte in std::os::unix::ffi::OsStrExt::as_bytes(absolute.as_os_str()) {
            match byte {
                b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
                b if b.is_ascii_alphanumeric() => uri.push(char::from(*b)),
                b => uri.push_str(&format!("%{b:02x}")),
            }
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        self.guarded(Connection::open_with_flags(uri + "?immutable=1", flags)?)
    }

    /// The file may have been made by anybody: nothing in its schema is run, nothing huge is read.
    fn guarded(self, mut db: Connection) -> rusqlite::Result<(Connection, Form)> {
        db.busy_timeout(self.wait)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        db.set_limit(Limit::SQLITE_LIMIT_LENGTH, 64 << 20)?;
        db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        db.pragma_update(None, "cell_size_check", true)?;
        db.pragma_update(None, "foreign_keys", true)?;
        db.pragma_update(None, "query_only", self.read_only)?;
        // 64 MiB: a large import would otherwise write its pages several times.
        db.pragma_update(None, "cache_size", -65536)?;
        db.set_prepared_statement_cache_capacity(64);
        // What says the form is read at one moment: between two reads, another program may make the tables.
        let moment = db.transaction()?;
        let form = schema::form(&moment, STEPS)?;
        moment.finish()?;
        Ok((db, form))
    }

    /// A write-ahead log: readers and a writer do not wait for each other, and what a killed program leaves is sorted out by the next
    /// one. `synchronous = FULL` rather than NORMAL: a commit is then on the disk and not merely consistent, and an fsync is nothing
    /// beside the minutes that a measurement takes.
    ///
    /// The log needs memory that all writers share, so it cannot serve several hosts: on network file systems, where homes of clusters
    /// lie, the rollback journal is used, whose locks NFS understands. A history that has it keeps it, because other hosts may be
    /// reaching the same file through such a mount.
    fn journal(self, db: &Connection, path: &Path) -> rusqlite::Result<()> {
        db.pragma_update(None, "synchronous", "FULL")?;
        let network = crate::network::is_network(path);
        let mode: String = db.pragma_query_value(None, "journal_mode", |r| r.get(0))?;
        let empty: bool = db.query_row("SELECT NOT EXISTS (SELECT 1 FROM run)", [], |r| r.get(0))?;
        let want = match (mode.as_str(), network) {
            ("wal", true) => "DELETE",
            ("delete", false) if empty => "WAL",
            _ => return Ok(()),
        };
        let end = Instant::now() + self.wait;
        loop {
            // Changing the mode does not wait for other connections by itself.
            match db.pragma_update_and_check(None, "journal_mode", want, |r| r.get::<_, String>(0)) {
                Err(rusqlite::Error::SqliteFailure(e, _))
                    if matches!(e.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
                        && Instant::now() < end =>
                {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return other.map(drop),
            }
        }
    }
}

fn may_not_write(e: &rusqlite::Error) -> bool {
    matches!(e, rusqlite::Error::SqliteFailure(e, _) if matches!(e.code, ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Makes the directories that are missing, for the user alone, as the XDG specification asks.
fn directory(path: &Path) -> Result<(), StoreError> {
    let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) else { return Ok(()) };
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
    made.map_err(|e| StoreError::Denied { path: path.to_path_buf(), what: format!("{}: {e}", parent.display()) })
}
