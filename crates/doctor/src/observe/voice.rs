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

/// Prose lines that are kept as leads, and other lines after which a text is a log, whatever prose is in it.
const MAX_LEADS: usize = 256;
const MAX_OTHER: u32 = 200;

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

/// The prose of one file.
#[derive(Debug, Default)]
pub(crate) struct Voice {
    leads: Vec<(u64, Lead)>,
    signs: u16,
    reports: u32,
    instructions: u32,
    /// Lines that are neither prose nor a program's that is known.
    other: u32,
}

impl Voice {
    /// A line that no known program printed.
    pub(crate) fn line(&mut self, number: u64, line: &str) {
        if self.other > MAX_OTHER || line.len() > 2000 {
            return;
        }
        let text = bare(line);
        if text.is_empty() {
            return;
        }
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

    /// Whether an author quotes what stands in a line.
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

const EXAMPLES: &[&str] = &[
    "for example",
    "for instance",
    "e.g.",
    "such as",
    "example:",
    "otherwise:",
    "of this kind",
    "lines like",
    "messages like",
    "errors like",
    "entries like",
    "of the form",
    "appear as",
    "appears as",
    "show up as",
    "shows up as",
    "unit test",
    "fixture",
    "testdata",
    "test case",
    "examples:",
    "look for",
    "paste the",
    "example of",
    "example output",
    "sample output",
    "sample log",
    "example log",
    "typical",
    "signature",
    "similar to this",
    "annotated example",
    "may include",
    "might include",
    "you will see",
    "you'll see",
    "you may see",
    "you might see",
    "you would see",
    "you should see",
    "you will find",
    "you'll find",
    "you may encounter",
    "you might encounter",
    "you may get",
    "you might get",
    "may look like",
    "can look like",
    "might look like",
    "would look something like",
    "would look like",
    "will show",
    "would show",
    "will contain",
    "例如",
    "示例",
    "比如",
    "zum beispiel",
    "par exemple",
    "por ejemplo",
];
const CHANGES: &[&str] = &[
    "this pr ",
    "this pull request",
    "this change",
    "this commit",
    "this patch",
    "this diff",
    "this mr ",
    "this release",
    "release notes",
    "changelog",
    "closes #",
    "fixes #",
    "resolves #",
    "feature request",
    "diff --git ",
    "test('",
    "it('",
    "describe('",
    "expect(",
    "func test",
    "#[test]",
    "assert_eq!(",
    "@@ -",
];
const BEFORES: &[&str] = &[
    "previously,",
    "until now",
    "before:",
    "after:",
    "before this",
    "after this",
    "test plan",
    "differential revision",
    "signed-off-by:",
    "current branch",
    "before (",
    "after (",
    "reviewed-by:",
];
const HEADINGS: &[&str] = &[
    "what it means",
    "what does",
    "what do",
    "what are",
    "what is",
    "how to",
    "common causes",
    "possible causes",
    "root cause",
    "symptom",
    "resolution",
    "remediation",
    "workaround",
    "troubleshoot",
    "overview",
    "runbook",
    "diagnos",
    "identifying",
    "interpreting",
    "understanding",
    "reading ",
    "key fields",
    "key components",
    "step 1",
    "step 2",
    "annotated",
    "what you see",
    "meaning",
    "table of contents",
    "faq",
    "severity:",
    "fix:",
    "solution verified",
    "when does this",
    "recommended action",
    "action:",
    "quick reference",
    "lesson ",
    "exercise",
    "objective",
    "proposed solution",
    "解决方案",
    "解决方法",
    "故障排查",
    "常见问题",
    "原因分析",
];
/// Headings that are a whole line.
const SECTIONS: &[&str] = &[
    "cause",
    "causes",
    "solution",
    "solutions",
    "fix",
    "action",
    "actions",
    "mitigation",
    "explanation",
    "recommendation",
    "what to do",
];
/// Instructions in a script without spaces.
const ADVICE: &[&str] = &["请检查", "并检查", "建议"];
const DETECTORS: &[&str] = &[
    "detect",
    "regex",
    "regular expression",
    "pattern",
    "parse",
    "matcher",
    "health check",
    "health monitor",
    "classif",
    "anomaly",
    "extract",
    "user-facing",
];
const GENERAL: &[&str] = &[
    " means ",
    "indicates",
    "indicate ",
    "refers to",
    "caused by",
    "usually",
    "typically",
    "often",
    "occurs when",
    "happens when",
    "generally",
    "frequently",
    "in some cases",
    "一般",
    "通常",
    "此时",
    "commonly",
    "most likely",
];
const LIKENESS: &[&str] = &["looks like", "look like", "similar to", "something like", "as follows"];
const READER: &[&str] = &["you", "your", "you'll", "you're", "yours", "students"];
const INSTRUCTIONS: &[&str] = &[
    "avoid",
    "begin",
    "capture",
    "check",
    "confirm",
    "contact",
    "cross-reference",
    "disable",
    "drain",
    "enable",
    "ensure",
    "grep",
    "identify",
    "increase",
    "inspect",
    "install",
    "look",
    "lower",
    "make",
    "mount",
    "launch",
    "raise",
    "rebuild",
    "reboot",
    "record",
    "reduce",
    "reinstall",
    "replace",
    "reseat",
    "reset",
    "restart",
    "run",
    "see",
    "set",
    "start",
    "try",
    "update",
    "upgrade",
    "use",
    "verify",
];
const FIRST_PERSON: &[&str] = &[
    "i", "i'm", "i've", "i'd", "my", "we", "we're", "we've", "our", "me", "us", "ich", "mein", "meine", "wir", "je",
    "mon", "nous", "yo", "mi",
];
const REPORTS: &[&str] = &[
    "any idea",
    "please help",
    "help me",
    "thanks",
    "thank you",
    "hello",
    "describe the bug",
    "to reproduce",
    "steps to reproduce",
    "bug description",
    "current behavior",
    "actual behavior",
    "actual results",
    "expected behavior",
    "expected results",
    "additional info",
    "bug report",
    "求助",
    "what happened",
    "here is",
    "here's",
    "the following error",
    "我",
    "请问",
    "您好",
    "大佬",
];
const ASKS: &[&str] = &["?", "can you", "could you", "would you", "please help"];

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "<LINE>";

    /// Whether the marked line is quoted.
    fn quoted(text: &str) -> bool {
        let mut voice = Voice::default();
        let mut at = 0;
        for (number, line) in (1..).zip(text.lines()) {
            if line == LINE { at = number } else { voice.line(number, line) }
        }
        voice.quotes(at)
    }

    #[test]
    fn authors_quote() {
        for text in [
            "The GPU is no longer reachable.\nTypical kernel-log signature\n<LINE>",
            "When memory runs out you will find something like the following in the log.\n```\n<LINE>\n```",
            "Now the limit may be exceeded. This PR disables the transport.\nBefore:\n```\n<LINE>\n```\nAfter:\n```\nx\n```",
            "fix(xid): detect logs of lost GPUs as errors\nSome drivers emit it in lines\n```\n<LINE>\n```",
            "# What it means\nThe device is gone.\n<LINE>\n# How to diagnose it",
            "## Objective\nAdd a rule that matches the pattern of this warning.\n<LINE>",
            "Check the cables of the card first.\nReseat the card if that does not help.\nThis error usually indicates bad power.\n<LINE>",
            "NVLink errors\n\nError\n<LINE>\n\nCause\n    A link failed.\n\nSolution\n    Reset the GPU.",
            "Q: What does this error mean?\n<LINE>\nA: The limit is too low in the container.",
            "Release notes 1.4.2\nMessages of this kind no longer appear:\n<LINE>",
            "<!-- Paste the log here. Example:\n<LINE>\n-->",
            "Fällt eine Karte aus, steht im Journal zum Beispiel:\n<LINE>",
            "diff --git a/t.txt b/t.txt\n--- a/t.txt\n+++ b/t.txt\n@@ -1,2 +1,3 @@\n<LINE>",
            "test('classifies', () => {\n<LINE>\n`)\nexpect(out.kind).toBe('lost')",
            "Feature request: an alert for lost GPUs. It should match this line:\n<LINE>",
            "The module must be loaded first. Otherwise:\n\n$ sudo modprobe nvidia-peermem\n<LINE>",
            "closes #123\n\nRetry on transient errors.\n<LINE>",
            "# dmesg excerpt used by the parser's unit tests\n<LINE>",
            "The agent raises an alert for lines of this kind:\n<LINE>",
            "当GPU掉卡时,内核日志中会出现如下信息:\n<LINE>\n此时需要重启服务器,并检查电源和插槽。",
            "- **Symptoms:** jobs hang at once\n- **Root cause:** the link is lost\n<LINE>",
        ] {
            assert!(quoted(text), "{text}");
        }
    }

    #[test]
    fn reporters_do_not() {
        for text in [
            "<LINE>",
            "```\n<LINE>\n```",
            "Here is my dmesg:\n<LINE>",
            "Hello, training hangs after an hour. It looks like a lost GPU.\n\n<LINE>\n\nCan you tell me what this means?",
            "We have 8 nodes. One of them often dies, usually at night.\n<LINE>",
            "### Describe the bug\nThe error message below appears, and it looks like a driver bug.\n<LINE>",
            "I get errors such as:\n<LINE>",
            "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n<LINE>",
            "Bug report\n\nOverview\nThe worker dies.\n\nActual results\n<LINE>\n\nAdditional info\nUsually after 3 hours.",
            "The job crashed again tonight.\n<LINE>\nThe riser was replaced already. Usually it happens under full load.",
            "Hallo zusammen, mein Server stürzt ab. Im Journal steht:\n<LINE>\nHat jemand eine Idee?",
            "Training fails. The error message:\n<LINE>\nFor example with four GPUs.",
            "报错如下,请问怎么解决\n<LINE>",
        ] {
            assert!(!quoted(text), "{text}");
        }
        let log = "step=4711 loss=0.12 lr=1e-4 [00:12<00:13]\n".repeat(300);
        assert!(!quoted(&format!("for example you may see such lines\n{log}<LINE>")));
    }
}
