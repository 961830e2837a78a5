//! Compose files of Docker: keys stay, and of values those that readers need, each of a closed form. Images, variables, commands and labels go.

use super::super::MARK;
use super::super::shape::atom;
use super::super::words;
use super::pods::{are_brackets, is_anchor, is_block, key_value, lead};
use super::{each, mark, preamble, quiet};
use linerate_formats::pod_spec::compose::parts;

/// Keys that hold nothing that readers need, whatever stands below them.
const HIDDEN: [&[u8]; 14] = [
    b"environment",
    b"env_file",
    b"labels",
    b"annotations",
    b"command",
    b"entrypoint",
    b"build",
    b"secrets",
    b"configs",
    b"healthcheck",
    b"logging",
    b"sysctls",
    b"driver_opts",
    b"options",
];

/// Capabilities of Linux (linux/capability.h).
const CAPABILITIES: [&[u8]; 42] = [
    b"ALL",
    b"AUDIT_CONTROL",
    b"AUDIT_READ",
    b"AUDIT_WRITE",
    b"BLOCK_SUSPEND",
    b"BPF",
    b"CHECKPOINT_RESTORE",
    b"CHOWN",
    b"DAC_OVERRIDE",
    b"DAC_READ_SEARCH",
    b"FOWNER",
    b"FSETID",
    b"IPC_LOCK",
    b"IPC_OWNER",
    b"KILL",
    b"LEASE",
    b"LINUX_IMMUTABLE",
    b"MAC_ADMIN",
    b"MAC_OVERRIDE",
    b"MKNOD",
    b"NET_ADMIN",
    b"NET_BIND_SERVICE",
    b"NET_BROADCAST",
    b"NET_RAW",
    b"PERFMON",
    b"SETFCAP",
    b"SETGID",
    b"SETPCAP",
    b"SETUID",
    b"SYSLOG",
    b"SYS_ADMIN",
    b"SYS_BOOT",
    b"SYS_CHROOT",
    b"SYS_MODULE",
    b"SYS_NICE",
    b"SYS_PACCT",
    b"SYS_PTRACE",
    b"SYS_RAWIO",
    b"SYS_RESOURCE",
    b"SYS_TIME",
    b"SYS_TTY_CONFIG",
    b"WAKE_ALARM",
];

/// What is left is YAML where the text was: of a line that goes on with a value of the line above, and of what is below a hidden key, nothing stays.
pub(in super::super) fn compose(data: &mut Vec<u8>) {
    // Column of the key below which everything goes.
    let mut hidden: Option<usize> = None;
    each(data, |line, out| {
        let (head, body) = line.split_at(lead(line));
        let indent = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
        // An item of a list may stand as deep as its key, and the bracket that ends one.
        let is_below = |of| indent > of || indent == of && (head.contains(&b'-') || are_brackets(line));
        if line.trim_ascii().is_empty() || hidden.is_some_and(is_below) {
            return;
        }
        hidden = None;
        if preamble(line, out) {
            return;
        }
        let start = out.len();
        out.extend_from_slice(head);
        let body = body.trim_ascii_end();
        let key = if body.is_empty() { None } else { setting(head, body, out) };
        hidden = key.filter(|k| HIDDEN.contains(k)).map(|_| head.len());
        if out.len() == start + head.len() && !body.is_empty() {
            out.truncate(start);
        }
    });
}

/// Writes what stays of a line without its indentation; its key, where it has one.
fn setting<'a>(head: &[u8], body: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let is_item = head.contains(&b'-');
    let key_value = key_value(body).filter(|(key, _)| {
        let bare = unquoted(key);
        bare == b"<<" || words::is_name(bare) && atom(bare)
    });
    let Some((key, value)) = key_value else {
        // `- {driver: nvidia, count: 8, capabilities: [gpu]}`
        let flow = || (body.starts_with(b"{") && fits(b"", body)).then(|| body.to_vec());
        let (word, comma) = without_comma(body);
        let of_flow = || item(word).filter(|_| !comma.is_empty() || is_item || is_word(unquoted(word)));
        match flow().or_else(|| of_flow().map(|kept| [&kept, comma].concat())) {
            Some(kept) => out.extend_from_slice(&kept),
            None if are_brackets(body) => out.extend_from_slice(body),
            None if is_item => mark(out),
            None => {}
        }
        return None;
    };
    let bare = unquoted(key);
    out.extend_from_slice(key);
    let remark = value.windows(2).position(|w| w == b" #").unwrap_or(value.len());
    let said = value.get(1..remark).unwrap_or_default().trim_ascii();
    let is_hidden = HIDDEN.contains(&bare);
    out.push(b':');
    if said.is_empty() && !is_hidden {
        return Some(bare);
    }
    out.push(b' ');
    // `&name [a, b]`
    let anchor = said.iter().position(u8::is_ascii_whitespace).filter(|_| said.starts_with(b"&"));
    let (anchor, said) = said.split_at(anchor.filter(|_| !is_hidden).map_or(0, |end| end + 1));
    if is_anchor(anchor) {
        out.extend_from_slice(anchor);
    }
    let (word, _) = without_comma(said);
    if !is_hidden && (is_anchored(said) || is_block(said) || fits(bare, word)) {
        out.extend_from_slice(said);
    } else {
        mark(out);
        out.extend_from_slice(closers(said));
    }
    Some(bare)
}

/// The brackets that end what began on a line above.
fn closers(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(MARK.as_bytes()).unwrap_or(text);
    let count = |signs: [u8; 2]| text.iter().filter(|b| signs.contains(b)).count();
    let mut left = count(*b"}]").saturating_sub(count(*b"{["));
    let mut kept = 0;
    for b in text.iter().rev().take_while(|b| matches!(b, b'}' | b']' | b',')) {
        if left == 0 {
            break;
        }
        left -= usize::from(*b != b',');
        kept += 1;
    }
    text.split_at(text.len() - kept).1
}

/// A line of a list or mapping that is in brackets over several lines, and its comma.
fn without_comma(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.len() - usize::from(text.ends_with(b",")))
}

/// Without its quotes.
fn unquoted(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    let within = |q: &[u8]| text.strip_prefix(q).and_then(|t| t.strip_suffix(q));
    within(b"\"").or_else(|| within(b"'")).unwrap_or(text)
}

/// `&name`, `*name`, and a list of such: `<<: [*a, *b]`.
fn is_anchored(text: &[u8]) -> bool {
    let list = text.strip_prefix(b"[").and_then(|t| t.strip_suffix(b"]"));
    list.map_or_else(|| is_anchor(text), |all| all.split(|b| *b == b',').all(is_anchor))
}

/// Whether the value of a key has the form that readers need.
fn fits(key: &[u8], value: &[u8]) -> bool {
    let bare = unquoted(value);
    let one_of = |all: &[&[u8]]| all.contains(&bare);
    match key {
        _ if value.starts_with(b"{") || value.starts_with(b"[") => is_flow(key, value),
        b"shm_size" | b"size" => is_number(bare, 2),
        b"memlock" | b"soft" | b"hard" => bare == b"-1" || is_number(bare, 0),
        b"count" | b"gpus" => bare == b"all" || is_number(bare, 0),
        b"privileged" => one_of(&[b"true", b"false"]),
        b"network_mode" => one_of(&[b"host", b"bridge", b"none"]),
        b"ipc" => one_of(&[b"host", b"private", b"shareable", b"none"]),
        b"runtime" => one_of(&[b"nvidia", b"runc", b"crun"]),
        b"driver" => one_of(&[b"nvidia", b"cdi", b"amd"]),
        b"type" => one_of(&[b"tmpfs", b"bind", b"volume"]),
        b"permissions" => !bare.is_empty() && bare.iter().all(|b| b"rwm".contains(b)),
        b"source" | b"target" | b"tmpfs" => is_device(bare),
        _ => false,
    }
}

/// An item of a list as it stays; `None`: not at all.
fn item(body: &[u8]) -> Option<Vec<u8>> {
    let bare = unquoted(body);
    if is_word(bare) || is_device(bare) || is_block(body) || is_anchor(body) || are_brackets(body) {
        return Some(body.to_vec());
    }
    // Of a volume at a device's path, that path: whatever is there, it is not the runtime's own.
    let text = std::str::from_utf8(bare).ok()?;
    let target = parts(text).nth(1).filter(|t| is_device(t.as_bytes()))?;
    Some(format!("redacted:{target}").into_bytes())
}

/// Words of lists that readers need: capabilities of Linux and of GPUs, indexes of GPUs, names of CDI.
fn is_word(word: &[u8]) -> bool {
    let cdi = || word.strip_prefix(b"nvidia.com/gpu=").is_some_and(|n| n == b"all" || is_number(n, 0) && n.len() < 3);
    let is_capability = |w: &[u8]| CAPABILITIES.contains(&w.strip_prefix(b"CAP_").unwrap_or(w));
    let of_gpus: [&[u8]; 8] = [b"gpu", b"nvidia", b"utility", b"compute", b"video", b"graphics", b"display", b"all"];
    of_gpus.contains(&word) || is_capability(word) || word.len() < 3 && is_number(word, 0) || cdi()
}

/// Digits, with a unit of at most so many letters (`16gb`).
fn is_number(text: &[u8], unit: usize) -> bool {
    let digits = text.iter().take_while(|b| b.is_ascii_digit() || unit > 0 && **b == b'.').count();
    let rest = text.get(digits..).unwrap_or_default();
    (1..=20).contains(&digits) && rest.len() <= unit && rest.iter().all(u8::is_ascii_alphabetic)
}

/// Paths of devices and of /dev/shm, with options: `/dev/infiniband:/dev/infiniband:rwm`, `/dev/shm:size=1g`.
fn is_device(text: &[u8]) -> bool {
    let path =
        |p: &[u8]| p.starts_with(b"/dev/") && p.len() <= 64 && p.split(|b| *b == b'/').all(|w| w.is_empty() || atom(w));
    let option = |o: &[u8]| {
        o.strip_prefix(b"size=").or_else(|| o.strip_prefix(b"mode=")).is_some_and(|n| is_number(n, 2))
            || matches!(o, b"r" | b"rw" | b"rwm" | b"ro" | b"exec" | b"noexec" | b"nosuid" | b"nodev")
    };
    let mut all = text.split(|b| *b == b':');
    all.next().is_some_and(path) && all.all(|p| path(p) || p.split(|b| *b == b',').all(option)) && quiet(text)
}

/// A list or mapping on one line: each value has the form of its key, each item that of an item.
fn is_flow(key: &[u8], text: &[u8]) -> bool {
    let mut of = key;
    let pieces = text.split(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b',')).map(<[u8]>::trim_ascii);
    pieces.filter(|p| !p.is_empty()).all(|piece| {
        let Some((key, value)) = key_value(piece) else {
            return !HIDDEN.contains(&of) && item(piece).is_some_and(|kept| kept == piece);
        };
        of = unquoted(key);
        let said = value.get(1..).unwrap_or_default().trim_ascii();
        let is_key = words::is_name(of) && atom(of) && !HIDDEN.contains(&of);
        is_key && (said.is_empty() || is_anchored(said) || fits(of, said))
    })
}

#[cfg(test)]
mod tests;
