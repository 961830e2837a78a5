//! From a tool's output to runs. The kind is known by content; one text may hold several tools' outputs, several runs, and lines of
//! others between them. What looks like a result but is not one is refused with its reason.

mod fio;
mod iperf;
mod marks;
mod nccl_tests;
mod nvbandwidth;
mod perftest;
mod ping;
mod secrets;
mod series;
mod sockperf;
mod torchtitan;

use crate::model::{Kind, Run};
use linerate_formats::bounds::LeftOut;
use linerate_formats::refusal::Refusals;
pub use secrets::remove_secrets;
use serde::Serialize;

/// What a text held.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Imported {
    /// Runs in the order of the text, of each kind.
    pub runs: Vec<Run>,
    /// What looked like part of a result and could not be used.
    pub refused: Vec<Refused>,
}

/// Part of a text that is no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Where: the file's name.
    pub source: String,
    /// 1-based line; 0 where it is the whole text.
    pub line: u32,
    /// Whose output it looked like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Why it is not used.
    pub why: String,
}

/// Reads a text, and removes secrets of what it holds. `name` is the file's, for messages and as a last hint at the kind.
#[must_use]
pub fn import(name: &str, bytes: &[u8]) -> Imported {
    let mut found = all(name, bytes);
    secrets::clean(&mut found);
    found
}

fn all(name: &str, bytes: &[u8]) -> Imported {
    let mut found = Imported::default();
    let kinds = marks::kinds(bytes);
    for kind in &kinds {
        read(*kind, &kinds, name, bytes, &mut found);
    }
    let empty = |f: &Imported| f.runs.is_empty() && f.refused.is_empty();
    // An excerpt may lack the words that only its tool prints: then each reader is asked.
    if empty(&found) && bytes.len() <= EXCERPT {
        for kind in Kind::ALL.into_iter().filter(|k| *k != Kind::Series && !kinds.contains(k)) {
            read(kind, &[], name, bytes, &mut found);
            if found.runs.is_empty() {
                found = Imported::default();
            } else {
                return found;
            }
        }
    }
    // Tables of anybody come last: nothing that a tool printed is taken for one.
    if empty(&found) && !bytes.is_empty() {
        read(Kind::Series, &[], name, bytes, &mut found);
    }
    if found.runs.is_empty() && found.refused.iter().all(|r| r.kind == Some(Kind::Series) && r.line <= 1) {
        let why = match found.refused.first() {
            _ if bytes.is_empty() => "it is empty".to_owned(),
            Some(table) => format!("{NOTHING}; as a table: {}", table.why),
            None => NOTHING.to_owned(),
        };
        found.refused = vec![Refused { source: name.to_owned(), line: 0, kind: kinds.first().copied(), why }];
    }
    found
}

/// Longest text whose readers are asked one by one.
const EXCERPT: usize = 16 << 20;
const NOTHING: &str =
    "no output of nccl-tests, perftest, iperf, sockperf, fio, ping, nvbandwidth or TorchTitan is in it";

fn read(kind: Kind, all: &[Kind], name: &str, bytes: &[u8], found: &mut Imported) {
    let mut to = Sink { name, kind, found };
    match kind {
        Kind::NcclTests => nccl_tests::read(bytes, &mut to),
        Kind::Perftest => perftest::read(bytes, &mut to),
        // One reader for both, which tells them apart.
        Kind::Iperf3 => iperf::read(bytes, &mut to),
        Kind::Iperf2 if all.contains(&Kind::Iperf3) => {}
        Kind::Iperf2 => iperf::read(bytes, &mut to),
        Kind::Sockperf => sockperf::read(bytes, &mut to),
        Kind::Fio => fio::read(bytes, &mut to),
        Kind::Ping => ping::read(bytes, &mut to),
        Kind::Nvbandwidth => nvbandwidth::read(bytes, &mut to),
        Kind::Torchtitan => torchtitan::read(bytes, &mut to),
        Kind::Series => series::read(bytes, &mut to),
    }
}

/// Where a reader puts what it finds.
struct Sink<'a> {
    name: &'a str,
    kind: Kind,
    found: &'a mut Imported,
}

impl Sink<'_> {
    fn run(&mut self, mut run: Run, line: u32) {
        // A table in long form may repeat another tool's.
        if self.kind != Kind::Series {
            run.kind = self.kind;
        }
        run.source = crate::model::Source { name: self.name.to_owned(), line };
        if run.points() == 0 && run.faults.is_empty() {
            self.refuse(line, "it was begun, and nothing was measured: no result follows the header");
            return;
        }
        self.found.runs.push(run);
    }

    /// What a tool's reader refused and left out of a run. `what` is refused: rows, lines.
    fn record(&mut self, what: &str, refused: &Refusals, left_out: &[LeftOut]) {
        for r in &refused.kept {
            self.refuse(r.line, r.why.to_string());
        }
        if refused.not_kept > 0 {
            self.refuse(0, format!("{} more {what} that could not be read", refused.not_kept));
        }
        for l in left_out {
            self.refuse(l.line, l.to_string());
        }
    }

    fn refuse(&mut self, line: u32, why: impl Into<String>) {
        let why = why.into();
        self.found.refused.push(Refused { source: self.name.to_owned(), line, kind: Some(self.kind), why });
    }
}
