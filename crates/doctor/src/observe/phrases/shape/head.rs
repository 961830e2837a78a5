//! What comes before the words of a line: a machine, or a person.

use super::{has, is_one};
use crate::observe::phrases::words::{ARTICLES, LEVELS, SMALL_LEVELS, TICKETS};
use linerate_formats::printed;

/// What of a machine comes before the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// A time, a place in a source, a process, a bracket of a logger.
    Loggers,
    /// A level, an address, which people write, too.
    Mark,
    Nothing,
}

impl Head {
    pub(super) fn of(before: &str) -> Self {
        let text = before.trim_start();
        let first = text.split_whitespace().next().unwrap_or_default();
        let bracket = text.starts_with('[') && text.contains(']') && !text.contains("](") && !is_ticket(text);
        if bracket || printed::own(before).text.len() < text.len() {
            return Head::Loggers;
        }
        if text.is_empty() || has(ARTICLES, first) {
            return Head::Nothing;
        }
        let marks = || text.split_whitespace().map(bare);
        if marks().any(|(word, bare)| is_loggers(word, bare)) {
            Head::Loggers
        } else if marks().any(|(word, bare)| is_mark(word, bare)) {
            Head::Mark
        } else {
            Head::Nothing
        }
    }
}

/// Whether a line begins as a logger's does, and no title: with a time or a bracket.
pub(crate) fn begins_a_log(line: &str) -> bool {
    let text = line.trim_start();
    let word = text.split_whitespace().next().unwrap_or_default();
    let time = word.len() > 4 && word.bytes().filter(u8::is_ascii_digit).count() >= 4;
    time || if text.starts_with('[') { !is_ticket(text) } else { printed::own(text).text.len() < text.len() }
}

/// `[Bug]: `, `[x] `, `[1/2] fix`: of a ticket, a list, a series of patches.
fn is_ticket(text: &str) -> bool {
    let inside = text.get(1..).and_then(|t| t.split_once(']')).map_or("", |(i, _)| i.trim()).to_ascii_lowercase();
    inside.is_empty()
        || TICKETS.split_whitespace().any(|t| inside.starts_with(t))
        || inside.contains('/') && inside.len() < 6
}

/// A word, and what is between its marks.
pub(super) fn bare(word: &str) -> (&str, &str) {
    (word, word.trim_matches(['(', ')', '[', ']', '<', '>', ',', '"', ':', '{', '}', '|']))
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

fn is_loggers(word: &str, bare: &str) -> bool {
    let clock = bare.bytes().filter(|b| *b == b':').count() >= 2 && digits(bare) >= 5;
    let place = bare.rsplit_once(':').is_some_and(|(file, n)| {
        let number = !n.is_empty() && digits(n) == n.len();
        number && file.contains('.') && file.bytes().any(|b| b.is_ascii_alphabetic())
    });
    let process = word.ends_with("]:") && word.contains('[') && digits(word) > 0;
    clock || place || process || ["<warn>", "<error>", "<critical>"].iter().any(|l| word.ends_with(l))
}

fn is_mark(word: &str, bare: &str) -> bool {
    let address = bare.starts_with("0x") && digits(bare) > 1;
    address || is_one(LEVELS, bare) || is_one(SMALL_LEVELS, word)
}
