//! Texts that try to leave their form.
#![allow(dead_code)] // not all tests use all of it

use proptest::prelude::*;

const PIECES: &[&str] = &[
    "`",
    "``",
    "```",
    "````",
    "~~~",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[",
    "</title>",
    "</style>",
    "</script>",
    "<?x",
    "![a](https://x.example)",
    "[a](x)",
    "[a][b]",
    "[^1]",
    "[x]",
    "]: /u",
    "<https://x.example>",
    "@all",
    "@",
    "#1",
    "# ",
    "|",
    "|-|",
    "\\",
    "\\\\",
    "\"",
    "'",
    "*",
    "**",
    "_",
    "__",
    "~",
    "~~",
    "$",
    "$$",
    "$(id)",
    "${x}",
    "!",
    "&",
    "&lt;",
    "&#60;",
    "&#x60;",
    "=",
    "==",
    "+",
    "-",
    "- ",
    "--",
    "---",
    "1. ",
    "9) ",
    ">",
    "> ",
    ":",
    "    ",
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\0",
    "\u{1}",
    "\x07",
    "\x1b[2J",
    "\x1b]0;x\x07",
    "\u{7f}",
    "\u{85}",
    "\u{9b}31m",
    "\u{ad}",
    "\u{34f}",
    "\u{200b}",
    "\u{200f}",
    "\u{202e}",
    "\u{2028}",
    "\u{2066}",
    "\u{2800}",
    "\u{fe0f}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{1bca0}",
    "\u{e0041}",
    "a",
    "b",
    "0",
    "1",
    "word",
    "ä",
    "日",
    "😀",
    "%s",
    "%",
    ";",
    ",",
    "#",
    "{{ x }}",
    "{%",
    "^",
    "?",
    "(",
    ")",
    ".",
    "/",
    "<",
    "&#64;",
    "\u{ff1d}",
    "!!",
    "!x",
    "if",
    "x=y",
];

/// Any text: pieces that mean something somewhere, and any characters.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|p| p.concat())
}

/// As one reads it: what is hidden is an escape; line ends and tabs are `keep`ed, or blanks.
pub(crate) fn visible(text: &str, keep: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\t' if keep => out.push(c),
            '\n' | '\t' | '\r' if !keep => out.push(' '),
            c if linerate_out::hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Nothing drives a terminal or hides; line ends and tabs may be there.
pub(crate) fn inert(text: &str) -> bool {
    !text.chars().any(|c| linerate_out::hidden(c) && !matches!(c, '\n' | '\t'))
}

pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}
