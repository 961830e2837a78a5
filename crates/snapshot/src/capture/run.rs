//! Runs one command of the allow-list: no shell, no environment, no input, a time limit, a size limit.

use crate::interrupt;
use linerate_out::child::{self, Need};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where commands are looked for. Never in the user's PATH: a capture runs as root.
const DIRS: &[&str] = &[
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/opt/mellanox/iproute2/sbin",
    "/opt/mellanox/ethtool/sbin",
    "/opt/mellanox/bin",
    "/opt/mellanox/sbin",
];
const STDERR_MAX: usize = 16 << 10;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// With this status; negative: by this signal.
    Status(i32),
    NotFound,
    TimedOut,
    Failed(String),
}

pub(super) struct Ran {
    pub(super) end: End,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// There was more output than the limit.
    pub(super) cut: bool,
}

impl Ran {
    fn nothing(end: End) -> Self {
        Ran { end, stdout: Vec::new(), stderr: Vec::new(), cut: false }
    }
}

/// The tool's file, if it is installed.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let runs = |p: &PathBuf| std::fs::metadata(p).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return None;
    }
    DIRS.iter().map(|d| PathBuf::from(d).join(name)).find(runs)
}

pub(super) fn run(argv: &[String], limit: Duration, max: usize) -> Ran {
    let Some((name, args)) = argv.split_first() else { return Ran::nothing(End::NotFound) };
    let Some(tool) = find(name) else { return Ran::nothing(End::NotFound) };
    let mut command = child::command(tool, Need::Nothing);
    command.args(args).current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match interrupt::spawn(&mut command) {
        Ok(child) => child,
        Err(e) => return Ran::nothing(End::Failed(e.to_string())),
    };
    let out = child.stdout.take().map(|s| Pipe::start(s, max));
    let err = child.stderr.take().map(|s| Pipe::start(s, STDERR_MAX));
    let end = wait(&mut child, limit);
    // A grandchild may hold the pipes open: what has come until now is what there is.
    let grace = Instant::now() + Duration::from_millis(300);
    let (stdout, cut) = out.map(|p| p.finish(grace)).unwrap_or_default();
    let (stderr, _) = err.map(|p| p.finish(grace)).unwrap_or_default();
    kill_group(&child);
    interrupt::ended(&child);
    Ran { end, stdout, stderr, cut }
}

fn wait(child: &mut Child, limit: Duration) -> End {
    use std::os::unix::process::ExitStatusExt;
    let until = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(s)) => return End::Status(s.code().unwrap_or_else(|| -s.signal().unwrap_or(0))),
            Ok(None) => {}
            Err(e) => return End::Failed(e.to_string()),
        }
        if Instant::now() >= until {
            break;
        }
        std::thread::sleep(pause.min(until.saturating_duration_since(Instant::now())));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    kill_group(child);
    // One that hangs in the kernel does not even die; it is not waited for.
    for _ in 0..50 {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    End::TimedOut
}

fn kill_group(child: &Child) {
    interrupt::group_of(child).into_iter().for_each(interrupt::kill);
}

/// A pipe that is emptied by a thread, so that the command never waits for us.
struct Pipe {
    kept: Arc<Mutex<(Vec<u8>, bool)>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Pipe {
    fn start(mut from: impl Read + Send + 'static, max: usize) -> Self {
        let kept = Arc::new(Mutex::new((Vec::new(), false)));
        let to = Arc::clone(&kept);
        let thread = std::thread::Builder::new().name("linerate-pipe".into()).spawn(move || {
            let mut buf = vec![0; 32 << 10];
            while let Ok(n @ 1..) = from.read(&mut buf) {
                let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
                let room = max.saturating_sub(to.0.len()).min(n);
                to.0.extend_from_slice(buf.get(..room).unwrap_or_default());
                to.1 |= room < n;
            }
        });
        Pipe { kept, thread: thread.ok() }
    }

    fn finish(self, until: Instant) -> (Vec<u8>, bool) {
        while self.thread.as_ref().is_some_and(|t| !t.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(s: &[&str]) -> Vec<String> {
        s.iter().map(|s| (*s).to_owned()).collect()
    }

    #[test]
    fn status_output_and_limits() {
        let long = Duration::from_secs(10);
        let ran = run(&argv(&["printf", "%s", "$HOME;x"]), long, 100);
        assert_eq!((ran.end, ran.stdout.as_slice(), ran.cut), (End::Status(0), b"$HOME;x".as_slice(), false));
        assert_eq!(run(&argv(&["false"]), long, 100).end, End::Status(1));
        assert_eq!(run(&argv(&["no-such-tool-here"]), long, 100).end, End::NotFound);
        assert_eq!(run(&argv(&["../../bin/true"]), long, 100).end, End::NotFound);
        let ran = run(&argv(&["head", "-c", "100000", "/dev/zero"]), long, 1000);
        assert_eq!((ran.end, ran.stdout.len(), ran.cut), (End::Status(0), 1000, true));
        let started = Instant::now();
        assert_eq!(run(&argv(&["sleep", "30"]), Duration::from_millis(100), 10).end, End::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(5));
        let ran = run(&argv(&["env"]), long, 1000);
        assert!(ran.stdout.starts_with(b"LC_ALL=C\n") || ran.stdout.starts_with(b"PATH="));
        assert_eq!(ran.stdout.iter().filter(|b| **b == b'\n').count(), 2, "only these two variables");
    }
}
