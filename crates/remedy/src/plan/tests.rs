//! The planner over wishes as rules make them.

use super::wish::Wish;
use super::*;
use crate::model::{Act, Condition, Disruption, FileAct, Proof, Refused, Risk, RunAct, TrialAct};
use crate::platform::{Boot, Initramfs, Network, Tools};
use linerate_node::context::Role;
use linerate_rules::{Action, Remedy};
use linerate_snapshot::Coverage;

fn platform(boot: Boot, role: Role) -> Platform {
    Platform {
        id: Some("debian".into()),
        like: vec![],
        name: Some("Test Linux".into()),
        version: None,
        boot,
        initramfs: Initramfs::InitramfsTools,
        network: Network::Networkd,
        tools: Tools::default(),
        role: Some(role),
        vms: (role == Role::VmHost).then(|| "0000:01:00.0 is bound to vfio-pci".to_owned()),
        container: false,
        because: vec![],
    }
}

fn wish(rule: &'static str, action: Action) -> Wish {
    let remedy = Remedy::new(format!("fix {rule}"), action).because("it changes things").prove("proc/cmdline");
    Wish { rule: rule.into(), subject: "node".into(), message: format!("{rule} is wrong"), remedy, proof: None }
}

fn args(rule: &'static str, add: &[&'static str], remove: &[&'static str]) -> Wish {
    let own = |w: &[&'static str]| w.iter().map(|w| (*w).into()).collect();
    wish(rule, Action::KernelArgs { add: own(add), remove: own(remove) })
}

fn acs(rule: &'static str, clear: u16) -> Wish {
    let port = "0000:41:00.0".parse().expect("a BDF");
    wish(rule, Action::AcsControl { ports: vec![port], clear, set: 0 })
}

fn snapshot(cmdline: &str) -> Snapshot {
    let mut s = Snapshot::new("test");
    s.coverage = Coverage::Full { not_tried: vec![] };
    s.add_file("proc/cmdline", format!("{cmdline}\n").as_bytes());
    s
}

fn parts(s: &Snapshot, p: &Platform, o: &Options, wishes: Vec<Wish>) -> Parts {
    let node = Node::decode(s);
    let audit = Audit::default();
    Parts::of(&Cx { snapshot: s, node: &node, audit: &audit, options: o, platform: p, set: Vec::new() }, wishes)
}

#[test]
fn kernel_arguments_are_one_step_with_a_trial() {
    let s = snapshot("BOOT_IMAGE=/v root=/dev/vda1 iommu=off pci=realloc,noats quiet");
    let p = platform(Boot::GrubDebian, Role::BareMetal);
    let wishes = vec![args("a/one", &["iommu=pt"], &["iommu=off"]), args("b/two", &["iommu=pt"], &["pci=noats"])];
    let out = parts(&s, &p, &Options::default(), wishes);
    let [step] = out.steps.as_slice() else { panic!("one step: {:?}", out.refused) };
    assert_eq!((step.id.as_str(), step.disruption, step.risk), ("kernel-args", Disruption::DrainReboot, Risk::Medium));
    assert_eq!(step.rules, ["a/one", "b/two"]);
    let has = vec!["iommu=pt".to_owned(), "pci=realloc".to_owned()];
    let lacks = vec!["iommu=off".to_owned(), "pci=noats".to_owned(), "pci=realloc,noats".to_owned()];
    assert!(step.proof.contains(&Proof::Cmdline { has: has.clone(), lacks: lacks.clone() }), "{:?}", step.proof);
    assert_eq!(step.proof.iter().filter(|p| matches!(p, Proof::Rule { .. })).count(), 2);
    assert!(
        matches!(step.trial.as_slice(), [Act::Trial(TrialAct { add, remove, .. })] if *add == has && *remove == lacks)
    );
    assert!(
        matches!(step.change.as_slice(), [Act::File(FileAct { path, .. }), Act::Run(RunAct { argv, .. })] if path == crate::boot::grub::DROP_IN && argv == &["update-grub"])
    );
    assert!(
        step.precondition.iter().any(|c| matches!(c, Condition::Cmdline { has, lacks }
        if has == &["iommu=off", "pci=realloc,noats"] && lacks == &["iommu=pt", "pci=realloc"])),
        "{:?}",
        step.precondition
    );
    let o = Options { trial: false, ..Options::default() };
    let out = parts(&s, &p, &o, vec![args("a/one", &["iommu=pt"], &[])]);
    assert!(out.steps.iter().all(|s| s.trial.is_empty() && s.risk_note.contains("nothing falls back")));
}

#[test]
fn what_one_finding_undoes_of_another_is_not_planned() {
    let s = snapshot("quiet");
    let p = platform(Boot::GrubDebian, Role::BareMetal);
    let wishes =
        vec![args("a/one", &["iommu=pt"], &[]), args("b/two", &[], &["iommu=pt"]), args("c/three", &["x=1"], &[])];
    let out = parts(&s, &p, &Options::default(), wishes);
    assert_eq!(out.steps.iter().flat_map(|s| s.rules.clone()).collect::<Vec<_>>(), ["c/three"]);
    assert_eq!(out.refused.len(), 2);
    assert!(out.refused.iter().all(|r| r.reason.contains("a/one") && r.reason.contains("b/two")), "{:?}", out.refused);
    let wishes = vec![args("a/one", &["iommu.passthrough=1"], &[]), args("b/two", &["iommu.passthrough=0"], &[])];
    assert!(parts(&s, &p, &Options::default(), wishes).steps.is_empty());
}

#[test]
fn isolation_of_virtual_machines_is_kept() {
    let s = snapshot("quiet");
    let reason = |role, w: Wish| {
        let out = parts(&s, &platform(Boot::GrubDebian, role), &Options::default(), vec![w]);
        out.refused.first().map(|r| (r.reason.clone(), r.unless.clone()))
    };
    let (why, unless) = reason(Role::VmHost, acs("acs/x", 0x1c)).expect("refused");
    assert!(why.contains("vfio-pci") && unless.is_none(), "{why}");
    assert!(reason(Role::VmHost, args("acs/x", &["pci=disable_acs_redir=pci:1:2"], &[])).is_some());
    assert!(reason(Role::VmGuest, acs("acs/x", 0x1c)).is_some_and(|(w, _)| w.contains("on the host")));
    let blocking = reason(Role::VmHost, acs("acs/x", 0x02)).map(|(w, _)| w).unwrap_or_default();
    assert!(!blocking.contains("VM host"), "Translation Blocking isolates nothing: {blocking}");
}

#[test]
fn snp_hosts_keep_translation() {
    let mut s = snapshot("quiet");
    s.add_file("sys/module/kvm_amd/parameters/sev_snp", b"Y\n");
    let p = platform(Boot::GrubDebian, Role::BareMetal);
    for word in ["iommu=pt", "iommu.passthrough=1", "amd_iommu=off"] {
        let out = parts(&s, &p, &Options::default(), vec![args("a/one", &[word], &[])]);
        assert!(out.steps.is_empty() && out.refused.iter().any(|r| r.reason.contains("SEV-SNP")), "{word}");
    }
    assert_eq!(parts(&s, &p, &Options::default(), vec![args("a/one", &["iommu.passthrough=0"], &[])]).steps.len(), 1);
}

#[test]
fn danger_is_named() {
    let s = snapshot("quiet");
    // Whether the node holds virtual machines is not known.
    let p = Platform { role: None, ..platform(Boot::GrubDebian, Role::BareMetal) };
    let w = args("a/one", &["pci=disable_acs_redir=pci:1:2"], &[]);
    let out = parts(&s, &p, &Options::default(), vec![w.clone()]);
    assert_eq!(out.refused.iter().map(|r| r.unless.as_deref()).collect::<Vec<_>>(), [Some("--allow a/one")]);
    let o = Options { allow: vec!["a/one".into()], ..Options::default() };
    let out = parts(&s, &p, &o, vec![w]);
    assert_eq!(out.steps.iter().map(|s| s.risk).collect::<Vec<_>>(), [Risk::Dangerous]);
}

#[test]
fn platforms_without_a_way_say_so() {
    let s = snapshot("quiet");
    let w = || vec![args("a/one", &["x=y"], &[])];
    for (boot, format) in [(Boot::Talos, "talos"), (Boot::OpenShift, "machineconfig")] {
        let out = parts(&s, &platform(boot.clone(), Role::BareMetal), &Options::default(), w());
        assert!(out.steps.is_empty());
        assert!(out.refused.iter().all(|r| r.unless.as_ref().is_some_and(|u| u.contains(format))), "{:?}", out.refused);
        let o = Options { export: true, ..Options::default() };
        let out = parts(&s, &platform(boot, Role::BareMetal), &o, w());
        assert!(out.steps.iter().all(|s| s.change.is_empty() && s.trial.is_empty()) && out.steps.len() == 1);
    }
    let mut p = platform(Boot::GrubDebian, Role::BareMetal);
    p.container = true;
    assert!(parts(&s, &p, &Options::default(), w()).refused.iter().any(|r| r.reason.contains("container")));
}

#[test]
fn what_another_system_configures_is_not_changed_here() {
    let mut s = snapshot("quiet");
    s.add_file("proc/sys/kernel/numa_balancing", b"1\n");
    s.add_file("proc/sys/kernel/osrelease", b"6.1.0\n");
    let wishes = || {
        vec![
            wish("a/module", Action::LoadModule { module: "nvidia_peermem".into() }),
            wish("a/value", Action::Sysfs { path: "/proc/sys/kernel/numa_balancing".into(), value: "0".into() }),
            wish("a/limit", Action::Limit { limit: "memlock".into(), value: "unlimited".into() }),
        ]
    };
    for (boot, format) in
        [(Boot::Talos, Some("talos")), (Boot::OpenShift, Some("machineconfig")), (Boot::GrubDebian, None)]
    {
        for export in [false, true] {
            let o = Options { export, ..Options::default() };
            let out = parts(&s, &platform(boot.clone(), Role::BareMetal), &o, wishes());
            let Some(format) = format.filter(|_| !export) else {
                assert_eq!((out.steps.len(), out.refused.len()), (3, 0), "{boot:?}: {:?}", out.refused);
                continue;
            };
            assert!(out.steps.is_empty() && out.refused.len() == 3, "{boot:?}: {:?}", out.steps);
            let unless = format!("linerate plan --format {format}, and apply that");
            // A form that leaves it out, too, is not what to use instead.
            let elsewhere = |r: &Refused| boot == Boot::Talos && r.rules == ["a/limit"] && r.unless.is_none();
            let good = |r: &Refused| r.unless.as_ref() == Some(&unless) || elsewhere(r);
            assert!(out.refused.iter().all(good), "{:?}", out.refused);
            assert_eq!(out.refused.iter().any(elsewhere), boot == Boot::Talos);
        }
    }
}

#[test]
fn files_of_others_that_undo_ours_are_named() {
    let mut s = snapshot("quiet");
    s.add_file("etc/default/grub.d/99-site.cfg", b"GRUB_CMDLINE_LINUX_DEFAULT=\"console=ttyS0\"\n");
    s.add_file("etc/default/grub.d/50-cloud.cfg", b"GRUB_CMDLINE_LINUX_DEFAULT=\"console=ttyS0\"\n");
    let p = platform(Boot::GrubDebian, Role::BareMetal);
    let out = parts(&s, &p, &Options::default(), vec![args("a/one", &["x=y"], &[])]);
    assert!(
        out.refused.iter().any(|r| r.reason.contains("99-site.cfg") && !r.reason.contains("50-cloud")),
        "{:?}",
        out.refused
    );
}

#[test]
fn a_drop_in_of_ours_keeps_what_it_had() {
    let mut s = snapshot("x=1 old=1");
    let own = |w: &[&str]| w.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let old = crate::boot::grub::drop_in("kernel-args", &own(&["x=1", "old=1"]), &own(&["y=1"]));
    s.add_file("etc/default/grub.d/90-linerate.cfg", old.as_bytes());
    let p = platform(Boot::GrubDebian, Role::BareMetal);
    let out = parts(&s, &p, &Options::default(), vec![args("a/one", &["y=1"], &["old=1"])]);
    let Some(Act::File(FileAct { before, after: Some(after), .. })) = out.steps.first().and_then(|s| s.change.first())
    else {
        panic!("{:?}", out.refused)
    };
    assert_eq!(*before, crate::FileState::Content(old));
    assert_eq!(crate::boot::grub::read_drop_in(&after.0), Some((own(&["x=1", "y=1"]), own(&["old=1"]))));
}

#[test]
fn what_people_do_and_values_that_are_open() {
    let s = snapshot("quiet");
    let p = platform(Boot::GrubDebian, Role::BareMetal);
    let wishes = vec![
        args("memory/hugepages", &["hugepagesz=1G", "hugepages=N"], &[]),
        wish("pcie/x", Action::Physical { what: "reseat it".into() }),
        wish("pcie/ari", Action::Bios { setting: "ARI Support".into(), value: "enabled".into() }),
        args("a/hostile", &["x=$(reboot)"], &[]),
    ];
    let out = parts(&s, &p, &Options::default(), wishes);
    assert!(out.steps.is_empty());
    assert_eq!(out.by_hand.len(), 3);
    assert!(out.by_hand.iter().any(|b| b.how.iter().any(|h| h.contains("ARI Support"))));
    assert_eq!(out.refused.len(), 1);
}

#[test]
fn what_is_asked_of_one_interface_is_one_step() {
    let mut s = snapshot("quiet");
    s.add_file("sys/class/net/eth1/mtu", b"1500\n");
    s.add_file("etc/systemd/network/10-a.network", b"[Match]\nName=eth1\n");
    let p = platform(Boot::GrubDebian, Role::BareMetal);
    let wishes = || {
        vec![
            wish("a/mtu", Action::Mtu { interface: "eth1".into(), mtu: 9000 }),
            wish("b/address", Action::Address { interface: "eth1".into() }),
        ]
    };
    let given = |all: &[&str]| Options {
        addresses: all.iter().map(|a| a.parse().expect("an address")).collect(),
        ..Options::default()
    };
    let out = parts(&s, &p, &given(&["eth1=10.7.0.1/24"]), wishes());
    let [step] = out.steps.as_slice() else { panic!("one step: {:?} {:?}", out.refused, out.by_hand) };
    assert_eq!(
        (step.id.as_str(), step.rules.as_slice()),
        ("network", ["a/mtu".to_owned(), "b/address".to_owned()].as_slice())
    );
    let files: Vec<&str> = step
        .change
        .iter()
        .filter_map(|a| match a {
            Act::File(FileAct { after: Some(text), .. }) => Some(text.0.as_str()),
            _ => None,
        })
        .collect();
    assert!(
        matches!(files.as_slice(), [text] if text.contains("MTUBytes=9000") && text.contains("Address=10.7.0.1/24")),
        "{files:?}"
    );
    // Without an address nobody invents one, and the MTU is planned all the same.
    let out = parts(&s, &p, &Options::default(), wishes());
    assert_eq!(out.steps.iter().flat_map(|s| s.rules.clone()).collect::<Vec<_>>(), ["a/mtu"]);
    assert!(
        out.by_hand.iter().any(|b| b.how.iter().any(|h| h.contains("--address eth1=ADDR/PREFIX"))),
        "{:?}",
        out.by_hand
    );
    // One that cannot be given leaves the MTU alone, too.
    let out = parts(&s, &p, &given(&["eth1=fd00::1/64"]), wishes());
    assert_eq!(out.steps.iter().flat_map(|s| s.rules.clone()).collect::<Vec<_>>(), ["a/mtu"]);
    assert!(out.refused.iter().any(|r| r.reason.contains("NCCL_IB_ADDR_FAMILY=AF_INET6")), "{:?}", out.refused);
}
