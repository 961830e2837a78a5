//! `<cpu>`: a NUMA node.

use super::Build;
use super::arena::Id;
use crate::xml::Element;
use linerate_formats::cpulist::{self, CpuList};
use linerate_node::cpu::CpuVendor;

/// What NCCL writes for its host; it replaces it in files that it reads.
pub(super) const HOST_HASH: &str = "0x1";

/// A mask wider than any machine: garbage ends here.
const MOST_CPUS: u32 = 1 << 16;

/// The `<cpu>` of a NUMA node, made where it is new.
pub(super) fn cpu(b: &mut Build<'_, '_>, numa: i32) -> Id {
    let number = numa.to_string();
    if let Some(id) = b.arena.find("cpu", "numaid", &number) {
        complete(b, id);
        return id;
    }
    let mut e = Element::new("cpu").with("host_hash", HOST_HASH).with("numaid", number);
    if let Some(mask) = affinity(b, numa) {
        e.set("affinity", mask);
    }
    describe(b, &mut e);
    b.arena.add(0, e)
}

/// Adds to a CPU of a topology file what the file does not say (`ncclTopoGetXmlFromCpu`).
pub(super) fn complete(b: &mut Build<'_, '_>, id: Id) {
    if !b.arena.meet(id) {
        return;
    }
    let has = |b: &Build<'_, '_>, key| b.arena.element(id).is_some_and(|e| e.get(key).is_some());
    if !has(b, "affinity") {
        let numa = b.arena.element(id).and_then(|e| e.get("numaid")).map_or(-1, crate::number::int);
        if let Some(mask) = affinity(b, numa) {
            b.arena.init(id, "affinity", mask);
        }
    }
    let x86 = b.arena.element(id).and_then(|e| e.get("arch")).is_none_or(|a| a == "x86_64");
    if !has(b, "arch") || x86 && !(has(b, "vendor") && has(b, "familyid")) {
        let mut seen = Element::new("cpu");
        describe(b, &mut seen);
        let family = has(b, "familyid");
        for (key, value) in seen.attributes.into_iter().filter(|(k, _)| !(family && k == "modelid")) {
            b.arena.init(id, &key, value);
        }
    }
}

/// Architecture, vendor, family and model, as CPUID gives them.
fn describe(b: &mut Build<'_, '_>, e: &mut Element) {
    let c = &b.node.cpu;
    let family = c.family.known().copied();
    let (arch, vendor) = match c.vendor.known() {
        Some(CpuVendor::Intel) => ("x86_64", Some("GenuineIntel".to_owned())),
        Some(CpuVendor::Amd) => ("x86_64", Some("AuthenticAMD".to_owned())),
        // One name stands for both of Zhaoxin's; NCCL treats them alike.
        Some(CpuVendor::Zhaoxin) => ("x86_64", Some("  Shanghai  ".to_owned())),
        Some(CpuVendor::Arm { .. }) => ("arm64", None),
        Some(CpuVendor::Other(name)) if name.starts_with("POWER") => ("ppc64", None),
        // Only x86 numbers its families.
        Some(CpuVendor::Other(name)) if family.is_some() => ("x86_64", Some(name.clone())),
        _ => {
            b.unknown.say("CPU: architecture, vendor, family and model (no proc/cpuinfo)");
            return;
        }
    };
    let model = c.model.known().copied();
    e.set("arch", arch);
    let Some(vendor) = vendor else { return };
    e.set("vendor", vendor);
    match (family, model) {
        (Some(family), Some(model)) => {
            e.set("familyid", family_id(family).to_string());
            e.set("modelid", model.to_string());
        }
        _ => b.unknown.say("CPU: family and model"),
    }
}

/// NCCL's family: the base family plus the extended family shifted by four (`xml.cc`), where the kernel adds them unshifted. The
/// extended family counts only above base family 15, so one follows from the other: 25 (Zen 3) is 175.
fn family_id(kernel: u32) -> u32 {
    match kernel.checked_sub(15) {
        Some(extended) => 15_u32.saturating_add(extended.saturating_mul(16)),
        None => kernel,
    }
}

/// The mask of a NUMA node's CPUs in the kernel's words; empty for a node that there is not. `None`: not known.
fn affinity(b: &mut Build<'_, '_>, numa: i32) -> Option<String> {
    let writes_nothing = b.options.release.since(2, 30);
    found_affinity(b, numa).filter(|mask| writes_nothing || !mask.is_empty())
}

fn found_affinity(b: &mut Build<'_, '_>, numa: i32) -> Option<String> {
    let Ok(id) = u32::try_from(numa) else { return Some(String::new()) };
    let Some(nodes) = b.node.numa.known() else {
        b.unknown.say("affinity of CPUs (no sys/devices/system/node)");
        return None;
    };
    let Some(node) = nodes.iter().find(|n| n.id == id) else {
        b.assumed.of("no CPUs, because the system lists no such node", format!("NUMA node {id}"));
        return Some(String::new());
    };
    if let Some(map) = &node.cpumap {
        return Some(map.clone());
    }
    let lists: Vec<CpuList> = nodes.iter().filter_map(|n| cpulist::parse(&n.cpulist)).collect();
    let last = lists.iter().flat_map(|l| &l.ranges).map(|r| *r.end()).max();
    let own = cpulist::parse(&node.cpulist).filter(|_| !node.cpulist.is_empty());
    let (Some(own), Some(last)) = (own, last.filter(|l| *l < MOST_CPUS)) else {
        b.unknown.of("its CPUs", format!("NUMA node {id}"));
        return None;
    };
    b.assumed.say("affinity masks: as wide as the CPUs of all NUMA nodes (the kernel counts possible CPUs)");
    Some(mask(&own, last + 1))
}

/// `%*pb`: groups of 32 bits in hexadecimal, highest first, the first group as wide as its bits.
fn mask(list: &CpuList, bits: u32) -> String {
    let mut words = vec![0_u32; bits.div_ceil(32) as usize];
    for cpu in list.iter().take(MOST_CPUS as usize) {
        if let Some(w) = words.get_mut((cpu / 32) as usize) {
            *w |= 1 << (cpu % 32);
        }
    }
    let first = match bits % 32 {
        0 => 8,
        rest => rest.div_ceil(4) as usize,
    };
    let text = |(i, w): (usize, &u32)| match i {
        0 => format!("{w:0first$x}"),
        _ => format!("{w:08x}"),
    };
    words.iter().rev().enumerate().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_as_cpuid_has_them() {
        let of = |kernel| family_id(kernel);
        assert_eq!([of(6), of(15), of(23), of(25), of(26), of(u32::MAX)], [6, 15, 143, 175, 191, u32::MAX]);
    }

    #[test]
    fn masks_in_the_kernels_words() {
        let of = |list: &str, bits| mask(&cpulist::parse(list).unwrap_or_default(), bits);
        assert_eq!(of("0-3", 4), "f");
        assert_eq!(of("0-63", 64), "ffffffff,ffffffff");
        assert_eq!(of("1,33", 40), "02,00000002");
        assert_eq!(of("0-3", 104), "00,00000000,00000000,0000000f");
    }
}
