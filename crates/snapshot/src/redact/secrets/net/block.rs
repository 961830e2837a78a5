//! Secrets of several lines or between brackets: blocks of YAML, lists, private keys, elements of XML.

use super::super::{MARK, names};
use super::Net;

/// Longest list in brackets below a secret's name.
const LIST: usize = 64 << 10;

impl Net<'_> {
    /// The lines below a key that are indented further: all of them.
    pub(super) fn block(&self, sep: usize, line_end: usize) -> Option<(usize, usize)> {
        let line = self.text.get(..sep)?.iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1);
        let indent = |from: usize| self.rest(from).iter().take_while(|b| **b == b' ' || **b == b'\t').count();
        let (own, mut at) = (indent(line), line_end);
        let mut end = line_end;
        while self.at(at) == Some(b'\n') || self.at(at) == Some(b'\r') {
            let next = at + 1;
            let len = self.rest(next).iter().position(|b| *b == b'\n').unwrap_or(self.text.len().saturating_sub(next));
            let blank = self.rest(next).get(..len).is_none_or(|l| l.trim_ascii().is_empty());
            if self.at(at) == Some(b'\n') && !blank && indent(next) <= own {
                break;
            }
            if next >= self.text.len() {
                break;
            }
            at = next + len;
            if !blank {
                end = at;
            }
        }
        (end > line_end).then_some((line_end, end))
    }

    /// The end of a list or map in brackets.
    pub(super) fn list_end(&self, start: usize) -> usize {
        let mut depth = 0_usize;
        for (i, b) in self.rest(start).iter().take(LIST).enumerate() {
            match b {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return start + i + 1;
                    }
                }
                _ => {}
            }
        }
        start + self.rest(start).len().min(LIST)
    }

    pub(super) fn key_block(&self, at: usize) -> Option<(usize, usize)> {
        let head = self.rest(at).get(..self.rest(at).len().min(80))?;
        if !head.split(|b| *b == b'\n').next()?.windows(11).any(|w| w == b"PRIVATE KEY") {
            return None;
        }
        let end: &[u8] = if self.rest(at).starts_with(b"-----") { b"-----END " } else { b"---- END " };
        let to = self.rest(at).windows(end.len()).position(|w| w == end).map_or(self.text.len(), |p| {
            let tail = self.rest(at + p + end.len());
            let dashes = tail.iter().take(80).position(|b| *b == b'-').unwrap_or(0);
            at + p + end.len() + dashes + tail.iter().skip(dashes).take_while(|b| **b == b'-').count()
        });
        Some((at, to))
    }

    /// `<password>X</password>`
    pub(super) fn element(&self, at: usize) -> Option<(usize, usize)> {
        let rest = self.rest(at + 1);
        let len = rest
            .iter()
            .take(names::LONGEST)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
            .count();
        let name = rest.get(..len)?;
        if len == 0 || !(names::is_secret(name) || name.eq_ignore_ascii_case(b"value") && self.named_before(at)) {
            return None;
        }
        let open = rest.iter().take(1024).position(|b| *b == b'>')?;
        if open == 0 || rest.get(open - 1) == Some(&b'/') {
            return None;
        }
        let start = at + 1 + open + 1;
        let end = self.rest(start).iter().position(|b| *b == b'<').unwrap_or(self.text.len() - start);
        (!self.rest(start).starts_with(MARK.as_bytes())).then_some((start, start + end))
    }
}
