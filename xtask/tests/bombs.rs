//! `cargo xtask bombs` and a signal.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Waits for something; `None` after a long time.
fn soon<T>(mut what: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        if let Some(found) = what() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

/// A program that starts another one, notes both, and does not end.
fn endless(dir: &Path) -> Command {
    let (program, noted) = (dir.join("endless"), dir.join("noted"));
    let text = format!(
        "#!/bin/sh\n[ \"$1 $2\" != 'plan --format' ] || {{ echo '{{}}'; exit; }}\nsleep 600 &\necho \"$$ $!\" >>'{}'\nwait\n",
        noted.display()
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut bombs = Command::new(env!("CARGO_BIN_EXE_xtask"));
    bombs.args(["bombs", "--jobs", "2", "--count", "4", "--binary"]).arg(program).env("TMPDIR", dir);
    bombs
}

fn signalled(child: &mut Child, dir: &Path) -> (Option<ExitStatus>, Vec<String>, Duration) {
    let noted = || std::fs::read_to_string(dir.join("noted")).unwrap_or_default();
    let both = soon(|| Some(noted()).filter(|n| n.lines().count() == 2)).unwrap_or_default();
    let began = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ended = soon(|| child.try_wait().unwrap());
    (ended, both.split_whitespace().map(str::to_owned).collect(), began.elapsed())
}

#[test]
fn a_signal_ends_it_at_once_and_nothing_is_left() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bombs-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let mut child = endless(&dir).stdout(Stdio::null()).spawn().unwrap();
    let (ended, started, took) = signalled(&mut child, &dir);
    // What was killed and not waited for has no command line.
    let there = |pid: &String| !std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default().is_empty();
    let gone = soon(|| (!started.iter().any(there)).then_some(()));
    let left: Vec<_> = std::fs::read_dir(&dir).unwrap().flatten().map(|e| e.file_name()).collect();
    let _ = child.kill();
    let _ = Command::new("kill").arg("-KILL").args(&started).stderr(Stdio::null()).status();
    let _ = std::fs::remove_dir_all(&dir);
    assert_eq!(started.len(), 4, "two runs, each with a child");
    assert_eq!(ended.and_then(|e| e.code()), Some(130));
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(gone.is_some(), "{started:?} are there");
    assert_eq!(left.len(), 2, "{left:?}");
}
