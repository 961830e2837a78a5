//! Texts that a mail or a comment quotes: `> ` in front of lines.

use linerate_formats::text::unquoted;
use linerate_formats::{Gives, Kind, sniff};
use std::borrow::Cow;

/// A text without the marks of quotation that a mail or a comment has in front of its lines. Their number stays.
pub(crate) fn without_quotes(text: &[u8], kind: Kind) -> Cow<'_, [u8]> {
    let is_quoted = text.starts_with(b">") || memchr::memmem::find(text, b"\n>").is_some();
    // In markup a `>` may end a tag; in a script, send output to a file.
    let may_be = !matches!(kind.gives(), Gives::Copy(_)) && !text.trim_ascii_start().starts_with(b"<?xml");
    let Some(text) = Some(text).filter(|_| is_quoted && may_be).and_then(|t| std::str::from_utf8(t).ok()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    let mut was_quoted = false;
    for line in text.split_inclusive('\n') {
        let lone = line.trim_end() == ">";
        was_quoted = line.starts_with('>') && (was_quoted || !lone) && sniff::command(line.trim_end()).is_none();
        out.push_str(if was_quoted { unquoted(line) } else { line });
    }
    Cow::Owned(out.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_quotation_go_and_nothing_else() {
        let of = |text: &str, kind| String::from_utf8(without_quotes(text.as_bytes(), kind).into_owned()).unwrap();
        for (text, want) in [
            ("CA 'mlx5_0'\n\tPort 1:\n", "CA 'mlx5_0'\n\tPort 1:\n"),
            ("> CA 'mlx5_0'\n> \tPort 1:\n>\n> > CA 'mlx5_1'\n", "CA 'mlx5_0'\n\tPort 1:\n\nCA 'mlx5_1'\n"),
            ("they say\n>CA 'mlx5_0'\r\nend", "they say\nCA 'mlx5_0'\r\nend"),
            ("> ibstat\n> CA 'mlx5_0'\n", "> ibstat\nCA 'mlx5_0'\n"),
            ("CA 'mlx5_0'\n>\n", "CA 'mlx5_0'\n>\n"),
            ("  > out.log\n", "  > out.log\n"),
        ] {
            assert_eq!(of(text, Kind::Ibstat), want, "{text:?}");
            assert_eq!(of(text, Kind::Ibstat).lines().count(), text.lines().count());
        }
        let xml = "<?xml version=\"1.0\"?>\n<a\n> b</a>\n";
        assert_eq!(of(xml, Kind::VirshXml), xml);
    }
}
