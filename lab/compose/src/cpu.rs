//! Processors and NUMA nodes.

use crate::Tree;
use crate::compose::Plan;
use crate::description::{Cpu, Node, Role};
use std::fmt::Write;

/// A set of processors as the kernel prints it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CpuSet {
    pub(crate) list: String,
    pub(crate) map: String,
}

/// The processors of the node: cores of all packages first, then their second threads, as Linux numbers them.
#[derive(Debug, Clone)]
pub(crate) struct Cpus {
    pub(crate) total: u32,
    pub(crate) nodes: Vec<CpuSet>,
    all: CpuSet,
    cores: u32,
    cores_per_socket: u32,
}

fn set(ids: impl Iterator<Item = u32>, total: u32) -> CpuSet {
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    let mut list = String::new();
    let mut words = vec![0_u32; total.div_ceil(32).max(1) as usize];
    let mut i = 0;
    while let Some(first) = ids.get(i).copied() {
        let mut last = first;
        while ids.get(i + 1) == Some(&(last + 1)) {
            (last, i) = (last + 1, i + 1);
        }
        i += 1;
        let comma = if list.is_empty() { "" } else { "," };
        let _ = if first == last { write!(list, "{comma}{first}") } else { write!(list, "{comma}{first}-{last}") };
    }
    for id in ids {
        if let Some(w) = words.get_mut((id / 32) as usize) {
            *w |= 1 << (id % 32);
        }
    }
    let words: Vec<String> = words.iter().rev().map(|w| format!("{w:08x}")).collect();
    CpuSet { list, map: words.join(",") }
}

impl Cpus {
    pub(crate) fn of(n: &Node) -> Self {
        let cores = n.sockets * n.cores_per_socket;
        let total = cores * n.threads_per_core;
        let cores_per_node = n.cores_per_socket / n.numa_per_socket.max(1);
        let nodes = (0..n.sockets * n.numa_per_socket)
            .map(|node| set((0..total).filter(|id| (id % cores) / cores_per_node == node), total));
        Cpus { total, nodes: nodes.collect(), all: set(0..total, total), cores, cores_per_socket: n.cores_per_socket }
    }

    /// Processors of a NUMA node; all for -1, as the kernel says.
    pub(crate) fn of_node(&self, node: i32) -> &CpuSet {
        usize::try_from(node).ok().and_then(|n| self.nodes.get(n)).unwrap_or(&self.all)
    }
}

struct Model {
    vendor: &'static str,
    family: u32,
    model: u32,
    stepping: u32,
    name: &'static str,
    mhz: &'static str,
    driver: &'static str,
}

fn model(cpu: Cpu) -> Model {
    let m = |vendor, family, model, stepping, name, mhz, driver| Model {
        vendor,
        family,
        model,
        stepping,
        name,
        mhz,
        driver,
    };
    match cpu {
        Cpu::IntelSapphireRapids => {
            m("GenuineIntel", 6, 143, 8, "Intel(R) Xeon(R) Platinum 8470", "2000.000", "intel_pstate")
        }
        Cpu::IntelBroadwell => {
            m("GenuineIntel", 6, 79, 1, "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz", "2600.000", "intel_pstate")
        }
        Cpu::IntelCascadeLake => {
            m("GenuineIntel", 6, 85, 7, "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", "2500.000", "intel_pstate")
        }
        Cpu::IntelIceLake => {
            m("GenuineIntel", 6, 106, 6, "Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz", "2600.000", "intel_pstate")
        }
        Cpu::AmdRome => m("AuthenticAMD", 23, 49, 0, "AMD EPYC 7742 64-Core Processor", "2250.000", "acpi-cpufreq"),
        Cpu::AmdMilan => m("AuthenticAMD", 25, 1, 1, "AMD EPYC 7763 64-Core Processor", "2450.000", "acpi-cpufreq"),
        Cpu::AmdGenoa => m("AuthenticAMD", 25, 17, 1, "AMD EPYC 9654 96-Core Processor", "2400.000", "acpi-cpufreq"),
        Cpu::AmdTurin => m("AuthenticAMD", 26, 2, 1, "AMD EPYC 9575F 64-Core Processor", "3300.000", "amd-pstate-epp"),
        Cpu::Grace => m("", 0xd4f, 0, 0, "", "", "cppc_cpufreq"),
        Cpu::Gb10 => m("", 0xd85, 0, 0, "", "", "cppc_cpufreq"),
        Cpu::AmpereAltra => m("", 0xd0c, 3, 1, "", "", "cppc_cpufreq"),
    }
}

pub(crate) fn write(plan: &Plan, tree: &mut Tree) {
    let (n, cpus) = (&plan.d.node, &plan.cpus);
    let model = model(n.cpu);
    tree.file("proc/cpuinfo", cpuinfo(plan, &model));
    let system = "sys/devices/system";
    for name in ["online", "possible", "present"] {
        tree.value(format!("{system}/cpu/{name}"), &cpus.all.list);
    }
    let governor = match (&n.governor, n.role) {
        (Some(g), _) => g.as_str(),
        (None, Role::Guest) => "none",
        (None, _) => "performance",
    };
    for id in 0..cpus.total {
        let home = format!("{system}/cpu/cpu{id}");
        let core = id % cpus.cores;
        let package = core / cpus.cores_per_socket;
        let siblings = set((0..cpus.total).filter(|i| i % cpus.cores == core), cpus.total);
        let mut topology = |name: &str, v: &str| tree.value(format!("{home}/topology/{name}"), v);
        topology("physical_package_id", &package.to_string());
        topology("core_id", &(core % cpus.cores_per_socket).to_string());
        topology("thread_siblings_list", &siblings.list);
        topology("core_cpus_list", &siblings.list);
        topology("core_cpus", &siblings.map);
        topology("thread_siblings", &siblings.map);
        if governor != "none" {
            tree.value(format!("{home}/cpufreq/scaling_governor"), governor);
            tree.value(format!("{home}/cpufreq/scaling_driver"), model.driver);
            if model.driver != "acpi-cpufreq" && !n.cpu.is_arm() {
                let preference = if governor == "performance" { "performance" } else { "balance_performance" };
                tree.value(format!("{home}/cpufreq/energy_performance_preference"), preference);
            }
        }
    }
    packages(plan, tree);
    let count = cpus.nodes.len() as u32;
    let range = if count == 1 { "0".to_owned() } else { format!("0-{}", count - 1) };
    for name in ["online", "possible", "has_cpu", "has_memory"] {
        tree.value(format!("{system}/node/{name}"), &range);
    }
    let total_kib = n.memory_gib << 20;
    for (node, cpus) in cpus.nodes.iter().enumerate() {
        let home = format!("{system}/node/node{node}");
        tree.value(format!("{home}/cpulist"), &cpus.list);
        tree.value(format!("{home}/cpumap"), &cpus.map);
        let distance = (0..count).map(|other| {
            let (a, b) = (node as u32 / n.numa_per_socket, other / n.numa_per_socket);
            if other == node as u32 {
                "10"
            } else if a == b {
                "12"
            } else {
                "21"
            }
        });
        tree.value(format!("{home}/distance"), distance.collect::<Vec<_>>().join(" "));
        let kib = total_kib / u64::from(count);
        tree.file(
            format!("{home}/meminfo"),
            format!("Node {node} MemTotal:       {kib} kB\nNode {node} MemFree:        {} kB\n", kib / 10 * 9),
        );
    }
    tree.file(
        "proc/meminfo",
        format!(
            "MemTotal:       {total_kib} kB\nMemFree:        {} kB\nMemAvailable:   {} kB\nHugePages_Total:       0\n\
             HugePages_Free:        0\nHugepagesize:       2048 kB\n",
            total_kib / 10 * 9,
            total_kib / 10 * 9
        ),
    );
}

/// Package sets: the same text for all processors of one.
fn packages(plan: &Plan, tree: &mut Tree) {
    let cpus = &plan.cpus;
    let packages = cpus.cores / cpus.cores_per_socket;
    for package in 0..packages {
        let members = |id: &u32| (id % cpus.cores) / cpus.cores_per_socket == package;
        let all = set((0..cpus.total).filter(members), cpus.total);
        for id in (0..cpus.total).filter(members) {
            let home = format!("sys/devices/system/cpu/cpu{id}/topology");
            tree.value(format!("{home}/package_cpus_list"), &all.list);
            tree.value(format!("{home}/core_siblings_list"), &all.list);
            tree.value(format!("{home}/package_cpus"), &all.map);
            tree.value(format!("{home}/core_siblings"), &all.map);
        }
    }
}

fn cpuinfo(plan: &Plan, m: &Model) -> String {
    let (n, cpus) = (&plan.d.node, &plan.cpus);
    let mut out = String::with_capacity(cpus.total as usize * 500);
    for id in 0..cpus.total {
        let core = id % cpus.cores;
        if n.cpu.is_arm() {
            let vectors = if n.cpu == Cpu::AmpereAltra { "" } else { " sve sve2" };
            let _ = write!(
                out,
                "processor\t: {id}\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp{vectors}\n\
                 CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x{:x}\nCPU part\t: 0x{:x}\nCPU revision\t: {}\n\n",
                m.model, m.family, m.stepping
            );
            continue;
        }
        let vendor_flags = if m.vendor == "AuthenticAMD" { "svm npt" } else { "vmx ept" };
        let hypervisor = if n.role == Role::Guest { " hypervisor" } else { "" };
        let (package, inner) = (core / cpus.cores_per_socket, core % cpus.cores_per_socket);
        let _ = write!(
            out,
            "processor\t: {id}\nvendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: {}\nstepping\t: {}\n\
             cpu MHz\t\t: {}\nphysical id\t: {package}\nsiblings\t: {}\ncore id\t\t: {inner}\ncpu cores\t: {}\napicid\t\t: {id}\n\
             flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat clflush mmx fxsr sse sse2 ht syscall nx \
             pdpe1gb rdtscp lm constant_tsc nonstop_tsc cpuid aperfmperf pni ssse3 fma cx16 x2apic avx{hypervisor} lahf_lm avx2 {vendor_flags}\n\
             address sizes\t: 52 bits physical, 57 bits virtual\n\n",
            m.vendor,
            m.family,
            m.model,
            n.cpu_name.as_deref().unwrap_or(m.name),
            m.stepping,
            m.mhz,
            cpus.cores_per_socket * n.threads_per_core,
            cpus.cores_per_socket,
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_numbered_as_linux_does() {
        let cpus = Cpus::of(&Node::default());
        assert_eq!(cpus.of_node(0).list, "0-51,104-155");
        assert_eq!(cpus.of_node(1).list, "52-103,156-207");
        assert_eq!(cpus.of_node(-1).list, "0-207");
        assert_eq!(set([0, 33].into_iter(), 40).map, "00000002,00000001");
    }
}
