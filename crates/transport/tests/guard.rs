//! What runs below a guard on this host.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::common;

use common::{all_gone, processes, wait_for, word};
use linerate_transport::{Cancel, Command, End, Heard, Local, Stream, Transport, TransportError};
use std::time::{Duration, Instant};

/// Grandchildren in sessions of their own, programs that ignore TERM: the guard gets them all.
#[test]
fn stubborn_processes_are_killed() {
    let word = word("stubborn");
    let script = "trap '' TERM; setsid sleep 1000 & setsid sh -c 'sleep 1000' & echo up; while :; do sleep 1; done";
    let command = Command::script(script, &[]).env(&[("LINERATE_TEST".into(), word.clone())]);
    let mut process = Local::new().start(&command).unwrap();
    wait_for("up", || matches!(process.next(Duration::from_millis(50)), Heard::Line(Stream::Out, l) if l == b"up\n"));
    assert!(processes(&word).len() >= 4);
    let began = Instant::now();
    process.kill();
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    all_gone(&word);
}

#[test]
fn what_a_guard_guards_is_heard_as_it_is() {
    let local = Local::new();
    let ran = local.run(&Command::new(["printf", "%s", "$(x) 'y'\n\\z"]), &Cancel::new()).unwrap();
    assert_eq!((ran.status, ran.text().as_str(), ran.stderr.is_empty()), (0, "$(x) 'y'\n\\z", true));
    let ran = local.run(&Command::script("echo oops >&2; exit 7", &[]), &Cancel::new()).unwrap();
    assert_eq!((ran.status, ran.stderr.as_slice()), (7, b"oops\n".as_slice()));
    let ran = local.run(&Command::new(["no-such-program-here"]), &Cancel::new()).unwrap();
    assert_eq!(ran.status, 127);
    let env = [("A_B".to_owned(), "x y".to_owned())];
    assert_eq!(local.run(&Command::new(["printenv", "A_B"]).env(&env), &Cancel::new()).unwrap().text(), "x y\n");
    let ran = local.run(&Command::script("kill -SEGV $$", &[]), &Cancel::new()).unwrap();
    assert_eq!(ran.status, 139);
    let limit = Duration::from_millis(300);
    let late = local.run(&Command::new(["sleep", "100"]).limit(limit), &Cancel::new());
    assert!(matches!(late, Err(TransportError::TimedOut { .. })), "{late:?}");
    for bad in [("A B", "x"), ("", "x"), ("A;B", "x"), ("A", "x\0y")] {
        let env = [(bad.0.to_owned(), bad.1.to_owned())];
        assert!(
            matches!(local.start(&Command::new(["true"]).env(&env)), Err(TransportError::Argument { .. })),
            "{bad:?}"
        );
    }
}

/// The limit of the guard itself, for a linerate that forgot.
#[test]
fn a_guard_keeps_its_limit() {
    let command =
        Command { patience: Duration::from_secs(1), ..Command::new(["sleep", "100"]).limit(Duration::from_secs(1)) };
    let mut process = Local::new().start(&command).unwrap();
    let began = Instant::now();
    let ended = loop {
        match process.next(Duration::from_millis(100)) {
            Heard::Ended(e) => break e,
            _ => assert!(began.elapsed() < Duration::from_secs(10)),
        }
    };
    assert_eq!(ended.end, End::Status(143));
}
