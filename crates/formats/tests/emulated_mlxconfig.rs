//! What the lab's emulator of mstconfig prints is read exactly: what it sets, hides, refuses and loads at boot is seen by the parsers.

// The lint configuration allows these in test functions only, not in their helpers.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing)]

use linerate_formats::mlxconfig::{Columns, NicConfig, Param, parse, parse_json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An emulated node.
struct Node {
    state: PathBuf,
}

impl Node {
    /// `None`: this machine cannot run the emulator.
    fn new(name: &str, profile: &str) -> Option<Node> {
        if !Command::new("python3").arg("--version").output().is_ok_and(|o| o.status.success()) {
            println!("SKIPPED: no python3 to run the emulator");
            return None;
        }
        let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mstconfig").join(name);
        let _ = std::fs::remove_dir_all(&state);
        let node = Node { state };
        let profile = emulators().join("profiles").join(profile);
        let (status, text) = node.run(&["--emulate-init", profile.to_str().unwrap()]);
        assert_eq!(status, 0, "{text}");
        Some(node)
    }

    fn run(&self, args: &[&str]) -> (i32, String) {
        self.run_as(&emulators().join("mstconfig"), args)
    }

    fn run_as(&self, tool: &Path, args: &[&str]) -> (i32, String) {
        let output =
            Command::new("python3").arg(tool).args(args).env("MSTCONFIG_EMULATOR_STATE", &self.state).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    fn query(&self, args: &[&str]) -> Vec<NicConfig> {
        let (status, text) = self.run(args);
        assert_eq!(status, 0, "{text}");
        let query = parse(text.as_bytes());
        assert!(query.errors.is_empty(), "{text}");
        query.devices
    }

    /// Default, current, next as printed.
    fn values(&self, device: &str, parameter: &str) -> [String; 3] {
        let devices = self.query(&["-d", device, "-e", "q", parameter]);
        let p = devices[0].param(parameter).unwrap().clone();
        [p.default, p.current, p.next].map(|v| v.unwrap().raw.to_string())
    }
}

fn emulators() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/emulators")
}

/// The file that `-j` writes holds what the table shows.
fn same(text: &Param, json: &Param) {
    assert_eq!(
        (&text.name, &text.default, &text.current, &text.next, text.modified, text.read_only),
        (&json.name, &json.default, &json.current, &json.next, json.modified, json.read_only)
    );
}

#[test]
fn both_forms_of_all_cards_are_read_alike() {
    let Some(node) = Node::new("forms", "u25.json") else { return };
    assert_eq!(
        node.run(&["-d", "0000:03:00.0", "-y", "set", "SRIOV_EN=1", "PCI_DOWNSTREAM_PORT_OWNER[2]=HOST_3"]).0,
        0
    );
    for verbose in [false, true] {
        let file = node.state.join("q.json");
        let mut args = vec!["-j", file.to_str().unwrap(), "query"];
        let mut plain = vec!["query"];
        if verbose {
            args.insert(0, "-e");
            plain.insert(0, "-e");
        }
        let text = node.query(&plain);
        assert_eq!(node.run(&args).0, 0);
        let json = parse_json(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!((text.len(), json.len()), (4, 4));
        for (t, j) in text.iter().zip(&json) {
            assert_eq!(t.columns, Some(if verbose { Columns::DefaultCurrentNext } else { Columns::NextBootOnly }));
            assert_eq!((t.columns, t.bdf, t.params.len()), (j.columns, j.bdf, j.params.len()));
            assert_eq!(t.device_type.as_ref().map(|d| d.as_str()), Some("ConnectX7"));
            assert!(t.bdf.is_some() && t.params.len() > 15);
            t.params.iter().zip(&j.params).for_each(|(t, j)| same(t, j));
        }
        assert!(text[0].param("PCI_BUS00_WIDTH").unwrap().read_only);
        assert_eq!(text[0].param("SRIOV_EN").unwrap().modified, verbose);
        assert_eq!(text[0].param("PCI_DOWNSTREAM_PORT_OWNER").unwrap().next.as_ref().unwrap().raw, "Array[0..15]");
    }
    let owner = node.values("03:00.0", "PCI_DOWNSTREAM_PORT_OWNER[2]");
    assert_eq!(owner, ["DEVICE_DEFAULT(0)", "DEVICE_DEFAULT(0)", "HOST_3(4)"]);
}

#[test]
fn hidden_settings_appear_when_the_switch_is_in_force() {
    let Some(node) = Node::new("hidden", "u36.json") else { return };
    let (status, text) = node.run(&["-d", "23:00.0", "-e", "q", "MAX_ACC_OUT_READ"]);
    assert_eq!(status, 3);
    assert_eq!(parse(text.as_bytes()).errors[0].value, "The Device doesn't support MAX_ACC_OUT_READ parameter");
    assert!(node.query(&["-d", "23:00.0", "-e", "q"])[0].param("PCI_WR_ORDERING").is_none());
    let (status, text) = node.run(&["-d", "23:00.0", "-y", "set", "ADVANCED_PCI_SETTINGS=True"]);
    assert_eq!(status, 0);
    assert!(text.ends_with("Done!\n-I- Please reboot machine to load new configurations.\n"), "{text}");
    // What was set waits; only a start makes it current.
    assert_eq!(node.values("23:00.0", "ADVANCED_PCI_SETTINGS"), ["False(0)", "False(0)", "True(1)"]);
    assert_eq!(node.run(&["-d", "23:00.0", "-y", "set", "PCI_WR_ORDERING=0"]).0, 3);
    assert_eq!(node.run(&["--emulate-boot"]).0, 0);
    assert_eq!(node.values("23:00.0", "ADVANCED_PCI_SETTINGS"), ["False(0)", "True(1)", "True(1)"]);
    assert_eq!(node.values("23:00.0", "PCI_WR_ORDERING"), ["per_mkey(0)", "force_relax(1)", "force_relax(1)"]);
    // The other card of the node was not asked.
    assert_eq!(node.run(&["-d", "a3:00.0", "q", "PCI_WR_ORDERING"]).0, 3);
}

#[test]
fn wrong_words_are_refused_and_change_nothing() {
    let Some(node) = Node::new("refused", "u25.json") else { return };
    let before = std::fs::read(node.state.join("state.json")).unwrap();
    for (words, error) in [
        (
            "PCI_WR_ORDERING=7",
            "Cannot set the value 7 for the parameter pci_data_wr_ordering_mode(PCI_WR_ORDERING): Unknown value 7",
        ),
        (
            "NUM_OF_VFS=70000",
            "Cannot set the value 70000 for the parameter total_vfs(NUM_OF_VFS): The value 70000 is not valid,  as its size is 16 bits",
        ),
        ("NO_SUCH_THING=1", "Unknown Parameter: NO_SUCH_THING"),
        ("PCI_BUS00_WIDTH=1", "Operation is not supported (Read only TLV: nv_global_pci_conf_4)"),
        ("ATS_ENABLED", "Invalid Configuration argument ATS_ENABLED"),
    ] {
        let (status, text) = node.run(&["-d", "03:00.0", "-y", "set", words]);
        assert_eq!((status, parse(text.as_bytes()).errors[0].as_str()), (3, error), "{text}");
    }
    assert_eq!(node.run(&["-d", "99:00.0", "-y", "set", "ATS_ENABLED=1"]).0, 3);
    assert_eq!(std::fs::read(node.state.join("state.json")).unwrap(), before);
}

#[test]
fn cards_that_do_not_as_they_are_told() {
    let Some(node) = Node::new("odd", "odd.json") else { return };
    let set = |device: &str, words: &str| node.run(&["-d", device, "-y", "set", words]);
    let (status, text) = set("03:00.0", "ATS_ENABLED=1");
    assert!(status == 3 && text.contains("Applying... Failed!\n-E- Failed to set nv_pci_conf settings "), "{text}");
    let (status, text) = set("23:00.0", "ATS_ENABLED=1");
    assert!(status == 0 && text.contains("-I- Please power cycle machine to load"), "{text}");
    assert_eq!(set("a3:00.0", "ATS_ENABLED=1").0, 0);
    assert_eq!(set("a3:00.0", "PCI_WR_ORDERING=1").0, 0);
    assert_eq!(set("e3:00.0", "ATS_ENABLED=1").0, 3);
    assert_eq!(node.run(&["--emulate-boot"]).0, 0);
    assert_eq!(node.values("23:00.0", "ATS_ENABLED"), ["False(0)", "False(0)", "True(1)"]);
    assert_eq!(node.values("a3:00.0", "ATS_ENABLED"), ["False(0)"; 3].map(str::to_owned));
    assert_eq!(node.values("a3:00.0", "PCI_WR_ORDERING")[2], "per_mkey(0)");
    std::fs::write(node.state.join("cold-start"), "").unwrap();
    assert_eq!(node.run(&["--emulate-boot"]).0, 0);
    assert_eq!(node.values("23:00.0", "ATS_ENABLED")[1], "True(1)");
    assert!(!node.state.join("cold-start").exists());
}

#[test]
fn a_reset_of_one_card_loads_its_values() {
    let Some(node) = Node::new("fwreset", "odd.json") else { return };
    let tool = node.state.join("mstfwreset");
    std::os::unix::fs::symlink(emulators().canonicalize().unwrap().join("mstconfig"), &tool).unwrap();
    let reset = |device: &str, level: &str| node.run_as(&tool, &["-d", device, "-l", level, "-y", "reset"]);
    for device in ["a3:00.0", "c3:00.0"] {
        assert_eq!(node.run(&["-d", device, "-y", "set", "SRIOV_EN=1"]).0, 0);
    }
    let (status, text) = reset("c3:00.0", "3");
    assert!(status == 0 && text.ends_with("-I- FW was loaded successfully.\n"), "{text}");
    assert_eq!(node.values("c3:00.0", "SRIOV_EN"), ["False(0)", "True(1)", "True(1)"]);
    assert_eq!(node.values("a3:00.0", "SRIOV_EN"), ["False(0)", "False(0)", "True(1)"]);
    let (status, text) = reset("a3:00.0", "3");
    let refusal = "-E- Reset-level '3' is not supported in the current state of this device.";
    assert!(status == 1 && text.contains(refusal), "{text}");
    let (status, text) = node.run_as(&tool, &["-v"]);
    assert!(status == 0 && text.starts_with("mstfwreset, AN EMULATOR"), "{text}");
}

#[test]
fn a_backup_brings_the_next_values_back() {
    let Some(node) = Node::new("backup", "u25.json") else { return };
    let file = node.state.join("backup.conf");
    let file = file.to_str().unwrap();
    assert_eq!(node.run(&["-d", "c3:00.0", "-f", file, "backup"]).0, 0);
    let before = node.query(&["-d", "c3:00.0", "-e", "q"]);
    assert_eq!(node.run(&["-d", "c3:00.0", "-y", "reset"]).0, 0);
    assert_eq!(node.values("c3:00.0", "MAX_ACC_OUT_READ"), ["0", "128", "0"]);
    assert_eq!(node.run(&["-d", "c3:00.0", "-y", "-f", file, "set_raw"]).0, 0);
    assert_eq!(node.query(&["-d", "c3:00.0", "-e", "q"])[0].params, before[0].params);
}
