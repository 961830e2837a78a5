//! A shell's words: quotes, escapes, comments, continued lines. Expansions are kept as they are.

/// What a script is cut into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word and the line on which it begins.
    Word(String, usize),
    /// The end of a command.
    End,
    /// A comment that a job manager reads: `#SBATCH …`.
    Directive(String, usize),
}

/// An open quote is taken for a letter where its end is farther than this.
const MAX_QUOTED: usize = 16 << 10;

/// Cuts a text. `line` is the number of its first line.
pub(super) fn tokens(text: &str, line: usize) -> Vec<Token> {
    let mut out = Vec::new();
    let mut word: Option<(String, usize)> = None;
    let mut line = line;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = after;
        match c {
            '\n' => {
                end(&mut word, &mut out);
                out.push(Token::End);
                line += 1;
            }
            ' ' | '\t' | '\r' => end(&mut word, &mut out),
            // Not those of an expansion, `$(…)`.
            ';' | '|' | '(' | ')' | '`' if !word.as_ref().is_some_and(|w| w.0.ends_with('$')) => {
                end(&mut word, &mut out);
                out.push(Token::End);
            }
            '&' => {
                end(&mut word, &mut out);
                out.push(Token::End);
            }
            '#' if word.is_none() => {
                let stop = rest.find('\n').unwrap_or(rest.len());
                let (comment, more) = rest.split_at(stop);
                if ["SBATCH", "PBS", "BSUB", "$"].iter().any(|d| comment.starts_with(d)) {
                    out.push(Token::Directive(comment.trim_end().to_owned(), line));
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
                        w.push_str(&escapes(inside))
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
    end(&mut word, &mut out);
    out
}

fn add(word: &mut Option<(String, usize)>, line: usize) -> &mut String {
    &mut word.get_or_insert_with(|| (String::new(), line)).0
}

fn end(word: &mut Option<(String, usize)>, out: &mut Vec<Token>) {
    if let Some((w, line)) = word.take() {
        out.push(Token::Word(w, line));
    }
}

/// Where a quote ends.
fn closed(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().take_while(|(at, _)| *at < MAX_QUOTED) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
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
        let word = |t| match t {
            Token::Word(w, l) => format!("{l}:{w}"),
            Token::End => ";".to_owned(),
            Token::Directive(d, l) => format!("{l}#{d}"),
        };
        tokens(text, 1).into_iter().map(word).collect()
    }

    #[test]
    fn words_are_a_shells() {
        for (text, want) in [
            ("a b", &["1:a", "1:b"][..]),
            ("a \\\n  b\nc", &["1:a", "2:b", ";", "3:c"]),
            ("A='x y'z \"q\\\"r\"", &["1:A=x yz", "1:q\"r"]),
            ("a # b\nc#d", &["1:a", ";", "2:c#d"]),
            ("#SBATCH --export=ALL,A=b\n", &["1#SBATCH --export=ALL,A=b", ";"]),
            ("A=$(hostname -s);b", &["1:A=$(hostname", "1:-s", ";", ";", "1:b"]),
            ("A=${B:-x y}", &["1:A=${B:-x y}"]),
            ("it's", &["1:it's"]),
            ("A=\"\"", &["1:A="]),
            ("", &[]),
        ] {
            assert_eq!(words(text), want, "{text}");
        }
    }
}
