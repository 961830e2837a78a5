//! One run of a program: wall time, CPU time, peak memory.

use crate::shell::Result;
use std::io;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Milliseconds and KiB.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) wall: f64,
    /// User and system.
    pub(super) cpu: f64,
    pub(super) peak: u64,
}

/// The shortest, and the middle one.
pub(super) struct Summary {
    pub(super) best: f64,
    pub(super) median: f64,
}

/// Runs a program, its output thrown away. Exit codes up to 2 are answers (of `linerate audit`), not errors.
pub(super) fn run(command: &mut Command) -> Result<Run> {
    run_into(command, Stdio::null())
}

/// The same, and what it prints goes there.
pub(super) fn run_into(command: &mut Command, printed: Stdio) -> Result<Run> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(printed).stderr(Stdio::null());
    let began = Instant::now();
    let child = command.spawn().map_err(|e| format!("cannot run {name}: {e}"))?;
    let pid = i32::try_from(child.id()).map_err(|e| format!("{name}: {e}"))?;
    let (status, usage) = wait4(pid).map_err(|e| format!("{name}: {e}"))?;
    let wall = began.elapsed().as_secs_f64() * 1e3;
    if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) > 2 {
        return Err(format!("{name}: ended with status {status:#x}"));
    }
    let ms = |t: libc::timeval| t.tv_sec as f64 * 1e3 + t.tv_usec as f64 / 1e3;
    let cpu = ms(usage.ru_utime) + ms(usage.ru_stime);
    Ok(Run { wall, cpu, peak: u64::try_from(usage.ru_maxrss).unwrap_or(0) })
}

/// A program to run: how it is named, and its command, made anew for each run.
pub(super) type Program<'a> = (String, Box<dyn Fn() -> Result<Command> + 'a>);

/// Runs all in turn, round after round; the first round warms what is cached, and shows whether all work.
pub(super) fn alternately(all: &[Program<'_>], rounds: usize) -> Result<Vec<Vec<Run>>> {
    let mut measured = vec![Vec::new(); all.len()];
    for round in 0..=rounds {
        for ((_, command), runs) in all.iter().zip(&mut measured) {
            let run = run(&mut command()?)?;
            if round > 0 {
                runs.push(run);
            }
        }
    }
    Ok(measured)
}

/// Waits for a child of ours that nobody else waits for.
#[allow(unsafe_code)] // a system call that no library of ours offers
pub(crate) fn wait4(pid: i32) -> io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: a struct of integers, for which zeroes are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live variables of the types that the call writes.
        if unsafe { libc::wait4(pid, &mut status, 0, &mut usage) } == pid {
            return Ok((status, usage));
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
}

pub(super) fn wall(runs: &[Run]) -> Summary {
    summary(runs.iter().map(|r| r.wall).collect())
}

pub(super) fn cpu(runs: &[Run]) -> Summary {
    summary(runs.iter().map(|r| r.cpu).collect())
}

/// Largest peak, MiB.
pub(super) fn peak(runs: &[Run]) -> f64 {
    runs.iter().map(|r| r.peak).max().unwrap_or(0) as f64 / 1024.0
}

pub(super) fn summary(mut values: Vec<f64>) -> Summary {
    values.sort_by(f64::total_cmp);
    let at = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
    Summary { best: at(0), median: at(values.len() / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_measured() {
        let r = run(Command::new("sleep").arg("0.05")).unwrap();
        assert!(r.wall >= 50.0 && r.cpu < r.wall && r.peak > 100, "{r:?}");
        assert!(run(Command::new("sh").args(["-c", "exit 3"])).is_err());
        assert!(run(&mut Command::new("no-such-program-here")).is_err());
    }

    #[test]
    fn best_and_median() {
        let s = summary(vec![3.0, 1.0, 9.0]);
        assert_eq!((s.best, s.median), (1.0, 3.0));
        assert!(summary(Vec::new()).best.is_nan());
    }
}
