//! Several writers, and writers that die.
#![allow(clippy::unwrap_used)]

use linerate_bench::{Better, Kind, Metric, Run, Unit};
use linerate_store::{Filter, Imported, Options, Store, StoreError};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

const WHO: &str = "LINERATE_TEST_WRITER";
const WHERE: &str = "LINERATE_TEST_STORE";

fn run(writer: u32, number: u32) -> Run {
    let mut run = Run { kind: Kind::Perftest, ..Run::default() };
    run.param("writer", Some(writer));
    run.param("number", Some(number));
    run.series_mut(Metric::new("bandwidth", Unit::Gbps, Better::Higher), &[]).push(Some(65536), None, 390.0);
    run
}

/// No test by itself: what the other processes run.
#[test]
fn writer() {
    let (Ok(who), Some(path)) = (std::env::var(WHO), std::env::var_os(WHERE)) else { return };
    let path = PathBuf::from(path);
    match who.as_str() {
        // Ten runs at a time until it is killed.
        "endless" => {
            for batch in 0.. {
                let runs: Vec<Run> = (0..10).map(|i| run(batch, i)).collect();
                let imported: Vec<Imported<'_>> = runs.iter().map(Imported::from).collect();
                Store::open(&path).unwrap().add(&imported, 0.0).unwrap();
            }
        }
        "refused" => {
            let options = Options { wait: Duration::from_millis(50), ..Options::default() };
            let refused = options.open(&path).and_then(|mut s| s.add(&[(&run(7, 7)).into()], 0.0).map(drop));
            assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
        }
        number => write(&path, number.parse().unwrap(), 20),
    }
}

fn write(path: &Path, writer: u32, runs: u32) {
    for number in 0..runs {
        let own = run(writer, number);
        // All writers have this one.
        let shared = run(999, number);
        Store::open(path).unwrap().add(&[(&own).into(), (&shared).into()], 0.0).unwrap();
    }
}

fn spawn(who: &str, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::writer"]).env(WHO, who).env(WHERE, path).stdout(Stdio::piped()).spawn().unwrap()
}

/// A writer's end; what it printed, where it failed.
fn ended_well(child: Child) {
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

#[test]
fn nothing_of_many_writers_is_lost_or_doubled() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new").join("history.db");
    let children: Vec<Child> = (0..4).map(|i| spawn(&i.to_string(), &path)).collect();
    std::thread::scope(|s| {
        (4..7).for_each(|i| {
            drop(s.spawn({
                let path = &path;
                move || write(path, i, 20)
            }))
        })
    });
    children.into_iter().for_each(ended_well);
    let store = Store::read(&path).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 7 * 20 + 20);
    assert_eq!(store.verify().unwrap(), Vec::<String>::new());
}

/// Whoever opens a history while another makes it sees none or ours, never one that is half made.
#[test]
fn those_who_open_at_once_find_their_own_history() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..100 {
        let path = dir.path().join(format!("{round}.db"));
        let start = Barrier::new(4);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    start.wait();
                    Store::open(&path).unwrap();
                });
            }
        });
    }
}

#[test]
fn a_killed_writer_leaves_whole_transactions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    let mut seen = 0;
    for round in 0..12 {
        let mut child = spawn("endless", &path);
        // From before it has made the file to the middle of its work.
        std::thread::sleep(Duration::from_millis(10 + 23 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::open(&path).unwrap();
        let runs = store.list(&Filter::default()).unwrap().len();
        assert_eq!(runs % 10, 0, "round {round}");
        assert!(runs >= seen);
        seen = runs;
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    }
    assert!(seen > 0);
}

#[test]
fn one_who_holds_the_lock_too_long_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    Store::open(&path).unwrap().add(&[(&run(0, 0)).into()], 0.0).unwrap();
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE; DELETE FROM run_param").unwrap();
    let mut store = Options { wait: Duration::from_millis(50), ..Options::default() }.open(&path).unwrap();
    let refused = store.add(&[(&run(0, 1)).into()], 0.0);
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    // Readers are not held up, and see what was there before.
    assert_eq!(Store::read(&path).unwrap().load(run(0, 0).id()).unwrap(), run(0, 0));
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.add(&[(&run(0, 1)).into()], 0.0).unwrap().new.len(), 1);
}

/// POSIX locks end when any descriptor of the file is closed by their process, whoever opened it.
#[test]
fn looking_at_a_history_takes_no_lock_away() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    drop(Store::open(&path).unwrap());
    let holder = rusqlite::Connection::open(&path).unwrap();
    // The rollback journal of network file systems: its locks are on the file itself.
    holder.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; DELETE FROM run_param").unwrap();
    let options = Options { wait: Duration::from_millis(50), ..Options::default() };
    assert!(matches!(options.open(&path), Err(StoreError::Locked { .. })));
    ended_well(spawn("refused", &path));
    holder.execute_batch("ROLLBACK").unwrap();
}
