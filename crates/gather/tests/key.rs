//! The operator's key is kept while a run goes on: what a run that is killed collected can be read back.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_gather::fan::{Collector, Options, collect};
use linerate_gather::inventory::{Request, Settings, load};
use linerate_snapshot::RedactKey;
use linerate_transport::Cancel;

#[test]
fn names_are_saved_before_the_run_ends() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k");
    let settings = Settings { directory: dir.path().to_owned(), ..Settings::default() };
    let targets = load(&Request::default(), &settings).unwrap().targets("local").unwrap();
    let options = Options {
        directory: dir.path().join("fleet"),
        fanout: 1,
        limit: std::time::Duration::from_secs(120),
        redact: true,
        key: Some(RedactKey::open(&file).unwrap()),
        leave_nothing: false,
        collector: Collector::Auto,
        programs: Vec::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        lists: Default::default(),
        fresh: None,
        purpose: linerate_snapshot::capture::Purpose::Collect,
    };
    let lines = || std::fs::read_to_string(&file).unwrap().lines().count();
    assert_eq!(lines(), 2, "its head and the key");
    let mut during = 0;
    let summary = collect(&targets, &options, &Cancel::new(), &mut |p| {
        if p.done == p.all {
            during = lines();
        }
    })
    .unwrap();
    assert!(summary.failed().is_empty(), "{summary:?}");
    assert!(during > 2, "{during}");
}
