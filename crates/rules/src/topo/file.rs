//! Devices of a topology file.

use linerate_topology::Document;
use linerate_topology::xml::Element;

/// A GPU or NIC that the file names.
pub(super) struct Device {
    /// As written.
    pub(super) busid: String,
    /// A GPU; else a NIC.
    pub(super) gpu: bool,
    /// Line of its element.
    pub(super) line: u32,
}

/// GPUs and NICs, by class or by what they hold.
pub(super) fn devices(document: &Document) -> Vec<Device> {
    functions(document)
        .filter_map(|e| {
            let busid = e.get("busid")?.to_owned();
            let class = e.get("class").unwrap_or_default();
            let gpu = class.starts_with("0x03") || e.named("gpu").next().is_some();
            let nic = class.starts_with("0x02") || e.named("nic").next().is_some();
            (gpu || nic).then_some(Device { busid, gpu, line: e.at.line })
        })
        .collect()
}

/// Bridges on a bus that no machine has: written by hand, as in the files of Azure and AWS.
pub(super) fn invented(document: &Document) -> usize {
    functions(document).filter(|e| e.get("busid").is_some_and(|b| b.starts_with("ffff:ff:"))).count()
}

/// Every `<pci>`, in the order of the document.
fn functions(document: &Document) -> impl Iterator<Item = &Element> {
    document.system.all().filter(|e| e.name == "pci")
}
