//! A third look at lines that fit no program's grammar: phrases that an expert knows anywhere in a line that looks like a program's output. The phrases
//! stand in `phrases/table.tsv`, one to a line; [`shape`] decides whether a line may be output at all. What is found so is never asserted, and
//! counts only where no other look found a cause, and nobody writes about such messages: see `causes::phrased`.

mod shape;
mod table;
mod words;

pub(crate) use table::phrases;

use super::Observer;
use super::groups::{Groups, Seen};
use crate::place::Place;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use shape::Fence;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Longest line that is looked at.
const MAX_LINE: usize = 4 << 10;
/// Lines that are joined with the one before, in all inputs: what a terminal wrapped is pasted, and short.
const MAX_JOINS: u32 = 2_000;
/// Bytes of a line that a terminal or a mail may have broken.
const WRAPPED: std::ops::RangeInclusive<usize> = 56..=132;
/// Lines of a text whose first line is no title.
const NO_TITLE: u64 = 2;

/// What was found, and what is needed to read on.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// By number of the phrase.
    pub(crate) found: Groups<usize>,
    fence: Fence,
    /// The last line, where it may go on in the next.
    before: Option<(Place, String)>,
    joins: u32,
    /// What a bare first line says: it counts where no text follows, whose title it would be.
    title: Option<(usize, Place, String)>,
}

impl Observer {
    /// Looks for phrases in a line that no program's grammar fits. Lines of other programs end what was broken.
    pub(super) fn look_for_phrases(&mut self, place: Place, line: &str) {
        if !self.is_second && line.len() <= MAX_LINE {
            self.phrases.line(place, line);
        }
    }
}

impl Reader {
    fn line(&mut self, place: Place, line: &str) {
        if self.fence.turns(line) {
            self.before = None;
            return;
        }
        let before = self.before.take().filter(|(p, _)| p.file == place.file && p.line + 1 == place.line);
        let found = best(line);
        let counts = found.as_ref().is_some_and(|(which, at)| self.judge(place, line, *which, at));
        if let Some((first, start)) = before.filter(|_| !counts && self.joins < MAX_JOINS && shape::goes_on(line)) {
            self.joins += 1;
            for joint in ["", " "] {
                let whole = format!("{start}{joint}{}", if joint.is_empty() { line } else { line.trim_start() });
                // What ends before the break was looked at.
                if let Some((which, at)) = best(&whole).filter(|(_, at)| at.end > start.len())
                    && self.judge(first, &whole, which, &at)
                {
                    break;
                }
            }
        }
        if self.joins < MAX_JOINS && WRAPPED.contains(&line.len()) && shape::is_broken(line) {
            self.before = Some((place, line.to_owned()));
        }
    }

    /// Whether a phrase in a line counts.
    fn judge(&mut self, place: Place, line: &str, which: usize, at: &Range<usize>) -> bool {
        if !shape::is_output(line, at, self.fence.is_open()) {
            return false;
        }
        // What may be a title.
        if place.line == 1 && !shape::begins_a_log(line) {
            self.title = Some((which, place, line.to_owned()));
        } else {
            self.add(which, place, line);
        }
        true
    }

    fn add(&mut self, which: usize, place: Place, line: &str) {
        let stamp = linerate_formats::nccl_log::stamp::find(line);
        self.found.add(which, &Seen { place, text: line, stamp, process: None, rank: None, host: None });
    }

    /// The file ends.
    pub(super) fn close(&mut self, lines: u64) {
        if let Some((which, place, line)) = self.title.take().filter(|_| lines <= NO_TITLE) {
            self.add(which, place, &line);
        }
        (self.fence, self.before) = (Fence::default(), None);
    }
}

/// The phrase of a line that says most, and where it is.
fn best(line: &str) -> Option<(usize, Range<usize>)> {
    static ANCHORS: LazyLock<Option<Anchors>> = LazyLock::new(Anchors::build);
    let anchors = ANCHORS.as_ref()?;
    anchors.find.find(line)?;
    let low = line.to_ascii_lowercase();
    let mut fits: Option<(usize, usize, Range<usize>)> = None;
    for m in anchors.find.find_overlapping_iter(line) {
        for which in anchors.phrases.get(m.pattern().as_usize())? {
            let phrase = phrases().get(*which)?;
            let Some(at) = phrase.find(&low) else { continue };
            let weight = phrase.weight();
            if fits.as_ref().is_none_or(|(most, first, _)| (weight, *first) > (*most, *which)) {
                fits = Some((weight, *which, at));
            }
        }
    }
    fits.map(|(_, which, at)| (which, at))
}

/// One matcher of each phrase's longest fragment.
struct Anchors {
    find: AhoCorasick,
    phrases: Vec<Vec<usize>>,
}

impl Anchors {
    fn build() -> Option<Self> {
        let mut by_anchor: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (which, p) in phrases().iter().enumerate() {
            by_anchor.entry(p.anchor()).or_default().push(which);
        }
        let find = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .ascii_case_insensitive(true)
            .build(by_anchor.keys())
            .ok()?;
        Some(Anchors { find, phrases: by_anchor.into_values().collect() })
    }
}

#[cfg(test)]
mod tests;
