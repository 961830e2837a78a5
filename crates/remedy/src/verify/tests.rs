#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use super::example::{plan, step};
use super::*;
use crate::model::{Act, Content, Disruption, FileAct, FileState, Permanence, TrialAct};
use linerate_snapshot::{Coverage, Output, OutputKind, Why};

fn snapshot(boot: &str, files: &[(&str, &str)]) -> Snapshot {
    let mut s = Snapshot::new("n1");
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    s.manifest.boot_id = boot.into();
    for (path, text) in files {
        s.add_file(path, text.as_bytes()).unwrap();
    }
    s
}

fn one(proof: Proof, after: &Snapshot) -> (String, String) {
    judged(Step { proof: vec![proof], ..step("s") }, None, after)
}

fn judged(step: Step, before: Option<&Snapshot>, after: &Snapshot) -> (String, String) {
    let v = verify(&plan(vec![step]), before, after);
    let o = &v.steps[0].outcome;
    (o.name().to_owned(), o.reason().to_owned())
}

fn pt() -> Proof {
    Proof::Cmdline { has: vec!["iommu=pt".into()], lacks: vec!["quiet".into()] }
}

fn file(path: &str, text: &str) -> Act {
    Act::File(FileAct { path: path.into(), before: FileState::Absent, after: Some(Content(text.into())), mode: 0o644 })
}

#[test]
fn arguments_of_the_kernel() {
    let at = |boot, line| one(pt(), &snapshot(boot, &[("proc/cmdline", line)]));
    assert_eq!(at("boot-2", "ro iommu=pt\n").0, "effective");
    let (name, reason) = at("boot-1", "ro quiet\n");
    assert!(name == "pending" && reason.contains("reboot"), "{reason}");
    let (name, reason) = at("boot-2", "ro iommu=nopt\n");
    assert!(name == "ineffective" && reason.contains("iommu=nopt"), "{reason}");
    assert_eq!(at("boot-2", "ro quiet iommu=pt\n").0, "ineffective", "what must go is still there");
    // Without a boot id nothing is certain.
    assert_eq!(at("", "ro\n").0, "unknown");
    let mut denied = snapshot("boot-2", &[]);
    denied.add_failed("proc/cmdline", Why::Denied).unwrap();
    assert_eq!(one(pt(), &denied).0, "unknown");
}

#[test]
fn values() {
    let proof = || Proof::Value { path: "/sys/kernel/mm/transparent_hugepage/enabled".into(), value: "madvise".into() };
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    assert_eq!(one(proof(), &snapshot("boot-2", &[(path, "always [madvise] never\n")])).0, "effective");
    assert_eq!(one(proof(), &snapshot("boot-2", &[(path, "[always] madvise never\n")])).0, "ineffective");
    assert_eq!(one(proof(), &snapshot("boot-2", &[])).0, "ineffective");
    let mut partial = snapshot("boot-2", &[]);
    partial.coverage = Coverage::Partial;
    assert_eq!(one(proof(), &partial).0, "unknown", "what nobody looked for is not absent");
}

#[test]
fn modules_are_seen_in_their_list() {
    let proof = || Proof::Value { path: "/sys/module/nvidia_peermem/initstate".into(), value: "live".into() };
    let of = |list: Option<&str>| {
        let files: Vec<(&str, &str)> = list.map(|l| ("proc/modules", l)).into_iter().collect();
        let mut s = snapshot("boot-2", &files);
        // As a capture that never looks below sys/module.
        s.coverage = Coverage::Partial;
        one(proof(), &s).0
    };
    assert_eq!(of(Some("ext4 1 0 - Live 0x0\nnvidia_peermem 16384 0 - Live 0x0\n")), "effective");
    assert_eq!(of(Some("nvidia_peermem 16384 0 - Loading 0x0\n")), "ineffective");
    assert_eq!(of(Some("ext4 1 0 - Live 0x0\n")), "ineffective");
    assert_eq!(of(None), "unknown");
}

#[test]
fn who_sets_another_value_is_told() {
    let proof = Proof::Value { path: "/proc/sys/kernel/numa_balancing".into(), value: "0".into() };
    let s = snapshot(
        "boot-2",
        &[
            ("proc/sys/kernel/numa_balancing", "1\n"),
            ("etc/sysctl.d/99-site.conf", "# ours\nkernel.numa_balancing = 1\n"),
        ],
    );
    let (name, reason) = one(proof, &s);
    assert_eq!(
        (name.as_str(), reason.as_str()),
        ("ineffective", "/etc/sysctl.d/99-site.conf:2 sets it: kernel.numa_balancing = 1")
    );
}

#[test]
fn files_and_modules_of_the_step_are_looked_at() {
    let load = Step {
        change: vec![file("/etc/modules-load.d/linerate.conf", "# Written by linerate\nnvidia-peermem\n")],
        proof: vec![Proof::Value { path: "/sys/module/nvidia_peermem/parameters/x".into(), value: "1".into() }],
        ..step("load")
    };
    let text = "# Written by linerate\nnvidia-peermem\n";
    let conf = ("etc/modules-load.d/linerate.conf", text);
    let reason = |files: &[(&str, &str)]| judged(load.clone(), None, &snapshot("boot-2", files)).1;
    let modules = ("proc/modules", "mlx5_core 1 0 - Live 0\n");
    let got = reason(&[conf, modules, ("etc/modprobe.d/site-nvidia.conf", "\nblacklist nvidia_peermem\n")]);
    assert_eq!(got, "/etc/modprobe.d/site-nvidia.conf:2 forbids loading nvidia_peermem");
    assert!(reason(&[conf, modules]).starts_with("nvidia_peermem is not loaded"), "{}", reason(&[conf, modules]));
    let loaded = ("proc/modules", "nvidia_peermem 1 0 - Live 0\n");
    assert!(reason(&[conf, loaded]).contains("has no option x"), "{}", reason(&[conf, loaded]));
    let value = Step { proof: vec![Proof::Value { path: "/sys/x".into(), value: "1".into() }], ..load.clone() };
    let got = judged(value, None, &snapshot("boot-2", &[("sys/x", "0\n")])).1;
    assert!(got.starts_with("/etc/modules-load.d/linerate.conf is not there"), "{got}");
}

fn nic(boot: &str, rows: &str) -> Snapshot {
    let mut s = snapshot(boot, &[]);
    let text = format!(
        "\nDevice #1:\n----------\n\nDevice type:    ConnectX7\nName:           MCX75310AAS\nDevice:         0000:18:00.0\n\n\
         Configurations:                          Default             Current         Next Boot\n{rows}"
    );
    let entry = s.add_file("cmd/0/stdout", text.as_bytes()).unwrap();
    let argv = ["mlxconfig", "-d", "0000:18:00.0", "-e", "q"].map(String::from).to_vec();
    s.outputs.push(Output { kind: OutputKind::MlxconfigText, entry, argv, status: Some(0) });
    s
}

fn row(name: &str, default: &str, current: &str, next: &str) -> String {
    let mark = if next != current || next != default { '*' } else { ' ' };
    format!("{mark}        {name}                 {default}          {current}          {next}\n")
}

#[test]
fn settings_of_a_nic() {
    let proof = |parameter: &str, value: &str| Proof::NicFirmware {
        device: "0000:18:00.0".into(),
        parameter: parameter.into(),
        value: value.into(),
    };
    let ats = |boot, current, next| {
        one(proof("ATS_ENABLED", "True(1)"), &nic(boot, &row("ATS_ENABLED", "False(0)", current, next)))
    };
    assert_eq!(ats("boot-2", "True(1)", "True(1)").0, "effective");
    assert_eq!(ats("boot-1", "False(0)", "True(1)").0, "pending");
    let (name, reason) = ats("boot-2", "False(0)", "True(1)");
    assert!(name == "pending" && reason.contains("power cycle"), "{reason}");
    let (name, reason) = ats("boot-2", "False(0)", "False(0)");
    assert!(name == "ineffective" && reason.contains("refused"), "{reason}");
    let (name, reason) = ats("boot-2", "True(1)", "False(0)");
    assert!(name == "ineffective" && reason.contains("does not last"), "{reason}");
    let rows = row("ADVANCED_PCI_SETTINGS", "False(0)", "False(0)", "True(1)");
    let (name, reason) = one(proof("MAX_ACC_OUT_READ", "0"), &nic("boot-2", &rows));
    assert!(name == "unknown" && reason.contains("hidden until ADVANCED_PCI_SETTINGS"), "{reason}");
    let (name, reason) = one(proof("ATS_ENABLED", "1"), &snapshot("boot-2", &[]));
    assert!(name == "unknown" && reason.contains("no query"), "{reason}");
}

#[test]
fn rules_are_judged_again() {
    let proof = |subject: &str| Proof::Rule { rule: "nothing/such".into(), subject: subject.into() };
    let (name, reason) = one(proof("node"), &snapshot("boot-2", &[]));
    assert!(name == "unknown" && reason.contains("no rule"), "{reason}");
    // An empty snapshot shows nothing: no rule may pass on it.
    let mut empty = Snapshot::new("empty");
    empty.manifest.boot_id = "boot-2".into();
    for rule in linerate_rules::rules() {
        let got = one(Proof::Rule { rule: rule.id.into(), subject: "node".into() }, &empty);
        assert_ne!(got.0, "effective", "{}: {}", rule.id, got.1);
    }
}

#[test]
fn limits_of_the_session_that_reads_are_no_proof() {
    let (path, text) = ("etc/security/limits.d/90-linerate.conf", "* soft memlock unlimited\n");
    let limits = Step {
        change: vec![file(&format!("/{path}"), text)],
        proof: vec![Proof::Rule { rule: "memory/memlock".into(), subject: "node".into() }],
        persistence: Permanence::Immediate,
        disruption: Disruption::None,
        ..step("limits")
    };
    let head = "Limit                     Soft Limit           Hard Limit           Units\n";
    let read = |boot: &str, limit: &str, written: Option<&str>| {
        let own = format!("{head}Max locked memory         {limit}              {limit}              bytes\n");
        let files = [("proc/self/limits", own.as_str()), (path, written.unwrap_or_default())];
        judged(limits.clone(), None, &snapshot(boot, &files[..1 + usize::from(written.is_some())]))
    };
    let (name, reason) = read("boot-1", "8388608", Some(text));
    assert!(name == "pending" && reason.contains("new sessions"), "{name}: {reason}");
    assert_eq!(read("boot-1", "unlimited", Some(text)).0, "effective");
    assert_eq!(read("boot-1", "8388608", None).0, "ineffective", "the file is not there");
    assert_eq!(read("boot-1", "8388608", Some("# theirs\n")).0, "ineffective", "somebody else's");
    assert_eq!(read("boot-2", "8388608", Some(text)).0, "ineffective", "all sessions are new");
}

#[test]
fn attributes_of_the_bios_are_told_or_unknown() {
    let proof = Proof::Bios { attribute: "SriovEnable".into(), value: "Enabled".into() };
    let p = plan(vec![Step { proof: vec![proof], disruption: Disruption::PowerCycle, ..step("bios") }]);
    let s = snapshot("boot-2", &[]);
    let with = |bios: &[&str], pending: &[&str]| {
        let map = |l: &[&str]| l.iter().map(|v| ("SriovEnable".to_owned(), (*v).into())).collect();
        verify_told(&p, None, &s, &Told { bios: map(bios), bios_pending: map(pending), ..Told::default() }).steps[0]
            .outcome
            .name()
    };
    assert_eq!(with(&[], &["Enabled"]), "unknown");
    assert_eq!(with(&["Enabled"], &[]), "effective");
    assert_eq!(with(&["Disabled"], &["Enabled"]), "pending");
    assert_eq!(with(&["Disabled"], &[]), "ineffective", "accepted, and nothing changed");
}

#[test]
fn the_worst_proof_decides_and_no_proof_proves_nothing() {
    let s = snapshot("boot-2", &[("sys/a", "1\n"), ("sys/b", "1\n")]);
    let value = |path: &str, v: &str| Proof::Value { path: path.into(), value: v.into() };
    let of = |proof: Vec<Proof>| judged(Step { proof, persistence: Permanence::Immediate, ..step("s") }, None, &s).0;
    assert_eq!(of(vec![]), "unknown");
    assert_eq!(of(vec![value("/sys/a", "1"), value("/sys/b", "1")]), "effective");
    assert_eq!(of(vec![value("/sys/a", "1"), value("/sys/b", "2")]), "ineffective");
}

#[test]
fn what_else_changed_is_told() {
    let a = snapshot("boot-1", &[("proc/cmdline", "ro quiet\n"), ("etc/os-release", "ID=debian\n")]);
    let b = snapshot("boot-2", &[("proc/cmdline", "ro iommu=pt\n"), ("etc/os-release", "ID=ubuntu\n")]);
    let p = plan(vec![Step { proof: vec![pt()], ..step("args") }]);
    let v = verify(&p, Some(&a), &b);
    assert_eq!(v.rebooted, Some(true));
    assert_eq!(v.outside.iter().map(Change::at).collect::<Vec<_>>(), ["/etc/os-release"]);
    assert!(v.is_proven() && v.exit_code() == 0, "told, and nothing is the worse for it: {v:?}");
    let b = snapshot("boot-2", &[("proc/cmdline", "ro iommu=pt\n"), ("etc/os-release", "ID=debian\n")]);
    let v = verify(&p, Some(&a), &b);
    // Nothing but which machine it is: neither shows its id.
    assert!(v.is_proven() && v.exit_code() == 0 && v.limits.len() == 1, "{v:?}");
    assert!(matches!(v.machine, Identity::Unknown(_)), "{v:?}");
}

#[test]
fn another_machine_is_not_judged() {
    let with = |boot: &str, id: &str| {
        snapshot(
            boot,
            &[("proc/cmdline", "ro iommu=pt\n"), ("proc/sys/kernel/hostname", "n1\n"), ("etc/machine-id", id)],
        )
    };
    let (a, b) = ("a".repeat(64), "b".repeat(64));
    let mut p = plan(vec![Step { proof: vec![pt()], ..step("args") }]);
    p.node = crate::plan::node_id(&with("boot-1", &a));
    let same = verify(&p, Some(&with("boot-1", &a)), &with("boot-2", &a));
    assert!(same.is_proven() && matches!(same.machine, Identity::Yes(_)), "{same:?}");
    let other = verify(&p, Some(&with("boot-1", &a)), &with("boot-2", &b));
    assert!(!other.is_proven() && matches!(other.machine, Identity::No(_)), "{other:?}");
    assert_eq!((other.steps[0].outcome.name(), other.limits.len(), other.outside.len()), ("unknown", 1, 0));
    let before = verify(&p, Some(&with("boot-1", &b)), &with("boot-2", &a));
    assert!(matches!(before.machine, Identity::No(_)), "the snapshot from before is another's: {before:?}");
}

#[test]
fn a_trial_that_fell_back_is_told() {
    let trial = Act::Trial(TrialAct {
        boot: crate::model::BootTrial::GrubCustom,
        add: vec!["iommu=pt".into()],
        remove: vec![],
    });
    let args = Step {
        trial: vec![trial],
        change: vec![file("/etc/default/grub.d/90-linerate.cfg", "x\n")],
        proof: vec![pt()],
        ..step("args")
    };
    let (name, reason) = judged(args.clone(), None, &snapshot("boot-2", &[("proc/cmdline", "ro\n")]));
    assert!(name == "ineffective" && reason.contains("fell back"), "{reason}");
    let there = [("proc/cmdline", "ro\n"), ("etc/default/grub.d/90-linerate.cfg", "x\n")];
    let (name, reason) = judged(args, None, &snapshot("boot-2", &there));
    assert!(name == "ineffective" && !reason.contains("fell back"), "{reason}");
}
