//! `sys/devices/pci…` and the links to it.

use crate::Tree;
use crate::compose::Plan;
use crate::config::{self, CORRECTABLE, UNCORRECTABLE, Windows};
use crate::description::Role;
use crate::function::{Function, Kind, Port};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Windows of every bridge, from what is below it.
pub(crate) fn windows(plan: &Plan) -> Vec<Windows> {
    let mut all: Vec<Windows> = vec![(None, None); plan.functions.len()];
    let widen = |w: Option<(u64, u64)>, (from, to): (u64, u64)| {
        Some(w.map_or((from, to), |(a, b): (u64, u64)| (a.min(from), b.max(to))))
    };
    for (i, f) in plan.functions.iter().enumerate().rev() {
        let Some(parent) = f.parent else { continue };
        let (own_low, own_high) = all.get(i).copied().unwrap_or_default();
        let Some((low, high)) = all.get_mut(parent) else { continue };
        for bar in f.bars.iter().filter(|b| b.size > 0) {
            let into = if bar.wide && bar.prefetchable { &mut *high } else { &mut *low };
            *into = widen(*into, (bar.address, bar.address + bar.size.max(1 << 20) - 1));
        }
        if let Some(w) = own_low {
            *low = widen(*low, w);
        }
        if let Some(w) = own_high {
            *high = widen(*high, w);
        }
    }
    all
}

pub(crate) fn write(plan: &Plan, tree: &mut Tree) {
    let windows = windows(plan);
    let mut last = 0;
    for ((i, f, path), windows) in plan.each().zip(windows) {
        function(plan, tree, f, path, windows, &mut last);
        tree.link_to(format!("sys/bus/pci/devices/{}", f.bdf), path);
        tree.link_to(format!("{path}/subsystem"), "sys/bus/pci");
        if let Some(driver) = &f.driver {
            let home = format!("sys/bus/pci/drivers/{driver}");
            tree.link_to(format!("{path}/driver"), &home);
            tree.link_to(format!("{home}/{}", f.bdf), path);
        }
        if let Kind::Vf { parent, index } = f.kind
            && let Some(pf) = plan.paths.get(parent)
        {
            tree.link_to(format!("{path}/physfn"), pf);
            tree.link_to(format!("{pf}/virtfn{index}"), path);
        }
        if let Some(group) = plan.groups.get(i).copied().flatten() {
            tree.link_to(format!("{path}/iommu_group"), &format!("sys/kernel/iommu_groups/{group}"));
        }
    }
}

fn function(plan: &Plan, tree: &mut Tree, f: &Function, path: &str, windows: Windows, irq: &mut u32) {
    let mut value = |name: &str, v: String| tree.value(format!("{path}/{name}"), v);
    value("vendor", format!("0x{:04x}", f.vendor));
    value("device", format!("0x{:04x}", f.device));
    value("subsystem_vendor", format!("0x{:04x}", f.subsystem.0));
    value("subsystem_device", format!("0x{:04x}", f.subsystem.1));
    value("class", format!("0x{:06x}", f.class));
    value("revision", format!("0x{:02x}", f.revision));
    let modalias = format!(
        "pci:v{:08X}d{:08X}sv{:08X}sd{:08X}bc{:02X}sc{:02X}i{:02X}",
        f.vendor,
        f.device,
        f.subsystem.0,
        f.subsystem.1,
        f.class >> 16,
        (f.class >> 8) & 0xff,
        f.class & 0xff
    );
    let mut uevent = String::new();
    if let Some(driver) = &f.driver {
        let _ = writeln!(uevent, "DRIVER={driver}");
    }
    let _ = write!(
        uevent,
        "PCI_CLASS={:X}\nPCI_ID={:04X}:{:04X}\nPCI_SUBSYS_ID={:04X}:{:04X}\nPCI_SLOT_NAME={}\nMODALIAS={modalias}",
        f.class, f.vendor, f.device, f.subsystem.0, f.subsystem.1, f.bdf
    );
    value("uevent", uevent);
    value("modalias", modalias);
    *irq += u32::from(f.driver.is_some());
    value("irq", if f.driver.is_some() { (15 + *irq).to_string() } else { "0".into() });
    value("enable", u8::from(f.driver.is_some()).to_string());
    value("numa_node", f.numa.to_string());
    let cpus = plan.cpus.of_node(f.numa);
    value("local_cpulist", cpus.list.clone());
    value("local_cpus", cpus.map.clone());
    value("msi_bus", "1".into());
    value("power/control", if f.port == Some(Port::Integrated) { "auto" } else { "on" }.into());
    value("power/runtime_status", "active".into());
    value("resource", resources(f, windows));
    if f.is_express() && f.port != Some(Port::Integrated) {
        links(f, &mut value);
    }
    if f.has_aer && plan.d.node.role != Role::Guest {
        errors(f, &mut value);
    }
    if let Some(sriov) = f.sriov {
        value("sriov_totalvfs", sriov.total.to_string());
        value("sriov_numvfs", sriov.number.to_string());
        value("sriov_drivers_autoprobe", "1".into());
        value("sriov_offset", sriov.offset.to_string());
        value("sriov_stride", sriov.stride.to_string());
    }
    if let Some((secondary, subordinate)) = f.buses {
        value("secondary_bus_number", secondary.to_string());
        value("subordinate_bus_number", subordinate.to_string());
    }
    if f.ari {
        value("ari_enabled", u8::from(f.sriov.is_some_and(|s| s.number > 0)).to_string());
    }
    if let Some(vpd) = &f.vpd {
        tree.file(format!("{path}/vpd"), crate::vpd::bytes(vpd));
    }
    if !f.no_config {
        tree.file(format!("{path}/config"), config::space(f, windows));
    }
}

fn links(f: &Function, value: &mut impl FnMut(&str, String)) {
    let (speed, width, max_speed, max_width) = match f.link {
        Some(l) => {
            let text = |s: linerate_formats::pci::LinkSpeed| format!("{:.1} GT/s PCIe", s.gigatransfers());
            (text(l.speed), l.width, text(l.max_speed), l.max_width)
        }
        // What the kernel prints for a virtual function, whose link registers are zero.
        None => ("Unknown".into(), 0, "Unknown".into(), 255),
    };
    value("current_link_speed", speed);
    value("current_link_width", width.to_string());
    value("max_link_speed", max_speed);
    value("max_link_width", max_width.to_string());
}

fn errors(f: &Function, value: &mut impl FnMut(&str, String)) {
    let print = |names: &[(&str, u32)], counters: &BTreeMap<String, u64>, total: &str| {
        let mut out = String::with_capacity(names.len() * 20);
        let mut sum = 0_u64;
        for (name, _) in names {
            let n = counters.get(*name).copied().unwrap_or(0);
            sum = sum.saturating_add(n);
            let _ = writeln!(out, "{name} {n}");
        }
        let _ = write!(out, "{total} {sum}");
        (out, sum)
    };
    let (text, correctable) = print(&CORRECTABLE, &f.aer.correctable, "TOTAL_ERR_COR");
    value("aer_dev_correctable", text);
    let (text, fatal) = print(&UNCORRECTABLE, &f.aer.fatal, "TOTAL_ERR_FATAL");
    value("aer_dev_fatal", text);
    let (text, nonfatal) = print(&UNCORRECTABLE, &f.aer.nonfatal, "TOTAL_ERR_NONFATAL");
    value("aer_dev_nonfatal", text);
    if f.port == Some(Port::Root) {
        value("aer_rootport_total_err_cor", correctable.to_string());
        value("aer_rootport_total_err_fatal", fatal.to_string());
        value("aer_rootport_total_err_nonfatal", nonfatal.to_string());
    }
}

/// Start, end and flags of each BAR, of the ROM, and of a bridge's windows.
fn resources(f: &Function, (memory, prefetchable): Windows) -> String {
    let mut lines = [(0, 0, 0); 17];
    for bar in f.bars.iter().filter(|b| b.size > 0) {
        // IORESOURCE_MEM, PREFETCH, SIZEALIGN, MEM_64 and the low bits of the register.
        let flags = 0x0004_0200 | if bar.wide { 0x0010_0004 } else { 0 } | if bar.prefetchable { 0x2008 } else { 0 };
        if let Some(line) = lines.get_mut(usize::from(bar.index)) {
            *line = (bar.address, bar.address + bar.size - 1, flags);
        }
    }
    let count = if f.buses.is_some() { 17 } else { 13 };
    // Lines 13 to 15 of a bridge are its I/O, memory and prefetchable windows.
    for (at, window, flags) in [(14, memory, 0x200), (15, prefetchable, 0x0010_2201)] {
        if let (Some((from, to)), Some(line)) = (window.filter(|_| f.buses.is_some()), lines.get_mut(at)) {
            *line = (from, to, flags);
        }
    }
    let mut out = String::with_capacity(count * 57);
    for (n, (from, to, flags)) in lines.iter().take(count).enumerate() {
        let _ = write!(out, "{}0x{from:016x} 0x{to:016x} 0x{flags:016x}", if n == 0 { "" } else { "\n" });
    }
    out
}
