//! States of nodes: `IDLE`, `MIXED+DRAIN`, `DOWN*+DRAIN`, `IDLE~`.

/// What the characters behind a state mean (`sinfo`, NODE STATE CODES).
const MARKS: [(char, &str); 9] = [
    ('*', "NOT_RESPONDING"),
    ('~', "POWERED_DOWN"),
    ('#', "POWERING_UP"),
    ('!', "POWER_DOWN"),
    ('%', "POWERING_DOWN"),
    ('$', "MAINTENANCE"),
    ('@', "REBOOT_REQUESTED"),
    ('^', "REBOOT_ISSUED"),
    ('-', "PLANNED"),
];

/// The words of a state, in the order of the text, each once.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        let word = word.to_ascii_uppercase();
        if !word.is_empty() && !out.contains(&word) {
            out.push(word);
        }
    };
    for part in text.split('+') {
        let word = part.trim_end_matches(|c| MARKS.iter().any(|(m, _)| *m == c));
        add(word);
        let marks = part.get(word.len()..).unwrap_or_default();
        marks.chars().filter_map(|c| MARKS.iter().find(|(m, _)| *m == c)).for_each(|(_, w)| add(w));
    }
    out
}

/// Whether new jobs start on a node in this state (sinfo(1), NODE STATE CODES); `None`: that depends on more than the state.
#[must_use]
pub fn used(state: &[String]) -> Option<bool> {
    let any = |of: &[&str]| state.iter().any(|w| of.contains(&w.as_str()));
    if any(NOT) { Some(false) } else { any(USED).then_some(true) }
}

/// The words of a state where all of them are Slurm's, in full or as `sinfo` shortens them.
#[must_use]
pub fn state_words(text: &str) -> Option<Vec<String>> {
    let all = words(text);
    let is_known = |w: &String| [NOT, USED, OTHER].iter().any(|of| of.contains(&w.as_str()));
    (!all.is_empty() && all.iter().all(is_known)).then_some(all)
}

/// No new job starts.
const NOT: &[&str] = &[
    "DOWN",
    "DRAIN",
    "DRAINED",
    "DRAINING",
    "DRNG",
    "ERROR",
    "FAIL",
    "FAILING",
    "FAILG",
    "INVAL",
    "INVALID_REG",
    "NOT_RESPONDING",
];

/// Jobs run, or start as soon as there is room.
const USED: &[&str] = &["IDLE", "MIX", "MIXED", "ALLOC", "ALLOCATED", "COMP", "COMPLETING", "PLND", "PLANNED"];

/// Reserved, not yet there, switched off until it is asked for.
const OTHER: &[&str] = &[
    "BLOCK",
    "BLOCKED",
    "BOOT",
    "CLOUD",
    "DYNAMIC_NORM",
    "EXTERNAL",
    "FUTR",
    "FUTURE",
    "MAINT",
    "MAINTENANCE",
    "NPC",
    "PERFCTRS",
    "POWERED_DOWN",
    "POWERING_DOWN",
    "POWERING_UP",
    "POWER_DOWN",
    "POWER_UP",
    "POW_DN",
    "POW_UP",
    "REBOOT",
    "REBOOT_ISSUED",
    "REBOOT_REQUESTED",
    "RESERVED",
    "RESV",
    "UNK",
    "UNKNOWN",
];
