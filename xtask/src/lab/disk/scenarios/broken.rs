//! An operator whose work is broken off, and a program of the plan that fails.

use super::super::{Group, Guest, Lab};
use super::apply::{FILES, Operator, same, translated};
use super::{BOOT, domains, expect};
use crate::lab::Result;
use std::fs;
use std::time::{Duration, Instant};

/// Requests after which an operator is killed, at most: more than any plan here has.
const MOST: usize = 60;

/// Killed at its first boundary, then, going on, at its second, and so on until it comes to an end. Its connection is cut in the middle of
/// update-grub as well, and sshd comes up late after the last reboot.
pub(super) fn off(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let mut guest = translated(&group, operator.linerate())?;
    // A flag makes the next start of sshd late, once.
    guest.shell(
        "mkdir -p /etc/systemd/system/ssh.service.d
        printf '[Service]\nExecStartPre=/bin/sh -c \"if [ -e /var/late ]; then rm /var/late; sleep 90; fi\"\n' >/etc/systemd/system/ssh.service.d/lab.conf
        systemctl daemon-reload && sync",
    )?;
    let before = guest.shell(FILES)?;
    let (plan, keep) = (operator.file("a.plan"), operator.keep());
    operator.run("plan", &["plan", "--fix", "iommu/*", "--format", "json", "-o", &plan], "a", 1)?;
    let mut kills = 0;
    let mut log = String::new();
    loop {
        // It begins with the plan, and goes on with what the node holds.
        let begun = guest.shell("ls /var/lib/linerate/apply/*/journal.jsonl 2>/dev/null | wc -l")? != "0";
        let mut args = vec!["apply", "--yes", "--keep", &keep, "--wait", "1200"];
        args.push(if begun { "--resume" } else { plan.as_str() });
        let mut command = operator.command(&args, "a");
        command.env("LINERATE_FAULT", (kills + 1).to_string());
        let output = command.output().map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        log.push_str(&format!("--- to be killed at {}: {}\n{said}\n", kills + 1, output.status));
        fs::write(operator.file("killed.txt"), &log).map_err(|e| e.to_string())?;
        if output.status.code() == Some(0) {
            break;
        }
        if !said.contains("killed at boundary") {
            return Err(format!("going on after {kills} kills: expected the next kill or the proof, saw {said}"));
        }
        kills += 1;
        if kills > MOST {
            return Err(format!("no end after {kills} kills"));
        }
        // The hand that it has started ends its request alone.
        guest.wait_ssh(BOOT)?;
    }
    expect("groups", "identity", &domains(&guest)?)?;
    let journal = "cat /var/lib/linerate/apply/*/journal.jsonl";
    let reboots = guest.shell(&format!("{journal} | grep -c '\"reboot\"' || :"))?;
    expect("reboots in the journal", "1", &reboots)?;
    println!("  {kills} kills of the operator, one at each of its boundaries; 1 reboot");
    late(&operator, &mut guest)?;
    same(&before, &guest.shell(FILES)?)
}

/// The rollback's reboot, after which sshd is late, and an operator who does not wait for it.
fn late(operator: &Operator<'_>, guest: &mut Guest<'_>) -> Result<()> {
    guest.shell("touch /var/late && sync")?;
    let began = Instant::now();
    let args = ["rollback", "--yes", "--reboot", "--wait", "30"];
    let output = operator.command(&args, "a").output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    fs::write(operator.file("late.txt"), &said).map_err(|e| e.to_string())?;
    if output.status.success() || !said.contains("did not come up within") {
        return Err(format!("a node that is not back: expected that to be told, saw {}: {said}", output.status));
    }
    if began.elapsed() > Duration::from_secs(600) {
        return Err(format!("expected an end after the 30 s of --wait, saw {} s", began.elapsed().as_secs()));
    }
    guest.wait_ssh(BOOT * 2)?;
    operator.run("rollback", &["rollback", "--yes"], "a", 0)?;
    expect("groups after the rollback", "DMA-FQ", &domains(guest)?)
}

/// update-grub fails after the proof of the trial: told, undone, and every file as it was.
pub(super) fn update_grub(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let guest = translated(&group, operator.linerate())?;
    let plan = operator.file("a.plan");
    operator.run("plan", &["plan", "--fix", "iommu/*", "--format", "json", "-o", &plan], "a", 1)?;
    guest.shell("printf '#!/bin/sh\necho no space for another entry >&2\nexit 4\n' >/etc/grub.d/99_lab && chmod 755 /etc/grub.d/99_lab && sync")?;
    let before = guest.shell(FILES)?;
    let keep = operator.keep();
    let output = operator.run("apply", &["apply", &plan, "--yes", "--undo", "--keep", &keep], "a", 1)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in ["update-grub", "undone"] {
        if !said.contains(part) {
            return Err(format!("expected {part:?} in what it says, saw {said}"));
        }
    }
    expect("groups after the undoing", "DMA-FQ", &domains(&guest)?)?;
    same(&before, &guest.shell(FILES)?)
}
