//! Exports: golden files (`LINERATE_BLESS=1` writes them), what readers of the forms say, hostile plans.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

use linerate_remedy::export::{self, Export, LinkType, NicType, TalosBoot};
use linerate_remedy::*;
use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};

fn file(path: &str, text: &str, mode: u32) -> Act {
    Act::File { path: path.into(), before: FileState::Absent, after: Some(Content(text.into())), mode }
}

fn run(argv: &[&str]) -> Act {
    Act::Run { argv: argv.iter().map(|w| (*w).to_owned()).collect(), writes: Vec::new(), undo: Vec::new(), limit: 60 }
}

fn step(id: &str, disruption: Disruption, change: Vec<Act>, proof: Vec<Proof>) -> Step {
    Step {
        id: id.into(),
        rules: vec!["some/rule".into()],
        summary: format!("make {id} right"),
        why: vec![format!("{id} is wrong")],
        precondition: Vec::new(),
        trial: Vec::new(),
        change,
        proof,
        risk: Risk::Low,
        risk_note: String::new(),
        persistence: Permanence::Immediate,
        disruption,
    }
}

fn value(path: &str, before: &str, after: &str) -> Act {
    Act::Value { path: path.into(), before: before.into(), after: after.into() }
}

/// One step of each kind.
fn plan() -> Plan {
    let mut args = step(
        "kernel-args",
        Disruption::DrainReboot,
        vec![
            Act::File {
                path: "/etc/default/grub.d/90-linerate.cfg".into(),
                before: FileState::Absent,
                after: Some(Content("GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX iommu=pt\"\n".into())),
                mode: 0o644,
            },
            Act::Run {
                argv: vec!["update-grub".into()],
                writes: vec!["/boot/grub/grub.cfg".into()],
                undo: Vec::new(),
                limit: 120,
            },
        ],
        vec![Proof::Cmdline { has: vec!["iommu=pt".into()], lacks: vec!["pci=noats".into()] }],
    );
    args.precondition.push(Condition::Program { name: "update-grub".into(), package: "grub2-common".into() });
    args.precondition.push(Condition::Cmdline { has: Vec::new(), lacks: vec!["iommu=pt".into()] });
    args.trial.push(Act::Trial {
        boot: BootTrial::GrubCustom,
        add: vec!["iommu=pt".into(), "panic=30".into()],
        remove: Vec::new(),
    });
    let unit = "[Unit]\nDescription=ACS control bits\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\n\
                ExecStart=setpci -s 0000:41:00.0 ECAP_ACS+6.w=0:1c\nExecStop=setpci -s 0000:41:00.0 ECAP_ACS+6.w=1c:1c\n\n\
                [Install]\nWantedBy=multi-user.target\n";
    let mut acs = step(
        "acs",
        Disruption::None,
        vec![
            run(&["systemctl", "daemon-reload"]),
            file("/etc/systemd/system/linerate-acs.service", unit, 0o644),
            run(&["systemctl", "enable", "--now", "linerate-acs.service"]),
        ],
        Vec::new(),
    );
    acs.precondition.push(Condition::NoLockdown);
    let governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    let steps = vec![
        step(
            "modules",
            Disruption::None,
            vec![
                file("/etc/modules-load.d/linerate.conf", "# ours\nnvidia_peermem\n", 0o644),
                run(&["modprobe", "--", "nvidia_peermem"]),
            ],
            Vec::new(),
        ),
        step(
            "module-options",
            Disruption::DrainReboot,
            vec![
                file("/etc/modprobe.d/linerate.conf", "options ib_core netns_mode=0\n", 0o644),
                run(&["update-initramfs", "-u", "-k", "6.1.0"]),
            ],
            Vec::new(),
        ),
        step(
            "mtu",
            Disruption::Service,
            vec![
                value("/sys/class/net/eth1/mtu", "1500", "9000"),
                file(
                    "/etc/netplan/90-linerate.yaml",
                    "network:\n  version: 2\n  ethernets:\n    \"eth1\":\n      mtu: 9000\n",
                    0o600,
                ),
                run(&["netplan", "apply"]),
            ],
            vec![Proof::Value { path: "/sys/class/net/eth1/mtu".into(), value: "9000".into() }],
        ),
        step(
            "values",
            Disruption::None,
            vec![
                value(governor, "powersave", "performance"),
                value("/proc/sys/kernel/numa_balancing", "1", "0"),
                file("/etc/tmpfiles.d/linerate.conf", &format!("w- {governor} - - - - performance\n"), 0o644),
                file("/etc/sysctl.d/90-linerate.conf", "kernel.numa_balancing = 0\n", 0o644),
            ],
            Vec::new(),
        ),
        step(
            "limits",
            Disruption::None,
            vec![
                file(
                    "/etc/security/limits.d/90-linerate.conf",
                    "* soft memlock unlimited\n* hard memlock unlimited\n",
                    0o644,
                ),
                file(
                    "/etc/systemd/system/containerd.service.d/90-linerate.conf",
                    "[Service]\nLimitMEMLOCK=infinity\n",
                    0o644,
                ),
            ],
            Vec::new(),
        ),
        acs,
        step(
            "nicfw-0000-81-00-0",
            Disruption::DrainReboot,
            vec![Act::NicFirmware {
                device: "0000:81:00.0".into(),
                parameter: "ATS_ENABLED".into(),
                before: "True(1)".into(),
                after: "0".into(),
            }],
            Vec::new(),
        ),
        step(
            "bios",
            Disruption::PowerCycle,
            vec![Act::Bios { attribute: "ProcVtd".into(), before: "Disable".into(), after: "Enable".into() }],
            Vec::new(),
        ),
        args,
    ];
    Plan {
        schema: SCHEMA.into(),
        hash: "00112233445566778899aabbccddeeff".into(),
        version: "0.1.0".into(),
        node: NodeId { host: Some("node7".into()), machine: None, boot: None },
        role: None,
        source: "a test".into(),
        platform: "Debian 12, GRUB".into(),
        steps,
        by_hand: vec![ByHand {
            rules: vec!["pcie/link-width".into()],
            summary: "reseat the NIC".into(),
            how: Vec::new(),
            reread: Vec::new(),
        }],
        refused: Vec::new(),
    }
}

fn nics() -> Vec<NicType> {
    vec![NicType {
        device: "0000:81:00.0".parse().expect("an address"),
        device_id: 0x1021,
        link_type: LinkType::Ethernet,
        num_vfs: 0,
    }]
}

fn all(plan: &Plan) -> Vec<(&'static str, Export)> {
    vec![
        ("plan.sh", export::shell(plan)),
        ("machineconfig.yaml", export::machineconfig(plan, "worker", &["worker".into()]).expect("the pool is there")),
        ("talos-uki.yaml", export::talos(plan, TalosBoot::Uki)),
        ("talos-grub.yaml", export::talos(plan, TalosBoot::Grub)),
        ("talos.yaml", export::talos(plan, TalosBoot::Unknown)),
        ("nmstate.yaml", export::nmstate(plan)),
        ("nicconfig.yaml", export::nicconfig(plan, &nics())),
        ("ansible.yaml", export::ansible(plan)),
        ("cloud-init.yaml", export::cloud_init(plan)),
    ]
}

#[test]
fn golden() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var_os("LINERATE_BLESS").is_some();
    for (name, made) in all(&plan()) {
        let path = dir.join(name);
        if bless {
            std::fs::write(&path, &made.text).expect("writable");
        }
        let wanted = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(made.text, wanted, "{name}: LINERATE_BLESS=1 cargo test writes it");
    }
}

#[test]
fn what_is_left_out_is_told_twice() {
    for (name, made) in all(&plan()) {
        for left in &made.left_out {
            let step = left.step.as_deref().unwrap_or("-");
            let told = made.text.lines().any(|l| l.starts_with("#   ") && l.contains(step) && l.contains(&left.what));
            assert!(told, "{name}: {left:?}");
        }
        assert!(made.left_out.iter().any(|l| l.what == "reseat the NIC"), "{name}");
        let bios = made.left_out.iter().any(|l| l.step.as_deref() == Some("bios"));
        assert!(bios, "{name}: no form sets BIOS attributes");
    }
    assert!(export::machineconfig(&plan(), "gpu-worker", &["worker".into()]).is_err(), "nobody would apply it");
    assert!(export::machineconfig(&plan(), "worker", &[]).is_err());
    let none = export::nicconfig(&plan(), &[]);
    assert!(!none.text.contains("rawNvConfig") && none.left_out.iter().any(|l| l.what.contains("ATS_ENABLED")));
}

fn documents(text: &str) -> Vec<serde_yaml_ng::Value> {
    use serde::Deserialize;
    serde_yaml_ng::Deserializer::from_str(text)
        .map(|d| serde_yaml_ng::Value::deserialize(d).unwrap_or_else(|e| panic!("{e}\n{text}")))
        .filter(|v| !v.is_null())
        .collect()
}

#[test]
fn readers_find_what_was_meant() {
    let mc = &documents(&all(&plan())[1].1.text)[0];
    let spec = &mc["spec"];
    assert_eq!(spec["kernelArguments"][0], "iommu=pt");
    assert_eq!(spec["config"]["storage"]["files"][0]["path"], "/etc/modules-load.d/linerate.conf");
    assert_eq!(spec["config"]["storage"]["files"][0]["mode"], 0o644);
    let text = export::machineconfig(&plan(), "worker", &["worker".into()]).expect("pool").text;
    assert!(!text.contains("netplan/90"), "the network is not the MachineConfig's");
    let talos = documents(&export::talos(&plan(), TalosBoot::Uki).text);
    assert_eq!(talos[0]["customization"]["extraKernelArgs"][0], "iommu=pt");
    assert!(talos[1]["machine"]["install"].is_null(), "a UKI ignores them");
    assert_eq!(talos[1]["machine"]["sysctls"]["kernel.numa_balancing"], "0");
    let grub = documents(&export::talos(&plan(), TalosBoot::Grub).text);
    assert_eq!((grub.len(), &grub[0]["machine"]["install"]["extraKernelArgs"][0]), (1, &"iommu=pt".into()));
    let nm = documents(&export::nmstate(&plan()).text);
    assert_eq!(nm[0]["interfaces"][0]["mtu"], 9000);
    let nic = documents(&export::nicconfig(&plan(), &nics()).text);
    assert_eq!(nic[0]["spec"]["template"]["rawNvConfig"][0]["name"], "ATS_ENABLED");
    assert_eq!(nic[0]["spec"]["nicSelector"]["nicType"], "1021");
}

/// Runs a program with this on its standard input, where it is installed.
fn tool(program: &str, args: &[&str], input: &str) -> Option<(bool, String)> {
    let child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("SKIPPED: {program} is not installed");
        return None;
    };
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    let out = child.wait_with_output().expect("it ends");
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    Some((out.status.success(), said))
}

#[test]
fn the_script_is_clean() {
    let text = export::shell(&plan()).text;
    if let Some((good, said)) = tool("shellcheck", &["-s", "sh", "-"], &text) {
        assert!(good, "{said}\n{text}");
    }
}

/// Runs a script as if by root: `id` answers 0.
fn play(dir: &std::path::Path, text: &str) -> (bool, String) {
    let bin = dir.join("bin");
    std::fs::create_dir_all(&bin).expect("writable");
    let id = bin.join("id");
    std::fs::write(&id, "#!/bin/sh\necho 0\n").expect("writable");
    std::os::unix::fs::symlink("/bin/true", bin.join("mark")).ok();
    std::fs::set_permissions(&id, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let out = Command::new("sh").arg("-c").arg(text).current_dir(dir).env("PATH", path).output().expect("sh is there");
    (out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
}

fn bare(steps: Vec<Step>) -> Plan {
    Plan { steps, by_hand: Vec::new(), ..plan() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn the_script_writes_these_bytes_and_nothing_else(
        text in prop_oneof![any::<String>(), "(LINERATE|LINERATE_1|'|\\$\\(touch evil\\)|`touch evil`|\n|\\\\| ){0,12}"],
        id in any::<String>(),
        name in "[a-z '\"$()`;&|*\\\\]{1,20}",
    ) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = format!("{}/{name}", dir.path().display());
        let mut s = step("x", Disruption::None, vec![file(&path, &text, 0o600)], Vec::new());
        (s.id, s.summary, s.why) = (id.clone(), format!("{id}\ntouch evil"), vec![text.clone()]);
        let made = export::shell(&bare(vec![s]));
        if text.contains('\0') {
            prop_assert_eq!(made.left_out.len(), 1);
            return Ok(());
        }
        for again in [false, true] {
            let (good, said) = play(dir.path(), &made.text.replace('\0', ""));
            prop_assert!(good, "{again} {said}\n{}", made.text);
        }
        prop_assert_eq!(std::fs::read(&path).expect("written"), text.as_bytes());
        let names: Vec<_> = std::fs::read_dir(dir.path()).expect("there").map(|e| e.expect("e").file_name()).collect();
        prop_assert_eq!(names.len(), 2, "{:?}", names);
    }

    #[test]
    fn hostile_plans_stay_data(
        a in any::<String>(), b in any::<String>(), c in ".{0,30}", words in prop::collection::vec(any::<String>(), 0..4),
    ) {
        let mut steps = plan().steps;
        for s in &mut steps {
            (s.id, s.summary, s.risk_note, s.why) = (a.clone(), b.clone(), c.clone(), words.clone());
            for act in &mut s.change {
                match act {
                    Act::File { after: Some(Content(text)), .. } => *text = format!("{b}\n{text}{a}"),
                    Act::Run { argv, writes, .. } => {
                        argv.extend(words.clone());
                        writes.push(c.clone());
                    }
                    Act::Value { path, before, after } => (*path, *before, *after) = (format!("/sys/{a}"), b.clone(), c.clone()),
                    Act::NicFirmware { device, parameter, after, .. } => (*device, *parameter, *after) = (a.clone(), b.clone(), c.clone()),
                    _ => {}
                }
            }
        }
        let mut hostile = Plan { steps, ..plan() };
        (hostile.node.host, hostile.platform, hostile.hash) = (Some(a.clone()), b.clone(), c.clone());
        for (name, made) in all(&hostile) {
            if name.ends_with(".yaml") {
                let docs = documents(&made.text);
                let wanted = documents(&all(&plan()).into_iter().find(|(n, _)| *n == name).expect("the same names").1.text);
                prop_assert!(docs.len() <= wanted.len(), "{name}: a document was added: {docs:?}\n{}", made.text);
            } else if let Some((good, said)) = tool("sh", &["-n"], &made.text) {
                prop_assert!(good, "{said}\n{}", made.text);
            }
        }
    }
}
