//! What follows a name: where a value begins, and where it ends.

use super::super::{MARK, names};
use super::Net;

impl Net<'_> {
    /// The value after `word=`, `word: `, `"word": "`.
    pub(super) fn value_after(&self, sep: usize) -> Option<(usize, usize)> {
        let (from, end) = self.name_before(sep)?;
        let name = self.text.get(from..end)?;
        let name = name.get(name.iter().take_while(|b| **b == b'-').count()..)?;
        let colon = self.at(sep) == Some(b':');
        let mut start = sep + 1;
        // `=>`, `:=`, `==`, `:: `
        start += match (colon, self.at(start)) {
            (false, Some(b'>' | b'=')) | (true, Some(b'=')) => 1,
            (true, Some(b':')) if self.at(start + 1) == Some(b' ') => 1,
            _ => 0,
        };
        // `systemd.set_credential=NAME:VALUE` is found by its first separator.
        if !names::is_secret(name) {
            let value = name.eq_ignore_ascii_case(b"value") && self.named_before(from);
            if !value {
                return self.user_value(name, from, sep, start);
            }
        }
        start += self.blanks(start);
        if names::is_header(name) {
            let quoted = matches!(self.at(from.wrapping_sub(1)), Some(b'"' | b'\'' | b'\\'));
            return self.header(start, quoted);
        }
        if colon {
            start = self.behind_tag(start);
        }
        start = self.inside(start);
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
        let (start, mut end) = self.within_quotes(value);
        if let Some(escape) = self.text.get(start..end)?.windows(6).position(|w| w.eq_ignore_ascii_case(b"\\u0022")) {
            end = start + escape;
        }
        if is_switch(self.text.get(start..end)?) {
            return None;
        }
        // The rest of a value of YAML, on lines that are indented further.
        if colon && self.at(end) == Some(b'\n') && self.begins_line(from) {
            end = self.block(sep, end).map_or(end, |(_, to)| to);
        }
        Some((start, end))
    }

    /// The name in front of a sign: `NAME`, `"NAME"`, `['NAME']`, `\u0022NAME\u0022`, `&quot;NAME&quot;`.
    fn name_before(&self, sep: usize) -> Option<(usize, usize)> {
        let mut end = sep;
        while end > 0 && sep - end < 8 && matches!(self.at(end - 1), Some(b' ' | b'\t' | b'"' | b'\'' | b'\\')) {
            end -= 1;
        }
        let behind = |word: &[u8]| self.text.get(..end).is_some_and(|t| t.ends_with(word));
        end -= match self.at(end.wrapping_sub(1)) {
            Some(b']') if behind(b"']") || behind(b"\"]") => 2,
            Some(b';') if behind(b"&quot;") => 6,
            Some(b'2') if behind(b"\\u0022") => 6,
            _ => 0,
        };
        let back = self.text.get(end.saturating_sub(names::LONGEST)..end)?;
        let len =
            back.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')).count();
        let mut from = end - len;
        if self.at(from.wrapping_sub(1)) == Some(b'\\') && self.rest(from).starts_with(b"u0022") {
            from += 5;
        }
        Some((from, end))
    }

    /// `_USER=name:password`, `user=name%password`, `/p:password` beside `/u:`.
    fn user_value(&self, name: &[u8], from: usize, sep: usize, start: usize) -> Option<(usize, usize)> {
        if self.at(sep) == Some(b':') {
            let option = name == b"p" && self.at(from.wrapping_sub(1)) == Some(b'/');
            return if option && self.has_before(from, &[b"/u:"]) { self.word(start) } else { None };
        }
        if !(name == b"user" || name == b"username" || name.ends_with(b"_USER")) {
            return None;
        }
        let stop = |b: u8| b.is_ascii_whitespace() || matches!(b, b',' | b';' | b'&');
        let (from, to) = self.within_quotes((start, self.value_end(start, stop)));
        let value = self.text.get(from..to)?;
        let sign = value.iter().position(|b| matches!(b, b':' | b'%')).filter(|p| *p > 0 && p + 1 < value.len())?;
        (!value.starts_with(MARK.as_bytes())).then_some((from + sign + 1, to))
    }

    /// Whether what is here is the value of something that was named just before: `name: TOKEN`, `"name":"TOKEN",`, `<name>a.token</name>`.
    pub(super) fn named_before(&self, at: usize) -> bool {
        const NEAR: usize = 160;
        let back = self.text.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
        let is = |w: &[u8]| w.eq_ignore_ascii_case(b"name") || w.eq_ignore_ascii_case(b"key:");
        let Some(p) = back.windows(4).rposition(is) else { return false };
        let behind = back.get(p + 4..).unwrap_or_default();
        // `</name>` closes what the one before opened.
        let closes = p >= 2 && back.get(p - 2..p) == Some(b"</");
        let word = |text: &[u8]| {
            let skip =
                text.iter().take_while(|b| matches!(b, b'"' | b'\'' | b' ' | b':' | b'=' | b'>' | b'\\')).count();
            let text = text.get(skip..).unwrap_or_default();
            let len = text.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')).count();
            names::is_secret(text.get(..len).unwrap_or_default())
        };
        if !closes {
            return word(behind);
        }
        let head = back.get(..p - 2).unwrap_or_default();
        head.windows(5)
            .rposition(|w| w.eq_ignore_ascii_case(b"name>"))
            .is_some_and(|o| word(head.get(o + 5..).unwrap_or_default()))
    }

    fn blanks(&self, at: usize) -> usize {
        self.rest(at).iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
    }

    /// Behind a tag or an anchor of YAML, where something follows it: `!!str X`, `&a |`.
    fn behind_tag(&self, start: usize) -> usize {
        if !matches!(self.at(start), Some(b'!' | b'&')) || self.rest(start).starts_with(b"&quot;") {
            return start;
        }
        let len = self.rest(start).iter().take(64).take_while(|b| !b.is_ascii_whitespace()).count();
        let next = start + len + self.blanks(start + len);
        if next > start + len && !matches!(self.at(next), None | Some(b'\n' | b'\r')) { next } else { start }
    }

    /// Inside of what is written around a text: `b'X'`, `Some("X")`, `&quot;X&quot;`, `\u0022X\u0022`.
    fn inside(&self, start: usize) -> usize {
        let mut at = start;
        for encoded in [&b"&quot;"[..], b"\\u0022"] {
            if self.rest(at).starts_with(encoded) {
                return at + encoded.len();
            }
        }
        for _ in 0..4 {
            let name = self.rest(at).iter().take(24).take_while(|b| b.is_ascii_alphanumeric() || **b == b':').count();
            let opens = self.at(at + name) == Some(b'(') && name > 0;
            if !opens {
                break;
            }
            at += name + 1;
        }
        let quote = |at: usize| matches!(self.at(at), Some(b'"' | b'\''));
        let letters = self
            .rest(at)
            .iter()
            .take(2)
            .take_while(|b| matches!(b.to_ascii_lowercase(), b'b' | b'u' | b'r' | b'f'))
            .count();
        let ends = |b: u8| b.is_ascii_whitespace() || matches!(b, b',' | b';' | b')' | b']' | b'}' | b'"' | b'\'');
        if letters > 0 && quote(at + letters) && self.at(at + letters + 1).is_some_and(|b| !ends(b)) {
            return at + letters;
        }
        if at > start && !quote(at) { start } else { at }
    }

    /// Whether a key is the first of its line, behind blanks, the dash of a list, a quote.
    fn begins_line(&self, from: usize) -> bool {
        let back = self.text.get(from.saturating_sub(80)..from).unwrap_or_default();
        let first = back.iter().rev().find(|b| !matches!(b, b' ' | b'\t' | b'-' | b'"' | b'\''));
        first == Some(&b'\n') || first.is_none() && from < 80
    }

    /// A value without the quotes around it: what reads JSON and XML reads on.
    pub(super) fn within_quotes(&self, (from, to): (usize, usize)) -> (usize, usize) {
        let word = self.text.get(from..to).unwrap_or_default();
        let depth = word.iter().take(16).take_while(|b| **b == b'\\').count();
        let escaped = word.get(..depth + 1).filter(|q| depth > 0 && q.ends_with(b"\"")).unwrap_or(b"\\\"");
        for q in [&b"\"\"\""[..], escaped, b"\"", b"'"] {
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
        // `\"` around the whole: text in a text, of any depth.
        let depth = self.rest(i).iter().take(16).take_while(|b| **b == b'\\').count();
        if depth > 0 && self.at(i + depth) == Some(b'"') {
            let quote = self.text.get(i..i + depth + 1).unwrap_or_default();
            i += quote.len();
            while let Some(b) = self.at(i) {
                if b == b'\n' || self.rest(i).starts_with(quote) {
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
                            b'\n' if !self.closes(i, b) => return i,
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

    /// Whether a quote that was opened is closed on one of the next lines.
    fn closes(&self, at: usize, quote: u8) -> bool {
        const NEAR: usize = 1024;
        let mut lines = 0;
        let rest = self.rest(at).iter().take(NEAR).take_while(|b| {
            lines += usize::from(**b == b'\n');
            lines < 5
        });
        // One that opens something else follows a sign, one that closes does not.
        let mut before = 0;
        for b in rest {
            if *b == quote {
                return !matches!(before, b'=' | b':' | b' ' | b',' | b'(' | b'[' | b'{' | b'\n');
            }
            before = *b;
        }
        false
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
