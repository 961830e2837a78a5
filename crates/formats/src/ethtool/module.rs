//! `ethtool -m IF`: the module or cable of a port.

use crate::asked::asked;
use crate::bounds::{Kept, Limit, NET_FUNCTIONS, TEXT_ITEMS, leave_out};
use crate::text::{At, decode, flag, lines, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `ethtool -m`.
pub const TOOL: Tool = Tool {
    name: "ethtool-module",
    called: "ethtool -m",
    run: "ethtool -m IF",
    gives: Gives::NoFacts("ethtool's data of a module or cable, which no check reads"),
    marks: &[Mark::line(is_identifier).begins(&["Identifier"])],
    commands: &[Command::with("ethtool", &["-m"])],
    read: Some(|b| seen(read(b))),
    samples: &[
        "\tIdentifier                                : 0x11 (QSFP28)\n\tVendor PN                                 : MCP1600-C001\n",
    ],
    ..Tool::NONE
};

/// A module.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Module {
    /// 1-based line of the identifier.
    pub line: u32,
    /// Interface, where the command line shows it.
    pub interface: Option<At<String>>,
    /// `QSFP28`, `OSFP 8X Pluggable Transceiver with CMIS`.
    pub form: String,
    /// `Vendor name`.
    pub vendor: Option<At<String>>,
    /// `Vendor PN`.
    pub part: Option<At<String>>,
    /// Alarms and warnings that are on.
    pub raised: Vec<At<String>>,
}

/// Reads the modules of one or several interfaces.
pub fn read(bytes: &[u8]) -> Kept<Module> {
    let text = decode(bytes);
    let mut kept: Kept<Module> = Kept::default();
    let (mut named, mut items, mut full) = (None, 0, false);
    for (line, raw) in lines(&text) {
        if let Some(interface) = asked(raw, &["ethtool"], "-m") {
            named = Some(At::new(interface, line));
            continue;
        }
        let Some((key, value)) = split_key(raw, ':') else { continue };
        if key == "Identifier" && is_identifier(raw.trim()) {
            full = kept.items.len() >= NET_FUNCTIONS;
            if full {
                leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
                continue;
            }
            let form = value.split_once('(').map_or("", |(_, f)| f.trim_end_matches(')')).to_owned();
            kept.items.push(Module { line, interface: named.take(), form, ..Module::default() });
        }
        let Some(out) = kept.items.last_mut().filter(|_| !full) else { continue };
        let text = || Some(At::new(value.to_owned(), line)).filter(|v| !v.value.is_empty());
        match key {
            "Vendor name" => out.vendor = text(),
            "Vendor PN" => out.part = text(),
            _ if (key.ends_with(" alarm") || key.ends_with(" warning")) && flag(value, "On", "Off") == Some(true) => {
                if items < TEXT_ITEMS {
                    items += 1;
                    out.raised.push(At::new(key.to_owned(), line));
                } else {
                    leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line);
                }
            }
            _ => {}
        }
    }
    kept
}

/// `Identifier   : 0x11 (QSFP28)`.
fn is_identifier(line: &str) -> bool {
    let of = |line: &str| {
        let (key, value) = split_key(line, ':')?;
        Some(key == "Identifier" && value.starts_with("0x") && value.ends_with(')') && value.contains(" ("))
    };
    of(line) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_and_its_alarms() {
        let kept = read(
            b"# ethtool -m ens1f0\n\tIdentifier                                : 0x19 (OSFP 8X)\n\tVendor name                               : Mellanox\n\tVendor PN   : MMA4Z00-NS400\n\tModule temperature high alarm             : On\n\tModule temperature low alarm              : Off\n\tIdentifier : 25\n",
        );
        let [m] = kept.items.as_slice() else { panic!("{kept:?}") };
        assert_eq!((m.form.as_str(), m.interface.as_ref().map(At::as_str)), ("OSFP 8X", Some("ens1f0")));
        assert_eq!(m.part, Some(At::new("MMA4Z00-NS400".into(), 4)));
        assert_eq!(m.raised, [At::new("Module temperature high alarm".to_owned(), 5)]);
    }
}
