//! Modules and their options.

use super::Sim;
use linerate_formats::cmdline::same_name;
use linerate_snapshot::Why;

/// Modules that come with NVIDIA's driver, and have its version.
const NVIDIA: [&str; 4] = ["nvidia_peermem", "nvidia_uvm", "nvidia_modeset", "nvidia_drm"];
/// Where ib_core of OFED shows who registers GPU memory with it.
const PEERS: &str = "sys/kernel/mm/memory_peers";
/// What `nvidia_peermem` calls itself there (nvidia-peermem.c, `nv_mem_client`).
const CLIENT: &str = "nv_mem";

/// A module is loaded.
pub(super) fn load(sim: &mut Sim<'_>, name: &str) {
    let name = name.replace('-', "_");
    let list = sim.text("proc/modules");
    let there = |l: &str| l.lines().any(|l| l.split(' ').next() == Some(name.as_str()));
    if list.as_deref().is_some_and(there) {
        return;
    }
    if let Some(list) = list {
        sim.write("proc/modules", &format!("{name} 16384 0 - Live 0x0000000000000000\n{list}"));
    }
    let home = format!("sys/module/{name}");
    sim.write(&format!("{home}/initstate"), "live\n");
    match sim.text("sys/module/nvidia/version").filter(|_| NVIDIA.contains(&name.as_str())) {
        Some(version) => {
            sim.write(&format!("{home}/version"), &version);
            peer(sim, &name, &version);
        }
        None if name == "nvidia" => nvidia(sim),
        None => sim.cannot(format!("what {name} shows when it is loaded: devices, version, parameters")),
    }
}

/// A driver that is registered takes every device of its that has none (`driver_attach`, drivers/base/dd.c). What else it shows depends on
/// its version, which nothing tells before.
fn nvidia(sim: &mut Sim<'_>) {
    let free = sim.node.pci.nvidia_gpus().map(|(_, f)| f).filter(|f| f.in_sysfs && f.driver.is_absent());
    let homes: Vec<String> = free.map(|f| sim.before.path(f.home)).collect();
    for home in homes {
        sim.s.set_link(&format!("{}/driver", home.trim_start_matches('/')), b"/sys/bus/pci/drivers/nvidia");
    }
    for file in ["version", "params"] {
        let path = format!("proc/driver/nvidia/{file}");
        if sim.text(&path).is_none() {
            sim.s.add_failed(&path, Why::NotCollected);
        }
    }
    sim.cannot("what the driver shows when it is loaded: version, parameters, GPUs");
}

/// A module that takes no device by itself any more: NVIDIA's driver, where it runs beside, has the GPUs after the boot (`driver_attach`).
pub(super) fn blocked(sim: &mut Sim<'_>, name: &str) {
    let list = sim.text("proc/modules").unwrap_or_default();
    if list.lines().any(|l| l.split(' ').next() == Some("nvidia")) {
        let taken = |d: &str| same_name(d, name);
        let gpus = sim.node.pci.nvidia_gpus().map(|(_, f)| f);
        let theirs = gpus.filter(|f| f.in_sysfs && f.driver.known().is_some_and(|d| taken(d)));
        let homes: Vec<String> = theirs.map(|f| sim.before.path(f.home)).collect();
        for home in homes {
            sim.s.set_link(&format!("{}/driver", home.trim_start_matches('/')), b"/sys/bus/pci/drivers/nvidia");
        }
    }
    sim.cannot(format!("what else the devices show that {name} does not take at boot"));
}

/// With OFED, or another ib_core that takes clients, nvidia-peermem is one.
fn peer(sim: &mut Sim<'_>, name: &str, version: &str) {
    if name != "nvidia_peermem" {
        return;
    }
    let ofed = sim.node.peermem.ofed().is_some() || crate::see::exists(&sim.s, PEERS);
    if ofed {
        sim.write(&format!("{PEERS}/{CLIENT}/version"), version);
    }
}

/// An option of a module, after the module was loaded with it.
pub(super) fn option(sim: &mut Sim<'_>, module: &str, option: &str, value: Option<&str>) {
    let own = format!("sys/module/{}/parameters/{option}", module.replace('-', "_"));
    let Some(value) = value else {
        // The kernel's own value comes back: which that is, no file says.
        if crate::see::exists(&sim.s, &own) {
            sim.cannot(format!("the value that {option} of {module} has when nobody sets it"));
        }
        return;
    };
    if let Some(old) = sim.text(&own) {
        let new = match (old.trim(), value) {
            ("Y" | "N", "0" | "n" | "N") => "N".to_owned(),
            ("Y" | "N", _) => "Y".to_owned(),
            (old, value) => super::apply::chosen(old, value),
        };
        sim.write(&own, &format!("{new}\n"));
    } else if module != "nvidia" {
        sim.cannot(format!("{option} of {module}: the source does not show the option"));
    }
    if module == "nvidia" {
        shown_by_nvidia(sim, option.strip_prefix("NVreg_").unwrap_or(option), value);
    }
}

/// `/proc/driver/nvidia/params`
fn shown_by_nvidia(sim: &mut Sim<'_>, option: &str, value: &str) {
    const PARAMS: &str = "proc/driver/nvidia/params";
    let Some(text) = sim.text(PARAMS) else { return };
    let is = |l: &str| l.split_once(':').is_some_and(|(name, _)| same_name(name.trim(), option));
    if !text.lines().any(is) {
        sim.cannot(format!("{option}: the driver does not list the option"));
        return;
    }
    let new: Vec<String> =
        text.lines().map(|l| if is(l) { format!("{option}: {value}") } else { l.to_owned() }).collect();
    sim.write(PARAMS, &format!("{}\n", new.join("\n")));
}
