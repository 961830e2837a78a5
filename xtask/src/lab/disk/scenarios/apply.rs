//! `linerate plan`, `apply`, `verify` and `rollback` over SSH, on guests that are really rebooted.

use super::super::{Group, Guest, Lab, Spec};
use super::{BOOT, domains, expect, plans};
use crate::lab::Result;
use crate::lab::patience::Patience;
use linerate_remedy::{Act, BootTrial, Disruption, NodeId, Permanence, Plan, Proof, Risk, Step, TrialAct};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// What a change of configuration may touch: every file with mode, owner and digest.
pub(super) const FILES: &str = "find /etc /boot -xdev ! -type d -printf '%p %m %U %G %y %l\\n' | sort
    find /etc /boot -xdev -type f -print0 | sort -z | xargs -0 sha256sum";

/// `linerate` on this machine, with the guests' SSH configuration.
pub(super) struct Operator<'a> {
    linerate: &'a Path,
    config: PathBuf,
    out: &'a Path,
    patience: Patience,
}

/// Most time of one command of the operator: plans with a reboot or two.
const OPERATOR: Duration = Duration::from_secs(1800);

impl<'a> Operator<'a> {
    pub(super) fn new(lab: &'a Lab<'_>, group: &Group<'_>) -> Result<Operator<'a>> {
        let linerate = lab.linerate.as_ref().map_err(Clone::clone)?;
        Ok(Operator { linerate, config: group.ssh_config(), out: &lab.out, patience: lab.patience })
    }

    pub(super) fn linerate(&self) -> &Path {
        self.linerate
    }

    pub(super) fn command(&self, args: &[&str], host: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "10", &self.patience.limit(OPERATOR).as_secs().to_string()]).arg(self.linerate);
        command.args(args).args(["--host", host, "--ssh-option", "-F", "--ssh-option"]).arg(&self.config);
        command.stdin(Stdio::null());
        command
    }

    /// Runs it; what it said is kept under this name. An error where it ends with another status.
    pub(super) fn run(&self, name: &str, args: &[&str], host: &str, status: i32) -> Result<Output> {
        let output = self.command(args, host).output().map_err(|e| format!("{}: {e}", self.linerate.display()))?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let said = format!("$ linerate {} --host {host}\n{out}\n--\n{err}\n{}\n", args.join(" "), output.status);
        fs::write(self.out.join(format!("{name}.txt")), &said).map_err(|e| e.to_string())?;
        if output.status.code() != Some(status) {
            return Err(format!(
                "{name}: expected status {status}, saw {}: {}{}",
                output.status,
                out.trim(),
                err.trim()
            ));
        }
        Ok(output)
    }

    pub(super) fn file(&self, name: &str) -> String {
        self.out.join(name).to_string_lossy().into_owned()
    }

    /// Where nodes as they were before are kept.
    pub(super) fn keep(&self) -> String {
        self.file("kept")
    }
}

/// An IOMMU, what it takes to have it translate, and what its groups are then.
struct Unit {
    model: &'static str,
    arguments: &'static str,
    translated: &'static str,
}

/// Debian leaves VT-d off unless it is told otherwise.
const VTD: Unit = Unit { model: "intel", arguments: "intel_iommu=on ", translated: "DMA-FQ" };
/// In a virtual machine the driver flushes at once, whatever it says before.
const AMDVI: Unit = Unit { model: "amd", arguments: "", translated: "DMA" };

/// A GPU and a NIC below ports of their own.
pub(super) const PAIR: &[&str] =
    &["root-port,id=rp0,addr=02.0", "gpu,bus=rp0", "root-port,id=rp1,addr=03.0", "nic,bus=rp1"];

/// A guest with an IOMMU that translates, a GPU and a NIC, `linerate`, and nothing of it.
pub(super) fn translated<'g>(group: &'g Group<'g>, linerate: &Path) -> Result<Guest<'g>> {
    with(group, linerate, &VTD, PAIR)
}

/// The same with this IOMMU and these devices.
fn with<'g>(group: &'g Group<'g>, linerate: &Path, unit: &Unit, devices: &[&str]) -> Result<Guest<'g>> {
    let mut spec = Spec::new("a");
    spec.machine.iommu = Some(unit.model.to_owned());
    spec.machine.bare_metal = true;
    spec.devices = devices.iter().map(|d| (*d).to_owned()).collect();
    let mut guest = group.start(spec)?;
    guest.wait_ssh(BOOT)?;
    guest.copy_in(linerate, "/usr/local/bin/linerate", "755")?;
    // The devices have a GPU's and a NIC's ids, and nothing behind them: a driver that looks for it hangs.
    guest.shell(&format!(
        "printf 'blacklist nouveau\\nblacklist mlx5_core\\n' >/etc/modprobe.d/lab.conf
        sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{}/' /etc/default/grub && update-grub 2>&1 && sync",
        unit.arguments
    ))?;
    guest.power_cut();
    guest.power_on()?;
    guest.wait_ssh(BOOT)?;
    expect("groups at the start", unit.translated, &domains(&guest)?)?;
    Ok(guest)
}

/// Translated → identity domains, by a start on trial, made permanent, over a second reboot; then everything back.
pub(super) fn iommu(lab: &Lab<'_>) -> Result<()> {
    on(lab, &VTD)
}

/// The same on AMD-Vi.
pub(super) fn amd_iommu(lab: &Lab<'_>) -> Result<()> {
    on(lab, &AMDVI)
}

fn on(lab: &Lab<'_>, unit: &Unit) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let mut guest = with(&group, operator.linerate, unit, PAIR)?;
    there_and_back(&operator, &mut guest, unit.translated, FILES)
}

/// A guest whose domains translate gets identity ones, keeps them, and gets back what it had. `files` lists what must then be the same.
pub(super) fn there_and_back(
    operator: &Operator<'_>,
    guest: &mut Guest<'_>,
    translated: &str,
    files: &str,
) -> Result<()> {
    let before = guest.shell(files)?;
    let plan = operator.file("a.plan");
    operator.run("plan-text", &["plan", "--fix", "iommu/*"], "a", 1)?;
    operator.run("plan", &["plan", "--fix", "iommu/*", "--format", "json", "-o", &plan], "a", 1)?;
    operator.run("dry-run", &["apply", &plan], "a", 0)?;
    same(&before, &guest.shell(files)?).map_err(|e| format!("after a dry run, {e}"))?;
    let keep = operator.keep();
    let applied = operator.run("apply", &["apply", &plan, "--yes", "--twice", "--keep", &keep], "a", 0)?;
    nothing_else(&applied)?;
    expect("groups after apply", "identity", &domains(guest)?)?;
    operator.run("verify", &["verify", &plan], "a", 0)?;
    guest.reboot(BOOT)?;
    expect("groups after one more reboot", "identity", &domains(guest)?)?;
    operator.run("rollback", &["rollback", &plan, "--yes", "--reboot"], "a", 0)?;
    expect("groups after the rollback", translated, &domains(guest)?)?;
    same(&before, &guest.shell(files)?)
}

/// What one reboot carries: redirection, an MTU, limits, identity domains, each by the means that the guest has; over a second reboot; and back.
pub(super) fn at_once(lab: &Lab<'_>) -> Result<()> {
    const FIX: &[&str] = &["acs/redirect-on-p2p-path", "rdma/roce-mtu", "memory/memlock", "iommu/translated-domain"];
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let switch = [
        "root-port,id=rp0,addr=02.0",
        "upstream,id=up0,bus=rp0",
        "downstream,id=d0,bus=up0,addr=00.0",
        "downstream,id=d1,bus=up0,addr=01.0",
        "gpu,bus=d0",
        "hca,bus=d1",
        "root-port,id=rp1,addr=03.0",
        "nic,bus=rp1",
    ];
    let mut guest = with(&group, operator.linerate(), &VTD, &switch)?;
    guest.shell(
        "printf '[Match]\\nName=eth1\\n[Network]\\nAddress=10.7.0.1/24\\nConfigureWithoutCarrier=yes\\n' >/etc/systemd/network/10-fabric.network
        printf '[Unit]\\nAfter=systemd-networkd.service\\n[Service]\\nType=oneshot\\nRemainAfterExit=yes\\nExecStart=/sbin/modprobe rdma_rxe\\nExecStart=/bin/sh -c \"rdma link show rxe0/1 || rdma link add rxe0 type rxe netdev eth1\"\\n[Install]\\nWantedBy=multi-user.target\\n' >/etc/systemd/system/lab-rxe.service
        systemctl -q enable --now systemd-networkd lab-rxe 2>&1 && sync",
    )?;
    let shows = |guest: &Guest<'_>| {
        guest.shell(
            "for port in 02:00.0 02:01.0; do setpci -s $port ECAP_ACS+6.w; done
            cat /sys/class/net/eth1/mtu
            ibv_devinfo -d rxe0 | sed -n 's/.*active_mtu:[^0-9]*\\([0-9]*\\).*/\\1/p'
            ulimit -l
            cat /sys/kernel/iommu_groups/*/type | sort -u",
        )
    };
    let bad = shows(&guest)?;
    let before = guest.shell(FILES)?;
    let (plan, keep) = (operator.file("a.plan"), operator.keep());
    // The firmware of these guests says that they are virtual, whatever the tables say that they are.
    let mut args = vec!["plan", "--role", "bare-metal"];
    FIX.iter().for_each(|rule| args.extend(["--fix", rule]));
    operator.run("plan-text", &args, "a", 1)?;
    args.extend(["--format", "json", "-o", &plan]);
    operator.run("plan", &args, "a", 1)?;
    let applied = operator.run("apply", &["apply", &plan, "--yes", "--keep", &keep], "a", 0)?;
    nothing_else(&applied)?;
    let good = "0011\n0011\n9000\n4096\nunlimited\nidentity";
    expect("after apply", good, &shows(&guest)?)?;
    guest.reboot(BOOT)?;
    expect("after one more reboot", good, &shows(&guest)?)?;
    operator.run("verify", &["verify", &plan], "a", 0)?;
    operator.run("rollback", &["rollback", &plan, "--yes", "--reboot"], "a", 0)?;
    expect("after the rollback", &bad, &shows(&guest)?)?;
    same(&before, &guest.shell(FILES)?)
}

/// A kernel that does not come up falls back by itself, and the plan is told as ineffective and undone.
pub(super) fn falls_back(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let guest = translated(&group, operator.linerate)?;
    panics_once(&operator, &guest, BootTrial::GrubCustom, FILES)
}

/// The entry on trial panics, the usual one comes up, and all is undone.
pub(super) fn panics_once(operator: &Operator<'_>, guest: &Guest<'_>, boot: BootTrial, files: &str) -> Result<()> {
    let before = guest.shell(files)?;
    // Which node this is, as a plan of it says.
    let (own, plan) = (operator.file("own.plan"), operator.file("bad.plan"));
    operator.run("plan", &["plan", "--fix", "iommu/*", "--format", "json", "-o", &own], "a", 1)?;
    let own = Plan::read(&fs::read(&own).map_err(|e| format!("{own}: {e}"))?).map_err(|e| e.to_string())?;
    let text = serde_json::to_vec_pretty(&unbootable(own.node, boot)).map_err(|e| e.to_string())?;
    fs::write(&plan, text).map_err(|e| e.to_string())?;
    let keep = operator.keep();
    operator.run("apply", &["apply", &plan, "--yes", "--undo", "--keep", &keep], "a", 1)?;
    let seen = guest.shell("grep -c root=/dev/none /proc/cmdline || :")?;
    expect("root=/dev/none in the kernel that runs", "0", &seen)?;
    same(&before, &guest.shell(files)?)
}

/// A plan whose kernel panics: it has no root.
fn unbootable(node: NodeId, boot: BootTrial) -> Plan {
    let add = vec!["root=/dev/none".to_owned(), "rootwait=5".to_owned(), "init=/none".to_owned()];
    let step = Step {
        trial: vec![Act::Trial(TrialAct { boot, add: add.clone(), remove: Vec::new() })],
        proof: vec![Proof::Cmdline { has: add, lacks: Vec::new() }],
        risk: Risk::Medium,
        persistence: Permanence::NextBoot,
        disruption: Disruption::DrainReboot,
        ..plans::step("kernel-args", "start a kernel that does not come up")
    };
    plans::plan(node, vec![step])
}

/// Nothing outside the plan changed, by the tool's own comparison of before and after.
pub(super) fn nothing_else(applied: &Output) -> Result<()> {
    let said = String::from_utf8_lossy(&applied.stdout);
    match said.split_once("OUTSIDE THE PLAN") {
        None => Ok(()),
        Some((_, what)) => Err(format!("expected no change outside the plan, saw{what}")),
    }
}

/// Two lists of files, line by line.
pub(super) fn same(before: &str, after: &str) -> Result<()> {
    let missing = before.lines().filter(|l| !after.lines().any(|m| m == *l)).map(|l| format!("- {l}"));
    let new = after.lines().filter(|l| !before.lines().any(|m| m == *l)).map(|l| format!("+ {l}"));
    let all: Vec<String> = missing.chain(new).collect();
    if all.is_empty() { Ok(()) } else { Err(format!("files are not as they were:\n{}", all.join("\n"))) }
}
