//! `ethtool -k IF`: offloads of an interface.

use crate::bounds::{Kept, Limit, TEXT_ITEMS, leave_out};
use crate::text::{decode, flag, lines, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `ethtool -k`.
pub const TOOL: Tool = Tool {
    name: "ethtool-features",
    called: "ethtool -k",
    run: "ethtool -k IF",
    gives: Gives::NoFacts("ethtool's offloads of an interface, which no check reads"),
    marks: &[Mark::line(|l| starts(l, &["Features for "]) && l.ends_with(':')).begins(&["Features for "])],
    commands: &[Command::with("ethtool", &["-k"])],
    read: Some(|b| seen(read(b))),
    samples: &["Features for eth0:\nrx-checksumming: on\nlarge-receive-offload: off [fixed]\n"],
    ..Tool::NONE
};

/// An offload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Feature {
    /// 1-based line.
    pub line: u32,
    /// Interface, from the title; empty where the title is missing.
    pub interface: String,
    /// `tcp-segmentation-offload`.
    pub name: String,
    /// Whether it is on.
    pub on: bool,
    /// It cannot be changed.
    pub fixed: bool,
}

/// Reads the offloads of one or several interfaces.
pub fn read(bytes: &[u8]) -> Kept<Feature> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    let mut interface = String::new();
    for (line, raw) in lines(&text) {
        if let Some(name) = raw.trim().strip_prefix("Features for ") {
            interface = name.trim_end_matches(':').to_owned();
            // Each row has a copy of it.
            interface.truncate(interface.char_indices().nth(16).map_or(interface.len(), |(at, _)| at));
            continue;
        }
        let Some((name, value)) = split_key(raw, ':').filter(|(k, _)| !k.is_empty() && !k.contains(' ')) else {
            continue;
        };
        let (value, more) = value.split_once(' ').unwrap_or((value, ""));
        let Some(on) = flag(value, "on", "off") else { continue };
        if kept.items.len() >= TEXT_ITEMS {
            leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line);
            continue;
        }
        let (interface, name) = (interface.clone(), name.to_owned());
        kept.items.push(Feature { line, interface, name, on, fixed: more.trim() == "[fixed]" });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offloads_of_each_interface() {
        let kept = read(
            b"Features for eth0:\nrx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\nntuple-filters: off [requested on]\nFeatures for eth1:\nrx-all: maybe\nrx-fcs: off\n",
        );
        let seen: Vec<_> =
            kept.items.iter().map(|f| (f.line, f.interface.as_str(), f.name.as_str(), f.on, f.fixed)).collect();
        assert_eq!(
            seen,
            [
                (2, "eth0", "rx-checksumming", true, false),
                (3, "eth0", "tx-checksum-ipv4", false, true),
                (4, "eth0", "ntuple-filters", false, false),
                (7, "eth1", "rx-fcs", false, false)
            ]
        );
    }
}
