//! Words by which a reporter is known.

pub(super) const FIRST_PERSON: &[&str] = &[
    "i", "i'm", "i've", "i'd", "my", "we", "we're", "we've", "our", "me", "us", "ich", "mein", "meine", "wir", "je",
    "mon", "nous", "yo", "mi",
];

pub(super) const REPORTS: &[&str] = &[
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

pub(super) const ASKS: &[&str] = &["?", "can you", "could you", "would you", "please help"];
