//! A plan with one step of each kind, its exports, and what runs other programs on them.
// Each test program uses a part of it.
#![allow(dead_code, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use linerate_remedy::export::{self, Export, LinkType, NicType, TalosBoot};
use linerate_remedy::*;
use std::io::Write;
use std::process::{Command, Stdio};

pub(crate) fn file(path: &str, text: &str, mode: u32) -> Act {
    Act::File(FileAct { path: path.into(), before: FileState::Absent, after: Some(Content(text.into())), mode })
}

pub(crate) fn run(argv: &[&str]) -> Act {
    Act::Run(RunAct {
        argv: argv.iter().map(|w| (*w).to_owned()).collect(),
        writes: Vec::new(),
        undo: Vec::new(),
        limit: 60,
    })
}

pub(crate) fn step(id: &str, disruption: Disruption, change: Vec<Act>, proof: Vec<Proof>) -> Step {
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
        unsimulated: Vec::new(),
    }
}

pub(crate) fn value(path: &str, before: &str, after: &str) -> Act {
    Act::Value(ValueAct { path: path.into(), before: before.into(), after: after.into() })
}

pub(crate) fn label(key: &str, before: Option<&str>, after: Option<&str>) -> Act {
    let own = |value: Option<&str>| value.map(str::to_owned);
    Act::Label(LabelAct { node: "node7".into(), key: key.into(), before: own(before), after: own(after) })
}

/// One step of each kind.
pub(crate) fn plan() -> Plan {
    let mut args = step(
        "kernel-args",
        Disruption::DrainReboot,
        vec![
            Act::File(FileAct {
                path: "/etc/default/grub.d/90-linerate.cfg".into(),
                before: FileState::Absent,
                after: Some(Content("GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX iommu=pt\"\n".into())),
                mode: 0o644,
            }),
            Act::Run(RunAct {
                argv: vec!["update-grub".into()],
                writes: vec!["/boot/grub/grub.cfg".into()],
                undo: Vec::new(),
                limit: 120,
            }),
        ],
        vec![Proof::Cmdline { has: vec!["iommu=pt".into()], lacks: vec!["pci=noats".into()] }],
    );
    args.precondition.push(Condition::Program { name: "update-grub".into(), package: "grub2-common".into() });
    args.precondition.push(Condition::Cmdline { has: Vec::new(), lacks: vec!["iommu=pt".into()] });
    args.trial.push(Act::Trial(TrialAct {
        boot: BootTrial::GrubCustom,
        add: vec!["iommu=pt".into(), "panic=30".into()],
        remove: Vec::new(),
    }));
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
            "network",
            Disruption::Service,
            vec![
                value("/sys/class/net/eth1/mtu", "1500", "9000"),
                run(&["ip", "address", "replace", "10.7.0.1/24", "dev", "eth1"]),
                file(
                    "/etc/netplan/90-linerate.yaml",
                    "network:\n  version: 2\n  ethernets:\n    \"eth1\":\n      mtu: 9000\n      addresses:\n        - \"10.7.0.1/24\"\n",
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
            vec![Act::NicFirmware(NicFirmwareAct {
                device: "0000:81:00.0".into(),
                parameter: "ATS_ENABLED".into(),
                before: "True(1)".into(),
                after: "0".into(),
            })],
            Vec::new(),
        ),
        step(
            "bios",
            Disruption::PowerCycle,
            vec![Act::Bios(BiosAct { attribute: "ProcVtd".into(), before: "Disable".into(), after: "Enable".into() })],
            Vec::new(),
        ),
        args,
        step(
            "labels",
            Disruption::None,
            vec![
                label("iommu-passthrough-u12-u25", Some("true"), None),
                label("gpu.example.com/iommu", None, Some("pt")),
            ],
            Vec::new(),
        ),
    ];
    Plan {
        schema: SCHEMA.into(),
        hash: "00112233445566778899aabbccddeeff".into(),
        version: "0.1.0".into(),
        node: NodeId { host: Some("node7".into()), ..NodeId::default() },
        role: None,
        kubernetes: None,
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
        simulation: None,
    }
}

/// A plan of these steps and nothing else.
pub(crate) fn bare(steps: Vec<Step>) -> Plan {
    Plan { steps, by_hand: Vec::new(), ..plan() }
}

pub(crate) fn nics() -> Vec<NicType> {
    vec![NicType {
        device: "0000:81:00.0".parse().expect("an address"),
        device_id: 0x1021,
        link_type: LinkType::Ethernet,
        num_vfs: 0,
    }]
}

pub(crate) fn all(plan: &Plan) -> Vec<(&'static str, Export)> {
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

pub(crate) fn documents(text: &str) -> Vec<serde_yaml_ng::Value> {
    use serde::Deserialize;
    serde_yaml_ng::Deserializer::from_str(text)
        .map(|d| serde_yaml_ng::Value::deserialize(d).unwrap_or_else(|e| panic!("{e}\n{text}")))
        .filter(|v| !v.is_null())
        .collect()
}

/// Runs a program with this on its standard input, where it is installed.
pub(crate) fn tool(program: &str, args: &[&str], input: &str) -> Option<(bool, String)> {
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
