//! A running program and what it has printed, within limits.

use crate::event::Event;
use linerate_transport::{End, Ended, Heard, Process, Stream};
use std::time::Duration;

/// What is kept of one output of one run.
pub(super) const MAX: usize = 32 << 20;
/// Lines that are told of a failure.
const LAST: usize = 12;

/// One side of a run.
pub(super) struct Feed {
    process: Process,
    host: String,
    server: bool,
    pub(super) out: Vec<u8>,
    pub(super) err: Vec<u8>,
    pub(super) too_much: bool,
    pub(super) ended: Option<Ended>,
}

impl Feed {
    pub(super) fn new(process: Process, host: &str, server: bool) -> Self {
        let host = host.to_owned();
        Feed { process, host, server, out: Vec::new(), err: Vec::new(), too_much: false, ended: None }
    }

    /// Waits for something to happen, then takes everything that is there. Bounded, so that a tool that never stops talking is
    /// still ended in time.
    pub(super) fn listen(&mut self, wait: Duration, tell: &mut dyn FnMut(Event<'_>)) {
        let mut wait = wait;
        for _ in 0..1000 {
            if self.ended.is_some() {
                return;
            }
            match self.process.next(wait) {
                Heard::Line(stream, line) => {
                    tell(Event::Line { host: &self.host, server: self.server, stream, line: &line });
                    let to = if stream == Stream::Out { &mut self.out } else { &mut self.err };
                    if to.len() + line.len() > MAX {
                        self.too_much = true;
                    } else {
                        to.extend_from_slice(&line);
                    }
                }
                Heard::Ended(e) => self.ended = Some(e),
                Heard::Nothing => return,
            }
            wait = Duration::ZERO;
        }
    }

    /// Its process id there, once known.
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// Its status, when it has ended in the ordinary way.
    pub(super) fn status(&self) -> Option<i32> {
        match self.ended.as_ref()?.end {
            End::Status(s) => Some(s),
            End::Lost => None,
        }
    }

    /// Why nobody knows how it ended.
    pub(super) fn lost(&self) -> Option<String> {
        let ended = self.ended.as_ref().filter(|e| e.end == End::Lost)?;
        let why = ended.why.as_deref().unwrap_or("the guard process on the host printed nothing");
        Some(format!("{}: the connection was lost: {why}", self.host))
    }

    pub(super) fn kill(&mut self) {
        self.process.kill();
    }

    /// Its last lines, without secrets.
    pub(super) fn last_lines(&self) -> Vec<String> {
        let tail = |bytes: &[u8]| {
            let mut tail = bytes.get(bytes.len().saturating_sub(8 << 10)..).unwrap_or_default();
            // Half a line may be half a secret.
            if tail.len() < bytes.len() {
                tail = tail.splitn(2, |b| *b == b'\n').nth(1).unwrap_or_default();
            }
            let mut tail = tail.to_vec();
            linerate_snapshot::remove_secrets(&mut tail);
            let text = String::from_utf8_lossy(&tail).into_owned();
            let lines: Vec<String> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).map(cut).collect();
            lines.get(lines.len().saturating_sub(LAST)..).unwrap_or_default().to_vec()
        };
        let who = if self.server { "server" } else { "client" };
        let all = tail(&self.out).into_iter().chain(tail(&self.err));
        all.map(|l| format!("{} ({who}): {l}", self.host)).collect()
    }
}

fn cut(line: &str) -> String {
    line.chars().filter(|c| !c.is_control() || *c == '\t').take(300).collect()
}
