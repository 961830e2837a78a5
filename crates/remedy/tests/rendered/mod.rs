//! What a change holds.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use linerate_remedy::change::{Change, Refusal};
use linerate_remedy::{Act, Content, FileAct, RunAct};
use std::process::Command;

pub(crate) fn one(found: Vec<Result<Change, Refusal>>) -> Change {
    match found.as_slice() {
        [Ok(r)] => r.clone(),
        other => panic!("{other:?}"),
    }
}

/// Path and content of the files.
pub(crate) fn files(r: &Change) -> Vec<(&str, &str)> {
    let file = |a| match a {
        &Act::File(FileAct { ref path, after: Some(Content(ref text)), .. }) => Some((path.as_str(), text.as_str())),
        _ => None,
    };
    r.acts.iter().filter_map(file).collect()
}

pub(crate) fn commands(r: &Change) -> Vec<(String, String)> {
    let run = |a: &Act| match a {
        Act::Run(RunAct { argv, undo, .. }) => Some((argv.join(" "), undo.join(" "))),
        _ => None,
    };
    r.acts.iter().filter_map(run).collect()
}

pub(crate) fn pair(a: &str, b: &str) -> (String, String) {
    (a.into(), b.into())
}

/// What systemd's own checker says of a unit of ours, where it is installed.
pub(crate) fn systemd_takes(path: &str, text: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    let unit = dir.path().join(path.rsplit('/').next().expect("a name"));
    std::fs::write(&unit, text).expect("writable");
    match Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit).output() {
        Ok(out) => {
            let said = String::from_utf8_lossy(&out.stderr);
            let ours = said.lines().filter(|l| l.contains("linerate-") && !l.contains("is not executable"));
            assert_eq!(ours.collect::<Vec<_>>(), Vec::<&str>::new(), "{text}");
        }
        Err(_) => println!("SKIPPED: systemd-analyze is not installed"),
    }
}
