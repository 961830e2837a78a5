//! A run ends when it must, and nothing is left of it.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::common;

use common::{all_gone, have, kill, measured, prepared, processes, request, wait_for, word};
use linerate_runner::{Event, Stopped, Why};
use linerate_transport::Cancel;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn more_than_the_traffic_budget_is_killed() {
    if !have(&["iperf3"]) {
        return;
    }
    let word = word("traffic");
    let mut request = request("iperf3-reverse", &word);
    request.seconds = 20;
    request.max_bytes = Some(50_000_000);
    let began = Instant::now();
    let measured = measured("local", &request, &mut |_| {});
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    assert_eq!(measured.stopped, Some(Stopped::OverBudget));
    assert!(matches!(measured.failures[0].why, Why::OverTraffic(m, 50_000_000) if m > 50_000_000));
    all_gone(&word);
}

/// iperf3's client may end with 0 then, and only its JSON says that the server has terminated.
#[test]
fn a_run_whose_server_is_ended_is_no_result() {
    if !have(&["iperf3"]) {
        return;
    }
    let word = word("ended");
    let mut request = request("iperf3-reverse", &word);
    request.seconds = 20;
    let mut ended = false;
    let began = Instant::now();
    let measured = measured("local", &request, &mut |event| {
        if let Event::Progress { moved: Some(1..), .. } = event
            && !ended
        {
            let server = |pid: &&u32| {
                let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                line.starts_with(b"iperf3\0-s\0")
            };
            let pids = processes(&word);
            kill("-TERM", *pids.iter().find(server).unwrap());
            ended = true;
        }
    });
    assert!(ended && began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!((measured.outputs.len(), measured.failures.len()), (0, 1));
    let why = &measured.failures[0].why;
    assert!(matches!(why, Why::Said(_) | Why::Exit(1) | Why::ServerDied(_)), "{why:?}");
    all_gone(&word);
}

#[test]
fn more_than_the_time_budget_is_killed() {
    if !have(&["ping"]) {
        return;
    }
    let word = word("time");
    let mut request = request("ping", &word);
    request.seconds = 1;
    request.max_seconds = Some(3);
    // The tool is told to take longer than the plan believes.
    request.variants[0].args = vec!["-c".into(), "1000".into(), "-w".into(), "100".into()];
    let began = Instant::now();
    let measured = measured("local", &request, &mut |_| {});
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert_eq!((measured.stopped, &measured.failures[0].why), (Some(Stopped::OverBudget), &Why::OverTime(3)));
    assert!(measured.failures[0].to_string().contains("bytes from 127.0.0.1"), "{}", measured.failures[0]);
    all_gone(&word);
}

#[test]
fn what_cannot_fit_is_not_begun() {
    if !have(&["ping"]) {
        return;
    }
    let mut request = request("ping", &word("fit"));
    request.repetitions = 100;
    request.max_seconds = Some(30);
    let error = prepared("local", &request, &[]).err().unwrap().to_string();
    assert!(error.contains("it would take about 3 min 40 s, and 30 s are allowed"), "{error}");
}

/// The process that is interrupted: it measures until it is told to end.
#[test]
#[ignore = "a part of the tests below"]
fn interrupted_process() {
    let Ok(word) = std::env::var("LINERATE_TEST_WORD") else { return };
    let mut request = request("iperf3-reverse", &word);
    request.seconds = 60;
    let cancel = Cancel::new();
    signal_hook::flag::register(signal_hook::consts::SIGINT, cancel.flag()).unwrap();
    let measured = prepared("local", &request, &[]).unwrap().measure(&cancel, &mut |_| {});
    assert_eq!((measured.stopped, &measured.failures[0].why), (Some(Stopped::Cancelled), &Why::Cancelled));
    std::process::exit(130);
}

fn interrupt(signal: &str, test: &str) -> Option<i32> {
    let word = word(test);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "limits::interrupted_process"])
        .env("LINERATE_TEST_WORD", &word)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Both sides, and the guards of both.
    let both = || processes(&word).iter().filter(|p| is(**p, "iperf3")).count() >= 2;
    wait_for("client and server", both);
    std::thread::sleep(Duration::from_millis(300));
    common::kill(signal, child.id());
    let began = Instant::now();
    let status = child.wait().unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    all_gone(&word);
    status.code()
}

fn is(pid: u32, name: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|c| c.trim() == name)
}

#[test]
fn ctrl_c_leaves_nothing_on_either_side() {
    if have(&["iperf3"]) {
        assert_eq!(interrupt("-INT", "int"), Some(130));
    }
}

/// Not even time to clean up: the guards do.
#[test]
fn a_killed_linerate_leaves_nothing_on_either_side() {
    if have(&["iperf3"]) {
        assert_eq!(interrupt("-KILL", "kill"), None);
    }
}

#[test]
fn cancelled_before_and_in_the_middle() {
    if !have(&["ping"]) {
        return;
    }
    let word = word("cancel");
    let mut request = request("ping", &word);
    request.seconds = 30;
    let prepared = prepared("local", &request, &[]).unwrap();
    let cancel = Cancel::new();
    let began = Instant::now();
    let measured = prepared.measure(&cancel, &mut |event| {
        if let Event::Line { .. } = event {
            cancel.cancel();
        }
    });
    assert!(began.elapsed() < Duration::from_secs(8));
    assert_eq!((measured.stopped, measured.failures.len()), (Some(Stopped::Cancelled), 1));
    let measured = prepared.measure(&cancel, &mut |_| {});
    assert_eq!((measured.stopped, measured.outputs.len()), (Some(Stopped::Cancelled), 0));
    all_gone(&word);
}
