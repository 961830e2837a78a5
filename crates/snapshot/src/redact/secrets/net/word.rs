//! Runs of letters and digits: tokens, and words behind which a secret is.

use super::super::shape::Shape;
use super::super::{MARK, token};
use super::{BACK, Net};

impl Net<'_> {
    /// A run of letters and digits: a token, or a word behind which a secret is.
    pub(super) fn letters(&mut self, from: usize, to: usize) -> Option<(usize, usize)> {
        if self.at(from) == Some(b'r') && self.rest(from).starts_with(&MARK.as_bytes()[1..]) {
            return None;
        }
        let before = from.checked_sub(1).and_then(|p| self.at(p));
        let inside = before.is_some_and(|b| matches!(b, b'_' | b'-'));
        if !inside && let Some(end) = token::begins(self.text, from) {
            return Some((from, end));
        }
        let run = self.text.get(from..to)?;
        // What lspci prints of VPD tells which functions are one card; redaction hashes it.
        let card = run.len() == 32 && self.text.get(..from).is_some_and(|t| t.ends_with(b" Vendor specific: "));
        if !card && token::is_run(run) {
            // The rest of its characters belongs to it.
            let more = |b: &u8| token::is_char(*b) && *b != b'.' && *b != b'~';
            let end = to + self.rest(to).iter().take_while(|b| more(b)).count();
            let joined = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/');
            let back = self.text.get(from.saturating_sub(BACK)..from)?.iter().rev().take_while(joined).count();
            let path = self.text.get(from - back..from)?.contains(&b'/');
            return Some((if path { from } else { from - back }, end));
        }
        // Once for each whole run: where it begins. Behind a slash it is a path, unless it is filled up or mixed as Base64 is.
        let whole = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/');
        let slash = before == Some(b'/') && !from.checked_sub(2).and_then(|p| self.at(p)).is_some_and(|b| whole(&b));
        if slash || !before.is_some_and(|b| whole(&b)) {
            let len = self.rest(from).iter().take(4096).take_while(|b| whole(b)).count();
            let tail = || self.rest(from + len).iter().take_while(|b| **b == b'=').count();
            let run = self.text.get(from..from + len).unwrap_or_default();
            let is_path = || {
                let whole = self.text.get(from - 1..from + len).unwrap_or_default();
                !token::is_mixed(run) || Shape::Path.fits(whole)
            };
            if len > to - from && token::is_whole(run) && (!slash || tail() > 0 || !is_path()) {
                return Some((from - usize::from(slash), from + len + tail()));
            }
        }
        self.encoded(to)
            .or_else(|| self.said(run, from, to))
            .or_else(|| self.listed(to))
            .or_else(|| self.alone(from, to))
    }

    /// The word or quoted text behind blanks.
    pub(super) fn word(&self, at: usize) -> Option<(usize, usize)> {
        let start = at + self.rest(at).iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let end = self.value_end(start, |b| b.is_ascii_whitespace());
        let (start, end) = self.within_quotes((start, end));
        (end > start && !self.rest(start).starts_with(MARK.as_bytes())).then_some((start, end))
    }

    /// Whether one of these is on the same line, not far before.
    pub(super) fn has_before(&self, at: usize, words: &[&[u8]]) -> bool {
        let back = self.text.get(at.saturating_sub(BACK / 2)..at).unwrap_or_default();
        let line = back.rsplit(|b| *b == b'\n').next().unwrap_or_default();
        words.iter().any(|w| line.windows(w.len()).any(|l| l.eq_ignore_ascii_case(w)))
    }
}
