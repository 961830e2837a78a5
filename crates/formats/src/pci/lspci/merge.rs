//! Two sights of one device.

use super::super::caps::{Acs, Aer, Ari, Ats, Cap, Capabilities, Express, ResizableBars, SrIov, Unseen};
use super::device::Device;

/// Adds to `first` what only `later` shows.
pub(super) fn merge(first: &mut Device, later: Device) {
    fn fill<T>(to: &mut Option<T>, from: Option<T>) {
        if to.is_none() {
            *to = from;
        }
    }
    fn fill_with_line<T>(to: (&mut Option<T>, &mut u32), from: (Option<T>, u32)) {
        if to.0.is_none() {
            (*to.0, *to.1) = from;
        }
    }
    first.has_domain |= later.has_domain;
    // A class by number is better than one by name: it may know the programming interface.
    if first.class.is_none() || (first.prog_if.is_none() && later.prog_if.is_some()) {
        first.class = later.class.or(first.class);
    }
    if first.class_name.is_empty() {
        first.class_name = later.class_name;
    }
    // The name of `-n` is a pair of numbers.
    if first.name.is_empty() || (first.name.len() == 9 && first.name.as_bytes().get(4) == Some(&b':')) {
        first.name = later.name;
    }
    fill(&mut first.vendor, later.vendor);
    fill(&mut first.device, later.device);
    fill(&mut first.subsystem, later.subsystem);
    fill(&mut first.subsystem_vendor, later.subsystem_vendor);
    fill(&mut first.subsystem_device, later.subsystem_device);
    fill(&mut first.revision, later.revision);
    fill(&mut first.prog_if, later.prog_if);
    fill(&mut first.physical_slot, later.physical_slot);
    fill_with_line((&mut first.numa_node, &mut first.numa_node_line), (later.numa_node, later.numa_node_line));
    fill_with_line((&mut first.iommu_group, &mut first.iommu_group_line), (later.iommu_group, later.iommu_group_line));
    fill_with_line((&mut first.driver, &mut first.driver_line), (later.driver, later.driver_line));
    fill(&mut first.bus, later.bus);
    fill(&mut first.unknown_header_line, later.unknown_header_line);
    fill(&mut first.config, later.config);
    if first.modules.is_empty() {
        first.modules = later.modules;
    }
    if first.regions.is_empty() {
        first.regions = later.regions;
    }
    capabilities(&mut first.caps, later.caps);
    first.verbosity = first.verbosity.max(later.verbosity);
}

/// Adds to `first` the capabilities that only `later` shows.
pub(super) fn capabilities(first: &mut Capabilities, later: Capabilities) {
    if let (Cap::Present(first, _), Cap::Present(later, _)) = (&mut first.express, &later.express) {
        link(first, later);
    }
    better(&mut first.express, later.express, |e| {
        *e != Express { port_type: e.port_type, lines: e.lines, ..Express::default() }
    });
    better(&mut first.acs, later.acs, |c: &Acs| c.control.is_some());
    better(&mut first.ats, later.ats, |c: &Ats| c.enabled.is_some());
    better(&mut first.aer, later.aer, |c: &Aer| c.uncorrectable_status.is_some());
    better(&mut first.sriov, later.sriov, |c: &SrIov| c.total_vfs.is_some());
    better(&mut first.ari, later.ari, |c: &Ari| c.next_function.is_some());
    better(&mut first.rebar, later.rebar, |c: &ResizableBars| c.bars != ResizableBars::default().bars);
}

/// Registers of the link that only a later text shows: `lspci -vv | grep LnkCap`, then `grep LnkSta`.
fn link(first: &mut Express, later: &Express) {
    if first.lines.lnkcap == 0 {
        (first.link_cap_speed, first.link_cap_width) = (later.link_cap_speed, later.link_cap_width);
        first.lines.lnkcap = later.lines.lnkcap;
    }
    if first.lines.lnksta == 0 {
        (first.link_speed, first.link_width) = (later.link_speed, later.link_width);
        (first.link_speed_is, first.link_width_is) = (later.link_speed_is, later.link_width_is);
        first.lines.lnksta = later.lines.lnksta;
    }
}

/// Registers are better than a mere name, which is better than its certain absence, which is better than nothing seen.
fn better<T>(first: &mut Cap<T>, later: Cap<T>, has_registers: impl Fn(&T) -> bool) {
    let rank = |cap: &Cap<T>| match cap {
        Cap::Present(t, _) => 3 + u8::from(has_registers(t)),
        Cap::NotPresent => 2,
        Cap::Unseen(_) => 1,
        Cap::NotLooked => 0,
    };
    // That a listing did not print it tells less than any other reason.
    let better_reason = matches!((&*first, &later), (Cap::Unseen(Unseen::NotPrinted), Cap::Unseen(_)));
    if better_reason || rank(&later) > rank(first) {
        *first = later;
    }
}
