//! What AMD's tools print of GPUs: `rocm-smi` and `amd-smi` (topology, list, static, metric, xgmi), as text and as JSON.
//!
//! Forms: ROCm/rocm_smi_lib, `python_smi_tools/rocm_smi.py` (printLog, printLogSpacer, show…Topology, formatMatrixToJSON), and ROCm/amdsmi,
//! `amdsmi_cli/amdsmi_commands.py` and `amdsmi_logger.py`. The tools number GPUs each in its own way; `amd-smi metric` shows no address.

mod blocks;
mod gpu;
mod json;
mod rocm;
mod tables;
#[cfg(test)]
mod tests;

pub use gpu::Gpu;

use crate::bounds::{GPUS, LeftOut, Limit, TEXT_ITEMS, leave_out};
use crate::pci::Bdf;
use crate::text::{At, decode, lines, unended};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `rocm-smi`.
pub const ROCM_SMI: Tool = Tool {
    name: "rocm-smi",
    called: "rocm-smi",
    run: "rocm-smi --showtopo --showbus --showproductname --showreplaycount",
    gives: Gives::Facts,
    // Scripts of jobs print it above what matters more.
    marks: &[Mark::aside(rocm::is_own).begins(&["==="]), Mark::json(json::is_rocm)],
    commands: &[Command::any("rocm-smi")],
    files: &["rocm-smi"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "======================= ROCm System Management Interface =======================\nGPU[0]\t\t: Device ID: 0x74a1\n",
        "=========== Link Type between two GPUs ===========\n       GPU0         GPU1         \nGPU0   0            XGMI         \nGPU1   XGMI         0            \n",
        "{\"card0\": {\"PCI Bus\": \"0000:1E:00.0\", \"PCIe Replay Count\": \"0\"}, \"system\": {\"(Topology) Link type between DRM devices 0 and 1\": \"XGMI\"}}",
    ],
    ..Tool::NONE
};

/// `amd-smi topology`, `list`, `static`, `metric`, `xgmi`.
pub const AMD_SMI: Tool = Tool {
    name: "amd-smi",
    called: "amd-smi",
    run: "amd-smi topology; amd-smi list; amd-smi static; amd-smi metric",
    gives: Gives::Facts,
    marks: &[
        Mark::aside(tables::is_own).begins(tables::BEGINS),
        Mark::line_where(|l| blocks::gpu(l).is_some(), blocks::is_own).begins(&["GPU: "]),
        Mark::json(json::is_amd),
    ],
    commands: &[Command::any("amd-smi")],
    files: &["amd-smi"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "WEIGHT TABLE:\n             0000:0c:00.0 0000:22:00.0\n0000:0c:00.0 0            15\n0000:22:00.0 15           0\n",
        "GPU: 0\n    BUS:\n        BDF: 0000:05:00.0\n        MAX_PCIE_WIDTH: 16\n        MAX_PCIE_SPEED: 32 GT/s\n",
        "GPU: 0\n    PCIE:\n        WIDTH: 16\n        SPEED: 32 GT/s\n        REPLAY_COUNT: 0\n",
        "[\n    {\n        \"gpu\": 0,\n        \"bdf\": \"0000:0c:00.0\",\n        \"links\": [\n            {\"gpu\": 1, \"bdf\": \"0000:22:00.0\", \"link_type\": \"XGMI\"}\n        ]\n    }\n]\n",
    ],
    ..Tool::NONE
};

/// A GPU, as a text names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Device {
    /// By its address.
    At(Bdf),
    /// By its number in the tool's list.
    Number(u32),
}

impl Device {
    /// `GPU0`, `0000:0c:00.0`.
    fn of_word(word: &str) -> Option<Device> {
        match word.strip_prefix("GPU") {
            Some(n) if n.bytes().all(|b| b.is_ascii_digit()) => n.parse().ok().map(Device::Number),
            Some(_) => None,
            None => address(word).map(Device::At),
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::At(bdf) => bdf.fmt(f),
            Device::Number(n) => write!(f, "GPU{n}"),
        }
    }
}

/// An address with its domain, as both tools print it.
fn address(word: &str) -> Option<Bdf> {
    (word.len() >= 12 && word.matches(':').count() == 2).then(|| word.parse().ok()).flatten()
}

/// What a table says of each two GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum What {
    /// `ENABLED`, `DISABLED`; `True`, `False`: whether one can access the other's memory.
    Access,
    /// A cost; 15 for each XGMI link on the way, 20 and more over PCIe.
    Weight,
    /// 1 for every XGMI relation, direct or not; 2 and more over PCIe.
    Hops,
    /// `XGMI`, `PCIE`, `SELF`, `UNKNOWN`, `N/A`, `XXXX`.
    LinkType,
    /// Least and most bandwidth of XGMI, MB/s: `50000-50000`.
    Bandwidth,
    /// `C`, `NC`.
    Coherent,
    /// `64,32`.
    Atomics,
    /// `T`, `F`.
    Dma,
    /// `T`, `F`.
    BiDirectional,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Which table.
    pub what: What,
    /// The GPU of the row.
    pub from: Device,
    /// The GPU of the column.
    pub to: Device,
    /// As printed.
    pub value: String,
    /// 1-based line.
    pub line: u32,
}

/// What a text shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Smi {
    /// Version of amdgpu.
    pub driver: Option<At<String>>,
    /// In the order of the text.
    pub gpus: Vec<Gpu>,
    /// Of all tables.
    pub cells: Vec<Cell>,
    /// GPUs at the head of each table: a table that is cut has no row for some.
    pub heads: Vec<(What, Device)>,
    /// Lines of rows that are not as long as the head: they are cut, or broken over two lines.
    pub broken_rows: Vec<u32>,
    /// What is beyond the limits.
    pub left_out: Vec<LeftOut>,
}

impl Smi {
    /// The GPU with a number, a new one where there is none; `None` beyond the limit.
    fn gpu(&mut self, number: u32, line: u32) -> Option<&mut Gpu> {
        // Lines of one GPU follow each other, or come in the order of the numbers.
        let at = match self.gpus.last() {
            Some(last) if last.number == number => Some(self.gpus.len() - 1),
            _ => self.gpus.iter().position(|g| g.number == number),
        };
        let at = match at {
            Some(at) => at,
            None if self.gpus.len() >= GPUS => {
                leave_out(&mut self.left_out, Limit::GPUS, line);
                return None;
            }
            None => {
                self.gpus.push(Gpu { number, line, ..Gpu::default() });
                self.gpus.len() - 1
            }
        };
        self.gpus.get_mut(at)
    }

    fn head(&mut self, what: What, device: Device, line: u32) {
        if self.heads.len() >= TEXT_ITEMS {
            leave_out(&mut self.left_out, Limit::TEXT_ITEMS, line);
        } else {
            self.heads.push((what, device));
        }
    }

    fn cell(&mut self, cell: Cell) {
        if self.cells.len() >= TEXT_ITEMS {
            leave_out(&mut self.left_out, Limit::TEXT_ITEMS, cell.line);
        } else {
            self.cells.push(cell);
        }
    }

    fn is_driver(&mut self, version: &str, line: u32) {
        if !version.is_empty() && self.driver.is_none() {
            self.driver = Some(At::new(version.to_owned(), line));
        }
    }
}

/// Whether a text has a table of rocm-smi, whose head is that of `nvidia-smi topo -m`, too.
pub(crate) fn has_table(text: &str) -> bool {
    text.contains(" between two GPUs ") && text.lines().any(tables::is_rocm)
}

/// Reads a text of either tool.
#[must_use]
pub fn parse(bytes: &[u8]) -> Smi {
    let text = decode(bytes);
    let mut out = Smi::default();
    if json::read(&text, &mut out) {
        return out;
    }
    let (mut tables, mut rocm, mut blocks) =
        (tables::Reader::default(), rocm::Reader::default(), blocks::Reader::default());
    // Half a number at the end of a text would be another number; words of tables are known as a whole.
    let unended = unended(&text);
    for (line, raw) in lines(&text) {
        if tables.take(line, raw, &mut out) || Some(line) == unended || rocm.take(line, raw, &mut out) {
            continue;
        }
        blocks.take(line, raw, &mut out);
    }
    out
}
