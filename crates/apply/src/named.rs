//! What an act of a plan names: the files that may be kept before it, and put back after it. Nothing else is.

use crate::act::on_node;
use linerate_remedy::Act;

/// Whether an act names a file: as its own, or as one that its program writes. The files of an entry that is started once are the boot
/// loader's, and known by its kind.
pub(crate) fn is_named(act: &Act, path: &str) -> bool {
    on_node(act).is_some_and(|act| act.names(path))
}

/// Whether a directory lies above one of these files.
pub(crate) fn is_above(dir: &str, files: &[&str]) -> bool {
    files.iter().any(|file| file.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')))
}

/// Programs that choose an entry of a boot loader, or forget the choice.
pub(crate) const CHOOSERS: [&str; 5] = ["grub-reboot", "grub2-reboot", "grub-editenv", "grub2-editenv", "bootctl"];
