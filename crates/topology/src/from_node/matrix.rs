//! The matrix of GPUs and NICs in the words of `nvidia-smi topo -m`, from the PCI tree: what the hardware is, not what NCCL makes of it.

use super::link::topmost;
use linerate_formats::nvidia_smi::{PathKind, Topo};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::{Distance, FnId};
use std::fmt;

/// Devices in a matrix, at most.
const MOST: usize = 256;

/// A row and column of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Heading: `GPU0`, `NIC0`.
    pub column: String,
    /// `mlx5_0` for NICs; the address for GPUs.
    pub name: String,
    /// PCI address, where it is known.
    pub bdf: Option<Bdf>,
    /// CPUs of its NUMA node, as a list. `None`: none, or not known.
    pub cpus: Option<String>,
    /// Its NUMA node. `None`: none, or not known.
    pub numa: Option<u32>,
}

impl Device {
    /// Whether it is a GPU.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.column.starts_with("GPU")
    }
}

/// Paths between all GPUs and NICs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// GPUs, then NICs.
    pub devices: Vec<Device>,
    /// One row a device; `None` is a path that the snapshot does not show.
    pub cells: Vec<Vec<Option<PathKind>>>,
    /// What limits the answer, as sentences.
    pub notes: Vec<String>,
}

impl Matrix {
    /// The matrix of a node: GPUs in NVML's order, RDMA devices in the order of their names.
    #[must_use]
    pub fn of(node: &Node<'_>) -> Matrix {
        let mut notes = Vec::new();
        let mut ends: Vec<(Device, Option<FnId>)> = Vec::new();
        for (i, bdf) in node.nccl_gpus().into_iter().enumerate() {
            ends.push(device(node, format!("GPU{i}"), bdf.to_string(), Some(bdf)));
        }
        for (i, (name, bdf)) in nics(node).into_iter().enumerate() {
            ends.push(device(node, format!("NIC{i}"), name, bdf));
        }
        if ends.len() > MOST {
            notes.push(format!("{} devices after the first {MOST} are left out", ends.len() - MOST));
            ends.truncate(MOST);
        }
        let topo = node.nvidia.topo().known();
        if topo.is_none() && ends.iter().filter(|(d, _)| d.is_gpu()).count() > 1 {
            notes.push("NVLink is not known: between GPUs the matrix shows the PCIe path".to_owned());
        }
        notes.extend(homeless(node, &ends));
        let cells = ends.iter().map(|a| ends.iter().map(|b| cell(node, topo, a, b)).collect()).collect();
        Matrix { devices: ends.into_iter().map(|(d, _)| d).collect(), cells, notes }
    }

    /// The path between two devices, by heading or by name.
    #[must_use]
    pub fn path(&self, a: &str, b: &str) -> Option<&PathKind> {
        let at = |n: &str| self.devices.iter().position(|d| d.column == n || d.name == n);
        self.cells.get(at(a)?)?.get(at(b)?)?.as_ref()
    }
}

/// Devices of which firmware names no NUMA node, on a machine with several: nothing says how far they are from those of other host bridges.
fn homeless(node: &Node<'_>, ends: &[End]) -> Option<String> {
    if node.numa.known().is_some_and(|n| n.len() == 1) {
        return None;
    }
    let none = |f: FnId| node.pci.get(topmost(&node.pci, f)).numa_node.known().is_some_and(|n| *n < 0);
    let list: Vec<&str> = ends.iter().filter(|(_, f)| f.is_some_and(none)).map(|(d, _)| d.column.as_str()).collect();
    (!list.is_empty()).then(|| {
        format!(
            "{}: the firmware gives no NUMA node, so the path to other host bridges is `?` here; NCCL puts such devices below a CPU of their own, and counts the path to all others as SYS",
            list.join(", ")
        )
    })
}

/// RDMA devices; where nothing lists them, the RDMA functions under their addresses.
fn nics(node: &Node<'_>) -> Vec<(String, Option<Bdf>)> {
    let mut out: Vec<(String, Option<Bdf>)> = match node.rdma.known() {
        Some(devices) => devices.iter().map(|d| (d.name.clone(), d.pci)).collect(),
        None => node.pci.rdma_nics().map(|(_, f)| (f.bdf.to_string(), Some(f.bdf))).collect(),
    };
    out.sort_by(|a, b| natural(&a.0).cmp(&natural(&b.0)));
    out
}

/// `mlx5_2` before `mlx5_10`.
fn natural(name: &str) -> (&str, u64, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name.get(stem.len()..).and_then(|d| d.parse().ok()).unwrap_or(0);
    (stem, number, name)
}

fn device(node: &Node<'_>, column: String, name: String, bdf: Option<Bdf>) -> (Device, Option<FnId>) {
    let function = bdf.and_then(|b| node.pci.find(b));
    let numa = function.and_then(|f| node.pci.get(f).numa_node.known().copied()).and_then(|n| u32::try_from(n).ok());
    let home = numa.and_then(|n| node.numa.known()?.iter().find(|m| m.id == n));
    let cpus = home.map(|n| n.cpulist.clone()).filter(|l| !l.is_empty());
    (Device { column, name, bdf, cpus, numa }, function)
}

type End = (Device, Option<FnId>);

fn cell(node: &Node<'_>, topo: Option<&Topo>, a: &End, b: &End) -> Option<PathKind> {
    if a.0.column == b.0.column {
        return Some(PathKind::Itself);
    }
    if a.0.is_gpu() && b.0.is_gpu() {
        let links = topo.and_then(|t| t.path(&a.0.column, &b.0.column)).map(|c| c.value);
        if let Some(nv @ PathKind::Nv(_)) = links {
            return Some(nv.clone());
        }
    }
    pcie(node, a.1?, b.1?)
}

/// The PCIe path: how many bridges, or which host bridges, lie between.
fn pcie(node: &Node<'_>, a: FnId, b: FnId) -> Option<PathKind> {
    let (pci, path) = (&node.pci, node.pci.path(a, b));
    if path.common.is_some() {
        return Some(match path.distance {
            Distance::Pix => PathKind::Pix,
            _ => PathKind::Pxb,
        });
    }
    let top = |f: FnId| {
        let (above, complete) = pci.ancestors(f);
        let bdf = pci.get(above.last().copied().unwrap_or(f)).bdf;
        complete.then_some((bdf.domain, bdf.bus))
    };
    // Functions of one root bus share its host bridge.
    if top(a)? == top(b)? {
        return Some(PathKind::Phb);
    }
    let numa = |f: FnId| pci.get(f).numa_node.known().copied();
    let nodes = node.numa.known().map(Vec::len);
    match (numa(a), numa(b)) {
        (Some(x), Some(y)) if x >= 0 && y >= 0 => Some(if x == y { PathKind::Node } else { PathKind::Sys }),
        // Firmware names none: with one node there is no other.
        _ if nodes == Some(1) => Some(PathKind::Node),
        _ => None,
    }
}

/// A path in nvidia-smi's letters.
pub(crate) fn word(path: &PathKind) -> String {
    match path {
        PathKind::Itself => "X".to_owned(),
        PathKind::Nv(n) => format!("NV{n}"),
        PathKind::Pix => "PIX".to_owned(),
        PathKind::Pxb => "PXB".to_owned(),
        PathKind::Phb => "PHB".to_owned(),
        PathKind::Node => "NODE".to_owned(),
        PathKind::Sys => "SYS".to_owned(),
        PathKind::C2c => "C2C".to_owned(),
        PathKind::Other(s) => s.clone(),
    }
}

/// What the letters mean: those that occur are explained.
const LEGEND: &[(&str, &str)] = &[
    ("X", "the device itself"),
    ("SYS", "PCIe, and the links between NUMA nodes"),
    ("NODE", "PCIe, and the way between host bridges of one NUMA node"),
    ("PHB", "PCIe, and one host bridge"),
    ("PXB", "several PCIe bridges, and no host bridge"),
    ("PIX", "at most one PCIe bridge"),
    ("NV#", "this number of NVLinks"),
    ("?", "not known"),
];

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for d in &self.devices {
            write!(f, "\t{}", d.column)?;
        }
        writeln!(f, "\tCPU Affinity\tNUMA Affinity")?;
        for (d, row) in self.devices.iter().zip(&self.cells) {
            write!(f, "{}", d.column)?;
            for c in row {
                write!(f, "\t{}", c.as_ref().map_or_else(|| "?".to_owned(), word))?;
            }
            if d.is_gpu() {
                let numa = d.numa.map_or_else(|| "N/A".to_owned(), |n| n.to_string());
                write!(f, "\t{}\t{numa}", d.cpus.as_deref().unwrap_or("N/A"))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "\nLegend:\n")?;
        let words: Vec<String> =
            self.cells.iter().flatten().map(|c| c.as_ref().map_or_else(|| "?".to_owned(), word)).collect();
        let number = |w: &String| w.strip_prefix("NV").is_some_and(|n| n.parse::<u64>().is_ok());
        let occurs = |letters: &str| words.iter().any(|w| w == letters || letters == "NV#" && number(w));
        for (letters, meaning) in LEGEND.iter().filter(|(letters, _)| occurs(letters)) {
            writeln!(f, "  {letters:<4} = {meaning}")?;
        }
        if self.devices.iter().any(|d| !d.is_gpu()) {
            writeln!(f, "\nNIC Legend:\n")?;
            for d in self.devices.iter().filter(|d| !d.is_gpu()) {
                writeln!(f, "  {}: {}", d.column, d.name)?;
            }
        }
        for n in &self.notes {
            writeln!(f, "\nNote: {n}")?;
        }
        Ok(())
    }
}
