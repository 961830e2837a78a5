//! Two hosts: this one, and this one over an sshd of our own.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::{Sshd, all_gone, have, prepared, processes, request, wait_for, word};
use linerate_runner::transport::{Command, Heard, Ssh, Transport, TransportError};
use linerate_runner::{Cancel, Event, Stopped, Why};
use std::time::{Duration, Instant};

fn ssh(sshd: &Sshd) -> Ssh {
    Ssh::new("127.0.0.1", Some(sshd.port), &sshd.options()).unwrap()
}

#[test]
fn words_arrive_as_they_are() {
    let Some(sshd) = Sshd::start() else { return };
    let ssh = ssh(&sshd);
    let words =
        ["a b", "it's", "$HOME", "`x`", "back\\slash", "new\nline", "", "*", "~", "-n", "ä", "\"q\"", "a;b", "&"];
    let argv = ["printf", "%s|"].iter().chain(&words).map(|w| (*w).to_owned());
    let ran = ssh.run(&Command::new(argv), &|| false).unwrap();
    assert_eq!(ran.text(), words.map(|w| format!("{w}|")).concat());
    let env = [("A".to_owned(), "it's $x".to_owned())];
    let ran = ssh.run(&Command::script("printf '%s' \"$A\"; echo e >&2; exit 9", &[]).env(&env), &|| false).unwrap();
    assert_eq!((ran.status, ran.text().as_str(), ran.stderr.as_slice()), (9, "it's $x", b"e\n".as_slice()));
}

/// Of a connection of its own, also where another one is shared, and whatever the host says before it lets anybody in.
#[test]
fn the_key_of_the_host() {
    let Some(sshd) = Sshd::start() else { return };
    let ssh = ssh(&sshd);
    assert_eq!(ssh.run(&Command::new(["true"]), &|| false).unwrap().status, 0);
    let key = ssh.host_key(&|| false).unwrap().unwrap();
    assert!(key.starts_with("SHA256:") && key == sshd.key(), "{key}");
    let nobody = Ssh::new("127.0.0.1", Some(1), &sshd.options()).unwrap();
    assert!(nobody.host_key(&|| false).is_err());
}

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
        assert_eq!(measured.stopped, Some(Stopped::Lost), "{there}");
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

/// A network that says nothing any more: the guard ends what it guards when it hears nothing, though nobody told it to.
#[test]
fn silence() {
    let Some(sshd) = Sshd::start() else { return };
    let ssh = ssh(&sshd);
    let word = word("silence");
    let env = [("LINERATE_TEST".to_owned(), word.clone())];
    let command = Command { patience: Duration::from_secs(2), ..Command::script("echo up; sleep 1000", &[]).env(&env) };
    let mut process = ssh.start(&command).unwrap();
    wait_for("up", || matches!(process.next(Duration::from_millis(50)), Heard::Line(..)));
    // Signs of life arrive: it goes on for longer than the guard's patience.
    std::thread::sleep(Duration::from_secs(3));
    assert!(matches!(process.next(Duration::ZERO), Heard::Nothing));
    let tool = process.pid().unwrap();
    assert!(std::path::Path::new(&format!("/proc/{tool}")).exists());
    sshd.signal_sessions("-STOP");
    // The local ssh has the word in its arguments and lives on.
    wait_for("the guard's patience", || !std::path::Path::new(&format!("/proc/{tool}")).exists());
    sshd.signal_sessions("-CONT");
    drop(process);
    all_gone(&word);
}

#[test]
fn a_host_that_is_none() {
    if !have(&["ssh"]) {
        return;
    }
    // Nobody listens on a port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ssh = Ssh::new("127.0.0.1", Some(port), &["-F".into(), "/dev/null".into()]).unwrap();
    let began = Instant::now();
    let error = ssh.run(&Command::new(["true"]), &|| false).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(15));
    assert!(matches!(&error, TransportError::Lost { .. }), "{error}");
    assert!(error.to_string().contains("Connection refused"), "{error}");
    for bad in ["-oProxyCommand=x", "", "a b", "root@", "root@-x"] {
        assert!(Ssh::new(bad, None, &[]).is_err(), "{bad:?}");
    }
}

/// No `linerate` there, or one that collects: either way the run goes on.
#[test]
fn a_snapshot_of_the_other_host() {
    use linerate_runner::collect::{Collector, Standard};
    let Some(sshd) = Sshd::start() else { return };
    let ssh = ssh(&sshd);
    match Standard::default().collect(&ssh, &Cancel::new()) {
        Ok(snapshot) => assert!(!snapshot.is_empty()),
        Err(why) => assert!(why.contains("linerate collect there ended"), "{why}"),
    }
}
