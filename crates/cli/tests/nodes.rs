//! `linerate nodes` as a person calls it.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::command;
use crate::schema;

use std::cell::RefCell;
use std::path::Path;

fn run(home: &Path, arguments: &[&str]) -> (i32, String) {
    command::run(home, &[&["nodes"], arguments].concat(), &[], &[], &RefCell::new(String::new()))
}

#[test]
fn names_groups_and_refusals() {
    let home = tempfile();
    let config = home.join("site.toml");
    std::fs::write(&config, "nodes = \"gpu[001-004],local\"\n[groups]\nrack1 = \"gpu[001-002]\"\n").unwrap();
    let config = config.to_str().unwrap();
    let of = |more: &[&str]| run(&home, &[&["--inventory", config], more].concat());
    assert_eq!(of(&["--format", "set"]), (0, "gpu[001-004],local".to_owned()));
    assert_eq!(of(&["gpu*!@rack1", "--format", "set"]), (0, "gpu[003-004]".to_owned()));
    assert_eq!(of(&["root@new[1-2]:22", "--format", "set"]), (0, "root@new[1-2]:22".to_owned()));
    for (set, part) in [("gpu[", "brackets"), ("@none", "no such group"), ("gpu1!gpu1", "names no node")] {
        let (code, said) = of(&[set]);
        assert!(code == 3 && said.contains(part) && said.contains("hint:"), "{said}");
    }
    let (code, json) = of(&["local", "--reach", "--format", "json"]);
    let value = schema::Schema::of("nodes-1").valid(&json);
    assert_eq!((code, &value["reached"], &value["nodes"][0]["answer"]["reached"]), (0, &"local".into(), &true.into()));
    let (code, json) = of(&["local,127.0.0.1:1", "--reach", "--format", "json"]);
    assert_eq!(code, 1, "{json}");
    // A source that was named has to be there; nothing at all is an empty list.
    assert_eq!(run(&home, &["--inventory", "nothing.txt"]).0, 3);
    assert_eq!(run(&home, &["--inventory", "/dev/null", "--format", "set"]), (0, String::new()));
    // Two sources that disagree.
    for (file, address) in [("a.txt", "10.0.0.1"), ("b.txt", "10.0.0.2")] {
        std::fs::write(home.join(file), format!("{address} n1\n")).unwrap();
    }
    let both: Vec<String> = ["a.txt", "b.txt"].iter().map(|f| home.join(f).display().to_string()).collect();
    let (code, said) = run(&home, &["--inventory", &both[0], "--inventory", &both[1]]);
    assert!(code == 2 && said.contains("10.0.0.1") && said.contains("10.0.0.2"), "{said}");
    let _ = std::fs::remove_dir_all(&home);
}

fn tempfile() -> std::path::PathBuf {
    let dir = std::env::temp_dir().join(format!("linerate-nodes-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}
