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
