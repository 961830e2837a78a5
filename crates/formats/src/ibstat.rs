//! `ibstat` and `ibstatus`.

use crate::bounds::{Kept, Limit, NET_FUNCTIONS, TEXT_ITEMS, leave_out};
use crate::gid::Gid;
use crate::ib_port::{LinkLayer, PortState};
use crate::text::{At, decode, leading_number, lines, number, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `ibstat`, `ibstatus`.
pub const TOOL: Tool = Tool {
    name: "ibstat",
    called: "ibstat",
    run: "ibstat",
    gives: Gives::Facts,
    marks: &[Mark::beginning(&["CA '", "Infiniband device '"]), Mark::line(is_none).begins(&[NONE])],
    commands: &[Command::any("ibstat"), Command::any("ibstatus")],
    files: &["ibstat"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "CA 'mlx5_0'\n",
        "Infiniband device 'mlx5_0' port 1 status:\n",
        "Fatal error:  device '*': sys files not found (/sys/class/infiniband/*/ports)\n",
        "root@n:~# sudo /usr/bin/ibstat\ncommand failed\n",
        // Beside a measurement, what tells of the node decides.
        "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\nCA 'mlx5_0'\n",
    ],
    once: true,
    ..Tool::NONE
};

/// A channel adapter.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Ca {
    /// Device name, `mlx5_0`.
    pub name: String,
    /// 1-based line.
    pub line: u32,
    /// `CA type`, e.g. `MT4129`.
    pub ca_type: Option<At<String>>,
    /// `Firmware version`.
    pub firmware: Option<At<String>>,
    /// `Node GUID` as printed.
    pub node_guid: Option<At<String>>,
    /// Ports in the order of the text.
    pub ports: Vec<Port>,
}

/// A port.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Port {
    /// Port number, from 1.
    pub number: u32,
    /// 1-based line.
    pub line: u32,
    /// Logical state.
    pub state: Option<At<PortState>>,
    /// Physical state as printed, without its number.
    pub physical_state: Option<At<String>>,
    /// Rate in Gb/s as printed; 2.5 for a link that is down is common.
    pub rate_gbps: Option<At<f64>>,
    /// LID of the port, 0 on RoCE.
    pub base_lid: Option<At<u64>>,
    /// LID of the subnet manager, 0 where none was seen.
    pub sm_lid: Option<At<u64>>,
    /// Link layer.
    pub link_layer: Option<At<LinkLayer>>,
    /// `default gid`; only in ibstatus.
    pub default_gid: Option<At<Gid>>,
}

impl Port {
    fn set(&mut self, key: &str, value: &str, line: u32) {
        if value.is_empty() {
            return;
        }
        match key {
            "state" => self.state = Some(At::new(PortState::new(value), line)),
            "physical state" | "phys state" => {
                let name = value.split_once(':').map_or(value, |(_, n)| n.trim());
                self.physical_state = Some(At::new(name.to_owned(), line));
            }
            "rate" => {
                let word = value.split_whitespace().next().and_then(|w| w.parse().ok());
                self.rate_gbps = word.filter(|r: &f64| r.is_finite()).map(|r| At::new(r, line));
            }
            "base lid" => self.base_lid = number(value).map(|n| At::new(n, line)),
            "sm lid" => self.sm_lid = number(value).map(|n| At::new(n, line)),
            "link layer" | "link_layer" => self.link_layer = Some(At::new(LinkLayer::new(value), line)),
            "default gid" => self.default_gid = value.parse().ok().map(|g| At::new(g, line)),
            _ => {}
        }
    }
}

/// The adapters of [`read`].
pub fn parse(bytes: &[u8]) -> Vec<Ca> {
    read(bytes).items
}

/// The line that says that there is no adapter, 1-based: what the script ibstatus of infiniband-diags prints where its pattern fits nothing,
/// `Fatal error:  device '*': sys files not found (/sys/class/infiniband/*/ports)`.
pub fn none(bytes: &[u8]) -> Option<u32> {
    let text = decode(bytes);
    lines(&text).find(|(_, raw)| is_none(raw.trim())).map(|(line, _)| line)
}

fn is_none(line: &str) -> bool {
    line.strip_prefix(NONE).is_some_and(|rest| rest.trim_start().starts_with("device '*': sys files not found"))
}

const NONE: &str = "Fatal error:";

/// Reads either tool's output.
pub fn read(bytes: &[u8]) -> Kept<Ca> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    let out: &mut Vec<Ca> = &mut kept.items;
    let mut items = 0;
    let mut full = false;
    for (line, raw) in lines(&text) {
        let content = raw.trim();
        let name = content.strip_prefix("CA '").and_then(|r| r.split_once('\'')).map(|(n, _)| n);
        let port = ibstatus_header(content);
        if name.is_some() || port.is_some_and(|(name, _)| out.last().is_none_or(|c| c.name != name)) {
            full = out.len() >= NET_FUNCTIONS;
            if full {
                leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
            }
        }
        if full {
            continue;
        }
        if items >= TEXT_ITEMS {
            if !content.is_empty() {
                leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line);
            }
            continue;
        }
        if let Some(name) = name {
            items += 1;
            out.push(Ca { name: name.to_owned(), line, ..Ca::default() });
        } else if let Some((name, port)) = port {
            items += 1;
            if out.last().is_none_or(|c| c.name != name) {
                out.push(Ca { name: name.to_owned(), line, ..Ca::default() });
            }
            if let Some(ca) = out.last_mut() {
                ca.ports.push(Port { number: port, line, ..Port::default() });
            }
        } else if let (Some(ca), Some((key, value))) = (out.last_mut(), split_key(content, ':')) {
            let key = key.to_ascii_lowercase();
            if let Some(n) = key.strip_prefix("port ").filter(|_| value.is_empty()).and_then(|n| n.parse().ok()) {
                items += 1;
                ca.ports.push(Port { number: n, line, ..Port::default() });
                continue;
            }
            match (key.as_str(), ca.ports.last_mut()) {
                (key, Some(port)) => port.set(key, value, line),
                ("ca type", None) => ca.ca_type = Some(At::new(value.to_owned(), line)),
                ("firmware version", None) => ca.firmware = Some(At::new(value.to_owned(), line)),
                ("node guid", None) => ca.node_guid = Some(At::new(value.to_owned(), line)),
                _ => {}
            }
        }
    }
    kept
}

/// `Infiniband device 'mlx5_0' port 1 status:`
fn ibstatus_header(line: &str) -> Option<(&str, u32)> {
    let rest = line.strip_prefix("Infiniband device '")?;
    let (name, rest) = rest.split_once('\'')?;
    Some((name, leading_number(rest.trim().strip_prefix("port")?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ibstat_with_two_ports() {
        let c = parse(
            b"CA 'mlx4_0'\n\tCA type: MT4103\n\tNumber of ports: 2\n\tFirmware version: 2.42.5000\n\tNode GUID: 0x1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 56\n\t\tBase lid: 12\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand\n\tPort 2:\n\t\tState: Down\n\t\tPhysical state: Polling\n\t\tRate: 2.5\n",
        );
        assert_eq!((c.len(), c[0].ports.len()), (1, 2));
        assert_eq!(c[0].firmware.as_ref().map(At::as_str), Some("2.42.5000"));
        let p = &c[0].ports[1];
        assert_eq!((p.number, p.state.as_ref().map(|s| &s.value)), (2, Some(&PortState::Down)));
        assert_eq!((p.rate_gbps, p.sm_lid), (Some(At::new(2.5, 16)), None));
        assert_eq!(c[0].ports[0].base_lid, Some(At::new(12, 10)));
    }

    #[test]
    fn ibstatus() {
        let c = parse(
            b"Infiniband device 'mlx5_0' port 1 status:\n\tdefault gid:\t fe80:0000:0000:0000:0000:0000:0000:0001\n\tbase lid:\t 0x1f\n\tsm lid:\t\t 0x1\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n\trate:\t\t 400 Gb/sec (4X NDR)\n\tlink_layer:\t InfiniBand\n",
        );
        let p = &c[0].ports[0];
        assert_eq!(p.state.as_ref().map(|s| &s.value), Some(&PortState::Active));
        assert_eq!(p.physical_state.as_ref().map(At::as_str), Some("LinkUp"));
        assert_eq!((p.base_lid.map(|l| l.value), p.rate_gbps.map(|r| r.value)), (Some(31), Some(400.0)));
        assert_eq!(p.link_layer.as_ref().map(|l| &l.value), Some(&LinkLayer::InfiniBand));
        assert!(p.default_gid.is_some());
    }
}
