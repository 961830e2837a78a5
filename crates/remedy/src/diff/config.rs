//! Configuration space of a PCI function, compared by registers: those that hold a state move, those that hold a setting do not.

use super::{Change, What};
use linerate_facts::moves::ERRORS;

/// A run of bytes of a capability: first, behind the last, name, and why it moves by itself; empty: it does not.
type Register = (usize, usize, &'static str, &'static str);

const STATUS: &str = "status bits follow what the device does";
const LINK: &str = "the link retrains by itself; rules judge its speed and width";
const VECTORS: &str = "interrupt vectors are assigned at each start of a driver";
const MAILBOX: &str = "a window through which tools talk to the device";
const POWER: &str = "power states follow the load";

const HEADER: &[Register] = &[
    (0x04, 0x06, "Command", ""),
    (0x06, 0x08, "Status", STATUS),
    (0x10, 0x28, "BAR", ""),
    (0x3c, 0x3d, "Interrupt Line", VECTORS),
];
const BRIDGE: &[Register] = &[(0x18, 0x1b, "bus numbers", ""), (0x1e, 0x20, "Secondary Status", STATUS)];

/// Capabilities by id.
const CONVENTIONAL: &[(u16, &str, &[Register])] = &[
    (0x01, "Power Management", &[(4, 6, "PMCSR", POWER)]),
    (0x03, "VPD", &[(2, 8, "window", MAILBOX)]),
    (0x05, "MSI", &[(2, 24, "vectors", VECTORS)]),
    (0x09, "vendor's capability", &[(2, 256, "window", MAILBOX)]),
    (
        0x10,
        "Express",
        &[
            (8, 10, "Device Control", ""),
            (10, 12, "Device Status", STATUS),
            (16, 18, "Link Control", ""),
            (18, 20, "Link Status", LINK),
            (24, 26, "Slot Control", ""),
            (26, 28, "Slot Status", STATUS),
            (32, 36, "Root Status", STATUS),
            (40, 42, "Device Control 2", ""),
            (42, 44, "Device Status 2", STATUS),
            (48, 50, "Link Control 2", ""),
            (50, 52, "Link Status 2", LINK),
        ],
    ),
    (0x11, "MSI-X", &[(2, 4, "control", VECTORS)]),
];

/// Extended capabilities by id.
const EXTENDED: &[(u16, &str, &[Register])] = &[
    (
        0x01,
        "AER",
        &[
            (4, 8, "uncorrectable status", ERRORS),
            (16, 20, "correctable status", ERRORS),
            (24, 28, "first error", ERRORS),
            (28, 44, "header log", ERRORS),
            (48, 56, "root error status", ERRORS),
            (56, 72, "prefix log", ERRORS),
        ],
    ),
    (0x0d, "ACS", &[(6, 8, "control", "")]),
    (0x0f, "ATS", &[(6, 8, "control", "")]),
    (0x10, "SR-IOV", &[(8, 10, "control", ""), (10, 12, "status", STATUS), (16, 18, "NumVFs", "")]),
    (0x13, "PRI", &[(4, 6, "control", ""), (6, 8, "status", STATUS)]),
    (0x15, "Resizable BAR", &[]),
    (0x19, "Secondary PCI Express", &[(8, 12, "lane errors", LINK)]),
    (0x1b, "PASID", &[(6, 8, "control", "")]),
    (0x1d, "DPC", &[(8, 12, "status", ERRORS)]),
    (0x25, "Data Link Feature", &[(8, 12, "status", LINK)]),
    (0x26, "16 GT/s", &[(12, 32, "status", LINK)]),
    (0x2a, "32 GT/s", &[(12, 32, "status", LINK)]),
    (0x2e, "Data Object Exchange", &[(8, 24, "mailbox", MAILBOX)]),
];

/// Longest chains of capabilities that are followed: each takes at least four bytes.
const MAX_CAPS: usize = 48;
const MAX_EXTENDED: usize = 1024;

/// Adds a difference for each register.
pub(super) fn compare(path: &str, before: &[u8], after: &[u8], out: &mut Vec<Change>) {
    let dead = |b: &[u8]| !b.is_empty() && b.iter().take(64).all(|x| *x == 0xff);
    let len = before.len().min(after.len());
    if dead(after) && !dead(before) || len < 64 {
        let why = if dead(after) { "every byte reads ff: the device does not answer" } else { "cut" };
        out.push(Change::new(path, "", What::Unreadable { before: hex(before, 0, 64), why: why.to_owned() }));
        return;
    }
    if after.len() < before.len() {
        let why = format!("only the first {} bytes could be read", after.len());
        out.push(Change::new(path, "", What::Unreadable { before: format!("{} bytes", before.len()), why }));
    }
    let caps = caps(after);
    let mut at = 0;
    while at < len {
        if before.get(at) == after.get(at) {
            at += 1;
            continue;
        }
        let (from, to, name, why) = register(after, &caps, at);
        let to = to.min(len).max(at + 1);
        let what = What::Changed { before: hex(before, from, to), after: hex(after, from, to) };
        let mut change = Change::new(path, &format!("{name} @{from:#x}+{}", to - from), what);
        change.volatile = change.volatile.or((!why.is_empty()).then_some(why));
        out.push(change);
        at = to;
    }
}

type Cap = (usize, &'static str, &'static [Register]);

/// The register in which a byte lies.
fn register(bytes: &[u8], caps: &[Cap], at: usize) -> (usize, usize, String, &'static str) {
    let find = |base: usize, name: &str, list: &[Register]| {
        let r = list.iter().find(|(from, to, ..)| (base + from..base + to).contains(&at))?;
        Some((base + r.0, base + r.1, format!("{name} {}", r.2).trim_start().to_owned(), r.3))
    };
    let bridge = bytes.get(0x0e).is_some_and(|h| h & 0x7f == 1);
    if at < 64 {
        let special = if bridge { find(0, "", BRIDGE) } else { None };
        return special.or_else(|| find(0, "", HEADER)).unwrap_or((at, at + 1, "header".to_owned(), ""));
    }
    let own = caps.iter().filter(|c| c.0 <= at && (c.0 < 256) == (at < 256)).max_by_key(|c| c.0);
    match own {
        Some((base, name, list)) => find(*base, name, list).unwrap_or((at & !3, (at & !3) + 4, (*name).to_owned(), "")),
        None => (at & !3, (at & !3) + 4, "device's own register".to_owned(), ""),
    }
}

/// Where capabilities begin, by both chains; chains of rubbish end.
fn caps(bytes: &[u8]) -> Vec<Cap> {
    let byte = |at: usize| bytes.get(at).copied();
    let known = |table: &'static [(u16, &'static str, &'static [Register])], id: u16, at: usize| -> Cap {
        table.iter().find(|c| c.0 == id).map_or((at, "capability", &[]), |c| (at, c.1, c.2))
    };
    let mut out = Vec::new();
    let mut next = byte(0x34).unwrap_or(0) as usize & 0xfc;
    for _ in 0..MAX_CAPS {
        let Some(id) = byte(next).filter(|_| next >= 64) else { break };
        out.push(known(CONVENTIONAL, u16::from(id), next));
        next = byte(next + 1).unwrap_or(0) as usize & 0xfc;
    }
    let mut next = 0x100;
    for _ in 0..MAX_EXTENDED {
        let word = bytes.get(next..next + 4).and_then(|b| <[u8; 4]>::try_from(b).ok()).map(u32::from_le_bytes);
        let Some(word) = word.filter(|w| next >= 256 && *w != 0 && *w != u32::MAX) else { break };
        out.push(known(EXTENDED, word as u16, next));
        next = (word >> 20) as usize & 0xffc;
    }
    out
}

fn hex(bytes: &[u8], from: usize, to: usize) -> String {
    let part = bytes.get(from..to.min(bytes.len())).unwrap_or_default();
    part.iter().take(64).map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}
