//! Users and passwords in addresses.

use super::super::MARK;
use super::{BACK, Net};

impl Net<'_> {
    /// `scheme://user:password@host/path?query#fragment`: the user's part, and what is behind `?` or `#`.
    pub(super) fn url(&mut self, at: usize) -> Option<(usize, usize)> {
        let from = at + 3;
        if self.url.is_none_or(|(end, ..)| end <= from) {
            let stop = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'<' | b'>' | b'`' | 0);
            let len = self.rest(from).iter().position(stop).unwrap_or(self.text.len() - from);
            let word = self.text.get(from..from + len)?;
            let query = word.iter().position(|b| matches!(b, b'?' | b'#')).map(|p| from + p);
            let user = word.iter().rposition(|b| *b == b'@').map(|p| from + p);
            self.url = Some((from + len, query, user));
        }
        let (end, query, user) = self.url?;
        let stop = |b: &u8| matches!(b, b'/' | b'?' | b'#' | b',' | b';' | b'\\');
        let len = self.text.get(from..end)?.iter().position(stop).unwrap_or(end - from);
        let authority = self.text.get(from..from + len)?;
        // A password may hold a slash: then what is before it is no port.
        let odd = authority
            .iter()
            .position(|b| *b == b':')
            .is_some_and(|p| authority.get(p + 1..).is_some_and(|w| w.iter().any(|b| !b.is_ascii_digit())));
        let told = match authority.iter().rposition(|b| *b == b'@') {
            Some(p) => Some(from + p),
            None if odd => user.filter(|u| *u > from),
            None => None,
        };
        if let Some(to) = told {
            self.put(from, to);
        }
        // Addresses whose path is the secret.
        let hook = authority.starts_with(b"hooks.") || authority == b"api.telegram.org";
        let path = from + len + 1;
        if hook && path < end && query.is_none() && !self.rest(path).starts_with(MARK.as_bytes()) {
            return Some((path, end));
        }
        if let Some(q) = query.filter(|q| *q >= from && q + 1 < end) {
            let (from, to) = (q + 1, end - usize::from(self.text.get(end - 1) == Some(&b'\\')));
            // Where it is in a list or in brackets, what is behind belongs to that; it goes with it.
            return if self.text.get(from..to) == Some(MARK.as_bytes()) { None } else { Some((from, to)) };
        }
        told.map(|to| (from, to))
    }

    /// `user:password@host` in a word of its own.
    pub(super) fn user(&self, at: usize) -> Option<(usize, usize)> {
        let back = self.text.get(at.saturating_sub(BACK)..at)?;
        let stop = |b: &u8| {
            b.is_ascii_whitespace()
                || matches!(b, b'"' | b'\'' | b'=' | b',' | b';' | b'(' | b'<' | b'>' | b'@' | b'[' | b']' | b'|')
        };
        let len = back.iter().rev().position(stop).unwrap_or(back.len());
        let word = self.text.get(at - len..at)?;
        let scheme = word.windows(3).rposition(|w| w == b"://").map_or(0, |p| p + 3);
        let word = word.get(scheme..)?;
        let colon = word.iter().position(|b| matches!(b, b':' | b'%'))?;
        // The address of a PCI device is no user; nothing behind the `@` is no host.
        let next = |n: usize| self.at(at + n).unwrap_or(b' ');
        let host =
            next(1).is_ascii_alphanumeric() || next(1) == b'[' && (next(2).is_ascii_hexdigit() || next(2) == b':');
        (host && colon + 1 < word.len()).then_some((at - word.len(), at))
    }
}
