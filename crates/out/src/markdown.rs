//! Markdown: CommonMark, with the tables, strike-through, task lists and mentions of GitHub and GitLab.
//!
//! What is returned is one line, but for [`block`]. A bare URL stays one: some sites make it a link, to the address that is read.

use crate::{lines, terminal};

/// Text that formats nothing, links nowhere and mentions nobody, at the beginning of a line or within one. Words in single back-ticks
/// stay code, because messages quote commands so; where the back-ticks do not pair, they are plain characters.
#[must_use]
pub fn inline(text: &str) -> String {
    let text = terminal(text);
    escaped(&text, pairs(&text), false)
}

/// The same in a cell of a table, where a bar would end the cell even within code.
#[must_use]
pub fn cell(text: &str) -> String {
    let text = terminal(text);
    // Whether `\\|` within code ends the cell is not the same everywhere.
    escaped(&text, pairs(&text) && !text.contains("\\|"), true)
}

/// A code span of the whole text.
#[must_use]
pub fn code(text: &str) -> String {
    let text = terminal(text);
    if text.is_empty() {
        return "` `".to_owned();
    }
    let fence = "`".repeat(longest(&text) + 1);
    let blank = text.chars().all(|c| c == ' ');
    let pad = text.starts_with('`') || text.ends_with('`') || (text.starts_with(' ') && text.ends_with(' ') && !blank);
    let pad = if pad { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A code span in a cell of a table; plain text where a code span cannot hold it.
#[must_use]
pub fn code_cell(text: &str) -> String {
    let text = terminal(text);
    if text.contains("\\|") || text.ends_with('\\') {
        return escaped(&text, false, true);
    }
    code(&text).replace('|', "\\|")
}

/// A fenced code block that its text cannot end. `info` names the language and comes from the program, not from data.
#[must_use]
pub fn block(info: &str, text: &str) -> String {
    let text = lines(text);
    let fence = "`".repeat((longest(&text) + 1).max(3));
    format!("{fence}{info}\n{text}\n{fence}")
}

/// The longest run of back-ticks.
fn longest(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Whether all back-ticks are alone and pair. Runs of other lengths pair with their likes only, so that what is code here would not be
/// there. A sign that is put into code itself must not touch them.
fn pairs(text: &str) -> bool {
    longest(text) == 1 && text.matches('`').count().is_multiple_of(2) && !text.contains("`@") && !text.contains("@`")
}

fn escaped(text: &str, pairs: bool, cell: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied();
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    // Blanks before it change nothing.
    let bare = text.trim_start_matches(' ');
    let begins = begins_block(bare).map(|at| at + text.len() - bare.len());
    let mut code = false;
    let mut out = String::with_capacity(text.len() + 16);
    let mut i = 0;
    while let Some(c) = at(i) {
        let before = i.checked_sub(1).and_then(at);
        let mut end = i + 1;
        match c {
            '`' if pairs => {
                code = !code;
                out.push(c);
            }
            '|' if !code || cell => out.push_str("\\|"),
            _ if code => out.push(c),
            // Four of them would begin code; one before the end of bold text would keep it from ending.
            ' ' if (i == 0 && text.starts_with("    ")) || end == chars.len() => out.push_str("&#32;"),
            '`' => out.push_str("&#96;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' | '_' => {
                while at(end) == Some(c) {
                    end += 1;
                }
                let run: String = chars.iter().skip(i).take(end - i).collect();
                let (left, right) = (word(before), word(at(end)));
                match c {
                    // Sites look for names behind the sign after entities were read, but not behind code.
                    '@' if !left && right => out.push_str(&format!("`{run}`")),
                    '@' => out.push_str(&run.replace('@', "&#64;")),
                    // Behind a word it begins nothing, and nothing that was begun is there to be ended.
                    _ if left => out.push_str(&run),
                    _ => out.push_str(&run.replace('_', "\\_")),
                }
            }
            '\\' | '*' | '[' | ']' | '~' | '#' | '$' => out.extend(['\\', c]),
            _ if begins == Some(i) => out.extend(['\\', c]),
            c => out.push(c),
        }
        i = end;
    }
    out
}

/// Where the character is that would make a line that begins with the text a list, a definition, a rule or the line under a heading.
fn begins_block(text: &str) -> Option<usize> {
    let only = |mark: char| text.chars().all(|c| c == mark || c == ' ');
    match text.chars().next()? {
        ':' => Some(0),
        c @ ('-' | '+') => (only(c) || text.get(1..2).is_none_or(|n| n == " ")).then_some(0),
        '=' => only('=').then_some(0),
        c if c.is_ascii_digit() => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let rest = text.get(digits..)?;
            let mark = rest.starts_with(['.', ')']) && rest.get(1..2).is_none_or(|n| n == " ");
            (mark && digits < 10).then_some(digits)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words() {
        for (text, want) in [
            ("a|b <img> @all *x* [y](z)\x1b[1m", "a\\|b &lt;img&gt; `@`all \\*x\\* \\[y\\](z)\\\\u{1b}\\[1m"),
            ("run `lspci -vv <x>` now", "run `lspci -vv <x>` now"),
            ("odd ` tick", "odd &#96; tick"),
            ("``a` <b>`", "&#96;&#96;a&#96; &lt;b&gt;&#96;"),
            ("nv_peer_mem _x_ __y", "nv_peer_mem \\_x_ \\_\\_y"),
            ("root@n1 @@me", "root&#64;n1 `@@`me"),
            ("- x", "\\- x"),
            ("-1", "-1"),
            ("12. x", "12\\. x"),
            ("12.5", "12.5"),
            ("$a$", "\\$a\\$"),
            ("$a ", "\\$a&#32;"),
        ] {
            assert_eq!(inline(text), want, "{text}");
        }
        assert_eq!(cell("`a|b`"), "`a\\|b`");
        assert_eq!(cell("`a\\|b`"), "&#96;a\\\\\\|b&#96;");
        assert_eq!(code("a ``` b"), "````a ``` b````");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(block("text", "a ```` b"), "`````text\na ```` b\n`````");
    }
}
