//! Counters of a node, in one list: of RDMA ports, network interfaces, PCIe (AER) and GPUs, wherever they were read.
//!
//! One reading says little: counters count since a time that nobody knows. What grows between two readings is in [`growth`](Growth::between),
//! what a counter means in [`known`](known::known).

mod growth;
pub mod known;

pub use growth::{Doubt, Grown, Growth, Moment, Sample, Stuck, Traffic, Verdict, Watch};

use crate::Node;
use crate::aer::AerFiles;
use linerate_formats::nvidia_smi::{self, GpuCounter};
use linerate_formats::pci::Bdf;
use linerate_formats::{ethtool, nvml, perfquery};
use linerate_snapshot::{OutputKind, Place, Snapshot};
use std::fmt;

/// What counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A port of an RDMA device.
    Port(String, u32),
    /// A port of an InfiniBand fabric, by its LID, as `perfquery` names it.
    Lid(Option<u32>, Option<u32>),
    /// A network interface. Where a text does not name it: the number of its table in the text.
    Interface(Result<String, u32>),
    /// A GPU.
    Gpu(Gpu),
    /// A link of a GPU: an NVLink, or a lane of PCIe.
    GpuLink(Gpu, u32),
    /// A PCI function.
    Function(Bdf),
}

/// A GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gpu {
    /// By its address.
    At(Bdf),
    /// By the number that `nvidia-smi` or `amd-smi` gives it.
    Number(u32),
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gpu::At(bdf) => write!(f, "GPU {bdf}"),
            Gpu::Number(n) => write!(f, "GPU {n}"),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Port(device, port) => write!(f, "{device} port {port}"),
            Owner::Lid(lid, port) => {
                match lid {
                    Some(lid) => write!(f, "LID {lid}")?,
                    None => f.write_str("a port that is not named")?,
                }
                port.map_or(Ok(()), |p| write!(f, " port {p}"))
            }
            Owner::Interface(Ok(name)) => f.write_str(name),
            Owner::Interface(Err(0)) => f.write_str("an interface that the text does not name"),
            Owner::Interface(Err(n)) => write!(f, "interface {} of the text, which does not name it", n + 1),
            Owner::Gpu(gpu) => gpu.fmt(f),
            Owner::GpuLink(gpu, link) => write!(f, "{gpu} link {link}"),
            Owner::Function(bdf) => bdf.fmt(f),
        }
    }
}

/// A counter, as it was read once.
#[derive(Debug, Clone, PartialEq)]
pub struct Counter {
    /// What counts.
    pub owner: Owner,
    /// Its name, by which [`known::known`] knows it.
    pub name: String,
    /// Value.
    pub value: u64,
    /// Where it was read.
    pub place: Place,
}

/// Files of `hw_counters` that count nothing.
const NO_COUNTERS: [&str; 1] = ["lifespan"];

/// Counters of interfaces, and of ports that are named by their LID.
#[must_use]
pub fn of_networks(node: &Node<'_>, s: &Snapshot) -> Vec<Counter> {
    let mut list = Vec::new();
    interfaces(node, s, &mut list);
    network_texts(s, &mut list);
    one_of_each(&mut list);
    list
}

/// All counters of a node, by owner and name. A counter that several texts show is there once: that of the kernel's own file goes first.
#[must_use]
pub fn all(node: &Node<'_>, s: &Snapshot) -> Vec<Counter> {
    let mut list = Vec::new();
    ports(node, &mut list);
    functions(node, s, &mut list);
    interfaces(node, s, &mut list);
    gpus(node, s, &mut list);
    network_texts(s, &mut list);
    one_of_each(&mut list);
    list
}

/// `ethtool -S`, `perfquery`.
fn network_texts(s: &Snapshot, list: &mut Vec<Counter>) {
    for o in &s.outputs {
        let at = |line| Place::of(o.entry).line(line);
        match o.kind {
            OutputKind::EthtoolStats => {
                list.extend(ethtool::read_statistics(s.data(o.entry)).items.into_iter().map(|c| {
                    // The command that a capture ran names it; of a pasted text, the line above.
                    let named = o.argv.last().cloned().or(c.interface).ok_or(c.table);
                    Counter { owner: Owner::Interface(named), name: c.name, value: c.value, place: at(c.line) }
                }))
            }
            OutputKind::Perfquery => list.extend(perfquery::read(s.data(o.entry)).items.into_iter().filter_map(|c| {
                let counts = !matches!(c.name.as_str(), "PortSelect" | "CounterSelect" | "CounterSelect2");
                let owner = Owner::Lid(c.lid, c.port);
                counts.then(|| Counter { owner, name: c.name, value: c.value, place: at(c.line) })
            })),
            _ => {}
        }
    }
}

fn ports(node: &Node<'_>, list: &mut Vec<Counter>) {
    for d in node.rdma.known().into_iter().flatten() {
        for p in &d.ports {
            let owner = Owner::Port(d.name.clone(), p.number);
            let found = p.counters.iter().filter(|(n, ..)| !NO_COUNTERS.contains(n));
            list.extend(found.map(|(name, value, place)| Counter {
                owner: owner.clone(),
                name: name.to_owned(),
                value,
                place,
            }));
        }
    }
}

fn functions(node: &Node<'_>, s: &Snapshot, list: &mut Vec<Counter>) {
    let mut files = AerFiles::of(s);
    for (_, f) in node.pci.iter() {
        let c = files.counters(f);
        for (file, counted) in
            [("aer_dev_correctable", &c.correctable), ("aer_dev_nonfatal", &c.nonfatal), ("aer_dev_fatal", &c.fatal)]
        {
            let Some(counted) = counted.known().map(|k| (k, counted.place())) else { continue };
            let (parts, place) = counted;
            let mut push = |name: String, value| {
                list.push(Counter { owner: Owner::Function(f.bdf), name, value, place });
            };
            push(file.to_owned(), parts.total);
            parts.parts.iter().for_each(|(part, n)| push(format!("{file}.{part}"), *n));
        }
    }
}

/// Interfaces with hardware: what the kernel counts of each.
fn interfaces(node: &Node<'_>, s: &Snapshot, list: &mut Vec<Counter>) {
    for n in node.net.known().into_iter().flatten().filter(|n| s.child(n.home, "device").is_some()) {
        let owner = Owner::Interface(Ok(n.name.to_owned()));
        let dir = s.child(n.home, "statistics").map(|d| s.children(d)).unwrap_or_default();
        let own = s.child(n.home, "carrier_down_count").map(|e| ("carrier_down_count", e));
        for (name, entry) in dir.into_iter().chain(own) {
            if let Some(value) = crate::rdma::count(s.data(entry)) {
                list.push(Counter { owner: owner.clone(), name: name.to_owned(), value, place: Place::of(entry) });
            }
        }
    }
}

/// Counters of the GPUs alone, as the driver shows them.
#[must_use]
pub fn of_gpus(node: &Node<'_>, s: &Snapshot) -> Vec<Counter> {
    let mut list = Vec::new();
    gpus(node, s, &mut list);
    one_of_each(&mut list);
    list
}

/// By owner and name; of equals the first stays.
fn one_of_each(list: &mut Vec<Counter>) {
    list.sort_by(|a, b| (&a.owner, &a.name).cmp(&(&b.owner, &b.name)));
    list.dedup_by(|later, first| later.owner == first.owner && later.name == first.name);
}

fn gpus(node: &Node<'_>, s: &Snapshot, list: &mut Vec<Counter>) {
    // The library has more counters than nvidia-smi's query; where both have one, it is the same.
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Nvml) {
        let Ok(answers) = nvml::parse(s.data(o.entry)) else { continue };
        for d in answers.devices {
            let Some(bdf) = d.address() else { continue };
            list.extend(d.counters.into_iter().map(|(name, value)| Counter {
                owner: Owner::Gpu(Gpu::At(bdf)),
                name,
                value,
                place: Place::of(o.entry),
            }));
        }
    }
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::NvidiaSmiCounters) {
        let found = nvidia_smi::read_counters(s.data(o.entry)).items.into_iter();
        list.extend(found.filter_map(|c| gpu_counter(c, o.entry)));
    }
    for g in &node.nvidia.gpus {
        for (name, value) in [("pcie_replays", &g.replays), ("pcie_replay_rollovers", &g.replay_rollovers)] {
            if let Some(n) = value.known() {
                let owner = Owner::Gpu(Gpu::At(g.bdf));
                list.push(Counter { owner, name: name.to_owned(), value: *n, place: value.place() });
            }
        }
    }
    for g in &node.amd.gpus {
        let owner = of_amd(g);
        for (name, value) in [
            ("pcie_replays", &g.replays),
            ("pcie_replay_rollovers", &g.replay_rollovers),
            ("pcie_l0_to_recovery", &g.l0_to_recovery),
            ("pcie_naks_sent", &g.naks_sent),
            ("pcie_naks_received", &g.naks_received),
        ] {
            if let Some(n) = value.known() {
                list.push(Counter { owner: owner.clone(), name: name.to_owned(), value: *n, place: value.place() });
            }
        }
    }
}

/// A GPU of AMD as an owner of counters.
#[must_use]
pub fn of_amd(g: &crate::amd::AmdGpu) -> Owner {
    Owner::Gpu(g.bdf.map_or(Gpu::Number(g.number), Gpu::At))
}

/// A line of `nvidia-smi nvlink -e` or `pci -gErrCnt`, under the name that the library's counter has here.
fn gpu_counter(c: GpuCounter, entry: linerate_snapshot::EntryId) -> Option<Counter> {
    let gpu = Gpu::Number(c.gpu);
    let name = match c.name.as_str() {
        "Replay Errors" => "nvlink_replay",
        "Recovery Errors" => "nvlink_recovery",
        "CRC Errors" => "nvlink_crc",
        "ECC Errors" => "nvlink_ecc_data",
        "Data Tx" => "nvlink_tx_kib",
        "Data Rx" => "nvlink_rx_kib",
        "lane" => "pcie_lane_errors",
        "REPLAY_COUNTER" => "pcie_replays",
        "REPLAY_ROLLOVER_COUNTER" => "pcie_replay_rollovers",
        "L0_TO_RECOVERY_COUNTER" => "pcie_l0_to_recovery",
        "CORRECTABLE_ERRORS" => "pcie_correctable",
        "NAKS_RECEIVED" => "pcie_naks_received",
        "RECEIVER_ERROR" => "pcie_receiver_error",
        "BAD_TLP" => "pcie_bad_tlp",
        "NAKS_SENT" => "pcie_naks_sent",
        "BAD_DLLP" => "pcie_bad_dllp",
        "NON_FATAL_ERROR" => "pcie_non_fatal",
        "FATAL_ERROR" => "pcie_fatal",
        "UNSUPPORTED_REQ" => "pcie_unsupported_request",
        "LCRC_ERROR" => "pcie_lcrc_error",
        // TX_BYTES and RX_BYTES begin anew after 4 GiB, many times in a second under load: no difference of two readings means anything.
        _ => return None,
    };
    let owner = c.link.map_or(Owner::Gpu(gpu), |link| Owner::GpuLink(gpu, link));
    Some(Counter { owner, name: name.to_owned(), value: c.value, place: Place::of(entry).line(c.line) })
}

#[cfg(test)]
mod tests;
