//! `ibdev2netdev` and `ibdev2netdev -v`.

use crate::bounds::TEXT_ITEMS;
use crate::pci::Bdf;
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `ibdev2netdev`.
pub const TOOL: Tool = Tool {
    name: "ibdev2netdev",
    called: "ibdev2netdev",
    run: "ibdev2netdev",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| l.contains("==>") && l.contains(" port ") && !l.contains(")==>")).holds(&["==>"])],
    commands: &[Command::any("ibdev2netdev")],
    files: &["ibdev2netdev"],
    read: Some(|b| seen(parse(b))),
    samples: &["mlx5_0 port 1 ==> ib0 (Up)\n"],
    once: true,
    ..Tool::NONE
};

/// One mapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IbNetdev {
    /// 1-based line.
    pub line: u32,
    /// RDMA device.
    pub device: String,
    /// Port.
    pub port: u32,
    /// Network interface.
    pub netdev: String,
    /// `Up` or `Down`, of the network interface.
    pub state: Option<String>,
    /// PCI address; only with `-v`.
    pub bdf: Option<Bdf>,
}

/// Parses the lines with an arrow; others are ignored.
pub fn parse(bytes: &[u8]) -> Vec<IbNetdev> {
    let text = decode(bytes);
    lines(&text).filter_map(|(line, raw)| mapping(raw, line)).take(TEXT_ITEMS).collect()
}

/// `mlx5_0 port 1 ==> ib0 (Up)`; with `-v` the address comes first and a description comes before `port`.
fn mapping(raw: &str, line: u32) -> Option<IbNetdev> {
    let (left, right) = raw.split_once("==>")?;
    let words: Vec<&str> = left.split_whitespace().collect();
    let at = words.iter().rposition(|w| *w == "port")?;
    let port = words.get(at + 1)?.parse().ok()?;
    let bdf: Option<Bdf> = words.first()?.parse().ok();
    let device = words.get(usize::from(bdf.is_some())).filter(|w| **w != "port")?;
    let mut after = right.split_whitespace();
    let netdev = after.next()?.to_owned();
    let state = after.next().and_then(|s| s.strip_prefix('(')?.strip_suffix(')')).map(str::to_owned);
    Some(IbNetdev { line, device: (*device).to_owned(), port, netdev, state, bdf })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_verbose() {
        let m = parse(
            b"# ibdev2netdev -v\nmlx5_0 port 1 ==> ib0 (Up)\n0000:41:00.0 mlx5_1 (MT4129 - MCX75310AAS-NEAT) ConnectX-7 OSFP fw 28.39.1002 port 1 (DOWN  ) ==> ibs1 (Down)\n",
        );
        assert_eq!(
            (m[0].device.as_str(), m[0].netdev.as_str(), m[0].state.as_deref(), m[0].line),
            ("mlx5_0", "ib0", Some("Up"), 2)
        );
        assert_eq!(
            (m[1].device.as_str(), m[1].bdf.map(|b| b.bus), m[1].state.as_deref()),
            ("mlx5_1", Some(0x41), Some("Down"))
        );
        assert!(parse(b"port 1 ==>\nx ==> y\n").is_empty());
    }
}
