//! Help fits on a screen of 50 lines and 80 columns (`-h`), or on two (`--help`), and says where the rest is.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::Command;

const SCREEN: usize = 50;

fn help(of: &[String], flag: &str) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_linerate")).args(of).arg(flag).env("COLUMNS", "80").output().unwrap();
    assert!(out.status.success(), "{of:?} {flag}");
    String::from_utf8(out.stdout).unwrap()
}

/// The commands that a help lists.
fn below(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| l.starts_with("  "));
    let names = listed.filter(|l| !l.starts_with("   ")).filter_map(|l| l.split_whitespace().next());
    names.map(str::to_owned).collect()
}

fn all() -> Vec<Vec<String>> {
    let (mut found, mut at) = (vec![Vec::new()], 0);
    while let Some(of) = found.get(at).cloned() {
        for name in below(&help(&of, "-h")) {
            found.push(of.iter().cloned().chain([name]).collect());
        }
        at += 1;
    }
    found
}

#[test]
fn help_fits_on_screens() {
    let all = all();
    assert!(all.len() > 40, "{} commands", all.len());
    for of in all {
        for (flag, screens) in [("-h", 1), ("--help", 2)] {
            let text = help(&of, flag);
            let lines = text.lines().count();
            assert!(lines <= screens * SCREEN, "{of:?} {flag}: {lines} lines");
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{of:?} {flag}: {line}");
            }
        }
    }
}

#[test]
fn the_short_one_names_the_long_one_which_has_examples() {
    let (short, long) = (help(&["audit".to_owned()], "-h"), help(&["audit".to_owned()], "--help"));
    assert!(short.contains("linerate audit --help:"), "{short}");
    assert!(short.contains("--on ") && !short.contains("--fanout"), "{short}");
    assert!(long.contains("Examples:") && long.contains("--fanout"), "{long}");
    let asked =
        Command::new(env!("CARGO_BIN_EXE_linerate")).args(["help", "audit"]).env("COLUMNS", "80").output().unwrap();
    assert_eq!(String::from_utf8(asked.stdout).unwrap(), long);
}

/// What help leaves out is in docs/verbs and in the man pages.
#[test]
fn pages_have_every_option() {
    let dir = tempfile::tempdir().unwrap();
    let out =
        Command::new(env!("CARGO_BIN_EXE_linerate")).args(["man", "--markdown"]).arg(dir.path()).output().unwrap();
    assert!(out.status.success());
    let page = std::fs::read_to_string(dir.path().join("plan.md")).unwrap();
    for option in ["--fanout", "--redfish-netrc", "--kube-context", "--suppressions", "--host-of", "--pool "] {
        assert!(page.contains(option), "{option}");
    }
}

/// Shells offer what there is to be typed.
#[test]
fn completions_have_no_hidden_command() {
    for shell in ["bash", "zsh", "fish"] {
        let out = Command::new(env!("CARGO_BIN_EXE_linerate")).args(["completions", shell]).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.contains("audit") && text.contains("fail-on"), "{shell}");
        assert!(!text.contains("__hand") && !text.contains("What apply asks"), "{shell}");
    }
}

fn audit(args: &[&str]) -> (Option<i32>, String) {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sick-8gpu.tar.zst");
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["audit", example])
        .args(args)
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    (out.status.code(), String::from_utf8(out.stdout).unwrap())
}

#[test]
fn brief_is_the_verdict_and_the_list() {
    let ((code, brief), (_, whole)) = (audit(&["--brief"]), audit(&[]));
    assert_eq!(code, Some(1));
    assert!(whole.starts_with(&brief) && brief.lines().count() < 50 && brief.contains("pcie/nic-fits-port"), "{brief}");
    let (_, one) = audit(&["--brief", "--rule", "pcie/link-width"]);
    assert!(one.contains(" HIGH     pcie/link-width: 0000:3d:00.0"), "{one}");
}

/// `--root` is the root of a system, not something above one.
#[test]
fn root_is_a_root() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("deep/sys/bus")).unwrap();
    let of = |root: &std::path::Path| {
        let own = ["audit", "--root", root.to_str().unwrap()];
        Command::new(env!("CARGO_BIN_EXE_linerate")).args(own).output().unwrap().status.code()
    };
    assert_eq!(of(dir.path()), Some(3));
    assert_eq!(of(&dir.path().join("deep")), Some(2));
}
