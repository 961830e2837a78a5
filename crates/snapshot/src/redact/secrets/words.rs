//! Arguments of the kernel: the ones that are named in `kernel.txt` pass with values of their shape, modules' parameters of the modules
//! that rules read likewise, switches of any name. Of everything else the value goes.

use super::MARK;
use super::shape::{Shape, atom};
use super::{names, token};
use std::collections::HashMap;
use std::sync::OnceLock;

/// What passes. Names have `-` as `_`.
struct Allowed {
    keys: HashMap<&'static str, Shape>,
    modules: Vec<&'static str>,
}

fn allowed() -> &'static Allowed {
    static ALLOWED: OnceLock<Allowed> = OnceLock::new();
    ALLOWED.get_or_init(|| {
        let mut out = Allowed { keys: HashMap::new(), modules: Vec::new() };
        for line in include_str!("kernel.txt").lines().filter(|l| !l.starts_with('#')) {
            let Some((kind, names)) = line.split_once(' ') else { continue };
            let shape = match kind {
                "list" => Shape::List,
                "path" => Shape::Path,
                "device" => Shape::Device,
                _ => {
                    out.modules.extend(names.split_ascii_whitespace());
                    continue;
                }
            };
            out.keys.extend(names.split_ascii_whitespace().map(|n| (n, shape)));
        }
        out
    })
}

/// The shape that the value of an argument must have.
fn shape_of(name: &str) -> Shape {
    let a = allowed();
    let name = name.replace('-', "_");
    if let Some(shape) = a.keys.get(name.as_str()) {
        return *shape;
    }
    match name.split_once('.') {
        Some((module, _)) if a.modules.contains(&module) && !names::is_secret(name.as_bytes()) => Shape::Path,
        _ => Shape::Switch,
    }
}

/// Whether a parameter of a module may be shown, with this value.
pub(super) fn parameter(module: &str, name: &str, value: &[u8]) -> bool {
    is_name(name.as_bytes()) && fits(shape_of(&format!("{module}.{name}")), value)
}

/// Whether a module is one of those that rules read.
pub(super) fn is_name(name: &[u8]) -> bool {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    !name.is_empty()
        && name.len() <= 64
        && name.iter().all(plain)
        && !name.split(|b| !b.is_ascii_alphanumeric()).any(token::is_run)
}

fn fits(shape: Shape, value: &[u8]) -> bool {
    let bare = unquoted(value);
    if shape == Shape::Switch || !bare.contains(&b'"') {
        return shape.fits(bare);
    }
    // The kernel takes quotes in the middle, too: `pci=config_acs="a;b"`.
    let bare: Vec<u8> = bare.iter().copied().filter(|b| !matches!(b, b'"' | b'\\')).collect();
    shape.fits(&bare)
}

/// Without the quotes around it: `"x"`, `'x'`, `\"x\"`.
fn unquoted(value: &[u8]) -> &[u8] {
    for q in [&b"\\\""[..], b"\"", b"'"] {
        if let Some(inner) = value.strip_prefix(q).and_then(|v| v.strip_suffix(q)) {
            return inner;
        }
    }
    value
}

/// Writes a command line as far as it may be shown. What follows `--` belongs to init, and is hidden but for its number of words.
pub(super) fn line(text: &[u8], out: &mut Vec<u8>) {
    let (mut i, mut init, mut option) = (0, false, false);
    while let Some(b) = text.get(i) {
        if b.is_ascii_whitespace() || *b == 0 {
            out.push(*b);
            i += 1;
            continue;
        }
        let len = word_len(text.get(i..).unwrap_or_default());
        let word = text.get(i..i + len).unwrap_or_default();
        if word == b"--" {
            init = true;
            out.extend_from_slice(word);
        } else if init || option {
            out.extend_from_slice(MARK.as_bytes());
        } else {
            self::word(word, out);
        }
        option = !init && word.starts_with(b"-") && !word.contains(&b'=') && word != b"--";
        i += len;
    }
}

/// Bytes of a word: blanks between quotes belong to it.
fn word_len(text: &[u8]) -> usize {
    let mut quote = false;
    for (i, b) in text.iter().enumerate() {
        match b {
            b'"' => quote = !quote,
            b'\n' | 0 => return i,
            b if b.is_ascii_whitespace() && !quote => return i,
            _ => {}
        }
    }
    text.len()
}

fn word(word: &[u8], out: &mut Vec<u8>) {
    let hidden = MARK.as_bytes();
    // `"key=a b"`: the quotes are around all of it.
    let (quote, body) = match word.strip_prefix(b"\"") {
        Some(rest) => (&b"\""[..], rest.strip_suffix(b"\"").unwrap_or(rest)),
        None => (&b""[..], word),
    };
    let Some(eq) = body.iter().position(|b| *b == b'=').filter(|p| *p > 0) else {
        return if flag(body) { out.extend_from_slice(word) } else { out.extend_from_slice(hidden) };
    };
    let (name, value) = (body.get(..eq).unwrap_or_default(), body.get(eq + 1..).unwrap_or_default());
    let Some(key) = std::str::from_utf8(name).ok().filter(|_| is_name(name) && !names_a_value(name)) else {
        return out.extend_from_slice(hidden);
    };
    let shape = shape_of(key);
    if fits(shape, value) && (shape == Shape::Path || quiet(value)) || unquoted(value) == hidden {
        return out.extend_from_slice(word);
    }
    out.extend_from_slice(quote);
    out.extend_from_slice(name);
    out.push(b'=');
    // Of a list what is known stays.
    if shape == Shape::List
        && quote.is_empty()
        && !value.iter().any(|b| matches!(b, b'"' | b'\'' | b'\\'))
        && !value.windows(3).any(|w| w == b"://")
    {
        for (n, part) in value.split(|b| *b == b',').enumerate() {
            if n > 0 {
                out.push(b',');
            }
            out.extend_from_slice(if Shape::List.fits(part) { part } else { hidden });
        }
    } else {
        out.extend_from_slice(hidden);
    }
    out.extend_from_slice(quote);
}

/// A name that is longer than any, or looks like a password itself.
fn names_a_value(name: &[u8]) -> bool {
    name.split(|b| *b == b'.').any(|p| !atom(p))
}

/// Whether it is no token.
fn quiet(word: &[u8]) -> bool {
    word.len() < 16 || super::net::removed(word).is_none()
}

/// A word without a value: `quiet`, `ro`, a variable of GRUB, the mark.
fn flag(word: &[u8]) -> bool {
    let variable =
        word.strip_prefix(b"$").map(|w| w.strip_prefix(b"{").and_then(|w| w.strip_suffix(b"}")).unwrap_or(w));
    let plain = |w: &[u8]| !w.is_empty() && w.len() <= 40 && w.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    match variable {
        Some(v) => plain(v) && atom(v),
        None => word == MARK.as_bytes() || word == b"=" || atom(word.strip_prefix(b"!").unwrap_or(word)) && quiet(word),
    }
}
