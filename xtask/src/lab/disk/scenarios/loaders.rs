//! Kernel arguments where no GRUB is: systemd-boot, and unified kernel images.

use super::super::{Group, Guest, Lab, Spec};
use super::apply::{Operator, PAIR, panics_once, there_and_back};
use super::{BOOT, domains, expect};
use crate::lab::Result;
use linerate_remedy::BootTrial;
use std::path::Path;

/// Files of the system and of the ESP, but for systemd's seed, which every boot changes.
const FILES: &str = "find /etc /boot ! -type d ! -name random-seed -printf '%p %m %U %G %y %l\\n' | sort
    find /etc /boot -type f ! -name random-seed -print0 | sort -z | xargs -0 sha256sum";

/// The same without the digest of the unified image: one that is built again is another file. What is in it, it says itself.
const FILES_AND_IMAGE: &str = "find /etc /boot ! -type d ! -name random-seed -printf '%p %m %U %G %y %l\\n' | sort
    find /etc /boot -type f ! -name random-seed ! -name '*.efi' -print0 | sort -z | xargs -0 sha256sum
    bootctl kernel-inspect /boot/efi/EFI/Linux/*.efi";

/// A guest whose domains translate, after `make` has made the arguments take part in a boot.
fn translated<'g>(group: &'g Group<'g>, linerate: &Path, make: &str) -> Result<Guest<'g>> {
    let mut spec = Spec::new("a");
    spec.machine.iommu = Some("intel".to_owned());
    spec.machine.bare_metal = true;
    spec.devices = PAIR.iter().map(|d| (*d).to_owned()).collect();
    let mut guest = group.start(spec)?;
    guest.wait_ssh(BOOT)?;
    guest.copy_in(linerate, "/usr/local/bin/linerate", "755")?;
    guest.shell(&format!(
        "printf 'blacklist nouveau\\nblacklist mlx5_core\\n' >/etc/modprobe.d/lab.conf
        sed -i 's/$/ intel_iommu=on/' /etc/kernel/cmdline
        {make}
        kernel-install add $(uname -r) /boot/vmlinuz-$(uname -r) 2>&1 && sync"
    ))?;
    // The drivers that are kept away from now on do not let go of the devices.
    guest.power_cut();
    guest.power_on()?;
    guest.wait_ssh(BOOT)?;
    expect("groups at the start", "DMA-FQ", &domains(&guest)?)?;
    Ok(guest)
}

/// An entry of systemd-boot: tried once, proven, made permanent, undone; and one that panics.
pub(super) fn systemd_boot(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let mut guest = translated(&group, operator.linerate(), ":")?;
    there_and_back(&operator, &mut guest, "DMA-FQ", FILES)?;
    panics_once(&operator, &guest, BootTrial::SystemdBoot, FILES)
}

/// Arguments inside the kernel's image, which is built anew.
pub(super) fn unified(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let make = "kernel-install remove $(uname -r) 2>&1 && sed -i s/layout=bls/layout=uki/ /etc/kernel/install.conf";
    let mut guest = translated(&group, operator.linerate(), make)?;
    let entries = guest.shell("ls /boot/efi/loader/entries; ls /boot/efi/EFI/Linux | grep -c efi")?;
    expect("entries, and unified images", "1", &entries)?;
    there_and_back(&operator, &mut guest, "DMA-FQ", FILES_AND_IMAGE)?;
    let inside = guest
        .shell("bootctl kernel-inspect /boot/efi/EFI/Linux/*.efi | grep -c 'iommu=pt\\|iommu.passthrough' || :")?;
    expect("images with the plan's words, after the rollback", "0", &inside)
}
