//! Words behind which a secret is, with no sign between: sentences, prompts, commands, lines of two words.

use super::super::names;
use super::{BACK, Net};

/// What a pipe or a here-string leads to that asks for a secret, in small letters.
const ASKERS: &[&[u8]] =
    &[b"passw", b"sudo", b"cryptsetup", b"login", b"secret", b"token", b"passphrase", b"kinit", b"ssh-add", b"gpg"];
/// What follows the name of a secret on a line of two words, or `password is`, and is not a secret.
const STATES: &[&str] = &[
    "required",
    "incorrect",
    "expired",
    "failed",
    "failure",
    "invalid",
    "missing",
    "denied",
    "rejected",
    "accepted",
    "changed",
    "updated",
    "set",
    "needed",
    "ok",
    "error",
    "found",
    "unknown",
    "disabled",
    "enabled",
    "mismatch",
    "wrong",
    "prompt",
    "file",
    "authentication",
    "refused",
    "empty",
    "unset",
    "generated",
    "created",
    "deleted",
    "removed",
];

/// What follows `password is` where the sentence goes on, and is not a secret.
const LINKS: &[&str] = &["a", "already", "an", "no", "not", "only", "the", "too"];

fn is_any(word: &[u8], of: &[&str]) -> bool {
    of.iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
}

impl Net<'_> {
    /// `bearer X`, `password is X`, `password for root: X`, `login u password X`, `identified by X`, `echo X | passwd`.
    pub(super) fn said(&self, word: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
        if !matches!(word.len(), 2..=6 | 8 | 10) || self.at(to) != Some(b' ') {
            return None;
        }
        let is = |w: &str| word.eq_ignore_ascii_case(w.as_bytes());
        match word.len() {
            // NCCL's own words: `NAME set by environment to VALUE`.
            2 if is("to") => {
                let back = self.text.get(to.saturating_sub(BACK)..to)?;
                let back = back.strip_suffix(b" set by environment to")?;
                let name = back.rsplit(|b| b.is_ascii_whitespace()).next()?;
                if names::is_secret(name) { self.word(to) } else { None }
            }
            2 if is("by") && self.follows(from, b"identified ") => self.word(to),
            3 | 6 if word == b"ENV" || word == b"setenv" => self.variable(to),
            4 if word == b"PASS" && self.follows(from, b"> ") => self.word(to),
            4 if is("echo") => self.piped(to),
            6 if is("printf") => self.piped(to),
            4 if is("send") && self.has_before(from, &[b"assword"]) => self.word(to),
            5 if is("login") && self.follows(from, b"wandb ") => self.word(to),
            5 if is("basic") => self.basic(to),
            6 if is("bearer") => self.word(to).filter(|(from, to)| to - from >= 6),
            6 if is("unseal") => self.prompt(to),
            6 | 8 | 10 if is("passwd") || is("password") || is("passphrase") => self.password(from, to),
            3 if is("psk") && self.has_before(from, &[b"nmcli"]) => self.word(to),
            _ => None,
        }
    }

    /// Behind the word `password`, `passwd` or `passphrase`.
    fn password(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        // `nmcli … password X`, `ipmitool user set password 2 X`, `wpa_passphrase NET X`.
        if self.has_before(from, &[b"nmcli", b"login "]) {
            return self.word(to);
        }
        if self.follows(from, b"wpa_") || self.follows(from, b"user set ") {
            let (_, next) = self.word(to)?;
            return self.word(next);
        }
        if matches!(self.at(to + 1), Some(b'"' | b'\'')) {
            return self.word(to);
        }
        let line = self.line(to);
        let mut at = to;
        for w in line.split(|b| *b == b' ').skip(1).take(5) {
            at += 1 + w.len();
            if w.eq_ignore_ascii_case(b"is") {
                let range = self.word(at).filter(|r| !self.is_said_of_it(r));
                // `password (it is shown): X` goes on.
                let ends = |r: &(usize, usize)| self.at(r.1 - 1) == Some(b':');
                return if range.as_ref().is_some_and(ends) { self.prompt(to) } else { range };
            }
        }
        self.prompt(to)
    }

    /// Whether what follows `password is` says something of it: `required`, `not …`.
    fn is_said_of_it(&self, (from, to): &(usize, usize)) -> bool {
        let word = self.text.get(*from..*to).unwrap_or_default();
        is_any(word, STATES) || self.at(*to) == Some(b' ') && is_any(word, LINKS)
    }

    /// `password for root: X`, `passphrase for key '/x/y': X`, `Unseal Key 1: X`.
    fn prompt(&self, to: usize) -> Option<(usize, usize)> {
        let line = self.line(to);
        let end = line.windows(2).take(80).position(|w| w == b": ")?;
        let words = line.get(..end)?.iter().filter(|b| **b == b' ').count();
        let quiet = !line.get(..end)?.iter().any(|b| matches!(b, b';' | b'='));
        if words <= 6 && quiet { self.word(to + end + 1) } else { None }
    }

    /// The rest of the line, not far.
    fn line(&self, at: usize) -> &[u8] {
        let rest = self.rest(at);
        rest.get(..rest.iter().take(BACK).position(|b| *b == b'\n').unwrap_or(rest.len().min(BACK))).unwrap_or_default()
    }

    /// `NAME VALUE` behind `ENV`, `setenv`.
    fn variable(&self, at: usize) -> Option<(usize, usize)> {
        let (from, to) = self.word(at)?;
        if names::is_secret(self.text.get(from..to)?) { self.word(to) } else { None }
    }

    /// What is printed into a pipe that leads to a program that asks for a secret.
    fn piped(&self, at: usize) -> Option<(usize, usize)> {
        let line = self.line(at);
        let pipe = line.iter().position(|b| *b == b'|')?;
        let asks = |w: &&[u8]| line.get(pipe..).unwrap_or_default().windows(w.len()).any(|l| l.eq_ignore_ascii_case(w));
        let end = at + line.get(..pipe)?.trim_ascii_end().len();
        let start = at + line.iter().take_while(|b| **b == b' ').count();
        (ASKERS.iter().any(asks) && end > start).then_some((start, end))
    }

    /// `sudo -S x <<< X`
    pub(super) fn here(&self, at: usize) -> Option<(usize, usize)> {
        if self.has_before(at, ASKERS) { self.word(at + 3) } else { None }
    }

    /// `Basic` and the base64 of a name, a colon and a password.
    fn basic(&self, at: usize) -> Option<(usize, usize)> {
        let from = at + 1;
        let digits = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
        let len = self.rest(from).iter().take(4096).take_while(digits).count();
        let fill = self.rest(from + len).iter().take(2).take_while(|b| **b == b'=').count();
        let sextet = |b: u8| match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut bytes = Vec::new();
        for four in self.rest(from).get(..len)?.chunks(4) {
            let n = four.iter().fold(0_u32, |n, b| n << 6 | u32::from(sextet(*b))) << (6 * (4 - four.len()));
            bytes.extend(n.to_be_bytes().iter().skip(1).take(four.len() - 1));
        }
        let text = bytes.iter().all(|b| (0x20..0x7f).contains(b));
        (len >= 8 && text && bytes.contains(&b':')).then_some((from, from + len + fill))
    }

    /// Whether this is in front of a word.
    fn follows(&self, from: usize, word: &[u8]) -> bool {
        let back = self.text.get(from.saturating_sub(word.len())..from).unwrap_or_default();
        back.eq_ignore_ascii_case(word)
    }

    /// Where the name begins that ends here.
    fn name(&self, to: usize) -> usize {
        let back = self.text.get(to.saturating_sub(names::LONGEST)..to).unwrap_or_default();
        let len =
            back.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')).count();
        to - len
    }

    /// `"NAME", "VALUE"`: arguments of a call, a pair of a list.
    pub(super) fn listed(&self, to: usize) -> Option<(usize, usize)> {
        let quote = self.at(to).filter(|b| matches!(b, b'"' | b'\''))?;
        if self.at(to + 1) != Some(b',') {
            return None;
        }
        let from = self.name(to);
        let opened = from > 0 && self.at(from - 1) == Some(quote);
        let next = to + 2 + self.rest(to + 2).iter().take(4).take_while(|b| **b == b' ').count();
        let option = self.at(from) == Some(b'-');
        let ok = opened && !option && self.at(next) == Some(quote) && names::is_secret(self.text.get(from..to)?);
        // A list of names holds no value.
        let (start, end) = if ok { self.word(next) } else { None }?;
        let pair = matches!(self.at(end + 1), Some(b')' | b']' | b'}'));
        pair.then_some((start, end))
    }

    /// A line of two words: the name of a secret, and its value.
    pub(super) fn alone(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        if !matches!(self.at(to), Some(b' ' | b'\t')) || !matches!(to - from, 2..=20) {
            return None;
        }
        // Most words follow another one: this is not the first of its line.
        let before = |n: usize| from.checked_sub(n).and_then(|p| self.at(p));
        if before(1) == Some(b' ') && before(2).is_some_and(|b| !matches!(b, b' ' | b'\t' | b'\n')) {
            return None;
        }
        let name = self.name(to);
        let back = self.text.get(name.saturating_sub(40)..name)?;
        let first = back.iter().rev().find(|b| !matches!(b, b' ' | b'\t'));
        if first.is_some_and(|b| *b != b'\n') || first.is_none() && name > 40 {
            return None;
        }
        let word = self.text.get(name..to)?;
        // `PASS all_reduce` is what tests print.
        if word == b"PASS" {
            return None;
        }
        let (start, end) = self.word(to)?;
        let value = self.text.get(start..end)?;
        let rest = self.rest(end).iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'"' | b'\''));
        // Last, because the dearest: whether it is the name of a secret.
        if rest.is_some_and(|b| *b != b'\n') || !names::is_secret(word) && word != b"masterauth" {
            return None;
        }
        let value_like = !matches!(value.first(), Some(b'=' | b':' | b'(' | b'-' | b'<' | b'|' | b'{'));
        (value_like && !is_any(value, STATES) && !super::is_switch(value)).then_some((start, end))
    }

    /// `password%3DX`, `%22password%22%3A%22X%22`: as addresses and forms have it.
    pub(super) fn encoded(&self, to: usize) -> Option<(usize, usize)> {
        if self.at(to) != Some(b'%') {
            return None;
        }
        let quote = |at: usize| if self.rest(at).starts_with(b"%22") { at + 3 } else { at };
        let sign = quote(to);
        let ok =
            self.rest(sign).get(..3).is_some_and(|s| s.eq_ignore_ascii_case(b"%3d") || s.eq_ignore_ascii_case(b"%3a"));
        if !ok {
            return None;
        }
        let (mut from, start) = (self.name(to), quote(sign + 3));
        // The digits of an encoded sign in front are not of the name.
        if from > 0 && self.at(from - 1) == Some(b'%') {
            from += 2;
        }
        if !names::is_secret(self.text.get(from..to)?) {
            return None;
        }
        let rest = self.rest(start);
        let stop = |w: &[u8]| {
            matches!(w.first(), Some(b'&' | b'"' | b'\'' | b'<' | b'>' | b' ' | b'\t' | b'\n' | b'\r'))
                || w.starts_with(b"%26")
                || w.starts_with(b"%22")
        };
        let len = (0..rest.len()).find(|i| rest.get(*i..).is_some_and(stop)).unwrap_or(rest.len());
        (len > 0 && !rest.starts_with(super::super::MARK.as_bytes())).then_some((start, start + len))
    }
}
