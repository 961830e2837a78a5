//! What disk guests prove.

use super::{Group, Guest, Lab, Loader, Scenario, Spec};
use crate::lab::Result;
use std::time::Duration;

mod apply;
mod broken;
mod faults;
mod loaders;
mod module;
mod network;
mod nicfw;
mod plans;
mod rdma;

/// All of them.
pub(super) const ALL: &[Scenario] = &[
    Scenario::without_linerate(
        "disk-boots",
        "A disk guest boots by GRUB, keeps what was written, and a kernel argument of grub.d is in force after a reboot.",
        boots,
    ),
    Scenario::without_linerate(
        "disk-one-shot",
        "The entry that grub-reboot names is booted once: the boot after it is the default again.",
        one_shot,
    ),
    Scenario::without_linerate(
        "disk-power-cut",
        "After a power cut a guest has what was synced, and boots again.",
        power_cut,
    ),
    Scenario::with_linerate(
        "apply-iommu",
        "A plan turns translated into identity domains over SSH: tried once, proven, made permanent, kept over reboots, and undone byte for byte.",
        apply::iommu,
    ),
    Scenario::with_linerate(
        "apply-amd-iommu",
        "What apply-iommu proves with VT-d, on AMD-Vi.",
        apply::amd_iommu,
    ),
    Scenario::with_linerate(
        "apply-systemd-boot",
        "What apply-iommu proves with GRUB, with systemd-boot and kernel-install; and an entry that panics is started once only.",
        loaders::systemd_boot,
    )
    .booted_by(Loader::SystemdBoot),
    Scenario::with_linerate(
        "apply-unified",
        "Kernel arguments inside a unified kernel image: the image is built anew, proven, kept over a reboot, and built again as it was.",
        loaders::unified,
    )
    .booted_by(Loader::SystemdBoot),
    Scenario::with_linerate(
        "apply-module",
        "A module is loaded now and at each boot by what a remedy makes of it; undone, it is there no more.",
        module::at_boot,
    ),
    Scenario::with_linerate(
        "apply-at-once",
        "One reboot carries ACS redirection cleared, MTU 1500 to 9000 with RDMA MTU 4096, locked memory and identity domains; all of it is there after a second one, and all is undone.",
        apply::at_once,
    ),
    Scenario::with_linerate(
        "apply-netplan",
        "An MTU of 9000 and an address of a RoCE interface by netplan: at once, over a reboot, and undone byte for byte.",
        network::netplan,
    ),
    Scenario::with_linerate(
        "apply-network-manager",
        "What apply-netplan proves, in the profile of NetworkManager that the interface uses.",
        network::manager,
    ),
    Scenario::with_linerate(
        "apply-falls-back",
        "A kernel argument that prevents the boot falls back by itself; the plan is told as ineffective, and undone.",
        apply::falls_back,
    ),
    Scenario::with_linerate(
        "apply-faults",
        "A hand that is killed, or loses its power, its disk or its connection, at a boundary of its plan goes on, or undoes byte for byte.",
        faults::matrix,
    ),
    Scenario::with_linerate(
        "apply-broken-off",
        "An operator that is killed at each boundary of its own, a connection that is lost, an sshd that is late: going on ends in the proof, and each reboot is made once.",
        broken::off,
    ),
    Scenario::with_linerate(
        "apply-update-grub-fails",
        "A program of the plan that fails is told, what it wrote is put back, and the node is as it was.",
        broken::update_grub,
    ),
    Scenario::with_linerate(
        "apply-nic-firmware",
        "Two nodes with four cards each (emulated firmware): settings found, judged, planned, set, rebooted and proven, one node first; what is hidden is told as not known.",
        nicfw::two_nodes,
    ),
    Scenario::with_linerate(
        "bench-rdma-two-guests",
        "linerate bench run measures RDMA over SSH between two machines, with a snapshot of both, and leaves nothing behind.",
        rdma::between_two,
    ),
];

/// Those for every commit.
pub(super) const CI: &[&str] = &["apply-faults", "apply-module"];

/// Power-on to an answer of sshd. An emulated machine takes about a minute where nothing else runs.
const BOOT: Duration = Duration::from_secs(300);

fn expect(what: &str, expected: &str, seen: &str) -> Result<()> {
    if expected == seen { Ok(()) } else { Err(format!("{what}: expected {expected:?}, saw {seen:?}")) }
}

/// Kinds of the guest's IOMMU groups, each once.
fn domains(guest: &Guest<'_>) -> Result<String> {
    guest.shell("cat /sys/kernel/iommu_groups/*/type | sort -u | tr '\\n' ' '")
}

fn boots(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let mut spec = Spec::new("a");
    spec.machine.iommu = Some("intel".to_owned());
    spec.devices = vec!["root-port,id=rp0,addr=02.0".to_owned(), "nic,bus=rp0".to_owned()];
    let mut guest = group.start(spec)?;
    guest.wait_ssh(BOOT)?;
    let first = guest.boot_id()?;
    guest.shell("grub-editenv - set lab=kept && sync")?;
    // Debian's kernel leaves VT-d off unless it is told otherwise.
    guest.shell(
        "mkdir -p /etc/default/grub.d && echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX intel_iommu=on\"' >/etc/default/grub.d/lab.cfg
        update-grub 2>&1",
    )?;
    let second = guest.reboot(BOOT)?;
    if first == second {
        return Err(format!("a reboot: expected a new boot id, saw {second} again"));
    }
    expect("grub-editenv list", "lab=kept", &guest.ok(&["grub-editenv", "-", "list"])?)?;
    expect("groups with intel_iommu=on", "DMA-FQ", &domains(&guest)?)?;
    guest
        .shell("sed -i 's/intel_iommu=on/intel_iommu=on iommu=pt/' /etc/default/grub.d/lab.cfg && update-grub 2>&1")?;
    expect("groups before the reboot", "DMA-FQ", &domains(&guest)?)?;
    guest.reboot(BOOT)?;
    expect("groups with iommu=pt", "identity", &domains(&guest)?)?;
    guest.shutdown(BOOT)
}

/// Adds an entry like the default one, with one more argument.
const ENTRY: &str = r#"
cat >/etc/grub.d/42_lab <<'END'
#!/bin/sh
set -e
echo "menuentry 'lab' --id lab-once {"
awk 'inside && /^}/{exit} inside{print} /^menuentry /{inside=1}' /boot/grub/grub.cfg | sed '/^\tlinux/s/$/ lab_once=1/'
echo "}"
END
chmod 755 /etc/grub.d/42_lab
update-grub 2>&1
grub-script-check /boot/grub/grub.cfg
grep -q 'lab_once=1' /boot/grub/grub.cfg
"#;

fn one_shot(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let mut guest = group.start(Spec::new("a"))?;
    guest.wait_ssh(BOOT)?;
    guest.shell(ENTRY)?;
    let once = "tr ' ' '\\n' </proc/cmdline | grep -c '^lab_once=1$' || :";
    expect("lab_once in the default's command line", "0", &guest.shell(once)?)?;
    guest.shell("grub-reboot lab-once && sync")?;
    expect("grub-editenv list", "next_entry=lab-once", &guest.ok(&["grub-editenv", "-", "list"])?)?;
    guest.reboot(BOOT)?;
    expect("lab_once in the boot after grub-reboot", "1", &guest.shell(once)?)?;
    expect("next_entry after it", "next_entry=", &guest.ok(&["grub-editenv", "-", "list"])?)?;
    guest.reboot(BOOT)?;
    expect("lab_once in the next boot", "0", &guest.shell(once)?)
}

fn power_cut(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let mut guest = group.start(Spec::new("a"))?;
    guest.wait_ssh(BOOT)?;
    let first = guest.boot_id()?;
    guest.shell("echo kept >/var/kept && sync")?;
    guest.power_cut();
    if guest.run(&["true"]).is_ok() {
        return Err("a guest without power: expected no answer, saw one".to_owned());
    }
    guest.power_on()?;
    let second = guest.wait_boot(BOOT, None)?;
    if first == second {
        return Err(format!("power-on: expected a new boot id, saw {second} again"));
    }
    expect("/var/kept", "kept", &guest.ok(&["cat", "/var/kept"])?)
}
