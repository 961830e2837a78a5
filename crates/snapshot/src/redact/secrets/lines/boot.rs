//! What boots: arguments of the kernel, entries of boot loaders, variables of GRUB.

use super::super::shape::{Shape, atom};
use super::super::{net, words};
use super::{comment, each, each_setting, find, find_ignore_case, mark, preamble, quiet};
use linerate_formats::next_boot::{MACHINE_CONFIG_LIST, TALOS_LIST};

/// Arguments of the kernel on each line.
pub(in super::super) fn cmdline(data: &mut Vec<u8>) {
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
pub(in super::super) fn grub_of_ours(data: &mut Vec<u8>) {
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
pub(in super::super) fn grub(data: &mut Vec<u8>) {
    each(data, grub_line);
}

fn grub_line(line: &[u8], out: &mut Vec<u8>) {
    let body = line.trim_ascii();
    if preamble(line, out) {
        return;
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

/// Words as titles of menus have them.
fn title(value: &[u8]) -> bool {
    let sign =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'>' | b',' | b'(' | b')' | b'$' | b'{' | b'}');
    value.len() < 400
        && value.split(sign).all(|w| w.is_empty() || Shape::Path.fits(w) && !w.contains(&b'@') && !w.contains(&b'='))
        && quiet(value)
}

/// A machine configuration in YAML: files, certificates and tokens go; keys without a value and lists of kernel arguments stay.
pub(in super::super) fn machine_config(data: &mut Vec<u8>) {
    let mut is_list = false;
    each_setting(data, |line, out| {
        let lead = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let (head, body) = line.split_at(lead);
        out.extend_from_slice(head);
        let item = body.strip_prefix(b"- ").unwrap_or(body);
        let key = [MACHINE_CONFIG_LIST, TALOS_LIST].into_iter().find(|k| item.starts_with(k.as_bytes()));
        if let Some(key) = key {
            let (name, flow) = body.split_at(body.len() - item.len() + key.len());
            out.extend_from_slice(name);
            arguments(flow, out);
            is_list = true;
        } else if is_list && item.len() < body.len() {
            out.extend_from_slice(b"- ");
            arguments(item, out);
        } else {
            is_list = false;
            let name = item.trim_ascii_end().strip_suffix(b":").filter(|n| words::is_name(n) && atom(n));
            if name.is_some() || body.trim_ascii_end() == b"kind: MachineConfig" {
                out.extend_from_slice(body);
            } else {
                mark(out);
            }
        }
    });
}

/// Arguments of the kernel with the signs of a list between them.
fn arguments(text: &[u8], out: &mut Vec<u8>) {
    let is_sign = |b: &u8| matches!(b, b'"' | b'\'' | b'[' | b']' | b',');
    for piece in text.split_inclusive(is_sign) {
        let sign = piece.last().filter(|b| is_sign(b));
        let word = sign.map_or(piece, |_| piece.get(..piece.len() - 1).unwrap_or_default());
        words::line(word, out);
        out.extend(sign);
    }
}

/// An entry of a boot loader: a key and its value on each line.
pub(in super::super) fn boot_entry(data: &mut Vec<u8>) {
    each_setting(data, |line, out| {
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

#[cfg(test)]
mod tests {
    #[test]
    fn of_a_machine_configuration_arguments_stay() {
        let text = "kind: MachineConfig\nspec:\n  kernelArguments:\n  - iommu=pt\n  - 'pci=realloc,noats'\n  config:\n    passwd:\n      users:\n      - name: core\n        passwordHash: $6$abc\n    token: x7\n";
        let mut data = text.as_bytes().to_vec();
        super::machine_config(&mut data);
        let got = String::from_utf8_lossy(&data).into_owned();
        assert!(got.contains("\n  - iommu=pt\n  - 'pci=realloc,noats'\n  config:\n"), "{got}");
        assert!(!["core", "abc", "x7"].iter().any(|w| got.contains(w)), "{got}");
        assert_eq!(got.lines().count(), text.lines().count());
    }
}
