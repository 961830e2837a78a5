//! One effect, written into the node as it would be.

use super::{Sim, cmdline, domain, firmware, module, network, registers};
use crate::effect::Effect;
use crate::see;
use crate::verify::is_value;

/// What is written at once, before the reboot of the plan. `reboots`: there is one.
pub(super) fn written(sim: &mut Sim<'_>, effect: &Effect, reboots: bool) {
    match effect {
        Effect::File { path, text: Some(text) } => {
            sim.write(path, text);
        }
        Effect::File { path, text: None } => {
            sim.s.remove(path.trim_start_matches('/'));
        }
        Effect::Value { path, value } => self_value(sim, path, value),
        Effect::Module { name } => module::load(sim, name),
        Effect::NextNicFirmware { device, parameter, value } => firmware::next(sim, device, parameter, value),
        Effect::NicReset { device } => firmware::reset(sim, device),
        Effect::Address { interface, cidr } => network::address(sim, interface, *cidr),
        Effect::MemlockUnlimited => memlock(sim),
        Effect::Program { line } => sim.cannot(format!("what {} does", line.trim_start_matches('-'))),
        // Without a reboot in the plan an option holds from some later load on.
        Effect::ModuleOption { module, option, .. } if !reboots => {
            sim.cannot(format!(
                "{option} of {module} takes effect at the module's next load, which this plan does not cause"
            ));
        }
        // A unit writes registers now, and again after the start of the kernel, when firmware and kernel have written theirs.
        Effect::Register { .. } | Effect::ModuleOption { .. } | Effect::Cmdline { .. } => {}
        Effect::ModuleBlocked { name } if !reboots => {
            sim.cannot(format!("{name} stays until the next boot, which this plan does not cause"));
        }
        Effect::ModuleBlocked { .. } => {}
        Effect::Domain(act) => domain::defined(sim, act),
        Effect::NicFirmware { .. } | Effect::Bios { .. } | Effect::Label { .. } => {}
    }
}

/// What holds when the plan is done.
pub(super) fn after_reboot(sim: &mut Sim<'_>, effect: &Effect) {
    match effect {
        Effect::Cmdline { has, lacks } => cmdline::booted_with(sim, has, lacks),
        Effect::Register { function, register, value, mask } => {
            registers::write(sim, *function, register, *value, *mask);
        }
        Effect::ModuleOption { module, option, value } => module::option(sim, module, option, value.as_deref()),
        Effect::ModuleBlocked { name } => module::blocked(sim, name),
        Effect::NicFirmware { device, parameter, value } => firmware::in_force(sim, device, parameter, value),
        Effect::Bios { attribute, .. } => {
            sim.cannot(format!("what the firmware makes of the BIOS attribute {attribute}"));
        }
        Effect::File { .. }
        | Effect::Value { .. }
        | Effect::Module { .. }
        | Effect::NextNicFirmware { .. }
        | Effect::NicReset { .. }
        | Effect::Address { .. }
        | Effect::MemlockUnlimited
        | Effect::Program { .. }
        | Effect::Label { .. }
        | Effect::Domain(_) => {}
    }
}

/// A value of the kernel, and what shows it too.
fn self_value(sim: &mut Sim<'_>, path: &str, value: &str) {
    let Some(old) = sim.text(path) else {
        // The node has it; the source does not show it, and no rule of the source's reads it.
        if !see::looked(&sim.s, path) {
            return;
        }
        sim.cannot(format!("{path} does not exist: what the kernel makes of {value} is not known"));
        return;
    };
    if is_value(old.trim(), value) {
        return;
    }
    sim.write(path, &format!("{}\n", chosen(old.trim(), value)));
    if let Some(interface) =
        path.trim_start_matches('/').strip_prefix("sys/class/net/").and_then(|p| p.strip_suffix("/mtu"))
    {
        network::mtu(sim, interface, value);
    }
    if path.trim_start_matches('/') == "proc/sys/vm/nr_hugepages" {
        huge_pages(sim, value);
    }
}

/// Huge pages of the default size, where the kernel counts them (mm/hugetlb.c, `hugetlb_report_meminfo`). It may find less room than is asked for: the
/// proof reads the count.
fn huge_pages(sim: &mut Sim<'_>, value: &str) {
    const MEMINFO: &str = "proc/meminfo";
    const NAME: &str = "HugePages_Total:";
    let Some(text) = sim.text(MEMINFO) else { return };
    let line = |l: &str| if l.starts_with(NAME) { format!("{NAME} {value:>7}") } else { l.to_owned() };
    let new: Vec<String> = text.lines().map(line).collect();
    sim.write(MEMINFO, &format!("{}\n", new.join("\n")));
}

/// A file that shows a choice, `always [madvise] never`, shows another one.
pub(super) fn chosen(old: &str, value: &str) -> String {
    let choice = old.split_whitespace().any(|w| w.starts_with('[') && w.ends_with(']'));
    if !choice {
        return value.to_owned();
    }
    let words = old.split_whitespace().map(|w| {
        let bare = w.trim_start_matches('[').trim_end_matches(']');
        if bare == value { format!("[{bare}]") } else { bare.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The limits of the next session.
fn memlock(sim: &mut Sim<'_>) {
    const LIMITS: &str = "proc/self/limits";
    const NAME: &str = "Max locked memory";
    let Some(text) = sim.text(LIMITS) else { return };
    let line = |l: &str| {
        if l.starts_with(NAME) {
            format!("{NAME:<25} {:<20} {:<20} bytes", "unlimited", "unlimited")
        } else {
            l.to_owned()
        }
    };
    let new: Vec<String> = text.lines().map(line).collect();
    sim.write(LIMITS, &format!("{}\n", new.join("\n")));
}
