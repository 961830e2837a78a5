//! Who speaks: somebody who reports what his machine printed, or an author who writes about such messages (a guide, a README, the description of
//! a change, release notes, the specification of a detector). An author's lines fit the programs' grammar as well; what differs is the prose around them.
//!
//! One place decides it, from the lines that no program printed:
//! - **the lead**: the prose line above a pasted line. `Typical messages may include:`, `you will see`, `for example` announce an example;
//!   `I get`, `here is my dmesg` announce a report.
//! - **the signs of an author** anywhere in the text, each kind counted once: a change (`This PR …`), before and after, a title `fix(xid): …`, a guide's
//!   headings (`What it means`, `How to …`, `Root cause`), the reader addressed (`your system`), examples announced, detectors and their patterns, general
//!   statements (`often indicates`), likeness (`looks like`), a list of instructions.
//! - **the signs of a reporter**: first person, thanks, questions, the headings of issue templates.
//!
//! A line is quoted where an example leads to it, or where the text has two signs of an author and none of a reporter. A text without prose, which is how
//! people paste, has neither: it is never touched. A change (`This PR`, a title) needs no second sign.
//!
//! What it costs: a cause whose lines are all quoted becomes *possible*; it is not lost. On the 340 public reports of docs/doctor-reports-2026-11.md it takes the
//! assertion from 3 texts that describe a change or give an example, and from 1 that established what was asserted (a change's description that says what
//! `the logs will contain`); that cause is still first. Of 51 guides, changes, rules and tests that were looked at while this was written, 1 is still taken
//! for a report; of 15 hand-written reports with much prose, 1 lost its assertion (`Typical log of a crash:`).

mod authors;
mod reporters;
/// Signs of an author, one bit each.
mod sign {
    pub(super) const CHANGE: u16 = 1;
    pub(super) const BEFORE: u16 = 1 << 1;
    pub(super) const TITLE: u16 = 1 << 2;
    pub(super) const HEADING: u16 = 1 << 3;
    pub(super) const HEADINGS: u16 = 1 << 4;
    pub(super) const READER: u16 = 1 << 5;
    pub(super) const EXAMPLE: u16 = 1 << 6;
    pub(super) const DETECTOR: u16 = 1 << 7;
    pub(super) const GENERAL: u16 = 1 << 8;
    pub(super) const LIKENESS: u16 = 1 << 9;
    pub(super) const INSTRUCTIONS: u16 = 1 << 10;
}

use authors::{
    ADVICE, BEFORES, CHANGES, DETECTORS, EXAMPLES, GENERAL, HEADINGS, INSTRUCTIONS, LIKENESS, READER, SECTIONS,
};
use reporters::{ASKS, FIRST_PERSON, REPORTS};

/// Prose lines that are kept as leads, and other lines after which a text is a log, whatever prose is in it.
const MAX_LEADS: usize = 256;

const MAX_OTHER: u32 = 200;

/// Lines of prose after which no more is learnt of who speaks.
const MAX_PROSE: u32 = 5_000;

/// What a prose line announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// An example.
    Example,
    /// What the writer saw.
    Report,
    /// Neither.
    Plain,
}

/// The prose of one file.
#[derive(Debug, Default)]
pub(crate) struct Voice {
    leads: Vec<(u64, Lead)>,
    signs: u16,
    reports: u32,
    instructions: u32,
    /// Lines that are neither prose nor a program's that is known.
    other: u32,
    /// All others that were looked at.
    prose: u32,
}

impl Voice {
    /// A line that no known program printed.
    pub(crate) fn line(&mut self, number: u64, line: &str) {
        if self.other > MAX_OTHER || self.prose > MAX_PROSE || line.len() > 2000 {
            return;
        }
        let text = bare(line);
        if text.is_empty() {
            return;
        }
        self.prose += 1;
        let low = text.to_lowercase().replace('’', "'");
        let words: Vec<&str> = low.split_whitespace().map(|w| w.trim_matches(MARKS)).collect();
        let short = text.len() <= 90 && words.len() <= 12;
        let any = |phrases: &[&str]| phrases.iter().any(|p| low.contains(p));
        let word = |list: &[&str]| words.iter().any(|w| list.contains(w));
        let prose = is_prose(text);
        let alone = low.trim_end_matches([':', '.']).trim_matches('*').trim();
        let heading = short && !text.starts_with(['[', '<']) && any(HEADINGS) || SECTIONS.contains(&alone);
        let asked = ["q: ", "a: "].iter().any(|q| low.starts_with(q));
        if asked {
            self.signs |= sign::HEADINGS;
        }
        let title = is_title(&low);
        if title {
            self.signs |= sign::TITLE;
        }
        if prose || short {
            self.signs |= if any(CHANGES) { sign::CHANGE } else { 0 } | if any(BEFORES) { sign::BEFORE } else { 0 };
        }
        if heading {
            self.signs |= if self.signs & sign::HEADING == 0 { sign::HEADING } else { sign::HEADINGS };
        }
        if !(prose || heading || title || asked) {
            if short && any(EXAMPLES) {
                self.signs |= sign::EXAMPLE;
                self.lead(number, Lead::Example);
            } else if short && any(REPORTS) {
                self.reports += 1;
                self.lead(number, Lead::Report);
            } else {
                self.other += 1;
            }
            return;
        }
        let reports = word(FIRST_PERSON) || any(REPORTS);
        let example = any(EXAMPLES);
        let addressed = word(READER);
        if reports {
            self.reports += 1;
        } else {
            let signs = [
                (addressed && !any(ASKS), sign::READER),
                (example, sign::EXAMPLE),
                (any(DETECTORS), sign::DETECTOR),
                (any(GENERAL), sign::GENERAL),
                (any(LIKENESS), sign::LIKENESS),
            ];
            self.signs |= signs.iter().filter(|(is, _)| *is).fold(0, |all, (_, s)| all | s);
        }
        let ordered = low.split(". ").filter_map(|sentence| sentence.split_whitespace().next());
        let ordered = ordered.filter(|w| INSTRUCTIONS.contains(&w.trim_matches(MARKS))).count();
        self.instructions += u32::try_from(ordered).unwrap_or(u32::MAX);
        self.signs |= if self.instructions > 1 || any(ADVICE) { sign::INSTRUCTIONS } else { 0 };
        self.lead(
            number,
            match (reports, example) {
                (true, true) if addressed => Lead::Example,
                (true, _) => Lead::Report,
                (false, true) => Lead::Example,
                (false, false) => Lead::Plain,
            },
        );
    }

    fn lead(&mut self, number: u64, lead: Lead) {
        if self.leads.len() < MAX_LEADS {
            self.leads.push((number, lead));
        }
    }

    /// Whether an author quotes what is in a line.
    pub(crate) fn quotes(&self, line: u64) -> bool {
        if self.other > MAX_OTHER {
            return false;
        }
        let lead = self.leads.iter().rev().find(|(number, _)| *number < line).map(|(_, lead)| *lead);
        match lead {
            Some(Lead::Example) => true,
            Some(Lead::Report) => false,
            _ => {
                // Who says that this is a change needs no second sign.
                let signs = self.signs.count_ones() + (self.signs & (sign::CHANGE | sign::TITLE)).count_ones();
                signs >= 2 && self.reports == 0 || signs >= 4 && self.reports == 1
            }
        }
    }
}

const MARKS: &[char] = &['*', '_', ',', '.', ':', ';', '!', '?', '(', ')', '"', '\'', '`', '[', ']', '|'];

/// Without the marks of lists, headings and quotes.
fn bare(line: &str) -> &str {
    let mut text = line.trim();
    loop {
        let inner = text.trim_start_matches(['>', '+', '-', '*', '•', '#', ' ']);
        let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
        let numbered = inner
            .get(digits..)
            .filter(|_| (1..=2).contains(&digits))
            .and_then(|r| r.strip_prefix(". ").or_else(|| r.strip_prefix(") ")));
        let next = numbered.unwrap_or(inner);
        if next.len() == text.len() {
            return text;
        }
        text = next;
    }
}

/// Words, most of them plain ones; or a sentence of a script without spaces.
fn is_prose(text: &str) -> bool {
    if text.starts_with(['[', '<', '{', '/', '$']) {
        return false;
    }
    let (mut all, mut plain) = (0_usize, 0_usize);
    for word in text.split_whitespace().map(|w| w.trim_matches(MARKS)) {
        all += 1;
        let mut chars = word.chars();
        let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
        plain += usize::from(first && chars.all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '\'' | '’')));
    }
    (plain >= 3 && plain * 10 >= all * 6) || text.chars().filter(|c| *c > '\u{2e80}').count() >= 4
}

/// `fix(xid): …`, `[TICKET-1] feat: …`: the title of a change.
fn is_title(low: &str) -> bool {
    let text = low.strip_prefix('[').and_then(|r| r.split_once(']')).map_or(low, |(_, r)| r.trim_start());
    let Some((kind, rest)) = text.split_once(": ") else { return false };
    let kind = kind.trim_end_matches('!');
    let kind = kind.strip_suffix(')').and_then(|k| k.split_once('(')).map_or(kind, |(k, _)| k);
    !rest.is_empty() && ["feat", "fix", "doc", "docs", "chore", "refactor", "test", "tests", "perf"].contains(&kind)
}

#[cfg(test)]
mod tests;
