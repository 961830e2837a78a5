//! One run below limits, and what it cost.

use crate::bench::wait4;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Seconds of CPU after which a run is ended, seconds of any time, and bytes of address space. They are above what is asked for, so
/// that a figure is had of what costs too much.
const CPU: u64 = 20;
const TIME: u32 = 120;
const SPACE: u64 = 6 << 30;

/// What a run cost.
pub(super) struct Used {
    /// Seconds, user and system.
    pub(super) cpu: f64,
    /// KiB.
    pub(super) peak: u64,
    /// How it ended, where it did not end as a command ends.
    pub(super) end: Option<String>,
}

/// Runs a command with no input, its output thrown away, and no environment but a home of its own.
pub(super) fn run(binary: &Path, args: &[String], home: &Path) -> Result<Used, String> {
    let mut command = Command::new(binary);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home).current_dir(home);
    limit(&mut command);
    let child = command.spawn().map_err(|e| format!("cannot run {}: {e}", binary.display()))?;
    let pid = i32::try_from(child.id()).map_err(|e| e.to_string())?;
    let (status, usage) = wait4(pid).map_err(|e| e.to_string())?;
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    let end = match () {
        () if libc::WIFSIGNALED(status) => Some(format!("ended by signal {}", libc::WTERMSIG(status))),
        () if libc::WEXITSTATUS(status) > 3 => Some(format!("ended with {}", libc::WEXITSTATUS(status))),
        () => None,
    };
    Ok(Used {
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        peak: u64::try_from(usage.ru_maxrss).unwrap_or(0),
        end,
    })
}

#[allow(unsafe_code)] // limits of a child have no other way in
fn limit(command: &mut Command) {
    // SAFETY: between fork and exec only system calls are made, with values that were made before.
    unsafe {
        command.pre_exec(|| {
            for (what, most) in [(libc::RLIMIT_CPU, CPU), (libc::RLIMIT_AS, SPACE), (libc::RLIMIT_CORE, 0)] {
                let most = libc::rlimit { rlim_cur: most, rlim_max: most };
                if libc::setrlimit(what, &most) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            libc::alarm(TIME);
            Ok(())
        });
    }
}
