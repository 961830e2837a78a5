//! `nvidia-smi`: the query as text and XML, the topology and peer-to-peer matrices, CSV, and the default table.

mod counters;
mod csv;
mod list;
mod matrix;
mod nvlink;
mod query_text;
mod query_xml;
mod quick_xml;
mod table;
mod topo;

pub use counters::{COUNTERS, GpuCounter, read_counters};
pub use csv::{Csv, CsvRow, parse_csv};
pub use list::{ListedGpu, ListedInstance, parse_list};
pub use nvlink::{GpuLinks, NVLINK, parse_nvlink};
pub use query_text::parse_query;
pub use query_xml::parse_xml;
pub use table::{SILENT, SilentGpu, Table, TableGpu, parse_table, silent};
pub use topo::{Affinities, NicName, P2pStatus, PathKind, Topo, TopoP2p, TopoRow, parse_p2p, parse_topo};

use crate::bounds::LeftOut;
use crate::pci::Bdf;
use crate::text::{At, leading_number};
use crate::tool::{Args, Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `nvidia-smi -q`.
pub const QUERY: Tool = Tool {
    name: "nvidia-smi-query",
    called: "nvidia-smi -q",
    run: "nvidia-smi -q",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| l.contains("==NVSMI LOG==")).holds(&["==NVSMI LOG=="])],
    commands: &[Command::with("nvidia-smi", &["-q"])],
    read: Some(|b| seen(parse_query(b))),
    samples: &["$ nvidia-smi -q\n==============NVSMI LOG==============\n"],
    once: true,
    ..Tool::NONE
};

/// `nvidia-smi -q -x`.
pub const XML: Tool = Tool {
    name: "nvidia-smi-xml",
    called: "nvidia-smi -q",
    run: "nvidia-smi -q -x",
    gives: Gives::Facts,
    marks: &[Mark::root(|root, _| root == "nvidia_smi_log")],
    commands: &[Command::with("nvidia-smi", &["-q", "-x"])],
    read: Some(|b| seen(parse_xml(b).is_ok())),
    samples: &["<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"x\">\n<nvidia_smi_log>"],
    once: true,
    ..Tool::NONE
};

/// `nvidia-smi topo -m`.
pub const TOPO: Tool = Tool {
    name: "nvidia-smi-topo",
    called: "nvidia-smi topo -m",
    run: "nvidia-smi topo -m",
    gives: Gives::Facts,
    marks: &[Mark::matrix(|text| {
        !topo::has_states(text)
            && !crate::amd::has_table(text)
            && parse_topo(text.as_bytes()).is_ok_and(|t| !t.rows.is_empty() || !t.broken_rows.is_empty())
    })],
    commands: &[Command::with("nvidia-smi", &["topo"])],
    read: Some(|b| seen(parse_topo(b).is_ok())),
    samples: &["\x1b[4m\tGPU0\tGPU1\tCPU Affinity\x1b[0m\r\nGPU0\t X \tNV12\t0-3\r\n"],
    once: true,
    ..Tool::NONE
};

/// `nvidia-smi topo -p2p X`.
pub const P2P: Tool = Tool {
    name: "nvidia-smi-p2p",
    called: "nvidia-smi topo -p2p",
    run: "nvidia-smi topo -p2p r",
    gives: Gives::Facts,
    marks: &[Mark::matrix(|text| topo::has_states(text) && !crate::amd::has_table(text))],
    commands: &[Command::with("nvidia-smi", &["-p2p"])],
    read: Some(|b| seen(parse_p2p(b).is_ok())),
    samples: &[" \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n"],
    ..Tool::NONE
};

/// `nvidia-smi` without arguments.
pub const TABLE: Tool = Tool {
    name: "nvidia-smi-table",
    called: "nvidia-smi",
    run: "nvidia-smi",
    gives: Gives::Facts,
    // Scripts of jobs print it above what matters more.
    marks: &[
        Mark::aside(|l| starts(l, &["| NVIDIA-SMI"])).begins(&["| NVIDIA-SMI"]),
        Mark::aside(|l| table::silent(l, 0).is_some()).begins(&[table::SILENT]),
    ],
    commands: &[Command { program: "nvidia-smi", args: Args::None }],
    read: Some(|b| seen(parse_table(b))),
    samples: &[
        "| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: 11.0     |\n",
        "Unable to determine the device handle for GPU 0000:03:00.0: GPU is lost.  Reboot the system to recover this GPU\n",
    ],
    once: true,
    ..Tool::NONE
};

/// `nvidia-smi -L`.
pub const LIST: Tool = Tool {
    name: "nvidia-smi-list",
    called: "nvidia-smi -L",
    run: "nvidia-smi -L",
    // The node knows GPUs by their PCI addresses, which are not in it.
    gives: Gives::NoFacts("a list of GPUs without addresses (`nvidia-smi -q -x` says more)"),
    // Other outputs name GPUs so, too, with more below each.
    marks: &[Mark::whole(list::is_own).holds(&["(UUID: "])],
    commands: &[Command::with("nvidia-smi", &["-L"]), Command::with("nvidia-smi", &["--list-gpus"])],
    read: Some(|b| seen(parse_list(b))),
    samples: &["GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-11112222-3333-4444-5555-666677778888)\n"],
    ..Tool::NONE
};

/// `nvidia-smi --query-gpu=… --format=csv`.
pub const CSV: Tool = Tool {
    name: "nvidia-smi-csv",
    called: "nvidia-smi --query",
    run: "nvidia-smi --query-gpu=name,pci.bus_id --format=csv",
    gives: Gives::NoFacts("a table of nvidia-smi (`nvidia-smi -q -x` says more)"),
    marks: &[Mark::whole(|text| {
        parse_csv(text.as_bytes()).is_ok_and(|csv| !csv.rows.is_empty() && csv.columns.len() > 1)
    })
    .holds(&[","])],
    commands: &[Command { program: "nvidia-smi", args: Args::Within("--query-") }],
    read: Some(|b| seen(parse_csv(b).is_ok())),
    samples: &["name, pci.bus_id\nH100, 00000000:1B:00.0\n"],
    ..Tool::NONE
};

/// `nvidia-smi -q`, from text or XML. A field is `None` where the output did not show it; texts are as printed (`N/A` included),
/// numbers are `None` for `N/A`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Query {
    /// `Driver Version`.
    pub driver_version: Option<At<String>>,
    /// `CUDA Version`: the highest that the driver supports.
    pub cuda_version: Option<At<String>>,
    /// `Attached GPUs`.
    pub attached_gpus: Option<At<u32>>,
    /// GPUs in the order of the output.
    pub gpus: Vec<Gpu>,
    /// GPUs beyond the limit.
    pub left_out: Vec<LeftOut>,
}

/// One GPU of a query.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Gpu {
    /// First line of the GPU's block.
    pub line: u32,
    /// Bus id as printed, with its 8-digit domain.
    pub bus_id: String,
    /// The same as an address.
    pub bdf: Option<Bdf>,
    /// `Product Name`.
    pub product_name: Option<At<String>>,
    /// `Product Architecture`.
    pub architecture: Option<At<String>>,
    /// `GPU UUID`.
    pub uuid: Option<At<String>>,
    /// `Serial Number`: of the board, which several GPUs may share.
    pub serial: Option<At<String>>,
    /// `Module ID`: the place on the baseboard, by which the fabric manager names GPUs.
    pub module_id: Option<At<u32>>,
    /// `Minor Number`: N of /dev/nvidiaN.
    pub minor_number: Option<At<u32>>,
    /// `Addressing Mode`: None, HMM, ATS.
    pub addressing_mode: Option<At<String>>,
    /// `MIG Mode`, current.
    pub mig_mode: Option<At<String>>,
    /// `ECC Mode`, current.
    pub ecc_mode: Option<At<String>>,
    /// `Virtualization Mode`: None, Pass-Through, VGPU, Host VGPU, Host VSGA.
    pub virtualization_mode: Option<At<String>>,
    /// `GPU C2C Mode`.
    pub c2c_mode: Option<At<String>>,
    /// NUMA node of the GPU's own memory, where it is one.
    pub gpu_numa_id: Option<At<u32>>,
    /// `Fabric`, `State`.
    pub fabric_state: Option<At<String>>,
    /// `Fabric`, `Status`.
    pub fabric_status: Option<At<String>>,
    /// Frame buffer in MiB.
    pub fb_total_mib: Option<At<u64>>,
    /// BAR1 aperture in MiB.
    pub bar1_total_mib: Option<At<u64>>,
    /// BAR1 in use, MiB.
    pub bar1_used_mib: Option<At<u64>>,
    /// PCIe generations.
    pub pcie_generation: Generations,
    /// Link width, maximum of this link.
    pub width_max: Option<At<u8>>,
    /// Link width now.
    pub width_current: Option<At<u8>>,
    /// `Replays Since Reset`.
    pub replays: Option<At<u64>>,
    /// `Replay Number Rollovers`.
    pub replay_rollovers: Option<At<u64>>,
    /// Errors of memory that could not be corrected since the driver was loaded (`ECC Errors`, `Volatile`), all of them; the first line.
    pub ecc_uncorrected: Option<At<u64>>,
    /// `Remapped Rows`, `Pending`: rows are replaced at the next reset.
    pub remap_pending: Option<At<bool>>,
    /// `Remapped Rows`, `Remapping Failure Occurred`: there was no row left.
    pub remap_failed: Option<At<bool>>,
    /// `GPU Recovery Action`, what the driver itself asks for: None, Reset, Reboot, Drain P2P, Drain and Reset.
    pub recovery_action: Option<At<String>>,
    /// `Retired Pages`, `Pending`: pages are left out from the next start of the driver on (GPUs before Ampere).
    pub retirement_pending: Option<At<bool>>,
}

/// The PCIe generations of a GPU's link. The current ones drop when the GPU is idle.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Generations {
    /// What this link can reach: the lower of device and host.
    pub max: Option<At<u8>>,
    /// Now.
    pub current: Option<At<u8>>,
    /// Now, as the device reports it.
    pub device_current: Option<At<u8>>,
    /// What the device can do.
    pub device_max: Option<At<u8>>,
    /// What the port above can do.
    pub host_max: Option<At<u8>>,
}

/// The fields that both forms share. One place decides how each is read.
#[derive(Clone, Copy)]
pub(crate) enum Field {
    ProductName,
    Architecture,
    Uuid,
    Serial,
    ModuleId,
    MinorNumber,
    AddressingMode,
    MigMode,
    EccMode,
    VirtualizationMode,
    C2cMode,
    GpuC2cMode,
    GpuNumaId,
    FabricState,
    FabricStatus,
    FbTotal,
    Bar1Total,
    Bar1Used,
    GenMax,
    GenCurrent,
    GenDeviceCurrent,
    GenDeviceMax,
    GenHostMax,
    WidthMax,
    WidthCurrent,
    Replays,
    Rollovers,
    EccSram,
    EccSramParity,
    EccSramSecded,
    EccDram,
    EccDouble,
    RemapPending,
    RemapFailed,
    RetirementPending,
    BlacklistPending,
    RecoveryAction,
}

impl Gpu {
    pub(crate) fn new(bus_id: &str, line: u32) -> Self {
        Gpu { line, bus_id: bus_id.to_owned(), bdf: bus_id.parse().ok(), ..Gpu::default() }
    }

    pub(crate) fn set(&mut self, field: Field, raw: &str, line: u32) {
        let raw = raw.trim();
        let text = || (!raw.is_empty()).then(|| At::new(raw.to_owned(), line));
        let small = || leading_number::<u8>(raw).map(|n| At::new(n, line));
        let large = || leading_number::<u64>(raw).map(|n| At::new(n, line));
        let medium = || leading_number::<u32>(raw).map(|n| At::new(n, line));
        match field {
            Field::ProductName => self.product_name = text(),
            Field::Architecture => self.architecture = text(),
            Field::Uuid => self.uuid = text(),
            Field::Serial => self.serial = text(),
            Field::ModuleId => self.module_id = medium(),
            Field::MinorNumber => self.minor_number = medium(),
            Field::AddressingMode => self.addressing_mode = text(),
            Field::MigMode => self.mig_mode = text(),
            Field::EccMode => self.ecc_mode = text(),
            Field::VirtualizationMode => self.virtualization_mode = text(),
            Field::C2cMode | Field::GpuC2cMode => self.c2c_mode = text(),
            Field::GpuNumaId => self.gpu_numa_id = medium(),
            Field::FabricState => self.fabric_state = text(),
            Field::FabricStatus => self.fabric_status = text(),
            Field::FbTotal => self.fb_total_mib = mib(raw).map(|n| At::new(n, line)),
            Field::Bar1Total => self.bar1_total_mib = mib(raw).map(|n| At::new(n, line)),
            Field::Bar1Used => self.bar1_used_mib = mib(raw).map(|n| At::new(n, line)),
            Field::GenMax => self.pcie_generation.max = small(),
            Field::GenCurrent => self.pcie_generation.current = small(),
            Field::GenDeviceCurrent => self.pcie_generation.device_current = small(),
            Field::GenDeviceMax => self.pcie_generation.device_max = small(),
            Field::GenHostMax => self.pcie_generation.host_max = small(),
            Field::WidthMax => self.width_max = small(),
            Field::WidthCurrent => self.width_current = small(),
            Field::Replays => self.replays = large(),
            Field::Rollovers => self.replay_rollovers = large(),
            Field::EccSram | Field::EccSramParity | Field::EccSramSecded | Field::EccDram | Field::EccDouble => {
                let Some(new) = large() else { return };
                let (sum, line) = self.ecc_uncorrected.as_ref().map_or((0, line), |old| (old.value, old.line));
                self.ecc_uncorrected = Some(At::new(new.value.saturating_add(sum), line));
            }
            Field::RecoveryAction => self.recovery_action = text(),
            Field::RemapPending => self.remap_pending = yes(raw, line),
            Field::RemapFailed => self.remap_failed = yes(raw, line),
            // Of the two names of one state, drivers print either.
            Field::RetirementPending | Field::BlacklistPending => {
                let old = self.retirement_pending.take();
                self.retirement_pending = yes(raw, line).or(old);
            }
        }
    }
}

/// `Yes`, `No`; `N/A` is neither.
fn yes(raw: &str, line: u32) -> Option<At<bool>> {
    crate::text::flag(raw, "Yes", "No").map(|f| At::new(f, line))
}

/// `81559 MiB`; old drivers print `MB` for the same unit.
fn mib(raw: &str) -> Option<u64> {
    let unit = raw.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    let scale = match unit {
        "MiB" | "MB" => 1,
        "GiB" | "GB" => 1024,
        _ => return None,
    };
    leading_number::<u64>(raw)?.checked_mul(scale)
}
