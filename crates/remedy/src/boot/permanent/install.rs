//! `/etc/kernel/cmdline`, and the entry or image that `kernel-install` makes of it.

use super::{KernelArgs, SLOW, Written, add_note, changed, entries, file, running};
use crate::change::Refusal;
use crate::model::{Act, Condition, RunAct};
use crate::see::{self, There};
use linerate_snapshot::{MARK, Snapshot};

pub(super) fn systemd(args: KernelArgs<'_>, s: &Snapshot, uki: bool) -> Result<Written, Refusal> {
    const PATH: &str = "/etc/kernel/cmdline";
    let there = see::there(s, PATH);
    let old = match &there {
        There::Text(t) => t.clone(),
        // kernel-install takes the running kernel's where there is no file: so does this, without what the loader added.
        There::Absent => {
            let words = running(s);
            if words.is_empty() {
                return Err(Refusal::no(format!(
                    "there is no {PATH}, and the running kernel's arguments were not read"
                )));
            }
            let loader = |w: &&String| !w.starts_with("BOOT_IMAGE=") && !w.starts_with("initrd=");
            words.iter().filter(loader).cloned().collect::<Vec<_>>().join(" ")
        }
        There::Something | There::Unseen => {
            return Err(Refusal::no(format!("{PATH} was not read: collect again as root")));
        }
    };
    // Values that are not captured cannot be written again: nothing may be lost or made up.
    if let Some(word) = old.split_ascii_whitespace().find(|w| w.contains(MARK)) {
        return Err(Refusal::no(format!(
            "the kernel's arguments hold values that are not captured ({word}): add the arguments to {PATH} by hand, and run kernel-install"
        )));
    }
    let before = see::before(&there).ok_or_else(|| changed(PATH))?;
    let gone = |w: &&str| args.remove.iter().chain(args.add).any(|r| r == w);
    let mut words: Vec<&str> = old.split_ascii_whitespace().filter(|w| !gone(w)).collect();
    words.extend(args.add.iter().map(String::as_str));
    let add = kernel_install(s)?;
    // A unified image is often larger than what is kept of a file: it is built again once all files are back.
    let mut writes = if uki { Vec::new() } else { entries(s) };
    writes.sort();
    let undo = if writes.is_empty() { add.clone() } else { vec![] };
    let mut note = "other kernels get the arguments when they are installed again".to_owned();
    if uki {
        add_note(
            &mut note,
            "the arguments are inside the kernel's image: it is rebuilt (ukify and, with Secure Boot, its key have to be set up)",
        );
    }
    Ok(Written {
        precondition: vec![Condition::program("kernel-install", "systemd")],
        change: vec![
            file(PATH, before, format!("{}\n", words.join(" "))),
            Act::Run(RunAct { argv: add, writes, undo, limit: SLOW }),
        ],
        note,
        ..Written::default()
    })
}

/// `kernel-install add` for the running kernel: `add-all` is newer than many systems, and knows one place of images only.
pub(crate) fn kernel_install(s: &Snapshot) -> Result<Vec<String>, Refusal> {
    let release = see::release(s).ok_or_else(|| {
        Refusal::no("the source does not show the running kernel's release: which to install is not known")
    })?;
    let places = [
        format!("/usr/lib/modules/{release}/vmlinuz"),
        format!("/boot/vmlinuz-{release}"),
        format!("/lib/modules/{release}/vmlinuz"),
    ];
    let Some(image) = places.iter().find(|p| see::exists(s, p)) else {
        return Err(Refusal::no(format!(
            "the source shows no image of the running kernel ({}): take a new collection with this version, or run kernel-install by hand",
            places.join(", ")
        )));
    };
    Ok(["kernel-install", "add", &release, image].map(str::to_owned).to_vec())
}
