//! This host over an sshd of our own.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::common;

use common::{Sshd, all_gone, have, processes, wait_for, word};
use linerate_transport::{Cancel, Collect, CollectError, Command, Heard, Ssh, Transport, TransportError, collect};
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
    let ran = ssh.run(&Command::new(argv), &Cancel::new()).unwrap();
    assert_eq!(ran.text(), words.map(|w| format!("{w}|")).concat());
    let env = [("A".to_owned(), "it's $x".to_owned())];
    let ran =
        ssh.run(&Command::script("printf '%s' \"$A\"; echo e >&2; exit 9", &[]).env(&env), &Cancel::new()).unwrap();
    assert_eq!((ran.status, ran.text().as_str(), ran.stderr.as_slice()), (9, "it's $x", b"e\n".as_slice()));
}

/// Of a connection of its own, also where another one is shared, and whatever the host says before it lets anybody in.
#[test]
fn the_key_of_the_host() {
    let Some(sshd) = Sshd::start() else { return };
    let ssh = ssh(&sshd);
    assert_eq!(ssh.run(&Command::new(["true"]), &Cancel::new()).unwrap().status, 0);
    let key = ssh.host_key(&Cancel::new()).unwrap().unwrap();
    assert!(key.starts_with("SHA256:") && key == sshd.key(), "{key}");
    let nobody = Ssh::new("127.0.0.1", Some(1), &sshd.options()).unwrap();
    assert!(nobody.host_key(&Cancel::new()).is_err());
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
    let error = ssh.run(&Command::new(["true"]), &Cancel::new()).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(15));
    assert!(matches!(&error, TransportError::NotConnected { .. }), "{error}");
    assert!(error.to_string().contains("Connection refused"), "{error}");
    for bad in ["-oProxyCommand=x", "", "a b", "root@", "root@-x"] {
        assert!(Ssh::new(bad, None, &[]).is_err(), "{bad:?}");
    }
}

/// Once the program runs, a connection that ends is a lost one: whoever asks again asks twice.
#[test]
fn a_connection_that_is_lost_meanwhile() {
    let Some(sshd) = Sshd::start() else { return };
    let ssh = ssh(&sshd);
    let word = word("lost");
    let env = [("LINERATE_TEST".to_owned(), word.clone())];
    let command = Command::script("sleep 100", &[]).env(&env);
    let lost = std::thread::scope(|threads| {
        let ran = threads.spawn(|| ssh.run(&command, &Cancel::new()));
        wait_for("the program", || processes(&word).len() >= 3);
        std::thread::sleep(Duration::from_millis(300));
        sshd.signal_sessions("-KILL");
        ran.join().unwrap().unwrap_err()
    });
    assert!(matches!(lost, TransportError::Lost { .. }), "{lost}");
    all_gone(&word);
}

/// No `linerate` there, or one that collects.
#[test]
fn a_snapshot_of_the_other_host() {
    let Some(sshd) = Sshd::start() else { return };
    match collect(&ssh(&sshd), &Collect::default(), &Cancel::new()) {
        Ok(snapshot) => assert!(!snapshot.is_empty()),
        Err(CollectError::NotDone(why)) => assert_eq!(why.status, 127, "{why}"),
        Err(other) => panic!("{other}"),
    }
}
