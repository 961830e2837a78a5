//! The node as JSON.

use super::gpu::{self, GpuOut, NvidiaOut};
use super::pci::{self, FunctionOut};
use super::value::{Seer, Unseen, Value};
use crate::words::Words;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::cpu::{CpuVendor, Tally};
use linerate_node::firmware::Lockdown;
use linerate_node::iommu::DomainType;
use linerate_node::memory::Limit;
use linerate_node::nicfw::NicFirmware;
use linerate_node::rdma::{Gid, LinkLayer, PortState, RdmaDevice, RdmaPort};
use linerate_snapshot::Reading;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct NodeOut<'a> {
    kernel: KernelOut<'a>,
    firmware: FirmwareOut<'a>,
    cpu: CpuOut<'a>,
    memory: MemoryOut<'a>,
    numa: Value<Vec<NumaOut<'a>>>,
    iommu: IommuOut<'a>,
    gpus: Vec<GpuOut<'a>>,
    nvidia: NvidiaOut<'a>,
    nic_firmware: Vec<NicFirmwareOut<'a>>,
    rdma: Value<Vec<RdmaOut<'a>>>,
    net: Value<Vec<NetOut<'a>>>,
    /// `null`: no list of PCI functions in this source.
    pci: Vec<FunctionOut<'a>>,
    unseen: Vec<Unseen>,
}

#[derive(Serialize)]
struct KernelOut<'a> {
    release: Value<String>,
    cmdline: Value<Vec<&'a str>>,
    modules: Value<&'a [String]>,
}

/// Settings of a NIC's firmware as `mlxconfig` prints them; `null` where the query did not ask.
#[derive(Serialize)]
struct NicFirmwareOut<'a> {
    name: &'a str,
    pci: Option<Bdf>,
    settings: Vec<SettingOut<'a>>,
}

#[derive(Serialize)]
struct SettingOut<'a> {
    name: &'a str,
    current: Option<&'a str>,
    next: Option<&'a str>,
}

/// Intel, AMD, Zhaoxin, Arm with the core's ids, or another vendor's own word.
#[derive(Serialize)]
struct VendorOut<'a> {
    name: &'a str,
    implementer: Option<u32>,
    part: Option<u32>,
}

#[derive(Serialize)]
struct FirmwareOut<'a> {
    sys_vendor: Value<&'a str>,
    product: Value<&'a str>,
    bios_version: Value<&'a str>,
    detected_virt: Value<&'a str>,
    lockdown: Value<Lockdown>,
}

#[derive(Serialize)]
struct CpuOut<'a> {
    vendor: Value<VendorOut<'a>>,
    family: Value<u32>,
    model: Value<u32>,
    model_name: Value<&'a str>,
    hypervisor: Value<bool>,
    processors: Value<u32>,
    sockets: Value<u32>,
    governors: Value<Vec<TallyOut<'a>>>,
    frequency_driver: Value<&'a str>,
    energy_preferences: Value<Vec<TallyOut<'a>>>,
    idle_states: Value<Vec<IdleOut<'a>>>,
}

#[derive(Serialize)]
struct TallyOut<'a> {
    value: &'a str,
    cpus: u32,
}

#[derive(Serialize)]
struct IdleOut<'a> {
    name: &'a str,
    latency_us: Option<u32>,
    disabled: bool,
}

#[derive(Serialize)]
struct MemoryOut<'a> {
    total_kib: Value<u64>,
    memlock: Value<MemlockOut>,
    shm_bytes: Value<u64>,
    huge_pages: Value<u64>,
    numa_balancing: Value<u32>,
    transparent_hugepages: Value<&'a str>,
}

/// `null`: unlimited.
#[derive(Serialize)]
struct MemlockOut {
    soft_bytes: Option<u64>,
    hard_bytes: Option<u64>,
}

#[derive(Serialize)]
struct NumaOut<'a> {
    id: u32,
    cpulist: &'a str,
    distance: &'a [u32],
}

#[derive(Serialize)]
struct IommuOut<'a> {
    groups: Value<Vec<GroupOut<'a>>>,
    units: Value<&'a [String]>,
    acpi_tables: Value<&'a [String]>,
}

#[derive(Serialize)]
struct GroupOut<'a> {
    id: u32,
    domain: Value<DomainType>,
    devices: &'a [Bdf],
}

#[derive(Serialize)]
struct RdmaOut<'a> {
    name: &'a str,
    pci: Option<Bdf>,
    firmware: Value<&'a str>,
    board_id: Value<&'a str>,
    hca_type: Value<&'a str>,
    is_software: bool,
    ports: Vec<PortOut<'a>>,
}

#[derive(Serialize)]
struct PortOut<'a> {
    number: u32,
    state: Value<PortState>,
    phys_state: Value<&'a str>,
    rate_gbps: Value<f64>,
    rate_text: Value<&'a str>,
    link_layer: Value<LinkLayer>,
    lid: Value<u32>,
    sm_lid: Value<u32>,
    active_mtu: Value<u32>,
    netdev: Value<&'a str>,
    gids: Value<Vec<GidOut<'a>>>,
}

#[derive(Serialize)]
struct GidOut<'a> {
    index: u32,
    gid: &'a str,
    kind: Option<&'a str>,
    netdev: Option<&'a str>,
}

#[derive(Serialize)]
struct NetOut<'a> {
    name: &'a str,
    pci: Option<Bdf>,
    mtu: Value<u32>,
    operstate: Value<&'a str>,
    speed_mbps: Value<u32>,
    master: Option<&'a str>,
    bond_mode: Value<&'a str>,
    bond_slaves: Value<&'a str>,
}

pub(super) fn node<'a>(node: &'a Node<'a>, words: &Words<'_>) -> NodeOut<'a> {
    let seer = &mut Seer::new(words);
    let out = NodeOut {
        kernel: kernel(node, seer),
        firmware: firmware(node, seer),
        cpu: cpu(node, seer),
        memory: memory(node, seer),
        numa: seer.value("node", "numa", &node.numa, |list| {
            list.iter().map(|n| NumaOut { id: n.id, cpulist: &n.cpulist, distance: &n.distance }).collect()
        }),
        iommu: iommu(node, seer),
        gpus: gpu::gpus(node, seer),
        nvidia: gpu::nvidia(node, seer),
        nic_firmware: node.nic_firmware.iter().map(nic_firmware).collect(),
        rdma: list(seer, "rdma", &node.rdma, rdma),
        net: list(seer, "net", &node.net, |n, seer| {
            let base = format!("net[{}]", n.name);
            NetOut {
                name: n.name,
                pci: n.pci,
                mtu: seer.copy(&base, "mtu", &n.mtu),
                operstate: seer.copy(&base, "operstate", &n.operstate),
                speed_mbps: seer.copy(&base, "speed_mbps", &n.speed_mbps),
                master: n.master,
                bond_mode: seer.copy(&base, "bond_mode", &n.bond_mode),
                bond_slaves: seer.copy(&base, "bond_slaves", &n.bond_slaves),
            }
        }),
        pci: node.pci.functions.iter().map(|f| pci::function(&node.pci, f, seer)).collect(),
        unseen: Vec::new(),
    };
    if node.pci.seen.is_none() {
        seer.lacks("pci", "/sys/bus/pci/devices");
    }
    let unseen = std::mem::replace(seer, Seer::new(words)).done();
    NodeOut { unseen, ..out }
}

fn kernel<'a>(node: &'a Node<'a>, seer: &mut Seer<'_, '_>) -> KernelOut<'a> {
    let (k, b) = (&node.kernel, "kernel");
    KernelOut {
        release: seer.value(b, "release", &k.release, ToString::to_string),
        cmdline: seer.value(b, "cmdline", &k.cmdline, |c| c.params.iter().map(|p| p.raw.as_str()).collect()),
        modules: seer.value(b, "modules", &k.modules, Vec::as_slice),
    }
}

fn nic_firmware(n: &NicFirmware) -> NicFirmwareOut<'_> {
    let settings = n.config.params.iter().map(|p| SettingOut {
        name: &p.name,
        current: p.current.as_ref().map(|v| v.raw.as_str()),
        next: p.next.as_ref().map(|v| v.raw.as_str()),
    });
    NicFirmwareOut { name: &n.name, pci: n.bdf, settings: settings.collect() }
}

fn vendor(v: &CpuVendor) -> VendorOut<'_> {
    let (name, ids) = match v {
        CpuVendor::Intel => ("intel", None),
        CpuVendor::Amd => ("amd", None),
        CpuVendor::Zhaoxin => ("zhaoxin", None),
        CpuVendor::Arm { implementer, part } => ("arm", Some((*implementer, *part))),
        CpuVendor::Other(word) => (word.as_str(), None),
    };
    VendorOut { name, implementer: ids.map(|i| i.0), part: ids.map(|i| i.1) }
}

/// A list whose members have readings of their own.
fn list<'a, T, U>(
    seer: &mut Seer<'_, '_>,
    field: &str,
    r: &'a Reading<Vec<T>>,
    mut f: impl FnMut(&'a T, &mut Seer<'_, '_>) -> U,
) -> Value<Vec<U>> {
    match seer.value("node", field, r, |l| l.as_slice()) {
        Value::Known(items) => Value::Known(items.iter().map(|t| f(t, seer)).collect()),
        Value::Absent => Value::Absent,
        Value::Unseen => Value::Unseen,
    }
}

fn firmware<'a>(node: &'a Node<'a>, seer: &mut Seer<'_, '_>) -> FirmwareOut<'a> {
    let (f, b) = (&node.firmware, "firmware");
    FirmwareOut {
        sys_vendor: seer.text(b, "sys_vendor", &f.sys_vendor),
        product: seer.text(b, "product", &f.product),
        bios_version: seer.text(b, "bios_version", &f.bios_version),
        detected_virt: seer.text(b, "detected_virt", &f.detected_virt),
        lockdown: seer.copy(b, "lockdown", &f.lockdown),
    }
}

fn cpu<'a>(node: &'a Node<'a>, seer: &mut Seer<'_, '_>) -> CpuOut<'a> {
    let (c, b) = (&node.cpu, "cpu");
    CpuOut {
        vendor: seer.value(b, "vendor", &c.vendor, vendor),
        family: seer.copy(b, "family", &c.family),
        model: seer.copy(b, "model", &c.model),
        model_name: seer.text(b, "model_name", &c.model_name),
        hypervisor: seer.copy(b, "hypervisor", &c.hypervisor),
        processors: seer.copy(b, "processors", &c.processors),
        sockets: seer.copy(b, "sockets", &c.sockets),
        governors: seer.value(b, "governors", &c.governors, tally),
        frequency_driver: seer.text(b, "frequency_driver", &c.frequency_driver),
        energy_preferences: seer.value(b, "energy_preferences", &c.energy_preferences, tally),
        idle_states: seer.value(b, "idle_states", &c.idle_states, |states| {
            states
                .iter()
                .map(|i| IdleOut { name: &i.name, latency_us: i.latency_us.known().copied(), disabled: i.disabled })
                .collect()
        }),
    }
}

fn tally(t: &Tally) -> Vec<TallyOut<'_>> {
    t.iter().map(|(value, cpus, _)| TallyOut { value, cpus: *cpus }).collect()
}

fn memory<'a>(node: &'a Node<'a>, seer: &mut Seer<'_, '_>) -> MemoryOut<'a> {
    let (m, b) = (&node.memory, "memory");
    let bytes = |l: Limit| match l {
        Limit::Unlimited => None,
        Limit::Bytes(n) => Some(n),
    };
    MemoryOut {
        total_kib: seer.copy(b, "total_kib", &m.total_kib),
        memlock: seer.value(b, "memlock", &m.memlock, |(soft, hard)| MemlockOut {
            soft_bytes: bytes(*soft),
            hard_bytes: bytes(*hard),
        }),
        huge_pages: seer.copy(b, "huge_pages", &m.huge_pages),
        shm_bytes: seer.copy(b, "shm_bytes", &m.shm_bytes),
        numa_balancing: seer.copy(b, "numa_balancing", &m.numa_balancing),
        transparent_hugepages: seer.text(b, "transparent_hugepages", &m.transparent_hugepages),
    }
}

fn iommu<'a>(node: &'a Node<'a>, seer: &mut Seer<'_, '_>) -> IommuOut<'a> {
    let (i, b) = (&node.iommu, "iommu");
    let groups = match seer.value(b, "groups", &i.groups, |g| g) {
        Value::Known(all) => Value::Known(
            all.iter()
                .map(|g| GroupOut {
                    id: g.id,
                    domain: seer.copy(&format!("iommu.groups[{}]", g.id), "domain", &g.domain),
                    devices: &g.devices,
                })
                .collect(),
        ),
        Value::Absent => Value::Absent,
        Value::Unseen => Value::Unseen,
    };
    IommuOut {
        groups,
        units: seer.value(b, "units", &i.units, Vec::as_slice),
        acpi_tables: seer.value(b, "acpi_tables", &i.acpi, |a| a.names.as_slice()),
    }
}

fn rdma<'a>(d: &'a RdmaDevice, seer: &mut Seer<'_, '_>) -> RdmaOut<'a> {
    let base = format!("rdma[{}]", d.name);
    RdmaOut {
        name: &d.name,
        pci: d.pci,
        firmware: seer.text(&base, "firmware", &d.firmware),
        board_id: seer.text(&base, "board_id", &d.board_id),
        hca_type: seer.text(&base, "hca_type", &d.hca_type),
        is_software: d.is_software(),
        ports: d.ports.iter().map(|p| port(&base, p, seer)).collect(),
    }
}

fn port<'a>(device: &str, p: &'a RdmaPort, seer: &mut Seer<'_, '_>) -> PortOut<'a> {
    let base = format!("{device}.ports[{}]", p.number);
    let b = base.as_str();
    PortOut {
        number: p.number,
        state: seer.copy(b, "state", &p.state),
        phys_state: seer.value(b, "phys_state", &p.phys_state, |(_, name)| name.as_str()),
        rate_gbps: seer.copy(b, "rate_gbps", &p.rate_gbps),
        rate_text: seer.text(b, "rate_text", &p.rate_text),
        link_layer: seer.copy(b, "link_layer", &p.link_layer),
        lid: seer.copy(b, "lid", &p.lid),
        sm_lid: seer.copy(b, "sm_lid", &p.sm_lid),
        active_mtu: seer.copy(b, "active_mtu", &p.active_mtu),
        netdev: seer.text(b, "netdev", &p.netdev),
        gids: seer.value(b, "gids", &p.gids, |g| g.iter().map(gid).collect()),
    }
}

fn gid(g: &Gid) -> GidOut<'_> {
    GidOut {
        index: g.index,
        gid: &g.gid,
        kind: g.kind.known().map(String::as_str),
        netdev: g.netdev.known().map(String::as_str),
    }
}
