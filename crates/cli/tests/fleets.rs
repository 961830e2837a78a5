//! A fleet from its index as from its snapshots: who is who (copied images, renamed, installed anew, named twice, clocks that run ahead), references, lists.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::command;

use linerate_snapshot::capture::{Options, Purpose, capture};
use serde_json::Value;
use std::cell::RefCell;
use std::path::PathBuf;

/// A node as a snapshot has it.
#[derive(Clone, Copy)]
struct Taken<'a> {
    /// Its file below the fleet's directory.
    file: &'a str,
    /// Its machine id, and its SMBIOS UUID, where they can be read.
    ids: [Option<&'a str>; 2],
    /// Its own clock.
    clock: u64,
    /// A condition that is wished for holds.
    is_right: bool,
    /// The hardware address of its only NIC, where it is shown.
    mac: Option<&'a str>,
}

const NOON: u64 = 1_767_268_800; // 2026-01-01T12:00:00Z

/// Both ids are known.
fn whole<'a>(file: &'a str, machine: &'a str, system: &'a str, is_right: bool) -> Taken<'a> {
    Taken { file, ids: [Some(machine), Some(system)], clock: NOON, is_right, mac: None }
}

struct Fleet {
    home: tempfile::TempDir,
    dir: PathBuf,
}

impl Fleet {
    fn of(all: &[Taken<'_>]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("fleet");
        let fleet = Fleet { home, dir };
        all.iter().for_each(|t| fleet.put(*t));
        fleet
    }

    fn put(&self, taken: Taken<'_>) {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/cmdline", if taken.is_right { "quiet iommu=pt\n" } else { "quiet\n" });
        write("proc/version", "Linux version 6.8.0\n");
        // Files of ids have one form: 32 digits, and a UUID.
        if let Some(id) = taken.ids[0] {
            write("etc/machine-id", &format!("{id:0>32}\n"));
        }
        if let Some(id) = taken.ids[1] {
            write("sys/class/dmi/id/product_uuid", &format!("4c4c4544-0000-0000-0000-{id:0>12}\n"));
        }
        if let Some(mac) = taken.mac {
            let device = "sys/devices/pci0000:18/0000:18:00.0/net/eth0";
            write(&format!("{device}/address"), &format!("{mac}\n"));
            std::fs::create_dir_all(root.path().join("sys/class/net")).unwrap();
            std::os::unix::fs::symlink(format!("../../../{device}"), root.path().join("sys/class/net/eth0")).unwrap();
        }
        let options = Options { redact: false, commands: false, ..Options::new(root.path(), Purpose::Collect) };
        let mut snapshot = capture(&options, &|_| {}).unwrap();
        snapshot.manifest.time = taken.clock;
        let to = self.dir.join(taken.file);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        snapshot.save(&to).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let arguments: Vec<String> =
            arguments.iter().map(|a| a.replace("FLEET", &self.dir.display().to_string())).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        command::run(self.home.path(), &arguments, &[], &[], &RefCell::new(String::new()))
    }

    /// `linerate drift`: nodes, the nodes of the value `absent` or not listed of the argument, and remarks.
    fn drift(&self) -> (u64, Vec<String>) {
        let (_, out) = self.run(&["drift", "FLEET", "--format", "json"]);
        let json: Value = serde_json::from_str(between(&out)).unwrap();
        let remarks = json["remarks"].as_array().unwrap().iter().map(|r| r.as_str().unwrap().to_owned()).collect();
        (json["count"].as_u64().unwrap(), remarks)
    }

    /// The same from the snapshots and from the index.
    fn both(&self) -> (u64, Vec<String>) {
        let _ = std::fs::remove_file(self.dir.join("index.parquet"));
        let from_snapshots = self.drift();
        self.index();
        assert_eq!(self.drift(), from_snapshots);
        from_snapshots
    }

    fn index(&self) {
        assert_eq!(self.run(&["fleet", "index", "FLEET"]).0, 0);
    }

    /// Nodes that fulfil a condition.
    fn set(&self, condition: &str) -> String {
        let (_, out) = self.run(&["where", condition, "FLEET", "--format", "json"]);
        let json: Value = serde_json::from_str(between(&out)).unwrap();
        json["set"].as_str().unwrap().to_owned()
    }
}

fn between(text: &str) -> &str {
    text.get(text.find('{').unwrap()..=text.rfind('}').unwrap()).unwrap()
}

#[test]
fn half_an_identity_tells_no_nodes_apart() {
    // One image on four nodes, whose UUID only root can read; and boards of one maker's UUID, without a machine id.
    for known in [[Some("1"), None], [None, Some("2")], [None, None]] {
        let names = ["n1", "n2", "n3", "n4"].map(|n| format!("{n}/20260101T120000Z.tar.zst"));
        let taken = |(at, file): (usize, &'_ String)| -> (String, bool) { (file.clone(), at > 1) };
        let all: Vec<(String, bool)> = names.iter().enumerate().map(taken).collect();
        let all: Vec<Taken<'_>> =
            all.iter().map(|(file, is_right)| Taken { ids: known, ..whole(file, "", "", *is_right) }).collect();
        let fleet = Fleet::of(&all);
        assert_eq!(fleet.both().0, 4, "{known:?}");
        assert_eq!(fleet.set("kernel.release~*"), "n[1-4]", "{known:?}");
        assert_eq!(fleet.set("kernel.cmdline!=iommu=pt"), "n[1-2]", "{known:?}");
        assert_eq!(fleet.set("kernel.cmdline=iommu=pt"), "n[3-4]", "{known:?}");
    }
}

/// A renamed node, a node with two names, one that was installed anew, a copied image, and a name that another machine has now.
#[test]
fn who_is_who_is_the_same_from_the_index_and_from_snapshots() {
    let (old, new) = ("20260101T120000Z.tar.zst", "20260102T120000Z.tar.zst");
    let at = |node: &str, time: &str| format!("{node}/{time}");
    let files = [
        at("renamed-a", old),
        at("renamed-b", new),
        at("twice-a", new),
        at("twice-b", new),
        at("anew", old),
        at("anew", new),
        at("copy-a", new),
        at("copy-b", new),
        at("swapped", old),
        at("swapped", new),
        at("half", old),
        at("half", new),
    ];
    let [ra, rb, ta, tb, a1, a2, ca, cb, s1, s2, h1, h2] = files.each_ref().map(String::as_str);
    let fleet = Fleet::of(&[
        whole(ra, "1", "1", false),
        whole(rb, "1", "1", true),
        whole(ta, "2", "2", true),
        whole(tb, "2", "2", true),
        whole(a1, "3", "3", false),
        whole(a2, "4", "3", true),
        whole(ca, "5", "5", true),
        whole(cb, "5", "6", true),
        whole(s1, "7", "7", false),
        whole(s2, "8", "8", true),
        Taken { ids: [Some("9"), None], ..whole(h1, "", "", false) },
        Taken { ids: [Some("a"), None], ..whole(h2, "", "", true) },
    ]);
    let (count, remarks) = fleet.both();
    assert_eq!(count, 7, "renamed, twice, anew, two copies, swapped, half");
    let expected = [
        "one node was renamed: renamed-a, renamed-b",
        "one node has several names: twice-a, twice-b",
        "machines with different boards have the same machine id",
        "one board had several system installations, one after the other: anew",
        "2 different machines have the name swapped",
    ];
    assert!(remarks.len() == expected.len() && expected.iter().all(|e| remarks.iter().any(|r| r.starts_with(e))));
    // All were mended: nobody is found by an older snapshot.
    assert_eq!(fleet.set("kernel.cmdline!=iommu=pt"), "");
    let (_, out) = fleet.run(&["where", "kernel.cmdline=iommu=pt", "FLEET"]);
    for e in expected {
        assert!(out.contains(e), "standard error of the set: {out}");
    }
    for format in ["text", "markdown", "json", "sarif"] {
        let (_, out) = fleet.run(&["audit", "FLEET", "--rule", "iommu/*", "--format", format]);
        for e in expected {
            let e = e.replace('-', if format == "markdown" { "\\-" } else { "-" });
            assert!(out.contains(&e) || out.contains(&e.replace("\\-", "-")), "{format}: {e}: {out}");
        }
    }
}

/// One machine with another NIC is that machine; what only one of its snapshots shows is no other address.
#[test]
fn a_node_with_other_addresses_is_said_by_the_index_and_by_snapshots() {
    let at = |node: &str, day: u32| format!("{node}/2026010{day}T120000Z.tar.zst");
    let files = [at("card", 1), at("card", 2), at("same", 1), at("same", 2), at("blind", 1), at("blind", 2)];
    let [c1, c2, s1, s2, b1, b2] = files.each_ref().map(String::as_str);
    let (one, other) = (Some("b8:3f:d2:00:00:01"), Some("b8:3f:d2:00:00:02"));
    let fleet = Fleet::of(&[
        Taken { mac: one, ..whole(c1, "1", "1", true) },
        Taken { mac: other, ..whole(c2, "1", "1", true) },
        Taken { mac: one, ..whole(s1, "2", "2", true) },
        Taken { mac: one, ..whole(s2, "2", "2", true) },
        Taken { mac: one, ..whole(b1, "3", "3", true) },
        whole(b2, "3", "3", true),
    ]);
    let (count, remarks) = fleet.both();
    assert_eq!(
        (count, remarks),
        (3, vec!["card is the same machine, but with other hardware addresses (eth0)".to_owned()])
    );
}

/// A clock that ran ahead, a file with a name of its own, and a newest snapshot that cannot be read.
#[test]
fn newest_is_by_the_name_of_the_file() {
    let fleet = Fleet::of(&[
        Taken { clock: NOON + 365 * 86_400, ..whole("ahead/20260101T120000Z.tar.zst", "1", "1", false) },
        whole("ahead/20260102T120000Z.tar.zst", "1", "1", true),
        Taken { clock: NOON + 86_400, ..whole("hand/after.tar.zst", "2", "2", true) },
        Taken { clock: NOON - 86_400, ..whole("hand/before.tar.zst", "2", "2", false) },
        whole("hand/20260101T120000Z.tar.zst", "2", "2", false),
    ]);
    assert_eq!(fleet.both(), (2, vec![]));
    assert_eq!(fleet.set("kernel.cmdline!=iommu=pt"), "");
    assert_eq!(fleet.set("kernel.cmdline=iommu=pt"), "ahead,hand");

    // What an older snapshot says is not what the node is now.
    let bad = fleet.dir.join("ahead/20260103T120000Z.tar.zst");
    std::fs::write(bad, "no archive").unwrap();
    let from_snapshots = fleet.run(&["drift", "FLEET", "--format", "json"]);
    assert_eq!(fleet.run(&["fleet", "index", "FLEET"]).0, 2);
    let from_index = fleet.run(&["drift", "FLEET", "--format", "json"]);
    assert_eq!(between(&from_index.1), between(&from_snapshots.1));
    assert_eq!(from_index.0, 2);
    let (_, out) = fleet.run(&["where", "kernel.cmdline=iommu=pt", "FLEET"]);
    assert!(out.starts_with("hand ") && out.contains("ahead"), "{out}");
}

/// A `reference` of linerate.toml is what the others are compared with: of all, of a group, or none that counts.
#[test]
fn a_reference_of_the_file_is_used_and_said() {
    let all = ["n1", "n2", "n3"].map(|n| format!("{n}/20260101T120000Z.tar.zst"));
    let all: Vec<Taken<'_>> =
        all.iter().zip(1..).map(|(f, n)| whole(f, ["1", "2", "3"][n - 1], ["1", "2", "3"][n - 1], n > 1)).collect();
    let fleet = Fleet::of(&all);
    let ask = |config: &str, more: &[&str]| {
        let dir = fleet.home.path().join(".config/linerate");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("linerate.toml"), config).unwrap();
        let (_, out) = fleet.run(&[&["drift", "FLEET", "--format", "json"], more].concat());
        let json: Value = serde_json::from_str(between(&out)).unwrap();
        let class = &json["classes"][0];
        let odd = class["facts"].as_array().unwrap().iter().find(|f| f["fact"] == "kernel.cmdline").unwrap();
        let said =
            json["remarks"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect::<Vec<_>>().join("\n");
        (
            class["reference"].as_str().unwrap_or("").to_owned(),
            odd["values"][0]["nodes"].as_str().unwrap().to_owned(),
            said,
        )
    };
    let group = "[groups.g]\nnodes = \"n[1-3]\"\nreference = \"n1\"\n";
    let part = "[groups.g]\nnodes = \"n[1-2]\"\nreference = \"n1\"\n";
    let cases: [(String, &[&str], &str, &str, &str); 7] = [
        (String::new(), &[], "", "n[2-3]", ""),
        ("reference = \"n1\"\n".into(), &[], "n1", "n1", "is what the others are compared with"),
        (group.into(), &[], "n1", "n1", "the reference of @g"),
        (format!("reference = \"n2\"\n{group}"), &[], "n1", "n1", "n2, the reference in"),
        (part.into(), &[], "", "n[2-3]", "is not used"),
        ("reference = \"n9\"\n".into(), &[], "", "n[2-3]", "n9, the reference in"),
        ("reference = \"n9\"\n".into(), &["--reference", "n1"], "n1", "n1", ""),
    ];
    for (config, more, reference, first, words) in &cases {
        let (r, f, said) = ask(config, more);
        assert_eq!((r.as_str(), f.as_str()), (*reference, *first), "{config}");
        assert!(said.contains(words) && words.is_empty() == said.is_empty(), "{config}: {said}");
    }
    let (_, out) = fleet.run(&["drift", "FLEET", "--reference", "n1"]);
    assert!(out.contains("compared with n1, the reference"), "{out}");
    let (code, _) = fleet.run(&["drift", "FLEET", "--reference", "n7"]);
    assert_eq!(code, 3);
}
