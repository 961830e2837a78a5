//! Virtual machines: what a domain of libvirt gives its guest, beside what the host has.

mod affinity;
mod as_the_domain_says;
mod bus_numbers;
mod devices;
mod domain_restart;
pub mod explain;
mod gpudirect_clique;
mod group_torn;
mod hugepages;
mod legal;
mod links_believed;
mod machine;
mod memory_limit;
mod mmio_window;
mod numa;
mod nvswitches;
mod one_switch;
mod pinning;
mod root_complex;
mod virtual_iommu;

use crate::rule::{Rule, Source};
use crate::topo::{LIBVIRT, NCCL_VIRTUAL, QEMU_PCIE};
use crate::{Action, Cx, Finding, Findings, Remedy, Subject};
use linerate_formats::pci::Bdf;
use linerate_node::pci::{FnId, PciFunction};
use linerate_node::vms::Vm;
use linerate_vm::guest::{Function, Guest, What, guest};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) static RULES: &[&Rule] = &[
    &legal::RULE,
    &machine::RULE,
    &devices::RULE,
    &group_torn::RULE,
    &one_switch::RULE,
    &affinity::RULE,
    &root_complex::RULE,
    &numa::RULE,
    &bus_numbers::RULE,
    &mmio_window::RULE,
    &memory_limit::RULE,
    &hugepages::RULE,
    &pinning::RULE,
    &virtual_iommu::RULE,
    &gpudirect_clique::RULE,
    &nvswitches::RULE,
    &links_believed::RULE,
    &domain_restart::RULE,
    &as_the_domain_says::RULE,
];

const LIBVIRT_PCI: Source =
    Source { title: "libvirt, PCI addresses in domain XML and guest OS", at: "https://libvirt.org/pci-addresses.html" };
const QEMU_PXB: Source = Source {
    title: "QEMU docs/pci_expander_bridge.txt",
    at: "https://gitlab.com/qemu-project/qemu/-/blob/master/docs/pci_expander_bridge.txt",
};
/// Texts with a domain.
const READS: &[&str] = &["virsh dumpxml"];
/// A domain, and the host's devices.
const READS_HOST: &[&str] = &["virsh dumpxml", "sys/bus/pci/devices/* (tree)", "sys/bus/pci/devices/*/numa_node"];

/// Judges each domain that gives functions of the host to its guest: one verdict each.
fn each(cx: &Cx<'_>, out: &mut Findings, judge: fn(&Cx<'_>, &Vm, &mut Findings)) {
    let vms = &cx.node.vms;
    match vms.hidden {
        Some(place) if vms.read.is_empty() => {
            out.unknown(Subject::Node, "domains of libvirt are defined here, and this source could not read them")
                .at(place)
                .see("collect as root");
        }
        _ if vms.read.is_empty() && vms.unread.is_empty() => {
            out.not_applicable("no domain of libvirt in this source");
        }
        _ => {}
    }
    for (place, why) in &vms.unread {
        out.unknown(Subject::Named(format!("domain in {}", cx.snapshot.path(place.base))), || {
            format!("not read: {why}")
        })
        .at(*place)
        .see("virsh dumpxml DOMAIN");
    }
    for vm in &vms.read {
        match vm.domain.hostdevs.first() {
            Some(_) => judge(cx, vm, out),
            None => {
                out.not_applicable_to(subject(vm), "gives its guest no PCI function of the host")
                    .at(vm.at(vm.domain.span.line));
            }
        }
    }
}

/// The same, where the host's devices are seen, too.
fn each_with_host(cx: &Cx<'_>, out: &mut Findings, judge: fn(&Cx<'_>, &Vm, &mut Findings)) {
    if cx.node.pci.seen.is_some() || cx.node.vms.read.is_empty() {
        return each(cx, out, judge);
    }
    each(cx, out, |_, vm, out| {
        out.unknown(subject(vm), "the host's PCI devices are not in this source")
            .at(vm.at(vm.domain.span.line))
            .see("linerate vm check DOMAIN.xml --host SNAPSHOT");
    });
}

fn subject(vm: &Vm) -> Subject {
    Subject::Named(format!("domain {}", vm.domain.name))
}

/// Functions of the host that a domain gives away, with the line of each.
fn functions<'a>(cx: &'a Cx<'_>, vm: &'a Vm) -> impl Iterator<Item = (FnId, &'a PciFunction<'a>, u32)> {
    let pci = &cx.node.pci;
    vm.given().filter_map(move |(bdf, device)| {
        let id = pci.find(bdf)?;
        Some((id, pci.get(id), device.span.line))
    })
}

/// A change of the domain: people or `linerate vm layout` make it, and the guest starts anew.
fn edit(summary: &'static str, what: &'static str) -> Remedy {
    Remedy::host_side(summary, what)
        .because("the guest must be shut down and started; bus numbers in the guest may change")
        .prove("virsh dumpxml")
}

/// The layout of `linerate vm layout`, in the domain's definition.
fn lay_out(vm: &Vm, summary: &'static str, settings: bool) -> Remedy {
    let domain = vm.domain.name.clone().into();
    Remedy::new(summary, Action::DomainLayout { domain, settings }).prove("virsh dumpxml")
}

/// Where a domain has the functions of the host that it gives away.
struct Placed<'a> {
    /// The guest's tree.
    tree: Guest,
    /// Those that the host has, each once, in the order of the domain: the function, its place in the tree, and its line.
    functions: Vec<(FnId, &'a PciFunction<'a>, usize, u32)>,
    /// Lines of those that are in no place of the tree: libvirt chooses the address of one, or of a controller above it.
    lost: Vec<u32>,
}

impl<'a> Placed<'a> {
    fn of(cx: &'a Cx<'_>, vm: &'a Vm) -> Self {
        let tree = guest(&vm.domain);
        let of_host = |f: &Function| matches!(f.what, What::Host(_));
        let lines: BTreeSet<u32> = tree.functions.iter().filter(|f| of_host(f)).map(|f| f.line).collect();
        let lost = vm.domain.hostdevs.iter().map(|h| h.span.line).filter(|l| !lines.contains(l)).collect();
        let mut places: BTreeMap<Bdf, usize> = BTreeMap::new();
        for (at, f) in tree.functions.iter().enumerate() {
            if let What::Host(Some(host)) = f.what {
                places.entry(host).or_insert(at);
            }
        }
        // A domain that is not legal may have a function twice: its first place counts.
        let once = |(id, f, line): (FnId, &'a PciFunction<'a>, u32)| Some((id, f, places.remove(&f.bdf)?, line));
        let functions = functions(cx, vm).filter_map(once).collect();
        Placed { tree, functions, lost }
    }

    /// GPUs and RDMA NICs among them.
    fn ends(&self) -> impl Iterator<Item = &(FnId, &'a PciFunction<'a>, usize, u32)> {
        self.functions.iter().filter(|(_, f, ..)| f.is_endpoint_of_path())
    }
}

/// The same, where each has a place; else it is answered that one has none.
fn placed<'a>(cx: &'a Cx<'_>, vm: &'a Vm, out: &mut Findings) -> Option<Placed<'a>> {
    let placed = Placed::of(cx, vm);
    if placed.lost.is_empty() {
        return Some(placed);
    }
    unplaced(vm, &placed.lost, out);
    None
}

/// What is answered of a domain without an address for a device: libvirt chooses it when the domain is defined.
fn unplaced<'o>(vm: &Vm, lines: &[u32], out: &'o mut Findings) -> &'o mut Finding {
    let n = lines.len();
    let finding = out.unknown(subject(vm), format_args!("libvirt chooses the addresses of {n} controllers or devices"));
    lines.iter().take(4).for_each(|line| {
        finding.at(vm.at(*line));
    });
    finding.see("virsh define it, then virsh dumpxml --inactive: the addresses are in it")
}
