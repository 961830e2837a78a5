//! QEMU's arguments, as libvirt gives them for the same domain.

use super::{Unsaid, Written, comments, sums, unsaid};
use crate::Layout;
use crate::cells::Cell;
use crate::layout::{Controller, Placed};
use linerate_formats::libvirt::Model;
use linerate_formats::ranges::ranges;
use linerate_out::shell;
use std::fmt::{self, Write};

/// A script for a POSIX shell. What it is given is added to QEMU's arguments: disks and a network.
///
/// # Errors
/// Never: a string takes all.
pub(super) fn script(layout: &Layout) -> Result<Written, fmt::Error> {
    let unsaid = lacks(layout);
    let mut o = String::new();
    writeln!(o, "#!/bin/sh")?;
    writeln!(o, "# Starts QEMU with a PCI tree as the host's. Add disks and a network as arguments of this script.")?;
    comments(&mut o, "QEMU", &unsaid)?;
    writeln!(o, "set -eu")?;
    writeln!(o, ": \"${{OVMF_CODE:?set it to the OVMF image, as /usr/share/OVMF/OVMF_CODE_4M.fd}}\"")?;
    writeln!(o, ": \"${{OVMF_VARS:?set it to a copy of OVMF's variables that is this guest's own}}\"")?;
    writeln!(o, "exec \"${{QEMU:-qemu-system-x86_64}}\" \\")?;
    writeln!(o, "  -drive \"if=pflash,unit=0,format=raw,readonly=on,file=$OVMF_CODE\" \\")?;
    writeln!(o, "  -drive \"if=pflash,unit=1,format=raw,file=$OVMF_VARS\" \\")?;
    let mut all = arguments(layout).into_iter().peekable();
    while let Some(option) = all.next() {
        // Names have no NUL: nothing that a shell cannot be given.
        let word = |w: &str| shell::word(w).unwrap_or_default();
        let value = all.next_if(|next| !next.starts_with('-')).map(|v| format!(" {}", word(&v)));
        writeln!(o, "  {}{} \\", word(&option), value.unwrap_or_default())?;
    }
    writeln!(o, "  \"$@\"")?;
    Ok(Written { text: o, unsaid })
}

/// QEMU's arguments, without its firmware: options, each followed by its value.
#[must_use]
pub fn arguments(layout: &Layout) -> Vec<String> {
    let (cpus, memory) = sums(layout);
    // In a value a comma is written twice.
    let name = layout.name.replace(',', ",,");
    let mut out: Vec<String> = Vec::new();
    let mut add = |option: &str, value: String| out.extend([option.to_owned(), value]);
    add("-name", format!("guest={name}"));
    let split = if layout.has_iommu { ",kernel-irqchip=split" } else { "" };
    add("-machine", format!("q35,accel=kvm,dump-guest-core=off{split}"));
    add("-cpu", "host,migratable=off,host-phys-bits=on".to_owned());
    add("-smp", format!("{cpus},sockets={cpus},cores=1,threads=1"));
    add("-m", format!("size={memory}M"));
    add("-overcommit", "mem-lock=on".to_owned());
    for c in &layout.cells {
        add("-object", backend(c, layout.page_kib));
        let (first, last) = c.cpus;
        let cpus = if first == last { first.to_string() } else { format!("{first}-{last}") };
        add("-numa", format!("node,nodeid={},cpus={cpus},memdev=ram-node{}", c.id, c.id));
    }
    for c in layout.cells.iter().filter(|_| layout.cells.len() > 1) {
        for (to, distance) in (0..).zip(&c.distances) {
            let to: u32 = to;
            add("-numa", format!("dist,src={},dst={to},val={distance}", c.id));
        }
    }
    add("-global", format!("q35-pcihost.pci-hole64-size={}K", layout.window.size >> 10));
    add("-fw_cfg", format!("name=opt/ovmf/X-PciMmio64Mb,string={}", layout.window.size >> 20));
    if layout.has_iommu {
        // Before the devices that it is to serve.
        add("-device", "intel-iommu,intremap=on,caching-mode=on,eim=on,device-iotlb=on".to_owned());
    }
    layout.controllers.iter().for_each(|c| add("-device", controller(c)));
    layout.devices.iter().for_each(|d| add("-device", device(d)));
    // No device that nobody asked for: it would have an address, and perhaps one of these.
    out.extend(["-nodefaults".to_owned(), "-no-user-config".to_owned()]);
    out
}

/// The memory of a node, from the host's node only.
fn backend(c: &Cell, page_kib: Option<u64>) -> String {
    let pages = page_kib.map_or_else(
        || "memory-backend-ram".to_owned(),
        |kib| format!("memory-backend-memfd,hugetlb=on,hugetlbsize={}", kib << 10),
    );
    let (kind, rest) = pages.split_once(',').map_or((pages.as_str(), String::new()), |(k, r)| (k, format!(",{r}")));
    let nodes = c.host.map_or_else(String::new, |n| format!(",host-nodes={n},policy=bind"));
    format!("{kind},id=ram-node{},size={}M,prealloc=on{rest}{nodes}", c.id, c.memory_mib)
}

/// The name of a bus, libvirt's: `pcie.0` is the root's.
fn bus(index: u32) -> String {
    if index == 0 { "pcie.0".to_owned() } else { format!("pci.{index}") }
}

fn controller(c: &Controller) -> String {
    let place = format!("id=pci.{},bus={},addr={:#x}", c.index, bus(c.above), c.slot);
    match c.model {
        Model::PcieExpander => {
            let number = c.bus_number.map_or_else(String::new, |b| format!(",bus_nr={b}"));
            let node = c.cell.map_or_else(String::new, |n| format!(",numa_node={n}"));
            format!("pxb-pcie{number}{node},{place}")
        }
        Model::RootPort => {
            format!("pcie-root-port,port={:#x},chassis={},hotplug=off,{place}", u32::from(c.slot) << 3, c.index)
        }
        Model::UpstreamPort => format!("x3130-upstream,{place}"),
        Model::DownstreamPort => {
            format!("xio3130-downstream,port={:#x},chassis={},hotplug=off,{place}", c.slot, c.index)
        }
        // A layout has no other.
        other => format!("{},{place}", other.name()),
    }
}

fn device(d: &Placed) -> String {
    let multi = if d.multifunction && d.guest.function == 0 { ",multifunction=on" } else { "" };
    let place = format!("bus={},addr=0x0.{:#x}", bus(d.above), d.guest.function);
    format!("vfio-pci,host={},id={},{place}{multi}", d.host, d.alias.trim_start_matches("ua-"))
}

fn lacks(layout: &Layout) -> Vec<Unsaid> {
    let mut out = vec![unsaid(
        "binding the devices to vfio-pci and giving them back: `driverctl set-override ADDRESS vfio-pci`, or what the host has for it",
    )];
    out.push(unsaid(
        "the limit on locked memory, above the guest's memory: `ulimit -l unlimited` before it, or systemd's LimitMEMLOCK=infinity",
    ));
    for c in layout.cells.iter().filter(|c| !c.pins.is_empty()) {
        out.push(unsaid(format!(
            "CPUs {} to {} of the guest on CPUs {} of the host, one each in their order: `taskset -cp` on the threads that QMP's query-cpus-fast names",
            c.cpus.0,
            c.cpus.1,
            ranges(c.pins.iter().copied())
        )));
    }
    let emulator: Vec<u32> = layout.cells.iter().flat_map(|c| c.emulator.iter().copied()).collect();
    if !emulator.is_empty() {
        out.push(unsaid(format!(
            "the emulator's threads on CPUs {} of the host: start it by `taskset -c`",
            ranges(emulator)
        )));
    }
    out
}
