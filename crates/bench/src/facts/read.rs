//! Which facts of a node can move a benchmark, how much, and why. Stored with every run: other words are a false difference.

use super::{Facts, counted};
use crate::compare::Weight::{self, Possible, Slight, Strong};
use linerate_facts::{Fact, NAMES_A_BOOT, Subject, Unit, Value};
use linerate_formats::cmdline::Cmdline;
use linerate_formats::pci::caps::AcsBits;
use linerate_node::pci::Kind;
use linerate_node::{Node, Reading};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What it is called, how much it matters, why, and the id of the fact. Facts of many subjects are counted by their values.
const ROWS: &[(&str, Weight, &str, &str)] = &[
    ("BIOS version", Possible, "firmware sets links, IOMMU and power", "firmware.bios_version"),
    ("role", Strong, "bare metal and guests have different paths", "context.role"),
    ("kernel", Possible, "drivers and the network stack come with it", "kernel.release"),
    ("kernel arguments", Possible, "how the kernel was configured at boot", "kernel.cmdline"),
    ("CPU", Strong, "another processor has another root complex", "cpu.model_name"),
    ("processors", Possible, "threads of the benchmark share them", "cpu.processors"),
    ("CPU governor", Possible, "a clock that sleeps adds latency", "cpu.governors"),
    ("CPU energy preference", Slight, "a clock that sleeps adds latency", "cpu.energy_preferences"),
    ("locked memory limit", Possible, "RDMA registers memory within it", "memory.memlock.soft_bytes"),
    ("NUMA balancing", Possible, "the kernel moves pages while they are used", "memory.numa_balancing"),
    ("transparent huge pages", Slight, "page size under host buffers", "memory.transparent_hugepages"),
    ("NUMA nodes", Possible, "NPS and sub-NUMA clustering move devices", "numa"),
    ("IOMMU domains", Strong, "translated domains slow DMA; identity ones do not", "iommu.groups"),
    ("IOMMU domains", Strong, "translated domains slow DMA; identity ones do not", "iommu.groups.domain"),
    ("GPUs", Strong, "what is measured runs on them", "gpus.driver_view.name"),
    ("NVIDIA driver", Possible, "memory registration and NVLink come with it", "nvidia.version"),
    ("nvidia_peermem", Strong, PEERMEM, "peermem.nvidia_peermem"),
    ("nv_peer_mem", Strong, PEERMEM, "peermem.nv_peer_mem"),
    ("RDMA NICs", Strong, "what is measured goes through them", "rdma.hca_type"),
    ("NIC firmware", Possible, "congestion control and PCIe behaviour come with it", "rdma.firmware"),
    ("RDMA port rates", Strong, "the ceiling itself", "rdma.ports.rate_gbps"),
    ("RDMA port MTU", Strong, "headers take their share of each packet", "rdma.ports.active_mtu"),
    ("RDMA link layer", Strong, "another network", "rdma.ports.link_layer"),
    ("RDMA port states", Strong, "a port that is down carries nothing", "rdma.ports.state"),
    ("MTU of NICs' interfaces", Possible, "RoCE packets must fit", "net.mtu"),
    ("NCCL configuration file", Slight, "how NCCL is configured on this node", "nccl.conf"),
];
const PEERMEM: &str = "without it, and without DMA-BUF, GPUDirect RDMA is off";
const LINK: &str = "a link at half speed halves what goes through it";

/// Facts of several facts.
#[derive(Default)]
struct Joined {
    product: Vec<String>,
    /// Speed of the function whose width comes next.
    speed: Option<String>,
    links: BTreeMap<&'static str, Vec<String>>,
    ports: usize,
    redirecting: usize,
    settings: BTreeMap<String, BTreeSet<String>>,
}

pub(super) fn facts(node: &Node<'_>, facts: &mut Facts) {
    let rows: HashMap<&str, usize> = ROWS.iter().enumerate().map(|(i, r)| (r.3, i)).collect();
    let mut values: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
    let mut joined = Joined::default();
    linerate_facts::each(node, &mut |fact| {
        let row = rows.get(fact.def.id).filter(|_| measured(node, fact.subject));
        match row.and_then(|i| Some((*i, ROWS.get(*i)?.0, words(fact)?))) {
            Some((i, what, value)) => values.entry(what).or_insert((i, Vec::new())).1.push(value),
            None => joined.take(fact),
        }
    });
    for (what, (row, all)) in values {
        if let Some((_, weight, why, _)) = ROWS.get(row) {
            facts.add(what, *weight, why, counted(all));
        }
    }
    joined.add(facts);
}

/// What no benchmark goes through is left out: RDMA devices without hardware, interfaces of other devices.
fn measured(node: &Node<'_>, subject: Subject<'_>) -> bool {
    match subject {
        Subject::RdmaDevice(d) | Subject::Port(d, _) => !d.is_virtual,
        Subject::Interface(n) => {
            let mut hardware = node.rdma.known().into_iter().flatten().filter(|d| !d.is_virtual);
            n.pci.is_some() && hardware.any(|d| d.pci == n.pci)
        }
        Subject::InterfaceShown(_) | Subject::InterfaceWritten(_) => false,
        _ => true,
    }
}

/// A fact in words; `None`: it is not known, or says nothing here.
fn words(fact: &Fact<'_>) -> Option<String> {
    let value = match (&fact.reading, fact.def.id) {
        (Reading::Known(Value::There, _), _) => "loaded".to_owned(),
        (Reading::Absent(_), "peermem.nvidia_peermem" | "peermem.nv_peer_mem") => "not loaded".to_owned(),
        (Reading::Known(Value::Arguments(line), _), _) => settings(line),
        (Reading::Known(Value::Members(groups), _), "iommu.groups") => {
            return groups.is_empty().then(|| "no groups: off".to_owned());
        }
        (Reading::Known(value, _), _) if fact.def.unit == Unit::Gbps => format!("{value} {}", fact.def.unit.symbol()),
        (Reading::Known(value, _), _) => value.to_string(),
        (_, "iommu.groups.domain") => "not seen".to_owned(),
        _ => return None,
    };
    Some(value)
}

fn settings(line: &Cmdline) -> String {
    let settings = line.params.iter().filter(|p| !NAMES_A_BOOT.contains(&p.name.as_str()));
    let mut list: Vec<&str> = settings.map(|p| p.raw.as_str()).collect();
    list.sort_unstable();
    list.join(" ")
}

impl Joined {
    fn take(&mut self, fact: &Fact<'_>) {
        let value = fact.reading.known();
        match (fact.def.id, fact.subject) {
            ("firmware.sys_vendor" | "firmware.product", _) => self.product.extend(value.map(ToString::to_string)),
            ("pci.link.speed", _) => self.speed = value.map(ToString::to_string),
            ("pci.link.width", Subject::Function(f)) => {
                let what = match f.kind {
                    Kind::Gpu => "PCIe links of GPUs",
                    Kind::RdmaNic => "PCIe links of RDMA NICs",
                    _ => return,
                };
                if let (Some(speed), Some(width), false) = (self.speed.take(), value, f.is_vf()) {
                    self.links.entry(what).or_default().push(format!("{speed} {width}"));
                }
            }
            ("pci.acs.control", _) => {
                if let Some(Value::Acs(control)) = value {
                    self.ports += 1;
                    self.redirecting += usize::from(control.any(AcsBits::REDIRECT));
                }
            }
            // What runs; where the query shows only what comes after a reset, that.
            ("nic_firmware.settings.current" | "nic_firmware.settings.next", Subject::Setting(_, p)) => {
                if let (Some(value), true) = (value, p.current.is_none() || fact.def.id.ends_with(".current")) {
                    self.settings.entry(format!("NIC setting {}", p.name)).or_default().insert(value.to_string());
                }
            }
            _ => {}
        }
    }

    fn add(self, facts: &mut Facts) {
        let product = Some(self.product.join(" ")).filter(|p| !p.is_empty());
        facts.add("server model", Strong, "another board has other PCIe paths", product);
        for (what, links) in self.links {
            facts.add(what, Strong, LINK, counted(links));
        }
        let acs = (self.ports > 0).then(|| format!("{} of {} ports redirect", self.redirecting, self.ports));
        facts.add("ACS", Strong, "redirected peer traffic goes through the root complex", acs);
        for (what, values) in self.settings {
            let values = values.into_iter().collect::<Vec<_>>().join(" | ");
            facts.add(what, Possible, "a setting of the NIC's firmware", Some(values));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ROWS;

    #[test]
    fn every_row_is_a_fact_of_the_list() {
        for (what, .., id) in ROWS {
            assert!(linerate_facts::defs().any(|d| d.id == *id), "{what}: {id}");
        }
    }
}
