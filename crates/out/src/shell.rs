//! Words of shells: for scripts and for people to read, and for the login shell of another host.

use crate::hidden;

/// A word for a POSIX shell, in a script or for people to copy. What would drive the terminal or reorder the line is written as a
/// `printf` that makes it again, so that a reader sees it; line ends and tabs stay.
///
/// `None` for a word with a NUL, which no process can be given.
#[must_use]
pub fn word(text: &str) -> Option<String> {
    if text.contains('\0') {
        return None;
    }
    // Behind a dash it is an option's value, not an assignment.
    let option = text.starts_with('-');
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./:,+@%".contains(&b) || (b == b'=' && option);
    if !text.is_empty() && text.bytes().all(plain) {
        return Some(text.to_owned());
    }
    Some(quoted(text, false))
}

/// Single quotes; nothing in them means anything to a shell but their end. `one_line`: line ends and tabs as bash writes them.
fn quoted(text: &str, one_line: bool) -> String {
    let shown = |c: char| hidden(c) && !matches!(c, '\n' | '\t');
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            out.push_str("'\\''");
        } else if one_line && c == '\n' {
            out.push_str("'$'\\n''");
        } else if one_line && c == '\t' {
            out.push_str("'$'\\t''");
        } else if shown(c) {
            out.push_str("'\"$(printf '");
            let mut next = Some(c);
            while let Some(c) = next {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().for_each(|b| out.push_str(&format!("\\{b:03o}")));
                next = chars.next_if(|c| shown(*c));
            }
            out.push_str("')\"'");
        } else {
            out.push(c);
        }
    }
    out.push('\'');
    out
}

/// [`word`]s with spaces between them.
#[must_use]
pub fn words<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let quoted: Option<Vec<String>> = words.iter().map(|w| word(w.as_ref())).collect();
    quoted.map(|w| w.join(" "))
}

/// A program with its arguments, as a command. A first word that would be a word of the shell's language (`if`, `x=y`) is quoted: then
/// it is a name.
#[must_use]
pub fn command<S: AsRef<str>>(argv: &[S]) -> Option<String> {
    line(argv, word)
}

fn line<S: AsRef<str>>(argv: &[S], word: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (program, rest) = argv.split_first()?;
    let name = match program.as_ref() {
        p if RESERVED.contains(&p) => quoted(p, false),
        p => word(p)?,
    };
    let rest = rest.iter().map(|w| word(w.as_ref()));
    let all: Option<Vec<String>> = std::iter::once(Some(name)).chain(rest).collect();
    all.map(|w| w.join(" "))
}

/// A command on one line for people to read, whatever is in it: where its words begin and end can be seen. A shell that knows `$'\n'`
/// (bash, zsh, POSIX.1-2024) reads the same words, but for a NUL, which no word can hold.
#[must_use]
pub fn shown<S: AsRef<str>>(argv: &[S]) -> String {
    let one_line = |w: &str| match w.contains(['\n', '\t', '\0']) {
        true => Some(quoted(&w.replace('\0', "\\u{0}"), true)),
        false => word(w),
    };
    line(argv, one_line).unwrap_or_default()
}

/// Words of the shell's language and its special built-ins.
const RESERVED: [&str; 30] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "break",
    "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "times", "trap", "unset",
    "function", "select", "time", "source",
];

/// A word for the login shell of another host, which `ssh` hands it to: POSIX shells, bash, zsh and fish read it back unchanged.
/// Backslashes are outside of the quotes, because fish reads them inside. Not csh, whose quotes end at a line's end. It is for
/// programs: what drives a terminal stays as it is.
///
/// `None` for a word with a NUL, which no process can be given.
#[must_use]
pub fn remote_word(text: &str) -> Option<String> {
    if text.contains('\0') {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    // `=` begins an expansion of zsh, `-` and `%` mean something at the front for other readers; a quoted word is never wrong.
    if text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/' || c == '-' || c == '.')
        && text.chars().all(plain)
    {
        return Some(text.to_owned());
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' => out.push_str("'\\''"),
            '\\' => out.push_str("'\\\\'"),
            c => out.push(c),
        }
    }
    out.push('\'');
    Some(out)
}

/// A command line of [`remote_word`]s.
#[must_use]
pub fn remote_words<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let words: Option<Vec<String>> = words.iter().map(|w| remote_word(w.as_ref())).collect();
    words.map(|w| w.join(" "))
}
