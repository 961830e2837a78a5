//! `[defaults]` of linerate.toml: what counts, what is refused, and how to be without them.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use std::path::Path;
use std::process::Command;

/// Exit code, standard output, standard error of a command below a directory with this file.
fn said(file: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("linerate.toml"), file).unwrap();
    let below = dir.path().join("deep");
    std::fs::create_dir(&below).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(args)
        .current_dir(&below)
        .env("HOME", dir.path())
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

fn example() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sick-8gpu.tar.zst");
    path.to_str().unwrap().to_owned()
}

#[test]
fn options_that_are_not_given_are_those_of_the_file() {
    let (audit, always) = (example(), "[defaults]\ncolor = \"always\"\n");
    assert!(said(always, &["audit", &audit]).1.contains('\u{1b}'));
    assert!(!said(always, &["audit", &audit, "--color", "never"]).1.contains('\u{1b}'));
    assert!(!said(always, &["audit", &audit, "--no-config"]).1.contains('\u{1b}'));
    let of_one = "[defaults.audit]\nformat = \"json\"\nverbose = true\n";
    assert!(said(of_one, &["audit", &audit]).1.starts_with('{'));
    assert!(!said(of_one, &["topo", &audit]).1.starts_with('{'));
    // What belongs to --on asks for nothing where there is no --on.
    let (code, _, err) = said(
        "[defaults]\nfanout = 8\nnode-limit = \"90s\"\nleave-nothing = true\ncollector = \"script\"\n",
        &["audit", &audit],
    );
    assert_eq!(code, Some(1), "{err}");
    assert!(said(always, &["audit", "-h"]).1.contains("[default: always]"));
}

#[test]
fn what_a_file_may_not_say_is_an_error_with_its_name() {
    let audit = example();
    for (file, part) in [
        ("[defaults]\ncolour = \"never\"\n", "colour"),
        ("[defaults]\nyes = true\n", "yes"),
        ("[defaults.apply]\nyes = true\n", "apply.yes"),
        ("[defaults.plan]\nformat = \"shell\"\n", "plan.format"),
        ("[defaults.audit]\nnccl = \"2.21\"\n", "audit.nccl"),
        ("[defaults.audits]\ncolor = \"never\"\n", "audits"),
        ("[defaults]\ncolor = \"sometimes\"\n", "sometimes"),
        ("[defaults]\ncolor = true\n", "color"),
        ("[defaults]\nfanout = 1000\n", "1000"),
        ("[defaults]\nsudo = \"yes\"\n", "sudo"),
    ] {
        let (code, out, err) = said(file, &["audit", &audit]);
        assert_eq!((code, out.as_str()), (Some(3), ""), "{file}: {err}");
        assert!(err.contains("linerate.toml") && err.contains(part), "{file}: {err}");
    }
}
