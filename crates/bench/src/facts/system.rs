//! Firmware, kernel, processors, memory, IOMMU.

use super::{Facts, counted, known};
use crate::compare::Weight::{Possible, Slight, Strong};
use linerate_node::{Node, Reading};

/// Arguments that name a boot, not a setting.
const NO_SETTINGS: [&str; 6] = ["BOOT_IMAGE", "root", "initrd", "resume", "rd.lvm.lv", "ostree"];

pub(super) fn facts(node: &Node<'_>, facts: &mut Facts) {
    let firmware = &node.firmware;
    let product =
        [known(&firmware.sys_vendor), known(&firmware.product)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    facts.add("server model", Strong, "another board has other PCIe paths", Some(product).filter(|p| !p.is_empty()));
    facts.add("BIOS version", Possible, "firmware sets links, IOMMU and power", known(&firmware.bios_version));
    facts.add("role", Strong, "bare metal and guests have different paths", node.context.role.value);
    kernel(node, facts);
    let cpu = &node.cpu;
    facts.add("CPU", Strong, "another processor has another root complex", known(&cpu.model_name));
    facts.add("processors", Possible, "threads of the benchmark share them", known(&cpu.processors));
    facts.add("CPU governor", Possible, "a clock that sleeps adds latency", tally(&cpu.governors));
    facts.add("CPU energy preference", Slight, "a clock that sleeps adds latency", tally(&cpu.energy_preferences));
    let memory = &node.memory;
    facts.add("locked memory limit", Possible, "RDMA registers memory within it", memory.memlock.known().map(|m| m.0));
    facts.add("NUMA balancing", Possible, "the kernel moves pages while they are used", known(&memory.numa_balancing));
    facts.add("transparent huge pages", Slight, "page size under host buffers", known(&memory.transparent_hugepages));
    let numa = node.numa.known().map(Vec::len);
    facts.add("NUMA nodes", Possible, "NPS and sub-NUMA clustering move devices", numa);
    let domains = node.iommu.groups.known().map(|groups| match groups.len() {
        0 => "no groups: off".to_owned(),
        _ => counted(groups.iter().map(|g| known(&g.domain).unwrap_or_else(|| "not seen".to_owned())))
            .unwrap_or_default(),
    });
    facts.add("IOMMU domains", Strong, "translated domains slow DMA; identity ones do not", domains);
}

fn kernel(node: &Node<'_>, facts: &mut Facts) {
    facts.add("kernel", Possible, "drivers and the network stack come with it", known(&node.kernel.release));
    let arguments = node.kernel.cmdline.known().map(|line| {
        let settings = line.params.iter().filter(|p| !NO_SETTINGS.contains(&p.name.as_str()));
        let mut list: Vec<&str> = settings.map(|p| p.raw.as_str()).collect();
        list.sort_unstable();
        list.join(" ")
    });
    facts.add("kernel arguments", Possible, "what the kernel was told at boot", arguments);
}

fn tally(reading: &Reading<linerate_node::cpu::Tally>) -> Option<String> {
    let mut names: Vec<&str> = reading.known()?.iter().map(|(name, ..)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    Some(names.join(", "))
}
