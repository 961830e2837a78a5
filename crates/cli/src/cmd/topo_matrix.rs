//! What a matrix of `nvidia-smi topo -m` alone tells of NCCL: the type of each pair, and the NICs nearest to each GPU. What it does not tell is said.

use crate::output::Sink;
use linerate_formats::nvidia_smi::{PathKind, Topo};
use linerate_topology::PathType;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Pairs of one type, or NICs of one GPU, that are listed one by one.
const LISTED: usize = 8;

/// What NCCL calls a cell: `NODE` is the way between host bridges of one NUMA node, which is one CPU to NCCL (PHB). NVLink between a GPU and a NIC
/// there is not.
fn of_cell(cell: &PathKind) -> Option<PathType> {
    Some(match cell {
        PathKind::Nv(_) => PathType::Nvl,
        PathKind::C2c => PathType::C2c,
        PathKind::Pix => PathType::Pix,
        PathKind::Pxb => PathType::Pxb,
        PathKind::Phb | PathKind::Node => PathType::Phb,
        PathKind::Sys => PathType::Sys,
        PathKind::Itself | PathKind::Other(_) => return None,
    })
}

/// What is concluded from a matrix.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    /// Pairs of GPUs by type, the nearest first, with the letters of the matrix.
    gpus: BTreeMap<(PathType, String), Vec<String>>,
    /// Of each GPU: its name, the type of its nearest NICs, and which those are.
    nearest: Vec<(String, PathType, Vec<String>)>,
    /// Pairs whose cell is not there or not understood.
    open: usize,
}

fn conclude(m: &Topo) -> Told {
    let is_gpu = |d: &&String| d.starts_with("GPU");
    let gpus: Vec<&String> = m.devices.iter().filter(is_gpu).collect();
    let nics: Vec<&String> = m.devices.iter().filter(|d| !is_gpu(d)).collect();
    let mut told = Told { gpus: BTreeMap::new(), nearest: Vec::new(), open: 0 };
    let cell = |a: &str, b: &str| m.path(a, b).and_then(|c| Some((of_cell(c.value)?, letters(c.value))));
    for (i, a) in gpus.iter().enumerate() {
        for b in gpus.iter().skip(i + 1) {
            match cell(a, b) {
                Some(at) => told.gpus.entry(at).or_default().push(format!("{a}–{b}")),
                None => told.open += 1,
            }
        }
        let ways: Vec<(PathType, &str)> = nics.iter().filter_map(|n| Some((cell(a, n)?.0, m.nic_name(n)))).collect();
        told.open += nics.len() - ways.len();
        if let Some(least) = ways.iter().map(|w| w.0).min() {
            let near = ways.iter().filter(|w| w.0 == least).map(|w| w.1.to_owned()).collect();
            told.nearest.push(((*a).clone(), least, near));
        }
    }
    told
}

fn letters(cell: &PathKind) -> String {
    match cell {
        PathKind::Nv(n) => format!("NV{n}"),
        PathKind::Node => "NODE".to_owned(),
        other => of_cell(other).map_or("", PathType::name).to_owned(),
    }
}

/// What NCCL does between two GPUs by default (`ncclTopoCheckP2p`).
fn between_gpus(kind: PathType) -> &'static str {
    match kind {
        PathType::Nvl => "direct copies over NVLink",
        PathType::C2c | PathType::Pix | PathType::Pxb => {
            "direct copies over PCIe, unless ACS or a translated IOMMU turns them back"
        }
        _ => {
            "past the default level (PXB): through host memory; direct on some AMD machines (two GPUs, or NCCL before 2.23)"
        }
    }
}

/// What NCCL does between a GPU and its nearest NIC by default (`ncclTopoCheckGdr`).
fn to_nic(kind: PathType, nvlink: bool) -> &'static str {
    match kind {
        PathType::Pix | PathType::Pxb => {
            "within the default reach of GPUDirect RDMA (PXB), where the drivers can do it"
        }
        _ if nvlink => "past the default reach of GPUDirect RDMA (PXB); over NVLink another GPU may stand in (PXN)",
        _ => "past the default reach of GPUDirect RDMA (PXB): through host memory",
    }
}

const UNKNOWN: &str = "\
A matrix does not tell: which ports are active and how fast they are, PCIe speeds, CPU model, drivers, ACS and the IOMMU. So which NIC each rank
gets, GPUDirect RDMA, rings, trees and bandwidths are not computed. For those add the text of `lspci -vvv` (as root), `ibstat` and `nvidia-smi -q` to
the same folder or file, or give a capture: `linerate collect`.";

/// Says it.
pub(super) fn render(label: &str, m: &Topo, sink: &mut Sink) -> io::Result<()> {
    let told = conclude(m);
    writeln!(sink, "TOPOLOGY of {label}: the matrix of `nvidia-smi topo -m` alone\n")?;
    if !told.gpus.is_empty() {
        writeln!(sink, "GPU TO GPU (matrix, NCCL's type)")?;
        for ((kind, letters), pairs) in &told.gpus {
            writeln!(sink, "  {letters:<5} {:<4} {}", kind.name(), list(pairs))?;
            writeln!(sink, "             {}", between_gpus(*kind))?;
        }
    }
    let nvlink = told.gpus.keys().any(|(k, _)| *k == PathType::Nvl);
    if !told.nearest.is_empty() {
        writeln!(sink, "\nNEAREST NICS (NCCL's type)")?;
        for (gpu, kind, nics) in &told.nearest {
            writeln!(sink, "  {gpu:<6} {:<4} {}", kind.name(), list(nics))?;
        }
        let mut kinds: Vec<PathType> = told.nearest.iter().map(|n| n.1).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            writeln!(sink, "  {}: {}", kind.name(), to_nic(kind, nvlink))?;
        }
    }
    if told.open > 0 || !m.broken_rows.is_empty() {
        writeln!(sink, "\nNOT READ: {} pairs, {} rows that do not fit the header", told.open, m.broken_rows.len())?;
    }
    writeln!(sink, "\nUNKNOWN\n{UNKNOWN}")
}

fn list(names: &[String]) -> String {
    match names.get(..LISTED) {
        Some(first) if names.len() > LISTED => format!("{} and {} more", first.join(", "), names.len() - LISTED),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_formats::nvidia_smi::parse_topo;

    #[test]
    fn types_and_nearest_nics() {
        let text = "\tGPU0\tGPU1\tGPU2\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n\
                    GPU0\t X \tNV18\tSYS\tPIX\tNODE\t0-31\t0\n\
                    GPU1\tNV18\t X \tSYS\tNODE\tNODE\t0-31\t0\n\
                    GPU2\tSYS\tSYS\t X \tSYS\tSYS\t32-63\t1\n\
                    NIC0\tPIX\tNODE\tSYS\t X \tPIX\n\
                    NIC1\tNODE\tNODE\tSYS\tPIX\t X \n\n\
                    NIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";
        let told = conclude(&parse_topo(text.as_bytes()).unwrap());
        let pairs: Vec<(&str, usize)> = told.gpus.iter().map(|((k, _), p)| (k.name(), p.len())).collect();
        assert_eq!(pairs, [("NVL", 1), ("SYS", 2)]);
        let near: Vec<(&str, &str, String)> =
            told.nearest.iter().map(|(g, k, n)| (g.as_str(), k.name(), n.join(" "))).collect();
        assert_eq!(
            near,
            [
                ("GPU0", "PIX", "mlx5_0".to_owned()),
                ("GPU1", "PHB", "mlx5_0 mlx5_1".to_owned()),
                ("GPU2", "SYS", "mlx5_0 mlx5_1".to_owned()),
            ]
        );
        assert_eq!(told.open, 0);
    }
}
