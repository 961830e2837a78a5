//! Kernel arguments that stay, and the start on trial before, for each boot loader.

mod install;

pub(crate) use install::kernel_install;

use super::words::for_grub;
use super::{BootError, check_all, grub};
use crate::change::Refusal;
use crate::model::{Act, BootTrial, Condition, Content, FileAct, FileState, RunAct, TrialAct};
use crate::platform::{Boot, Platform};
use crate::see::{self, There};
use linerate_snapshot::Snapshot;

/// Seconds that tools may take which write boot configurations: `update-grub` looks at every disk.
const SLOW: u32 = 300;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct KernelArgs<'a> {
    /// Step that asks.
    pub step: &'a str,
    /// Words to add.
    pub add: &'a [String],
    /// Words to remove.
    pub remove: &'a [String],
    /// Whether the kernel is started on trial first, where the loader can.
    pub trial: bool,
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Written {
    /// What must hold before.
    pub precondition: Vec<Condition>,
    /// The start on trial; empty: there is none.
    pub trial: Vec<Act>,
    /// The change.
    pub change: Vec<Act>,
    /// What people should know.
    pub note: String,
}

/// The acts that change kernel arguments for good on this platform.
///
/// # Errors
/// There is no way here, something of the user's is against it, or a word is not written.
pub fn permanent(args: KernelArgs<'_>, platform: &Platform, s: &Snapshot) -> Result<Written, Refusal> {
    check_all(args.add, args.remove).map_err(|e: BootError| Refusal::no(e.to_string()))?;
    if let Some(refusal) = of_another(platform) {
        return Err(refusal);
    }
    let mut out = match &platform.boot {
        Boot::GrubDebian => grub_debian(args, platform, s)?,
        Boot::Grubby => grubby(args, s),
        Boot::SystemdBoot => install::systemd(args, s, false)?,
        Boot::Uki => install::systemd(args, s, true)?,
        Boot::OsTree => ostree(args, s),
        Boot::Unknown(why) => {
            return Err(Refusal::no(format!("how this node's kernel gets its arguments is not known: {why}")));
        }
        Boot::Talos | Boot::OpenShift => {
            return Err(Refusal::no("another system manages this node's kernel arguments"));
        }
    };
    let trial = match platform.boot {
        Boot::GrubDebian => Some((BootTrial::GrubCustom, "grub-reboot", "grub2-common")),
        Boot::Grubby => Some((BootTrial::GrubBls, "grub2-reboot", "grub2-tools")),
        Boot::SystemdBoot => Some((BootTrial::SystemdBoot, "bootctl", "systemd-boot")),
        _ => None,
    };
    let can = trial.filter(|(_, tool, _)| platform.tools.has(tool) != Some(false));
    // On Debian the node itself is asked before the trial; here what the source shows has to tell.
    let once = if platform.boot == Boot::Grubby { grubby_once(s) } else { Ok(()) };
    match can {
        Some((boot, tool, package)) if args.trial => match once {
            Ok(()) => {
                out.precondition.push(Condition::program(tool, package));
                out.trial.push(Act::Trial(TrialAct { boot, add: args.add.to_vec(), remove: args.remove.to_vec() }));
            }
            Err(why) => add_note(
                &mut out.note,
                &format!(
                    "there is no trial boot: {why}. If the kernel does not come up, nothing falls back by itself; have a console at hand"
                ),
            ),
        },
        Some(_) => add_note(
            &mut out.note,
            "without a trial boot, nothing falls back by itself if this kernel does not come up",
        ),
        None => add_note(
            &mut out.note,
            "this boot loader has no trial boot here: if the kernel does not come up, nothing falls back by itself; have a console at hand",
        ),
    }
    Ok(out)
}

/// Whether GRUB starts an entry once that `grub2-reboot` names: else a trial kernel that panics would come again and again.
fn grubby_once(s: &Snapshot) -> Result<(), BootError> {
    let vendors = see::names(s, "boot/efi/EFI").into_iter().map(|v| v.to_string()).collect();
    let Some(cfg) = grub::rhel_cfg(vendors, |path| see::text(s, path.trim_start_matches('/'))) else {
        return Err(BootError::OnceUnseen);
    };
    grub::starts_once(cfg)
}

fn grub_debian(args: KernelArgs<'_>, platform: &Platform, s: &Snapshot) -> Result<Written, Refusal> {
    for name in see::names(s, "etc/default/grub.d").into_iter().filter(|n| n.ends_with(".cfg")) {
        let path = format!("etc/default/grub.d/{name}");
        if format!("/{path}").as_str() > grub::DROP_IN
            && let Some(why) =
                see::text(s, &path).and_then(|t| grub::fights(&format!("/{path}"), t, args.add, args.remove))
        {
            return Err(Refusal::no(format!(
                "{why}. Change that file, or rename it so that it sorts before 90-linerate.cfg"
            )));
        }
    }
    let there = see::there(s, grub::DROP_IN);
    let (mut add, mut remove) = (args.add.to_vec(), args.remove.to_vec());
    if let There::Text(t) = &there {
        let Some((old_add, old_remove)) = grub::read_drop_in(t) else {
            return Err(changed(grub::DROP_IN));
        };
        add.splice(0..0, old_add.into_iter().filter(|w| !args.remove.contains(w) && !args.add.contains(w)));
        remove.splice(0..0, old_remove.into_iter().filter(|w| !args.add.contains(w) && !args.remove.contains(w)));
    }
    let before = see::before(&there).ok_or_else(|| changed(grub::DROP_IN))?;
    let mut precondition = vec![
        Condition::program("update-grub", "grub2-common"),
        Condition::Exists { path: "/boot/grub/grub.cfg".into() },
    ];
    if platform.tools.has("update-grub") == Some(false) {
        precondition.truncate(1);
    }
    Ok(Written {
        precondition,
        change: vec![
            file(grub::DROP_IN, before, grub::drop_in(args.step, &add, &remove)),
            Act::Run(RunAct {
                argv: vec!["update-grub".into()],
                // grub-mkconfig writes the second, and leaves it there when one of its parts fails.
                writes: vec!["/boot/grub/grub.cfg".into(), "/boot/grub/grub.cfg.new".into()],
                undo: vec![],
                limit: SLOW,
            }),
        ],
        ..Written::default()
    })
}

/// `grubby` changes every entry, and what new kernels get. Where the entries hold the arguments they are put back as they were; else by the
/// inverse.
fn grubby(args: KernelArgs<'_>, s: &Snapshot) -> Written {
    let call = |add: &[String], remove: &[String]| {
        let mut argv = vec!["grubby".to_owned(), "--update-kernel=ALL".to_owned()];
        let list = |w: &[String]| w.iter().map(|w| for_grub(w)).collect::<Vec<_>>().join(" ");
        if !add.is_empty() {
            argv.push(format!("--args={}", list(add)));
        }
        if !remove.is_empty() {
            argv.push(format!("--remove-args={}", list(remove)));
        }
        argv
    };
    let entries = entries(s);
    let (had, new) = inverse(args, s);
    // RHEL 8 has the arguments of all entries in one variable of grubenv, which every boot writes: what was there before a boot does not
    // come back as a file.
    let variable =
        entries.iter().any(|e| see::text(s, e.trim_start_matches('/')).is_none_or(|t| t.contains("$kernelopts")));
    let (writes, undo) = if entries.is_empty() || variable {
        (Vec::new(), call(&had, &new))
    } else {
        let others = ["/etc/default/grub", "/etc/kernel/cmdline"].map(str::to_owned);
        // Looks only: files that are back are all of it, and a grubby that ran again would make the change again.
        (entries.into_iter().chain(others).collect(), ["grubby", "--info=DEFAULT"].map(str::to_owned).to_vec())
    };
    Written {
        precondition: vec![Condition::program("grubby", "grubby")],
        change: vec![Act::Run(RunAct { argv: call(args.add, args.remove), writes, undo, limit: SLOW })],
        ..Written::default()
    }
}

/// What an inverse adds and removes: only what was there comes back, and what was there stays.
fn inverse(args: KernelArgs<'_>, s: &Snapshot) -> (Vec<String>, Vec<String>) {
    let running = running(s);
    let had = args.remove.iter().filter(|w| running.contains(w)).cloned().collect();
    (had, args.add.iter().filter(|w| !running.contains(w)).cloned().collect())
}

fn ostree(args: KernelArgs<'_>, s: &Snapshot) -> Written {
    let (had, new) = inverse(args, s);
    let call = |add: &[String], remove: &[String]| {
        let mut argv = vec!["rpm-ostree".to_owned(), "kargs".to_owned()];
        argv.extend(add.iter().map(|w| format!("--append-if-missing={}", for_grub(w))));
        argv.extend(remove.iter().map(|w| format!("--delete-if-present={}", for_grub(w))));
        argv
    };
    Written {
        precondition: vec![Condition::program("rpm-ostree", "rpm-ostree")],
        change: vec![Act::Run(RunAct {
            argv: call(args.add, args.remove),
            writes: vec![],
            undo: call(&had, &new),
            limit: SLOW,
        })],
        note:
            "a new deployment is made; the one before stays in the boot menu and comes back with `rpm-ostree rollback`"
                .to_owned(),
        ..Written::default()
    }
}

/// Why nothing of the system is changed on a node that another one configures; `None`: nobody does.
pub(crate) fn of_another(platform: &Platform) -> Option<Refusal> {
    let (why, format) = match platform.boot {
        Boot::Talos => (
            "Talos has no shell: kernel arguments come from its image (Image Factory) or its machine configuration, and modules, \
             values, limits and units from its machine configuration",
            "talos",
        ),
        Boot::OpenShift => (
            "the Machine Config Operator owns this node's kernel arguments, files and units, and puts back what others change",
            "machineconfig",
        ),
        _ => return None,
    };
    Some(Refusal::No {
        reason: why.to_owned(),
        unless: Some(format!("linerate plan --format {format}, and apply that")),
    })
}

fn changed(path: &str) -> Refusal {
    Refusal::no(format!("{path} exists, but is not as linerate writes it: remove it, or make the change by hand"))
}

fn file(path: &str, before: FileState, text: String) -> Act {
    Act::File(FileAct { path: path.to_owned(), before, after: Some(Content(text)), mode: 0o644 })
}

fn add_note(note: &mut String, more: &str) {
    if !note.is_empty() {
        note.push_str("; ");
    }
    note.push_str(more);
}

/// Words of the running kernel's arguments.
fn running(s: &Snapshot) -> Vec<String> {
    see::text(s, "proc/cmdline").into_iter().flat_map(str::split_ascii_whitespace).map(str::to_owned).collect()
}

/// Files of the entries that the source shows.
fn entries(s: &Snapshot) -> Vec<String> {
    below(s, &["boot/loader/entries", "boot/efi/loader/entries", "efi/loader/entries"], ".conf")
}

fn below(s: &Snapshot, dirs: &[&str], end: &str) -> Vec<String> {
    let in_dir = |d: &&str| {
        let names = see::names(s, d).into_iter().filter(|n| n.ends_with(end)).map(|n| format!("/{d}/{n}"));
        names.collect::<Vec<_>>()
    };
    dirs.iter().flat_map(in_dir).collect()
}

#[cfg(test)]
mod tests;
