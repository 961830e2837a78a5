//! Redaction of texts that tools print: by the shape of the words, and by the words before them.

use super::Redactor;
use std::net::Ipv4Addr;

impl Redactor {
    /// Redacts a text, line by line. A text that is not UTF-8 is read as far as it is.
    pub(crate) fn text(&self, data: &mut Vec<u8>) {
        if !self.on() {
            return;
        }
        let mut out = Vec::with_capacity(data.len() + 64);
        for line in data.split_inclusive(|b| *b == b'\n') {
            match std::str::from_utf8(line) {
                Ok(l) => self.line(l, &mut out),
                Err(_) => self.line(&String::from_utf8_lossy(line), &mut out),
            }
        }
        *data = out;
    }

    fn line(&self, line: &str, out: &mut Vec<u8>) {
        // `40: 01 48 03 c8 …`: a dump of registers.
        if is_hex_dump(line) {
            return out.extend_from_slice(line.as_bytes());
        }
        // A document of JSON may be one line.
        let (quoted, mut done) = (json_serials(line), 0);
        for (from, to) in &quoted {
            let (Some(head), Some(value)) = (line.get(done..*from), line.get(*from..*to)) else { continue };
            self.words(head, out);
            let bare = value.trim_matches('"');
            let shown = says_nothing(bare) || bare.starts_with("redacted-");
            let new = if shown { value.to_owned() } else { format!("\"{}\"", self.serial(bare)) };
            out.extend_from_slice(new.as_bytes());
            done = *to;
        }
        if !quoted.is_empty() {
            return self.words(line.get(done..).unwrap_or_default(), out);
        }
        if let Some((from, to)) = serial_value(line) {
            let (head, value, tail) = (line.get(..from), line.get(from..to), line.get(to..));
            if let (Some(head), Some(value), Some(tail)) = (head, value, tail) {
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(self.serial(value).as_bytes());
                out.extend_from_slice(tail.as_bytes());
                return;
            }
        }
        self.words(line, out);
    }

    fn words(&self, line: &str, out: &mut Vec<u8>) {
        let guid = contains_ignore_case(line, "guid");
        let (mut at, mut before) = (0, 0);
        while at < line.len() {
            let rest = line.get(at..).unwrap_or_default();
            let len = rest.bytes().take_while(|b| is_word(*b)).count();
            if len == 0 {
                let step = rest.chars().next().map_or(1, char::len_utf8);
                out.extend_from_slice(rest.get(..step).unwrap_or_default().as_bytes());
                at += step;
                continue;
            }
            let word = rest.get(..len).unwrap_or_default();
            // A full stop or colon at the end belongs to the sentence.
            let core = word.trim_end_matches(['.', ':', '-', '_']);
            let core = if word.ends_with("::") && core.contains(':') { word } else { core };
            match self.word(core, line.get(before..at).unwrap_or_default(), guid) {
                Some(new) => out.extend_from_slice(new.as_bytes()),
                None => self.host_words(core, out),
            }
            out.extend_from_slice(word.get(core.len()..).unwrap_or_default().as_bytes());
            (before, at) = (at, at + len);
        }
    }

    /// What a word becomes; `None` if it stays.
    fn word(&self, word: &str, before: &str, guid: bool) -> Option<String> {
        let (prefix, bare) = match word.strip_prefix("GPU-").or_else(|| word.strip_prefix("MIG-")) {
            Some(rest) => (word.get(..4)?, rest),
            None => ("", word),
        };
        // HIP names a GPU by its unique id: `GPU-8af705259683161c`.
        let is_hip = prefix == "GPU-" && bare.len() == 16 && bare.bytes().all(|b| b.is_ascii_hexdigit());
        if is_uuid(bare) || is_hip {
            return Some(format!("{prefix}{}", self.serial(bare)));
        }
        let hex = |s: &str| s.bytes().all(|b| b.is_ascii_hexdigit());
        if bare.len() == 32 && hex(bare) {
            return Some(self.serial(bare));
        }
        if guid && matches!(bare.len(), 16 | 18) && (bare.starts_with("0x") || hex(bare)) {
            return self.guid_text(bare);
        }
        let colons = bare.bytes().filter(|b| *b == b':').count();
        if colons > 0 {
            let groups = || bare.split(':');
            if matches!(colons, 5 | 19) && groups().all(|g| g.len() == 2 && hex(g)) {
                return self.mac_text(bare);
            }
            if colons == 3 && groups().all(|g| g.len() == 4 && hex(g)) {
                return self.guid_text(bare);
            }
            if colons == 7 || bare.contains("::") {
                return self.ip6_text(bare);
            }
            // `10.1.2.3:18515`
            let (host, port) = bare.split_once(':')?;
            return port
                .bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| self.ip4_text(host, before))?
                .map(|h| format!("{h}:{port}"));
        }
        // Device Serial Number: `94-6d-ae-03-00-ab-cd-ef` (six groups: a MAC with hyphens).
        let dashes = bare.bytes().filter(|b| *b == b'-').count();
        if matches!(dashes, 5 | 7) && bare.split('-').all(|g| g.len() == 2 && hex(g)) {
            let colons = bare.replace('-', ":");
            return if dashes == 5 {
                Some(self.mac_text(&colons)?.replace(':', "-"))
            } else {
                let n = u64::from_str_radix(&bare.replace('-', ""), 16).ok()?;
                Some(self.guid(n).to_be_bytes().iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join("-"))
            };
        }
        self.ip4_text(bare, before)
    }

    fn ip4_text(&self, word: &str, before: &str) -> Option<String> {
        let ip: Ipv4Addr = word.parse().ok()?;
        let lower = before.to_ascii_lowercase();
        // Four numbers with dots after such a word are a version.
        if ["ver", "firmware", "fw", "rev", "bios", "release", "driver", "kernel"].iter().any(|w| lower.contains(w)) {
            return None;
        }
        let new = self.ip4(ip);
        (new != ip).then(|| new.to_string())
    }

    /// Writes a word with the host's name in it replaced.
    fn host_words(&self, word: &str, out: &mut Vec<u8>) {
        let host = std::str::from_utf8(&self.host).unwrap_or_default();
        let mut rest = word;
        while !host.is_empty() {
            let Some(at) = rest.find(host) else { break };
            let (head, tail) = (rest.get(..at).unwrap_or_default(), rest.get(at + host.len()..).unwrap_or_default());
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            out.extend_from_slice(head.as_bytes());
            if inside(head.chars().last()) || inside(tail.chars().next()) {
                out.extend_from_slice(host.as_bytes());
            } else {
                out.extend_from_slice(self.host_name(host).as_bytes());
            }
            rest = tail;
        }
        out.extend_from_slice(rest.as_bytes());
    }
}

/// Bytes of addresses, numbers and names.
fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b':' | b'.' | b'-' | b'_')
}

fn is_uuid(s: &str) -> bool {
    let lens = [8, 4, 4, 4, 12];
    s.len() == 36
        && s.split('-').count() == 5
        && s.split('-').zip(lens).all(|(g, n)| g.len() == n && g.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_hex_dump(line: &str) -> bool {
    let Some((offset, rest)) = line.split_once(": ") else { return false };
    let offset = offset.trim();
    matches!(offset.len(), 2 | 3)
        && offset.bytes().all(|b| b.is_ascii_hexdigit())
        && rest.split_ascii_whitespace().all(|w| w.len() == 2 && w.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn contains_ignore_case(line: &str, word: &str) -> bool {
    line.as_bytes().windows(word.len()).any(|w| w.eq_ignore_ascii_case(word.as_bytes()))
}

/// Names of serial numbers, and of what AMD's tools print that is as unique.
const SERIALS: [&str; 9] = [
    "serial number",
    "serial no",
    "serial_number",
    "board serial",
    "chassis serial",
    "vbios serial",
    "asic_serial",
    "product_serial",
    "fru_id",
];
const UNIQUE: [&str; 2] = ["unique id", "unique_id"];

/// Values of serial numbers in JSON, with their quotes: `"Serial Number": "X"`.
fn json_serials(line: &str) -> Vec<(usize, usize)> {
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(close) = line.get(at..).and_then(|l| l.find("\":")).map(|n| n + at) {
        let key = line.get(at..close).unwrap_or_default();
        let key = key.rsplit('"').next().unwrap_or_default().to_ascii_lowercase();
        let behind = line.get(close + 2..).unwrap_or_default();
        let from = close + 2 + (behind.len() - behind.trim_start().len());
        let value = line.get(from..).unwrap_or_default();
        let len = match value.strip_prefix('"') {
            Some(inside) => closing(inside).map_or(value.len(), |end| end + 2),
            None => value.find([',', '}', ']', ' ', '\n', '\r']).unwrap_or(value.len()),
        };
        let is_one = SERIALS.iter().chain(&UNIQUE).any(|w| key.contains(w)) || key == "serial";
        if is_one && len > 0 && !value.starts_with(['{', '[']) {
            out.push((from, from + len));
            at = from + len;
        } else {
            at = close + 2;
        }
    }
    out
}

/// Where a string ends that begins here.
fn closing(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|b| {
        let ends = b == b'"' && !is_escaped;
        is_escaped = b == b'\\' && !is_escaped;
        ends
    })
}

/// The value of a serial number: `Serial Number : X`, `[SN] Serial number: X`, `<serial>X</serial>`. The PCI capability of that
/// name has its own form, which is left to the words.
fn serial_value(line: &str) -> Option<(usize, usize)> {
    let lower = line.to_ascii_lowercase();
    if lower.contains("device serial number") {
        return None;
    }
    for tag in ["serial>", "uuid>"] {
        if let Some(open) = lower.find(tag)
            && let Some(len) = lower.get(open + tag.len()..).and_then(|r| r.find("</"))
            && lower.get(..open).is_some_and(|h| h.contains('<') && !h.ends_with('/'))
        {
            return value(line, open + tag.len(), open + tag.len() + len);
        }
    }
    let unique = if lower.trim_start().starts_with("gpu[") { &UNIQUE[..] } else { &[] };
    let word = SERIALS
        .iter()
        .chain(unique)
        .filter_map(|w| lower.find(w).map(|at| at + w.len()))
        .min()
        .or_else(|| lower.trim_start().starts_with("serial:").then(|| lower.find(':')).flatten())?;
    let colon = word + lower.get(word..)?.find([':', '='])?;
    value(line, colon + 1, line.len())
}

fn value(line: &str, from: usize, to: usize) -> Option<(usize, usize)> {
    let text = line.get(from..to)?;
    let start = from + (text.len() - text.trim_start().len());
    let end = start + text.trim().len();
    let v = text.trim();
    (!says_nothing(v) && !v.starts_with("redacted-") && !v.starts_with("GPU-redacted-")).then_some((start, end))
}

fn says_nothing(value: &str) -> bool {
    value.is_empty() || ["n/a", "0", "unknown", "not specified"].contains(&value.to_ascii_lowercase().as_str())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
