//! Which node this is, in which boot, and how it gets to the next.

use super::{After, Work, now};
use crate::act::{Done, Root, Wrong};
use crate::journal::{Journal, Record};
use linerate_out::child::{self, Need};
use linerate_remedy::NodeId;
use linerate_snapshot::{boot_digest, machine_digest};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

/// The node. The ids of machine and boot are told only as digests: systemd asks that the first is not given away, and the second names
/// the machine in each of its logs.
#[must_use]
pub fn node_id(root: &Root) -> NodeId {
    let machine = root.text("/etc/machine-id").filter(|id| !id.is_empty());
    let digest = machine.map(|id| machine_digest(id.as_bytes()));
    let host = root.text("/proc/sys/kernel/hostname").or_else(|| root.text("/etc/hostname"));
    NodeId {
        host: host.filter(|h| !h.is_empty()),
        machine: digest,
        boot: root.text(BOOT).map(|id| boot_digest(&id)),
        uuid: uuid(root),
        ..NodeId::default()
    }
}

/// What SMBIOS calls the machine; only root may read it.
fn uuid(root: &Root) -> Option<String> {
    let text = root.text("/sys/class/dmi/id/product_uuid")?.trim().to_ascii_lowercase();
    (text.len() == 36).then_some(text)
}

const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Digest of the boot that is running; empty where the kernel does not tell.
#[must_use]
pub fn boot(root: &Root) -> String {
    root.text(BOOT).map(|id| boot_digest(&id)).unwrap_or_default()
}

/// Counts a reboot, and has it done behind the answer.
pub(super) fn ask_reboot(root: &Root, journal: &mut Journal, most: u32, work: &mut Work) -> Done<()> {
    let boot = boot(root);
    let had = journal.ledger.reboots.len();
    // One that was asked for in this boot has not happened yet: asking for it again is no further one.
    if journal.ledger.reboots.last() != Some(&boot) {
        if had >= usize::try_from(most).unwrap_or(usize::MAX) {
            let what = format!(
                "this plan has rebooted the node {had} times, and the limit is {most}: look at the node before you go on"
            );
            return Err(Wrong::new("too-many-reboots", what));
        }
        root.program("systemctl").or_else(|_| root.program("reboot"))?;
        journal.write(Record::Reboot { boot, when: now() })?;
    }
    rustix::fs::sync();
    work.after = Some(After::Reboot);
    Ok(())
}

/// Reboots.
pub(super) fn reboot(root: &Root) -> Done<()> {
    let (program, arguments): (String, &[&str]) = match root.program("systemctl") {
        Ok(program) => (program, &["reboot"]),
        Err(_) => (root.program("reboot")?, &[]),
    };
    rustix::fs::sync();
    let started = child::command(root.host_path(&program), Need::Nothing)
        .args(arguments)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    started.map(|_| ()).map_err(|why| Wrong::failed(format!("cannot start {program}: {why}")))
}
