//! The net below every text: values of keys whose name says that they are secret, user information and queries of URLs, headers of
//! authorization, options of commands, blocks of private keys, tokens by their shape. One walk; no byte is looked at more than a few
//! times, whatever the text is.

use super::{MARK, names, token};

/// How far is looked back for what a word belongs to.
const BACK: usize = 200;
/// Longest list in brackets below a secret's name.
const LIST: usize = 64 << 10;

/// Replaces secrets in a text, in place. Returns how many there were. Lines stay where they are.
pub(crate) fn remove(text: &mut Vec<u8>) -> usize {
    let found = find(text);
    if !found.is_empty() {
        *text = without(text, &found);
    }
    found.len()
}

/// The text without its secrets; `None` where it holds none.
pub(super) fn removed(text: &[u8]) -> Option<Vec<u8>> {
    let found = find(text);
    (!found.is_empty()).then(|| without(text, &found))
}

fn without(text: &[u8], found: &[(usize, usize)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for (from, to) in found {
        out.extend_from_slice(text.get(at..*from).unwrap_or_default());
        out.extend_from_slice(MARK.as_bytes());
        let lines = text.get(*from..*to).unwrap_or_default().iter().filter(|b| **b == b'\n').count();
        out.resize(out.len() + lines, b'\n');
        at = *to;
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

/// What is looked for where a byte stands.
const NOTHING: u8 = 0;
const SIGN: u8 = 1;
const LETTER: u8 = 2;

static CLASS: [u8; 256] = {
    let mut t = [NOTHING; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        if b.is_ascii_alphanumeric() {
            t[i] = LETTER;
        } else if matches!(b, b'=' | b':' | b'-' | b'@' | b'<' | b'$') {
            t[i] = SIGN;
        }
        i += 1;
    }
    t
};

/// Ranges of secrets, in order, not overlapping.
fn find(text: &[u8]) -> Vec<(usize, usize)> {
    let mut net = Net { text, found: Vec::new(), url: None };
    // Most files are a number: nothing that could hold a secret.
    if text.len() < 8 {
        return net.found;
    }
    let mut i = 0;
    while let Some(b) = text.get(i) {
        let class = CLASS.get(usize::from(*b)).copied().unwrap_or(NOTHING);
        let range = match class {
            NOTHING => None,
            SIGN => net.sign(i, *b),
            _ => {
                let len = text.get(i..).unwrap_or_default().iter().take_while(|b| b.is_ascii_alphanumeric()).count();
                match net.letters(i, i + len) {
                    None => {
                        i += len;
                        continue;
                    }
                    range => range,
                }
            }
        };
        match range {
            Some((from, to)) if to > from && to > i => {
                net.put(from, to);
                i = to;
            }
            _ => i += 1,
        }
    }
    net.found
}

struct Net<'t> {
    text: &'t [u8],
    found: Vec<(usize, usize)>,
    /// End of the word that a URL is in, its first `?` or `#`, and its last `@`.
    url: Option<(usize, Option<usize>, Option<usize>)>,
}

impl Net<'_> {
    fn at(&self, i: usize) -> Option<u8> {
        self.text.get(i).copied()
    }

    fn rest(&self, i: usize) -> &[u8] {
        self.text.get(i..).unwrap_or_default()
    }

    /// Notes a range. One that begins before the end of the last one goes on behind it.
    fn put(&mut self, from: usize, to: usize) {
        if self.text.get(from..to) == Some(MARK.as_bytes()) {
            return;
        }
        while let Some(last) = self.found.last_mut() {
            if from > last.1 {
                break;
            }
            if from >= last.0 {
                last.1 = to.max(last.1);
                return;
            }
            self.found.pop();
        }
        self.found.push((from, to));
    }

    fn sign(&mut self, i: usize, b: u8) -> Option<(usize, usize)> {
        match b {
            b':' if self.rest(i).starts_with(b"://") => self.url(i),
            b'=' | b':' => self.value_after(i),
            b'-' if self.rest(i).starts_with(b"-----BEGIN ") => self.key_block(i),
            b'-' => self.option(i),
            b'@' => {
                if let Some((from, to)) = self.user(i) {
                    self.put(from, to);
                }
                None
            }
            b'<' => self.element(i),
            _ => token::crypt(self.text, i).map(|to| (i, to)),
        }
    }

    /// A run of letters and digits: a token, or a word behind which a secret stands.
    fn letters(&mut self, from: usize, to: usize) -> Option<(usize, usize)> {
        if self.rest(from).starts_with(&MARK.as_bytes()[1..]) {
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
        // Once for each whole run: where nothing of it is before.
        if !before.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/')) {
            let whole = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/');
            let len = self.rest(from).iter().take(4096).take_while(whole).count();
            if len > to - from && token::is_whole(self.text.get(from..from + len)?) {
                let tail = self.rest(from + len).iter().take_while(|b| **b == b'=').count();
                return Some((from, from + len + tail));
            }
        }
        self.said(run, to)
    }

    /// `bearer X`, `password is X`, `password for root is X`, `login u password X`, `identified by X`.
    fn said(&self, word: &[u8], to: usize) -> Option<(usize, usize)> {
        if !matches!(word.len(), 2 | 6 | 8 | 10) || self.at(to) != Some(b' ') {
            return None;
        }
        let is = |w: &str| word.eq_ignore_ascii_case(w.as_bytes());
        if is("bearer") {
            let (from, to) = self.word(to)?;
            return (to - from >= 6).then_some((from, to));
        }
        // NCCL's own words: `NAME set by environment to VALUE`.
        if is("to") {
            let back = self.text.get(to.saturating_sub(BACK)..to)?;
            let back = back.strip_suffix(b" set by environment to")?;
            let name = back.rsplit(|b| b.is_ascii_whitespace()).next()?;
            return if names::is_secret(name) { self.word(to) } else { None };
        }
        if is("by") {
            let back = self.text.get(..to - 2)?;
            return if ends_with_word(back, b"identified ") { self.word(to) } else { None };
        }
        if !(is("password") || is("passwd") || is("passphrase")) {
            return None;
        }
        let line = self.rest(to);
        let line = line.get(..line.iter().take(BACK).position(|b| *b == b'\n').unwrap_or(line.len().min(BACK)))?;
        let mut at = to;
        for (n, w) in line.split(|b| *b == b' ').skip(1).take(5).enumerate() {
            at += 1;
            if w.eq_ignore_ascii_case(b"is") {
                return self.word(at + w.len());
            }
            at += w.len();
            if n == 0 && self.has_before(to, &[b"login "]) {
                return self.word(to);
            }
        }
        None
    }

    /// The word or quoted text behind blanks.
    fn word(&self, at: usize) -> Option<(usize, usize)> {
        let start = at + self.rest(at).iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let end = self.value_end(start, |b| b.is_ascii_whitespace());
        let (start, end) = self.within_quotes((start, end));
        (end > start && !self.rest(start).starts_with(MARK.as_bytes())).then_some((start, end))
    }

    /// Whether one of these stands on the same line, not far before.
    fn has_before(&self, at: usize, words: &[&[u8]]) -> bool {
        let back = self.text.get(at.saturating_sub(BACK / 2)..at).unwrap_or_default();
        let line = back.rsplit(|b| *b == b'\n').next().unwrap_or_default();
        words.iter().any(|w| line.windows(w.len()).any(|l| l.eq_ignore_ascii_case(w)))
    }

    /// The value after `word=`, `word: `, `"word": "`.
    fn value_after(&self, sep: usize) -> Option<(usize, usize)> {
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
    fn within_quotes(&self, (from, to): (usize, usize)) -> (usize, usize) {
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
    fn value_end(&self, start: usize, stop: impl Fn(u8) -> bool) -> usize {
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

    /// The lines below a key that are indented further: all of them.
    fn block(&self, sep: usize, line_end: usize) -> Option<(usize, usize)> {
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
    fn list_end(&self, start: usize) -> usize {
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

    fn key_block(&self, at: usize) -> Option<(usize, usize)> {
        let head = self.rest(at).get(..self.rest(at).len().min(80))?;
        if !head.split(|b| *b == b'\n').next()?.windows(11).any(|w| w == b"PRIVATE KEY") {
            return None;
        }
        let end = b"-----END ";
        let to = self.rest(at).windows(end.len()).position(|w| w == end).map_or(self.text.len(), |p| {
            let tail = self.rest(at + p + end.len());
            let dashes = tail.iter().take(80).position(|b| *b == b'-').unwrap_or(0);
            at + p + end.len() + dashes + tail.iter().skip(dashes).take_while(|b| **b == b'-').count()
        });
        Some((at, to))
    }

    /// `scheme://user:password@host/path?query#fragment`: the user's part, and what is behind `?` or `#`.
    fn url(&mut self, at: usize) -> Option<(usize, usize)> {
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
        if let Some(q) = query.filter(|q| *q >= from && q + 1 < end) {
            let (from, to) = (q + 1, end - usize::from(self.text.get(end - 1) == Some(&b'\\')));
            // Where it stands in a list or in brackets, what is behind belongs to that; it goes with it.
            return if self.text.get(from..to) == Some(MARK.as_bytes()) { None } else { Some((from, to)) };
        }
        told.map(|to| (from, to))
    }

    /// `user:password@host` in a word of its own.
    fn user(&self, at: usize) -> Option<(usize, usize)> {
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

    /// `--password X`, `-u user:X`; `-p X` of programs whose `-p` is a password.
    fn option(&self, at: usize) -> Option<(usize, usize)> {
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

    /// `<password>X</password>`
    fn element(&self, at: usize) -> Option<(usize, usize)> {
        let rest = self.rest(at + 1);
        let len = rest
            .iter()
            .take(names::LONGEST)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
            .count();
        if len == 0 || !names::is_secret(rest.get(..len)?) {
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

/// Whether the value of a secret's name is a switch, or a number of a few bits (`sig=0x306e4`, `pin1=2`): no secret.
pub(super) fn is_switch(word: &[u8]) -> bool {
    const SWITCHES: &[&str] =
        &["true", "false", "yes", "no", "on", "off", "0", "1", "none", "null", "(null)", "(none)", MARK];
    let small = word.len() <= 2 || word.starts_with(b"0x") && word.len() <= 10;
    small || SWITCHES.iter().any(|s| word.eq_ignore_ascii_case(s.as_bytes()))
}

fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && text.get(text.len() - word.len()..).is_some_and(|t| t.eq_ignore_ascii_case(word))
}

#[cfg(test)]
#[path = "net_tests.rs"]
mod tests;
