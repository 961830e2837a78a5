//! Files of configuration, line by line: what readers need passes, of the rest the value goes.

use super::shape::{Shape, atom};
use super::{MARK, net, words};
use std::collections::HashSet;
use std::sync::OnceLock;

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

fn mark(out: &mut Vec<u8>) {
    out.extend_from_slice(MARK.as_bytes());
}

/// Arguments of the kernel on each line.
pub(super) fn cmdline(data: &mut Vec<u8>) {
    each(data, |line, out| {
        let prompt = find(line, b"/proc/cmdline")
            .filter(|_| line.len() < 200 && (find(line, b"$ ").is_some() || find(line, b"# ").is_some()));
        if prompt.is_some_and(|p| p + 13 == line.trim_ascii_end().len()) {
            let mut words = line.to_vec();
            net::remove(&mut words);
            return out.extend(words);
        }
        command_line_of(line, out);
    });
}

/// A line that may begin with `Command line:` of a boot log.
fn command_line_of(line: &[u8], out: &mut Vec<u8>) {
    match find_ignore_case(line, b"command line: ") {
        Some(at) if at < 120 => {
            let (head, tail) = line.split_at(at + 14);
            out.extend_from_slice(head);
            words::line(tail, out);
        }
        _ => words::line(line, out),
    }
}

/// Words of the script that linerate writes for `grub-mkconfig`.
const SCRIPT: &[&str] = &[
    "",
    "linerate_without",
    "linerate_rest",
    "linerate_word",
    "while",
    "do",
    "case",
    "in",
    "esac",
    "break",
    "done",
    "for",
    "1",
    "2",
    "GRUB_CMDLINE_LINUX",
    "GRUB_CMDLINE_LINUX_DEFAULT",
];

/// linerate's own drop-in: its script, and arguments of the kernel between single quotes.
pub(super) fn grub_of_ours(data: &mut Vec<u8>) {
    let script = |t: &[u8]| {
        t.split(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).all(|w| SCRIPT.iter().any(|s| s.as_bytes() == w))
    };
    each(data, |line, out| {
        for head in [&b"# adds: "[..], b"# removes: "] {
            if let Some(rest) = line.strip_prefix(head) {
                out.extend_from_slice(head);
                return words::line(rest, out);
            }
        }
        let first = line.iter().position(|b| *b == b'\'').unwrap_or(line.len());
        let last = line.iter().rposition(|b| *b == b'\'').filter(|l| *l > first).unwrap_or(line.len());
        let part = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
        if !script(part(0, first)) || !script(part(last, line.len())) {
            return grub_line(line, out);
        }
        let words = if last > first { first + 1..last } else { last..last };
        out.extend_from_slice(part(0, words.start));
        words::line(part(words.start, words.end), out);
        out.extend_from_slice(part(words.end, line.len()));
    });
}

/// `GRUB_CMDLINE_LINUX="…"` and the other variables of `/etc/default/grub`.
pub(super) fn grub(data: &mut Vec<u8>) {
    each(data, grub_line);
}

fn grub_line(line: &[u8], out: &mut Vec<u8>) {
    {
        let body = line.trim_ascii();
        if body.is_empty() {
            return out.extend_from_slice(line);
        }
        if body.starts_with(b"#") {
            return comment(line, out);
        }
        let Some(eq) = line.iter().position(|b| *b == b'=') else {
            return if body.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_'))
                && body.split(|b| *b == b' ').all(atom)
            {
                out.extend_from_slice(line);
            } else {
                mark(out);
            };
        };
        let (name, value) = (line.get(..eq).unwrap_or_default(), line.get(eq + 1..).unwrap_or_default());
        let bare = name.trim_ascii();
        let bare = bare.strip_prefix(b"export ").unwrap_or(bare).trim_ascii();
        let bare = bare.strip_suffix(b"+").unwrap_or(bare);
        if !words::is_name(bare) || !atom(bare) {
            return mark(out);
        }
        out.extend_from_slice(name);
        out.push(b'=');
        if !bare.starts_with(b"GRUB_CMDLINE_") {
            return if title(value) { out.extend_from_slice(value) } else { mark(out) };
        }
        let quote = value.first().copied().filter(|q| matches!(q, b'"' | b'\''));
        let Some(q) = quote else {
            return words::line(value, out);
        };
        // The last quote of the line closes: those between belong to words.
        let end = value.iter().rposition(|b| *b == q).filter(|p| *p > 0).unwrap_or(value.len());
        out.push(q);
        words::line(value.get(1..end).unwrap_or_default(), out);
        if end < value.len() {
            out.push(q);
            let rest = value.get(end + 1..).unwrap_or_default();
            if rest.iter().all(u8::is_ascii_whitespace) { out.extend_from_slice(rest) } else { comment(rest, out) }
        }
    }
}

/// Words as titles of menus have them.
fn title(value: &[u8]) -> bool {
    let sign =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'>' | b',' | b'(' | b')' | b'$' | b'{' | b'}');
    value.len() < 400
        && value.split(sign).all(|w| w.is_empty() || Shape::Path.fits(w) && !w.contains(&b'@') && !w.contains(&b'='))
        && quiet(value)
}

/// Whether the net finds nothing.
fn quiet(text: &[u8]) -> bool {
    net::remove(&mut text.to_vec()) == 0
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

/// An entry of a boot loader: a key and its value on each line.
pub(super) fn boot_entry(data: &mut Vec<u8>) {
    each(data, |line, out| {
        let body = line.trim_ascii();
        if body.is_empty() {
            return out.extend_from_slice(line);
        }
        if body.starts_with(b"#") {
            return comment(line, out);
        }
        let lead = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let key = line.iter().skip(lead).take_while(|b| !b.is_ascii_whitespace()).count();
        let (head, value) = line.split_at(lead + key);
        if !atom(head.trim_ascii()) {
            return mark(out);
        }
        out.extend_from_slice(head);
        if head.trim_ascii() == b"options" {
            return words::line(value, out);
        }
        if title(value) {
            return out.extend_from_slice(value);
        }
        out.push(b' ');
        mark(out);
    });
}

/// `modprobe.d`: options of the modules that rules read, and lines that name modules.
pub(super) fn modprobe(data: &mut Vec<u8>) {
    let mut goes_on = false;
    each(data, |line, out| {
        let body = line.trim_ascii();
        let piece = std::mem::replace(&mut goes_on, body.ends_with(b"\\"));
        if body.is_empty() {
            return out.extend_from_slice(line);
        }
        if body.starts_with(b"#") {
            return comment(line, out);
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

fn known_variables() -> &'static HashSet<&'static str> {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        include_str!("env.txt").lines().filter(|l| !l.starts_with('#')).flat_map(str::split_ascii_whitespace).collect()
    })
}

/// Assignments of variables, one a line: `nccl.conf`, the environment of this process.
pub(super) fn variables(data: &mut Vec<u8>) {
    each(data, |line, out| {
        let body = line.trim_ascii();
        if body.is_empty() {
            return out.extend_from_slice(line);
        }
        if body.starts_with(b"#") {
            return comment(line, out);
        }
        variable(line, out);
    });
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
        || v.len() < 12 && v.iter().all(u8::is_ascii_digit) && !super::names::is_secret(bare);
    let shown = shape && !super::names::is_secret(bare) && quiet(line);
    if shown { out.extend_from_slice(value) } else { mark(out) }
}

/// Whether the value of a setting may be shown, whatever the variable is: it is made of words, numbers and names, and no secret's name is
/// on it.
pub(super) fn setting(name: &[u8], value: &[u8]) -> bool {
    let word = |b: &u8| !(b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'~'));
    let named = [name, b"=", value].concat();
    value.split(word).all(|w| w.is_empty() || atom(w.trim_ascii_start().strip_prefix(b"--").unwrap_or(w)))
        && !super::names::is_secret(name)
        && quiet(&named)
}

/// `Key=value` below sections, of files that linerate writes and of networks: named keys, values of their shape.
pub(super) fn sections(data: &mut Vec<u8>, allowed: &[&str]) {
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
pub(super) fn yaml(data: &mut Vec<u8>, allowed: &[&str]) {
    each(data, |line, out| {
        let body = line.trim_ascii();
        if body.is_empty() {
            return out.extend_from_slice(line);
        }
        if body.starts_with(b"#") {
            return comment(line, out);
        }
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
pub(super) fn small(data: &mut Vec<u8>) {
    each(data, |line, out| {
        let body = line.trim_ascii();
        if body.starts_with(b"#") {
            return comment(line, out);
        }
        let sign = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b',' | b'=');
        let plain = |w: &[u8]| Shape::Path.fits(w.strip_prefix(b"-").unwrap_or(w));
        if body.is_empty() || body.split(sign).all(|w| w.is_empty() || plain(w)) && quiet(line) {
            return out.extend_from_slice(line);
        }
        mark(out);
    });
}

/// The kernel's log: command lines in it by word, what programs wrote into it as far as it is plain, all of it by the net.
pub(super) fn kernel_log(data: &mut Vec<u8>) {
    command_lines(data);
    if find(data, b"]: ").is_some() {
        programs(data);
    }
    net::remove(data);
}

/// Any other text: the net, and command lines of the kernel that it tells of.
pub(super) fn text(data: &mut Vec<u8>) {
    if data.len() >= 24 {
        command_lines(data);
    }
    net::remove(data);
}

/// [`text`] of what is not changed in place; `None` where nothing is to be removed.
pub(super) fn cleaned(data: &[u8]) -> Option<Vec<u8>> {
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

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|w| w == word)
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

/// A domain of libvirt: what it gives to the emulator, what people wrote about it, the kernel's arguments.
pub(super) fn domain(data: &mut Vec<u8>) {
    each(data, |line, out| {
        let body = line.trim_ascii_start();
        let is = |names: &[&[u8]]| names.iter().any(|n| body.starts_with(n));
        if is(&[b"<cmdline>"]) {
            let start = line.len() - body.len() + 9;
            let end = find(line, b"</").filter(|e| *e >= start).unwrap_or(line.len());
            out.extend_from_slice(line.get(..start).unwrap_or_default());
            words::line(line.get(start..end).unwrap_or_default(), out);
            return out.extend_from_slice(line.get(end..).unwrap_or_default());
        }
        if is(&[b"<qemu:arg", b"<qemu:env", b"<description", b"<title", b"<entry"]) {
            let quoted = |at: usize| {
                line.get(at)
                    .copied()
                    .and_then(|q| Some((at + 1, line.iter().rposition(|b| *b == q).filter(|e| *e > at)?)))
            };
            let value = find(line, b"value=").and_then(|p| quoted(p + 6));
            let text = || {
                let from = line.iter().position(|b| *b == b'>')? + 1;
                Some((from, find(line.get(from..)?, b"</").map_or(line.len(), |p| from + p)))
            };
            if let Some((from, to)) = value.or_else(text)
                && !line.get(from..to).is_some_and(|v| Shape::Path.fits(v))
            {
                out.extend_from_slice(line.get(..from).unwrap_or_default());
                mark(out);
                return out.extend_from_slice(line.get(to..).unwrap_or_default());
            }
        }
        out.extend_from_slice(line);
    });
    net::remove(data);
}
