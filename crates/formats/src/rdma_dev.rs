//! `rdma dev`: RDMA devices with their firmware and GUIDs, as text and as JSON; `ibv_devices`: their names and GUIDs; and `cma_roce_mode`.

use crate::bounds::{Kept, Limit, NET_FUNCTIONS, leave_out};
use crate::rdma_json::objects;
use crate::text::{At, decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `rdma dev`.
pub const TOOL: Tool = Tool {
    name: "rdma-dev",
    called: "rdma dev",
    run: "rdma dev",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| text_device(l, 0).is_some()).holds(&[": node_type "]),
        Mark::json(|text| {
            !text.trim_start().starts_with('{') && text.contains("\"ifname\"") && text.contains("\"node_type\"")
        }),
    ],
    commands: &[Command::with("rdma", &["dev"])],
    files: &["rdma-dev", "rdma_dev"],
    documents: &["rdma-dev", "rdma_dev"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "0: mlx5_0: node_type ca protocol roce fw 28.43.2026 node_guid 0200:00ff:fe00:0001 sys_image_guid 0200:00ff:fe00:0001\n",
        "[{\"ifindex\":0,\"ifname\":\"mlx5_0\",\"node_type\":\"ca\",\"fw\":\"28.43.2026\"}]",
    ],
    once: true,
    ..Tool::NONE
};

/// `cma_roce_mode`: the answer is one line that others print, too, so only its command line shows it.
pub const CMA: Tool = Tool {
    name: "cma-roce-mode",
    called: "cma_roce_mode",
    run: "cma_roce_mode -d mlx5_0 -p 1",
    gives: Gives::NoFacts("the version of RoCE that the connection manager uses, which no check reads"),
    commands: &[Command::any("cma_roce_mode")],
    files: &["cma_roce_mode"],
    read: Some(|b| seen(parse_cma(b))),
    samples: &["# cma_roce_mode -d mlx5_0 -p 1\nRoCE v2\n"],
    ..Tool::NONE
};

/// `ibv_devices`.
pub const LIST: Tool = Tool {
    name: "ibv-devices",
    called: "ibv_devices",
    run: "ibv_devices",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| l.split_whitespace().eq(["device", "node", "GUID"])).begins(&["device"])],
    commands: &[Command::any("ibv_devices")],
    files: &["ibv_devices", "ibv-devices"],
    read: Some(|b| seen(read_list(b))),
    samples: &[
        "    device                 node GUID\n    ------              ----------------\n    mlx5_0              020000fffe000001\n",
    ],
    once: true,
    ..Tool::NONE
};

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RdmaDev {
    /// 1-based line.
    pub line: u32,
    /// Name.
    pub name: String,
    /// `ib`, `roce`, `iwarp`; older versions do not print it.
    pub protocol: Option<String>,
    /// Firmware.
    pub firmware: Option<String>,
    /// GUID of the device.
    pub node_guid: Option<String>,
    /// GUID of the card.
    pub sys_image_guid: Option<String>,
}

/// Reads either form. A JSON document that is cut shows nothing.
pub fn read(bytes: &[u8]) -> Kept<RdmaDev> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    let mut push = |d: RdmaDev| {
        if kept.items.len() >= NET_FUNCTIONS {
            leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, d.line);
        } else {
            kept.items.push(d);
        }
    };
    if text.lines().any(|l| l.trim_start().starts_with("[{") || l.trim_start().starts_with("[ {") || l.trim() == "[") {
        for (line, o) in objects(&text).unwrap_or_default() {
            let word = |k: &str| o.get(k).and_then(|v| v.as_str()).map(str::to_owned);
            let (Some(name), Some(_)) = (word("ifname"), word("node_type")) else { continue };
            let (firmware, protocol) = (word("fw"), word("protocol"));
            push(RdmaDev {
                line,
                name,
                protocol,
                firmware,
                node_guid: word("node_guid"),
                sys_image_guid: word("sys_image_guid"),
            });
        }
        return kept;
    }
    lines(&text)
        .filter_map(|(line, raw)| text_device(raw.trim_start_matches(['>', ' ', '\t']), line))
        .for_each(&mut push);
    kept
}

/// Reads `ibv_devices`: below its head a name and the 16 digits of a GUID.
pub fn read_list(bytes: &[u8]) -> Kept<RdmaDev> {
    let (text, mut kept) = (decode(bytes), Kept::default());
    for (line, raw) in lines(&text) {
        let mut words = raw.split_whitespace();
        let (Some(name), Some(guid), None) = (words.next(), words.next(), words.next()) else { continue };
        if guid.len() != 16 || !guid.bytes().all(|b| b.is_ascii_hexdigit()) {
            continue;
        }
        if kept.items.len() >= NET_FUNCTIONS {
            leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
            break;
        }
        // As sysfs writes it.
        let groups: Vec<&str> = (0..16).step_by(4).filter_map(|at| guid.get(at..at + 4)).collect();
        kept.items.push(RdmaDev {
            line,
            name: name.to_owned(),
            node_guid: Some(groups.join(":")),
            ..RdmaDev::default()
        });
    }
    kept
}

/// `0: mlx5_0: node_type ca protocol roce fw 28.43.2026 node_guid … sys_image_guid …`.
fn text_device(line: &str, number: u32) -> Option<RdmaDev> {
    let (index, rest) = line.split_once(": ")?;
    index.parse::<u32>().ok()?;
    let (name, rest) = rest.split_once(": node_type ")?;
    let words: Vec<&str> = rest.split_whitespace().take(32).collect();
    // The last word may be cut; the line ends with a space or another word.
    let after = |k: &str| words.iter().position(|w| *w == k).and_then(|i| words.get(i + 1)).map(|w| (*w).to_owned());
    let guid = |k: &str| after(k).filter(|g| g.len() == 19);
    (!name.contains(' ')).then(|| RdmaDev {
        line: number,
        name: name.to_owned(),
        protocol: after("protocol"),
        firmware: after("fw").filter(|_| words.contains(&"node_guid")),
        node_guid: guid("node_guid"),
        sys_image_guid: guid("sys_image_guid"),
    })
}

/// The answers of `cma_roce_mode`: `RoCE v2`, `IB/RoCE v1`.
pub fn parse_cma(bytes: &[u8]) -> Option<At<String>> {
    let text = decode(bytes);
    lines(&text)
        .map(|(line, raw)| (line, raw.trim()))
        .find(|(_, l)| matches!(*l, "RoCE v2" | "IB/RoCE v1" | "RoCE v1"))
        .map(|(line, l)| At::new(l.to_owned(), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_ibv_devices() {
        let text = "# ibv_devices\n    device                 node GUID\n    ------              ----------------\n    mlx5_0              020000fffe000001\n    mlx5_bond_0         020000fffe00000g\nmlx5_2 020000fffe000002\n";
        let kept = read_list(text.as_bytes());
        let [a, b] = kept.items.as_slice() else { panic!("{kept:?}") };
        assert_eq!((a.name.as_str(), a.line, a.node_guid.as_deref()), ("mlx5_0", 4, Some("0200:00ff:fe00:0001")));
        assert_eq!((b.name.as_str(), b.line), ("mlx5_2", 6));
    }

    #[test]
    fn devices_in_both_forms() {
        let guid = "0200:00ff:fe00:0001";
        let text = format!(
            "# rdma dev\n0: mlx5_0: node_type ca protocol roce fw 28.43.2026 node_guid {guid} sys_image_guid {guid} \n1: mlx5_1: node_type ca fw 28.4"
        );
        let kept = read(text.as_bytes());
        let [a, b] = kept.items.as_slice() else { panic!("{kept:?}") };
        assert_eq!((a.name.as_str(), a.line, a.firmware.as_deref()), ("mlx5_0", 2, Some("28.43.2026")));
        assert_eq!((a.node_guid.as_deref(), a.protocol.as_deref()), (Some(guid), Some("roce")));
        assert_eq!((b.name.as_str(), b.firmware.as_deref()), ("mlx5_1", None), "a line that is cut");
        let json = TOOL.samples.last().map(|s| read(s.as_bytes()).items).unwrap_or_default();
        assert_eq!(
            json.first().map(|d| (d.name.as_str(), d.firmware.as_deref())),
            Some(("mlx5_0", Some("28.43.2026")))
        );
        assert_eq!(parse_cma(b"# cma_roce_mode -d mlx5_0\nRoCE v2\n"), Some(At::new("RoCE v2".into(), 2)));
        assert_eq!(parse_cma(b"RoCE v2 is the default\n"), None);
    }
}
