//! Logs, and any other text.

use super::super::shape::Shape;
use super::super::{net, words};
use super::{each, find, find_ignore_case, mark};

/// The kernel's log: command lines in it by word, what programs wrote into it as far as it is plain, all of it by the net.
pub(in super::super) fn kernel_log(data: &mut Vec<u8>) {
    command_lines(data);
    // The net first: it knows what a line of a program begins that goes on below.
    net::remove(data);
    if find(data, b"]: ").is_some() {
        programs(data);
    }
}

/// Any other text: the net, and command lines of the kernel that it tells of.
pub(in super::super) fn text(data: &mut Vec<u8>) {
    if data.len() >= 24 {
        command_lines(data);
    }
    net::remove(data);
}

/// [`text`] of what is not changed in place; `None` where nothing is to be removed.
pub(in super::super) fn cleaned(data: &[u8]) -> Option<Vec<u8>> {
    if find_ignore_case(data, b"command line").is_none() {
        return net::removed(data);
    }
    let mut new = data.to_vec();
    text(&mut new);
    (new != data).then_some(new)
}

fn command_lines(data: &mut Vec<u8>) {
    if find_ignore_case(data, b"command line").is_some() {
        each(data, |line, out| {
            if let Some(at) = find_ignore_case(line, b"command line: ") {
                let (head, tail) = line.split_at(at + 14);
                out.extend_from_slice(head);
                return words::line(tail, out);
            }
            let told = b"kernel command line parameters ";
            if let Some(at) = find_ignore_case(line, told) {
                let (head, tail) = line.split_at(at + told.len());
                out.extend_from_slice(head);
                let end = tail.iter().rposition(|b| *b == b'"').filter(|p| *p > 0).unwrap_or(tail.len());
                let (words, rest) = tail.split_at(end);
                let bare = words.strip_prefix(b"\"").unwrap_or(words);
                out.extend_from_slice(words.get(..words.len() - bare.len()).unwrap_or_default());
                words::line(bare, out);
                return out.extend_from_slice(if rest.len() < 60 { rest } else { b"\"" });
            }
            out.extend_from_slice(line);
        });
    }
}

/// What a program wrote into the kernel's log, `name[pid]: text`: where its text begins.
fn program(line: &[u8]) -> Option<usize> {
    let at = line.windows(3).take(160).position(|w| w == b"]: ")?;
    let digits = line.get(..at)?.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let name = line.get(..at - digits)?;
    let named = name.len() > 1
        && name.ends_with(b"[")
        && name
            .get(name.len() - 2)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b')' | b'_' | b'-' | b'.'));
    (digits > 0 && named).then_some(at + 3)
}

/// Hides what programs wrote into the kernel's log and no rule reads, unless it is plain words.
fn programs(data: &mut Vec<u8>) {
    each(data, |line, out| {
        let Some(at) = program(line) else { return out.extend_from_slice(line) };
        let (head, text) = line.split_at(at);
        let plain = |w: &[u8]| Shape::Path.fits(w.strip_suffix(b".").unwrap_or(w)) && !w.contains(&b'@');
        let event = || std::str::from_utf8(text).is_ok_and(|t| linerate_formats::dmesg::classify(t).is_some());
        if text.split(|b| matches!(b, b' ' | b'\'' | b'"' | b'\t' | b'\r')).all(plain) || event() {
            return out.extend_from_slice(line);
        }
        out.extend_from_slice(head);
        mark(out);
    });
}
