//! What an act of a plan names: the files that may be kept before it, and put back after it. Nothing else is.

use linerate_remedy::{Act, BootTrial, FileAct, RunAct, TrialAct};

/// Whether an act names a file: as its own, or as one that its program writes. The files of an entry that is started once are the boot
/// loader's, and known by its kind.
pub(crate) fn is_named(act: &Act, path: &str) -> bool {
    match act {
        Act::File(FileAct { path: own, .. }) => own == path,
        Act::Run(RunAct { writes, .. }) => writes.iter().any(|w| w == path),
        Act::Trial(TrialAct { boot, .. }) => is_of_loader(*boot, path),
        Act::Value(_) | Act::NicFirmware(_) | Act::Bios(_) | Act::Label(_) => false,
    }
}

/// The file of an entry that is started once, and the environment block of GRUB.
fn is_of_loader(boot: BootTrial, path: &str) -> bool {
    let Some((dir, name)) = path.rsplit_once('/') else { return false };
    let entry = name.ends_with(".conf") && name.contains("linerate-trial");
    match boot {
        BootTrial::GrubCustom => path == "/boot/grub/custom.cfg" || path == "/boot/grub/grubenv",
        BootTrial::GrubBls => path == "/boot/grub2/grubenv" || entry && is_entries(dir),
        BootTrial::SystemdBoot => entry && is_entries(dir),
    }
}

fn is_entries(dir: &str) -> bool {
    ["/boot/loader/entries", "/efi/loader/entries", "/boot/efi/loader/entries"].contains(&dir)
}

/// Whether a directory lies above one of these files.
pub(crate) fn is_above(dir: &str, files: &[&str]) -> bool {
    files.iter().any(|file| file.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')))
}

/// Programs that choose an entry of a boot loader, or forget the choice.
pub(crate) const CHOOSERS: [&str; 5] = ["grub-reboot", "grub2-reboot", "grub-editenv", "grub2-editenv", "bootctl"];
