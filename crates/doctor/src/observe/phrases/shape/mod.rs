//! Whether a line may be what a program printed: by its shape alone. Sentences, titles, lists, tables, commands and code say the same words.

mod fence;
mod head;

pub(crate) use fence::{Block, Fence};
pub(crate) use head::begins_a_log;

use super::words::{AFTER, CALM, CODE, COMMANDS, KEYS, PEOPLE, TELLING, TOLD};
use head::{Head, bare};
use linerate_formats::printed;
use std::ops::Range;

/// Whether a line in which a phrase was found is one that a program printed.
pub(super) fn is_output(line: &str, at: &Range<usize>, block: Option<Block>) -> bool {
    if block == Some(Block::Code) || is_code(line) {
        return false;
    }
    let (Some(before), Some(after)) = (line.get(..at.start), line.get(at.end..)) else { return false };
    let text = line.trim();
    // A comment or a mail quotes: what a logger marked is output all the same.
    let inner = text.trim_start_matches(['>', ' ']);
    let quoted = inner.len() < text.len();
    let head = Head::of(before.trim_start_matches(['>', ' ']));
    let headed = head == Head::Loggers;
    if quoted && head == Head::Nothing || is_listed(inner) || is_command(inner) || is_key(inner) {
        return false;
    }
    let told = person(before, PEOPLE) || !headed && person(before, TELLING);
    if told || before.contains('`') || after.contains('`') && block.is_none() {
        return false;
    }
    if before.split_whitespace().any(is_calm) {
        return false;
    }
    if headed {
        return true;
    }
    let told = block.is_none() && (after.contains('?') || person(after, TOLD));
    if told || person(after, AFTER) {
        return false;
    }
    let before = before.trim().trim_start_matches(['*', '_', '"', '\'']).trim();
    let plain = plain_words(before);
    let opens =
        before.is_empty() || plain <= 2 && before.ends_with([':', ']', ')', '>', '=', '|', '-', '\'', '"', ',']);
    let opens = opens || head == Head::Mark && plain <= 6;
    match block {
        Some(_) => opens || plain <= 8,
        None => opens && plain_words(after) <= 8 || plain <= 1 && plain_words(after) <= 4,
    }
}

/// Whether a line ends in its middle, as where a terminal broke it.
pub(super) fn is_broken(line: &str) -> bool {
    !line.trim_end().ends_with(['.', '!', '?', ':', ';', '`', '|'])
}

/// Whether a line may be the rest of the one before: no logger and no prompt begins it.
pub(super) fn goes_on(line: &str) -> bool {
    let text = line.trim_start();
    !text.is_empty()
        && !text.starts_with(['[', '<', '{', '`', '>', '$', '#', '|', '•'])
        && !is_listed(text)
        && printed::own(text).text.len() == text.len()
}

/// Small words of a sentence.
fn plain_words(text: &str) -> usize {
    let word = |w: &&str| {
        let w = w.trim_matches([',', '.', ':', ';', '!', '(', ')', '\'', '"']);
        w.len() > 1 && w.bytes().all(|b| b.is_ascii_lowercase())
    };
    text.split_whitespace().filter(word).count()
}

/// Whether a word is in a list, in any case.
fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|w| w.eq_ignore_ascii_case(word))
}

/// Whether a word is in a list as it is written.
fn is_one(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|w| w == word)
}

fn person(text: &str, words: &str) -> bool {
    let is = |w: &str| {
        let w = w.trim_matches(|c: char| !c.is_alphanumeric());
        has(words, w)
    };
    text.split_whitespace().any(is) || text.chars().filter(|c| *c > '\u{2e80}').count() >= 4
}

/// A level of what is well.
fn is_calm(word: &str) -> bool {
    is_one(CALM, bare(word).1)
}

/// A heading, an item of a list, a row of a table, a line of a patch.
fn is_listed(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let numbered =
        (1..=2).contains(&digits) && text.get(digits..).is_some_and(|r| r.starts_with(". ") || r.starts_with(") "));
    let mark = text.starts_with(['#', '+', '•', '-', '✅', '❌', '→'])
        || text.starts_with("* ")
        || text.starts_with("//")
        || text.starts_with("/*")
        || text.starts_with("<!--");
    mark || numbered || text.starts_with('|') && text.ends_with('|')
}

/// A shell's prompt or command.
fn is_command(text: &str) -> bool {
    let prompt = text.starts_with("$ ")
        || ["]$ ", "]# ", ":~$ ", ":~# ", ">>> "]
            .iter()
            .any(|p| text.get(..text.len().min(100)).unwrap_or(text).contains(p));
    let first = text.split_whitespace().next().unwrap_or_default();
    let piped = [" | grep", " && ", " | awk", " | tail", " | head", " 2>&1", " || "].iter().any(|p| text.contains(p));
    prompt || piped || is_one(COMMANDS, first)
}

/// A key of a rule, a test, a description: `regex: …`, `"pattern": …`.
fn is_key(text: &str) -> bool {
    let text = text.trim_start_matches(['"', '\'', '{', ' ']);
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(text.len());
    let (key, rest) = text.split_at(end);
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    rest.starts_with([':', '=']) && has(KEYS, key)
}

/// A line of a source, a test, a pattern.
fn is_code(line: &str) -> bool {
    let text = line.trim();
    text.ends_with(['{', ';', '\\'])
        || text.ends_with("\",")
        || text.ends_with("',")
        || CODE.iter().any(|c| text.contains(c))
}

#[cfg(test)]
mod tests;
