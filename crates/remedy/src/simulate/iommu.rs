//! Domains and groups that follow from the kernel's arguments.

use super::{Sim, registers};
use linerate_formats::cmdline::{Cmdline, kernel_bool};
use linerate_formats::kernel_config::{Setting, find};
use linerate_formats::pci::Bdf;
use linerate_formats::pci::caps::AcsBits;
use linerate_node::context::Role;
use linerate_rules::{domain_asked_for, iommu_turned_off};

const GROUPS: &str = "sys/kernel/iommu_groups";

/// The kernel was started with other words.
pub(super) fn booted_with(sim: &mut Sim<'_>, before: &Cmdline, after: &Cmdline) {
    let node = sim.node;
    let groups: Vec<u32> = node.iommu.groups.known().into_iter().flatten().map(|g| g.id).collect();
    match (groups.is_empty(), runs(sim, before), runs(sim, after)) {
        (true, false, true) => return started(sim, after),
        (false, true, false) => return stopped(sim),
        (true, ..) => return,
        _ => {}
    }
    let (old, new) = (asked(sim, before), asked(sim, after));
    if old == new {
        return;
    }
    if node.context.role.value == Some(Role::VmGuest) {
        sim.cannot("the domains of a guest: an emulated IOMMU without passthrough support translates always");
        return;
    }
    for id in groups {
        let path = format!("{GROUPS}/{id}/type");
        // Others belong to whoever opened the group.
        if matches!(sim.text(&path).as_deref().map(str::trim), Some("identity" | "DMA" | "DMA-FQ")) {
            sim.write(&path, &format!("{new}\n"));
        }
    }
}

/// The default domain with these words: what they ask for, else what the kernel's configuration does (drivers/iommu/iommu.c, Kconfig: lazy on x86,
/// strict elsewhere).
fn asked(sim: &Sim<'_>, c: &Cmdline) -> &'static str {
    let set = |name: &str| {
        let options = sim.node.kernel.config.known()?;
        Some(find(options, name)?.setting != Setting::NotSet)
    };
    let identity = domain_asked_for(sim.node, c).or_else(|| set("IOMMU_DEFAULT_PASSTHROUGH")).unwrap_or_default();
    if identity {
        return "identity";
    }
    let word = c.last("iommu.strict").and_then(|p| kernel_bool(p.value.as_deref().unwrap_or_default()));
    let strict = word.or_else(|| set("IOMMU_DEFAULT_DMA_STRICT")).unwrap_or(sim.node.cpu.is_arm());
    if strict { "DMA" } else { "DMA-FQ" }
}

/// Whether a kernel with these words uses the IOMMU that firmware offers.
fn runs(sim: &Sim<'_>, c: &Cmdline) -> bool {
    let table = sim.node.iommu.acpi.known().and_then(|t| t.iommu_table());
    let asked = || c.options("intel_iommu").any(|(o, _)| o.starts_with("on"));
    let default_off = sim
        .node
        .kernel
        .config
        .known()
        .and_then(|all| find(all, "INTEL_IOMMU_DEFAULT_ON"))
        .is_some_and(|o| o.setting == Setting::NotSet);
    !iommu_turned_off(sim.node, c) && table.is_some_and(|t| t != "DMAR" || !default_off || asked())
}

/// No groups, no domains.
fn stopped(sim: &mut Sim<'_>) {
    for name in crate::see::names(&sim.s, GROUPS).into_iter().map(str::to_owned).collect::<Vec<_>>() {
        sim.s.remove(&format!("{GROUPS}/{name}"));
    }
    for name in crate::see::names(&sim.s, "sys/class/iommu").into_iter().map(str::to_owned).collect::<Vec<_>>() {
        sim.s.remove(&format!("sys/class/iommu/{name}"));
    }
    for f in &sim.node.pci.functions {
        sim.s.remove(&format!("sys/bus/pci/devices/{}/iommu_group", f.bdf));
    }
}

/// Groups with the default domain, one for each function: the finest that hardware can have. With an IOMMU the kernel switches ACS on at every port
/// (drivers/pci/pci.c, `pci_std_enable_acs`: SV, RR, CR and UF, as far as the port has them).
fn started(sim: &mut Sim<'_>, after: &Cmdline) {
    let domain = asked(sim, after);
    let all: Vec<Bdf> = sim.node.pci.functions.iter().map(|f| f.bdf).collect();
    sim.s.remove("sys/class/iommu/none");
    for (n, bdf) in all.iter().enumerate() {
        let group = format!("{GROUPS}/{n}");
        sim.write(&format!("{group}/type"), &format!("{domain}\n"));
        sim.s.set_link(&format!("{group}/devices/{bdf}"), format!("../../../../bus/pci/devices/{bdf}").as_bytes());
        let link = format!("sys/bus/pci/devices/{bdf}/iommu_group");
        sim.s.set_link(&link, format!("/{group}").as_bytes());
    }
    let ports: Vec<(Bdf, u16)> = sim
        .node
        .pci
        .functions
        .iter()
        .filter_map(|f| {
            let acs = f.acs.known()?;
            let bits = (AcsBits::SV | AcsBits::RR | AcsBits::CR | AcsBits::UF) & acs.capability?.0;
            Some((f.bdf, bits))
        })
        .collect();
    for (port, bits) in ports {
        registers::write(sim, port, "ECAP_ACS+6.w", bits, bits);
    }
    sim.cannot("which functions share an IOMMU group: each is shown in one of its own");
}
