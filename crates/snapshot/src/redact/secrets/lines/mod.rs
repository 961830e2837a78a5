//! Files of configuration, line by line: what readers need passes, of the rest the value goes.

mod boot;
mod compose;
mod domain;
mod json;
mod keys;
mod log;
mod modules;
mod net_config;
mod pods;
mod variables;

use super::shape::Shape;
use super::{MARK, net};
pub(super) use boot::{boot_entry, cmdline, grub, grub_of_ours, machine_config};
pub(super) use compose::compose;
pub(super) use domain::domain;
pub(super) use json::json;
pub(super) use keys::{sections, small, yaml};
pub(super) use log::{cleaned, kernel_log, text};
pub(super) use modules::modprobe;
pub(super) use net_config::{keyfile, netplan};
pub(super) use pods::pod_spec;
pub(super) use variables::{setting, variables};

/// Rewrites each line with its end kept, so that lines stay where they are.
fn each(data: &mut Vec<u8>, mut f: impl FnMut(&[u8], &mut Vec<u8>)) {
    let mut out = Vec::with_capacity(data.len() + 16);
    for whole in data.split_inclusive(|b| *b == b'\n') {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        f(line, &mut out);
        out.extend_from_slice(whole.get(line.len()..).unwrap_or_default());
    }
    *data = out;
}

/// As [`each`], without blank lines and remarks.
fn each_setting(data: &mut Vec<u8>, mut f: impl FnMut(&[u8], &mut Vec<u8>)) {
    each(data, |line, out| {
        if !preamble(line, out) {
            f(line, out);
        }
    });
}

fn mark(out: &mut Vec<u8>) {
    out.extend_from_slice(MARK.as_bytes());
}

/// Whether the net finds nothing.
fn quiet(text: &[u8]) -> bool {
    net::removed(text).is_none()
}

/// Writes a blank line or a remark; whether it was one.
fn preamble(line: &[u8], out: &mut Vec<u8>) -> bool {
    let body = line.trim_ascii();
    if body.is_empty() {
        out.extend_from_slice(line);
    } else if body.starts_with(b"#") {
        comment(line, out);
    } else {
        return false;
    }
    true
}

/// A remark: kept as far as it is words of letters, and the net finds nothing.
fn comment(line: &[u8], out: &mut Vec<u8>) {
    if quiet(line)
        && line
            .split(|b| {
                b.is_ascii_whitespace()
                    || matches!(b, b'#' | b';' | b',' | b'(' | b')' | b':' | b'`' | b'\'' | b'"' | b'!')
            })
            .all(|w| w.is_empty() || Shape::Path.fits(w))
    {
        return out.extend_from_slice(line);
    }
    let start = line.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
    out.extend_from_slice(line.get(..=start).unwrap_or_default());
    out.push(b' ');
    mark(out);
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|w| w == word)
}

fn rfind(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).rposition(|w| w == word)
}

/// `word` is in small letters.
pub(super) fn find_ignore_case(text: &[u8], word: &[u8]) -> Option<usize> {
    let first = *word.first()?;
    let mut at = 0;
    while let Some(p) = text.get(at..)?.iter().position(|b| b.to_ascii_lowercase() == first) {
        let from = at + p;
        if text.get(from..from + word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word)) {
            return Some(from);
        }
        at = from + 1;
    }
    None
}
