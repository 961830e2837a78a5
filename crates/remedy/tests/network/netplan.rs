//! netplan: a file of ours, merged with the others by netplan itself.

use super::*;
use linerate_remedy::{FileState, Proof};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const OWN: (&str, &str) =
    ("run/systemd/network/10-netplan-eth1.network", "[Match]\nName=eth1\n[Network]\nAddress=10.1.0.1/24\n");

#[test]
fn netplan_gets_both_in_one_file() {
    let s = tree(&[OWN]);
    let r = one(ask(both(), Network::Netplan, &s));
    let (mtu, address) = at_once();
    assert_eq!(
        commands(&r),
        [pair("netplan generate", "netplan apply"), address, pair("netplan generate", ""), pair("netplan apply", ""),],
        "undone last, netplan applies when the file is gone"
    );
    assert!(r.acts.contains(&mtu));
    assert!(r.acts.iter().any(|a| matches!(a, Act::File(FileAct { mode: 0o600, before: FileState::Absent, .. }))));
    let [(_, text)] = files(&r)[..] else { panic!("{r:?}") };
    assert!(text.ends_with("    \"eth1\":\n      mtu: 9000\n      addresses:\n        - \"10.7.0.1/24\"\n"), "{text}");
    let value = Proof::Value { path: "/sys/class/net/eth1/mtu".into(), value: "9000".into() };
    assert_eq!(r.proof, [value], "the rule that asks proves the address");
    assert!(r.note.contains("another machine has this address"), "{}", r.note);
    let r = one(ask(vec![link("eth1", Some(9000), &[])], Network::Netplan, &s));
    assert!(!files(&r)[0].1.contains("addresses") && !r.note.contains("another machine"));
}

/// What virtio makes is below a PCI function and none itself; a bond has no device, and is defined elsewhere in the file.
#[test]
fn an_interface_of_a_virtual_machine_has_a_device_and_a_bond_has_none() {
    let mut s = tree(&[("run/systemd/network/10-netplan-ens5.network", "[Match]\nName=ens5\n")]);
    for (name, home) in
        [("ens5", "sys/devices/pci0000:00/0000:00:05.0/virtio3/net/ens5"), ("bond0", "sys/devices/virtual/net/bond0")]
    {
        s.add_file(&format!("{home}/mtu"), b"1500\n");
        s.add_link(&format!("sys/class/net/{name}"), format!("../../../{home}").as_bytes());
    }
    s.add_link("sys/devices/pci0000:00/0000:00:05.0/virtio3/net/ens5/device", b"../../../virtio3");
    let of = |name: &str| ask(vec![link(name, Some(9000), &[])], Network::Netplan, &s);
    assert!(files(&one(of("ens5")))[0].1.contains("\"ens5\":\n      mtu: 9000\n"));
    assert_eq!(by_hand(of("bond0"))[0], "in the netplan definition of bond0: mtu: 9000");
}

/// A definition of the same interface under another name, or one that may be: a second one would take its place, and its address is lost.
#[test]
fn netplan_definitions_of_another_name_are_left_to_people() {
    let mac_only = format!("[Match]\nPermanentMACAddress={MAC}\n");
    let renamed = format!("[Match]\nPermanentMACAddress={MAC}\nName=eth1\n");
    let foreign = "[Match]\nPermanentMACAddress=52:54:00:00:00:77\nName=eth1\n";
    let network = |id: &str| format!("run/systemd/network/10-netplan-{id}.network");
    let profile = |id: &str| format!("run/NetworkManager/system-connections/netplan-{id}.nmconnection");
    let named = "[connection]\ntype=ethernet\ninterface-name=eth1\n".to_owned();
    let unnamed = "[connection]\ntype=ethernet\n".to_owned();
    let other: Vec<(String, String, &str)> = vec![
        (network("fabric"), renamed.clone(), "fabric"),
        (network("fabric"), mac_only.clone(), "fabric"),
        (network("eth1"), mac_only, "eth1"),
        (network("eth1"), foreign.into(), "eth1"),
        (network("all-eth"), "[Match]\nName=eth*\n".into(), "all-eth"),
        (network("eth1"), "[Match]\nName=eth*\n".into(), "eth1"),
        (network("mlx"), "[Match]\nDriver=mlx5_core\n".into(), "mlx"),
        (network("unread"), String::new(), "unread"),
        (profile("fabric"), named.clone(), "fabric"),
        (profile("fabric"), unnamed, "fabric"),
    ];
    for (path, text, id) in other {
        let how = by_hand(ask(both(), Network::Netplan, &tree(&[(&path, &text)])));
        assert!(how[0].contains(&format!("\"{id}\"")), "{path}: {how:?}");
        assert!(how[0].ends_with("mtu: 9000, addresses: [10.7.0.1/24]"), "{how:?}");
    }
    // Its own name: as cloud-init writes it, with the MAC of this very interface; and by NetworkManager.
    for (path, text) in [(network("eth1"), renamed), (profile("eth1"), named)] {
        let r = one(ask(both(), Network::Netplan, &tree(&[(&path, &text)])));
        assert!(!files(&r)[0].1.contains("optional"), "{path}");
    }
}

#[test]
fn netplan_gets_a_new_definition_only_where_nobody_has_the_interface() {
    let others = [
        ("run/systemd/network/10-netplan-eth0.network", "[Match]\nName=eth0\n"),
        ("run/NetworkManager/system-connections/netplan-wlp1-home.nmconnection", "[connection]\ntype=wifi\n"),
        ("usr/lib/systemd/network/80-container-ve.network", "[Match]\nKind=veth\nName=ve-*\n"),
    ];
    let r = one(ask(both(), Network::Netplan, &tree(&others)));
    assert!(files(&r)[0].1.contains("\"eth1\":\n      optional: true\n"), "no start waits for it");
    for beside in [
        ("etc/systemd/network/50-fabric.network", "[Match]\nName=eth1\n"),
        ("usr/lib/systemd/network/99-any.network", "[Match]\nType=ether\n"),
        ("etc/NetworkManager/system-connections/a.nmconnection", "[connection]\ntype=ethernet\ninterface-name=eth1\n"),
    ] {
        let how = by_hand(ask(both(), Network::Netplan, &tree(&[beside])));
        assert!(how[0].contains(beside.0), "{how:?}");
    }
    // A source that did not look there says nothing of it.
    let mut unseen = tree(&[]);
    unseen.coverage = Coverage::Partial;
    assert!(by_hand(ask(both(), Network::Netplan, &unseen))[0].contains("collect again"));
    unseen.coverage = Coverage::Full { not_tried: vec!["run/systemd/network/*.network".into()] };
    assert!(by_hand(ask(both(), Network::Netplan, &unseen))[0].contains("collect again"));
}

/// What netplan makes of these files, or nothing where it is not installed.
fn netplan(files: &[(&str, &str)]) -> Option<String> {
    let dir = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let path = dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("has one")).expect("writable");
        std::fs::write(&path, text).expect("writable");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("ours");
    }
    let Ok(out) = Command::new("netplan").arg("generate").arg("--root-dir").arg(dir.path()).output() else {
        println!("SKIPPED: netplan is not installed");
        return None;
    };
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(generated(dir.path()))
}

/// The `.network` files that are there, with their names.
fn generated(root: &Path) -> String {
    let dir = std::fs::read_dir(root.join("run/systemd/network")).into_iter().flatten().flatten();
    let mut all: Vec<String> = dir
        .filter(|e| e.file_name().to_string_lossy().ends_with(".network"))
        .map(|e| format!("# {}\n{}", e.file_name().to_string_lossy(), std::fs::read_to_string(e.path()).expect("text")))
        .collect();
    all.sort();
    all.concat()
}

#[test]
fn netplan_merges_our_file_with_the_others() {
    let ours = one(ask(both(), Network::Netplan, &tree(&[OWN])));
    let ours = files(&ours)[0];
    let site = |id: &str, rest: &str| {
        format!("network:\n  version: 2\n  ethernets:\n    {id}:\n{rest}      addresses: [10.1.0.1/24]\n")
    };
    let Some(made) = netplan(&[("etc/netplan/50-site.yaml", &site("eth1", "")), ours]) else { return };
    assert_eq!(made.matches("# 10-netplan-").count(), 1, "{made}");
    for line in
        ["# 10-netplan-eth1.network", "Name=eth1", "MTUBytes=9000", "Address=10.1.0.1/24", "Address=10.7.0.1/24"]
    {
        assert!(made.lines().any(|l| l == line), "{line}: {made}");
    }
    // A definition that renames the card, as cloud-init writes it: one definition still.
    let renaming = site("eth1", &format!("      match: {{macaddress: \"{MAC}\"}}\n      set-name: eth1\n"));
    let made = netplan(&[("etc/netplan/50-cloud-init.yaml", &renaming), ours]).expect("it ran before");
    assert!(made.contains("Address=10.1.0.1/24\nAddress=10.7.0.1/24\n") && made.contains("Name=eth1\n"), "{made}");
    assert_eq!(made.matches("# 10-netplan-").count(), 1, "{made}");
    // Why another name is left to people: netplan would make two files of one interface, and only one of them has both addresses.
    let another = site("fabric", &format!("      match: {{macaddress: \"{MAC}\"}}\n      set-name: eth1\n"));
    let made = netplan(&[("etc/netplan/50-cloud-init.yaml", &another), ours]).expect("it ran before");
    assert_eq!(made.matches("\nName=eth1\n").count(), 2, "{made}");
    assert!(!made.contains("Address=10.1.0.1/24\nAddress=10.7.0.1/24\n"), "{made}");
    // A new definition.
    let new = one(ask(both(), Network::Netplan, &tree(&[])));
    let made = netplan(&[files(&new)[0]]).expect("it ran before");
    assert!(made.contains("RequiredForOnline=no") && made.contains("Address=10.7.0.1/24"), "{made}");
}
