//! Whether a line may be what a program printed: by its shape alone. Sentences, titles, lists, tables, commands and code say the same words.

use super::words::{
    AFTER, ARTICLES, CALM, CODE, CODE_BLOCKS, COMMANDS, KEYS, LEVELS, PEOPLE, SMALL_LEVELS, TELLING, TICKETS, TOLD,
};
use linerate_formats::printed;
use std::ops::Range;

/// Blocks between Markdown's fences.
#[derive(Debug, Default)]
pub(super) struct Fence {
    open: bool,
    code: bool,
}

impl Fence {
    /// Whether the line is a fence.
    pub(super) fn turns(&mut self, line: &str) -> bool {
        let text = line.trim_start_matches([' ', '>', '\t']);
        let Some(rest) = text.strip_prefix("```").or_else(|| text.strip_prefix("~~~")) else { return false };
        let name = rest.trim().to_ascii_lowercase();
        if name.contains(' ') || name.contains('`') {
            return false;
        }
        self.code = !self.open && has(CODE_BLOCKS, &name);
        self.open = !self.open;
        true
    }

    /// In a block of code or output: of code nothing counts.
    pub(super) fn is_open(&self) -> Option<Block> {
        self.open.then_some(if self.code { Block::Code } else { Block::Output })
    }
}

/// What a fenced block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Code,
    Output,
}

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

/// What of a machine stands before the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// A time, a place in a source, a process, a bracket of a logger.
    Loggers,
    /// A level, an address, which people write, too.
    Mark,
    Nothing,
}

impl Head {
    fn of(before: &str) -> Self {
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
pub(super) fn begins_a_log(line: &str) -> bool {
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
fn bare(word: &str) -> (&str, &str) {
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
mod tests {
    use super::*;

    #[test]
    fn heads_are_machines() {
        for head in [
            "[0] ",
            "E0511 07:42:36.355509 10240 rdma_context.cpp:198] ",
            "2026-09-17T14:25:57Z amdgpu 0000:04:00.0: ",
            "Error (gpu_burn-drv.cpp:304): ",
            "ERROR ",
            "libfabric::x():893<warn> ".trim_start_matches("libfabric::x():"),
            "node1 app[12]: ",
            "at 0x7f00aa: ",
        ] {
            assert_ne!(Head::of(head), Head::Nothing, "{head}");
        }
        for head in ["", "The node: ", "[Bug]: ", "[x] ", "[1/2] ib: ", "NVSHMEM: ", "[link](http://x) "] {
            assert_eq!(Head::of(head), Head::Nothing, "{head}");
        }
    }

    #[test]
    fn blocks_open_and_close() {
        let mut fence = Fence::default();
        assert!(fence.turns("```") && fence.is_open() == Some(Block::Output));
        assert!(!fence.turns("text") && fence.turns("```") && fence.is_open().is_none());
        assert!(fence.turns("  ```python") && fence.is_open() == Some(Block::Code) && fence.turns("```"));
        assert!(!fence.turns("```a b c```"));
    }
}
