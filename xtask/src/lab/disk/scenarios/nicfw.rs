//! Field note N1 replayed: two nodes with four cards each, whose firmware settings are found, judged, planned, set, and proven after a
//! reboot, one node first. The cards' firmware is an emulator's (lab/emulators/README.md).

use super::super::{Group, Guest, Lab, Spec};
use super::apply::Operator;
use super::{BOOT, expect};
use crate::lab::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// The emulator's unit: what was set for the next boot comes into force before anything reads it.
const UNIT: &str = "[Unit]\nDefaultDependencies=no\nAfter=local-fs.target\nBefore=sysinit.target\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/bin/mstconfig --emulate-boot\n[Install]\nWantedBy=sysinit.target\n";

fn emulators() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/emulators")
}

/// A guest with four cards, and the profile of a node of the note at the addresses that this guest gave them.
fn node<'g>(group: &'g Group<'g>, operator: &Operator<'_>, name: &'static str, profile: &str) -> Result<Guest<'g>> {
    let mut spec = Spec::new(name);
    spec.machine.bare_metal = true;
    spec.devices =
        (0..4).flat_map(|n| [format!("root-port,id=rp{n},addr=0{}.0", n + 2), format!("hca,bus=rp{n}")]).collect();
    let mut guest = group.start(spec)?;
    guest.wait_ssh(BOOT)?;
    guest.copy_in(operator.linerate(), "/usr/local/bin/linerate", "755")?;
    // The cards have a ConnectX's ids, and nothing behind them: a driver that looks for it hangs.
    guest.shell("printf 'blacklist mlx5_core\n' >/etc/modprobe.d/lab.conf && sync")?;
    guest.power_cut();
    guest.power_on()?;
    guest.wait_ssh(BOOT)?;
    let found = guest.shell("lspci -D -d 15b3: | cut -d' ' -f1")?;
    let path = emulators().join("profiles").join(profile);
    let mut text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    for (theirs, here) in ["0000:03:00.0", "0000:23:00.0", "0000:a3:00.0", "0000:c3:00.0"].iter().zip(found.lines()) {
        // By way of a word that is no address: one guest's second may be another's third.
        text = text.replace(theirs, &format!("<{here}>"));
    }
    let profile = operator.file(&format!("{name}.json"));
    fs::write(&profile, text.replace(['<', '>'], "")).map_err(|e| format!("{profile}: {e}"))?;
    let unit = operator.file("mstconfig-emulator.service");
    fs::write(&unit, UNIT).map_err(|e| format!("{unit}: {e}"))?;
    guest.copy_in(&emulators().join("mstconfig"), "/usr/bin/mstconfig", "755")?;
    guest.copy_in(Path::new(&profile), "/var/lib/lab-profile.json", "644")?;
    guest.copy_in(Path::new(&unit), "/etc/systemd/system/mstconfig-emulator.service", "644")?;
    guest.shell(&format!(
        "hostname {name}; ln -sf mstconfig /usr/bin/mlxconfig; ln -sf mstconfig /usr/bin/mstfwreset
        mstconfig --emulate-init /var/lib/lab-profile.json
        systemctl -q enable mstconfig-emulator 2>&1 && sync"
    ))?;
    Ok(guest)
}

/// What a setting is now on each card, as the tool says it.
fn now(guest: &Guest<'_>, setting: &str) -> Result<String> {
    guest.shell(&format!(
        "for d in $(lspci -D -d 15b3: | cut -d' ' -f1); do
            mstconfig -d $d -e query {setting} 2>/dev/null | awk '$1 == \"{setting}\" || $2 == \"{setting}\" {{ print $(NF-1) }}'
        done | tr '\\n' ' '"
    ))
}

pub(super) fn two_nodes(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let a = node(&group, &operator, "a", "u25.json")?;
    let mut b = node(&group, &operator, "b", "u36.json")?;
    // What is hidden is no defect and no pass: it is not known.
    let said = b.shell("linerate audit --rule 'nicfw/*' --verbose --format text || :")?;
    // Lines are broken where a terminal ends.
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["nothing else changes", "hidden is not a defect"] {
        if !words.contains(part) {
            return Err(format!("the target node: expected {part:?}, saw {said}"));
        }
    }
    // As the note did: shown first, by hand, which takes a boot.
    b.shell("for d in $(lspci -D -d 15b3: | cut -d' ' -f1); do mstconfig -d $d -y set ADVANCED_PCI_SETTINGS=1; done && sync")?;
    b.reboot(BOOT)?;
    let mut plans = Vec::new();
    for name in ["a", "b"] {
        let plan = operator.file(&format!("{name}.plan"));
        let args = ["plan", "--fix", "nicfw/*", "--allow", "nicfw/*"];
        operator.run(&format!("plan-{name}"), &args, name, 1)?;
        let args = ["plan", "--fix", "nicfw/*", "--allow", "nicfw/*", "--format", "json", "-o", &plan];
        operator.run(&format!("plan-{name}-json"), &args, name, 1)?;
        plans.push(plan);
    }
    let before = [now(&a, "MAX_ACC_OUT_READ")?, now(&b, "PCI_WR_ORDERING")?];
    expect("the reference node at the start", "128 128 128 128", &before[0])?;
    let keep = operator.keep();
    // Both by one command: the first alone, the second when the first is proven.
    let args = ["apply", &plans[0], &plans[1], "--host", "a", "--yes", "--max-unavailable", "1", "--keep", &keep];
    operator.run("apply", &args, "b", 0)?;
    for (guest, name) in [(&a, "a"), (&b, "b")] {
        let plan = operator.file(&format!("{name}.plan"));
        expect("MAX_ACC_OUT_READ", "0 0 0 0", &now(guest, "MAX_ACC_OUT_READ")?)?;
        let ordering = now(guest, "PCI_WR_ORDERING")?;
        expect("PCI_WR_ORDERING", "per_mkey(0) per_mkey(0) per_mkey(0) per_mkey(0)", &ordering)?;
        operator.run(&format!("verify-{name}"), &["verify", &plan], name, 0)?;
    }
    operator.run("rollback-b", &["rollback", &plans[1], "--yes", "--reboot"], "b", 0)?;
    expect("the target node after the rollback", &before[1], &now(&b, "PCI_WR_ORDERING")?)?;
    without_reboot(&operator, &b)
}

/// What a reset of the card makes current is proven in the boot in which it was set.
fn without_reboot(operator: &Operator<'_>, b: &Guest<'_>) -> Result<()> {
    let (boot, plan) = (b.boot_id()?, operator.file("reset.plan"));
    let args = ["plan", "--fix", "nicfw/pci-wr-ordering", "--allow", "nicfw/*", "--reset-nics"];
    operator.run("plan-reset", &args, "b", 1)?;
    operator.run("plan-reset-json", &[&args[..], &["--format", "json", "-o", &plan]].concat(), "b", 1)?;
    operator.run("apply-reset", &["apply", &plan, "--yes"], "b", 0)?;
    let ordering = now(b, "PCI_WR_ORDERING")?;
    expect("PCI_WR_ORDERING after resets", "per_mkey(0) per_mkey(0) per_mkey(0) per_mkey(0)", &ordering)?;
    expect("the boot", &boot, &b.boot_id()?)
}
