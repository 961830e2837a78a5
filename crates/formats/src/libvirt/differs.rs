//! What two texts of one domain say otherwise, wherever they say it: libvirt writes a text anew when a domain is defined, and when it runs.

use super::{Address, Cell, Controller, Domain, Hostdev, MemoryNode, Pin, parse};
use crate::cpulist::CpuList;
use crate::error::ParseError;

/// As [`Domain::differs_from`], of two texts.
///
/// # Errors
/// One of them is no domain.
pub fn differ(one: &[u8], other: &[u8]) -> Result<Option<&'static str>, ParseError> {
    Ok(parse(one)?.differs_from(&parse(other)?))
}

impl Domain {
    /// The first thing of PCI, NUMA, CPUs and memory in which they differ; `None`: there is none. What libvirt fills in by itself when a guest
    /// starts (machine type, model of the CPU, firmware) does not count.
    #[must_use]
    pub fn differs_from(&self, other: &Domain) -> Option<&'static str> {
        let differ = [
            ("devices of the host", hostdevs(self) != hostdevs(other)),
            ("PCI controllers", controllers(self) != controllers(other)),
            ("NUMA cells", list(&self.cells, cell) != list(&other.cells, cell)),
            ("NUMA nodes of the memory", list(&self.memory_nodes, memory) != list(&other.memory_nodes, memory)),
            ("CPUs", value(&self.vcpus) != value(&other.vcpus) || list(&self.pins, pin) != list(&other.pins, pin)),
            ("memory", value(&self.memory_kib) != value(&other.memory_kib) || backing(self) != backing(other)),
            ("virtual IOMMU", value(&self.iommu) != value(&other.iommu)),
            ("settings of QEMU", qemu(self) != qemu(other)),
        ];
        differ.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
    }
}

fn value<T: Clone>(at: &Option<crate::text::At<T>>) -> Option<T> {
    at.as_ref().map(|a| a.value.clone())
}

/// In one order, whatever that of the text is.
fn list<'a, T, K: Ord>(all: &'a [T], key: impl Fn(&'a T) -> K) -> Vec<K> {
    let mut out: Vec<K> = all.iter().map(key).collect();
    out.sort();
    out
}

fn at(address: Option<Address>) -> Option<(u32, u32, u32, u32)> {
    address.map(|a| (a.domain, a.bus, a.slot, a.function))
}

fn hostdevs(d: &Domain) -> Vec<impl Ord + use<>> {
    list(&d.hostdevs, |h: &Hostdev| (h.source, at(h.address)))
}

fn controllers(d: &Domain) -> Vec<impl Ord + use<>> {
    list(&d.controllers, |c: &Controller| (c.index, c.model.map(|m| m.name()), c.bus_number, c.node, at(c.address)))
}

fn cell(c: &Cell) -> impl Ord + use<> {
    (c.id, c.cpus.as_ref().map(CpuList::to_string), c.memory_kib, c.distances.clone())
}

fn memory(m: &MemoryNode) -> impl Ord + use<> {
    (m.cell, m.mode.clone(), m.nodes.as_ref().map(CpuList::to_string))
}

fn pin(p: &Pin) -> impl Ord + use<> {
    (p.vcpu, p.cpus.as_ref().map(CpuList::to_string))
}

fn backing(d: &Domain) -> impl PartialEq + use<> {
    let pages = list(&d.huge_pages, |p| (p.size_kib, p.cells.as_ref().map(CpuList::to_string)));
    (pages, d.is_locked.is_some(), value(&d.hard_limit_kib))
}

fn qemu(d: &Domain) -> impl PartialEq + use<> {
    let property = |p: &super::Property| (p.name.clone(), p.value.clone());
    let overrides = list(&d.overrides, |o| (o.alias.clone(), list(&o.properties, property)));
    let arguments: Vec<String> = d.arguments.iter().map(|a| a.value.clone()).collect();
    (overrides, arguments)
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    const DOMAIN: &str = "<domain type='kvm'><name>a</name><memory unit='KiB'>1048576</memory><vcpu>2</vcpu>
<devices>
<controller type='pci' index='0' model='pcie-root'/>
<controller type='pci' index='1' model='pcie-root-port'><address type='pci' bus='0x00' slot='0x01'/></controller>
<hostdev mode='subsystem' type='pci' managed='yes'><source><address domain='0' bus='0x41' slot='0' function='0'/></source>
<address type='pci' domain='0' bus='0x01' slot='0' function='0'/></hostdev>
</devices></domain>";

    #[test]
    fn places_in_the_text_do_not_count_and_addresses_do() {
        let one = parse(DOMAIN.as_bytes()).unwrap();
        let says = |text: String| one.differs_from(&parse(text.as_bytes()).unwrap());
        assert_eq!(says(DOMAIN.replace("<vcpu>", "\n\n<vcpu>").replace("'0x01'", "'1'")), None);
        assert_eq!(says(DOMAIN.replace("bus='0x41'", "bus='0x42'")), Some("devices of the host"));
        assert_eq!(says(DOMAIN.replace("bus='0x00' slot='0x01'", "bus='0x00' slot='0x02'")), Some("PCI controllers"));
        assert_eq!(says(DOMAIN.replace(">2<", ">3<")), Some("CPUs"));
        assert_eq!(says(DOMAIN.replace("<vcpu>", "<memoryBacking><locked/></memoryBacking><vcpu>")), Some("memory"));
    }
}
