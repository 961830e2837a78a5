//! From a tool's output to runs. The kind is known by content; one text may hold several tools' outputs, several runs, and lines of
//! others between them. What looks like a result but is not one is refused with its reason.

mod fio;
mod gdrcopy;
mod iperf;
mod marks;
mod nccl_tests;
mod nvbandwidth;
mod osu;
mod perftest;
mod ping;
mod secrets;
mod series;
mod sockperf;
mod stream;
mod torchtitan;

use crate::model::{Fault, Label, Metric, Note, Run};
use crate::summary::Area;
use linerate_formats::Tool;
use linerate_formats::bounds::LeftOut;
use linerate_formats::refusal::{End, Refusals, Said};
pub use secrets::remove_secrets;
use serde::Serialize;
use std::fmt;

/// A benchmark: one in each file here, beside what makes a [`Run`] of its output.
pub(crate) struct Benchmark {
    /// Its output.
    pub(crate) tool: &'static Tool,
    /// Reads it.
    read: fn(&[u8], &mut Sink<'_>),
    /// What it measures.
    pub(crate) area: Area,
    /// Metrics that say again what another one says, in other units, and those that describe the run: compared only where asked for.
    pub(crate) secondary: &'static [&'static str],
}

/// Makes [`Kind`] of the list of benchmarks.
macro_rules! benchmarks {
    ($($(#[$about:meta])* $kind:ident => $benchmark:expr),* $(,)?) => {
        /// Whose output a run is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[$about])* $kind,)*
        }

        impl Kind {
            /// All, in the order in which they are listed.
            pub const ALL: [Kind; { [$(Kind::$kind),*].len() }] = [$(Kind::$kind),*];

            /// What is known of it.
            pub(crate) fn benchmark(self) -> &'static Benchmark {
                match self {
                    $(Kind::$kind => const { &$benchmark },)*
                }
            }
        }
    };
}

// The benchmarks that are read: a line here makes one known everywhere.
benchmarks! {
    /// nccl-tests and rccl-tests.
    NcclTests => nccl_tests::BENCHMARK,
    /// perftest: `ib_write_bw` and its family.
    Perftest => perftest::BENCHMARK,
    /// iperf3.
    Iperf3 => iperf::IPERF3,
    /// iperf 2.
    Iperf2 => iperf::IPERF2,
    /// sockperf.
    Sockperf => sockperf::BENCHMARK,
    /// fio.
    Fio => fio::BENCHMARK,
    /// ping.
    Ping => ping::BENCHMARK,
    /// nvbandwidth.
    Nvbandwidth => nvbandwidth::BENCHMARK,
    /// TorchTitan's training log.
    Torchtitan => torchtitan::BENCHMARK,
    /// The OSU micro-benchmarks.
    Osu => osu::BENCHMARK,
    /// STREAM: the host's memory.
    Stream => stream::HOST,
    /// STREAM on a GPU.
    CudaStream => stream::CUDA,
    /// GDRCopy's `gdrcopy_copybw` and `gdrcopy_copylat`.
    Gdrcopy => gdrcopy::BENCHMARK,
    /// A table of measurements or a time series of another maker: CSV, JSON lines, Markdown.
    #[default]
    Series => series::BENCHMARK,
}

impl Kind {
    /// As it is written, in JSON as well.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.benchmark().tool.name
    }

    /// The kind of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.name() == name)
    }

    /// The benchmarks as people call them, each once, without tables of others.
    #[must_use]
    pub fn called() -> Vec<&'static str> {
        let tools = Kind::ALL.into_iter().filter(|k| *k != Kind::Series);
        let mut called: Vec<&str> = tools.map(|k| k.benchmark().tool.called).collect();
        called.dedup();
        called
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

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
            Some(table) => format!("{}; as a table: {}", nothing(), table.why),
            None => nothing(),
        };
        found.refused = vec![Refused { source: name.to_owned(), line: 0, kind: kinds.first().copied(), why }];
    }
    found
}

/// Longest text whose readers are asked one by one.
const EXCERPT: usize = 16 << 20;

fn nothing() -> String {
    let called = Kind::called();
    let (last, others) = called.split_last().unwrap_or((&"", &[]));
    format!("no output of {} or {last} is in it", others.join(", "))
}

fn read(kind: Kind, all: &[Kind], name: &str, bytes: &[u8], found: &mut Imported) {
    // One reader for both, which tells them apart.
    if kind == Kind::Iperf2 && all.contains(&Kind::Iperf3) {
        return;
    }
    (kind.benchmark().read)(bytes, &mut Sink { name, kind, found });
}

/// Words of a run's first failure; what follows from it is counted.
fn failed(first: &str, more: u64) -> String {
    let more = if more > 0 { format!(" (and {more} more failures)") } else { String::new() };
    format!("the run failed: {first}{more}")
}

/// What several tools print alike.
impl Run {
    /// Says why nothing of the run counts.
    fn fault(&mut self, what: impl Into<String>, line: Option<u32>) {
        self.faults.push(Fault { what: what.into(), line, whole_run: true });
    }

    /// Says why some of its values do not count.
    fn flaw(&mut self, what: impl Into<String>, line: Option<u32>) {
        self.faults.push(Fault { what: what.into(), line, whole_run: false });
    }

    fn note(&mut self, what: impl Into<String>, line: Option<u32>) {
        self.notes.push(Note { what: what.into(), line });
    }

    /// What the tool says of the run: failures make it no result, notes are kept.
    fn said<'a>(&mut self, failures: &[Said], notes: impl IntoIterator<Item = &'a Said>) {
        let fault = |f: &Said| Fault { what: f.text.clone(), line: Some(f.line), whole_run: true };
        self.faults.extend(failures.iter().map(fault));
        self.notes.extend(notes.into_iter().map(|n| Note { what: n.text.clone(), line: Some(n.line) }));
    }

    /// How the run ended.
    fn ended(&mut self, end: End) {
        let what = match end {
            End::Cut => "nothing says that the run came to its end",
            End::Interrupted => "the run was interrupted before its time",
            End::Finished | End::Failed => return,
        };
        self.note(what, None);
    }

    /// A value, where it was printed and is finite.
    fn value(&mut self, metric: Metric, labels: &[Label], size: Option<u64>, value: Option<f64>) {
        if let Some(value) = value.filter(|v| v.is_finite()) {
            self.series_mut(metric, labels).push(size, None, value);
        }
    }
}

/// Where a reader puts what it finds.
pub(crate) struct Sink<'a> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_as_its_tool_is_named() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).ok().as_ref().and_then(|v| v.as_str()), Some(kind.name()));
            assert_eq!(Kind::of_name(kind.name()), Some(kind));
        }
    }
}
