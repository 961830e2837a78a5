//! `linerate fleet index` and `linerate where` as they are called.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::schema;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn linerate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A fleet of three nodes; the third has an older, healthy snapshot, too.
fn fleet(name: &str) -> String {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("located").join(name);
    let _ = std::fs::remove_dir_all(&dir);
    for (at, from) in [("n1/1", "healthy"), ("n2/1", "healthy"), ("n3/2", "sick")] {
        let to = dir.join(format!("{at}.tar.zst"));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(examples().join(format!("{from}-8gpu.tar.zst")), to).unwrap();
    }
    dir.to_str().unwrap().to_owned()
}

#[test]
fn from_snapshots_to_names() {
    let dir = fleet("names");
    let ask = |arguments: &[&str]| linerate(&[&["where"], arguments].concat());
    assert_eq!(ask(&["acs/redirect-on-p2p-path", &dir]).status.code(), Some(3), "there is no index yet");
    let made = linerate(&["fleet", "index", &dir]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert!(text(&made.stderr).contains("3 snapshots"), "{}", text(&made.stderr));

    let cases: &[(&[&str], &str, i32)] = &[
        (&["acs/redirect-on-p2p-path"], "n3", 0),
        (&["acs/redirect-on-p2p-path=pass"], "n[1-2]", 0),
        (&["kernel.release~*"], "n[1-3]", 0),
        (&["kernel.release=0.1"], "", 1),
        (&["kernel.release~*", "--and", "acs/redirect-on-p2p-path"], "n3", 0),
        (&["kernel.release~*", "--subject", "node"], "n[1-3]", 0),
        (&["kernel.release~*", "--subject", "GPU 0"], "", 2),
        (&["kernel.release~*", "--at", "1971-01-01"], "", 1),
    ];
    for (arguments, set, code) in cases {
        let done = ask(&[&[arguments[0], &dir], &arguments[1..]].concat());
        assert_eq!((text(&done.stdout).trim(), done.status.code()), (*set, Some(*code)), "{arguments:?}");
    }
    let lines = ask(&["kernel.release~*", &dir, "--format", "lines"]);
    assert_eq!(text(&lines.stdout), "n1\nn2\nn3\n");
    let json = ask(&["acs/redirect-on-p2p-path", &dir, "--format", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&value["set"], &value["no"]), (&"n3".into(), &2.into()));
    assert_eq!(value["shown"][0]["nodes"], "n3");

    // What the index does not have is said.
    std::fs::copy(examples().join("sick-8gpu.tar.zst"), Path::new(&dir).join("n4.tar.zst")).unwrap();
    let old = ask(&["acs/redirect-on-p2p-path", &dir]);
    assert!(text(&old.stderr).contains("out of date"), "{}", text(&old.stderr));
    assert_eq!(linerate(&["fleet", "index", &dir]).status.code(), Some(0));
    let new = ask(&["acs/redirect-on-p2p-path", &dir]);
    assert_eq!((text(&new.stdout).trim(), text(&new.stderr)), ("n[3-4]", ""));

    // The file alone is as good.
    let alone = Path::new(&dir).join("index.parquet");
    let alone = ask(&["acs/redirect-on-p2p-path", alone.to_str().unwrap()]);
    assert_eq!(text(&alone.stdout).trim(), "n[3-4]");
}

#[test]
fn what_is_wrong_is_said() {
    let dir = fleet("wrong");
    let broken = Path::new(&dir).join("n9.tar.zst");
    std::fs::write(&broken, "no archive").unwrap();
    assert_eq!(linerate(&["fleet", "index", &dir]).status.code(), Some(2));
    let done = linerate(&["where", "kernel.release=0.1", &dir]);
    assert_eq!(done.status.code(), Some(2), "what could not be read never passes for a no");
    assert!(text(&done.stderr).contains("n9"), "{}", text(&done.stderr));
    for (asked, words) in [
        ("kernel.releas=6", "did you mean `kernel.release`"),
        ("acs/redirect-on-p2p-path=bad", "fail, pass"),
        ("pci.bdf=8", "pci.bdf"),
    ] {
        let done = linerate(&["where", asked, &dir]);
        assert_eq!(done.status.code(), Some(3));
        assert!(text(&done.stderr).contains(words), "{}", text(&done.stderr));
    }
    std::fs::write(Path::new(&dir).join("index.parquet"), "no Parquet").unwrap();
    let done = linerate(&["where", "kernel.release", &dir]);
    assert_eq!(done.status.code(), Some(3));
    assert!(text(&done.stderr).contains("--rebuild"), "{}", text(&done.stderr));
    let done = linerate(&["fleet", "index", &dir]);
    assert!(text(&done.stderr).contains("read again"), "{}", text(&done.stderr));
}

/// `collect --on` ends with an index that has what it collected.
#[test]
fn collect_appends_to_the_index() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("located/appended");
    let _ = std::fs::remove_dir_all(&dir);
    let dir = dir.to_str().unwrap();
    let collect = |more: &[&str]| {
        let out = linerate(&[&["collect", "--on", "local", "-o", dir], more].concat());
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        // Names of files are times of a second.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        text(&out.stderr).to_owned()
    };
    let held = || {
        let out = linerate(&["where", "kernel.release~*", dir, "--all-times", "--format", "json"]);
        let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        (json["nodes"].as_array().unwrap().len(), text(&out.stderr).contains("the index is out of date"))
    };
    assert!(collect(&[]).contains("1 snapshots in the index: 1 read now"));
    assert_eq!(held(), (1, false));
    assert!(!collect(&["--no-index"]).contains("index"));
    assert_eq!(held(), (1, true));
    assert!(!collect(&["--quiet"]).contains("index"), "nothing to say where nobody listens");
    assert_eq!(held(), (3, false));

    // An index that cannot be written is said, and the snapshot is there.
    let index = Path::new(dir).join("index.parquet");
    std::fs::remove_file(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    let out = linerate(&["collect", "--on", "local", "-o", dir]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("the index was not written"), "{}", text(&out.stderr));
    assert_eq!(std::fs::read_dir(Path::new(dir).join("local")).unwrap().count(), 4);
}

/// `drift` of a fleet's directory: with a node that is right by definition, and beside its own past.
#[test]
fn a_fleet_beside_a_reference_and_beside_its_past() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("located").join("past");
    let _ = std::fs::remove_dir_all(&dir);
    for (at, from) in [
        ("n1/20261101T000000Z", "healthy"),
        ("n1/20261120T000000Z", "healthy"),
        // It became sick.
        ("n2/20261101T000000Z", "healthy"),
        ("n2/20261120T000000Z", "sick"),
        ("n3/20261120T000000Z", "sick"),
        // Nobody looked since.
        ("n4/20261101T000000Z", "healthy"),
    ] {
        let to = dir.join(format!("{at}.tar.zst"));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(examples().join(format!("{from}-8gpu.tar.zst")), to).unwrap();
    }
    let dir = dir.to_str().unwrap();
    let drift = |schema: &str, more: &[&str]| {
        let out = linerate(&[&["drift", dir, "--format", "json"], more].concat());
        let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        schema::Schema::of(schema).check(&json).unwrap();
        (json, out.status.code())
    };
    let since = |time: &str| drift("drift-since-1", &["--since", time]);
    let (json, code) = since("2026-11-10");
    assert_eq!((code, &json["count"], &json["same"]), (Some(1), &2.into(), &1.into()), "{json}");
    assert_eq!(json["new"], "n3", "{json}");
    let old = serde_json::json!([{"source": "n4", "why": "it has no snapshot since then"}]);
    assert_eq!(json["unreadable"], old);
    let changes = json["changes"].as_array().unwrap();
    assert!(changes.iter().all(|c| c["nodes"] == "n2" && c["before"] != c["now"]), "{changes:?}");
    let fails = |c: &serde_json::Value| c["fails"].as_array().unwrap().contains(&"acs/redirect-on-p2p-path".into());
    assert!(changes.iter().any(fails), "{changes:?}");
    // The worst comes first.
    assert_eq!(changes[0]["severity"], "high", "{}", changes[0]);
    // Before all of them; since the newest; a time that is none; no fleet's directory.
    let (json, code) = since("2026-10-01");
    assert_eq!((code, &json["count"], &json["new"]), (Some(2), &0.into(), &"n[1-4]".into()), "{json}");
    let (json, code) = since("2026-11-25");
    assert_eq!(
        (code, &json["count"], json["unreadable"].as_array().map(Vec::len)),
        (Some(2), &0.into(), Some(4)),
        "{json}"
    );
    assert_eq!(linerate(&["drift", dir, "--since", "yesterday-ish"]).status.code(), Some(3));
    assert_eq!(linerate(&["drift", dir, "--since", "2026-11-10", "--reference", "n1"]).status.code(), Some(3));
    let out = linerate(&["drift", examples().to_str().unwrap(), "--since", "2026-11-10"]);
    assert!(out.status.code() == Some(3) && text(&out.stderr).contains("NODE/TIME.tar.zst"), "{}", text(&out.stderr));
    let out = linerate(&["drift", dir, "--since", "2026-11-10"]);
    for words in ["no earlier snapshot to compare with: n3", "n4", "it has no snapshot since then"] {
        assert!(text(&out.stdout).contains(words), "{words}: {}", text(&out.stdout));
    }

    // Two and two: no majority. With a reference its value is the norm, and the others are the outliers; by the index as by the snapshots.
    for indexed in [false, true] {
        if indexed {
            assert_eq!(linerate(&["fleet", "index", dir]).status.code(), Some(0));
        }
        let first = |reference: &str, alike: &str| {
            let (json, code) = drift("drift-1", &["--reference", reference]);
            let facts = json["classes"][0]["facts"].as_array().unwrap().clone();
            assert!(code == Some(1) && !facts.is_empty(), "{json}");
            for fact in &facts {
                assert_eq!((&fact["has_norm"], &fact["values"][0]["nodes"]), (&true.into(), &alike.into()), "{fact}");
            }
            facts.iter().map(|f| f["values"][0]["value"].clone()).collect::<Vec<_>>()
        };
        let (healthy, sick) = (first("n1", "n[1,4]"), first("n3", "n[2-3]"));
        assert!(healthy.len() == sick.len() && healthy != sick, "{indexed}");
    }
    let out = linerate(&["drift", dir, "--reference", "n9"]);
    assert!(
        out.status.code() == Some(3) && text(&out.stderr).contains("no node has the name n9"),
        "{}",
        text(&out.stderr)
    );
}

/// `drift --since` from the index is what it is from the snapshots, to the byte.
#[test]
fn what_changed_since_is_the_same_from_the_index() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("located").join("since");
    let _ = std::fs::remove_dir_all(&dir);
    for (at, from) in [
        ("n1/20261101T000000Z", Some("healthy")),
        ("n1/20261120T000000Z", Some("healthy")),
        ("n2/20261101T000000Z", Some("healthy")),
        ("n2/20261110T000000Z", Some("sick")),
        ("n2/20261120T000000Z", Some("sick")),
        ("n3/20261101T000000Z", Some("sick")),
        ("n3/20261120T000000Z", Some("healthy")),
        ("n4/20261120T000000Z", Some("sick")),
        ("n5/20261101T000000Z", Some("healthy")),
        ("n6/20261101T000000Z", Some("healthy")),
        ("n6/20261120T000000Z", None),
        ("n7/20261101T000000Z", None),
        ("n7/20261120T000000Z", Some("sick")),
        // By hand: of no time.
        ("n7/copy", Some("sick")),
    ] {
        let to = dir.join(format!("{at}.tar.zst"));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        match from {
            Some(from) => drop(std::fs::copy(examples().join(format!("{from}-8gpu.tar.zst")), to).unwrap()),
            None => std::fs::write(to, "no archive").unwrap(),
        }
    }
    // A tree, whose names are the same each time.
    for (time, mtu, uuid) in [("20261101T000000Z", "1500", "1"), ("20261120T000000Z", "9000", "1")] {
        let file = |path: &str, text: &str| {
            let path = dir.join("n8").join(time).join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file("sys/class/net/eth0/mtu", &format!("{mtu}\n"));
        file("sys/class/dmi/id/product_uuid", &format!("4c4c4544-0000-0000-0000-{uuid:0>12}\n"));
        file("proc/cmdline", "quiet\n");
    }
    let dir = dir.to_str().unwrap();
    let all = || {
        let mut out = Vec::new();
        for time in ["2026-11-05", "2026-11-15", "2026-10-01", "2026-11-25"] {
            for format in ["text", "json", "markdown"] {
                for nodes in [&[][..], &["--nodes", "n[2,6]"]] {
                    let args = ["drift", dir, "--since", time, "--format", format, "--color", "never"];
                    let done = linerate(&[&args[..], nodes].concat());
                    out.push((time, format, done.status.code(), text(&done.stdout).to_owned()));
                }
            }
        }
        out
    };
    let by_snapshots = all();
    let said = &by_snapshots[0].3;
    for words in ["n2", "n3", "n4", "n5", "n[6-7]", "9000"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(linerate(&["fleet", "index", dir]).status.code(), Some(2));
    for (a, b) in by_snapshots.iter().zip(all()) {
        assert_eq!(*a, b);
    }
    // A copy of the index alone.
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("located").join("since.parquet");
    std::fs::copy(Path::new(dir).join("index.parquet"), &copy).unwrap();
    let of = |at: &str| linerate(&["drift", at, "--since", "2026-11-05", "--format", "json"]).stdout;
    assert_eq!(of(copy.to_str().unwrap()), of(dir));
}
