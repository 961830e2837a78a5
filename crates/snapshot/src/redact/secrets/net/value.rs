//! What follows a name: where a value begins, and where it ends.

use super::super::{MARK, names};
use super::Net;

impl Net<'_> {
    /// The value after `word=`, `word: `, `"word": "`.
    pub(super) fn value_after(&self, sep: usize) -> Option<(usize, usize)> {
        let mut end = sep;
        while end > 0 && sep - end < 8 && matches!(self.at(end - 1), Some(b' ' | b'\t' | b'"' | b'\'' | b'\\')) {
            end -= 1;
        }
        let back = self.text.get(end.saturating_sub(names::LONGEST + 1)..end)?;
        let len =
            back.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')).count();
        let name = self.text.get(end - len..end)?;
        let name = name.get(name.iter().take_while(|b| **b == b'-').count()..)?;
        // `systemd.set_credential=NAME:VALUE` is found by its first separator.
        if !names::is_secret(name) {
            return None;
        }
        let colon = self.at(sep) == Some(b':');
        let mut start = sep + 1;
        // `=>`, `:=`, `==`
        start += match (colon, self.at(start)) {
            (false, Some(b'>' | b'=')) | (true, Some(b'=')) => 1,
            _ => 0,
        };
        while matches!(self.at(start), Some(b' ' | b'\t')) {
            start += 1;
        }
        if names::is_header(name) {
            let quoted = matches!(self.at((end - len).wrapping_sub(1)), Some(b'"' | b'\'' | b'\\'));
            return self.header(start, quoted);
        }
        let value = match self.at(start)? {
            b'\n' | b'\r' if colon => return self.block(sep, start),
            b'\n' | b'\r' => return None,
            b'|' | b'>' if colon => {
                let line = start + self.rest(start).iter().position(|b| *b == b'\n')?;
                return self.block(sep, line);
            }
            b'[' | b'{' => (start, self.list_end(start)),
            _ => (
                start,
                self.value_end(start, |b| {
                    b.is_ascii_whitespace() || matches!(b, b',' | b';' | b'&' | b'<' | b'>' | b')' | b']' | b'}')
                }),
            ),
        };
        let value = self.within_quotes(value);
        (!is_switch(self.text.get(value.0..value.1)?)).then_some(value)
    }

    /// A value without the quotes around it: what reads JSON and XML reads on.
    pub(super) fn within_quotes(&self, (from, to): (usize, usize)) -> (usize, usize) {
        let word = self.text.get(from..to).unwrap_or_default();
        for q in [&b"\"\"\""[..], b"\\\"", b"\"", b"'"] {
            if let Some(inner) = word.strip_prefix(q) {
                let inner = inner.strip_suffix(q).unwrap_or(inner);
                // Pieces that are quoted one by one are one value.
                let one = !inner.windows(2).any(|w| matches!(w, [b'"' | b'\'', b'"' | b'\'']));
                return if one { (from + q.len(), from + q.len() + inner.len()) } else { (from, to) };
            }
        }
        (from, to)
    }

    /// Where a value ends: quotes, backslashes and triple quotes as shells and others have them.
    pub(super) fn value_end(&self, start: usize, stop: impl Fn(u8) -> bool) -> usize {
        let mut i = start;
        for quotes in [&b"\"\"\""[..], b"'''"] {
            if self.rest(i).starts_with(quotes) {
                let body = self.rest(i + 3);
                return body.windows(3).position(|w| w == quotes).map_or(self.text.len(), |p| i + 3 + p + 3);
            }
        }
        // `\"` around the whole: text in a text.
        let escaped = self.rest(i).starts_with(b"\\\"");
        if escaped {
            i += 2;
            while let Some(b) = self.at(i) {
                if b == b'\n' || self.rest(i).starts_with(b"\\\"") {
                    return i;
                }
                i += 1;
            }
            return i;
        }
        while let Some(b) = self.at(i) {
            match b {
                b'\\' if i + 1 < self.text.len() => i += 2,
                b'$' if i == start && matches!(self.at(i + 1), Some(b'\'' | b'"')) => i += 1,
                b'"' | b'\'' => {
                    // A quote in the middle of a bare word closes what is around it.
                    if i > start && !self.quoted_so_far(start) {
                        return i;
                    }
                    i += 1;
                    while let Some(q) = self.at(i) {
                        match q {
                            b'\n' => return i,
                            b'\\' if b == b'"' => i += 2,
                            q if q == b => break,
                            _ => i += 1,
                        }
                    }
                    i += 1;
                    // `'a'"b"` is one value; anything else behind a quote is not of it.
                    if !matches!(self.at(i), Some(b'"' | b'\'')) {
                        return i.min(self.text.len());
                    }
                }
                b if stop(b) => return i,
                _ => i += 1,
            }
        }
        i.min(self.text.len())
    }

    fn quoted_so_far(&self, start: usize) -> bool {
        matches!(self.at(start), Some(b'"' | b'\'' | b'$'))
    }

    /// The rest of a header: to the quote that closes it, or the line's end.
    fn header(&self, start: usize, quoted: bool) -> Option<(usize, usize)> {
        let rest = self.rest(start);
        let own = if quoted { 1 } else { 0 };
        let skip = rest.iter().take(2).take_while(|b| matches!(b, b'"' | b'\'' | b'\\')).count().min(own * 2);
        let len = rest.iter().skip(skip).take_while(|b| !matches!(b, b'\n' | b'"' | b'\'')).count() + skip;
        (len > 0 && !rest.get(skip..)?.starts_with(MARK.as_bytes())).then_some((start + skip, start + len))
    }
}

/// Whether the value of a secret's name is a switch, or a number of a few bits (`sig=0x306e4`, `pin1=2`): no secret.
pub(in super::super) fn is_switch(word: &[u8]) -> bool {
    const SWITCHES: &[&str] =
        &["true", "false", "yes", "no", "on", "off", "0", "1", "none", "null", "(null)", "(none)", MARK];
    let small = word.len() <= 2 || word.starts_with(b"0x") && word.len() <= 10;
    small || SWITCHES.iter().any(|s| word.eq_ignore_ascii_case(s.as_bytes()))
}
