//! `lldpcli show neighbors`: the port of a switch at the other end of each interface.

use crate::bounds::{Kept, Limit, NET_FUNCTIONS, leave_out};
use crate::text::{At, decode, lines, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `lldpcli show neighbors`.
pub const TOOL: Tool = Tool {
    name: "lldp-neighbors",
    called: "lldpcli show neighbors",
    run: "lldpcli show neighbors",
    gives: Gives::NoFacts("neighbours by LLDP: the switch ports of the interfaces, which no check reads"),
    marks: &[
        Mark::line(|l| begins(l).is_some()).begins(&["Interface:"]),
        Mark::json(|text| {
            let first = text.trim_start().strip_prefix('{').unwrap_or_default().trim_start();
            first.starts_with("\"lldp\"") && text.contains("\"chassis\"")
        }),
    ],
    commands: &[Command::any("lldpcli"), Command::any("lldpctl")],
    files: &["lldp"],
    documents: &["lldp"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "Interface:    eth0, via: LLDP, RID: 1, Time: 0 day, 00:10:02\n  Chassis:     \n    SysName:      leaf-1\n",
        "{\"lldp\":{\"interface\":{\"eth0\":{\"via\":\"LLDP\",\"chassis\":{}}}}}",
    ],
    ..Tool::NONE
};

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Neighbour {
    /// 1-based line of the interface.
    pub line: u32,
    /// Interface of this node.
    pub interface: String,
    /// Name of the switch.
    pub system: Option<At<String>>,
    /// Its port: `ifname swp1`.
    pub port: Option<At<String>>,
    /// What it says of the port.
    pub description: Option<At<String>>,
    /// Number of the port's own VLAN.
    pub vlan: Option<At<u16>>,
}

/// Reads the text form; the JSON form is recognised only.
pub fn read(bytes: &[u8]) -> Kept<Neighbour> {
    let text = decode(bytes);
    let mut kept: Kept<Neighbour> = Kept::default();
    let mut full = false;
    for (line, raw) in lines(&text) {
        let raw = raw.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(interface) = begins(raw) {
            full = kept.items.len() >= NET_FUNCTIONS;
            if full {
                leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
            } else {
                kept.items.push(Neighbour { line, interface: interface.to_owned(), ..Neighbour::default() });
            }
            continue;
        }
        let Some(out) = kept.items.last_mut().filter(|_| !full) else { continue };
        let Some((key, value)) = split_key(raw, ':').filter(|(_, v)| !v.is_empty()) else { continue };
        let text = || Some(At::new(value.to_owned(), line));
        match key {
            "SysName" => out.system = text(),
            "PortID" => out.port = text(),
            "PortDescr" => out.description = text(),
            "VLAN" if value.contains("pvid: yes") => {
                out.vlan = value.split(',').next().and_then(|v| v.trim().parse().ok()).map(|v| At::new(v, line));
            }
            _ => {}
        }
    }
    kept
}

/// `Interface:    eth0, via: LLDP, RID: 1, Time: …`.
fn begins(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("Interface:")?.split_once(", via: ")?;
    let protocol = ["LLDP", "CDP", "EDP", "FDP", "SONMP"].iter().any(|p| rest.starts_with(p));
    protocol.then(|| name.trim()).filter(|n| !n.is_empty() && !n.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interface_has_its_neighbour() {
        let kept = read(
            b"-----\nLLDP neighbors:\n-----\nInterface:    eth0, via: LLDP, RID: 1, Time: 0 day, 00:10:02\n  Chassis:     \n    ChassisID:    mac 02:00:00:00:00:01\n    SysName:      leaf-1\n  Port:        \n    PortID:       ifname swp1\n    PortDescr:    gpu001 rail 0\n  VLAN:         100, pvid: yes VLAN100\nInterface:    eth1, via: LLDP, RID: 2\n",
        );
        let [a, b] = kept.items.as_slice() else { panic!("{kept:?}") };
        assert_eq!((a.interface.as_str(), a.line, a.system.as_ref().map(At::as_str)), ("eth0", 4, Some("leaf-1")));
        assert_eq!((a.port.as_ref().map(At::as_str), a.vlan), (Some("ifname swp1"), Some(At::new(100, 11))));
        assert_eq!((b.interface.as_str(), b.system.clone()), ("eth1", None));
    }
}
