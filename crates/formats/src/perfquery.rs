//! `perfquery`: counters of an InfiniBand port, which is named by its LID.

use crate::bounds::{Kept, Limit, TEXT_ITEMS, leave_out};
use crate::text::{decode, leading_number, lines, unended};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `perfquery`.
pub const TOOL: Tool = Tool {
    name: "perfquery",
    called: "perfquery",
    run: "perfquery -x",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| {
        starts(l, &["# Port"]) && l.contains(" counters: Lid ") || starts(l, &["PortSelect:..", "PortXmitData:.."])
    })
    .begins(&["# Port", "PortSelect:..", "PortXmitData:.."])],
    commands: &[Command::any("perfquery")],
    files: &["perfquery"],
    read: Some(|b| seen(read(b))),
    samples: &["# Port extended counters: Lid 12 port 1 (CapMask: 0x5A00)\nPortSelect:......................1\n"],
    ..Tool::NONE
};

/// A counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counter {
    /// 1-based line.
    pub line: u32,
    /// LID of the port; `None` where the title is missing.
    pub lid: Option<u32>,
    /// Number of the port.
    pub port: Option<u32>,
    /// Name.
    pub name: String,
    /// Value.
    pub value: u64,
}

/// Reads the counters of one or several ports.
pub fn read(bytes: &[u8]) -> Kept<Counter> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    let (mut lid, mut port) = (None, None);
    let unended = unended(&text);
    for (line, raw) in lines(&text) {
        let raw = raw.trim();
        if let Some((_, of)) = raw.split_once(" counters: Lid ").filter(|_| raw.starts_with('#')) {
            lid = leading_number(of);
            port = of.split_once(" port ").and_then(|(_, p)| leading_number(p));
            continue;
        }
        let Some((name, value)) = raw.split_once(":.").filter(|_| Some(line) != unended) else { continue };
        let value = value.trim_start_matches('.');
        let is_name =
            !name.is_empty() && name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let Some(value) = value.parse().ok().filter(|_| is_name) else { continue };
        if kept.items.len() >= TEXT_ITEMS {
            leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line);
        } else {
            kept.items.push(Counter { line, lid, port, name: name.to_owned(), value });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_port() {
        let kept = read(
            b"# Port counters: Lid 134 port 1 (CapMask: 0x5A00)\nPortSelect:......................1\nCounterSelect:...................0x0000\nSymbolErrorCounter:..............7\nLinkDownedCounter:.............",
        );
        let seen: Vec<_> = kept.items.iter().map(|c| (c.lid, c.port, c.name.as_str(), c.value, c.line)).collect();
        assert_eq!(seen, [(Some(134), Some(1), "PortSelect", 1, 2), (Some(134), Some(1), "SymbolErrorCounter", 7, 4)]);
    }
}
