//! Headings that scripts and people put above a tool's text: `=== ibstat ===`, `### cat /proc/cmdline`, `**lscpu**`, `+ lspci -vv` of `set -x`, `ibstat:`.

/// The longest line that is asked.
const MOST: usize = 100;

/// The command line in a heading: a line that begins at the margin with a decoration, or that ends with a colon behind a command of one word.
/// `begins`: whether a program's name may begin so.
pub(super) fn command(line: &str, begins: impl Fn(u8) -> bool) -> Option<&str> {
    if line.len() > MOST || !may(line.as_bytes()) {
        return None;
    }
    // Most lines behind a `#` are sentences: few bytes show it.
    let (before, body) = line.split_at_checked(line.bytes().position(|b| !is_decoration(char::from(b)))?)?;
    body.bytes().next().filter(|b| *b == b'/' || begins(*b))?;
    let inside = body.trim_end_matches(|c| is_decoration(c) || c == ':');
    let ends = body.get(inside.len()..)?;
    // A lone `-` or `*` begins an item of a list.
    let is_heading = match before.trim_end() {
        "" => before.is_empty() && ends.starts_with(':') && is_alone(inside),
        "+" | ">" => true,
        rule => rule.starts_with('#') || rule.len() > 1 && rule.starts_with(['=', '-', '*', '+']),
    };
    is_heading.then_some(inside)
}

/// By its first byte and its last one, whether a line may be a heading.
pub(super) fn may(line: &[u8]) -> bool {
    matches!(line, [b'=' | b'-' | b'*' | b'+' | b'>' | b'#', ..] | [b'a'..=b'z' | b'/', .., b':'])
}

/// A program with nothing, options, or the word "output" behind it: anything else is a sentence.
fn is_alone(command: &str) -> bool {
    command.split_once(' ').is_none_or(|(_, args)| args == "output" || args.starts_with('-'))
}

fn is_decoration(c: char) -> bool {
    matches!(c, '=' | '-' | '#' | '*' | '+' | '>' | '`' | '"' | '\'' | ' ' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use crate::Kind;
    use crate::sniff;

    #[test]
    fn headings_name_their_tool() {
        for (line, kind) in [
            ("=== ibstat ===", Some(Kind::Ibstat)),
            ("----- /usr/sbin/ibstat -----", Some(Kind::Ibstat)),
            ("### cat /proc/cmdline", Some(Kind::Cmdline)),
            ("## `lscpu`", Some(Kind::Lscpu)),
            ("**sudo lscpu**:", Some(Kind::Lscpu)),
            ("+ lspci -vv", Some(Kind::Lspci)),
            ("++ lspci -vv", Some(Kind::Lspci)),
            ("> ibstat", Some(Kind::Ibstat)),
            ("ibstat:", Some(Kind::Ibstat)),
            ("lspci -vv:", Some(Kind::Lspci)),
            ("lscpu output:", Some(Kind::Lscpu)),
            ("- lspci", None),
            ("  - lspci", None),
            ("* lspci", None),
            ("  lspci:", None),
            ("lspci shows this:", None),
            ("lspci", None),
            ("----------", None),
            ("CA 'mlx5_0'", None),
        ] {
            assert_eq!(sniff::command(line), kind, "{line:?}");
        }
    }
}
