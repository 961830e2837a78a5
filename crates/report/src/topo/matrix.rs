//! A matrix of `nvidia-smi topo -m` alone, for a terminal: what it says of NCCL, and what it does not say.

use linerate_formats::nvidia_smi::Topo;
use linerate_out::terminal;
use linerate_topology::PathType;
use linerate_topology::from_matrix::{Copies, FromMatrix, Reach};
use std::io::{self, Write};

/// Pairs of one type, or NICs of one GPU, that are listed one by one.
const LISTED: usize = 8;

const UNKNOWN: &str = "\
A matrix does not show which ports are active and how fast they are, PCIe speeds, CPU model, drivers, ACS and the IOMMU. So which NIC each rank
gets, GPUDirect RDMA, rings, trees and bandwidths are not computed. For those, add the text of `lspci -vvv` (as root), `ibstat` and `nvidia-smi -q` to
the same folder or file, or make a snapshot with `linerate collect`.";

/// Writes it.
///
/// # Errors
/// Those of the writer.
pub fn render(label: &str, m: &Topo, out: &mut dyn Write) -> io::Result<()> {
    let found = FromMatrix::of(m);
    writeln!(out, "TOPOLOGY of {}: the matrix of `nvidia-smi topo -m` alone\n", terminal(label))?;
    if !found.gpus.is_empty() {
        writeln!(out, "GPU TO GPU (matrix, NCCL's type)")?;
        for (between, pairs) in &found.gpus {
            let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("{a}–{b}")).collect();
            writeln!(out, "  {:<5} {:<4} {}", terminal(&between.letters), between.kind.name(), list(&pairs))?;
            writeln!(out, "             {}", between_gpus(between.copies()))?;
        }
    }
    if !found.nearest.is_empty() {
        writeln!(out, "\nNEAREST NICS (NCCL's type)")?;
        for near in &found.nearest {
            writeln!(out, "  {:<6} {:<4} {}", terminal(&near.gpu), near.kind.name(), list(&near.nics))?;
        }
        let mut kinds: Vec<PathType> = found.nearest.iter().map(|n| n.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            writeln!(out, "  {}: {}", kind.name(), to_nic(found.reach(kind)))?;
        }
    }
    if found.open > 0 || !m.broken_rows.is_empty() {
        writeln!(out, "\nNOT READ: {} pairs, and {} rows that do not fit the header", found.open, m.broken_rows.len())?;
    }
    writeln!(out, "\nUNKNOWN\n{UNKNOWN}")
}

fn between_gpus(copies: Copies) -> &'static str {
    match copies {
        Copies::Nvlink => "direct copies over NVLink",
        Copies::Pcie => "direct copies over PCIe, unless ACS or a translated IOMMU turns them back",
        Copies::Past => {
            "past the default level (PXB): through host memory; direct on some AMD machines (two GPUs, or NCCL before 2.23)"
        }
    }
}

fn to_nic(reach: Reach) -> &'static str {
    match reach {
        Reach::Within => "within the default reach of GPUDirect RDMA (PXB), where the drivers can do it",
        Reach::Pxn => "past the default reach of GPUDirect RDMA (PXB); over NVLink another GPU may stand in (PXN)",
        Reach::Past => "past the default reach of GPUDirect RDMA (PXB): through host memory",
    }
}

fn list(names: &[String]) -> String {
    let all = match names.get(..LISTED) {
        Some(first) if names.len() > LISTED => format!("{} and {} more", first.join(", "), names.len() - LISTED),
        _ => names.join(", "),
    };
    terminal(&all).into_owned()
}

#[cfg(test)]
mod tests {
    use super::render;
    use linerate_formats::nvidia_smi::parse_topo;

    #[test]
    fn names_of_the_legend_are_made_safe() {
        let text = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tSYS\tPIX\nGPU1\tSYS\t X \tNODE\n\nNIC Legend:\n\n  NIC0: mlx5\u{1b}[31m_0\n";
        let mut out = Vec::new();
        render("host\u{1b}[2J", &parse_topo(text.as_bytes()).unwrap(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(!out.contains('\u{1b}'), "{out}");
        assert!(out.contains("  GPU0   PIX  mlx5"), "{out}");
        assert!(out.contains("  PIX: within the default reach"), "{out}");
        assert!(out.contains("  PHB: past the default reach of GPUDirect RDMA (PXB): through host memory"), "{out}");
        assert!(out.contains("  SYS   SYS  GPU0–GPU1\n             past the default level"), "{out}");
    }
}
