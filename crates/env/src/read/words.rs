//! A shell's words: quotes, escapes, comments, continued lines. Expansions are kept as they are.

use linerate_formats::bounds::{ENV_DEPTH, ENV_WORDS};

/// A word and the line on which it begins.
pub(super) type Word = (String, usize);

/// What a script is cut into.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'w> {
    /// The words of a command, or of a comment that a job manager reads: `#SBATCH …`.
    Command(&'w [Word]),
    /// Commands on this line are too deep in others, and were left out.
    TooDeep(usize),
    /// The command has more words than are kept; the rest, from this line on, was left out.
    TooLong(usize),
}

/// Hands over each command at its end, so that no more than one is held.
struct Cutter<'e> {
    command: Vec<Word>,
    /// That the command is too long was said.
    is_said: bool,
    each: &'e mut dyn FnMut(Part<'_>),
}

impl Cutter<'_> {
    /// The end of a word, if there is one.
    fn end(&mut self, word: &mut Option<Word>) {
        let Some((w, line)) = word.take() else { return };
        if self.command.len() < ENV_WORDS {
            self.command.push((w, line));
        } else if !self.is_said && !w.is_empty() {
            (self.each)(Part::TooLong(line));
            self.is_said = true;
        }
    }

    /// The end of a command.
    fn stop(&mut self) {
        (self.each)(Part::Command(&self.command));
        self.command.clear();
        self.is_said = false;
    }
}

/// An open quote is taken for a letter where its end is farther than this.
const MAX_QUOTED: usize = 16 << 10;

/// Cuts a text into commands. `line` is the number of its first line. A command substitution belongs to its word; the commands in it follow that
/// command.
pub(super) fn commands(text: &str, line: usize, each: &mut dyn FnMut(Part<'_>)) {
    let mut out = Cutter { command: Vec::new(), is_said: false, each };
    cut(text, line, 0, &mut out);
    out.stop();
}

fn cut(text: &str, line: usize, depth: usize, out: &mut Cutter<'_>) {
    let mut inner: Vec<(&str, usize)> = Vec::new();
    let mut word: Option<Word> = None;
    let mut line = line;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = after;
        let substituted = if matches!(c, '$' | '`') { substitution(c, after) } else { None };
        if let Some(length) = substituted {
            let (body, more) = after.split_at(length);
            let w = add(&mut word, line);
            w.push(c);
            w.push_str(body);
            inner.push((commands_of(body), line));
            line += body.matches('\n').count();
            rest = more;
            continue;
        }
        match c {
            '\n' => {
                stop(&mut word, &mut inner, depth, out);
                line += 1;
            }
            ' ' | '\t' | '\r' => out.end(&mut word),
            // Not those of an expansion whose end is not there, `$(…`.
            ';' | '|' | '(' | ')' | '`' if !word.as_ref().is_some_and(|w| w.0.ends_with('$')) => {
                stop(&mut word, &mut inner, depth, out);
            }
            '&' => stop(&mut word, &mut inner, depth, out),
            '#' if word.is_none() => {
                let stop = rest.find('\n').unwrap_or(rest.len());
                let (comment, more) = rest.split_at(stop);
                if ["SBATCH", "PBS", "BSUB", "$"].iter().any(|d| comment.starts_with(d)) {
                    let words: Vec<Word> =
                        comment.split_whitespace().take(ENV_WORDS).map(|w| (w.to_owned(), line)).collect();
                    (out.each)(Part::Command(&words));
                }
                rest = more;
            }
            '\\' => {
                if let Some(more) = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')) {
                    line += 1;
                    rest = more;
                } else if let Some(next) = after.chars().next() {
                    add(&mut word, line).push(next);
                    rest = after.get(next.len_utf8()..).unwrap_or_default();
                }
            }
            '$' if after.starts_with('{') => {
                let stop = after.find('}').filter(|s| *s < 400).map_or(0, |s| s + 1);
                let (body, more) = after.split_at(stop);
                let w = add(&mut word, line);
                w.push('$');
                w.push_str(body);
                line += body.matches('\n').count();
                rest = more;
            }
            '"' | '\'' => match closed(after, c) {
                Some(stop) => {
                    let (inside, more) = after.split_at(stop);
                    let w = add(&mut word, line);
                    if c == '"' {
                        w.push_str(&escapes(inside));
                        within(inside, line, &mut inner);
                    } else {
                        w.push_str(inside)
                    }
                    line += inside.matches('\n').count();
                    rest = more.get(1..).unwrap_or_default();
                }
                None => add(&mut word, line).push(c),
            },
            c => add(&mut word, line).push(c),
        }
    }
    out.end(&mut word);
    if !inner.is_empty() {
        stop(&mut word, &mut inner, depth, out);
    }
}

/// Ends a command; what its substitutions run follows.
fn stop(word: &mut Option<Word>, inner: &mut Vec<(&str, usize)>, depth: usize, out: &mut Cutter<'_>) {
    out.end(word);
    out.stop();
    for (text, line) in inner.drain(..) {
        if depth >= ENV_DEPTH {
            (out.each)(Part::TooDeep(line));
            continue;
        }
        cut(text, line, depth + 1, out);
        out.stop();
    }
}

/// How long the rest of a command substitution is whose first letter, `$` or a back-tick, was read. `None`: it is not one, or has no end.
fn substitution(first: char, after: &str) -> Option<usize> {
    if first == '`' {
        return closed(after, '`').map(|stop| stop + 1);
    }
    let mut open = Vec::new();
    let mut chars = after.char_indices().take_while(|(at, _)| *at < MAX_QUOTED).peekable();
    chars.peek().filter(|(_, c)| *c == '(')?;
    let mut before = first;
    while let Some((at, c)) = chars.next() {
        let quoted = open.last() == Some(&'"');
        match c {
            '\\' => {
                chars.next();
            }
            '"' if quoted => {
                open.pop();
            }
            '"' => open.push('"'),
            '\'' if !quoted => {
                chars.find(|(_, c)| *c == '\'')?;
            }
            '(' if !quoted || before == '$' => open.push('('),
            ')' if !quoted => {
                open.pop();
                if open.is_empty() {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// What the rest of a substitution runs.
fn commands_of(body: &str) -> &str {
    let body = body.strip_prefix('(').unwrap_or(body);
    body.strip_suffix([')', '`']).unwrap_or(body)
}

/// The substitutions within double quotes.
fn within<'t>(text: &'t str, line: usize, inner: &mut Vec<(&'t str, usize)>) {
    let mut rest = text;
    while let Some(at) = rest.find("$(") {
        let after = rest.get(at + 1..).unwrap_or_default();
        let length = substitution('$', after).unwrap_or(1).min(after.len());
        let (body, more) = after.split_at(length);
        let before = text.len() - after.len();
        inner.push((commands_of(body), line + text.get(..before).unwrap_or_default().matches('\n').count()));
        rest = more;
    }
}

fn add(word: &mut Option<Word>, line: usize) -> &mut String {
    &mut word.get_or_insert_with(|| (String::new(), line)).0
}

/// Where a quote ends.
fn closed(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    let mut past = 0;
    for (at, c) in text.char_indices().take_while(|(at, _)| *at < MAX_QUOTED) {
        match c {
            _ if at < past => {}
            _ if escaped => escaped = false,
            '\\' if quote != '\'' => escaped = true,
            // Its quotes are its own.
            '$' if quote == '"' => {
                past = substitution('$', text.get(at + 1..).unwrap_or_default()).map_or(past, |length| at + 1 + length);
            }
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}

fn escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
            }
            ('\\', Some(&n)) if matches!(n, '"' | '\\' | '$' | '`') => {
                out.push(n);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        commands(text, 1, &mut |part| match part {
            Part::Command([]) => {}
            Part::Command(words) => {
                out.extend(words.iter().map(|(w, l)| format!("{l}:{w}")));
                out.push(";".to_owned());
            }
            Part::TooDeep(l) => out.push(format!("{l}!")),
            Part::TooLong(l) => out.push(format!("{l}~")),
        });
        out
    }

    #[test]
    fn words_are_a_shells() {
        for (text, want) in [
            ("a b", &["1:a", "1:b", ";"][..]),
            ("a \\\n  b\nc", &["1:a", "2:b", ";", "3:c", ";"]),
            ("A='x y'z \"q\\\"r\"", &["1:A=x yz", "1:q\"r", ";"]),
            ("a # b\nc#d", &["1:a", ";", "2:c#d", ";"]),
            ("#SBATCH --export=ALL,A=b\n", &["1:SBATCH", "1:--export=ALL,A=b", ";"]),
            ("A=$(hostname -s);b", &["1:A=$(hostname -s)", ";", "1:hostname", "1:-s", ";", "1:b", ";"]),
            ("A=$(a \"b c)\" | d)\nb", &["1:A=$(a \"b c)\" | d)", ";", "1:a", "1:b c)", ";", "1:d", ";", "2:b", ";"]),
            ("A=\"$(a \"b c\")x\"\nd", &["1:A=$(a \"b c\")x", ";", "1:a", "1:b c", ";", "2:d", ";"]),
            ("A=`a b`", &["1:A=`a b`", ";", "1:a", "1:b", ";"]),
            ("A=$(B=$(c\nd) e)", &["1:A=$(B=$(c\nd) e)", ";", "1:B=$(c\nd)", "2:e", ";", "1:c", ";", "2:d", ";"]),
            ("A=$(b", &["1:A=$(b", ";"]),
            ("A=${B:-x y}", &["1:A=${B:-x y}", ";"]),
            ("it's", &["1:it's", ";"]),
            ("A=\"\"", &["1:A=", ";"]),
            ("", &[]),
        ] {
            assert_eq!(words(text), want, "{text}");
        }
    }

    #[test]
    fn commands_that_are_too_deep_are_said() {
        let nested = |depth: usize| "$(a ".repeat(depth) + &")".repeat(depth);
        let deep = |depth| words(&nested(depth)).iter().filter(|w| w.ends_with('!')).count();
        assert_eq!((deep(ENV_DEPTH), deep(ENV_DEPTH + 1)), (0, 1));
    }

    #[test]
    fn words_beyond_the_limit_are_said() {
        for (count, said) in [(ENV_WORDS, 0), (ENV_WORDS + 1, 1), (ENV_WORDS + 99, 1)] {
            let words = words(&("a ".repeat(count) + "\nA=b"));
            assert_eq!(words.iter().filter(|w| *w == "1:a").count(), ENV_WORDS);
            assert_eq!(words.iter().filter(|w| *w == "1~").count(), said);
            assert_eq!(words.last().map(String::as_str), Some(";"));
            assert!(words.contains(&"2:A=b".to_owned()));
        }
    }
}
