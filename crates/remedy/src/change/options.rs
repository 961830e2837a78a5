//! Options of kernel modules (`modprobe.d`, and the initramfs that holds a copy), from the next load of the module on.

use super::{BY_REBOOT, Change, Kind, Refusal, Setting, each, ours, words};
use crate::model::{Act, Condition, Proof, RunAct};
use crate::platform::{Boot, Initramfs, Platform};
use crate::see;
use crate::terms::{On, Terms};
use linerate_formats::cmdline::same_name;
use linerate_node::modprobe;
use linerate_rules::Action;
use linerate_snapshot::Snapshot;

const OPTIONS: &str = "/etc/modprobe.d/linerate.conf";

/// Options of modules.
pub(super) struct ModuleOptions;

impl Kind for ModuleOptions {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(|_| String::new())
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        BY_REBOOT
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        let claim = |o: ModuleOption<'_>| {
            (format!("option {} of {}", o.option, o.module), o.value.map_or("not set".to_owned(), str::to_owned))
        };
        of(action).map(claim).into_iter().collect()
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        vec![options(&each(actions, of), on.platform, on.snapshot)]
    }
}

/// An option of a module.
#[derive(PartialEq)]
struct ModuleOption<'a> {
    module: &'a str,
    option: &'a str,
    /// `None`: the option is removed.
    value: Option<&'a str>,
}

fn of(action: &Action) -> Option<ModuleOption<'_>> {
    match action {
        Action::ModuleOption { module, option, value } => {
            Some(ModuleOption { module, option, value: value.as_deref() })
        }
        _ => None,
    }
}

fn options(asked: &[ModuleOption<'_>], platform: &Platform, s: &Snapshot) -> Result<Change, Refusal> {
    let mut lines = Vec::new();
    for o in asked {
        words::module(o.module)?;
        words::option(o.option)?;
        if let Some(v) = o.value {
            words::option_value(v)?;
            lines.push(format!("options {} {}={v}", o.module, o.option));
        }
        foreign(o, s)?;
    }
    let file = ours::with_lines(s, OPTIONS, "module-options", &lines, |line| !asked.iter().any(|o| sets(line, o)))?;
    let Some(file) = file else {
        return Err(Refusal::Already {
            reason: format!("{OPTIONS} has this line: it holds from the next load of the module on"),
        });
    };
    let (rebuild, package, note) = initramfs(platform, s, OPTIONS, "options")?;
    let names: Vec<String> = asked
        .iter()
        .map(|o| match o.value {
            Some(v) => format!("{} {}={v}", o.module, o.option),
            None => format!("{} without {}", o.module, o.option),
        })
        .collect();
    let Act::Run(RunAct { argv, .. }) = &rebuild else { return Err(Refusal::no("no program makes the initramfs")) };
    let name = argv.first().cloned().unwrap_or_default();
    Ok(Change {
        id: "module-options".into(),
        summary: format!("give options to modules: {}", names.join(", ")),
        precondition: vec![Condition::Program { name, package }],
        acts: vec![file, rebuild],
        proof: asked.iter().filter_map(option_proof).collect(),
        note,
        ..Change::default()
    })
}

/// Options of the nvidia module that are set by name show up elsewhere (`/proc/driver/nvidia/params`): the rule reads those.
fn option_proof(o: &ModuleOption<'_>) -> Option<Proof> {
    let value = o.value?.to_owned();
    let shown = !o.option.starts_with("NVreg_") && value.bytes().all(|b| b.is_ascii_digit());
    let path = format!("/sys/module/{}/parameters/{}", o.module.replace('-', "_"), o.option);
    shown.then_some(Proof::Value { path, value })
}

/// Whether a line of a file of ours sets the option.
fn sets(line: &str, o: &ModuleOption<'_>) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("options")
        && words.next().is_some_and(|m| same_name(m, o.module))
        && words.any(|w| same_name(w.split('=').next().unwrap_or(w), o.option))
}

/// An option that a file of somebody else sets: ours cannot take it back, and which of two values wins depends on file names.
fn foreign(o: &ModuleOption<'_>, s: &Snapshot) -> Result<(), Refusal> {
    for set in modprobe::options(s, o.module).known().into_iter().flatten() {
        let file = format!("/{}", s.path(set.place.base));
        if !same_name(&set.name, o.option) || file == OPTIONS || set.value.as_deref() == o.value {
            continue;
        }
        let want = match o.value {
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

/// What makes the initramfs of the running kernel again, its package, and what to know of it. `file` holds `what`.
pub(super) fn initramfs(
    platform: &Platform,
    s: &Snapshot,
    file: &str,
    what: &str,
) -> Result<(Act, String, String), Refusal> {
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
                    format!("write the {what} to {file}; the initramfs is in the image of the system"),
                    format!("rpm-ostree initramfs-etc --track={file}"),
                    "then reboot into the new deployment".into(),
                ],
                reread: vec![file.into()],
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
                    format!("write the {what} to {file} and make the initramfs again, as this system does it"),
                    "the source does not show what makes the initramfs here".into(),
                ],
                reread: vec![file.into()],
            });
        }
    };
    let note = format!(
        "the initramfs of the running kernel ({image}) is made again; those of other kernels keep the old {what} until they are made again"
    );
    // The image is not kept: it is often larger than what is kept of a file. It is made again once all files are back.
    Ok((ours::run(&argv, &argv, 600), package.into(), note))
}
