//! Line by line: what belongs to which rank and run.

use super::line::{self, Found};
use super::run::{Failure, FailureKind, Note, NoteKind, Rank, Run, Seconds, Setup, Step, TFlops, Who};
use crate::bounds::{BENCH_LOG_LINE, Limit, TORCHTITAN_COPIES, TORCHTITAN_RANKS, TORCHTITAN_STEPS, leave_out};
use crate::clock;
use crate::error::Why;
use crate::record::{Recorder, keep};
use crate::text::{self, At};
use crate::torch_log::is_error_class;
use crate::units::GiB;
use aho_corasick::AhoCorasick;
use memchr::memmem::Finder;
use smol_str::SmolStr;
use std::collections::HashMap;
use std::sync::LazyLock;

static STEP: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("step:"));

/// What another line must contain to be looked at.
static MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let marks = [
        " capacity: ",
        "Peak FLOPS",
        "raining starts at step",
        "Trainer is initialized with",
        "Training completed",
        "memory allocation retries",
        "is being re-looped",
        "OutOfMemoryError",
        "OOM errors thrown",
        "Starting job",
        "Error: ",
    ];
    crate::text::any_of(marks)
});

/// Reads lines as they come. Keeps no text.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    /// Ranks by their tags: places in the run's list.
    places: HashMap<Who, Vec<usize>>,
    /// Milliseconds of the first line of a step that has a time.
    begin: Option<i64>,
    kept: usize,
    /// The last line of a step: rank, validation, fields.
    last: Option<(usize, bool, u8)>,
    /// Fields of most lines.
    usual: u8,
}

/// Where a line belongs.
enum Place {
    /// To the rank at this place in the run's list.
    At(usize),
    /// It says again what was said.
    Repeated,
    /// There are more ranks than are kept.
    Full(Limit),
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let (reader, is_whole) =
        text::read(bytes, |reader: &mut Reader, number, line| reader.line(number, line.as_bytes()));
    reader.finish_cut(!is_whole)
}

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, bytes: &[u8]) {
        let bytes = bytes.get(..BENCH_LOG_LINE).unwrap_or(bytes);
        let at = STEP.find(bytes);
        if at.is_none() && MARKS.as_ref().is_some_and(|m| !m.is_match(bytes)) {
            return;
        }
        let text = text::decode(bytes);
        let (who, rest) = line::who(text.trim_end());
        let (stamp, message) = head(rest);
        if let Some(at) = message.find("step:") {
            let (before, fields) = message.split_at_checked(at).unwrap_or((message, ""));
            let before = before.trim_end();
            let is_validation = before.ends_with("validate");
            let is_own = before.is_empty() || is_validation || before.ends_with([']', ':', '-', '>']);
            if is_own && let Some(found) = line::fields(number, fields, is_validation) {
                self.step(number, who, stamp, found);
                return;
            }
        }
        self.other(number, who, message);
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(self) -> Vec<Run> {
        self.finish_cut(false)
    }

    /// `is_cut`: the text does not end with a line's end.
    fn finish_cut(mut self, is_cut: bool) -> Vec<Run> {
        if is_cut {
            self.drop_cut();
        }
        self.end_run();
        self.record.finish()
    }

    fn step(&mut self, number: u32, who: Who, stamp: Option<i64>, mut found: Found) {
        #[allow(clippy::cast_precision_loss)] // A run of 2⁵³ ms would be long.
        let since = |begin: Option<i64>| stamp.map(|ms| Seconds((ms - begin.unwrap_or(ms)) as f64 / 1000.0));
        found.step.at = since(self.begin);
        let place = match self.place(&who, &found) {
            Place::At(place) => place,
            Place::Repeated => {
                self.record.touch(number).repeated += 1;
                return;
            }
            Place::Full(limit) => return leave_out(&mut self.record.touch(number).left_out, limit, number),
        };
        // Again: the line may have begun a new run.
        self.begin = self.begin.or(stamp);
        found.step.at = since(self.begin);
        self.last = Some((place, found.is_validation, found.fields));
        if !found.is_validation {
            self.usual |= found.fields;
        }
        let step = found.step.step;
        let full = self.kept >= TORCHTITAN_STEPS;
        let run = self.record.touch(number);
        for (field, what) in found.not_finite {
            fail(run, Failure { line: number, step: Some(step), kind: FailureKind::NotFinite(field, what) });
        }
        for why in found.refused {
            run.refused.push(number, why);
        }
        if found.hides_loss {
            note(run, number, NoteKind::LossNotVisible);
        }
        if full {
            return leave_out(&mut run.left_out, Limit::TORCHTITAN_STEPS, number);
        }
        if let Some(rank) = run.ranks.get_mut(place) {
            if found.is_validation {
                rank.validation.push(found.step)
            } else {
                rank.steps.push(found.step)
            }
            self.kept += 1;
        }
    }

    /// The rank of a line.
    fn place(&mut self, who: &Who, found: &Found) -> Place {
        let step = found.step.step;
        let list = |r: &'_ Rank| -> Option<u64> {
            if found.is_validation { r.validation.last() } else { r.steps.last() }.map(|s| s.step)
        };
        let places = self.places.get(who).map_or(&[][..], Vec::as_slice);
        let of = |place: usize| self.record.run.ranks.get(place);
        // Of several, the one that is furthest on and has not said this step.
        let open = places.iter().copied().filter(|p| of(*p).is_none_or(|r| list(r).is_none_or(|last| last < step)));
        if let Some(best) = open.max_by_key(|p| (of(*p).and_then(list), usize::MAX - p)) {
            return Place::At(best);
        }
        let is_named = who.rank.is_some();
        let is_same = |s: &Step| Step { line: found.step.line, ..s.clone() } == found.step;
        let of_step = |r: &Rank| {
            let all = if found.is_validation { &r.validation } else { &r.steps };
            all.iter().rev().take(2).find(|s| s.step == step).is_some_and(is_same)
        };
        if is_named && places.iter().any(|p| of(*p).is_some_and(of_step)) {
            return Place::Repeated;
        }
        // All ranks begin together: a rank whose first line comes when others are far is not late: it is a new beginning.
        let is_young = |p: &usize| of(*p).is_none_or(|r| r.steps.len() <= 2);
        let is_new_rank = places.is_empty() || !is_named && places.iter().all(is_young);
        if !is_new_rank {
            self.end_run();
        }
        let copies = self.places.entry(who.clone()).or_default();
        if self.record.run.ranks.len() >= TORCHTITAN_RANKS {
            return Place::Full(Limit::TORCHTITAN_RANKS);
        }
        if copies.len() >= TORCHTITAN_COPIES {
            return Place::Full(Limit::TORCHTITAN_COPIES);
        }
        let copy = u32::try_from(copies.len()).unwrap_or(u32::MAX);
        copies.push(self.record.run.ranks.len());
        self.record.run.ranks.push(Rank { who: who.clone(), copy, ..Rank::default() });
        Place::At(self.record.run.ranks.len() - 1)
    }

    fn other(&mut self, number: u32, who: Who, text: &str) {
        if text.contains("Starting job") || text.contains("raining starts at step") {
            if self.begins_anew(&who) {
                self.end_run();
            }
            self.setup(number, text);
        } else if text.contains("Trainer is initialized with") {
            self.setup(number, text);
        } else if let Some((_, rest)) = text.split_once(" capacity: ") {
            let Some((name, rest)) = rest.rsplit_once(" with ") else { return };
            let Some(size) = rest.split_once("GiB").and_then(|(n, _)| line::grouped(n.trim())) else { return };
            let name: SmolStr = name.trim().chars().take(128).collect::<String>().into();
            let run = self.record.touch(number);
            run.device.get_or_insert(At::new(name, number));
            run.capacity.get_or_insert(At::new(GiB(size), number));
        } else if let Some((_, rest)) = text.split_once("Peak FLOPS used for computing MFU:") {
            if let Some(v) = rest.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0) {
                self.record.touch(number).peak.get_or_insert(At::new(TFlops(v / 1e12), number));
            }
        } else if text.contains("Peak FLOPS undefined") || text.contains("Peak flops undefined") {
            note(self.record.touch(number), number, NoteKind::PeakUnknown);
        } else if text.ends_with("Training completed") || text.contains("Training completed") {
            self.record.touch(number).is_complete = true;
        } else if text.contains("memory allocation retries") {
            note(self.record.touch(number), number, NoteKind::AllocationRetries);
        } else if text.contains("is being re-looped") {
            note(self.record.touch(number), number, NoteKind::DatasetLooped);
        } else if text.contains("OutOfMemoryError") || text.contains("OOM errors thrown") {
            fail(self.record.touch(number), Failure { line: number, step: None, kind: FailureKind::OutOfMemory });
        } else if !self.record.run.ranks.is_empty() && is_error_class(text) {
            let message = text.trim().chars().take(300).collect();
            fail(
                self.record.touch(number),
                Failure { line: number, step: None, kind: FailureKind::Exception(message) },
            );
        }
    }

    /// Every rank says that it begins, and one may be late: it counts where that rank has steps already.
    fn begins_anew(&self, who: &Who) -> bool {
        let least = if who.rank.is_some() { 1 } else { 3 };
        let places = self.places.get(who);
        places.is_some_and(|p| p.iter().any(|p| self.record.run.ranks.get(*p).is_some_and(|r| r.steps.len() >= least)))
    }

    fn setup(&mut self, number: u32, text: &str) {
        let after = |name: &str| {
            let (_, rest) = text.split_once(name)?;
            text::leading_number::<u64>(rest)
        };
        let setup = Setup {
            local_batch: after("local batch size "),
            global_batch: after("global batch size "),
            sequence: after("sequence length "),
            total_steps: after("total steps "),
        };
        if setup != Setup::default() {
            self.record.touch(number).setup.get_or_insert(At::new(setup, number));
        }
    }

    /// The last line of a text without a line's end: fewer fields than the others say that it is cut.
    fn drop_cut(&mut self) {
        let Some((place, false, fields)) = self.last else { return };
        if fields == self.usual || self.kept < 2 {
            return;
        }
        let Some(step) = self.record.run.ranks.get_mut(place).and_then(|r| r.steps.pop()) else { return };
        self.record.run.ranks.retain(|r| !r.steps.is_empty() || !r.validation.is_empty());
        let why = Why::Missing("the text ends in this line, and fields of the lines before are missing");
        self.record.run.refused.push(step.line, why);
    }

    fn end_run(&mut self) {
        self.places.clear();
        (self.begin, self.last, self.usual) = (None, None, 0);
        // What comes before the first step belongs to it.
        if self.record.run.ranks.is_empty() && self.record.run.refused.is_empty() {
            return;
        }
        let Some(mut run) = self.record.end() else { return };
        // Clocks of several nodes, or lines that overtook others: the first time is the least.
        let steps =
            |r: &Rank| r.steps.iter().chain(&r.validation).filter_map(|s| s.at).fold(0.0, |m: f64, s| m.min(s.0));
        let least = run.ranks.iter().map(steps).fold(0.0, f64::min);
        if least < 0.0 {
            let all = run.ranks.iter_mut().flat_map(|r| r.steps.iter_mut().chain(&mut r.validation));
            all.for_each(|s| s.at = s.at.map(|t| Seconds(t.0 - least)));
        }
        if run.ranks.len() > 1 && run.ranks.iter().any(|r| r.copy > 0) {
            let line = run.lines.0;
            note(&mut run, line, NoteKind::RanksNotNamed);
        }
        self.record.push(run);
    }
}

/// `[titan] 2025-07-21 15:57:42,774 - root - INFO - message`: the time, and the message. Before the program's name was put in
/// front, the line began with the time.
fn head(text: &str) -> (Option<i64>, &str) {
    let inner = match text.strip_prefix('[') {
        Some(r) => r.split_once(']').map_or(text, |(_, rest)| rest.trim_start()),
        None => text,
    };
    let Some(stamp) = clock::milliseconds(inner) else { return (None, text) };
    let message = inner.splitn(4, " - ").nth(3).unwrap_or(inner);
    (Some(stamp), message)
}

fn fail(run: &mut Run, failure: Failure) {
    let line = failure.line;
    keep(&mut run.failures, failure, Limit::TORCHTITAN_FAILURES, line, &mut run.left_out);
}

/// One remark of each kind says it.
fn note(run: &mut Run, line: u32, kind: NoteKind) {
    if run.notes.iter().all(|n| n.kind != kind) {
        run.notes.push(Note { line, kind });
    }
}
