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
    /// GPUs that give no answer.
    pub silent: Vec<SilentGpu>,
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
    /// Persistence mode: `On`, `Off`, `N/A`.
    pub persistence: Option<String>,
    /// `Volatile Uncorr. ECC`: errors since the driver was loaded; `Off` where errors are not corrected, `N/A` where they cannot be.
    pub ecc_uncorrected: Option<String>,
    /// Memory in MiB, from the row below.
    pub memory_total_mib: Option<At<u64>>,
    /// `MIG M.`, from the third row: `Enabled`, `Disabled`, `N/A`. Old drivers have no such row.
    pub mig_mode: Option<At<String>>,
}

/// A GPU that the tool cannot ask: `Unable to determine the device handle for GPU 0000:03:00.0: GPU is lost.  Reboot the system to recover this GPU`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SilentGpu {
    /// 1-based line.
    pub line: u32,
    /// Address.
    pub bdf: Bdf,
    /// NVML's words for its error: `GPU is lost`, `Unknown Error`.
    pub error: String,
}

impl SilentGpu {
    /// NVML_ERROR_GPU_IS_LOST: it fell off the bus or cannot be reached otherwise (nvml.h). Other errors may have other reasons.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.error == "GPU is lost"
    }
}

/// What the line of a [`SilentGpu`] begins with.
pub const SILENT: &str = "Unable to determine the device handle for GPU";

/// Reads the line of a [`SilentGpu`]: `… GPU 0000:03:00.0: Unknown Error`; since 570 `… GPU0: 0000:03:00.0: Unknown Error`.
#[must_use]
pub fn silent(line: &str, number: u32) -> Option<SilentGpu> {
    let rest = line.strip_prefix(SILENT)?;
    let mut parts = rest.split(": ");
    let bdf = parts.by_ref().take(2).find_map(|p| p.trim().parse().ok())?;
    let said = parts.next()?.trim();
    let error = said.split_once('.').map_or(said, |(first, _)| first);
    (error.len() <= 64).then(|| SilentGpu { line: number, bdf, error: error.to_owned() })
}

impl TableGpu {
    /// Whether memory errors are corrected, in the words of `nvidia-smi -q`.
    #[must_use]
    pub fn ecc_mode(&self) -> Option<&'static str> {
        match self.ecc_uncorrected.as_deref()? {
            "Off" => Some("Disabled"),
            "N/A" => Some("N/A"),
            errors => errors.bytes().all(|b| b.is_ascii_digit()).then_some("Enabled"),
        }
    }

    /// The product's name, where the tool did not cut it.
    #[must_use]
    pub fn whole_name(&self) -> Option<&str> {
        (!self.name.ends_with("...")).then_some(self.name.as_str())
    }
}

/// Parses the first table of a text: another is of another node, or of another moment.
pub fn parse_table(bytes: &[u8]) -> Table {
    let text = decode(bytes);
    let mut out = Table::default();
    let mut headed = false;
    for (line, raw) in lines(&text) {
        let after = |keys: &[&str]| {
            let rest = keys.iter().find_map(|k| raw.split_once(k)).map(|(_, r)| r)?;
            let word = rest.split_whitespace().next().filter(|w| *w != "|" && *w != "N/A")?;
            Some(At::new(word.to_owned(), line))
        };
        if raw.contains("NVIDIA-SMI") && raw.trim_start().starts_with('|') && std::mem::replace(&mut headed, true) {
            break;
        }
        if raw.contains("NVIDIA-SMI") {
            out.driver_version = out.driver_version.or_else(|| after(&["Driver Version:", "KMD Version:"]));
            out.cuda_version = out.cuda_version.or_else(|| after(&["CUDA Version:", "CUDA UMD Version:"]));
        }
        if let Some(gpu) = silent(raw.trim(), line).filter(|_| out.silent.len() < GPUS) {
            out.silent.push(gpu);
            continue;
        }
        let cells: Vec<&str> = raw.split('|').map(str::trim).take(8).collect();
        if let Some(gpu) = gpu(&cells, line) {
            if out.gpus.len() < GPUS {
                out.gpus.push(gpu);
            } else {
                leave_out(&mut out.left_out, Limit::GPUS, line);
            }
        } else if let Some(last) = out.gpus.last_mut().filter(|_| out.left_out.is_empty()) {
            if let Some(memory) = cells.iter().find_map(|c| memory_total(c)) {
                last.memory_total_mib.get_or_insert(At::new(memory, line));
            }
            if let Some(mode) = mig_mode(&cells).filter(|_| line == last.line.saturating_add(2)) {
                last.mig_mode.get_or_insert(At::new(mode.to_owned(), line));
            }
        }
    }
    out
}

/// `|                               |                      |             Disabled |`
fn mig_mode<'a>(cells: &[&'a str]) -> Option<&'a str> {
    let ["", "", "", mode, ..] = cells else { return None };
    matches!(*mode, "Enabled" | "Disabled" | "N/A" | "Enabled*" | "Disabled*").then(|| mode.trim_end_matches('*'))
}

/// `|   0  Tesla K80           On   | 0000:00:04.0     Off |`
fn gpu(cells: &[&str], line: u32) -> Option<TableGpu> {
    let ["", left, right, ..] = cells else { return None };
    let bdf = right.split_whitespace().next()?.parse().ok()?;
    let (index, rest) = left.split_once(char::is_whitespace)?;
    let index = index.parse().ok()?;
    // The last word is the persistence mode.
    let named = rest.trim().rsplit_once(char::is_whitespace).filter(|(_, m)| matches!(*m, "On" | "Off" | "N/A"));
    let (name, persistence) = named.map_or((rest.trim(), None), |(n, mode)| (n.trim(), Some(mode.to_owned())));
    let ecc_uncorrected = cells.get(3).filter(|c| !c.is_empty()).map(|c| (*c).to_owned());
    let name = name.to_owned();
    Some(TableGpu { line, index, name, bdf, persistence, ecc_uncorrected, memory_total_mib: None, mig_mode: None })
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
        assert_eq!((t.gpus[0].persistence.as_deref(), t.gpus[0].ecc_mode()), (Some("On"), Some("Enabled")));
        let t = parse_table(b"| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: N/A      |\n");
        assert_eq!((t.driver_version.map(|v| v.value).as_deref(), t.cuda_version), (Some("450.80.02"), None));
    }
    #[test]
    fn the_third_row_and_a_second_table() {
        let table = "| NVIDIA-SMI 535.54.03    Driver Version: 535.54.03    CUDA Version: 12.2     |\n\
            |   0  NVIDIA A100-SXM...  Off  | 00000000:07:00.0 Off |                  Off |\n\
            | N/A   30C    P0    62W / 400W |      0MiB / 81920MiB |      0%      Default |\n\
            |                               |                      |             Disabled |\n";
        let t = parse_table(table.as_bytes());
        assert_eq!(
            (t.gpus[0].mig_mode.clone(), t.gpus[0].ecc_mode()),
            (Some(At::new("Disabled".into(), 4)), Some("Disabled"))
        );
        assert_eq!((t.gpus[0].whole_name(), t.gpus[0].persistence.as_deref()), (None, Some("Off")));
        let two = format!("{table}{}", table.replace("07:00", "08:00"));
        assert_eq!(parse_table(two.as_bytes()).gpus.len(), 1);
    }

    #[test]
    fn gpus_that_give_no_answer() {
        let text = "$ nvidia-smi\nUnable to determine the device handle for GPU 0000:03:00.0: GPU is lost.  Reboot the system to recover this GPU\n\
            Unable to determine the device handle for GPU1: 0000:0B:00.0: Unknown Error\n\
            Unable to determine the device handle for GPU is what it says\n";
        let all = parse_table(text.as_bytes()).silent;
        let seen: Vec<_> = all.iter().map(|g| (g.line, g.bdf.to_string(), g.error.as_str(), g.is_lost())).collect();
        assert_eq!(
            seen,
            [
                (2, "0000:03:00.0".to_owned(), "GPU is lost", true),
                (3, "0000:0b:00.0".to_owned(), "Unknown Error", false)
            ]
        );
    }
}
