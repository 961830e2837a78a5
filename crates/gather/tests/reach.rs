//! Which nodes are reached, over an sshd of our own: each cause is told apart, and one that hangs costs no more than its limit.

#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "../../transport/tests/common/mod.rs"]
mod common;

use common::Sshd;
use linerate_gather::Target;
use linerate_gather::reach::{Cause, reach};
use linerate_transport::Cancel;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn causes_are_told_apart() {
    let Some(sshd) = Sshd::start() else { return };
    // It takes connections and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hang = format!("127.0.0.1:{}", silent.local_addr().unwrap().port());
    let target = |name: &str, host: &str, more: &[&str]| {
        let options = more.iter().map(|o| (*o).to_owned()).chain(sshd.options()).collect();
        Target { name: name.to_owned(), spec: host.parse().unwrap(), sudo: false, ssh_options: options }
    };
    let strict = ["StrictHostKeyChecking=yes", "UserKnownHostsFile=/dev/null", "GlobalKnownHostsFile=/dev/null"];
    let mut targets = vec![
        target("key", &sshd.host(), &strict),
        target("denied", &sshd.host(), &["PubkeyAuthentication=no"]),
        target("refused", "127.0.0.1:1", &[]),
        target("name", "no-such-host.invalid", &[]),
        target("hang", &hang, &[]),
        target("local", "local", &[]),
    ];
    targets.extend((0..6).map(|i| target(&format!("good{i}"), &sshd.host(), &[])));
    let done = AtomicUsize::new(0);
    let began = Instant::now();
    let count = |n: usize| {
        done.fetch_max(n, Ordering::Relaxed);
    };
    let reached = reach(&targets, 8, Duration::from_secs(6), &Cancel::new(), &count);
    let got: Vec<(String, Option<Cause>)> =
        reached.iter().map(|r| (r.name.clone(), r.failed.as_ref().map(|(c, _)| *c))).collect();
    let mut want = vec![
        ("key", Some(Cause::HostKey)),
        ("denied", Some(Cause::Denied)),
        ("refused", Some(Cause::Refused)),
        ("name", Some(Cause::Name)),
        ("hang", Some(Cause::TimedOut)),
        ("local", None),
    ];
    want.extend(["good0", "good1", "good2", "good3", "good4", "good5"].map(|n| (n, None)));
    assert_eq!(got, want.into_iter().map(|(n, c)| (n.to_owned(), c)).collect::<Vec<_>>(), "{reached:?}");
    assert_eq!(done.load(Ordering::Relaxed), targets.len());
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn what_was_cancelled_is_not_begun() {
    let cancel = Cancel::new();
    cancel.cancel();
    let target = Target { name: "a".to_owned(), spec: "local".parse().unwrap(), sudo: false, ssh_options: Vec::new() };
    assert_eq!(reach(&[target], 4, Duration::from_secs(5), &cancel, &|_| ()), []);
}
