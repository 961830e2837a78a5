//! Variables of the environment.

use super::super::shape::{Shape, atom};
use super::super::{names, words};
use super::{each_setting, mark, quiet};
use std::collections::HashSet;
use std::sync::OnceLock;

fn known_variables() -> &'static HashSet<&'static str> {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        include_str!("../env.txt")
            .lines()
            .filter(|l| !l.starts_with('#'))
            .flat_map(str::split_ascii_whitespace)
            .collect()
    })
}

/// Assignments of variables, one a line: `nccl.conf`, the environment of this process.
pub(in super::super) fn variables(data: &mut Vec<u8>) {
    each_setting(data, variable);
}

fn variable(line: &[u8], out: &mut Vec<u8>) {
    let Some(eq) = line.iter().position(|b| *b == b'=') else { return mark(out) };
    let (name, value) = (line.get(..eq).unwrap_or_default(), line.get(eq + 1..).unwrap_or_default());
    let bare = name.trim_ascii();
    let bare = bare.strip_prefix(b"export ").unwrap_or(bare).trim_ascii();
    if !words::is_name(bare) || !atom(bare) {
        return mark(out);
    }
    out.extend_from_slice(name);
    out.push(b'=');
    let known = std::str::from_utf8(bare).is_ok_and(|n| known_variables().contains(n));
    let v = value.trim_ascii();
    let v = v
        .strip_prefix(b"\"")
        .and_then(|v| v.strip_suffix(b"\""))
        .or_else(|| v.strip_prefix(b"'").and_then(|v| v.strip_suffix(b"'")))
        .unwrap_or(v);
    let listed = |v: &[u8]| {
        !v.contains(&b'@')
            && (Shape::Path.fits(v) || v.split(|b| matches!(b, b' ' | b',')).all(|p| Shape::Path.fits(p)))
    };
    let shape = known && listed(v)
        || Shape::Switch.fits(v)
        || v.len() < 12 && v.iter().all(u8::is_ascii_digit) && !names::is_secret(bare);
    let shown = shape && !names::is_secret(bare) && quiet(line);
    if shown { out.extend_from_slice(value) } else { mark(out) }
}

/// Whether the value of a setting may be shown, whatever the variable is: it is made of words, numbers and names, and no secret's name is
/// on it.
pub(in super::super) fn setting(name: &[u8], value: &[u8]) -> bool {
    let word = |b: &u8| !(b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'~'));
    let named = [name, b"=", value].concat();
    value.split(word).all(|w| w.is_empty() || atom(w.trim_ascii_start().strip_prefix(b"--").unwrap_or(w)))
        && !names::is_secret(name)
        && quiet(&named)
}
