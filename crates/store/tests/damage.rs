//! Files that are no history, or no whole one any more; disks without space; places without permission. Nothing is ever overwritten.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use linerate_bench::{Better, Kind, Metric, Run, Unit};
use linerate_store::{Filter, Options, Store, StoreError, Typical};
use proptest::prelude::*;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn run(number: u32) -> Run {
    let mut run = Run { kind: Kind::Iperf3, tool: Some("iperf3".into()), ..Run::default() };
    run.param("number", Some(number));
    run.host("n1");
    let series = run.series_mut(Metric::new("bandwidth", Unit::Gbps, Better::Higher), &[]);
    (0..200_u32).for_each(|i| series.push(None, Some(f64::from(i)), f64::from((i * 7919 + number * 104_729) % 10_007)));
    run
}

/// A closed history of so many runs.
fn history(runs: u32) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    let runs: Vec<Run> = (0..runs).map(run).collect();
    Store::open(&path).unwrap().add(&runs.iter().map(Into::into).collect::<Vec<_>>(), 0.0).unwrap();
    (dir, path)
}

/// Whether an error says what is the matter with the file. A changed header may claim that it is read-only, or of another form.
fn told(e: &StoreError) -> bool {
    use StoreError::{Damaged, Denied, Foreign, Newer, NoSuchRun, Unfit};
    // A damaged length may say more than a text can have.
    matches!(e, Damaged { .. } | Foreign { .. } | Newer { .. } | Denied { .. } | NoSuchRun { .. } | Unfit { .. })
}

/// Reads and writes all there is to.
fn use_all(path: &Path) -> Result<Vec<String>, StoreError> {
    let mut store = Options { wait: Duration::from_millis(200), ..Options::default() }.open(path)?;
    let wrong = store.verify()?;
    for summary in store.list(&Filter::default())? {
        let loaded = store.load(summary.id);
        if let Ok(run) = loaded {
            store.standing(&run, &Filter::default(), &["number"], Typical::Mean)?;
        }
    }
    store.bands(&Filter::default(), Typical::Median)?;
    store.mixed(&Filter::default(), &[])?;
    store.stats()?;
    store.add(&[(&run(7777)).into()], 1.0)?;
    Ok(wrong)
}

#[test]
fn what_is_not_ours_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let theirs = dir.path().join("theirs.db");
    let db = Connection::open(&theirs).unwrap();
    db.execute_batch("CREATE TABLE run (x); INSERT INTO run VALUES (1); PRAGMA user_version = 1").unwrap();
    drop(db);
    let odd = dir.path().join("odd.db");
    Connection::open(&odd).unwrap().execute_batch("CREATE TABLE t (x); PRAGMA application_id = 252006674").unwrap();
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "not a database\n").unwrap();
    for path in [&theirs, &odd, &text] {
        let before = std::fs::read(path).unwrap();
        for open in [Store::open, Store::read] {
            let refused = open(path).unwrap_err();
            assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
            assert!(refused.to_string().contains("not touched"), "{refused}");
        }
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Foreign { .. })));
    assert!(matches!(Store::read(dir.path().join("none.db")), Err(StoreError::Missing { .. })));
    assert!(matches!(Store::open("/dev/null"), Err(StoreError::Foreign { .. })));
}

#[test]
fn our_header_over_other_tables_is_damage() {
    let (_dir, path) = history(1);
    Connection::open(&path)
        .unwrap()
        .execute_batch("DROP TABLE cell; ALTER TABLE run RENAME COLUMN at TO when_")
        .unwrap();
    assert!(matches!(Store::read(&path).unwrap().list(&Filter::default()), Err(StoreError::Damaged { .. })));
    assert!(matches!(Store::open(&path).unwrap().add(&[(&run(5)).into()], 0.0), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_newer_form_is_refused_and_left_alone() {
    let (_dir, path) = history(1);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let before = std::fs::read(&path).unwrap();
    for open in [Store::open, Store::read] {
        let refused = open(&path).unwrap_err();
        assert!(matches!(refused, StoreError::Newer { found: 9, .. }), "{refused}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// SQLite writes in place: what others could exchange is not written to. Reading follows links.
#[test]
fn a_place_that_others_can_exchange_is_not_written_to() {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    let exposed = |path: &Path| matches!(Store::open(path), Err(StoreError::Exposed { .. }));
    let (dir, path) = history(2);
    let whole = std::fs::read(&path).unwrap();
    let at = |name: &str| dir.path().join(name);
    symlink(&path, at("link.db")).unwrap();
    assert!(exposed(&at("link.db")));
    assert_eq!(Store::read(at("link.db")).unwrap().list(&Filter::default()).unwrap().len(), 2);
    symlink(at("new"), at("dangling.db")).unwrap();
    assert!(exposed(&at("dangling.db")) && !at("new").exists());
    for beside in ["-wal", "-shm", "-journal"] {
        let beside = at(&format!("history.db{beside}"));
        let _ = std::fs::remove_file(&beside);
        symlink(at("victim"), &beside).unwrap();
        assert!(exposed(&path), "{}", beside.display());
        std::fs::remove_file(&beside).unwrap();
    }
    let mode = |mode| std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    for (open, refused) in [(0o777, true), (0o702, true), (0o1777, false), (0o770, false), (0o755, false)] {
        mode(open);
        assert_eq!((exposed(&path), exposed(&at("none.db"))), (refused, refused), "{open:o}");
        let _ = std::fs::remove_file(at("none.db"));
    }
    mode(0o1777);
    if chown(&path, Some(1), Some(1)).is_ok() {
        assert!(exposed(&path), "planted by another user");
        mode(0o700);
        assert!(Store::open(&path).is_ok(), "shared on purpose");
    }
    assert_eq!(std::fs::read(&path).unwrap().len(), whole.len());
    assert!(!at("victim").exists());
}

#[test]
fn a_cut_file_is_damaged_and_stays() {
    let (_dir, path) = history(40);
    let whole = std::fs::read(&path).unwrap();
    for keep in [50, 99, 100, 4096, 5000, whole.len() / 2, whole.len() - 4096] {
        std::fs::write(&path, &whole[..keep]).unwrap();
        let refused = use_all(&path).unwrap_err();
        assert!(matches!(refused, StoreError::Damaged { .. }), "{keep}: {refused}");
        assert_eq!(std::fs::read(&path).unwrap(), whole[..keep], "{keep}");
    }
    // SQLite, too, takes an empty file for a new database; with a log beside it, it does not.
    std::fs::write(&path, b"").unwrap();
    let log = path.with_file_name("history.db-wal");
    std::fs::write(&log, b"what was not yet in the file").unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::Damaged { .. })));
    assert!(log.exists());
    std::fs::remove_file(&log).unwrap();
    assert!(Store::open(&path).unwrap().is_new());
    std::fs::write(&path, vec![0; 8192]).unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_wrong_byte_in_a_value_is_never_believed() {
    let (_dir, path) = history(1);
    let db = Connection::open(&path).unwrap();
    db.execute("UPDATE series SET points = CAST(substr(points, 1, 60) || X'5a' || substr(points, 62) AS BLOB)", [])
        .unwrap();
    drop(db);
    let store = Store::read(&path).unwrap();
    let refused = store.load(run(0).id()).unwrap_err();
    assert!(refused.to_string().contains("checksum"), "{refused}");
    assert!(store.verify().unwrap()[0].contains("checksum"));
    let (_dir, path) = history(2);
    Connection::open(&path).unwrap().execute("UPDATE cell SET mean = mean + 1 WHERE run = 2", []).unwrap();
    assert_eq!(Store::read(&path).unwrap().verify().unwrap().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_anywhere_are_no_panic(at: prop::sample::Index, bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        thread_local!(static WHOLE: Vec<u8> = { let (_dir, path) = history(12); std::fs::read(path).unwrap() });
        let mut file = WHOLE.with(Clone::clone);
        let at = at.index(file.len());
        let end = (at + bytes.len()).min(file.len());
        file[at..end].copy_from_slice(&bytes[..end - at]);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.db");
        std::fs::write(&path, &file).unwrap();
        if let Err(e) = Store::open(&path) {
            prop_assert!(told(&e), "{e:?}");
            prop_assert!(std::fs::read(&path).unwrap() == file);
        }
        if let Err(e) = use_all(&path) {
            prop_assert!(told(&e), "{e:?}");
        }
        // What can still be loaded is what was stored.
        if let Ok(store) = Store::read(&path) {
            for number in 0..12 {
                if let Ok(back) = store.load(run(number).id()) {
                    prop_assert_eq!(&back.series[0].points, &run(number).series[0].points);
                }
            }
        }
    }
}

#[test]
fn a_full_database_takes_nothing_and_loses_nothing() {
    let Some(mount) = Mounted::new("tmpfs", &["-t", "tmpfs", "-o", "size=1m", "none"]) else { return };
    let path = mount.0.path().join("history.db");
    let mut store = Store::open(&path).unwrap();
    store.add(&[(&run(0)).into()], 0.0).unwrap();
    let many: Vec<Run> = (1..3000).map(run).collect();
    let full = store.add(&many.iter().map(Into::into).collect::<Vec<_>>(), 1.0).unwrap_err();
    assert!(matches!(full, StoreError::Full { .. }), "{full}");
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
    assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    drop(store);
    assert_eq!(Store::open(&path).unwrap().load(run(0).id()).unwrap(), run(0));
}

#[test]
fn a_place_that_may_not_be_written_can_be_read() {
    let (dir, path) = history(3);
    let Some(mount) = Mounted::new("bind", &["--bind", dir.path().to_str().unwrap()]) else { return };
    if !Command::new("mount").args(["-o", "remount,bind,ro"]).arg(mount.0.path()).status().unwrap().success() {
        println!("SKIPPED: no read-only mount here");
        return;
    }
    let frozen = mount.0.path().join("history.db");
    assert_eq!(Store::read(&frozen).unwrap().load(run(2).id()).unwrap(), run(2));
    let refused = use_all(&frozen).unwrap_err();
    assert!(matches!(refused, StoreError::Denied { .. }), "{refused}");
    let refused = Store::open(mount.0.path().join("new").join("x.db")).unwrap_err();
    assert!(matches!(refused, StoreError::Denied { .. }), "{refused}");
    drop(mount);
    assert_eq!(Store::read(&path).unwrap().stats().unwrap().runs, 3);
}

/// A mount, taken away in the end.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(what: &str, args: &[&str]) -> Option<Mounted> {
        let dir = tempfile::tempdir().unwrap();
        let done = Command::new("mount").args(args).arg(dir.path()).output().is_ok_and(|o| o.status.success());
        if !done {
            println!("SKIPPED: {what} may not be mounted here");
        }
        done.then(|| Mounted(dir))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}
