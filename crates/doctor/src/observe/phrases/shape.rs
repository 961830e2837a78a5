//! Whether a line may be what a program printed: by its shape alone. Sentences, titles, lists, tables, commands and code say the same words.

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
        self.code = !self.open && CODE_BLOCKS.contains(&name.as_str());
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
    let asks = text.ends_with('?') && block.is_none();
    if asks || person(after, AFTER) {
        return false;
    }
    let before = before.trim().trim_start_matches(['*', '_', '"', '\'']).trim();
    let plain = plain_words(before);
    let opens =
        before.is_empty() || plain <= 2 && before.ends_with([':', ']', ')', '>', '=', '|', '-', '\'', '"', ',']);
    let opens = opens || head == Head::Mark && plain <= 4;
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

fn person(text: &str, words: &[&str]) -> bool {
    let is = |w: &str| {
        let w = w.trim_matches(|c: char| !c.is_alphanumeric());
        words.iter().any(|p| p.eq_ignore_ascii_case(w))
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
        if text.is_empty() || ARTICLES.iter().any(|a| a.eq_ignore_ascii_case(first)) {
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
    inside.is_empty() || TICKETS.iter().any(|t| inside.starts_with(t)) || inside.contains('/') && inside.len() < 6
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
    address || LEVELS.contains(&bare) || SMALL_LEVELS.contains(&word)
}

/// A level of what is well.
fn is_calm(word: &str) -> bool {
    CALM.contains(&bare(word).1)
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
    prompt || piped || COMMANDS.contains(&first)
}

/// A key of a rule, a test, a description: `regex: …`, `"pattern": …`.
fn is_key(text: &str) -> bool {
    let text = text.trim_start_matches(['"', '\'', '{', ' ']);
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(text.len());
    let (key, rest) = text.split_at(end);
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    rest.starts_with([':', '=']) && KEYS.iter().any(|k| k.eq_ignore_ascii_case(key))
}

/// A line of a source, a test, a pattern.
fn is_code(line: &str) -> bool {
    let text = line.trim();
    text.ends_with(['{', ';', '\\'])
        || text.ends_with("\",")
        || text.ends_with("',")
        || CODE.iter().any(|c| text.contains(c))
}

const CODE_BLOCKS: &[&str] = &[
    "c",
    "cpp",
    "c++",
    "cuda",
    "cu",
    "go",
    "golang",
    "rust",
    "rs",
    "python",
    "py",
    "java",
    "js",
    "javascript",
    "ts",
    "typescript",
    "diff",
    "patch",
    "yaml",
    "yml",
    "toml",
    "dockerfile",
    "hcl",
    "promql",
    "regex",
    "sql",
    "perl",
];
const CODE: &[&str] = &[
    "%s",
    "%d",
    "%u",
    "%lu",
    "%x",
    "%zu",
    "%ld",
    "%p",
    "{}",
    "{0}",
    ".*",
    "\\d",
    "\\s",
    "\\w",
    "\\[",
    "\\.",
    "(?i)",
    "printf",
    "println",
    "print(",
    "raise ",
    "throw ",
    "return ",
    "assert",
    "if (",
    "if(",
    "for (",
    "=> ",
    "def ",
    "func ",
    "fn ",
    "const ",
    "static ",
    "#define",
    "strerror",
    "log.",
    "logger.",
    "LOG(",
    "LOG_",
    "_err(",
    "_warn(",
    "_error(",
    "_info(",
    "fmt.",
    "errors.",
    "strings.",
    "contains(",
    "regexp",
    "re.compile",
    "expect(",
    "$labels",
    "{{",
    "${",
    "grep ",
    "echo ",
    "f\"",
    "_msg(",
    "_debug(",
];
const COMMANDS: &[&str] = &[
    "sudo",
    "export",
    "grep",
    "egrep",
    "rg",
    "dmesg",
    "journalctl",
    "echo",
    "cat",
    "tail",
    "modprobe",
    "docker",
    "kubectl",
    "systemctl",
    "mpirun",
    "mpiexec",
    "srun",
    "sbatch",
    "python",
    "python3",
    "if",
    "elif",
    "for",
    "while",
    "case",
    "git",
    "helm",
    "curl",
    "awk",
    "sed",
    "./configure",
    "make",
    "apt",
    "apt-get",
    "yum",
    "dnf",
    "pip",
    "bash",
    "sh",
    "ssh",
    "ulimit",
];
const KEYS: &[&str] = &[
    "regex",
    "pattern",
    "patterns",
    "match",
    "expr",
    "description",
    "name",
    "summary",
    "title",
    "alert",
    "rule",
    "example",
    "examples",
    "query",
    "filter",
    "search",
    "test",
    "input",
    "expected",
    "want",
    "reason_regex",
    "keyword",
    "keywords",
    "fix",
    "feat",
    "docs",
    "doc",
    "symptom",
    "symptoms",
    "cause",
    "meaning",
    "solution",
    "impact",
    "subject",
    "changelog",
    "note",
    "todo",
];
const TICKETS: &[&str] = &[
    "bug",
    "feature",
    "fix",
    "question",
    "doc",
    "rfc",
    "usage",
    "issue",
    "x",
    "help",
    "patch",
    "v2",
    "perf",
    "ci",
    "test",
    "misc",
    "hardware",
    "installation",
    "performance",
    "roadmap",
    "wip",
    "refactor",
    "chore",
];
const LEVELS: &[&str] = &[
    "ERROR",
    "WARN",
    "WARNING",
    "FATAL",
    "CRITICAL",
    "INFO",
    "DEBUG",
    "TRACE",
    "SEVERE",
    "ERR",
    "NOTICE",
    "E",
    "W",
    "F",
    "*ERROR*",
    "level=error",
    "level=warning",
    "level=fatal",
    "level=info",
    "severity=error",
];
/// With their colon only: the words are everybody's.
const SMALL_LEVELS: &[&str] = &["error:", "warn:", "warning:", "fatal:", "err:"];
/// With these a sentence begins.
const ARTICLES: &[&str] = &["the", "a", "an", "this", "these", "some", "all", "my", "our", "there"];
/// Levels at which programs say that something is so, and no trouble.
const CALM: &[&str] = &["INFO", "DEBUG", "TRACE", "NOTICE", "level=info", "level=debug", "DIAG", "info", "debug"];
/// People, who tell of a message.
const PEOPLE: &[&str] = &[
    "i",
    "i'm",
    "i've",
    "we",
    "we've",
    "you",
    "your",
    "my",
    "our",
    "they",
    "he",
    "see",
    "sees",
    "seeing",
    "saw",
    "seen",
    "says",
    "said",
    "shows",
    "showing",
    "example",
    "e.g",
    "fixes",
    "fixed",
    "adds",
    "detects",
    "handles",
    "whenever",
    "because",
    "although",
    "reported",
    "usually",
    "typically",
];
/// Other words before a message that is told of.
const TELLING: &[&str] = &[
    "get",
    "gets",
    "getting",
    "got",
    "when",
    "if",
    "since",
    "but",
    "where",
    "which",
    "that",
    "these",
    "those",
    "say",
    "show",
    "shown",
    "like",
    "such",
    "fix",
    "fixing",
    "add",
    "added",
    "handle",
    "handling",
    "detect",
    "detecting",
    "about",
    "regarding",
    "caused",
    "cause",
    "means",
    "often",
    "sometimes",
    "following",
    "observed",
    "hit",
    "hits",
    "hitting",
    "encountered",
    "encounter",
    "report",
    "reports",
    "title",
    "should",
    "would",
    "could",
    "will",
    "may",
    "might",
    "avoid",
    "avoids",
    "prevent",
    "prevents",
    "ignore",
    "improve",
    "improved",
    "support",
    "supports",
    "classify",
    "treat",
    "alert",
    "monitor",
    "document",
    "explain",
    "is",
    "was",
    "are",
    "were",
    "so",
    "and",
    "did",
    "returns",
    "prints",
    "printed",
    "logged",
    "logs",
];
/// Words of people behind a message.
const AFTER: &[&str] = &[
    "i",
    "i'm",
    "i've",
    "we",
    "we've",
    "my",
    "our",
    "because",
    "means",
    "indicates",
    "usually",
    "typically",
    "often",
    "sometimes",
    "however",
    "fixed",
    "workaround",
    "happens",
    "occurs",
    "appears",
    "anyone",
    "thanks",
    "why",
    "how",
    "but",
    "although",
    "then",
    "which",
    "whenever",
    "seems",
    "afterwards",
    "again",
    "messages",
    "errors",
    "when",
    "after",
    "would",
    "did",
    "was",
    "were",
    "explained",
    "documented",
];

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
