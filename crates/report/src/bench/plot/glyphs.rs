//! Colours and marks of the sides: distinguished by people who see no red or green, and in black and white.

/// Light, dark: after Okabe and Ito's palette, darkened or lightened until it is legible on its ground.
pub(super) const COLOURS: [(&str, &str); 6] = [
    ("#0068b0", "#5eb2f2"),
    ("#c4500a", "#ff9f5a"),
    ("#00805c", "#34c99a"),
    ("#a8457f", "#e493c4"),
    ("#7d6608", "#e0c542"),
    ("#57646f", "#a7b4c0"),
];

/// The terminal's own: cyan, yellow, green, magenta, blue, none.
const ANSI: [&str; 6] = ["36", "33", "32", "35", "34", "1"];

/// Marks on a terminal, and where only ASCII is possible.
pub(super) const MARKS: [(char, char); 6] = [('●', '*'), ('○', 'o'), ('▲', '^'), ('◇', 'x'), ('■', '#'), ('+', '+')];

/// A mark as SVG around the origin, about four pixels to each side.
pub(super) fn mark(role: usize) -> &'static str {
    const PATHS: [&str; 6] = [
        "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
        "M-3.2 -3.2h6.4v6.4h-6.4z",
        "M0 -4.2L4 3.2H-4z",
        "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
        "M-4 -3.2H4L0 4.2z",
        "M-4 -1.2h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z",
    ];
    PATHS.get(role % PATHS.len()).copied().unwrap_or_default()
}

/// The colour of a role on a terminal.
pub(super) fn ansi(role: usize) -> &'static str {
    if role == usize::MAX { "2" } else { ANSI.get(role % ANSI.len()).copied().unwrap_or("") }
}
