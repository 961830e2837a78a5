//! A program that runs below a guard, and what is heard of it.

use crate::{Cancel, Command, NotDone, TransportError};
use linerate_out::child::{self, Need};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

/// Signs of life within a guard's patience.
const BEATS: u32 = 5;
/// Time that the guard has to end what it guards: two seconds between TERM and KILL, and the way there and back.
const GRACE: Duration = Duration::from_secs(8);
/// How long somebody else may hold the outputs of a program that has ended.
const STRANGER: Duration = Duration::from_secs(2);
/// A line is cut into pieces of this many bytes.
const PIECE: u64 = 64 << 10;
/// Pieces that may wait to be heard; then the program waits.
const QUEUE: usize = 256;
/// Bytes of a piece, where lines mean nothing, and pieces that may wait.
const CHUNK: usize = 32 << 10;
const CHUNKS: usize = 4;
/// Bytes of standard error that are kept beside a stream.
const WORDS: usize = 64 << 10;

/// How standard output is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Line by line.
    Lines,
    /// As it comes.
    Bytes,
}

/// A program whose standard output was handed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poured {
    /// Its status; `None`: who took its output wanted no more, and it was killed.
    pub status: Option<i32>,
    /// Standard error, its beginning.
    pub stderr: Vec<u8>,
}

impl Poured {
    /// The last line that it said on standard error, without secrets.
    #[must_use]
    pub fn last_words(&self) -> String {
        last_words(&self.stderr)
    }
}

fn last_words(stderr: &[u8]) -> String {
    let said = String::from_utf8_lossy(stderr);
    let said = linerate_snapshot::without_secrets(&said);
    said.lines().map(str::trim).rfind(|l| !l.is_empty()).unwrap_or("nothing").to_owned()
}

/// Which output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With this status; above 128, as a shell counts a signal.
    Status(i32),
    /// Nobody knows: the connection was lost, or the guard was killed.
    Lost,
}

/// How it ended, and what the carrying program said when it was not the program's own end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub end: End,
    /// The transport's last words, where the connection was lost.
    pub why: Option<String>,
}

/// What was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A line with its end, or a piece of a very long one.
    Line(Stream, Vec<u8>),
    /// It ended; nothing more comes.
    Ended(Ended),
    /// Nothing, for as long as was waited.
    Nothing,
}

/// A program that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its status.
    pub status: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// There was more output than is kept.
    pub cut: bool,
}

impl Ran {
    /// Standard output as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// As the reason why it did not do what it was run for.
    #[must_use]
    pub fn not_done(&self, what: &'static str) -> NotDone {
        NotDone { what, status: self.status, said: self.last_words() }
    }

    /// The last line that it said on standard error, without secrets.
    #[must_use]
    pub fn last_words(&self) -> String {
        last_words(&self.stderr)
    }
}

/// A program that runs on a host. Dropping it kills the program there and waits until it is gone, a few seconds at most.
#[derive(Debug)]
pub struct Process {
    host: String,
    program: String,
    mark: String,
    child: Child,
    /// Dropping it closes the guard's standard input.
    alive: Option<Sender<()>>,
    heard: Receiver<(Stream, Vec<u8>)>,
    /// Process id on the host, once the guard has said it.
    pid: Option<u32>,
    /// What the guard said of the program's end.
    said: Option<i32>,
    last_words: Option<String>,
    /// When its carrier was first seen to have ended.
    over_since: Option<Instant>,
    ended: Option<Ended>,
}

/// 16 hexadecimal digits of chance: a word that tells a guard's lines from its program's, a session or a directory from others.
#[must_use]
pub fn chance() -> String {
    let mut bytes = [0_u8; 8];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    if got.is_err() {
        // Uniqueness on this host is enough.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        bytes = (now ^ (u64::from(std::process::id()) << 40)).to_le_bytes();
    }
    format!("{:016x}", u64::from_le_bytes(bytes))
}

/// Starts a local program for a host, with its input and both outputs connected.
pub(super) fn begin(host: &str, argv: &[String], need: Need) -> Result<Child, TransportError> {
    let program = argv.first().cloned().unwrap_or_default();
    let started = child::command(&program, need)
        .args(argv.iter().skip(1))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C in the terminal reaches linerate only, which then ends both sides in order.
        .process_group(0)
        .spawn();
    started.map_err(|e| TransportError::Start { host: host.to_owned(), program, why: e.to_string() })
}

/// Kills a local process group.
pub(super) fn kill_group(pid: u32) {
    if let Some(group) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

impl Process {
    /// Starts a guarded program by the local one that carries it.
    pub(super) fn spawn(
        host: &str,
        argv: &[String],
        need: Need,
        mark: String,
        patience: Duration,
        form: Form,
    ) -> Result<Self, TransportError> {
        let mut child = begin(host, argv, need)?;
        let program = argv.first().cloned().unwrap_or_default();
        let fail = |e: std::io::Error| TransportError::Start {
            host: host.to_owned(),
            program: program.clone(),
            why: e.to_string(),
        };
        let (to, heard) = sync_channel(if form == Form::Lines { QUEUE } else { CHUNKS });
        if let Some(out) = child.stdout.take() {
            listen(out, Stream::Out, form, to.clone()).map_err(fail)?;
        }
        if let Some(err) = child.stderr.take() {
            listen(err, Stream::Err, Form::Lines, to).map_err(fail)?;
        }
        let (alive, ends) = channel();
        if let Some(stdin) = child.stdin.take() {
            let beat = std::thread::Builder::new().name("linerate-heartbeat".into());
            beat.spawn(move || heartbeat(stdin, patience / BEATS, &ends)).map_err(fail)?;
        }
        Ok(Process {
            host: host.to_owned(),
            program,
            mark,
            child,
            alive: Some(alive),
            heard,
            pid: None,
            said: None,
            last_words: None,
            over_since: None,
            ended: None,
        })
    }

    /// Its process id on the host (also that of its process group), once known.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Waits for the next line or the end, no longer than this.
    pub fn next(&mut self, wait: Duration) -> Heard {
        let until = Instant::now() + wait;
        loop {
            if let Some(ended) = &self.ended {
                return Heard::Ended(ended.clone());
            }
            match self.heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((stream, line)) => {
                    if let Some(line) = self.sift(stream, line) {
                        return Heard::Line(stream, line);
                    }
                }
                Err(RecvTimeoutError::Timeout) if !self.is_long_over() => return Heard::Nothing,
                // Both outputs are closed, or the guard ended long ago and a stranger holds them open.
                Err(_) => {
                    if let Some(ended) = self.reap(until) {
                        self.ended = Some(ended);
                        self.alive = None;
                    } else {
                        return Heard::Nothing;
                    }
                }
            }
        }
    }

    /// It ended so long ago that its last words must have arrived, however busy this host is.
    fn is_long_over(&mut self) -> bool {
        if matches!(self.child.try_wait(), Ok(None)) {
            return false;
        }
        self.over_since.get_or_insert_with(Instant::now).elapsed() > STRANGER
    }

    fn reap(&mut self, until: Instant) -> Option<Ended> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let lost = |w: Option<String>| Ended {
                        end: End::Lost,
                        why: match (w, status.code()) {
                            // With this one `ssh` itself fails; any other is that of the user's shell there.
                            (Some(w), Some(255)) => Some(w),
                            (Some(w), Some(c)) => Some(format!("{} ended with status {c}: {w}", self.program)),
                            (None, Some(c)) => Some(format!("{} ended with status {c}", self.program)),
                            (w, None) => w.or_else(|| {
                                Some(format!("{} was killed by signal {}", self.program, status.signal()?))
                            }),
                        },
                    };
                    return Some(match self.said {
                        Some(code) => Ended { end: End::Status(code), why: None },
                        None => lost(self.last_words.take()),
                    });
                }
                Err(e) => return Some(Ended { end: End::Lost, why: Some(e.to_string()) }),
                Ok(None) if Instant::now() >= until => return None,
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Takes the guard's own lines out.
    fn sift(&mut self, stream: Stream, line: Vec<u8>) -> Option<Vec<u8>> {
        if stream == Stream::Out {
            return Some(line);
        }
        if self.said.is_some() {
            // A shell that remarks that it killed its own watcher.
            return None;
        }
        let text = String::from_utf8_lossy(&line);
        let own = text.trim_end().strip_prefix("linerate-guard ").and_then(|t| t.strip_prefix(self.mark.as_str()));
        match own.map(str::trim) {
            Some(said) => {
                match said.split_once(' ') {
                    Some(("pid", n)) => self.pid = n.parse().ok(),
                    Some(("end", n)) => self.said = n.parse().ok(),
                    _ => {}
                }
                None
            }
            None => {
                let text = text.trim();
                if !text.is_empty() {
                    // Whether the key is another one or none is known, `ssh` says in the line before.
                    let before = self.last_words.take().filter(|_| text == "Host key verification failed.");
                    let said = before.map(|b| format!("{b} {text}"));
                    self.last_words = Some(said.as_deref().unwrap_or(text).chars().take(400).collect());
                }
                Some(line)
            }
        }
    }

    /// Asks the guard to kill the program; what is left to hear is thrown away. A few seconds at most.
    pub fn kill(&mut self) {
        self.alive = None;
        let until = Instant::now() + GRACE;
        while self.ended.is_none() && Instant::now() < until {
            self.next(Duration::from_millis(50));
        }
        if self.ended.is_none() {
            // The carrier hangs (a dead network). The guard on the other side ends when it hears nothing more.
            // Only the carrier's group is a local one for sure: the program's own id counts where the carrier is its shell.
            let local = self.pid.filter(|_| self.program == "sh" || self.program == "ip");
            local.into_iter().chain([self.child.id()]).for_each(kill_group);
            let _ = self.child.kill();
            let _ = self.child.wait();
            self.ended = Some(Ended { end: End::Lost, why: Some("it did not end when it was asked to".to_owned()) });
        }
    }

    /// Listens until the end.
    pub(crate) fn finish(mut self, command: &Command, cancel: &Cancel) -> Result<Ran, TransportError> {
        let until = Instant::now() + command.limit;
        let mut ran = Ran { status: 0, stdout: Vec::new(), stderr: Vec::new(), cut: false };
        loop {
            match self.next(Duration::from_millis(50)) {
                Heard::Line(stream, line) => {
                    let to = if stream == Stream::Out { &mut ran.stdout } else { &mut ran.stderr };
                    let room = command.most.saturating_sub(to.len()).min(line.len());
                    ran.cut |= room < line.len();
                    to.extend_from_slice(line.get(..room).unwrap_or_default());
                }
                Heard::Ended(Ended { end: End::Status(status), .. }) => {
                    ran.status = status;
                    return Ok(ran);
                }
                Heard::Ended(Ended { why, .. }) => return Err(self.gone(why, !ran.stdout.is_empty())),
                Heard::Nothing => {}
            }
            self.may_go_on(command, until, cancel)?;
        }
    }

    /// Listens until the end and hands standard output on, piece by piece; `false` wants no more. The time that `to` takes is not the program's.
    pub(crate) fn pour(
        mut self,
        command: &Command,
        to: &mut dyn FnMut(&[u8]) -> bool,
        cancel: &Cancel,
    ) -> Result<Poured, TransportError> {
        let mut until = Instant::now() + command.limit;
        let (mut stderr, mut any) = (Vec::new(), false);
        loop {
            match self.next(Duration::from_millis(100)) {
                Heard::Line(Stream::Out, piece) => {
                    any = true;
                    let began = Instant::now();
                    if !to(&piece) {
                        return Ok(Poured { status: None, stderr });
                    }
                    until += began.elapsed();
                }
                Heard::Line(Stream::Err, line) => {
                    let room = WORDS.saturating_sub(stderr.len()).min(line.len());
                    stderr.extend_from_slice(line.get(..room).unwrap_or_default());
                }
                Heard::Ended(Ended { end: End::Status(status), .. }) => {
                    return Ok(Poured { status: Some(status), stderr });
                }
                Heard::Ended(Ended { why, .. }) => return Err(self.gone(why, any)),
                Heard::Nothing => {}
            }
            self.may_go_on(command, until, cancel)?;
        }
    }

    /// Nothing more is heard, and the guard did not say how the program ended.
    fn gone(&self, why: Option<String>, heard: bool) -> TransportError {
        let host = self.host.clone();
        // A guard's first line says which process it began.
        if self.pid.is_some() || heard {
            TransportError::Lost { host, why }
        } else {
            TransportError::NotConnected { host, why }
        }
    }

    fn may_go_on(&self, command: &Command, until: Instant, cancel: &Cancel) -> Result<(), TransportError> {
        if cancel.is_cancelled() {
            return Err(TransportError::Cancelled);
        }
        if Instant::now() < until {
            return Ok(());
        }
        let (program, seconds) = (command.program(), command.limit.as_secs());
        Err(TransportError::TimedOut { host: self.host.clone(), program, seconds })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn listen(
    from: impl Read + Send + 'static,
    stream: Stream,
    form: Form,
    to: SyncSender<(Stream, Vec<u8>)>,
) -> std::io::Result<()> {
    let lines = move || {
        if form == Form::Bytes {
            return chunks(from, stream, &to);
        }
        let mut from = BufReader::new(from);
        loop {
            let mut line = Vec::new();
            match (&mut from).take(PIECE).read_until(b'\n', &mut line) {
                Ok(1..) if to.send((stream, line)).is_ok() => {}
                _ => return,
            }
        }
    };
    std::thread::Builder::new().name("linerate-listen".into()).spawn(lines).map(drop)
}

fn chunks(mut from: impl Read, stream: Stream, to: &SyncSender<(Stream, Vec<u8>)>) {
    let mut buf = vec![0; CHUNK];
    loop {
        let n = match from.read(&mut buf) {
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        match buf.get(..n) {
            Some(piece) if n > 0 && to.send((stream, piece.to_vec())).is_ok() => {}
            _ => return,
        }
    }
}

fn heartbeat(mut to: ChildStdin, pause: Duration, ends: &Receiver<()>) {
    while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(pause) {
        if to.write_all(b"\n").and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
