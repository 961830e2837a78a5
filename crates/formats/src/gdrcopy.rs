//! What GDRCopy's benchmarks print: `gdrcopy_copybw` (earlier `copybw`), rates by which the CPU writes and reads a GPU's memory through BAR1, and
//! `gdrcopy_copylat` (`copylat`), the times that such a copy takes, by size.
//!
//! `MB/s` are 2²⁰ bytes per second. Since 2.5 a rate is the median of several, and the smallest stands beside it; before, it is that of all
//! iterations together. <https://github.com/NVIDIA/gdrcopy>, tests/copybw.cpp, tests/copylat.cpp

use crate::bounds::{LeftOut, Limit};
use crate::error::Why;
use crate::launcher;
use crate::record::{Recorder, keep, recorded};
use crate::refusal::{End, Refusals, Said};
use crate::text;
use crate::tool::{Command, Gives, Mark, Tool, seen};
use crate::units::{Bytes, MiBps, Microseconds};
use serde::Serialize;
use smol_str::SmolStr;

/// GDRCopy's benchmarks.
pub const TOOL: Tool = Tool {
    name: "gdrcopy",
    called: "GDRCopy",
    run: "gdrcopy_copybw",
    gives: Gives::NoFacts("a result of GDRCopy"),
    marks: &[Mark::aside(|l| test(l).is_some() || table(l).is_some())
        .begins(&["BAR ", "writing test, size=", "reading test, size="])
        .holds(&[ITERATIONS])],
    commands: &[Command::any("gdrcopy_copybw"), Command::any("gdrcopy_copylat")],
    words: &["writing test, size=", "reading test, size=", ITERATIONS],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "writing test, size=131072 offset=0 num_iters=10000\nwrite BW: 9000.5MB/s\n",
        "gdr_copy_to_mapping num iters for each size: 10000\n",
    ],
    ..Tool::NONE
};

/// Before the number of iterations of a table.
const ITERATIONS: &str = " num iters for each size: ";

/// Which way the CPU copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// To the GPU's memory: `gdr_copy_to_mapping`.
    Write,
    /// From it: `gdr_copy_from_mapping`.
    Read,
}

/// One run of one of the programs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// Number of the GPU that was taken.
    pub device: Option<u32>,
    /// GPUs that the program lists: number and name.
    pub gpus: Vec<(u32, SmolStr)>,
    /// Settings that it prints, as it prints them: name of a parameter, value.
    pub settings: Vec<(&'static str, SmolStr)>,
    /// Rates of `copybw`.
    pub rates: Vec<Rate>,
    /// Times of `copylat`.
    pub times: Vec<Time>,
    /// Tests that have no result: their lines.
    pub unfinished: Vec<u32>,
    /// What it found wrong.
    pub failures: Vec<Said>,
    /// How it ended.
    pub end: End,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// Lines that look like a result and are none.
    pub refused: Refusals,
    /// What is beyond limits.
    pub left_out: Vec<LeftOut>,
}
recorded!(Run, Limit::BENCH_RUNS);

/// A rate of `copybw`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// 1-based line.
    pub line: u32,
    /// Which way.
    pub direction: Direction,
    /// Bytes of a copy; `None`: the line before says it, and is not there.
    pub size: Option<Bytes>,
    /// The one rate, or the median.
    pub rate: MiBps,
    /// The smallest; `None`: there is one rate only, over all iterations.
    pub min: Option<MiBps>,
}

/// A row of `copylat`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Time {
    /// 1-based line.
    pub line: u32,
    /// Which way.
    pub direction: Direction,
    /// Bytes of a copy.
    pub size: Bytes,
    /// The mean, or the median.
    pub time: Microseconds,
    /// The smallest; `None`: the other is the mean.
    pub min: Option<Microseconds>,
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let (reader, _) = text::read(bytes, Reader::line);
    reader.finish()
}

/// Reads lines as they come.
#[derive(Debug, Default)]
pub struct Reader {
    recorder: Recorder<Run>,
    /// The test of `copybw` that has no result yet: its line, direction, size.
    open: Option<(u32, Direction, Option<Bytes>)>,
    /// Columns of the table of `copylat` that is open: whether the smallest time is one of them.
    has_min: Option<bool>,
}

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        let Some(line) = launcher::short(line).map(str::trim) else { return };
        if let Some((direction, size)) = test(line) {
            self.test(number, direction, size);
        } else if let Some((direction, rate)) = rate(line) {
            self.rate(number, direction, rate);
        } else if table(line).is_some() {
            self.settle();
            self.recorder.touch(number);
            self.has_min = None;
        } else if let Some(has_min) = columns(line) {
            // Its words are others', too: it counts behind the line that names the function.
            if self.recorder.is_begun() {
                self.recorder.touch(number);
                self.has_min = Some(has_min);
            }
        } else if let (Some(has_min), Some((direction, cells))) = (self.has_min, row(line)) {
            self.time(number, direction, cells, has_min);
        } else {
            self.said(number, line);
        }
    }

    fn test(&mut self, number: u32, direction: Direction, size: Option<Bytes>) {
        self.settle();
        self.recorder.touch(number);
        if size.is_none() {
            self.recorder.refuse(number, Why::Unclear("the size of a copy is not a number"));
        }
        self.open = Some((number, direction, size));
    }

    fn rate(&mut self, number: u32, direction: Direction, text: &str) {
        // Without the line of its test the words are anybody's.
        let Some((line, wanted, size)) = self.open.take() else { return };
        if wanted != direction {
            self.open = Some((line, wanted, size));
            return self.settle();
        }
        let (first, min) = match text.strip_prefix("median ") {
            Some(rest) => rest.split_once(", min ").map_or((rest, Some("")), |(m, n)| (m, Some(n))),
            None => (text, None),
        };
        let read = |word: &str| number_of(word.strip_suffix("MB/s")?).map(MiBps);
        match (read(first), min.map(read)) {
            (Some(rate), min @ (None | Some(Some(_)))) => {
                let rate = Rate { line: number, direction, size, rate, min: min.flatten() };
                let run = self.recorder.touch(number);
                keep(&mut run.rates, rate, Limit::BENCH_ROWS, number, &mut run.left_out);
            }
            _ => self.recorder.refuse(number, Why::word(text, "not a rate in MB/s")),
        }
    }

    fn time(&mut self, number: u32, direction: Direction, cells: &str, has_min: bool) {
        let words: Vec<&str> = cells.split_whitespace().take(4).collect();
        let columns = if has_min { 3 } else { 2 };
        if words.len() != columns {
            return self.recorder.refuse(number, Why::Columns { has: words.len(), cells: "values", columns });
        }
        let mut words = words.into_iter();
        let mut next = || words.next().unwrap_or_default();
        let (size, time, min) = (next(), next(), next());
        let Some(bytes) = digits(size) else {
            return self.recorder.refuse(number, Why::word(size, "not a size"));
        };
        let (value, least) = (number_of(time), if has_min { number_of(min).map(Some) } else { Some(None) });
        let (Some(value), Some(least)) = (value, least) else {
            let word = if value.is_none() { time } else { min };
            return self.recorder.refuse(number, Why::word(word, "not a time"));
        };
        let row =
            Time { line: number, direction, size: bytes, time: Microseconds(value), min: least.map(Microseconds) };
        let run = self.recorder.touch(number);
        keep(&mut run.times, row, Limit::BENCH_ROWS, number, &mut run.left_out);
    }

    /// Lines around the results. Those before the first test are noted, and begin no run: others print such lines, too.
    fn said(&mut self, number: u32, line: &str) {
        if let Some((id, name)) = gpu(line) {
            if self.recorder.run.device.is_some() {
                self.end_run();
            }
            let run = &mut self.recorder.run;
            keep(&mut run.gpus, (id, name.into()), Limit::GPUS, number, &mut run.left_out);
        } else if let Some(id) = line.strip_prefix("selecting device ").and_then(|n| n.parse().ok()) {
            if self.recorder.run.device.is_some() {
                self.end_run();
            }
            self.recorder.run.device = Some(id);
        } else if let Some((key, value)) = setting(line) {
            let settings = &mut self.recorder.run.settings;
            if settings.iter().all(|(k, _)| *k != key) {
                settings.push((key, value.chars().take(64).collect()));
            }
        } else if !self.recorder.is_begun() {
        } else if line == "closing gdrdrv" {
            self.recorder.touch(number).end = End::Finished;
            self.end_run();
        } else if line.starts_with("check error: ") || line.starts_with("Assertion \"") {
            let run = self.recorder.touch(number);
            // Each copy can be checked; the first tell.
            if run.failures.len() < FAILURES {
                run.failures.push(Said::new(number, line));
            }
        }
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_run();
        self.recorder.finish()
    }

    /// A test without a result stays without one.
    fn settle(&mut self) {
        if let Some((line, ..)) = self.open.take() {
            let run = &mut self.recorder.run;
            keep(&mut run.unfinished, line, Limit::BENCH_ROWS, line, &mut run.left_out);
        }
    }

    fn end_run(&mut self) {
        self.settle();
        self.has_min = None;
        self.recorder.close();
    }
}

/// Failures that are kept of a run.
const FAILURES: usize = 8;

/// `writing test, size=131072 offset=0 num_iters=10000`; until 2.0 with `BAR ` before it.
fn test(line: &str) -> Option<(Direction, Option<Bytes>)> {
    let line = line.strip_prefix("BAR ").unwrap_or(line);
    let (direction, rest) = if let Some(rest) = line.strip_prefix("writing test, size=") {
        (Direction::Write, rest)
    } else {
        (Direction::Read, line.strip_prefix("reading test, size=")?)
    };
    let mut words = rest.split(' ');
    let size = words.next()?;
    let rest_fits = words.next()?.starts_with("offset=") && words.next()?.starts_with("num_iters=");
    (rest_fits && words.next().is_none()).then(|| (direction, digits(size)))
}

/// `write BW: 9000.5MB/s`, `read BW: median 890.8MB/s, min 840.1MB/s`; until 2.0 with `BAR1 ` before it.
fn rate(line: &str) -> Option<(Direction, &str)> {
    let line = line.strip_prefix("BAR1 ").unwrap_or(line);
    let write = line.strip_prefix("write BW: ").map(|r| (Direction::Write, r));
    write.or_else(|| Some((Direction::Read, line.strip_prefix("read BW: ")?)))
}

/// `gdr_copy_to_mapping num iters for each size: 10000`
fn table(line: &str) -> Option<Direction> {
    let (function, n) = line.split_once(ITERATIONS)?;
    digits(n)?;
    direction(function)
}

/// The names of the columns, which tabs part: whether the smallest time is one of them.
fn columns(line: &str) -> Option<bool> {
    let words = || line.split_whitespace();
    if words().eq(["Test", "Size(B)", "Avg.Time(us)"]) {
        return Some(false);
    }
    words().eq(["Test", "Size(B)", "Median", "Time(us)", "Min.", "Time(us)"]).then_some(true)
}

/// `gdr_copy_to_mapping  1  0.1014  0.1011`
fn row(line: &str) -> Option<(Direction, &str)> {
    let (function, cells) = line.split_once(char::is_whitespace)?;
    Some((direction(function)?, cells))
}

fn direction(function: &str) -> Option<Direction> {
    match function {
        "gdr_copy_to_mapping" => Some(Direction::Write),
        "gdr_copy_from_mapping" => Some(Direction::Read),
        _ => None,
    }
}

/// `GPU id:0; name: NVIDIA H100; Bus id: 0000:1b:00`; until 2.0 without semicolons.
fn gpu(line: &str) -> Option<(u32, &str)> {
    let (id, rest) = line.strip_prefix("GPU id:")?.split_once([';', ' '])?;
    let rest = rest.trim_start().strip_prefix("name:")?.trim_start();
    let name = rest.split_once("; Bus id:").or_else(|| rest.split_once(" PCI domain:"))?.0;
    Some((id.parse().ok()?, name))
}

/// What changes a result: the parameter's name here, and its value as printed.
fn setting(line: &str) -> Option<(&'static str, &str)> {
    let (key, value) = line.split_once(": ")?;
    let name = match key {
        "gpu alloc fn" => "allocation",
        "use force pcie" => "force_pcie",
        "use cold cache" => "cold_cache",
        "store fences" => "store_fences",
        "load fences (gdr_copy_from_mapping)" => "load_fences",
        "info.wc_mapping" => "write_combining",
        _ => return None,
    };
    Some((name, value))
}

fn digits(word: &str) -> Option<Bytes> {
    word.bytes().all(|b| b.is_ascii_digit()).then(|| word.parse().ok().map(Bytes)).flatten()
}

/// A positive number.
fn number_of(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BW: &str = "\
GPU id:0; name: NVIDIA H100 80GB HBM3; Bus id: 0000:1b:00
GPU id:1; name: NVIDIA H100 80GB HBM3; Bus id: 0000:43:00
selecting device 1
testing size: 131072
gpu alloc fn: cuMemAlloc
use force pcie: no
info.wc_mapping: 1
store fences: enabled
writing test, size=131072 offset=0 num_iters=10000
write BW: median 20000.5MB/s, min 19000MB/s
reading test, size=131072 offset=0 num_iters=100
read BW: median 800.25MB/s, min 790.125MB/s
unmapping buffer
unpinning buffer
closing gdrdrv
";
    const LAT: &str = "\
GPU id:0; name: NVIDIA H100 80GB HBM3; Bus id: 0000:1b:00
selecting device 0
gdr_copy_to_mapping num iters for each size: 10000
WARNING: the times are those of the CPU
Test \t\t\t Size(B) \t Avg.Time(us)
gdr_copy_to_mapping \t        1 \t      0.1014
gdr_copy_to_mapping \t        2 \t      nan
gdr_copy_to_mapping \t        4 \t      0.1015 \t 0.1
gdr_copy_from_mapping num iters for each size: 100
Test \t\t\t Size(B) \t Median Time(us) \t Min. Time(us)
gdr_copy_from_mapping \t        1 \t      0.9 \t      0.8
";

    #[test]
    fn rates_of_every_release() {
        let runs = parse(BW.as_bytes());
        let [run] = runs.as_slice() else { panic!("{runs:#?}") };
        assert_eq!((run.device, run.gpus[1].0, run.end, run.lines), (Some(1), 1, End::Finished, (9, 15)));
        assert_eq!(run.settings[0], ("allocation", "cuMemAlloc".into()));
        let [write, read] = run.rates.as_slice() else { panic!("{run:#?}") };
        assert_eq!((write.size, write.rate.0, write.min.map(|m| m.0)), (Some(Bytes(131_072)), 20000.5, Some(19000.0)));
        assert_eq!((read.direction, read.rate.0, read.line), (Direction::Read, 800.25, 12));
        let old = "GPU id:0 name:Tesla K40m PCI domain: 0 bus: 2 device: 0\nselecting device 0\n\
            BAR writing test, size=65536 offset=0 num_iters=10000\nDBG:  using AVX\nBAR1 write BW: 9000.25MB/s\n";
        let runs = parse(old.as_bytes());
        assert_eq!((runs[0].gpus[0].1.as_str(), runs[0].end), ("Tesla K40m", End::Cut));
        assert_eq!((runs[0].rates[0].rate.0, runs[0].rates[0].min), (9000.25, None));
    }

    #[test]
    fn tables_of_times() {
        let runs = parse(LAT.as_bytes());
        let [run] = runs.as_slice() else { panic!("{runs:#?}") };
        let [first, last] = run.times.as_slice() else { panic!("{run:#?}") };
        assert_eq!((first.size, first.time.0, first.min), (Bytes(1), 0.1014, None));
        assert_eq!((last.direction, last.time.0, last.min.map(|m| m.0)), (Direction::Read, 0.9, Some(0.8)));
        let why: Vec<_> = run.refused.kept.iter().map(|r| (r.line, &r.why)).collect();
        assert!(
            matches!(why.as_slice(), [(7, Why::Word { .. }), (8, Why::Columns { has: 3, columns: 2, .. })]),
            "{why:#?}"
        );
    }

    #[test]
    fn one_program_behind_the_other() {
        let runs = parse(format!("{BW}{LAT}{BW}").as_bytes());
        assert_eq!(runs.iter().map(|r| (r.rates.len(), r.times.len())).collect::<Vec<_>>(), [(2, 0), (0, 2), (2, 0)]);
        assert_eq!(runs.iter().map(|r| r.device).collect::<Vec<_>>(), [Some(1), Some(0), Some(1)]);
    }

    #[test]
    fn what_has_no_result_has_none() {
        let runs = parse(BW.replace("write BW: median 20000.5MB/s, min 19000MB/s\n", "").as_bytes());
        assert_eq!((runs[0].rates.len(), runs[0].unfinished.as_slice()), (1, &[9][..]));
        let cut = BW.split_once("read BW").map_or("", |b| b.0);
        assert_eq!(
            (parse(cut.as_bytes())[0].unfinished.as_slice(), parse(cut.as_bytes())[0].end),
            (&[11][..], End::Cut)
        );
        for wrong in ["nanMB/s", "median 1MB/s", "median 1MB/s, min -1MB/s", "1GB/s", "0MB/s", ""] {
            let text = BW.replace("median 20000.5MB/s, min 19000MB/s", wrong);
            let run = &parse(text.as_bytes())[0];
            assert_eq!((run.rates.len(), run.refused.kept.len() + run.unfinished.len()), (1, 1), "{wrong}");
        }
        let failed = BW.replace("reading test", "check error: 4 different dwords out of 32768\nreading test");
        assert_eq!(parse(failed.as_bytes())[0].failures[0].line, 11);
    }

    #[test]
    fn prose_and_others_lines_are_none() {
        for text in [
            "write BW: 9000MB/s\nread BW: 1MB/s\n",
            "GPU id:0; name: X; Bus id: 0\nselecting device 0\nclosing gdrdrv\n",
            "Test Size(B) Avg.Time(us)\ngdr_copy_to_mapping 1 0.1\n",
            "the line `writing test, size=N` says it\nwriting test, size=1 of all\n",
            "osu num iters for each size: 100\n",
        ] {
            assert_eq!(parse(text.as_bytes()), [], "{text}");
        }
    }
}
