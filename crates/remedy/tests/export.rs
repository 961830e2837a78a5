//! Exports: golden files (`LINERATE_BLESS=1` writes them), what readers of the forms say, hostile plans.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

use crate::common;

use common::{all, bare, documents, file, nics, plan, step, tool};
use linerate_remedy::export::{self, TalosBoot};
use linerate_remedy::*;
use proptest::prelude::*;
use std::process::Command;

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
        let left = |step: &str| made.left_out.iter().filter(|l| l.step.as_deref() == Some(step)).count();
        assert_eq!((left("bios"), left("labels")), (1, 2), "{name}: no form sets BIOS attributes, or labels");
    }
    assert!(export::machineconfig(&plan(), "gpu-worker", &["worker".into()]).is_err(), "nobody would apply it");
    assert!(export::machineconfig(&plan(), "worker", &[]).is_err());
    let none = export::nicconfig(&plan(), &[]);
    assert!(!none.text.contains("rawNvConfig") && none.left_out.iter().any(|l| l.what.contains("ATS_ENABLED")));
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

#[test]
fn firmware_is_set_by_the_program_that_the_node_has() {
    let mut p = plan();
    assert!(export::shell(&p).text.contains("mstconfig -y -d 0000:81:00.0"));
    for step in p.steps.iter_mut().filter(|s| s.id.starts_with("nicfw")) {
        step.precondition.push(Condition::Program { name: "mlxconfig".into(), package: "MFT".into() });
    }
    for text in [export::shell(&p).text, export::ansible(&p).text] {
        assert!(text.contains("mlxconfig") && !text.contains("mstconfig"), "{text}");
    }
}

#[test]
fn the_script_is_clean() {
    let text = export::shell(&plan()).text;
    if let Some((good, said)) = tool("shellcheck", &["-s", "sh", "-"], &text) {
        assert!(good, "{said}\n{text}");
    }
}

/// Every way in which a word or a file's text is written: quotes, options, what a `printf` makes again.
#[test]
fn scripts_of_hostile_words_are_clean() {
    let words = [
        "plain",
        "",
        " ",
        "-n",
        "--",
        "a=b",
        "if",
        "%s%n",
        "\\",
        "\\n",
        "'",
        "''",
        "\"",
        "$(id)",
        "`id`",
        "$HOME",
        "*",
        "~",
        "#",
        "!",
        "a\tb",
        "a\nb",
        "\n",
        "x\n\n",
        "\u{1b}[2J",
        "\u{1b}7",
        "\u{7}1",
        "\u{202e}'\u{202e}",
        "\u{9b}'\\%",
        "é\u{200b}ü",
        "EOF",
        "LINERATE",
    ];
    let mut texts = Vec::new();
    for word in words {
        let text = |w: &str| w.to_owned();
        let argv = vec!["mark".to_owned(), text(word), text(word)];
        let run =
            Act::Run(RunAct { argv, writes: vec!["/etc/x".into()], undo: vec!["true".into(), text(word)], limit: 9 });
        let path = format!("/etc/{}.conf", word.replace('/', "_"));
        let acts = vec![file(&path, word, 0o600), run];
        let mut s =
            step("x", Disruption::None, acts, vec![Proof::Cmdline { has: vec![text(word)], lacks: vec![text(word)] }]);
        (s.summary, s.why) = (text(word), vec![text(word)]);
        texts.push((word, export::shell(&bare(vec![s])).text));
    }
    // Notes below a warning are about intent: that `$HOME` in single quotes stays as it is, is what is wanted.
    let mut bad = String::new();
    for (word, text) in &texts {
        let Some((good, said)) = tool("shellcheck", &["-s", "sh", "-S", "warning", "-"], text) else { return };
        if !good {
            bad.push_str(&format!("{word:?}: {said}\n"));
        }
    }
    assert!(bad.is_empty(), "{bad}");
}

/// Words that drive a terminal or reorder a line are seen by who reads the script, and are the same words for the shell.
#[test]
fn the_script_hides_nothing_from_its_reader() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = format!("{}/\u{202e}file", dir.path().display());
    let word = "\u{1b}[8m\u{202e}\u{9b}2J\u{200b}; touch evil";
    let run = Act::Run(RunAct {
        argv: vec!["printf".into(), word.into()],
        writes: vec![],
        undo: vec![word.into()],
        limit: 9,
    });
    let mut s = step("x", Disruption::None, vec![file(&path, word, 0o600), run], Vec::new());
    (s.summary, s.why) = (word.into(), vec![word.into()]);
    let made = export::shell(&bare(vec![s]));
    let seen = |c: char| !linerate_out::hidden(c) || matches!(c, '\n' | '\t');
    assert!(made.text.chars().all(seen), "{:?}", made.text);
    let (good, said) = play(dir.path(), &made.text);
    assert!(good, "{said}\n{}", made.text);
    assert_eq!(std::fs::read(&path).expect("written"), word.as_bytes());
    assert!(!dir.path().join("evil").exists());
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
                    Act::File(FileAct { after: Some(Content(text)), .. }) => *text = format!("{b}\n{text}{a}"),
                    Act::Run(RunAct { argv, writes, .. }) => {
                        argv.extend(words.clone());
                        writes.push(c.clone());
                    }
                    Act::Value(ValueAct { path, before, after }) => (*path, *before, *after) = (format!("/sys/{a}"), b.clone(), c.clone()),
                    Act::NicFirmware(NicFirmwareAct { device, parameter, after, .. }) => (*device, *parameter, *after) = (a.clone(), b.clone(), c.clone()),
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
