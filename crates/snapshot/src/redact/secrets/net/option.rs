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
            .take(names::LONGEST * 4)
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
        if name == b"from-literal" {
            let (from, to) = self.word(behind + 1)?;
            let sign = self.text.get(from..to)?.iter().position(|b| *b == b'=')?;
            return (from + sign + 1 < to).then_some((from + sign + 1, to));
        }
        let comma = self.has_before(at, &[b"lftp"]);
        let parted = |r: &(usize, usize)| {
            self.text.get(r.0..r.1).is_some_and(|w| w.iter().any(|b| matches!(b, b':' | b'%') || comma && *b == b','))
        };
        if matches!(name, b"u" | b"U" | b"user" | b"proxy-user") {
            let range = if self.at(behind) == Some(b'=') { self.word(behind + 1) } else { next() };
            return range.filter(parted);
        }
        if dashes == 1 && matches!(name.first(), Some(b'u')) && self.at(behind) == Some(b':') {
            let (from, to) = self.word(at + 2)?;
            return Some((from, to));
        }
        if dashes != 1 {
            return None;
        }
        let tools: &[&[u8]] = match name.first()? {
            b'p' => &[b"sshpass", b"mysql", b"mariadb", b"login "],
            b'P' => &[b"ipmitool", b"sqlcmd", b"zip"],
            b'w' => &[b"ldap"],
            b'a' => &[b"redis"],
            b'c' | b'A' | b'X' => &[b"snmp"],
            _ => return None,
        };
        if self.has_before(at, tools) {
            return if len == 1 { next() } else { self.word(at + 2) };
        }
        if name == b"a" && self.has_before(at, &[b"http "]) {
            return next().filter(parted);
        }
        if name.len() == 1 && matches!(name, b"p" | b"P") { next().filter(|r| self.is_of_user(at, *r)) } else { None }
    }

    /// Whether a `-p X` belongs to a `-u USER` before it: X is no port, and the program gives `-p` no other meaning.
    fn is_of_user(&self, at: usize, (from, to): (usize, usize)) -> bool {
        const OTHERS: &[&[u8]] =
            &[b"srun", b"sbatch", b"salloc", b"squeue", b"sinfo", b"journalctl", b"mkdir", b"python"];
        let value = self.text.get(from..to).unwrap_or_default();
        let port = value.first().is_some_and(u8::is_ascii_digit)
            && (value.iter().all(|b| !b.is_ascii_alphabetic()) || value.contains(&b':'));
        !port && self.has_before(at, &[b" -u ", b" --user ", b" --username "]) && !self.has_before(at, OTHERS)
    }
}
