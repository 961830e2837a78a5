//! `linerate vm layout`.

use super::said;
use crate::output::{Failure, Sink, remark};
use crate::sources;
use crate::vm_args::LayoutArgs;
use linerate_formats::pci::Bdf;
use linerate_formats::{fabric_partitions, libvirt};
use linerate_node::Node;
use linerate_node::pci::FnId;
use linerate_topology::xml::Dialect;
use linerate_vm::fabric::Fabric;
use linerate_vm::host::Root;
use linerate_vm::layout::Wishes;
use linerate_vm::merge::{Replace, merge};
use linerate_vm::same::{InGuest, in_guest};
use linerate_vm::{Layout, choose, format, guest, host, layout, split, write};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

pub(super) fn run(a: &LayoutArgs) -> Result<u8, Failure> {
    let page_kib = match a.hugepages.as_str() {
        "none" => None,
        size => Some(
            linerate_formats::size::parse(size)
                .filter(|b| *b >= 4096)
                .map(|b| b >> 10)
                .ok_or_else(|| Failure::new(format!("`{size}` is not a page size")).hint("write 1G, 2M, or none"))?,
        ),
    };
    if a.part == 0 || a.part > a.split {
        return Err(Failure::new(format!("--part {}: there are {} parts", a.part, a.split)));
    }
    let snapshot = sources::unredacted(a.source.as_deref().unwrap_or_else(|| crate::this_machine::path()))?;
    let node = Node::decode(&snapshot);
    let chosen = choose(&node, &a.devices)?;
    for (bdf, why) in &chosen.left_out {
        remark(&format!("{bdf} is left out: {why}"));
    }
    let parts = split::split(&node, &chosen, a.split, &fabric(a)?)?;
    stays(&node, &chosen.functions, &parts);
    let functions = parts.into_iter().nth(a.part as usize - 1).unwrap_or_default();
    let roots = host::roots(&node, &functions)?;
    let wishes = Wishes {
        name: a.name.clone(),
        memory_mib: a.memory.map(|b| b >> 20),
        vcpus: a.vcpus,
        page_kib,
        has_cliques: a.clique,
        has_iommu: a.viommu,
        taken: linerate_vm::taken::Taken::default(),
    };
    // What was written is read again: the tree and NCCL's file are those of the text.
    let (layout, xml, domain) = match &a.into {
        Some(path) => into(&node, &roots, &wishes, a.replace.map_or(Replace::Nothing, Into::into), path)?,
        None => {
            let layout = layout(&node, &roots, &wishes)?;
            let xml = write::domain(&layout).map_err(Failure::new)?;
            let domain = libvirt::parse(xml.as_bytes()).map_err(Failure::new)?;
            (layout, xml, domain)
        }
    };
    let tree = guest(&domain);
    let chosen: BTreeSet<Bdf> = layout.devices.iter().map(|d| d.host).collect();
    let (file, compared) = super::on_host(&node).ok().map(|from| in_guest(&from, &chosen, &tree)).unzip();
    let compared = compared.and_then(Result::ok);
    said(&layout, compared.as_ref());
    let code = said::code(compared.as_ref());
    let other = a.format.other().map(|f| format::write(&node, &layout, f)).transpose().map_err(Failure::new)?;
    let code = code.max(other.as_ref().map_or(0, said::unsaid));
    if let (Some(path), Some(file)) = (&a.nccl, &file) {
        let mut sink = Sink::open(Some(path))?;
        sink.write_all(file.to_xml(Dialect::Nccl).as_bytes())?;
        sink.finish()?;
    } else if let Some(path) = &a.nccl {
        return Err(Failure::new(format!(
            "{} is not written: NCCL builds no topology of these devices",
            path.display()
        )));
    }
    let mut sink = Sink::open(a.output.as_deref())?;
    sink.write_all(other.map_or(xml, |w| w.text).as_bytes())?;
    sink.finish()?;
    Ok(code)
}

/// A layout in somebody's domain: the layout, the domain's text, and the domain.
fn into(
    node: &Node<'_>,
    roots: &[Root],
    wishes: &Wishes,
    replace: Replace,
    path: &Path,
) -> Result<(Layout, String, libvirt::Domain), Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::new(format!("{}: {e}", path.display()));
    let bytes = super::read(path)?;
    let merged = merge(node, roots, wishes, replace, &bytes).map_err(|e| failed(&e))?;
    for m in &merged.moved {
        let from = m.from.as_ref().map_or_else(|| "gets an address".to_owned(), |from| format!("is moved from {from}"));
        remark(&format!("line {}: {} {from}", m.line, m.host));
    }
    merged.differences.iter().for_each(|d| remark(&d.to_string()));
    Ok((merged.layout, merged.text, merged.domain))
}

/// What is known of the fabric's partitions.
fn fabric(a: &LayoutArgs) -> Result<Fabric, Failure> {
    let Some(path) = &a.partitions else {
        return Ok(if a.partitioned { Fabric::Said } else { Fabric::Unknown });
    };
    let list =
        fabric_partitions::parse(&super::read(path)?).map_err(|e| Failure::new(format!("{}: {e}", path.display())))?;
    Ok(Fabric::Listed(list))
}

/// Switches of the fabric that no part gets.
fn stays(node: &Node<'_>, chosen: &BTreeSet<FnId>, parts: &[BTreeSet<FnId>]) {
    let left = chosen.iter().filter(|id| !parts.iter().any(|p| p.contains(id)));
    let left: Vec<String> = left.map(|id| node.pci.get(*id).bdf.to_string()).collect();
    if !left.is_empty() {
        remark(&format!("left on the host, whose fabric manager has the NVLinks of all guests: {}", left.join(", ")));
    }
}

/// What a reader must know of a layout, on standard error.
fn said(layout: &Layout, compared: Option<&InGuest>) {
    for b in &layout.buses {
        let (domain, bus) = b.host;
        let here = |d: &&linerate_vm::layout::Placed| (b.first..=b.last).contains(&d.guest.bus);
        let devices: Vec<String> =
            layout.devices.iter().filter(here).map(|d| format!("{} is {}", d.host, d.guest)).collect();
        remark(&format!(
            "root complex {domain:04x}:{bus:02x}: bus numbers {:#04x} to {:#04x}; {}",
            b.first,
            b.last,
            devices.join(", ")
        ));
    }
    remark(&format!("bus numbers 0x00 to {:#04x} are left to what else the guest has", layout.left));
    let gib = |bytes: u64| bytes.div_ceil(1 << 30);
    remark(&format!("64-bit BARs take {} GiB; the window is {} GiB", gib(layout.window.need), gib(layout.window.size)));
    layout.notes.iter().for_each(|n| remark(n));
    said::compared(compared, "its topology file (--nccl)");
}
