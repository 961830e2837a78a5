//! Two hosts: this one, and this one over an sshd of our own.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::common;

use common::{Sshd, all_gone, have, prepared, processes, request, word};
use linerate_runner::{Event, Stopped, Why};
use linerate_transport::Cancel;
use std::time::{Duration, Instant};

#[test]
fn a_pair_over_ssh() {
    let Some(sshd) = Sshd::start() else { return };
    if !have(&["iperf3"]) {
        return;
    }
    let word = word("ssh");
    let on = format!("local,{}", sshd.host());
    let prepared = prepared(&on, &request("iperf3-reverse", &word), &sshd.options()).unwrap();
    let measured = prepared.measure(&Cancel::new(), &mut |_| {});
    assert_eq!(measured.failures, []);
    assert!(String::from_utf8_lossy(&measured.outputs[0].bytes).contains("sum_received"));
    all_gone(&word);
}

/// The connection is cut in the middle: both sides end, the client's here and the server's there.
#[test]
fn a_lost_connection() {
    let Some(sshd) = Sshd::start() else { return };
    if !have(&["iperf3"]) {
        return;
    }
    for there in ["server", "client"] {
        let word = word(there);
        let mut request = request("iperf3-reverse", &word);
        request.seconds = 60;
        let (us, it) = ("local".to_owned(), sshd.host());
        let on = if there == "server" { format!("{us},{it}") } else { format!("{it},{us}") };
        let prepared = prepared(&on, &request, &sshd.options()).unwrap();
        let mut tools = Vec::new();
        let began = Instant::now();
        let measured = prepared.measure(&Cancel::new(), &mut |event| {
            if let Event::Progress { moved: Some(1..), .. } = event
                && tools.is_empty()
            {
                tools = processes(&word);
                sshd.signal_sessions("-KILL");
            }
        });
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert!(tools.len() >= 4, "two tools and their guards: {tools:?}");
        assert_eq!(measured.stopped, Some(Stopped::Lost), "{there}: {:?}", measured.failures);
        assert!(matches!(&measured.failures[0].why, Why::Lost(w) if w.contains("connection was lost")));
        println!("{}", measured.failures[0]);
        all_gone(&word);
        for pid in tools {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let state = stat.rsplit(')').next().unwrap_or_default().trim_start().chars().next();
            assert!(matches!(state, None | Some('Z')), "{pid} is {state:?}");
        }
    }
}
