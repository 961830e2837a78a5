//! `ibv_devinfo`, plain and `-v`. Only keys count, so text that lost its indentation reads the same.

use crate::bounds::{Kept, Limit, NET_FUNCTIONS, TEXT_ITEMS, leave_out};
use crate::gid::Gid;
use crate::ib_port::{LinkLayer, PortState};
use crate::text::{At, decode, leading_number, lines, number, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `ibv_devinfo`.
pub const TOOL: Tool = Tool {
    name: "ibv-devinfo",
    called: "ibv_devinfo",
    run: "ibv_devinfo -v",
    gives: Gives::Facts,
    marks: &[
        Mark::beginning(&["hca_id:"]),
        Mark::line_with(|l| l == "Failed to open device", "hca_id:").begins(&["Failed to open device"]),
    ],
    commands: &[Command::any("ibv_devinfo")],
    files: &["ibv_devinfo"],
    read: Some(|b| seen(parse(b))),
    samples: &["hca_id:\tmlx5_0\n"],
    once: true,
    ..Tool::NONE
};

/// An RDMA device.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Hca {
    /// `hca_id`.
    pub name: String,
    /// 1-based line.
    pub line: u32,
    /// `transport` as printed.
    pub transport: Option<At<String>>,
    /// `fw_ver`.
    pub firmware: Option<At<String>>,
    /// `node_guid` as printed.
    pub node_guid: Option<At<String>>,
    /// `sys_image_guid`: equal for the functions of one card.
    pub sys_image_guid: Option<At<String>>,
    /// `vendor_id`, 0x02c9 for Mellanox.
    pub vendor_id: Option<At<u64>>,
    /// `vendor_part_id`: the PCI device id in decimal, e.g. 4129.
    pub vendor_part_id: Option<At<u64>>,
    /// `board_id`: the PSID.
    pub board_id: Option<At<String>>,
    /// `phys_port_cnt`.
    pub port_count: Option<At<u64>>,
    /// Ports in the order of the text.
    pub ports: Vec<HcaPort>,
}

/// A port of a device.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct HcaPort {
    /// Port number, from 1.
    pub number: u32,
    /// 1-based line.
    pub line: u32,
    /// Logical state.
    pub state: Option<At<PortState>>,
    /// `max_mtu` in bytes.
    pub max_mtu: Option<At<u32>>,
    /// `active_mtu` in bytes.
    pub active_mtu: Option<At<u32>>,
    /// `sm_lid`.
    pub sm_lid: Option<At<u64>>,
    /// `port_lid`.
    pub port_lid: Option<At<u64>>,
    /// `link_layer`.
    pub link_layer: Option<At<LinkLayer>>,
    /// `active_width` in lanes (`4X (2)` is 4); only with `-v`.
    pub active_width: Option<At<u32>>,
    /// `active_speed` of a lane in Gb/s; only with `-v`.
    pub active_speed_gbps: Option<At<f64>>,
    /// GID table; only with `-v`.
    pub gids: Vec<GidEntry>,
}

/// An entry of the GID table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GidEntry {
    /// Index in the table.
    pub index: u32,
    /// The GID.
    pub gid: Gid,
    /// Type as printed: `RoCE v1`, `IB/RoCE v1`, `RoCE v2`; older tools print none.
    pub kind: Option<String>,
    /// 1-based line.
    pub line: u32,
}

/// What it says of devices that it cannot show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Refused {
    /// Devices that could not be opened (libibverbs/examples/devinfo.c, `print_hca_cap`). Their names are not printed.
    pub devices: u32,
    /// The first such line, 1-based; 0 where there is none.
    pub line: u32,
    /// The line that says that there is no device, 1-based.
    pub none: Option<u32>,
}

/// Reads those lines.
pub fn refused(bytes: &[u8]) -> Refused {
    let text = decode(bytes);
    let mut out = Refused::default();
    for (line, raw) in lines(&text) {
        match raw.trim() {
            "Failed to open device" => {
                out.line = if out.devices == 0 { line } else { out.line };
                out.devices = out.devices.saturating_add(1);
            }
            "No IB devices found" => out.none = out.none.or(Some(line)),
            _ => {}
        }
    }
    out
}

/// The adapters of [`read`].
pub fn parse(bytes: &[u8]) -> Vec<Hca> {
    read(bytes).items
}

/// Reads the output.
pub fn read(bytes: &[u8]) -> Kept<Hca> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    let out: &mut Vec<Hca> = &mut kept.items;
    let mut items = 0;
    let mut full = false;
    for (line, raw) in lines(&text) {
        let Some((key, value)) = split_key(raw, ':') else { continue };
        if key == "hca_id" && out.len() >= NET_FUNCTIONS {
            full = true;
            leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
        }
        if full {
            continue;
        }
        if items >= TEXT_ITEMS {
            leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line);
            continue;
        }
        if key == "hca_id" {
            items += 1;
            out.push(Hca { name: value.to_owned(), line, ..Hca::default() });
            continue;
        }
        let Some(hca) = out.last_mut() else { continue };
        if key == "port" {
            if let Some(n) = leading_number(value) {
                items += 1;
                hca.ports.push(HcaPort { number: n, line, ..HcaPort::default() });
            }
            continue;
        }
        let text = || (!value.is_empty()).then(|| At::new(value.to_owned(), line));
        let num = || number(value).map(|n| At::new(n, line));
        match hca.ports.last_mut() {
            Some(port) => set_port(port, key, value, line),
            None => match key {
                "transport" => hca.transport = text(),
                "fw_ver" => hca.firmware = text(),
                "node_guid" => hca.node_guid = text(),
                "sys_image_guid" => hca.sys_image_guid = text(),
                "vendor_id" => hca.vendor_id = num(),
                "vendor_part_id" => hca.vendor_part_id = num(),
                "board_id" => hca.board_id = text(),
                "phys_port_cnt" => hca.port_count = num(),
                _ => {}
            },
        }
    }
    kept
}

fn set_port(port: &mut HcaPort, key: &str, value: &str, line: u32) {
    match key {
        "state" => port.state = Some(At::new(PortState::new(value), line)),
        "max_mtu" => port.max_mtu = leading_number(value).map(|n| At::new(n, line)),
        "active_mtu" => port.active_mtu = leading_number(value).map(|n| At::new(n, line)),
        "sm_lid" => port.sm_lid = number(value).map(|n| At::new(n, line)),
        "port_lid" => port.port_lid = number(value).map(|n| At::new(n, line)),
        "link_layer" => port.link_layer = Some(At::new(LinkLayer::new(value), line)),
        "active_width" => port.active_width = leading_number(value).map(|n| At::new(n, line)),
        "active_speed" => {
            let speed = value.split_whitespace().next().and_then(|w| w.parse().ok());
            port.active_speed_gbps = speed.filter(|s: &f64| s.is_finite()).map(|s| At::new(s, line));
        }
        key => {
            let index = key.strip_prefix("GID[").and_then(|k| k.strip_suffix(']')).and_then(|n| n.trim().parse().ok());
            let (gid, kind) = value.split_once(',').map_or((value, None), |(g, k)| (g, Some(k.trim().to_owned())));
            if let (Some(index), Ok(gid)) = (index, gid.parse()) {
                port.gids.push(GidEntry { index, gid, kind, line });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gid::GidClass;

    #[test]
    fn devices_that_cannot_be_opened_are_counted() {
        let text = "$ ibv_devinfo\nFailed to open device\nhca_id: mlx5_0\n\tport: 1\nFailed to open device\n";
        assert_eq!(refused(text.as_bytes()), Refused { devices: 2, line: 2, none: None });
        assert_eq!(parse(text.as_bytes()).len(), 1);
        assert_eq!(refused(b"$ ibv_devinfo\nNo IB devices found\n").none, Some(2));
        assert_eq!(refused(b"It says: Failed to open device\n"), Refused::default());
    }

    #[test]
    fn verbose_and_flat() {
        let h = parse(
            b"# ibv_devinfo -v\nhca_id: mlx5_0\ntransport: InfiniBand (0)\nfw_ver: 28.39.1002\nvendor_id: 0x02c9\nvendor_part_id: 4129\nmax_mr_size: 0xffffffffffffffff\nport: 1\nstate: PORT_ACTIVE (4)\nactive_mtu: 4096 (5)\nlink_layer: Ethernet\nactive_width: 4X (2)\nactive_speed: 100.0 Gbps (128)\nGID[  0]: fe80:0000:0000:0000:0000:0000:0000:0001, RoCE v1\nGID[  3]: ::ffff:10.0.0.1, RoCE v2\n",
        );
        assert_eq!(h[0].vendor_part_id.map(|v| v.value), Some(4129));
        let p = &h[0].ports[0];
        assert_eq!((p.active_mtu, p.active_width.map(|w| w.value)), (Some(At::new(4096, 10)), Some(4)));
        assert_eq!(p.active_speed_gbps.map(|s| s.value), Some(100.0));
        assert_eq!((p.gids[1].index, p.gids[1].kind.as_deref(), p.gids[1].line), (3, Some("RoCE v2"), 15));
        assert!(matches!(p.gids[1].gid.class(), GidClass::Ipv4Mapped(_)));
    }
}
