//! Times of steps that training frameworks log: Megatron-LM (`elapsed time per iteration (ms): 4532.1`), DeepSpeed (`iter time (s): 0.512`), NeMo
//! (`train_step_timing in s: 5.1`), MLPerf (`:::MLLOG` with `tracked_stats` and a throughput), TorchTitan (`tps: 10,050`; all
//! that its lines say is read by [`crate::torchtitan`]).
//!
//! Every rank may log the same step: the first line of a step counts.

use crate::bounds::{BENCH_LOG_LINE, LeftOut, Limit, TRAIN_RUNS, TRAIN_STEPS, leave_out};
use crate::text;
use aho_corasick::AhoCorasick;
use serde::Serialize;
use std::sync::LazyLock;

/// What a line of a step has.
const MARKS: [&str; 7] = [
    " tps:",
    " wps:",
    "elapsed time per iteration (ms):",
    "iter time (s):",
    "train_step_timing in s",
    "\"tracked_stats\"",
    "\"throughput\"",
];
static FIND: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| crate::text::any_of(MARKS));

/// Unit of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Seconds of a step.
    Seconds,
    /// Samples or tokens in a second.
    PerSecond,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Step {
    /// 1-based line.
    pub line: u32,
    /// Its number.
    pub step: u64,
    /// In the run's unit.
    pub value: f64,
}

/// One training: steps that ascend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Framework.
    pub framework: &'static str,
    /// Unit of its steps.
    pub unit: Unit,
    /// By number.
    pub steps: Vec<Step>,
    /// Steps beyond the limit.
    pub left_out: Vec<LeftOut>,
}

/// Reads lines as they come. Keeps no text.
#[derive(Debug, Default)]
pub struct Reader {
    runs: Vec<Run>,
}

/// Reads a whole text.
#[must_use]
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let (reader, _) = text::read(bytes, |reader: &mut Reader, number, line| reader.line(number, line.as_bytes()));
    reader.finish()
}

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, bytes: &[u8]) {
        if bytes.len() > BENCH_LOG_LINE || FIND.as_ref().is_some_and(|m| !m.is_match(bytes)) {
            return;
        }
        let line = text::decode(bytes);
        let Some((framework, unit, step, value)) = read(&line) else { return };
        if !value.is_finite() || value <= 0.0 {
            return;
        }
        let last = self.runs.last().and_then(|r| r.steps.last().map(|s| (r.framework, s.step)));
        match last {
            Some((of, before)) if of == framework && step == before => return,
            Some((of, before)) if of == framework && step > before => {}
            _ if self.runs.len() >= TRAIN_RUNS => return,
            _ => self.runs.push(Run { framework, unit, steps: Vec::new(), left_out: Vec::new() }),
        }
        let Some(run) = self.runs.last_mut() else { return };
        if run.steps.len() >= TRAIN_STEPS {
            leave_out(&mut run.left_out, Limit::TRAIN_STEPS, number);
        } else {
            run.steps.push(Step { line: number, step, value });
        }
    }

    /// The runs.
    #[must_use]
    pub fn finish(self) -> Vec<Run> {
        self.runs
    }
}

/// Framework, unit, step, value.
fn read(line: &str) -> Option<(&'static str, Unit, u64, f64)> {
    if let Some(ms) = number_behind(line, "elapsed time per iteration (ms):") {
        return Some(("Megatron-LM", Unit::Seconds, whole_behind(line, "iteration ")?, ms / 1000.0));
    }
    if let Some(s) = number_behind(line, "iter time (s):") {
        return Some((
            "DeepSpeed",
            Unit::Seconds,
            whole_behind(line, "steps:").or_else(|| whole_behind(line, "step="))?,
            s,
        ));
    }
    for mark in ["train_step_timing in s=", "train_step_timing in s:"] {
        if let Some(s) = number_behind(line, mark) {
            let step = whole_behind(line, "global_step=").or_else(|| whole_behind(line, "global_step:"));
            return Some(("NeMo", Unit::Seconds, step.or_else(|| whole_behind(line, "iteration "))?, s));
        }
    }
    for mark in [" tps:", " wps:"] {
        if let Some(rate) = line.contains("loss:").then(|| number_behind(line, mark)).flatten() {
            return Some(("TorchTitan", Unit::PerSecond, whole_behind(line, "step:")?, rate));
        }
    }
    if line.contains(":::MLLOG") {
        let rate = number_behind(line, "\"throughput\":")?;
        let step = whole_behind(line, "\"step\":").or_else(|| whole_behind(line, "\"samples_count\":"))?;
        return Some(("MLPerf", Unit::PerSecond, step, rate));
    }
    None
}

/// The number behind a mark.
fn number_behind(line: &str, mark: &str) -> Option<f64> {
    let rest = line.split_once(mark)?.1.trim_start();
    let end = rest
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | 'e' | 'E' | '+' | '-')))
        .unwrap_or(rest.len());
    let number = rest.get(..end)?.trim_end_matches(',');
    if number.contains(',') { number.replace(',', "").parse().ok() } else { number.parse().ok() }
}

/// The whole number behind a mark; `99.0` is 99.
fn whole_behind(line: &str, mark: &str) -> Option<u64> {
    let rest = line.split_once(mark)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_frameworks() {
        for (line, want) in [
            (
                " iteration       10/  500000 | consumed samples:         2560 | elapsed time per iteration (ms): 4500.0 | throughput per GPU (TFLOP/s/GPU): 401.2 | learning rate: 1.5E-04 |",
                ("Megatron-LM", Unit::Seconds, 10, 4.5),
            ),
            (
                "steps: 40 loss: 2.3112 iter time (s): 0.512 samples/sec: 250.012",
                ("DeepSpeed", Unit::Seconds, 40, 0.512),
            ),
            (
                "Epoch 0: :   2%|2         | 100/5000 [02:10<1:46:10, v_num=0, reduced_train_loss=6.9, global_step=99.0, consumed_samples=25600.0, train_step_timing in s=1.250]",
                ("NeMo", Unit::Seconds, 99, 1.25),
            ),
            (
                "Training epoch 0, iteration 12/999 | lr: 3e-06 | global_batch_size: 512 | global_step: 12 | reduced_train_loss: 11.03 | train_step_timing in s: 5.123",
                ("NeMo", Unit::Seconds, 12, 5.123),
            ),
            (
                "[rank0]:[titan] 2025-07-21 15:57:42,774 - root - INFO - step: 30  loss:  4.9  memory:  0.00GiB(0.00%)  tps: 30,768  mfu: 0.32%",
                ("TorchTitan", Unit::PerSecond, 30, 30_768.0),
            ),
            (
                ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"POINT_IN_TIME\", \"key\": \"tracked_stats\", \"value\": {\"throughput\": 512.5}, \"metadata\": {\"file\": \"x\", \"step\": 100}}",
                ("MLPerf", Unit::PerSecond, 100, 512.5),
            ),
        ] {
            assert_eq!(read(line), Some(want), "{line}");
        }
        for line in ["elapsed time per iteration (ms): 12", "iter time (s): x", "steps: 4 loss: 2", ""] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn ranks_repeat_steps_and_a_restart_begins_anew() {
        let line = |step: u32, s: f64| format!("steps: {step} loss: 2.0 iter time (s): {s} samples/sec: 1\n");
        let text: String =
            [(1, 0.5), (1, 0.6), (2, 0.5), (2, 0.5), (1, 0.7), (2, 0.7)].map(|(n, s)| line(n, s)).concat();
        let runs = parse(text.as_bytes());
        let seen: Vec<Vec<(u64, u32)>> =
            runs.iter().map(|r| r.steps.iter().map(|s| (s.step, s.line)).collect()).collect();
        assert_eq!(seen, [vec![(1, 1), (2, 3)], vec![(1, 5), (2, 6)]]);
    }
}
