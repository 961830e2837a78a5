//! Progress on standard error, for a person who waits. Nothing when standard error is no terminal.

use linerate_snapshot::capture::Progress;
use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

pub(crate) struct Line {
    on: bool,
    started: Instant,
    last: Cell<Option<Instant>>,
}

impl Line {
    pub(crate) fn new(on: bool) -> Self {
        Line { on: on && io::stderr().is_terminal(), started: Instant::now(), last: Cell::new(None) }
    }

    /// A step of the capture. Redrawn ten times a second at most.
    pub(crate) fn capture(&self, p: Progress<'_>) {
        let text = match p {
            Progress::Files(n) => format!("reading files: {n}"),
            Progress::Started(name, left) | Progress::Ended(name, left) if left > 0 => {
                format!("running commands: {left} left ({name})")
            }
            Progress::Started(name, _) | Progress::Ended(name, _) => format!("ran {name}"),
        };
        self.draw(&text);
    }

    /// So many of so many, with the time left at this pace.
    pub(crate) fn count(&self, done: usize, all: usize, what: &str) {
        let elapsed = self.started.elapsed();
        let left =
            if done > 0 { elapsed.mul_f64((all.saturating_sub(done)) as f64 / done as f64) } else { Duration::ZERO };
        self.draw(&format!("{done} of {all} {what}, {} s left", left.as_secs()));
    }

    /// Nodes of a fleet.
    pub(crate) fn nodes(&self, p: &linerate_gather::fan::Progress) {
        if !self.on {
            return;
        }
        let failed: usize = p.failed.values().sum();
        let mut text = format!("{} of {} nodes collected", p.done, p.all);
        if failed > 0 {
            let by: Vec<String> = p.failed.iter().map(|(c, n)| format!("{n} {}", c.words())).collect();
            text.push_str(&format!(", {failed} failed ({})", by.join(", ")));
        }
        if let Some((name, seconds)) = p.slow.first() {
            let name: String = linerate_out::terminal(name).chars().take(30).collect();
            text.push_str(&format!(", {} slow ({name}: {seconds} s)", p.slow.len()));
        }
        if let Some(left) = p.left {
            text.push_str(&format!(", {left} s left"));
        }
        let shown: String = text.chars().take(crate::output::width() - 1).collect();
        self.draw(&shown);
    }

    /// Bytes of all inputs, the pace, and the time left where the size is known.
    pub(crate) fn bytes(&self, done: u64, all: Option<u64>, name: &str, at: usize, files: usize) {
        if !self.on {
            return;
        }
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        let pace = done as f64 / seconds;
        let mega = |n: u64| n / 1_000_000;
        let of = all.map(|all| format!(" of {}", mega(all))).unwrap_or_default();
        let left = match all {
            Some(all) if pace > 0.0 => format!(", {:.0} s left", all.saturating_sub(done) as f64 / pace),
            _ => String::new(),
        };
        let file = if files > 1 { format!("file {at} of {files}, ") } else { String::new() };
        let name: String = linerate_out::terminal(name).chars().rev().take(40).collect();
        let name: String = name.chars().rev().collect();
        self.draw(&format!("{file}{}{of} MB, {:.0} MB/s{left}: {name}", mega(done), pace / 1e6));
    }

    fn draw(&self, text: &str) {
        let now = Instant::now();
        if !self.on || self.last.get().is_some_and(|t| now.duration_since(t) < Duration::from_millis(100)) {
            return;
        }
        self.last.set(Some(now));
        let _ = write!(io::stderr(), "\r\x1b[K{text}");
    }
}

/// Removes what may stand of a line on a terminal.
pub(crate) fn clear() {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.last.get().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
