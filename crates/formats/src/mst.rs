//! `mst status -v` of NVIDIA's firmware tools: NICs with their PCI functions, RDMA devices, interfaces and NUMA nodes.

use crate::bounds::{Kept, Limit, NET_FUNCTIONS, leave_out};
use crate::pci::Bdf;
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `mst status`.
pub const TOOL: Tool = Tool {
    name: "mst-status",
    called: "mst status",
    run: "mst status -v",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| l == "MST modules:" || is_head(l)).begins(&["MST modules:", "DEVICE_TYPE"])],
    commands: &[Command::with("mst", &["status"])],
    files: &["mst_status", "mst-status"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "DEVICE_TYPE             MST                           PCI       RDMA            NET                       NUMA\nConnectX7(rev:0)        /dev/mst/mt4129_pciconf0      19:00.0   mlx5_0          net-ens1np0               0\n",
    ],
    once: true,
    ..Tool::NONE
};

/// A function of a NIC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// 1-based line.
    pub line: u32,
    /// `ConnectX7`.
    pub kind: String,
    /// PCI function.
    pub bdf: Bdf,
    /// RDMA device. `None`: its driver made none.
    pub rdma: Option<String>,
    /// Interfaces, without the `net-` in front.
    pub netdevs: Vec<String>,
    /// NUMA node. `None`: the kernel knows none.
    pub numa: Option<u32>,
}

fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("DEVICE_TYPE") && words.next() == Some("MST") && words.next() == Some("PCI")
}

/// Reads the table that `-v` adds; without it no device has an RDMA device beside it, and there is nothing to join.
pub fn read(bytes: &[u8]) -> Kept<Device> {
    let (text, mut kept) = (decode(bytes), Kept::default());
    let mut is_below_head = false;
    for (line, raw) in lines(&text) {
        if is_head(raw) {
            is_below_head = true;
        } else if let Some(device) = device(raw, line).filter(|_| is_below_head) {
            if kept.items.len() >= NET_FUNCTIONS {
                leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
                break;
            }
            kept.items.push(device);
        }
    }
    kept
}

/// A row. Cells may be empty: each is known by its form.
fn device(raw: &str, line: u32) -> Option<Device> {
    let mut words = raw.split_whitespace();
    let kind = words.next()?;
    let kind = kind.split_once('(').map_or(kind, |(k, _)| k).to_owned();
    words.next().filter(|mst| mst.starts_with("/dev/mst/") || *mst == "NA")?;
    let bdf = words.next()?.parse().ok()?;
    let mut device = Device { line, kind, bdf, rdma: None, netdevs: Vec::new(), numa: None };
    for word in words.take(16) {
        if let Some(net) = word.strip_prefix("net-") {
            device.netdevs.push(net.trim_end_matches(',').to_owned());
        } else if let Ok(node) = word.parse::<i32>() {
            device.numa = u32::try_from(node).ok();
        } else if device.rdma.is_none() && device.netdevs.is_empty() && word != "NA" {
            device.rdma = Some(word.to_owned());
        }
    }
    Some(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cell_is_known_by_its_form() {
        let text = "MST modules:\n------------\n    MST PCI module is not loaded\n\nPCI devices:\n------------\n\
            DEVICE_TYPE             MST                           PCI       RDMA            NET                       NUMA\n\
            ConnectX7(rev:0)        /dev/mst/mt4129_pciconf0      0000:ec:00.0   mlx5_4   net-ens1np0  1\n\
            ConnectX6DX(rev:0)      /dev/mst/mt4125_pciconf0.1    21:00.1                 net-eth2     -1\n\
            BlueField3(rev:1)       /dev/mst/mt41692_pciconf0     d4:00.0   mlx5_6\n\
            NVSwitch                not a row\n";
        let kept = read(text.as_bytes());
        let got: Vec<_> = kept
            .items
            .iter()
            .map(|d| (d.line, d.kind.as_str(), d.bdf.to_string(), d.rdma.as_deref(), d.netdevs.join(","), d.numa))
            .collect();
        assert_eq!(
            got,
            [
                (8, "ConnectX7", "0000:ec:00.0".to_owned(), Some("mlx5_4"), "ens1np0".to_owned(), Some(1)),
                (9, "ConnectX6DX", "0000:21:00.1".to_owned(), None, "eth2".to_owned(), None),
                (10, "BlueField3", "0000:d4:00.0".to_owned(), Some("mlx5_6"), String::new(), None),
            ]
        );
    }
}
