//! The table that `nvidia-smi` prints without arguments.

use crate::bounds::{GPUS, LeftOut, Limit, leave_out};
use crate::pci::Bdf;
use crate::text::{At, decode, leading_number, lines};
use serde::Serialize;

/// What the table shows of the node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Table {
    /// `Driver Version:`, since 590 `KMD Version:`.
    pub driver_version: Option<At<String>>,
    /// `CUDA Version:`, since 590 `CUDA UMD Version:`.
    pub cuda_version: Option<At<String>>,
    /// GPUs in the order of the table.
    pub gpus: Vec<TableGpu>,
    /// GPUs beyond the limit.
    pub left_out: Vec<LeftOut>,
}

/// One GPU of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableGpu {
    /// 1-based line.
    pub line: u32,
    /// Number in the table.
    pub index: u32,
    /// Product name; long ones are cut by the tool and end in `...`.
    pub name: String,
    /// Address.
    pub bdf: Bdf,
    /// Memory in MiB, from the row below.
    pub memory_total_mib: Option<At<u64>>,
}

/// Parses the table.
pub fn parse_table(bytes: &[u8]) -> Table {
    let text = decode(bytes);
    let mut out = Table::default();
    for (line, raw) in lines(&text) {
        let after = |keys: &[&str]| {
            let rest = keys.iter().find_map(|k| raw.split_once(k)).map(|(_, r)| r)?;
            let word = rest.split_whitespace().next().filter(|w| *w != "|" && *w != "N/A")?;
            Some(At::new(word.to_owned(), line))
        };
        if raw.contains("NVIDIA-SMI") {
            out.driver_version = out.driver_version.or_else(|| after(&["Driver Version:", "KMD Version:"]));
            out.cuda_version = out.cuda_version.or_else(|| after(&["CUDA Version:", "CUDA UMD Version:"]));
        }
        let cells: Vec<&str> = raw.split('|').map(str::trim).take(8).collect();
        if let Some(gpu) = gpu(&cells, line) {
            if out.gpus.len() < GPUS {
                out.gpus.push(gpu);
            } else {
                leave_out(&mut out.left_out, Limit::GPUS, line);
            }
        } else if let (Some(last), Some(memory)) = (out.gpus.last_mut(), cells.iter().find_map(|c| memory_total(c))) {
            last.memory_total_mib.get_or_insert(At::new(memory, line));
        }
    }
    out
}

/// `|   0  Tesla K80           On   | 0000:00:04.0     Off |`
fn gpu(cells: &[&str], line: u32) -> Option<TableGpu> {
    let ["", left, right, ..] = cells else { return None };
    let bdf = right.split_whitespace().next()?.parse().ok()?;
    let (index, rest) = left.split_once(char::is_whitespace)?;
    let index = index.parse().ok()?;
    // The last word is the persistence mode.
    let name = rest.trim().rsplit_once(char::is_whitespace).filter(|(_, m)| matches!(*m, "On" | "Off" | "N/A"));
    let name = name.map_or(rest.trim(), |(n, _)| n.trim()).to_owned();
    Some(TableGpu { line, index, name, bdf, memory_total_mib: None })
}

/// `15MiB / 11439MiB`
fn memory_total(cell: &str) -> Option<u64> {
    let (used, total) = cell.split_once('/')?;
    (used.trim().ends_with("MiB") && total.trim().ends_with("MiB")).then(|| leading_number(total)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_headers() {
        let t = parse_table(
            b"| NVIDIA-SMI 595.58.03    KMD Version: 595.58.03    CUDA UMD Version: 13.2     |\n\
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |\n\
| N/A   30C    P0             62W /  400W |     100MiB /  81920MiB |      0%      Default |\n",
        );
        assert_eq!(t.driver_version, Some(At::new("595.58.03".into(), 1)));
        assert_eq!(t.cuda_version, Some(At::new("13.2".into(), 1)));
        assert_eq!((t.gpus[0].name.as_str(), t.gpus[0].bdf.bus), ("NVIDIA A100-SXM4-80GB", 7));
        assert_eq!(t.gpus[0].memory_total_mib, Some(At::new(81_920, 3)));
        let t = parse_table(b"| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: N/A      |\n");
        assert_eq!((t.driver_version.map(|v| v.value).as_deref(), t.cuda_version), (Some("450.80.02"), None));
    }
}
