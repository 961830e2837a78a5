//! What desired states become, on small trees; and what the formats' own tools say of it, where they are installed.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

use crate::rendered;

use linerate_node::Node;
use linerate_remedy::change::*;
use linerate_remedy::plan::Options;
use linerate_remedy::platform::{Boot, Initramfs, Network, Platform, Tools};
use linerate_remedy::{Act, Condition, Disruption, NicFirmwareAct, On, Permanence, RunAct, ValueAct, terms};
use linerate_rules::Action;
use linerate_snapshot::{Coverage, Output, OutputKind, Snapshot};
use proptest::prelude::*;
use rendered::{commands, files, one, pair, systemd_takes};

fn platform(network: Network) -> Platform {
    Platform {
        id: Some("debian".into()),
        like: Vec::new(),
        name: None,
        version: None,
        boot: Boot::GrubDebian,
        initramfs: Initramfs::InitramfsTools,
        network,
        tools: Tools::default(),
        role: None,
        vms: None,
        container: false,
        because: Vec::new(),
    }
}

fn tree() -> Snapshot {
    let mut s = Snapshot::new("t");
    s.add_file("proc/sys/kernel/osrelease", b"6.1.0-18-amd64\n");
    s.add_file("proc/modules", b"ib_core 1 0 - Live 0x0\n");
    s.add_file("sys/devices/pci0000:00/0000:00:03.0/net/eth1/mtu", b"1500\n");
    s.add_link("sys/devices/pci0000:00/0000:00:03.0/net/eth1/device", b"../../../0000:00:03.0");
    s.add_link("sys/class/net/eth1", b"../../devices/pci0000:00/0000:00:03.0/net/eth1");
    for cpu in 0..3 {
        let governor: &[u8] = if cpu == 2 { b"performance\n" } else { b"powersave\n" };
        s.add_file(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"), governor);
    }
    s.add_file("sys/kernel/mm/transparent_hugepage/enabled", b"always [madvise] never\n");
    s.add_file("proc/sys/kernel/numa_balancing", b"1\n");
    s.add_file("lib/systemd/system/containerd.service", b"[Service]\n");
    s
}

fn made(actions: &[Action], platform: &Platform, reset: bool, s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    let (node, options) = (Node::decode(s), Options::default());
    changes(actions, &Setting { snapshot: s, node: &node, platform, options: &options, set: &[], reset })
}

fn ask(actions: Vec<Action>, network: Network, s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    made(&actions, &platform(network), false, s)
}

fn module(name: &str) -> Action {
    Action::LoadModule { module: name.to_owned().into() }
}

fn sysfs(path: &str, value: &str) -> Action {
    Action::Sysfs { path: path.to_owned().into(), value: value.to_owned().into() }
}

fn limit(limit: &str, value: &str) -> Action {
    Action::Limit { limit: limit.to_owned().into(), value: value.to_owned().into() }
}

fn option(module: &str, option: &str, value: Option<&str>) -> Action {
    let own = |w: &str| w.to_owned().into();
    Action::ModuleOption { module: own(module), option: own(option), value: value.map(own) }
}

fn field(field: &str, value: u32) -> Action {
    Action::DeviceControl {
        function: "0000:00:03.0".parse().expect("an address"),
        field: field.to_owned().into(),
        value,
    }
}

fn acs(clear: u16, set: u16) -> Action {
    Action::AcsControl { ports: vec!["0000:00:03.0".parse().expect("an address")], clear, set }
}

fn firmware(parameter: &str, value: &str) -> Action {
    Action::NicFirmware {
        device: "0000:81:00.0".into(),
        parameter: parameter.to_owned().into(),
        value: value.to_owned().into(),
    }
}

#[test]
fn modules_are_loaded_now_and_at_boot() {
    let s = tree();
    let r = one(ask(vec![module("nvidia_peermem"), module("ib_core")], Network::Unknown, &s));
    assert!(files(&r)[0].1.ends_with("\nnvidia_peermem\nib_core\n"));
    assert_eq!(commands(&r), [pair("modprobe -- nvidia_peermem", "modprobe -r -- nvidia_peermem")], "ib_core is there");
    let no = ask(vec![module("a b")], Network::Unknown, &s);
    assert!(matches!(no.as_slice(), [Err(Refusal::No { .. })]));
}

#[test]
fn a_class_of_letters_names_only_them() {
    let mut s = tree();
    for (cpu, state) in (0..2).flat_map(|c| (0..4).map(move |n| (c, n))) {
        s.add_file(&format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/disable"), b"0\n");
    }
    let path = "/sys/devices/system/cpu/cpu*/cpuidle/state[23]/disable";
    let r = one(ask(vec![sysfs(path, "1")], Network::Unknown, &s));
    let now: Vec<&str> = r
        .acts
        .iter()
        .filter_map(|a| match a {
            Act::Value(ValueAct { path, .. }) => path.strip_prefix("/sys/devices/system/cpu/"),
            _ => None,
        })
        .collect();
    let of = |cpu, state| format!("cpu{cpu}/cpuidle/state{state}/disable");
    assert_eq!(now, [of(0, 2), of(0, 3), of(1, 2), of(1, 3)], "on every CPU, and not the shallow ones");
    assert_eq!(r.proof.len(), 4);
    assert!(files(&r)[0].1.contains("w- /sys/devices/system/cpu/cpu*/cpuidle/state[23]/disable - - - - 1\n"));
}

#[test]
fn options_go_into_the_initramfs_and_other_files_stay() {
    let option = |value: Option<&str>| vec![option("ib_core", "netns_mode", value)];
    let mut s = tree();
    let r = one(ask(option(Some("0")), Network::Unknown, &s));
    let rebuild = "update-initramfs -u -k 6.1.0-18-amd64";
    assert_eq!(commands(&r), [pair(rebuild, rebuild)], "undone by making it again");
    let none_kept = r.acts.iter().all(|a| !matches!(a, Act::Run(RunAct { writes, .. }) if !writes.is_empty()));
    assert!(none_kept, "an initramfs is larger than what apply keeps");
    s.add_file("usr/lib/modules/6.1.0-18-amd64/vmlinuz", b"");
    let on = |boot: Boot| {
        let p = Platform { boot, initramfs: Initramfs::Dracut, ..platform(Network::Unknown) };
        made(&option(Some("0")), &p, false, &s)
    };
    let install = "kernel-install add 6.1.0-18-amd64 /usr/lib/modules/6.1.0-18-amd64/vmlinuz";
    assert_eq!(commands(&one(on(Boot::Uki))), [pair(install, install)], "the image has the initramfs in it");
    assert!(commands(&one(on(Boot::Grubby)))[0].0.starts_with("dracut --force /boot/initramfs-6.1.0-18-amd64.img"));
    let found = on(Boot::OsTree);
    let [Err(Refusal::ByHand { how, .. })] = found.as_slice() else { panic!("{found:?}") };
    assert!(how[1].starts_with("rpm-ostree initramfs-etc --track="));
    s.add_file("etc/modprobe.d/theirs.conf", b"options ib_core netns_mode=1\n");
    let found = ask(option(None), Network::Unknown, &s);
    let [Err(Refusal::ByHand { how, .. })] = found.as_slice() else { panic!("{found:?}") };
    assert!(how[0].contains("theirs.conf"));
}

#[test]
fn values_are_expanded_and_kept() {
    let s = tree();
    let governor = sysfs("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance");
    let all = vec![
        governor.clone(),
        sysfs("/proc/sys/kernel/numa_balancing", "0"),
        sysfs("/sys/kernel/mm/transparent_hugepage/enabled", "madvise"),
    ];
    let r = one(ask(all, Network::Unknown, &s));
    let values = r.acts.iter().filter(|a| matches!(a, Act::Value(_))).count();
    assert_eq!(values, 3, "two governors and a switch: the rest is so already");
    let [(_, tmpfiles), (_, sysctl)] = files(&r)[..] else { panic!("{r:?}") };
    assert!(tmpfiles.contains("\nw- /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor - - - - performance\n"));
    assert!(sysctl.ends_with("\nkernel.numa_balancing = 0\n"));
    let mut s = tree();
    s.add_file("etc/tuned/active_profile", b"network-latency\n");
    let r = one(ask(vec![governor.clone()], Network::Unknown, &s));
    assert_eq!(files(&r)[0].0, "/etc/tuned/linerate/tuned.conf");
    assert!(files(&r)[0].1.contains("include=network-latency\n\n[cpu]\ngovernor=performance\n"));
    assert_eq!(commands(&r), [pair("tuned-adm profile linerate", "tuned-adm profile network-latency")]);
    s.add_file("etc/tuned/profiles/theirs/tuned.conf", b"[main]\n");
    let r = one(ask(vec![governor], Network::Unknown, &s));
    assert_eq!(files(&r)[0].0, "/etc/tuned/profiles/linerate/tuned.conf");
    for bad in
        [sysfs("/etc/passwd", "x"), sysfs("/sys/kernel/x", "1"), sysfs("/proc/sys/kernel/numa_balancing", "0\n1")]
    {
        assert!(matches!(ask(vec![bad], Network::Unknown, &s).as_slice(), [Err(Refusal::No { .. })]));
    }
}

#[test]
fn limits_reach_sessions_and_services_that_are_there() {
    let s = tree();
    let both = vec![limit("memlock", "unlimited"), limit("/dev/shm", "some GiB")];
    let found = ask(both, Network::Unknown, &s);
    let [Ok(r), Err(Refusal::ByHand { .. })] = found.as_slice() else { panic!("{found:?}") };
    let paths: Vec<&str> = files(r).iter().map(|f| f.0).collect();
    let dropin = "/etc/systemd/system/containerd.service.d/90-linerate.conf";
    assert_eq!(paths, ["/etc/security/limits.d/90-linerate.conf", dropin]);
    assert!(r.note.contains("containerd keep their limit until they are restarted"));
}

#[test]
fn a_service_is_started_only_where_it_is_seen_to_be_off() {
    let unit = "usr/lib/systemd/system/nvidia-fabricmanager.service";
    let asked = vec![Action::Service { service: "nvidia-fabricmanager".into() }];
    let off = |collected: bool| {
        let mut s = tree();
        if collected {
            s.coverage = Coverage::Full { not_tried: vec![] };
        }
        s
    };
    let by_hand = |s: &Snapshot| {
        let found = ask(asked.clone(), Network::Unknown, s);
        assert!(matches!(found.as_slice(), [Err(Refusal::ByHand { .. })]), "{found:?}");
    };
    by_hand(&off(true));
    let mut s = off(true);
    s.add_file(unit, b"");
    let r = one(ask(asked.clone(), Network::Unknown, &s));
    let name = "nvidia-fabricmanager.service";
    let start = format!("systemctl enable --now {name}");
    assert_eq!(commands(&r), [pair(&start, &format!("systemctl disable --now {name}"))]);
    assert_eq!(r.id, "service-nvidia-fabricmanager");
    // Enabled, running, or not looked at.
    s.add_link(&format!("etc/systemd/system/multi-user.target.wants/{name}"), b"/nowhere");
    by_hand(&s);
    for group in ["system.slice", "systemd/system.slice"] {
        let mut s = off(true);
        s.add_file(unit, b"");
        s.add_dir(&format!("sys/fs/cgroup/{group}/{name}"));
        by_hand(&s);
    }
    let mut s = off(false);
    s.add_file(unit, b"");
    by_hand(&s);
    let no = ask(vec![Action::Service { service: "a b".into() }], Network::Unknown, &s);
    assert!(matches!(no.as_slice(), [Err(Refusal::No { .. })]), "{no:?}");
}

#[test]
fn pause_is_switched_off_where_it_is_seen() {
    let asked = |names: &[&str]| -> Vec<Action> {
        names.iter().map(|n| Action::PauseOff { interface: (*n).to_owned().into() }).collect()
    };
    let mut s = tree();
    for (name, rx, tx) in [("eth1", "on", "on"), ("eth2", "off", "on")] {
        let text = format!("Pause parameters for {name}:\nAutonegotiate:\toff\nRX:\t\t{rx}\nTX:\t\t{tx}\n");
        let entry = s.add_file(&format!("cmd/{name}"), text.as_bytes()).expect("room");
        let argv = ["ethtool", "-a", name].map(str::to_owned).to_vec();
        s.outputs.push(Output { kind: OutputKind::EthtoolPause, entry, argv, status: Some(0) });
    }
    let r = one(ask(asked(&["eth1", "eth2"]), Network::Unknown, &s));
    let [(path, text)] = files(&r)[..] else { panic!("{r:?}") };
    assert_eq!(path, "/etc/systemd/system/linerate-pause.service");
    for line in [
        "After=sys-subsystem-net-devices-eth1.device",
        "ExecStart=-ethtool -A eth1 rx off tx off",
        "ExecStart=-ethtool -A eth2 rx off tx off",
        "ExecStop=-ethtool -A eth1 rx on tx on",
        "ExecStop=-ethtool -A eth2 rx off tx on",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}: {text}");
    }
    systemd_takes("linerate-pause.service", text);
    assert_eq!(
        commands(&r).last(),
        Some(&pair("systemctl enable --now linerate-pause.service", "systemctl disable --now linerate-pause.service"))
    );
    s.add_file(path.trim_start_matches('/'), text.as_bytes());
    let again = ask(asked(&["eth1", "eth2"]), Network::Unknown, &s);
    assert!(matches!(again.as_slice(), [Err(Refusal::Already { .. })]), "{again:?}");
    for not_known in ["eth3", "eth1;reboot"] {
        let no = ask(asked(&[not_known]), Network::Unknown, &s);
        assert!(matches!(no.as_slice(), [Err(Refusal::No { .. })]), "{no:?}");
    }
}

#[test]
fn a_module_is_blocked_where_the_one_instead_is_there() {
    let asked = |module: &str| vec![Action::BlockModule { module: module.to_owned().into(), instead: "nvidia".into() }];
    let none = ask(asked("nouveau"), Network::Unknown, &tree());
    assert!(
        matches!(none.as_slice(), [Err(Refusal::ByHand { how, .. })] if how[0].contains("install nvidia")),
        "a GPU without any driver is no better: {none:?}"
    );
    let mut s = tree();
    let entry = s.add_file("cmd/modinfo", b"filename: /lib/modules/x/nvidia.ko\n").expect("room");
    s.outputs.push(Output { kind: OutputKind::ModinfoNvidia, entry, argv: vec![], status: Some(0) });
    let r = one(ask(asked("nouveau"), Network::Unknown, &s));
    let [(path, text)] = files(&r)[..] else { panic!("{r:?}") };
    assert_eq!(path, "/etc/modprobe.d/linerate-block.conf");
    assert!(text.ends_with("\nblacklist nouveau\n"), "{text}");
    let again = "update-initramfs -u -k 6.1.0-18-amd64";
    assert_eq!(commands(&r), [pair(again, again)]);
    let node = Node::decode(&s);
    let disturbs = terms(&asked("nouveau")[0], &On::node(&node)).map(|t| t.disruption);
    assert_eq!((r.id.as_str(), disturbs), ("module-blocks", Some(Disruption::DrainReboot)));
    drop(node);
    s.add_file(path.trim_start_matches('/'), text.as_bytes());
    let done = ask(asked("nouveau"), Network::Unknown, &s);
    assert!(matches!(done.as_slice(), [Err(Refusal::Already { .. })]), "{done:?}");
    for word in ["nouveau\ninstall x /bin/sh", "a b", ""] {
        let no = ask(asked(word), Network::Unknown, &s);
        assert!(matches!(no.as_slice(), [Err(Refusal::No { .. })]), "{no:?}");
    }
}

/// A bridge at 00:01.0 with ACS (control 0x1d), an endpoint's Device Control beside it (MaxReadReq 512, relaxed ordering).
fn with_registers() -> Snapshot {
    let mut s = tree();
    let mut config = vec![0u8; 4096];
    config[0..4].copy_from_slice(&[0xb3, 0x15, 0x21, 0x10]);
    config[6] = 0x10; // capabilities list
    config[0xb] = 2;
    config[0x34] = 0x60;
    config[0x60] = 0x10; // PCI Express, endpoint
    config[0x62] = 0x02;
    config[0x68..0x6a].copy_from_slice(&0x2950u16.to_le_bytes());
    config[0x100..0x104].copy_from_slice(&[0x0d, 0x00, 0x01, 0x00]);
    config[0x104..0x108].copy_from_slice(&[0x7f, 0x00, 0x1d, 0x00]);
    let home = "sys/devices/pci0000:00/0000:00:03.0";
    for (leaf, data) in
        [("config", config.as_slice()), ("vendor", b"0x15b3\n"), ("device", b"0x1021\n"), ("class", b"0x020000\n")]
    {
        s.add_file(&format!("{home}/{leaf}"), data);
    }
    s.add_link("sys/bus/pci/devices/0000:00:03.0", format!("../../../../{home}").as_bytes());
    s
}

#[test]
fn registers_are_written_masked_and_written_back() {
    let s = with_registers();
    let r = one(ask(vec![acs(0x1c, 0)], Network::Unknown, &s));
    let (path, text) = files(&r)[0];
    assert!(
        text.contains(
            "\nExecStart=setpci -s 0000:00:03.0 ECAP_ACS+6.w=0:1c\nExecStop=setpci -s 0000:00:03.0 ECAP_ACS+6.w=1c:1c\n"
        ),
        "{text}"
    );
    assert_eq!(
        commands(&r),
        [
            pair("systemctl daemon-reload", "systemctl daemon-reload"),
            pair("systemctl daemon-reload", ""),
            pair("systemctl enable --now linerate-acs.service", "systemctl disable --now linerate-acs.service"),
        ]
    );
    systemd_takes(path, text);
    let field = |name: &str, value| ask(vec![field(name, value)], Network::Unknown, &s);
    let r = one(field("max-read-request", 4096));
    assert!(files(&r)[0].1.contains("CAP_EXP+8.w=5000:7000\nExecStop=setpci -s 0000:00:03.0 CAP_EXP+8.w=2000:7000\n"));
    assert!(matches!(field("max-read-request", 4000).as_slice(), [Err(Refusal::No { .. })]));
    assert!(matches!(field("reset", 1).as_slice(), [Err(Refusal::No { .. })]));
    let unseen = tree();
    let found = ask(vec![acs(0x1c, 0)], Network::Unknown, &unseen);
    assert!(matches!(found.as_slice(), [Err(Refusal::No { .. })]), "the old value is not known");

    // The same unit again keeps the value of before the first one, and what the first one set of other bits.
    let mut later = with_registers();
    later.add_file("etc/systemd/system/linerate-acs.service", text.as_bytes());
    let r = one(ask(vec![acs(0x08, 0x04)], Network::Unknown, &later));
    assert_eq!(register_writes(&r), ["=0:10", "=4:c", "stop =1c:1c"]);
}

/// What the unit writes, without device and register.
fn register_writes(r: &Change) -> Vec<String> {
    let short = |l: &str| {
        let stop = if l.starts_with("ExecStop=") { "stop " } else { "" };
        l.contains("setpci").then(|| format!("{stop}={}", l.rsplit('=').next().unwrap_or_default()))
    };
    files(r)[0].1.lines().filter_map(short).collect()
}

#[test]
fn fields_of_one_register_do_not_replace_each_other() {
    let mrrs = || field("max-read-request", 4096);
    let relaxed = || field("relaxed-ordering", 0);
    let s = with_registers();
    let both = ["=5000:7000", "=0:10", "stop =2000:7000", "stop =10:10"];
    let r = one(ask(vec![mrrs(), relaxed()], Network::Unknown, &s));
    assert_eq!(register_writes(&r), both, "in one plan");
    let first = one(ask(vec![mrrs()], Network::Unknown, &s));
    let mut later = with_registers();
    later.add_file("etc/systemd/system/linerate-registers.service", files(&first)[0].1.as_bytes());
    let r = one(ask(vec![relaxed()], Network::Unknown, &later));
    assert_eq!(register_writes(&r), both, "in two plans");
    let r = one(ask(vec![field("max-read-request", 256)], Network::Unknown, &later));
    assert_eq!(register_writes(&r), ["=1000:7000", "stop =2000:7000"], "the same field again");
}

fn nic(current: &str, next: &str, extra: &str) -> Snapshot {
    let mut s = tree();
    let text = format!(
        "\nDevice #1:\n----------\n\nDevice type:    ConnectX7           \nName:           X\nDescription:    X\nDevice:         0000:81:00.0        \n\n\
         Configurations:                                      Default             Current             Next Boot\n\
         \x20       ATS_ENABLED                                 False(0)            {current}            {next}\n{extra}"
    );
    s.add_file("mlx.txt", text.as_bytes());
    let entry = match s.resolve("mlx.txt") {
        linerate_snapshot::Lookup::Found(e) => e,
        other => panic!("{other:?}"),
    };
    s.outputs.push(linerate_snapshot::Output {
        entry,
        kind: linerate_snapshot::OutputKind::MlxconfigText,
        argv: vec!["mlxconfig".into(), "-d".into(), "0000:81:00.0".into(), "-e".into(), "q".into()],
        status: Some(0),
    });
    s
}

#[test]
fn firmware_settings_say_what_is_and_what_waits() {
    let set = |s: &Snapshot, name: &str, value: &str| ask(vec![firmware(name, value)], Network::Unknown, s);
    let s = nic("True(1)", "True(1)", "");
    let r = one(set(&s, "ATS_ENABLED", "False"));
    let [Act::NicFirmware(NicFirmwareAct { before, after, .. })] = r.acts.as_slice() else { panic!("{r:?}") };
    assert_eq!((before.as_str(), after.as_str(), r.id.as_str()), ("True(1)", "0", "nicfw-0000-81-00-0"));
    let waits = nic("True(1)", "False(0)", "");
    let found = set(&waits, "ATS_ENABLED", "False");
    assert!(
        matches!(found.as_slice(), [Err(Refusal::Already { reason })] if reason.contains("waits for a reset")),
        "{found:?}"
    );
    for (name, value) in [
        ("PCI_BUS00_SPEED", "1"),
        ("ADVANCED_POWER_SETTINGS", "True"),
        ("NOT_THERE", "1"),
        ("ats", "1"),
        ("ATS_ENABLED", "x y"),
    ] {
        assert!(matches!(set(&s, name, value).as_slice(), [Err(Refusal::No { .. })]), "{name}");
    }
    let hidden = nic(
        "True(1)",
        "True(1)",
        "         ADVANCED_PCI_SETTINGS                       False(0)            False(0)            False(0)\n",
    );
    let found = set(&hidden, "MAX_ACC_OUT_READ", "0");
    let [Err(Refusal::No { .. }), Ok(first)] = found.as_slice() else { panic!("{found:?}") };
    assert!(first.summary.contains("ADVANCED_PCI_SETTINGS to 1"));
    let reset = Action::NicFirmwareReset { device: "0000:81:00.0".into() };
    let r = one(with_tool(&[reset], "mstfwreset", true, &waits));
    assert!(r.acts.is_empty() && r.proof.len() == 1, "what the host enumerates changes by a reboot");
}

fn with_tool(asked: &[Action], tool: &str, reset: bool, s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    let tools = Tools { looked: true, seen: vec!["mstconfig".into(), tool.into()] };
    made(asked, &Platform { tools, ..platform(Network::Unknown) }, reset, s)
}

#[test]
fn a_card_is_reset_where_that_is_enough() {
    let link = |current: &str, next: &str| {
        nic("True(1)", "True(1)", &format!("         LINK_TYPE_P1   ETH(2)   {current}   {next}\n"))
    };
    let set = |s: &Snapshot, settings: &[(&str, &str)], reset: bool| {
        let set: Vec<Action> = settings.iter().map(|(n, v)| firmware(n, v)).collect();
        one(with_tool(&set, "mstfwreset", reset, s))
    };
    let s = link("IB(1)", "IB(1)");
    let last = |r: &Change| match r.acts.last() {
        Some(Act::Run(RunAct { argv, .. })) => Some(argv.join(" ")),
        _ => None,
    };
    let without = one(made(&[firmware("LINK_TYPE_P1", "2")], &platform(Network::Unknown), true, &s));
    assert_eq!(last(&without), None, "the source shows no program that resets");
    let r = set(&s, &[("LINK_TYPE_P1", "2")], true);
    assert_eq!(last(&r).as_deref(), Some("mstfwreset -d 0000:81:00.0 -l 3 -y reset"));
    assert_eq!(r.acts.len(), 2);
    assert!(matches!(&r.precondition[..], [.., Condition::Program { name, .. }] if name == "mstfwreset"));
    for r in
        [set(&s, &[("LINK_TYPE_P1", "2")], false), set(&s, &[("LINK_TYPE_P1", "2"), ("ATS_ENABLED", "False")], true)]
    {
        assert_eq!(last(&r), None, "one reboot for all of them");
    }
    let waits = link("IB(1)", "ETH(2)");
    let asked = [Action::NicFirmwareReset { device: "0000:81:00.0".into() }];
    let ask_reset = |reset: bool| one(with_tool(&asked, "mlxfwreset", reset, &waits));
    assert_eq!(last(&ask_reset(true)).as_deref(), Some("mlxfwreset -d 0000:81:00.0 -l 3 -y reset"));
    assert_eq!(last(&ask_reset(false)), None);
}

#[test]
fn terms_of_a_nics_firmware() {
    let tools = Tools { looked: true, seen: vec!["mstfwreset".into()] };
    let (with, without) = (Platform { tools, ..platform(Network::Unknown) }, platform(Network::Unknown));
    let waits = nic("True(1)", "True(1)", "         LINK_TYPE_P1   ETH(2)   IB(1)   ETH(2)\n");
    let node = Node::decode(&waits);
    let of = |action: &Action, resets_by| terms(action, &On { resets_by, ..On::node(&node) }).expect("a plan does it");
    let reset = Action::NicFirmwareReset { device: "0000:81:00.0".into() };
    for (action, resets_by, disruption) in [
        (firmware("LINK_TYPE_P1", "ETH"), Some(&with), Disruption::Service),
        (firmware("LINK_TYPE_P1", "ETH"), Some(&without), Disruption::DrainReboot),
        (firmware("LINK_TYPE_P1", "ETH"), None, Disruption::DrainReboot),
        // What the host enumerates, and what is hidden until another setting is in force.
        (firmware("ATS_ENABLED", "False"), Some(&with), Disruption::DrainReboot),
        (firmware("MAX_ACC_OUT_READ", "0"), Some(&with), Disruption::DrainReboot),
        (reset.clone(), Some(&with), Disruption::Service),
        (reset, None, Disruption::DrainReboot),
    ] {
        let terms = of(&action, resets_by);
        assert_eq!((terms.persistence, terms.disruption), (Permanence::DeviceReset, disruption), "{action:?}");
    }
    let back = of(&firmware("LINK_TYPE_P1", "1"), None);
    assert_eq!((back.persistence, back.disruption), (Permanence::Immediate, Disruption::None), "it is in force");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn no_word_of_data_ends_a_line_or_a_word(a in any::<String>(), b in any::<String>(), n in any::<u32>()) {
        let s = with_registers();
        let own = |w: &str| w.to_owned().into();
        let asks = vec![
            module(&a),
            option(&a, &b, Some(&a)),
            Action::Mtu { interface: own(&a), mtu: n },
            sysfs(&format!("/sys/{a}"), &b),
            limit(&a, &b),
            Action::Service { service: own(&a) },
            field(&a, n),
            Action::NicFirmware { device: own(&a), parameter: own(&b), value: own(&a) },
            Action::NicFirmwareReset { device: own(&a) },
            Action::KernelArgs { add: vec![own(&a)], remove: vec![own(&b)] },
        ];
        for asked in asks {
            for network in [Network::Netplan, Network::Networkd, Network::Ifupdown] {
                for r in made(std::slice::from_ref(&asked), &platform(network), true, &s).into_iter().flatten() {
                    prop_assert!(r.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
                    for act in &r.acts {
                        if let Act::Run(RunAct { argv, .. }) = act {
                            prop_assert!(argv.iter().all(|w| w.bytes().all(|b| (b'!'..=b'~').contains(&b))), "{argv:?}");
                        }
                    }
                }
            }
        }
    }
}
