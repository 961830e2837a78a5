//! Plans, and what was verified of them, in every form.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::schema::Schema;
use linerate_remedy::verify::{Verification, verify};
use linerate_remedy::{
    Act, BiosAct, BootTrial, ByHand, Changed, Condition, Content, Counts, Disruption, FileAct, FileState, KubeNode,
    LabelAct, NicFirmwareAct, NodeId, Permanence, Plan, Proof, Refused, Risk, RunAct, SCHEMA, Simulation, State, Step,
    TrialAct, ValueAct,
};
use linerate_report::Style;
use linerate_report::plan::{json, markdown, text};
use linerate_snapshot::{Coverage, Snapshot};
use serde_json::Value;

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|s| (*s).to_owned()).collect()
}

fn arguments() -> Step {
    Step {
        id: "kernel-args".into(),
        rules: list(&["iommu/translated-domain"]),
        summary: "start the kernel with iommu=pt".into(),
        why: list(&["group 45 of GPU 0000:18:00.0 is translated (DMA-FQ): peer-to-peer goes through the IOMMU"]),
        precondition: vec![Condition::Program { name: "update-grub".into(), package: "grub2-common".into() }],
        trial: vec![Act::Trial(TrialAct {
            boot: BootTrial::GrubCustom,
            add: list(&["iommu=pt", "panic=30"]),
            remove: vec![],
        })],
        change: vec![
            Act::File(FileAct {
                path: "/etc/default/grub.d/90-linerate.cfg".into(),
                before: FileState::Content("# Written by linerate\nGRUB_TIMEOUT=2\n".into()),
                after: Some(Content(
                    "# Written by linerate\nGRUB_TIMEOUT=2\nGRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX iommu=pt\"\n"
                        .into(),
                )),
                mode: 0o644,
            }),
            Act::Run(RunAct {
                argv: list(&["update-grub"]),
                writes: list(&["/boot/grub/grub.cfg"]),
                undo: list(&["update-grub"]),
                limit: 120,
            }),
        ],
        proof: vec![
            Proof::Cmdline { has: list(&["iommu=pt"]), lacks: vec![] },
            Proof::Value { path: "/sys/kernel/iommu_groups/45/type".into(), value: "identity".into() },
        ],
        risk: Risk::Medium,
        risk_note: "DMA of the host is not protected any more".into(),
        persistence: Permanence::NextBoot,
        disruption: Disruption::DrainReboot,
        unsimulated: Vec::new(),
    }
}

fn mtu() -> Step {
    Step {
        id: "mtu-eth1".into(),
        rules: list(&["rdma/roce-mtu"]),
        summary: "set the MTU of eth1 to 9000".into(),
        why: list(&["eth1 has an MTU of 1500: its RDMA port uses 1024"]),
        precondition: vec![Condition::Value { path: "/sys/class/net/eth1/mtu".into(), value: "1500".into() }],
        trial: vec![],
        change: vec![
            Act::File(FileAct {
                path: "/etc/netplan/90-linerate.yaml".into(),
                before: FileState::Absent,
                after: Some(Content("network:\n  ethernets:\n    eth1:\n      mtu: 9000\n".into())),
                mode: 0o600,
            }),
            Act::Value(ValueAct {
                path: "/sys/class/net/eth1/mtu".into(),
                before: "1500".into(),
                after: "9000".into(),
            }),
        ],
        proof: vec![Proof::Value { path: "/sys/class/net/eth1/mtu".into(), value: "9000".into() }],
        risk: Risk::High,
        risk_note: String::new(),
        persistence: Permanence::Immediate,
        disruption: Disruption::Service,
        unsimulated: Vec::new(),
    }
}

fn acs() -> Step {
    Step {
        id: "acs-clear".into(),
        rules: list(&["acs/redirect-on-p2p-path"]),
        summary: "clear request and completion redirect on one port at every boot".into(),
        why: list(&["0000:17:00.0 redirects requests"]),
        precondition: vec![Condition::NoLockdown],
        trial: vec![],
        change: vec![
            Act::NicFirmware(NicFirmwareAct {
                device: "0000:19:00.0".into(),
                parameter: "ATS_ENABLED".into(),
                before: "True(1)".into(),
                after: "False(0)".into(),
            }),
            Act::Bios(BiosAct { attribute: "AcsControl".into(), before: "Enabled".into(), after: "Disabled".into() }),
            Act::Label(LabelAct {
                node: "gpu-17".into(),
                key: "acs-off".into(),
                before: Some("true".into()),
                after: None,
            }),
            Act::Label(LabelAct {
                node: "gpu-17".into(),
                key: "example.com/acs".into(),
                before: None,
                after: Some("off".into()),
            }),
        ],
        proof: vec![
            Proof::NicFirmware {
                device: "0000:19:00.0".into(),
                parameter: "ATS_ENABLED".into(),
                value: "False(0)".into(),
            },
            Proof::Bios { attribute: "AcsControl".into(), value: "Disabled".into() },
            Proof::Label { node: "gpu-17".into(), key: "acs-off".into(), value: None },
            Proof::Label { node: "gpu-17".into(), key: "example.com/acs".into(), value: Some("off".into()) },
        ],
        risk: Risk::Dangerous,
        risk_note: "removes isolation between the devices below".into(),
        persistence: Permanence::DeviceReset,
        disruption: Disruption::DrainReboot,
        unsimulated: Vec::new(),
    }
}

fn plan() -> Plan {
    Plan {
        schema: SCHEMA.into(),
        hash: String::new(),
        version: "0.1.0".into(),
        node: NodeId {
            host: Some("gpu-17".into()),
            machine: Some("5f0c".into()),
            boot: Some("boot-1".into()),
            ..NodeId::default()
        },
        role: None,
        kubernetes: Some(KubeNode {
            name: "gpu-17".into(),
            uid: "u-1".into(),
            system: None,
            machine: Some("5f0c".into()),
        }),
        source: "gpu-17.tar.zst".into(),
        platform: "Debian 12, GRUB".into(),
        steps: vec![arguments(), mtu(), acs()],
        by_hand: vec![ByHand {
            rules: list(&["iommu/active"]),
            summary: "turn ACS off in the BIOS setup".into(),
            how: list(&["Advanced > PCIe > ACS Enable: Disabled"]),
            reread: list(&["`linerate audit`"]),
        }],
        refused: vec![Refused {
            rules: list(&["acs/redirect-on-p2p-path"]),
            summary: "clear ACS on the root ports".into(),
            reason: "this node runs virtual machines, which ACS keeps apart".into(),
            unless: Some("--role bare-metal, where that is wrong".into()),
        }],
        simulation: None,
    }
    .sealed()
}

fn empty() -> Plan {
    Plan { steps: vec![], by_hand: vec![], refused: vec![], ..plan() }.sealed()
}

/// Every string of a plan replaced by one that attacks.
fn hostile() -> Plan {
    const EVIL: &str = "\u{1b}[2Jevil\u{9b}31m \u{202e}gnp @all <img> |x|\r\n# second ``` `";
    fn poison(v: &mut Value) {
        match v {
            Value::Array(a) => a.iter_mut().for_each(poison),
            Value::Object(o) => {
                for (key, v) in o.iter_mut() {
                    // Words of a fixed list stay: anything else would be no plan.
                    if !["kind", "schema", "risk", "persistence", "disruption", "boot", "before"]
                        .contains(&key.as_str())
                    {
                        poison(v);
                    }
                }
            }
            Value::String(s) => *s = EVIL.to_owned(),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(plan()).unwrap();
    poison(&mut value);
    serde_json::from_value::<Plan>(value).unwrap().sealed()
}

fn snapshot(boot: &str, files: &[(&str, &str)]) -> Snapshot {
    let mut s = Snapshot::new("gpu-17 after");
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    s.manifest.boot_id = boot.into();
    for (path, text) in files {
        s.add_file(path, text.as_bytes()).unwrap();
    }
    s
}

const BEFORE: &[(&str, &str)] =
    &[("proc/cmdline", "ro quiet\n"), ("sys/class/net/eth1/mtu", "1500\n"), ("etc/os-release", "ID=debian\n")];

fn verified() -> Verification {
    let before = snapshot("boot-1", BEFORE);
    let after = snapshot(
        "boot-2",
        &[
            ("proc/cmdline", "ro quiet iommu=pt\n"),
            ("sys/kernel/iommu_groups/45/type", "identity\n"),
            ("sys/class/net/eth1/mtu", "1500\n"),
            ("etc/netplan/90-linerate.yaml", "network:\n  ethernets:\n    eth1:\n      mtu: 9000\n"),
            ("etc/default/grub.d/90-linerate.cfg", "# Written by linerate\n"),
            ("etc/os-release", "ID=ubuntu\n"),
        ],
    );
    let mut v = verify(&plan(), Some(&before), &after);
    // What other rules say of this small node is tested elsewhere.
    v.regressed.clear();
    v
}

fn proven() -> Verification {
    let mut p = plan();
    p.steps.truncate(1);
    let after =
        snapshot("boot-2", &[("proc/cmdline", "ro iommu=pt\n"), ("sys/kernel/iommu_groups/45/type", "identity\n")]);
    verify(&p.sealed(), None, &after)
}

/// The plan, with what a simulation showed.
fn simulated() -> Plan {
    let fail = |severity: &str| State { status: "fail".into(), severity: Some(severity.into()) };
    let pass = || State { status: "pass".into(), severity: None };
    let changed = |subject: &str, before: State, after: State, worse| Changed {
        rule: "iommu/translated-domain".into(),
        subject: subject.into(),
        before,
        after,
        message: "as it would be".into(),
        worse,
    };
    let mut p = plan();
    p.steps[0].unsimulated = list(&["what the kernel sets without pci=noats"]);
    p.simulation = Some(Simulation {
        before: Counts { high: 3, low: 1, unknown: 2, pass: 40, ..Counts::default() },
        after: Counts { low: 1, unknown: 2, pass: 43, ..Counts::default() },
        changed: vec![
            changed("0000:18:00.0", fail("high"), pass(), false),
            changed("0000:1a:00.0", fail("high"), pass(), false),
            changed("0000:1b:00.0", fail("high"), pass(), false),
            changed("node", pass(), fail("info"), false),
        ],
    });
    p.node.redacted = true;
    p.sealed()
}

#[test]
fn verdicts_before_and_after_are_shown() {
    let terminal = text::to_string(&simulated(), show(200));
    let review = md(&simulated());
    for got in [&terminal, &review] {
        for part in [
            "before: 4 findings (3 high, 1 low), 2 unknown, 40 pass; after all steps: 1 finding (1 low), 2 unknown, 43 pass",
            "fail (high) → pass: 0000:18:00.0, 0000:1a:00.0, 1 more",
            "what the kernel sets without pci=noats",
            "redacted snapshot",
        ] {
            assert!(got.replace('\\', "").contains(part), "{part} in\n{got}");
        }
        assert!(!got.contains("fail (info)"), "a note is no finding:\n{got}");
    }
}

fn md(p: &Plan) -> String {
    common::bytes(|out| markdown::render(p, out))
}

fn show(width: usize) -> Style {
    Style { width, ..Style::default() }
}

fn masked(text: &str) -> String {
    let p = plan();
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION").replace(&p.hash, "HASH").replace(&p.hash[..12], "HASH")
}

#[test]
fn a_plan_for_a_terminal() {
    insta::assert_snapshot!(masked(&text::to_string(&plan(), show(100))));
}

#[test]
fn a_plan_for_a_review() {
    insta::assert_snapshot!(masked(&md(&plan())));
}

#[test]
fn what_was_verified_for_a_terminal() {
    insta::assert_snapshot!(text::verified_to_string(&verified(), show(100)));
}

#[test]
fn what_was_verified_for_a_ticket() {
    insta::assert_snapshot!(masked(&common::bytes(|out| markdown::render_verified(&verified(), out))));
}

#[test]
fn first_and_last_lines_say_what_must_not_be_missed() {
    let got = text::to_string(&plan(), show(200));
    assert_eq!(got.lines().next(), Some("PLAN for gpu-17 (Debian 12, GRUB): 3 steps, one reboot"));
    assert_eq!(
        got.lines().last(),
        Some("one reboot for all steps; dangerous, applied only if named: acs-clear; 1 refused; 1 by hand.")
    );
    let got = text::to_string(&empty(), show(200));
    assert!(
        got.starts_with("PLAN for gpu-17 (Debian 12, GRUB): nothing to do\n") && got.ends_with("no reboot.\n"),
        "{got}"
    );
    let first = |v: &Verification| text::verified_to_string(v, show(200)).lines().next().unwrap().to_owned();
    assert_eq!(first(&proven()), "PROVEN: 1 step effective; what else changed is not known (no --before)");
    assert_eq!(first(&verified()), "NOT PROVEN: 1 ineffective, 1 unknown, 1 effective, 1 change outside the plan");
}

/// No line is wider than asked for, except a word that does not fit, and what is read to the letter: diffs and commands.
#[test]
fn lines_fit_the_width() {
    let mut p = plan();
    for s in &mut p.steps {
        s.change.retain(|a| !matches!(a, Act::File(_)));
    }
    for width in [60, 80, 120] {
        for got in [text::to_string(&p, show(width)), text::verified_to_string(&verified(), show(width))] {
            for line in got.lines() {
                let one_word = line.trim().split(' ').count() == 1;
                assert!(line.chars().count() <= width || one_word, "{width}: {line}");
            }
        }
    }
}

#[test]
fn data_never_reaches_the_terminal_raw() {
    let bad = |text: &str| text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
    let after = snapshot("boot-2", &[("proc/cmdline", "\u{1b}[2Jevil \u{202e}x\n")]);
    let v = verify(&hostile(), None, &after);
    for width in [40, 100, 4000] {
        for got in [text::to_string(&hostile(), show(width)), text::verified_to_string(&v, show(width))] {
            assert_eq!(bad(&got), None, "{got}");
            assert!(got.contains("\\u{1b}[2Jevil") && !got.lines().any(|l| l.starts_with("# second")), "{got}");
        }
    }
    for got in [md(&hostile()), common::bytes(|out| markdown::render_verified(&v, out))] {
        assert_eq!(bad(&got), None, "{got}");
        let mut fence: Option<usize> = None;
        for line in got.lines() {
            let ticks = line.bytes().take_while(|b| *b == b'`').count();
            match fence {
                Some(n) if ticks >= n && line.len() == ticks => fence = None,
                None if ticks >= 3 => fence = Some(ticks),
                // What else a line may hold, a parser says: tests/inert.rs.
                None => assert!(!line.starts_with("# second"), "{line}"),
                Some(_) => {}
            }
        }
        assert_eq!(fence, None, "a fence is open: {got}");
    }
}

#[test]
fn plans_match_their_schema() {
    let schema = Schema::of("plan-1");
    let written = |p: &Plan| common::bytes(|out| json::render_plan(p, out));
    for p in [plan(), empty(), hostile(), simulated()] {
        let text = written(&p);
        assert_eq!(Plan::read(text.as_bytes()).unwrap(), p);
        schema.valid(&text);
    }
    let value: Value = serde_json::from_str(&written(&plan())).unwrap();
    schema.rejects(
        &value,
        &[
            ("/schema", "linerate.plan/2".into()),
            ("/steps/0/risk", "huge".into()),
            ("/steps/0/change/0/kind", "shell".into()),
            ("/steps/0/change/0/before", 1.into()),
            ("/steps/0/proof/0/has", "iommu=pt".into()),
            ("/refused/0/unless", 7.into()),
        ],
    );
}

#[test]
fn verifications_match_their_schema() {
    let schema = Schema::of("verify-1");
    let value =
        |v: &Verification| -> Value { serde_json::from_str(&common::bytes(|out| json::render(v, out))).unwrap() };
    let after = snapshot("boot-2", &[]);
    let bare = verify(&hostile(), Some(&snapshot("boot-1", BEFORE)), &after);
    for v in [verified(), proven(), bare, verify(&empty(), None, &after)] {
        let value = value(&v);
        schema.check(&value).unwrap();
        assert_eq!((&value["exit_code"], &value["proven"]), (&v.exit_code().into(), &v.is_proven().into()));
    }
    schema.rejects(
        &value(&verified()),
        &[
            ("/schema", "linerate.verify/2".into()),
            ("/steps/0/outcome", "done".into()),
            ("/steps/0/proofs/0/proof/kind", "hope".into()),
            ("/outside/0/what", "moved".into()),
            ("/rebooted", "yes".into()),
        ],
    );
}
