//! Named keys: units, networks, and other small files.

use super::super::shape::{Shape, atom};
use super::super::words;
use super::{comment, each, each_setting, find, mark, quiet};

/// `Key=value` below sections, of files that linerate writes and of networks: named keys, values of their shape.
pub(in super::super) fn sections(data: &mut Vec<u8>, allowed: &[&str]) {
    let mut goes_on = false;
    each(data, |line, out| {
        let body = line.trim_ascii();
        let piece = std::mem::replace(&mut goes_on, body.ends_with(b"\\"));
        if body.is_empty() {
            return out.extend_from_slice(line);
        }
        if !piece && (body.starts_with(b"#") || body.starts_with(b";")) {
            return comment(line, out);
        }
        if !piece && body.starts_with(b"[") && body.ends_with(b"]") && Shape::List.fits(body) {
            return out.extend_from_slice(line);
        }
        let Some(eq) = line.iter().position(|b| *b == b'=').filter(|_| !piece) else { return mark(out) };
        let (key, value) = (line.get(..eq).unwrap_or_default(), line.get(eq + 1..).unwrap_or_default());
        let name = key.trim_ascii();
        if !words::is_name(name) || !atom(name) {
            return mark(out);
        }
        out.extend_from_slice(key);
        out.push(b'=');
        let text = std::str::from_utf8(name).unwrap_or_default();
        let bare = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let known = allowed.contains(&text) || allowed.contains(&bare);
        let fits = if text == "Description" {
            value.len() < 200
                && value.split(|b| matches!(b, b' ' | b'(' | b')' | b'\'' | b',')).all(|w| Shape::Path.fits(w))
        } else {
            value.split(u8::is_ascii_whitespace).all(|w| Shape::Path.fits(w) && !w.contains(&b'@'))
        };
        if known && fits && quiet(line) { out.extend_from_slice(value) } else { mark(out) }
    });
}

/// YAML of networks: named keys.
pub(in super::super) fn yaml(data: &mut Vec<u8>, allowed: &[&str]) {
    each_setting(data, |line, out| {
        let lead = line.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'-')).count();
        let (head, rest) = line.split_at(lead);
        out.extend_from_slice(head);
        let (key, value) = match find(rest, b": ") {
            Some(p) => rest.split_at(p + 1),
            None if rest.ends_with(b":") => (rest, &b""[..]),
            // An item of a list: an address.
            None if head.contains(&b'-') && Shape::List.fits(rest.trim_ascii()) => return out.extend_from_slice(rest),
            None => return mark(out),
        };
        let name = key.strip_suffix(b":").unwrap_or(key);
        let name = name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\"")).unwrap_or(name);
        if !words::is_name(name) || !atom(name) {
            return mark(out);
        }
        out.extend_from_slice(key);
        let text = std::str::from_utf8(name).unwrap_or_default();
        let v = value.trim_ascii();
        let v = v.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(v);
        let items = v.strip_prefix(b"[").and_then(|v| v.strip_suffix(b"]")).unwrap_or(v);
        let fits = items.split(|b| matches!(b, b' ' | b'"')).all(|w| Shape::List.fits(w) && !w.contains(&b'@'));
        if value.is_empty() || allowed.contains(&text) && fits && quiet(line) {
            out.extend_from_slice(value);
        } else {
            out.push(b' ');
            mark(out);
        }
    });
}

/// Other small files: `limits.d`, `sysctl.d`, `tmpfiles.d`, rules of udev: names, numbers and paths.
pub(in super::super) fn small(data: &mut Vec<u8>) {
    each_setting(data, |line, out| {
        let sign = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b',' | b'=');
        let plain = |w: &[u8]| Shape::Path.fits(w.strip_prefix(b"-").unwrap_or(w));
        if line.trim_ascii().split(sign).all(|w| w.is_empty() || plain(w)) && quiet(line) {
            return out.extend_from_slice(line);
        }
        mark(out);
    });
}
