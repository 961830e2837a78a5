//! A signal ends the command at once, with all that it started.

use super::lock;
use crate::shell::Result;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::time::Duration;

/// Process groups that are there. Who starts or ends one holds the list: none is missed, and no number is used that another process may have by
/// then. Who ends the command holds it to the end.
static GROUPS: Mutex<Vec<libc::pid_t>> = Mutex::new(Vec::new());

/// Starts a command as the leader of a group; what it starts belongs to that.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    let mut groups = lock(&GROUPS);
    let child = command.process_group(0).spawn()?;
    groups.extend(libc::pid_t::try_from(child.id()));
    Ok(child)
}

/// Ends the group of a command that was started so.
pub(super) fn end(child: &mut Child) {
    let mut groups = lock(&GROUPS);
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        groups.retain(|g| *g != group);
        kill(group);
    }
    let _ = child.wait();
}

/// For who lost a child: does not come back while a signal ends the command.
pub(super) fn wait() {
    drop(lock(&GROUPS));
}

/// From now on a signal kills all groups, removes a directory, and ends the command as shells have it.
pub(super) fn watch(work: PathBuf) -> Result<()> {
    let cannot = |e: io::Error| format!("cannot watch signals: {e}");
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(cannot)?;
    let ended = move || {
        let Some(signal) = signals.forever().next() else { return };
        let groups = lock(&GROUPS);
        groups.iter().for_each(|g| kill(*g));
        // A thread may still write there; its next run is its last.
        for _ in 0..50 {
            if std::fs::remove_dir_all(&work).is_ok() || !work.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        std::process::exit(128 + signal);
    };
    std::thread::Builder::new().name("signals".into()).spawn(ended).map(drop).map_err(cannot)
}

#[allow(unsafe_code)] // no library in use offers this system call
fn kill(group: libc::pid_t) {
    // SAFETY: it takes two numbers; the group is that of a child that nobody has waited for.
    unsafe { libc::killpg(group, libc::SIGKILL) };
}
