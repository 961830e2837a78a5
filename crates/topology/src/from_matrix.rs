//! What a matrix of `nvidia-smi topo -m` alone tells of NCCL: the type of each pair, and the NICs nearest to each GPU.

use crate::from_node::matrix::word;
use crate::path::PathType;
use linerate_formats::nvidia_smi::{PathKind, Topo};
use std::collections::BTreeMap;

/// What is concluded from a matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromMatrix {
    /// Pairs of GPUs by what connects them, the nearest first.
    pub gpus: BTreeMap<Between, Vec<(String, String)>>,
    /// Of each GPU that has a NIC with a known path, the nearest.
    pub nearest: Vec<Nearest>,
    /// Pairs whose cell is not there or not understood.
    pub open: usize,
}

/// What connects two GPUs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Between {
    /// NCCL's type.
    pub kind: PathType,
    /// The letters of the matrix.
    pub letters: String,
}

/// The nearest NICs of a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The GPU, as the matrix names it.
    pub gpu: String,
    /// Type of the path to each of them.
    pub kind: PathType,
    /// Their names: those of the legend where there is one.
    pub nics: Vec<String>,
}

/// What NCCL does between two GPUs by default (`ncclTopoCheckP2p`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// Direct copies over NVLink.
    Nvlink,
    /// Direct copies over PCIe.
    Pcie,
    /// The path is past the default level (PXB).
    Past,
}

/// What NCCL does between a GPU and its nearest NIC by default (`ncclTopoCheckGdr`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Within the default reach of GPUDirect RDMA (PXB).
    Within,
    /// Past it, and over NVLink another GPU may stand in (PXN).
    Pxn,
    /// Past it.
    Past,
}

impl FromMatrix {
    /// Concludes it.
    #[must_use]
    pub fn of(m: &Topo) -> Self {
        let is_gpu = |d: &&String| d.starts_with("GPU");
        let gpus: Vec<&String> = m.devices.iter().filter(is_gpu).collect();
        let nics: Vec<&String> = m.devices.iter().filter(|d| !is_gpu(d)).collect();
        let mut out = FromMatrix { gpus: BTreeMap::new(), nearest: Vec::new(), open: 0 };
        let cell = |a: &str, b: &str| m.path(a, b).and_then(|c| Between::of(c.value));
        for (i, a) in gpus.iter().copied().enumerate() {
            for b in gpus.iter().copied().skip(i + 1) {
                match cell(a, b) {
                    Some(at) => out.gpus.entry(at).or_default().push((a.clone(), b.clone())),
                    None => out.open += 1,
                }
            }
            let ways: Vec<(PathType, &str)> =
                nics.iter().filter_map(|n| Some((cell(a, n)?.kind, m.nic_name(n)))).collect();
            out.open += nics.len() - ways.len();
            if let Some(kind) = ways.iter().map(|w| w.0).min() {
                let nics = ways.iter().filter(|w| w.0 == kind).map(|w| w.1.to_owned()).collect();
                out.nearest.push(Nearest { gpu: a.clone(), kind, nics });
            }
        }
        out
    }

    /// Whether some pair of GPUs has NVLink.
    #[must_use]
    pub fn has_nvlink(&self) -> bool {
        self.gpus.keys().any(|b| b.kind == PathType::Nvl)
    }

    /// What NCCL does by default with a nearest NIC of such a type.
    #[must_use]
    pub fn reach(&self, kind: PathType) -> Reach {
        match kind {
            PathType::Pix | PathType::Pxb => Reach::Within,
            _ if self.has_nvlink() => Reach::Pxn,
            _ => Reach::Past,
        }
    }
}

impl Between {
    /// What NCCL calls a cell: `NODE` is the way between host bridges of one NUMA node, which is one CPU to NCCL (PHB). NVLink between a GPU
    /// and a NIC there is not.
    fn of(cell: &PathKind) -> Option<Self> {
        let kind = match cell {
            PathKind::Nv(_) => PathType::Nvl,
            PathKind::C2c => PathType::C2c,
            PathKind::Pix => PathType::Pix,
            PathKind::Pxb => PathType::Pxb,
            PathKind::Phb | PathKind::Node => PathType::Phb,
            PathKind::Sys => PathType::Sys,
            PathKind::Itself | PathKind::Other(_) => return None,
        };
        Some(Between { kind, letters: word(cell) })
    }

    /// What NCCL does by default.
    #[must_use]
    pub fn copies(&self) -> Copies {
        match self.kind {
            PathType::Nvl => Copies::Nvlink,
            PathType::C2c | PathType::Pix | PathType::Pxb => Copies::Pcie,
            _ => Copies::Past,
        }
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
        let found = FromMatrix::of(&parse_topo(text.as_bytes()).unwrap());
        let pairs: Vec<(&str, &str, Copies, usize)> =
            found.gpus.iter().map(|(b, p)| (b.kind.name(), b.letters.as_str(), b.copies(), p.len())).collect();
        assert_eq!(pairs, [("NVL", "NV18", Copies::Nvlink, 1), ("SYS", "SYS", Copies::Past, 2)]);
        let near: Vec<(&str, &str, String, Reach)> = found
            .nearest
            .iter()
            .map(|n| (n.gpu.as_str(), n.kind.name(), n.nics.join(" "), found.reach(n.kind)))
            .collect();
        assert_eq!(
            near,
            [
                ("GPU0", "PIX", "mlx5_0".to_owned(), Reach::Within),
                ("GPU1", "PHB", "mlx5_0 mlx5_1".to_owned(), Reach::Pxn),
                ("GPU2", "SYS", "mlx5_0 mlx5_1".to_owned(), Reach::Pxn),
            ]
        );
        assert_eq!(found.open, 0);
    }
}
