//! The net below every text: values of keys whose name says that they are secret, user information and queries of URLs, headers of
//! authorization, options of commands, blocks of private keys, tokens by their shape. One walk; no byte is looked at more than a few
//! times, whatever the text is.

mod block;
mod option;
mod said;
mod url;
mod value;
mod word;

use super::{MARK, token};
pub(super) use value::is_switch;

/// How far is looked back for what a word belongs to.
const BACK: usize = 200;

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

/// What is looked for where a byte is.
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
            b'-' if [&b"-----BEGIN "[..], b"---- BEGIN "].iter().any(|h| self.rest(i).starts_with(h)) => {
                self.key_block(i)
            }
            b'-' => self.option(i),
            b'@' => {
                if let Some((from, to)) = self.user(i) {
                    self.put(from, to);
                }
                None
            }
            b'<' if self.rest(i).starts_with(b"<<<") => self.here(i),
            b'<' => self.element(i),
            _ => token::crypt(self.text, i).map(|to| (i, to)),
        }
    }
}

#[cfg(test)]
mod tests;
