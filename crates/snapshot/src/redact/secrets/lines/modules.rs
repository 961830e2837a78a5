//! Modules and their options.

use super::super::shape::{Shape, atom};
use super::super::{MARK, words};
use super::{each, mark, preamble, quiet};

/// `modprobe.d`: options of the modules that rules read, and lines that name modules.
pub(in super::super) fn modprobe(data: &mut Vec<u8>) {
    let mut goes_on = false;
    each(data, |line, out| {
        let body = line.trim_ascii();
        let piece = std::mem::replace(&mut goes_on, body.ends_with(b"\\"));
        if preamble(line, out) {
            return;
        }
        let words: Vec<&[u8]> = body.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect();
        let first = words.first().copied().unwrap_or_default();
        let known: &[&[u8]] = &[b"options", b"blacklist", b"alias", b"softdep", b"weakdep", b"install", b"remove"];
        if piece || !known.contains(&first) {
            // A module's name alone is what modules-load.d has.
            if !piece && words.len() == 1 && words::is_name(first) && atom(first) && quiet(first) {
                return out.extend_from_slice(line);
            }
            return mark(out);
        }
        if first == b"options" {
            return options(line, out);
        }
        let harmless: &[&[u8]] = &[
            b"/bin/true",
            b"/bin/false",
            b"/sbin/modprobe",
            b"/usr/sbin/modprobe",
            b"--ignore-install",
            b"$CMDLINE_OPTS",
            b"||",
            b"&&",
            b";",
            b":",
        ];
        for (n, w) in words.iter().enumerate() {
            if n > 0 {
                out.push(b' ');
            }
            let runs = matches!(first, b"install" | b"remove") && n > 1;
            let module = |w: &[u8]| {
                w.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'*' | b':' | b'.'))
                    && Shape::List.fits(w)
            };
            let ok = if runs {
                harmless.contains(w) || words.get(2).is_some_and(|p| harmless.contains(p)) && module(w)
            } else {
                module(w)
            };
            out.extend_from_slice(if ok { w } else { MARK.as_bytes() });
        }
    });
}

/// `options MODULE NAME=VALUE…`; values may be quoted.
fn options(line: &[u8], out: &mut Vec<u8>) {
    let (mut i, mut n, mut module) = (0, 0, "");
    while let Some(b) = line.get(i) {
        if b.is_ascii_whitespace() || *b == b'\\' && line.len() == i + 1 {
            out.push(*b);
            i += 1;
            continue;
        }
        let mut quote = None;
        let rest = line.get(i..).unwrap_or_default();
        let end = rest.iter().position(|b| match (quote, b) {
            (None, b'"' | b'\'') => {
                quote = Some(*b);
                false
            }
            (Some(q), b) if *b == q => {
                quote = None;
                false
            }
            (None, b) => b.is_ascii_whitespace(),
            _ => false,
        });
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        i += word.len();
        n += 1;
        let text = std::str::from_utf8(word).unwrap_or("");
        match (n, text.split_once('=')) {
            (1, _) => out.extend_from_slice(word),
            (2, _) if words::is_name(word) && atom(word) => {
                module = text;
                out.extend_from_slice(word);
            }
            (_, Some((name, value)))
                if n > 2 && words::parameter(module, name, value.trim_matches(['"', '\'']).as_bytes()) =>
            {
                out.extend_from_slice(word)
            }
            (_, Some((name, _))) if n > 2 && words::is_name(name.as_bytes()) && atom(name.as_bytes()) => {
                out.extend_from_slice(name.as_bytes());
                out.push(b'=');
                mark(out);
            }
            (_, None) if n > 2 && atom(word) => out.extend_from_slice(word),
            _ => mark(out),
        }
    }
}
