//! Writes a rank's lines.

use super::facts::{Facts, Rank};
use crate::forms::{Level, form};
use crate::head::{Origin, Speaker, info, warn};
use crate::printf::Value;
use crate::rng::{Rng, hash};

/// A line of a rank: when, and its bytes (a newline at the end, a WARN's empty line before it).
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) time: f64,
    pub(crate) rank: usize,
    pub(crate) node: usize,
    pub(crate) text: String,
    /// The row of the table of forms that it was made with; `None` for what NCCL did not print.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) form: Option<&'static crate::forms::Form>,
}

/// What a scenario asks to see.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    pub(crate) info: bool,
    /// `None`: the release's own choice.
    pub(crate) subsystems: Option<Vec<String>>,
}

/// One rank's pen.
pub(crate) struct Pen<'a> {
    pub(crate) facts: &'a Facts<'a>,
    pub(crate) rank: &'a Rank,
    pub(crate) voice: &'a Voice,
    pub(crate) time: f64,
    pub(crate) lines: Vec<Entry>,
    /// What could not be written, for the tests.
    pub(crate) errors: Vec<String>,
    rng: Rng,
    /// Added to the process id: 0 is the main thread.
    pub(crate) thread: u32,
}

impl<'a> Pen<'a> {
    pub(crate) fn new(facts: &'a Facts<'a>, rank: &'a Rank, voice: &'a Voice) -> Self {
        let rng = Rng::named(facts.seed, &format!("rank {}", rank.rank));
        Self { facts, rank, voice, time: 0.0, lines: Vec::new(), errors: Vec::new(), rng, thread: 0 }
    }

    pub(crate) fn draw(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    /// A pointer of the heap or of the device.
    pub(crate) fn pointer(&mut self) -> u64 {
        0x7f00_0000_0000 | (self.rng.next() & 0xff_ffff_ff00)
    }

    /// Time goes on.
    pub(crate) fn wait(&mut self, seconds: f64) {
        // Long waits end together: ranks wait for each other.
        self.time += seconds + (seconds * 0.4).min(0.5) * (self.rng.unit() - 0.5);
    }

    /// The text of a part or of a whole form; `None` where the release has none.
    pub(crate) fn text(&mut self, id: &str, given: &[(&str, Value)]) -> Option<String> {
        let form = form(id, self.rank.release)?;
        let mut values = Vec::with_capacity(form.arguments.len());
        for name in &form.arguments {
            match self.value(name, given, form.files.last().copied().unwrap_or_default(), id) {
                Some(value) => values.push(value),
                None => {
                    self.errors.push(format!("{id} ({}): nothing is known of {name}", self.rank.release));
                    return None;
                }
            }
        }
        match form.format.render(&values) {
            Ok(text) => Some(text),
            Err(e) => {
                self.errors.push(format!("{id} ({}): {e}", self.rank.release));
                None
            }
        }
    }

    /// Prints a form, if the release has it and the voice lets it through. Says whether a line was written.
    pub(crate) fn say(&mut self, id: &str, given: &[(&str, Value)]) -> bool {
        let release = self.rank.release;
        let Some(form) = form(id, release) else { return false };
        if !self.heard(form) {
            return false;
        }
        let Some(text) = self.text(id, given) else { return false };
        self.wait(0.0004);
        let who = self.speaker();
        let path = match given.iter().find(|(n, _)| *n == "file") {
            Some((_, Value::Text(path))) => path.as_str(),
            _ => form.files.last().copied().unwrap_or_default(),
        };
        let origin = self.origin(id, path);
        let stamp = stamp(self.facts.epoch, self.time);
        let stamped = self.facts.env("NCCL_DEBUG_TIMESTAMP_LEVELS").is_some_and(|l| l.contains("INFO") || l == "ALL");
        let line = match form.level {
            Level::Info => info(release, &who, stamped.then_some(stamp.as_str()), &text),
            Level::InfoLocated => {
                let text = format!("{}:{} ({}) {text}", origin.file, origin.line, origin.function);
                info(release, &who, stamped.then_some(stamp.as_str()), &text)
            }
            Level::Warn => warn(release, &who, &stamp, &origin, &text),
            Level::Version => text + "\n",
            Level::Printf => text,
            Level::Part | Level::Macro(_) => return false,
        };
        self.push(line, Some(form));
        true
    }

    /// What a plugin prints by NCCL's own hand: INFO, in words that are not NCCL's.
    pub(crate) fn foreign(&mut self, text: &str) {
        if !self.voice.info {
            return;
        }
        self.wait(0.0004);
        let who = self.speaker();
        let line = info(self.rank.release, &who, None, text);
        self.push(line, None);
    }

    /// What others print beside NCCL.
    pub(crate) fn plain(&mut self, text: &str) {
        self.wait(0.0004);
        self.push(format!("{text}\n"), None);
    }

    fn speaker(&self) -> Speaker<'a> {
        Speaker {
            host: self.facts.host(self.rank.node),
            pid: self.rank.pid,
            tid: self.rank.pid + self.thread,
            dev: self.rank.gpu as u32,
        }
    }

    fn push(&mut self, text: String, form: Option<&'static crate::forms::Form>) {
        self.lines.push(Entry { time: self.time, rank: self.rank.rank, node: self.rank.node, text, form });
    }

    fn heard(&self, form: &crate::forms::Form) -> bool {
        match form.level {
            Level::Warn | Level::Version | Level::Printf => true,
            _ if !self.voice.info => false,
            _ if form.subsystems.contains(&"ALL") => true,
            _ => form.subsystems.iter().any(|s| match &self.voice.subsystems {
                Some(asked) => asked.iter().any(|a| a == s || a == "ALL"),
                None => self.rank.release.default_subsystems().contains(s),
            }),
        }
    }

    /// File, line and function: the file is the table's, the line is invented, the same for all ranks of a release.
    pub(crate) fn origin(&self, id: &str, path: &str) -> Origin {
        let path = path.strip_prefix(self.facts.prefix).unwrap_or(path);
        let file = path.strip_prefix("src/").unwrap_or(path);
        let h = hash(&format!("{id}{}", self.rank.release));
        let stem = file.rsplit('/').next().unwrap_or(file).split('.').next().unwrap_or_default();
        let mut function = String::from("nccl");
        for word in stem.split('_') {
            let mut chars = word.chars();
            function.extend(chars.next().map(|c| c.to_ascii_uppercase()));
            function.push_str(chars.as_str());
        }
        Origin { file: format!("{}{file}", self.facts.prefix), line: 40 + (h % 1900) as u32, function }
    }

    /// The value of an argument: a constant of the table, given by the caller, or a fact of the rank.
    fn value(&mut self, name: &str, given: &[(&str, Value)], path: &str, id: &str) -> Option<Value> {
        if let Some(text) = name.strip_prefix('\'') {
            return Some(text.trim_end_matches('\'').into());
        }
        if let Some((_, value)) = given.iter().find(|(n, _)| *n == name) {
            return Some(value.clone());
        }
        let (f, r) = (self.facts, self.rank);
        Some(match name {
            "rank" => r.rank.into(),
            "nranks" => f.nranks().into(),
            "dev" | "nvml" | "localrank" => r.gpu.into(),
            "localranks" => f.job.gpus.into(),
            "nodes" => f.job.nodes.into(),
            "busid" => f.busid(r.gpu).into(),
            "comm" => r.comm.into(),
            "commid" => f.commid.into(),
            "zero" => 0.into(),
            "one" => 1.into(),
            "mnnvl" => i32::from(f.job.gpu == super::Gpu::Gb200).into(),
            "initfunc" => "ncclCommInitRank".into(),
            "netname" => f.network(r.node).into(),
            "file" => self.origin(id, path).file.into(),
            "lineno" => self.origin(id, path).line.into(),
            "func" => self.origin(id, path).function.into(),
            "ptr" | "sendbuff" | "recvbuff" | "stream" | "ptrx" => self.pointer().into(),
            _ => return None,
        })
    }
}

/// `2025-03-01 10:00:00`, UTC.
pub(crate) fn stamp(epoch: i64, seconds: f64) -> String {
    let t = epoch + seconds as i64;
    jiff::Timestamp::from_second(t).unwrap_or_default().strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_date() {
        assert_eq!(super::stamp(1_740_823_200, 0.0), "2025-03-01 10:00:00");
        assert_eq!(super::stamp(1_709_164_799, 1.5), "2024-02-29 00:00:00");
    }
}
