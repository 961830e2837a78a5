//! Options of commands.

use super::super::{MARK, names};
use super::Net;

impl Net<'_> {
    /// `--password X`, `-u user:X`; `-p X` of programs whose `-p` is a password.
    pub(super) fn option(&self, at: usize) -> Option<(usize, usize)> {
        if at > 0
            && !self.at(at - 1).is_some_and(|b| {
                b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'=' | b',' | b'[' | b'>' | b':' | b'`' | b'(')
            })
        {
            return None;
        }
        let dashes = self.rest(at).iter().take(3).take_while(|b| **b == b'-').count();
        let name = self.rest(at + dashes);
        let len = name
            .iter()
            .take(names::LONGEST + 1)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
            .count();
        let name = name.get(..len)?;
        let behind = at + dashes + len;
        let next = || {
            // `"--password", "X"` in a list of arguments.
            let gap = self
                .rest(behind)
                .iter()
                .take(8)
                .take_while(|b| matches!(b, b'"' | b'\'' | b',' | b' ' | b'\t'))
                .count();
            let listed = matches!(self.at(behind), Some(b'"' | b'\''));
            let start = behind + gap;
            match self.at(start) {
                Some(b'-' | b'\n') | None => None,
                Some(_) if gap == 0 => None,
                Some(_) if listed => {
                    let quote = self.at(start - 1);
                    let end = self.rest(start).iter().position(|b| Some(*b) == quote || *b == b'\n')?;
                    (!self.rest(start).starts_with(MARK.as_bytes())).then_some((start, start + end))
                }
                Some(_) => self.word(behind),
            }
        };
        if names::is_secret(name) && matches!(self.at(behind), Some(b' ' | b'\t' | b'"' | b'\'')) {
            return next();
        }
        let parted =
            |r: &(usize, usize)| self.text.get(r.0..r.1).is_some_and(|w| w.iter().any(|b| matches!(b, b':' | b'%')));
        if matches!(name, b"u" | b"U" | b"user" | b"proxy-user") {
            let range = if self.at(behind) == Some(b'=') { self.word(behind + 1) } else { next() };
            return range.filter(parted);
        }
        if dashes == 1 && matches!(name.first(), Some(b'u')) && self.at(behind) == Some(b':') {
            let (from, to) = self.word(at + 2)?;
            return Some((from, to));
        }
        let tools: &[&[u8]] = match name.first()? {
            b'p' => &[b"sshpass", b"mysql", b"mariadb", b"docker", b"podman"],
            b'P' => &[b"ipmitool"],
            b'w' => &[b"ldap"],
            b'a' => &[b"redis"],
            _ => return None,
        };
        if dashes != 1 || !self.has_before(at, tools) {
            return None;
        }
        if len == 1 { next() } else { self.word(at + 2) }
    }
}
