//! `nvidia-smi topo -m` and `topo -p2p`.

use super::matrix::{self, Matrix};
use crate::error::{ParseError, Why};
use crate::text::{At, decode, lines};
use serde::Serialize;

/// How two devices are connected, as nvidia-smi names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub enum PathKind {
    /// `X`: the device itself.
    Itself,
    /// `NVn`: a bonded set of n NVLinks.
    Nv(u16),
    /// At most one PCIe bridge.
    Pix,
    /// Several PCIe bridges, no host bridge.
    Pxb,
    /// A PCIe host bridge (usually the CPU).
    Phb,
    /// PCIe and the interconnect between host bridges of one NUMA node.
    Node,
    /// The interconnect between NUMA nodes; `SOC` in old drivers.
    Sys,
    /// Chip-to-chip link.
    C2c,
    /// A word that this version does not know.
    Other(String),
}

impl PathKind {
    fn known(word: &str) -> Option<Self> {
        Some(match word {
            "X" => PathKind::Itself,
            "PIX" => PathKind::Pix,
            "PXB" => PathKind::Pxb,
            "PHB" => PathKind::Phb,
            "NODE" => PathKind::Node,
            "SYS" | "SOC" => PathKind::Sys,
            "C2C" => PathKind::C2c,
            _ => PathKind::Nv(word.strip_prefix("NV")?.parse().ok()?),
        })
    }
}

/// A row of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopoRow {
    /// 1-based line.
    pub line: u32,
    /// Device of the row.
    pub device: String,
    /// One path per column of [`Topo::devices`].
    pub cells: Vec<PathKind>,
    /// What comes after the paths.
    pub affinities: Affinities,
}

/// The columns after the paths; `N/A` is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Affinities {
    /// `CPU Affinity`, a CPU list.
    pub cpu: Option<String>,
    /// `NUMA Affinity`, a node list.
    pub numa: Option<String>,
    /// `GPU NUMA ID`.
    pub gpu_numa_id: Option<String>,
}

/// An entry of the NIC legend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NicName {
    /// `NIC0`.
    pub nic: String,
    /// `mlx5_0`.
    pub name: String,
    /// 1-based line.
    pub line: u32,
}

/// `nvidia-smi topo -m`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Topo {
    /// 1-based line of the header.
    pub header_line: u32,
    /// Columns: GPUs and NICs, under the names of the header.
    pub devices: Vec<String>,
    /// Rows that could be read, in the order of the text.
    pub rows: Vec<TopoRow>,
    /// NIC numbers and device names.
    pub nics: Vec<NicName>,
    /// Rows that do not fit the header: cut or glued beyond repair.
    pub broken_rows: Vec<At<String>>,
}

impl Topo {
    /// The path between two devices, by column name or by NIC device name; from either row, since some texts lack the NICs' rows.
    pub fn path(&self, a: &str, b: &str) -> Option<At<&PathKind>> {
        let (a, b) = (self.column(a), self.column(b));
        self.cell(a, b).or_else(|| self.cell(b, a))
    }

    /// Name of the verbs device behind a column: the legend's, or the column's own.
    pub fn nic_name<'a>(&'a self, column: &'a str) -> &'a str {
        self.nics.iter().find(|n| n.nic == column).map_or(column, |n| &n.name)
    }

    fn column<'a>(&'a self, name: &'a str) -> &'a str {
        self.nics.iter().find(|n| n.name == name).map_or(name, |n| &n.nic)
    }

    fn cell(&self, row: &str, column: &str) -> Option<At<&PathKind>> {
        let at = self.devices.iter().position(|d| d == column)?;
        let row = self.rows.iter().find(|r| r.device == row)?;
        row.cells.get(at).map(|p| At::new(p, row.line))
    }
}

/// Parses the matrix with its legends.
pub fn parse_topo(bytes: &[u8]) -> Result<Topo, ParseError> {
    let text = decode(bytes);
    let Matrix { header_line, devices, extra, rows } = matrix::find(&text).ok_or_else(|| {
        ParseError::new(0, Why::Foreign("no header of nvidia-smi topo -m (expected a line of GPU and NIC names)"))
    })?;
    let mut out = Topo {
        header_line,
        devices: devices.iter().map(|d| (*d).to_owned()).collect(),
        rows: Vec::new(),
        nics: nic_legend(&text),
        broken_rows: Vec::new(),
    };
    for (line, device, words) in rows {
        match paths(&words, devices.len()) {
            Some((cells, rest)) => {
                let affinities = affinities(&rest, &extra);
                out.rows.push(TopoRow { line, device: device.to_owned(), cells, affinities });
            }
            None => out.broken_rows.push(At::new(format!("{device} {}", words.join(" ")), line)),
        }
    }
    Ok(out)
}

/// The first `count` paths and the words after them.
fn paths<'a>(words: &[&'a str], count: usize) -> Option<(Vec<PathKind>, Vec<&'a str>)> {
    let mut cells = Vec::with_capacity(count);
    let mut words = words.iter();
    while cells.len() < count {
        let word = *words.next()?;
        match PathKind::known(word) {
            Some(path) => cells.push(path),
            None => match unglue(word, count) {
                Some(several) => cells.extend(several),
                // Upper case as all path names; anything else is an affinity, so the row is short.
                None if word.len() <= 8
                    && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
                    && word.starts_with(|c: char| c.is_ascii_alphabetic()) =>
                {
                    cells.push(PathKind::Other(word.to_owned()));
                }
                None if word == "N/A" => cells.push(PathKind::Other(word.to_owned())),
                None => return None,
            },
        }
    }
    (cells.len() == count).then(|| (cells, words.copied().collect()))
}

/// `NODENODE`, `SYSSYS`, `NV12PXB`: columns that lost the tab between them.
fn unglue(word: &str, count: usize) -> Option<Vec<PathKind>> {
    const LONGEST: usize = 8;
    if word.len() > count.saturating_mul(LONGEST) {
        return None;
    }
    let mut out = Vec::new();
    let mut rest = word;
    while !rest.is_empty() {
        let name = ["NODE", "PIX", "PXB", "PHB", "SYS", "SOC", "C2C", "X"].into_iter().find(|n| rest.starts_with(n));
        let len = match name {
            Some(n) => n.len(),
            None => 2 + rest.strip_prefix("NV")?.bytes().take_while(u8::is_ascii_digit).count(),
        };
        let (head, tail) = rest.split_at_checked(len)?;
        out.push(PathKind::known(head)?);
        rest = tail;
    }
    (out.len() > 1).then_some(out)
}

fn affinities(words: &[&str], columns: &[&str]) -> Affinities {
    let mut out = Affinities::default();
    // Empty columns leave no word. With as many words as columns the order tells; otherwise only a CPU range is recognisable.
    if words.len() == columns.len() {
        for (word, column) in words.iter().zip(columns) {
            let value = (*word != "N/A").then(|| (*word).to_owned());
            match *column {
                "CPU Affinity" => out.cpu = value,
                "NUMA Affinity" => out.numa = value,
                _ => out.gpu_numa_id = value,
            }
        }
    } else if columns.contains(&"CPU Affinity") {
        out.cpu =
            words.first().filter(|w| w.contains('-') && crate::cpulist::parse(w).is_some()).map(|w| (*w).to_owned());
    }
    out
}

/// `  NIC0: mlx5_0`
fn nic_legend(text: &str) -> Vec<NicName> {
    lines(text)
        .filter_map(|(line, raw)| {
            let (nic, name) = raw.trim().split_once(':')?;
            let digits = nic.strip_prefix("NIC")?;
            let fits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && !name.trim().is_empty();
            fits.then(|| NicName { nic: nic.to_owned(), name: name.trim().to_owned(), line })
        })
        .collect()
}

/// What the driver says about peer access between two GPUs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub enum P2pStatus {
    /// `X`: the GPU itself.
    Itself,
    /// `OK`.
    Ok,
    /// `CNS`: chipset not supported.
    ChipsetNotSupported,
    /// `GNS`: GPU not supported.
    GpuNotSupported,
    /// `TNS`: topology not supported.
    TopologyNotSupported,
    /// `NS`: not supported.
    NotSupported,
    /// `DR`: disabled by a registry key.
    DisabledByRegistry,
    /// `U`: unknown.
    Unknown,
    /// A word that this version does not know.
    Other(String),
}

/// `nvidia-smi topo -p2p X`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopoP2p {
    /// The capability asked for (`r`, `w`, `n`, `a`, `p`), where the command line is part of the text.
    pub capability: Option<char>,
    /// Columns.
    pub devices: Vec<String>,
    /// Line, GPU, one status per column.
    pub rows: Vec<(u32, String, Vec<P2pStatus>)>,
}

impl TopoP2p {
    /// Status between two GPUs.
    pub fn status(&self, a: &str, b: &str) -> Option<At<&P2pStatus>> {
        let at = self.devices.iter().position(|d| d == b)?;
        let (line, _, cells) = self.rows.iter().find(|(_, d, _)| d == a)?;
        cells.get(at).map(|s| At::new(s, *line))
    }
}

/// Parses the peer-to-peer matrix.
pub fn parse_p2p(bytes: &[u8]) -> Result<TopoP2p, ParseError> {
    let text = decode(bytes);
    let Matrix { devices, rows, .. } = matrix::find(&text).ok_or_else(|| {
        ParseError::new(0, Why::Foreign("no header of nvidia-smi topo -p2p (expected a line of GPU names)"))
    })?;
    let asked = lines(&text).find_map(|(_, l)| l.split_once("-p2p")).and_then(|(_, r)| r.trim().chars().next());
    let rows = rows
        .into_iter()
        .filter(|(_, _, words)| words.len() >= devices.len())
        .map(|(line, d, words)| (line, d.to_owned(), words.into_iter().take(devices.len()).map(status).collect()))
        .collect();
    Ok(TopoP2p {
        capability: asked.filter(char::is_ascii_lowercase),
        devices: devices.iter().map(|d| (*d).to_owned()).collect(),
        rows,
    })
}

/// Whether a text has a matrix with peer-to-peer states.
pub(super) fn has_states(text: &str) -> bool {
    let is_state = |s: &P2pStatus| !matches!(s, P2pStatus::Other(_) | P2pStatus::Itself);
    parse_p2p(text.as_bytes()).is_ok_and(|m| m.rows.iter().flat_map(|(_, _, cells)| cells).any(is_state))
}

fn status(word: &str) -> P2pStatus {
    match word {
        "X" => P2pStatus::Itself,
        "OK" => P2pStatus::Ok,
        "CNS" => P2pStatus::ChipsetNotSupported,
        "GNS" => P2pStatus::GpuNotSupported,
        "TNS" => P2pStatus::TopologyNotSupported,
        "NS" => P2pStatus::NotSupported,
        "DR" => P2pStatus::DisabledByRegistry,
        "U" => P2pStatus::Unknown,
        other => P2pStatus::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_colours_legend_and_affinities() {
        let t = parse_topo(
            b"\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n\
GPU0\t X \tNV18\tPIX\tSYS\t0-55,112-167\t0\t\tN/A\nGPU1\tNV18\t X \tSYS\tPIX\t56-111\t1\t\t3\nNIC0\tPIX\tSYS\t X \tSYS\t\t\t\t\nNIC1\tSYS\tPIX\tSYS\t X \t\t\t\t\n\n\
Legend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: rocep1s0\n",
        )
        .unwrap();
        assert_eq!(t.devices, ["GPU0", "GPU1", "NIC0", "NIC1"]);
        assert_eq!(t.rows.len(), 4);
        assert_eq!(t.path("GPU1", "rocep1s0"), Some(At::new(&PathKind::Pix, 3)));
        assert_eq!(t.path("GPU0", "GPU1").unwrap().value, &PathKind::Nv(18));
        assert_eq!(
            t.rows[0].affinities,
            Affinities { cpu: Some("0-55,112-167".into()), numa: Some("0".into()), gpu_numa_id: None }
        );
        assert_eq!(t.rows[1].affinities.gpu_numa_id.as_deref(), Some("3"));
        assert_eq!(t.nic_name("NIC1"), "rocep1s0");
        assert_eq!(t.rows[2].affinities, Affinities::default());
    }

    #[test]
    fn glued_columns_broken_headers_and_cut_rows() {
        let t = parse_topo(
            b"Note: GPU0 was there\n  GPU0\nGPU1 mlx5_0mlx5_1 mlx5_2 CPU Affinity\nGPU1 NV12 X NODENODE SYS 0-31\nGPU0 X NV12NODE SYSSYS 32\nGPU0 X NV12 NODE 0-31\n",
        )
        .unwrap();
        assert_eq!(t.devices, ["GPU0", "GPU1", "mlx5_0", "mlx5_1", "mlx5_2"]);
        assert_eq!(t.path("GPU1", "mlx5_1").unwrap().value, &PathKind::Node);
        assert_eq!(t.path("mlx5_2", "GPU0").unwrap().value, &PathKind::Sys);
        assert_eq!((t.rows.len(), t.broken_rows.len()), (2, 1));
        assert!(parse_topo(b"nothing here").is_err());
    }

    #[test]
    fn peer_to_peer() {
        let t = parse_p2p(
            b"$ nvidia-smi topo -p2p r\n \tGPU0\tGPU1\t\n GPU0\tX\tCNS\t\n GPU1\tOK\tX\t\n\nLegend:\n  X    = Self\n",
        )
        .unwrap();
        assert_eq!((t.capability, t.rows.len()), (Some('r'), 2));
        assert_eq!(t.status("GPU0", "GPU1"), Some(At::new(&P2pStatus::ChipsetNotSupported, 3)));
        assert_eq!(t.status("GPU1", "GPU0").unwrap().value, &P2pStatus::Ok);
    }
}
