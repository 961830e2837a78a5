//! What must not outlive this process: commands that run, and half-written files. A signal can come at any time, so commands are in a
//! list that the handler's thread empties, as files are in one of theirs.

use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Open {
    /// Process groups of commands; each command leads its own.
    groups: Vec<i32>,
    /// Nothing new may begin.
    over: bool,
}

static OPEN: Mutex<Open> = Mutex::new(Open { groups: Vec::new(), over: false });

fn open() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn interrupted() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::Interrupted, "the process was asked to end")
}

/// Kills the commands that a capture runs, with everything that they started, and removes the temporary files of what
/// is being written ([`linerate_out::file`]). Nothing new begins afterwards: the caller is to end the process at once
/// (`std::process::exit`, which waits for no thread).
pub fn abandon() {
    let mut open = open();
    open.over = true;
    for group in open.groups.drain(..) {
        kill(group);
    }
    linerate_out::file::abandon();
}

/// Kills a process group. One that is gone is no error.
pub(crate) fn kill(group: i32) {
    if let Some(pid) = rustix::process::Pid::from_raw(group) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}

/// Starts a command that leads its own process group, and notes it.
pub(crate) fn spawn(command: &mut Command) -> std::io::Result<Child> {
    let mut open = open();
    if open.over {
        return Err(interrupted());
    }
    let child = command.spawn()?;
    open.groups.extend(group_of(&child));
    Ok(child)
}

/// The child's process group.
pub(crate) fn group_of(child: &Child) -> Option<i32> {
    i32::try_from(child.id()).ok()
}

/// The command and what it started are over.
pub(crate) fn ended(child: &Child) {
    let group = group_of(child);
    open().groups.retain(|g| Some(*g) != group);
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_out::file::{Access, Replace};
    use std::path::Path;
    use std::time::{Duration, Instant};

    fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
        let until = Instant::now() + Duration::from_secs(20);
        while !done() {
            assert!(Instant::now() < until, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The process that is interrupted: it has commands and a file open, and ends as the command line does.
    #[test]
    #[ignore = "a part of the test below"]
    fn interrupted_process() {
        let Ok(dir) = std::env::var("LINERATE_TEST_DIR") else { return };
        let dir = Path::new(&dir);
        let _file = Replace::begin(&dir.join("x"), Access::Private).unwrap();
        assert_eq!(std::fs::read_dir(dir).unwrap().count(), 1);
        for _ in 0..2 {
            std::thread::spawn(|| {
                let argv = ["sleep", "100"].map(str::to_owned);
                crate::capture::run_for_test(&argv);
            });
        }
        wait_for("two commands", || open().groups.len() == 2);
        let groups = open().groups.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
        std::fs::write(dir.join("groups"), groups).unwrap();
        abandon();
        assert!(spawn(&mut Command::new("true")).is_err(), "nothing new begins");
        std::process::exit(130);
    }

    #[test]
    fn nothing_is_left_of_an_interrupted_process() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "interrupt::tests::interrupted_process"])
            .env("LINERATE_TEST_DIR", dir.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "only what the process noted");
        let groups = std::fs::read_to_string(dir.path().join("groups")).unwrap();
        assert_eq!(groups.split(' ').count(), 2);
        for g in groups.split(' ') {
            let alive = || {
                // A zombie that nobody has waited for yet is dead.
                let stat = std::fs::read_to_string(format!("/proc/{g}/stat")).unwrap_or_default();
                stat.rsplit(')').next().is_some_and(|r| !r.is_empty() && !r.trim_start().starts_with('Z'))
            };
            wait_for("the command to end", || !alive());
        }
    }
}
