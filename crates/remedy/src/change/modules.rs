//! Modules that are loaded at each boot (`modules-load.d`), and their options (`modprobe.d`, and the initramfs that holds a copy).

use super::{ModuleOption, Refusal, Rendered, ours, words};
use crate::model::{Act, Condition, Proof};
use crate::platform::{Boot, Initramfs, Platform};
use crate::see;
use linerate_formats::cmdline::same_name;
use linerate_node::{Node, modprobe};
use linerate_snapshot::Snapshot;

const LOAD: &str = "/etc/modules-load.d/linerate.conf";
const OPTIONS: &str = "/etc/modprobe.d/linerate.conf";

/// Modules at each boot, and now.
pub(super) fn load(modules: &[String], node: &Node<'_>, s: &Snapshot) -> Result<Rendered, Refusal> {
    for m in modules {
        words::module(m)?;
    }
    let file = ours::with_lines(s, LOAD, "modules", modules, |_| true)?;
    let loaded = |m: &str| node.kernel.modules.known().is_some_and(|all| all.iter().any(|l| same_name(l, m)));
    let missing: Vec<&String> = modules.iter().filter(|m| !loaded(m)).collect();
    if file.is_none() && missing.is_empty() {
        return Err(Refusal::Already { reason: format!("{LOAD} names them, and they are loaded") });
    }
    let mut change: Vec<Act> = file.into_iter().collect();
    // A module that something uses by then stays: `modprobe -r` refuses, and undoing says so.
    change.extend(missing.iter().map(|m| ours::run(&["modprobe", "--", m], &["modprobe", "-r", "--", m], 60)));
    Ok(Rendered {
        id: "modules".into(),
        summary: format!("load {} now and at each boot", modules.join(", ")),
        precondition: vec![Condition::Program { name: "modprobe".into(), package: "kmod".into() }],
        change,
        proof: modules.iter().map(|m| proof(m)).collect(),
        note: String::new(),
    })
}

/// A loaded module that has not finished loading says `coming`; one that is built in has no such file.
fn proof(module: &str) -> Proof {
    Proof::Value { path: format!("/sys/module/{}/initstate", module.replace('-', "_")), value: "live".into() }
}

/// Options of modules, from the next load of the module on.
pub(super) fn options(asked: &[ModuleOption], platform: &Platform, s: &Snapshot) -> Result<Rendered, Refusal> {
    let mut lines = Vec::new();
    for o in asked {
        words::module(&o.module)?;
        words::option(&o.option)?;
        if let Some(v) = &o.value {
            words::option_value(v)?;
            lines.push(format!("options {} {}={v}", o.module, o.option));
        }
        foreign(o, s)?;
    }
    let file = ours::with_lines(s, OPTIONS, "module-options", &lines, |line| !asked.iter().any(|o| sets(line, o)))?;
    let Some(file) = file else {
        return Err(Refusal::Already {
            reason: format!("{OPTIONS} says so: it holds from the next load of the module on"),
        });
    };
    let (rebuild, package, note) = initramfs(platform, s)?;
    let names: Vec<String> = asked
        .iter()
        .map(|o| match &o.value {
            Some(v) => format!("{} {}={v}", o.module, o.option),
            None => format!("{} without {}", o.module, o.option),
        })
        .collect();
    let Act::Run { argv, .. } = &rebuild else { return Err(Refusal::no("no program makes the initramfs")) };
    let name = argv.first().cloned().unwrap_or_default();
    Ok(Rendered {
        id: "module-options".into(),
        summary: format!("give options to modules: {}", names.join(", ")),
        precondition: vec![Condition::Program { name, package }],
        change: vec![file, rebuild],
        proof: asked.iter().filter_map(option_proof).collect(),
        note,
    })
}

/// Options of the nvidia module that are set by name show up elsewhere (`/proc/driver/nvidia/params`): the rule reads those.
fn option_proof(o: &ModuleOption) -> Option<Proof> {
    let value = o.value.clone()?;
    let shown = !o.option.starts_with("NVreg_") && value.bytes().all(|b| b.is_ascii_digit());
    let path = format!("/sys/module/{}/parameters/{}", o.module.replace('-', "_"), o.option);
    shown.then_some(Proof::Value { path, value })
}

/// Whether a line of a file of ours sets the option.
fn sets(line: &str, o: &ModuleOption) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("options")
        && words.next().is_some_and(|m| same_name(m, &o.module))
        && words.any(|w| same_name(w.split('=').next().unwrap_or(w), &o.option))
}

/// An option that a file of somebody else sets: ours cannot take it back, and which of two values wins depends on file names.
fn foreign(o: &ModuleOption, s: &Snapshot) -> Result<(), Refusal> {
    for set in modprobe::options(s, &o.module).known().into_iter().flatten() {
        let file = format!("/{}", s.path(set.place.base));
        if !same_name(&set.name, &o.option) || file == OPTIONS || set.value == o.value {
            continue;
        }
        let want = match &o.value {
            Some(v) => format!("change {}={} to {v}", set.name, set.value.as_deref().unwrap_or_default()),
            None => format!("remove {} from the options of {}", set.name, o.module),
        };
        return Err(Refusal::ByHand {
            how: vec![
                format!(
                    "in {} of the node: {want} (this file is not linerate's; it is not edited)",
                    s.describe(set.place)
                ),
                "then make the initramfs again (update-initramfs -u, or dracut -f) and reboot".into(),
            ],
            reread: vec![file],
        });
    }
    Ok(())
}

/// What makes the initramfs of the running kernel again, its package, and what to know of it.
fn initramfs(platform: &Platform, s: &Snapshot) -> Result<(Act, String, String), Refusal> {
    let Some(release) = see::release(s) else {
        return Err(Refusal::no(
            "the source does not show the running kernel's release: which initramfs would be made is not known",
        ));
    };
    let (debian, dracut) = (format!("/boot/initrd.img-{release}"), format!("/boot/initramfs-{release}.img"));
    let install;
    let (argv, image, package) = match (platform.initramfs, &platform.boot) {
        (_, Boot::OsTree) => {
            return Err(Refusal::ByHand {
                how: vec![
                    format!("write the options to {OPTIONS}; the initramfs is in the image of the system"),
                    format!("rpm-ostree initramfs-etc --track={OPTIONS}"),
                    "then reboot into the new deployment".into(),
                ],
                reread: vec![OPTIONS.into()],
            });
        }
        // Debian's hook hands a new initramfs on to kernel-install where the loader's files are its.
        (Initramfs::InitramfsTools, _) => {
            (vec!["update-initramfs", "-u", "-k", &release], debian.as_str(), "initramfs-tools")
        }
        // The entry, or the unified image, has an initramfs of its own, which this makes.
        (Initramfs::Dracut, Boot::SystemdBoot | Boot::Uki) => {
            install = crate::boot::kernel_install(s)?;
            (install.iter().map(String::as_str).collect(), "in the loader's entry or the unified image", "systemd")
        }
        (Initramfs::Dracut, _) => (vec!["dracut", "--force", &dracut, &release], dracut.as_str(), "dracut"),
        (Initramfs::Unknown, _) => {
            return Err(Refusal::ByHand {
                how: vec![
                    format!("write the options to {OPTIONS} and make the initramfs again, as this system does it"),
                    "the source does not show what makes the initramfs here".into(),
                ],
                reread: vec![OPTIONS.into()],
            });
        }
    };
    let note = format!(
        "the initramfs of the running kernel ({image}) is made again; those of other kernels keep the old options until they are made again"
    );
    // The image is not kept: it is often larger than what is kept of a file. It is made again once all files are back.
    Ok((ours::run(&argv, &argv, 600), package.into(), note))
}
