//! gpu-burn: whether each GPU computed rightly under load.
//!
//! Lines: `listenClients` of gpu_burn-drv.cpp. Progress is written over itself (`\r`), counts of errors begin again at each summary, and what a process that
//! died would have found is not counted: its GPU can end as `OK`.

use crate::bounds::{Kept, Limit, TEXT_ITEMS, leave_out};
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// gpu-burn.
pub const TOOL: Tool = Tool {
    name: "gpu-burn",
    called: "gpu-burn",
    run: "gpu_burn 60",
    gives: Gives::Facts,
    marks: &[
        Mark::line_with(|l| l.contains("proc'd: ") && l.contains("Gflop/s"), "errors:").holds(&["proc'd: "]),
        Mark::line_with(|l| tested(l).is_some(), "GPU 0: ").begins(&["Tested "]),
    ],
    commands: &[Command::any("gpu_burn"), Command::any("gpu-burn")],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "Burning for 60 seconds.\n100.0%  proc'd: 6120 (58230 Gflop/s)   errors: 0   temps: 61 C \n\nTested 1 GPUs:\n\tGPU 0: OK\n",
        "Tested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: FAULTY\n",
    ],
    ..Tool::NONE
};

/// A GPU of a run, by the number that CUDA gave it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gpu {
    /// Its number in the run.
    pub number: u32,
    /// 1-based line of its verdict, else of what was seen last of it.
    pub line: u32,
    /// `OK` is false, `FAULTY` true; `None`: the run did not come to its end.
    pub faulty: Option<bool>,
    /// Errors that were counted, all together, and the line of the first.
    pub errors: u64,
    /// 1-based line of the first error.
    pub errors_line: Option<u32>,
    /// 1-based line on which its process had died.
    pub died_line: Option<u32>,
    /// Multiplications that were counted; `None`: no progress is in the text.
    pub done: Option<u64>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Run {
    /// Its GPUs, by their numbers.
    pub gpus: Vec<Gpu>,
    /// `No clients are alive!  Aborting`.
    pub aborted_line: Option<u32>,
}

/// The runs of a text.
#[must_use]
pub fn parse(bytes: &[u8]) -> Kept<Run> {
    let (text, mut kept) = (decode(bytes), Kept::default());
    let mut reader = Reader::default();
    for (number, raw) in lines(&text) {
        for piece in raw.split('\r') {
            reader.line(piece.trim(), number, &mut kept);
        }
    }
    reader.end(&mut kept);
    kept
}

/// So many GPUs no node has.
const GPUS: u32 = 1024;

#[derive(Default)]
struct Reader {
    run: Run,
    /// The verdicts follow: of so many GPUs.
    verdicts: Option<u32>,
    /// What was counted since the last summary.
    last: Vec<u64>,
    /// Runs, and GPUs of them, that are kept.
    kept: usize,
}

impl Reader {
    fn line(&mut self, line: &str, number: u32, kept: &mut Kept<Run>) {
        if line.starts_with("Burning for ") {
            self.end(kept);
        } else if let Some(n) = tested(line) {
            self.verdicts = Some(n);
        } else if let Some((gpu, faulty)) = verdict(line).filter(|(gpu, _)| self.verdicts.is_some_and(|n| *gpu < n)) {
            if let Some(gpu) = self.gpu(gpu, number) {
                gpu.faulty = Some(faulty);
                gpu.line = number;
            }
        } else if line.contains("No clients are alive!") {
            self.run.aborted_line = Some(number);
        } else if line.starts_with("Summary at:") {
            self.last.clear();
        } else if let Some((done, errors)) = progress(line) {
            for (at, (done, (errors, died))) in (0..GPUS).zip(done.into_iter().zip(errors)) {
                let before = self.last.get(at as usize).copied().unwrap_or_default();
                let Some(gpu) = self.gpu(at, number) else { break };
                gpu.line = number;
                gpu.done = done.or(gpu.done);
                gpu.errors = gpu.errors.saturating_add(errors.saturating_sub(before));
                if errors > 0 {
                    gpu.errors_line = gpu.errors_line.or(Some(number));
                }
                if died || done.is_none() {
                    gpu.died_line = gpu.died_line.or(Some(number));
                }
                self.last.resize((at as usize + 1).max(self.last.len()), 0);
                if let Some(slot) = self.last.get_mut(at as usize) {
                    *slot = errors;
                }
            }
        }
    }

    /// A GPU of this run; they are numbered from 0 on without a gap.
    fn gpu(&mut self, number: u32, line: u32) -> Option<&mut Gpu> {
        if number >= GPUS {
            return None;
        }
        let blank =
            |number| Gpu { number, line, faulty: None, errors: 0, errors_line: None, died_line: None, done: None };
        while self.run.gpus.len() <= number as usize {
            let next = u32::try_from(self.run.gpus.len()).ok()?;
            self.run.gpus.push(blank(next));
        }
        self.run.gpus.get_mut(number as usize)
    }

    fn end(&mut self, kept: &mut Kept<Run>) {
        let (run, kept_items) = (std::mem::take(&mut self.run), self.kept);
        *self = Reader { kept: kept_items, ..Reader::default() };
        let line = run.gpus.first().map(|g| g.line).or(run.aborted_line);
        match line {
            None => {}
            Some(_) if kept_items < TEXT_ITEMS => {
                self.kept = kept_items + run.gpus.len() + 1;
                kept.items.push(run);
            }
            Some(line) => leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line),
        }
    }
}

/// `Tested 8 GPUs:`.
fn tested(line: &str) -> Option<u32> {
    line.strip_prefix("Tested ")?.strip_suffix(" GPUs:")?.parse().ok()
}

/// `GPU 0: OK`, `GPU 1: FAULTY`.
fn verdict(line: &str) -> Option<(u32, bool)> {
    let (number, word) = line.strip_prefix("GPU ")?.split_once(": ")?;
    let faulty = match word {
        "OK" => false,
        "FAULTY" => true,
        _ => return None,
    };
    Some((number.parse().ok()?, faulty))
}

/// What is counted of each GPU: multiplications, unless its process died; errors, and whether it died.
type Progress = (Vec<Option<u64>>, Vec<(u64, bool)>);

/// `50.0%  proc'd: 6120 (58230 Gflop/s) - 6100 (58100 Gflop/s)   errors: 0 - 2  (WARNING!)  temps: 61 C - 60 C`.
fn progress(line: &str) -> Option<Progress> {
    let (_, rest) = line.split_once("proc'd: ")?;
    let (done, rest) = rest.split_once("errors: ")?;
    // Without the temperatures the last number may be half a number.
    let (errors, _) = rest.split_once("temps:")?;
    let first = |part: &str| part.split_whitespace().next().map(str::to_owned);
    // A process that died counts -1.
    let done = done.split(" - ").map(|p| first(p)?.parse().ok()).collect();
    let errors = errors.split(" - ").map(|p| {
        // The count is an int, and may have gone over.
        let n = first(p).and_then(|n| n.parse::<i64>().ok()).unwrap_or_default().unsigned_abs();
        (n, p.contains("(DIED!)"))
    });
    Some((done, errors.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-1)
Using compare file: compare.ptx
Burning for 60 seconds.
5.0%  proc'd: 10 (100 Gflop/s) - 9 (90 Gflop/s)   errors: 0  - 2  (WARNING!)  temps: 61 C - -- \r8.0%  proc'd: 20 (100 Gflop/s) - 19 (90 Gflop/s)   errors: 0  - 3  (WARNING!)  temps: 61 C - 60 C
\tSummary at:   Fri Nov 20 10:00:00 UTC 2026

\r100.0%  proc'd: 90 (100 Gflop/s) - 80 (90 Gflop/s)   errors: 0  - 1  (WARNING!)  temps: 61 C - 60 C
Killing processes with SIGTERM (soft kill)
done

Tested 2 GPUs:
\tGPU 0: OK
\tGPU 1: FAULTY
";

    fn one(text: &str) -> Run {
        parse(text.as_bytes()).items.pop().unwrap()
    }

    #[test]
    fn a_run() {
        let gpus = one(RUN).gpus;
        let got: Vec<_> = gpus.iter().map(|g| (g.line, g.faulty, g.errors, g.errors_line, g.done)).collect();
        assert_eq!(got, [(13, Some(false), 0, None, Some(90)), (14, Some(true), 4, Some(5), Some(80))]);
        assert!(gpus.iter().all(|g| g.died_line.is_none()));
    }

    #[test]
    fn a_process_that_died_and_a_run_that_was_cut() {
        let died = "Burning for 9 seconds.\n9.0%  proc'd: -1 (0 Gflop/s) - 9 (9 Gflop/s)   errors: 0  (DIED!) - 0   temps: -- - 60 C\n\nTested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: OK\n";
        let gpus = one(died).gpus;
        assert_eq!(
            gpus.iter().map(|g| (g.died_line, g.faulty)).collect::<Vec<_>>(),
            [(Some(2), Some(false)), (None, Some(false))]
        );
        let cut = "Burning for 9 seconds.\n9.0%  proc'd: 9 (9 Gflop/s)   errors: 0   temps: 60 C\n9.5%  proc'd: 9 (9 Gflop/s)   errors: 1";
        let gpus = one(cut).gpus;
        assert_eq!(gpus.iter().map(|g| (g.line, g.faulty, g.errors)).collect::<Vec<_>>(), [(2, None, 0)]);
        let none = "Burning for 9 seconds.\n\nNo clients are alive!  Aborting\n";
        assert_eq!((one(none).gpus.len(), one(none).aborted_line), (0, Some(3)));
        assert_eq!(parse(RUN.repeat(2).as_bytes()).items.len(), 2);
    }

    #[test]
    fn what_is_no_verdict() {
        for text in [
            "GPU 0: OK\n",
            "Tested 1 GPUs:\n\tGPU 1: OK\n",
            "Tested 1 GPUs:\n\tGPU 0: O\n",
            "Tested -1 GPUs:\n",
            "proc'd: errors: temps:\n",
        ] {
            let faulty = parse(text.as_bytes()).items.into_iter().flat_map(|r| r.gpus).any(|g| g.faulty.is_some());
            assert!(!faulty, "{text}");
        }
        let many = "Tested 99999 GPUs:\nGPU 99998: FAULTY\n";
        assert!(parse(many.as_bytes()).items.is_empty());
    }
}
