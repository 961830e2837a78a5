//! `show_gids` (Mellanox/mlnx-tools, ofed_scripts/show_gids): the GID tables of all RDMA ports, without unused entries.

use crate::bounds::{Kept, Limit, TEXT_ITEMS, leave_out};
use crate::gid::Gid;
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;
use std::net::Ipv4Addr;

/// `show_gids`.
pub const TOOL: Tool = Tool {
    name: "show-gids",
    called: "show_gids",
    run: "show_gids",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| is_head(l) || found(l).is_some()).begins(&["DEV", "n_gids_found="])],
    commands: &[Command::any("show_gids")],
    files: &["show_gids", "show-gids"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\nmlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1  \tv2\teth2\nn_gids_found=1\n",
        "mlx5_0  1   0   fe80:0000:0000:0000:0000:00ff:fe00:0001         v1   eth2\nn_gids_found=1\n",
    ],
    once: true,
    ..Tool::NONE
};

/// RoCE's version, which the script cuts out of the kernel's words `IB/RoCE v1` and `RoCE v2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Version {
    /// `v1`, which an InfiniBand port shows, too.
    V1,
    /// `v2`.
    V2,
}

/// An entry of a port's table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// 1-based line.
    pub line: u32,
    /// RDMA device.
    pub device: String,
    /// Port.
    pub port: u32,
    /// Index in the table.
    pub index: u32,
    /// The GID.
    pub gid: Gid,
    /// `None`: the kernel does not say it.
    pub version: Option<Version>,
    /// Network interface; `None`: the kernel names none.
    pub netdev: Option<String>,
}

/// The whole output.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Gids {
    /// The entries, and what of them was left out.
    pub entries: Kept<Entry>,
    /// Whether the table's head is there, once.
    pub headed: bool,
    /// How many entries its last line counts; `None`: the text does not end there.
    pub found: Option<u64>,
}

impl Gids {
    /// Whether every entry that the text counts is in it: the tables are shown to their ends.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let n = self.entries.items.len() as u64;
        self.headed && self.entries.left_out.is_empty() && self.found == Some(n)
    }
}

/// Parses the lines that it knows; others are ignored.
pub fn parse(bytes: &[u8]) -> Gids {
    let text = decode(bytes);
    let mut out = Gids::default();
    let (mut heads, mut ends) = (0_u32, 0_u32);
    for (line, raw) in lines(&text) {
        if is_head(raw) {
            heads = heads.saturating_add(1);
        } else if let Some(n) = found(raw) {
            ends = ends.saturating_add(1);
            out.found = Some(n);
        } else if let Some(entry) = entry(raw, line) {
            if out.entries.items.len() < TEXT_ITEMS {
                out.entries.items.push(entry);
            } else {
                leave_out(&mut out.entries.left_out, Limit::TEXT_ITEMS, line);
            }
        }
    }
    out.headed = heads == 1;
    // A second output is another node's, or another moment's.
    out.found = out.found.filter(|_| ends == 1);
    out
}

fn is_head(line: &str) -> bool {
    line.split_whitespace().eq(["DEV", "PORT", "INDEX", "GID", "IPv4", "VER", "DEV"])
}

/// `n_gids_found=4`
fn found(line: &str) -> Option<u64> {
    let n = line.trim().strip_prefix("n_gids_found=")?;
    n.bytes().all(|b| b.is_ascii_digit()).then(|| n.parse().ok()).flatten()
}

/// Device, port, index, GID, its IPv4 address where it has one, version, interface. The last three may be missing; tabs become spaces
/// on the way through terminals, so that columns cannot be counted.
fn entry(raw: &str, line: u32) -> Option<Entry> {
    let mut words = raw.split_whitespace().peekable();
    let device = words.next()?.to_owned();
    let number = |word: &str| word.bytes().all(|b| b.is_ascii_digit()).then(|| word.parse().ok()).flatten();
    let (port, index) = (number(words.next()?)?, number(words.next()?)?);
    let gid = words.next()?.parse().ok()?;
    let _address = words.next_if(|w| w.parse::<Ipv4Addr>().is_ok());
    let version = match words.peek() {
        Some(&("v1" | "V1")) => Some(Version::V1),
        Some(&("v2" | "V2")) => Some(Version::V2),
        _ => None,
    };
    if version.is_some() {
        words.next();
    }
    let netdev = words.next().map(str::to_owned);
    words.next().is_none().then_some(Entry { line, device, port, index, gid, version, netdev })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n";
    const ROWS: &str = "mlx5_0\t1\t0\tfe80:0000:0000:0000:0000:00ff:fe00:0001\t\t\tv1\teth2\n\
        mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1  \tv2\teth2\n\
        mlx5_1\t1\t0\tfe80:0000:0000:0000:0000:00ff:fe00:0002\t\t\tv1\n";

    #[test]
    fn rows_with_and_without_address_version_and_interface() {
        let g = parse(
            format!("{HEAD}{ROWS}mlx5_2\t1\t0\tfe80:0000:0000:0000:0000:00ff:fe00:0003\t\t\t\t\n\nn_gids_found=4\n")
                .as_bytes(),
        );
        let seen: Vec<_> = g.entries.items.iter().map(|e| (e.index, e.version, e.netdev.as_deref(), e.line)).collect();
        assert_eq!(
            seen,
            [
                (0, Some(Version::V1), Some("eth2"), 3),
                (3, Some(Version::V2), Some("eth2"), 4),
                (0, Some(Version::V1), None, 5),
                (0, None, None, 6)
            ]
        );
        assert_eq!(g.entries.items[1].gid.to_string(), "0000:0000:0000:0000:0000:ffff:0a00:0001");
        assert!(g.is_whole());
    }

    #[test]
    fn what_is_cut_or_twice_there_is_not_whole() {
        for text in [
            String::new(),
            format!("{HEAD}{ROWS}"),
            format!("{ROWS}n_gids_found=3\n"),
            format!("{HEAD}{ROWS}n_gids_found=4\n"),
            format!("{HEAD}{ROWS}n_gids_found=\n"),
            format!("{HEAD}{ROWS}n_gids_found=3\n{HEAD}{ROWS}n_gids_found=3\n"),
            format!("{HEAD}{}n_gids_found=3\n", ROWS.replace("fe80", "xx80")),
        ] {
            assert!(!parse(text.as_bytes()).is_whole(), "{text}");
        }
        assert!(parse(format!("{HEAD}{ROWS}n_gids_found=3\n").as_bytes()).is_whole());
        assert!(parse(format!("{HEAD}\nn_gids_found=0\n").as_bytes()).is_whole());
    }

    #[test]
    fn other_lines_are_no_entries() {
        let prose = "mlx5_0 1 3 is the index\nmlx5_0 1 -1 ::1 v2 eth0\nmlx5_0 1 3 ::1 v2 eth0 and more\n---\t----\t-----\t---\n";
        assert_eq!(parse(prose.as_bytes()).entries.items, []);
    }

    #[test]
    fn what_is_beyond_the_limit_is_counted() {
        let row = "mlx5_0\t1\t0\tfe80::1\t\t\tv1\teth2\n";
        let n = TEXT_ITEMS + 2;
        let g = parse(format!("{HEAD}{}n_gids_found={n}\n", row.repeat(n)).as_bytes());
        assert_eq!((g.entries.items.len(), g.entries.left_out[0].count, g.is_whole()), (TEXT_ITEMS, 2, false));
    }
}
