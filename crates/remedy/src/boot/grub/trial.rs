//! A menu entry that is started once: `custom.cfg` beside `grub.cfg`, chosen by `grub-reboot`.

use super::menu::{self, Item};
use crate::boot::words::{Piece, edited, split};
use crate::boot::{BootError, PANIC, TRIAL_ID, check_all};

const BEGIN: &str = "# >>> linerate: an entry that is started once. Remove it with: linerate rollback";
const END: &str = "# <<< linerate";

/// The default entry with other words, named [`TRIAL_ID`].
///
/// # Errors
/// The default entry was not found, is none of a Linux kernel, asks for a password, or a word must not be written.
pub fn trial_entry(
    grub_cfg: &str,
    grubenv: Option<&str>,
    add: &[String],
    remove: &[String],
) -> Result<String, BootError> {
    check_all(add, remove)?;
    let items = menu::items(grub_cfg);
    let usual = menu::find(&items, &menu::default_of(grub_cfg, grubenv)?)?;
    let locked = grub_cfg.lines().any(|l| l.trim().starts_with("set superusers="));
    let open = usual.head.contains(&"--unrestricted");
    if locked && !open {
        return Err(BootError::Entry("GRUB asks for a password before it starts it".to_owned()));
    }
    let body = lines(usual, add, remove)?;
    let flag = if open { " --unrestricted" } else { "" };
    Ok(format!("menuentry 'Once, on trial (linerate)'{flag} --id {TRIAL_ID} {{\n{body}}}\n"))
}

fn lines(usual: &Item<'_>, add: &[String], remove: &[String]) -> Result<String, BootError> {
    let entry = |why: &str| BootError::Entry(why.to_owned());
    let (mut out, mut kernels) = (String::new(), 0);
    for line in &usual.body {
        let trimmed = line.trim();
        let first = trimmed.split_ascii_whitespace().next().unwrap_or_default();
        match first {
            // These write to GRUB's environment: what is on trial must leave nothing behind.
            "savedefault" | "recordfail" => continue,
            "chainloader" | "multiboot" | "multiboot2" | "module" | "module2" | "xen_hypervisor" | "configfile" => {
                return Err(entry("it does not start a Linux kernel directly"));
            }
            "linux" | "linux16" | "linuxefi" => {
                kernels += 1;
                let indent = line.get(..line.len() - line.trim_start().len()).unwrap_or_default();
                let pieces = split(trimmed).ok_or_else(|| entry("its line of the kernel goes on in the next one"))?;
                out.push_str(indent);
                out.push_str(&kernel(&pieces, add, remove)?);
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    if kernels != 1 {
        return Err(BootError::Entry(format!("it has {kernels} lines that load a Linux kernel")));
    }
    Ok(out)
}

/// The `linux` line with the words, and with a panic that reboots.
fn kernel(pieces: &[Piece<'_>], add: &[String], remove: &[String]) -> Result<String, BootError> {
    let (Some(command), Some(image)) = (pieces.first(), pieces.get(1)) else {
        return Err(BootError::Entry("its line of the kernel names none".to_owned()));
    };
    let old = pieces.get(2..).unwrap_or_default();
    let mut words = vec![command.raw.to_owned(), image.raw.to_owned()];
    words.extend(edited(old, add, remove, true));
    let panics = |w: &str| w.starts_with("panic=");
    if !add.iter().any(|w| panics(w)) && !old.iter().any(|p| panics(&p.bare())) {
        words.push(PANIC.to_owned());
    }
    Ok(words.join(" "))
}

/// `custom.cfg` with the entry, between marks of ours; the rest stays as it is.
#[must_use]
pub fn with_trial(custom_cfg: Option<&str>, entry: &str) -> String {
    let mut out = custom_cfg.map(|c| without_trial(c).unwrap_or_default()).unwrap_or_default();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&format!("{BEGIN}\n{entry}{END}\n"));
    out
}

/// `custom.cfg` without our entry; `None`: nothing else is in it, so the file goes.
#[must_use]
pub fn without_trial(custom_cfg: &str) -> Option<String> {
    let mut out = String::new();
    let mut ours = false;
    for line in custom_cfg.split_inclusive('\n') {
        match line.trim_end() {
            BEGIN => ours = true,
            END if ours => ours = false,
            _ if !ours => out.push_str(line),
            _ => {}
        }
    }
    (!out.is_empty()).then_some(out)
}

/// Whether `grub.cfg` reads `custom.cfg` (Debian's `/etc/grub.d/41_custom`).
#[must_use]
pub fn is_custom_sourced(grub_cfg: &str) -> bool {
    grub_cfg.lines().map(str::trim).any(|l| l.starts_with("source ") && l.ends_with("/custom.cfg"))
}

/// The configuration of RHEL's GRUB that looks for `next_entry`: `vendors` are the names in `/boot/efi/EFI`, `read` gives a file's text.
pub fn rhel_cfg<T: AsRef<str>>(vendors: Vec<String>, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    // On EFI systems before RHEL 9 it is on the system partition; since then a few lines there lead to the one in /boot.
    let vendors = vendors.into_iter().map(|v| format!("/boot/efi/EFI/{v}/grub.cfg"));
    let mut all = std::iter::once("/boot/grub2/grub.cfg".to_owned()).chain(vendors);
    all.find_map(|path| read(&path).filter(|cfg| cfg.as_ref().contains("next_entry")))
}

/// Whether an entry that `grub-reboot` names is started once only: `grub.cfg` has to look for it, and GRUB has to be able to write its
/// environment block, or the trial would come again and again.
///
/// # Errors
/// It is not, and why.
pub fn starts_once(grub_cfg: &str) -> Result<(), BootError> {
    let not = |why: String| Err(BootError::NotOnce(why));
    let has = |word: &str| grub_cfg.lines().any(|l| l.contains(word));
    if !(has("set default=\"${next_entry}\"") && has("save_env next_entry")) {
        return not("grub.cfg does not look for next_entry".to_owned());
    }
    // What /boot lies on: GRUB reads these, and does not write them (its manual, "Environment block").
    for module in [
        "lvm",
        "mdraid09",
        "mdraid1x",
        "diskfilter",
        "btrfs",
        "zfs",
        "cryptodisk",
        "luks",
        "luks2",
        "http",
        "tftp",
        "squash4",
        "iso9660",
    ] {
        let word = format!("insmod {module}");
        if grub_cfg.lines().any(|l| l.trim() == word) {
            return not(format!("/boot is on {module}, where GRUB cannot write that the trial was started"));
        }
    }
    Ok(())
}
