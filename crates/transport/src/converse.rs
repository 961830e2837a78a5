//! A program that is handed a text and answers with one. No guard is above it: what it began it brings to an end, whatever becomes of
//! the connection. So it must end by itself.

use crate::process::{begin, kill_group};
use crate::{Cancel, Command, Ran, Transport, TransportError};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What `ssh` ends with when it was not the program that ended.
const SSH_FAILED: i32 = 255;
/// How often is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Words of standard error that are kept.
const WORDS: u64 = 64 << 10;

/// `argv` is what the local program is called with; the command has the limits of time, and of what is kept of the answer.
pub(super) fn converse(
    with: &(impl Transport + ?Sized),
    argv: &[String],
    command: &Command,
    input: impl AsRef<[u8]> + Send + 'static,
    cancel: &Cancel,
) -> Result<Ran, TransportError> {
    let (limit, most, host) = (command.limit, command.most, || with.host().to_owned());
    let mut child = begin(with.host(), argv, with.carrier().unwrap_or(command.need))?;
    let (out, err) = (keep(child.stdout.take(), most as u64 + 1), keep(child.stderr.take(), WORDS));
    let stdin = child.stdin.take();
    // A program that ends without reading breaks the pipe: what it says tells why.
    let told = std::thread::spawn(move || stdin.map(|mut to| to.write_all(input.as_ref())));
    let ended = wait(&mut child, limit, cancel);
    if ended.is_none() {
        // Its children hold its outputs open.
        kill_group(child.id());
        let _ = child.wait();
    }
    let _ = told.join();
    let (mut stdout, stderr) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    let Some(status) = ended else {
        return Err(if cancel.is_cancelled() {
            TransportError::Cancelled
        } else {
            let program = argv.first().cloned().unwrap_or_default();
            TransportError::TimedOut { host: host(), program, seconds: limit.as_secs() }
        });
    };
    if status == SSH_FAILED && !with.is_here() {
        let said = String::from_utf8_lossy(&stderr);
        let why = said.lines().map(str::trim).rfind(|l| !l.is_empty()).map(str::to_owned);
        return Err(TransportError::Lost { host: host(), why });
    }
    let cut = stdout.len() > most;
    stdout.truncate(most);
    Ok(Ran { status, stdout, stderr, cut })
}

/// Status, as a shell counts signals; `None`: it did not end in time, or nobody waits any more.
fn wait(child: &mut Child, limit: Duration, cancel: &Cancel) -> Option<i32> {
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
        if Instant::now() > until || cancel.is_cancelled() {
            return None;
        }
        std::thread::sleep(LOOK);
    }
}

/// Reads all, and keeps the first bytes.
fn keep(from: Option<impl Read + Send + 'static>, most: u64) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut from) = from {
            let _ = from.by_ref().take(most).read_to_end(&mut kept);
            let _ = std::io::copy(&mut from, &mut std::io::sink());
        }
        kept
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Local;

    fn ask(argv: &[&str], input: &str, limit: u64, most: usize) -> Result<Ran, TransportError> {
        let command = Command::new(argv.iter().copied()).limit(Duration::from_millis(limit)).most(most);
        Local::new().converse(&command, input.as_bytes().to_vec(), &Cancel::new())
    }

    #[test]
    fn what_is_handed_over_comes_back() {
        let long = "word ".repeat(100_000);
        let ran = ask(&["cat"], &long, 20_000, 1 << 20);
        assert!(ran.is_ok_and(|r| r.status == 0 && r.stdout == long.as_bytes() && !r.cut));
        let ran = ask(&["cat"], &long, 20_000, 10);
        assert!(ran.is_ok_and(|r| r.stdout == b"word word " && r.cut));
    }

    #[test]
    fn who_does_not_listen_or_does_not_end_is_told() {
        let ran = ask(&["sh", "-c", "echo no >&2; exit 4"], &"x".repeat(1 << 20), 20_000, 10);
        assert!(ran.is_ok_and(|r| r.status == 4 && r.stderr == b"no\n"));
        assert!(matches!(ask(&["sh", "-c", "sleep 60; true"], "", 100, 10), Err(TransportError::TimedOut { .. })));
        assert!(matches!(ask(&["no-such-program-here"], "", 100, 10), Err(TransportError::Start { .. })));
    }
}
