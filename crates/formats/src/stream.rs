//! What STREAM prints, the benchmark of memory bandwidth: `stream.c` for the host's memory, and its port to CUDA for a GPU's.
//!
//! A rate is that of the best iteration, over the bytes that the kernel reads and writes: `MB/s` of `stream.c` are 10⁶ bytes per second; the port prints `GB/s` of
//! 10⁹ (`-s`) or `GiB/s` of 2³⁰. <https://www.cs.virginia.edu/stream/FTP/Code/stream.c>, <https://github.com/bcumming/cuda-stream>

use crate::bounds::{LeftOut, Limit};
use crate::error::Why;
use crate::launcher;
use crate::record::{Recorder, recorded};
use crate::refusal::{Refusals, Said};
use crate::text;
use crate::tool::{Gives, Mark, Tool, seen};
use crate::units::{GBps, Microseconds};
use serde::Serialize;
use smol_str::SmolStr;

/// STREAM.
pub const TOOL: Tool = Tool {
    name: "stream",
    called: "STREAM",
    run: "OMP_PROC_BIND=spread ./stream",
    gives: Gives::NoFacts("a result of STREAM"),
    marks: &[Mark::aside(|l| title(l).is_some_and(|t| t.0 == Memory::Host) || l.trim() == HEADER).begins(&[
        "STREAM version ",
        CUDA_TITLE,
        HEADER,
    ])],
    words: &["STREAM version ", HEADER],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "STREAM version $Revision: 5.10 $\n",
        "Function    Best Rate MB/s  Avg time     Min time     Max time\n",
    ],
    ..Tool::NONE
};

/// STREAM for GPUs.
pub const CUDA: Tool = Tool {
    name: "cuda-stream",
    run: "./stream, of cuda-stream",
    gives: Gives::NoFacts("a result of STREAM on a GPU"),
    marks: &[Mark::aside(|l| title(l).is_some_and(|t| t.0 == Memory::Cuda)).begins(&["STREAM version ", CUDA_TITLE])],
    words: &[CUDA_TITLE],
    samples: &[" STREAM Benchmark implementation in CUDA\n Array size (double precision) = 536.87 MB\n"],
    ..TOOL
};

const CUDA_TITLE: &str = "STREAM Benchmark implementation in CUDA";
/// The names of the columns, since 5.10.
const HEADER: &str = "Function    Best Rate MB/s  Avg time     Min time     Max time";

/// Whose memory is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// The host's.
    #[default]
    Host,
    /// A GPU's.
    Cuda,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// Whose memory.
    pub memory: Memory,
    /// Release.
    pub version: Option<SmolStr>,
    /// Elements of an array.
    pub elements: Option<u64>,
    /// Bytes of an element.
    pub element_bytes: Option<u64>,
    /// Size of an array, 10⁶ bytes: of the port, which prints no elements.
    pub array_mb: Option<f64>,
    /// Threads that ran; of the port, those of a block.
    pub threads: Option<u64>,
    /// Rows: one for each kernel, four at most.
    pub rows: Vec<Row>,
    /// What the check of the arrays found wrong.
    pub failures: Vec<Said>,
    /// Outputs of several processes are mixed: no row is known to be of one of them.
    pub is_mixed: bool,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// Lines that look like a row and are not one.
    pub refused: Refusals,
    /// What is beyond limits.
    pub left_out: Vec<LeftOut>,
}
recorded!(Run, Limit::BENCH_RUNS);

/// A row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Row {
    /// 1-based line.
    pub line: u32,
    /// Which kernel: `Copy`, `Scale`, `Add`, `Triad`.
    pub kernel: &'static str,
    /// Bandwidth of the best iteration.
    pub best: GBps,
    /// Mean, smallest and largest time of an iteration, the first one left out.
    pub time: [Microseconds; 3],
}

/// The kernels.
const KERNELS: [&str; 4] = ["Copy", "Scale", "Add", "Triad"];

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let (reader, _) = text::read(bytes, Reader::line);
    reader.finish()
}

/// Reads lines as they come.
#[derive(Debug, Default)]
pub struct Reader {
    recorder: Recorder<Run>,
    /// What a rate of the open table is in GB/s; `None`: no table is open.
    unit: Option<f64>,
}

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        let Some(line) = launcher::short(line).map(str::trim_start) else { return };
        if let Some((memory, version)) = title(line) {
            self.end_run();
            let run = self.recorder.touch(number);
            run.memory = memory;
            run.version = version.map(|v| v.chars().take(64).collect());
        } else if let Some((memory, unit)) = header(line) {
            self.table(number, memory, unit);
        } else if !self.recorder.is_begun() {
        } else if let Some((name, cells)) = line.split_once(':').filter(|_| self.unit.is_some())
            && let Some(kernel) = KERNELS.into_iter().find(|k| *k == name)
        {
            self.row(number, kernel, cells);
        } else {
            self.said(number, line);
        }
    }

    fn table(&mut self, number: u32, memory: Memory, unit: f64) {
        let has_rows = !self.recorder.run.rows.is_empty();
        if has_rows {
            // A table without a title: its beginning was left out.
            self.end_run();
        }
        let is_open = self.unit.replace(unit).is_some();
        let run = self.recorder.touch(number);
        run.is_mixed |= is_open && !has_rows;
        run.memory = memory;
    }

    fn row(&mut self, number: u32, kernel: &'static str, cells: &str) {
        let Some(unit) = self.unit else { return };
        let words: Vec<&str> = cells.split_whitespace().take(5).collect();
        let [best, mean, min, max] = words.as_slice() else {
            let why = Why::Columns { has: words.len(), cells: "values", columns: 4 };
            return self.recorder.refuse(number, why);
        };
        let mut values = [0.0; 4];
        for (value, word) in values.iter_mut().zip([best, mean, min, max]) {
            match word.parse::<f64>() {
                Ok(v) if v.is_finite() && v > 0.0 => *value = v,
                _ => return self.recorder.refuse(number, Why::word(word, "not a rate or a time")),
            }
        }
        let [rate, mean, min, max] = values;
        let run = self.recorder.touch(number);
        if run.rows.iter().any(|r| r.kernel == kernel) {
            run.is_mixed = true;
            return;
        }
        let time = [mean, min, max].map(Microseconds::from_seconds);
        run.rows.push(Row { line: number, kernel, best: GBps(rate * unit), time });
    }

    /// Lines around the table.
    fn said(&mut self, number: u32, line: &str) {
        let first = |text: &str| text.split_whitespace().next().and_then(|w| w.parse().ok());
        if line.starts_with("Failed Validation on array ") {
            let run = self.recorder.touch(number);
            // One for each of the three arrays.
            if run.failures.len() < 3 {
                run.failures.push(Said::new(number, line));
            }
        } else if line.starts_with("Solution Validates: ") {
            self.recorder.touch(number);
        } else if let Some(rest) =
            line.strip_prefix("This system uses ").filter(|l| l.ends_with(" bytes per array element."))
        {
            self.recorder.touch(number).element_bytes = first(rest);
        } else if let Some(rest) = line.strip_prefix("Array size = ").filter(|l| l.contains("(elements)")) {
            self.recorder.touch(number).elements = first(rest);
        } else if let Some(rest) = line.strip_prefix("Array size (double precision) = ") {
            self.recorder.touch(number).array_mb = rest.strip_suffix(" MB").and_then(|n| n.parse().ok());
        } else if let Some(rest) = line.strip_prefix("Number of Threads counted = ") {
            self.recorder.touch(number).threads = first(rest);
        } else if let Some(rest) = line.strip_prefix("using ").filter(|l| l.contains(" threads per block, ")) {
            // Ranks whose titles came all at once go on by turns.
            let run = self.recorder.touch(number);
            run.is_mixed |= run.threads.is_some();
            run.threads = first(rest);
        }
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_run();
        self.recorder.finish()
    }

    fn end_run(&mut self) {
        self.unit = None;
        self.recorder.close();
    }
}

/// Whose memory, and the release.
fn title(line: &str) -> Option<(Memory, Option<&str>)> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("STREAM version ") {
        let version = rest.strip_prefix("$Revision: ")?.strip_suffix('$')?.trim();
        return Some((Memory::Host, Some(version)));
    }
    let rest = line.strip_prefix(CUDA_TITLE)?;
    (rest.is_empty() || rest.starts_with(" on device ")).then_some((Memory::Cuda, None))
}

/// Whose memory, and what one of the table's rates is in GB/s.
fn header(line: &str) -> Option<(Memory, f64)> {
    let names: Vec<&str> =
        line.strip_prefix("Function ")?.split("  ").map(str::trim).filter(|n| !n.is_empty()).collect();
    match names.as_slice() {
        ["Best Rate MB/s" | "Rate (MB/s)", "Avg time", "Min time", "Max time"] => Some((Memory::Host, 1e-3)),
        ["Rate (GB/s)", "Avg time(s)", "Min time(s)", "Max time(s)"] => Some((Memory::Cuda, 1.0)),
        ["Rate (GiB/s)", "Avg time(s)", "Min time(s)", "Max time(s)"] => Some((Memory::Cuda, 1.073_741_824)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
This system uses 8 bytes per array element.
Array size = 80000000 (elements), Offset = 0 (elements)
Number of Threads requested = 64
Number of Threads counted = 64
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:          250000.0     0.005200     0.005120     0.005300
Scale:         240000.0     0.005400     0.005333     0.005500
Add:           260000.0     0.007500     0.007385     0.007600
Triad:         261000.0     0.007400     0.007356
Solution Validates: avg error less than 1.000000e-13 on all three arrays
";
    const GPU: &str = "\
 STREAM Benchmark implementation in CUDA
 Array size (double precision) = 536.87 MB
 using 192 threads per block, 349526 blocks
 output in IEC units (KiB = 1024 B)

Function      Rate (GiB/s)  Avg time(s)  Min time(s)  Max time(s)
-----------------------------------------------------------------
Copy:         1000.0000     0.00100000   0.00090000   0.00110000
Triad:        1000.0000     0.00100000   0.00090000   0.00110000
";

    #[test]
    fn both_memories_in_their_units() {
        let runs = parse(format!("{HOST}{GPU}").as_bytes());
        let [host, gpu] = runs.as_slice() else { panic!("{runs:#?}") };
        assert_eq!(
            (host.version.as_deref(), host.elements, host.element_bytes),
            (Some("5.10"), Some(80_000_000), Some(8))
        );
        assert_eq!((host.threads, host.rows.len(), host.rows[0].best.0), (Some(64), 3, 250.0));
        assert_eq!(host.refused.kept[0].line, 11, "a row without its last value is none");
        assert_eq!((gpu.memory, gpu.array_mb, gpu.threads), (Memory::Cuda, Some(536.87), Some(192)));
        let copy = gpu.rows[0];
        assert!((copy.best.0 - 1_073.741_824).abs() < 1e-9 && (copy.time[1].0 - 900.0).abs() < 1e-9, "{copy:?}");
        assert_eq!((host.lines, gpu.lines), ((2, 12), (13, 21)));
    }

    #[test]
    fn what_several_processes_print_at_once_is_of_none_of_them() {
        let twice: String = GPU.lines().map(|l| format!("{l}\n{l}\n")).collect();
        let runs = parse(twice.as_bytes());
        assert_eq!(runs.iter().map(|r| (r.rows.len(), r.is_mixed)).collect::<Vec<_>>(), [(0, false), (2, true)]);
        let titles = GPU.lines().take(2).collect::<Vec<_>>().join("\n");
        let using = " using 192 threads per block, 349526 blocks\n";
        let runs = parse(format!("{titles}\n{using}{using}{}", GPU.get(titles.len()..).unwrap_or_default()).as_bytes());
        assert!(matches!(runs.as_slice(), [r] if r.is_mixed && r.rows.len() == 2), "{runs:#?}");
        let (head, table) = HOST.split_at(HOST.find("Function").expect("a table"));
        let runs = parse(format!("{head}{table}{table}").as_bytes());
        assert_eq!(
            runs.iter().map(|r| r.is_mixed).collect::<Vec<_>>(),
            [false, false],
            "two tables, one behind the other"
        );
    }

    #[test]
    fn prose_and_other_tables_are_none() {
        for text in [
            "Copy: 1.0 2.0 3.0 4.0\n",
            "Function  Total  Self\nCopy: 1 2 3 4\n",
            "STREAM version 5.10 prints\nCopy: 1.0 2.0 3.0 4.0\n",
            "Function    Best Rate MB/s of all\nCopy: 1 2 3 4\n",
        ] {
            assert_eq!(parse(text.as_bytes()), [], "{text}");
        }
        let wrong =
            "STREAM version $Revision: 5.10 $\nFailed Validation on array b[], AvgRelAbsErr > epsilon (1.000000e-13)\n";
        assert_eq!(parse(wrong.as_bytes())[0].failures[0].line, 2);
    }
}
