//! Two nodes: what differs, what does not, and what cannot be said.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_fleet::diff::{Diff, Difference, Shown, diff, groups};
use linerate_fleet::drift::{Options, Table, Value, drift};
use linerate_fleet::{Profile, Record};
use linerate_node::Node;
use linerate_rules::{Severity, Status};
use linerate_snapshot::Snapshot;
use std::path::Path;

fn profile(s: &Snapshot) -> Profile {
    Profile::of(&s.label, &Node::decode(s), s, linerate_rules::rules())
}

fn text(name: &str, text: &str) -> Profile {
    profile(&linerate_snapshot::load_bytes(text.as_bytes(), name).unwrap())
}

fn value(v: &str) -> Shown {
    Shown::Value(v.to_owned())
}

/// What differs, as `at | fact | part | a | b`.
fn rows(d: &Diff) -> Vec<String> {
    let row = |d: &Difference| {
        let role = d.role.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{role} | {} | {} | {:?} | {:?}", d.what.id(), d.part, d.sides[0], d.sides[1])
    };
    d.differences.iter().map(row).collect()
}

/// Queries of four NICs, as mstconfig prints them.
fn mlxconfig(settings: impl Fn(usize) -> Vec<(&'static str, &'static str)>) -> String {
    let nic = |(i, bdf): (usize, &&str)| {
        let mut out = format!(
            "\nDevice #{}:\n----------\n\nDevice type:        ConnectX7\nName:               MCX75310AAS-NEA_Ax\n\
             Description:        NVIDIA ConnectX-7 HHHL Adapter card; 400GbE\nDevice:             {bdf}\n\n\
             Configurations:                                 Default             Current             Next Boot\n",
            i + 1
        );
        for (name, value) in settings(i) {
            out.push_str(&format!("        {name:<40}{value:<20}{value:<20}{value}\n"));
        }
        out
    };
    ["0000:03:00.0", "0000:23:00.0", "0000:a3:00.0", "0000:c3:00.0"].iter().enumerate().map(nic).collect()
}

/// Field note N1: three settings differ, one of them matters, one makes another one invisible, one is the reference's own fault.
#[test]
fn two_queries_of_firmware_give_the_table_of_the_field_note() {
    let reference = |_| {
        vec![
            ("ADVANCED_PCI_SETTINGS", "True(1)"),
            ("MAX_ACC_OUT_READ", "128"),
            ("PCI_WR_ORDERING", "per_mkey(0)"),
            ("SRIOV_EN", "False(0)"),
        ]
    };
    let target = |i: usize| {
        let order = if i.is_multiple_of(2) { "per_mkey(0)" } else { "force_relax(1)" };
        vec![("ADVANCED_PCI_SETTINGS", "False(0)"), ("PCI_WR_ORDERING", order), ("SRIOV_EN", "False(0)")]
    };
    let (a, b) = (text("u25", &mlxconfig(reference)), text("u36", &mlxconfig(target)));
    let found = diff(&a, &b);
    let all = groups(&found.differences);
    let of = |part: &str| all.iter().filter(|g| g.first.part == part).collect::<Vec<_>>();
    assert_eq!(all.iter().map(|g| g.names.len()).sum::<usize>(), 2 + 4 + 4, "{:?}", rows(&found));

    let ordering = of("PCI_WR_ORDERING");
    assert!(ordering.iter().all(|g| g.first.sides == [value("per_mkey(0)"), value("force_relax(1)")]));
    let names: Vec<_> = ordering.iter().flat_map(|g| &g.names).map(|n| n[1].clone().unwrap()).collect();
    assert_eq!(names, ["0000:23:00.0", "0000:c3:00.0"]);
    let said =
        |side: usize, rule: &str| ordering[0].first.truth.sides[side].iter().find(|s| s.rule == rule).map(|s| s.status);
    assert_eq!(
        (said(0, "nicfw/pci-wr-ordering"), said(1, "nicfw/pci-wr-ordering")),
        (Some(Status::Pass), Some(Status::Fail))
    );
    assert_eq!(ordering[0].first.truth.severity(), Some(Severity::Medium));
    // That the NICs of one node differ is said of each NIC that differs from the other node's, and not again beyond.
    assert_eq!((ordering.len(), said(1, "nicfw/mixed-between-nics")), (1, Some(Status::Fail)));
    assert!(found.verdicts.is_empty(), "{:?}", found.verdicts);

    let reads = of("MAX_ACC_OUT_READ");
    assert_eq!(reads[0].first.sides, [value("128"), Shown::NotListed]);
    assert_eq!((reads.len(), reads[0].names.len()), (1, 4));
    let wrong: Vec<_> =
        reads[0].first.truth.sides.iter().map(|s| s.iter().map(|s| s.status).collect::<Vec<_>>()).collect();
    assert_eq!(wrong, [vec![Status::Fail], vec![]], "the reference is the side that is wrong");

    let switch = of("ADVANCED_PCI_SETTINGS");
    assert_eq!((switch.len(), switch[0].names.len()), (1, 4));
    assert_eq!(switch[0].first.truth.severity(), Some(Severity::Info), "both values are right");
    assert!(found.by_number, "texts without a topology are paired by number, and that is said");

    // Of many nodes the same is said: the setting that only some have is the wrong one.
    let record =
        |name: &str, text: &str| Record::read(name, &linerate_snapshot::load_bytes(text.as_bytes(), name).unwrap());
    let (a, b) = (record("u25", &mlxconfig(reference)), record("u36", &mlxconfig(target)));
    for of in [[&a, &b, &b], [&a, &a, &b]] {
        let mut table = Table::new();
        of.iter().for_each(|r| table.record(r));
        let found = drift(&table, &Options::default());
        let odd: Vec<_> = found.classes[0].facts.iter().filter(|f| f.part == "MAX_ACC_OUT_READ").collect();
        assert_eq!(odd.len(), 4, "{odd:#?}");
        for o in &odd {
            assert_eq!(o.severity, Some(Severity::Low));
            let there = o.values.iter().find(|v| v.value == Value::Present).unwrap();
            assert_eq!(there.verdict.map(|s| (s.status, s.rule)), Some((Status::Fail, "nicfw/max-acc-out-read")));
        }
    }
}

/// What a query did not ask for is no difference.
#[test]
fn what_one_side_did_not_collect_is_no_difference() {
    let a = text(
        "lspci",
        "00:01.0 PCI bridge: Intel Corporation Device 1234\n01:00.0 Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n",
    );
    let b = text("mlxconfig", &mlxconfig(|_| vec![("SRIOV_EN", "False(0)")]));
    let found = diff(&a, &b);
    assert_eq!(rows(&found), Vec::<String>::new());
    assert_eq!((found.compared, found.verdicts.len()), (0, 0));
}

/// The bus numbers of a text of `lspci`, moved.
fn renumbered(lspci: &str, to: impl Fn(u8) -> u8) -> String {
    let bus = |hex: &str| u8::from_str_radix(hex, 16).ok().map(|n| format!("{:02x}", to(n)));
    let moved = |line: &str| -> Option<String> {
        let (address, rest) = line.split_once(' ')?;
        let (hex, function) = address.split_once(':').filter(|(h, f)| h.len() == 2 && f.len() == 4)?;
        Some(format!("{}:{function} {rest}", bus(hex)?))
    };
    let bridge = |line: &str| -> Option<String> {
        let rest = line.strip_prefix("\tBus: ")?;
        let part = |p: &str| {
            let (key, hex) = p.trim().split_once('=')?;
            let n = if key.ends_with("latency") { hex.to_owned() } else { bus(hex)? };
            Some(format!("{key}={n}"))
        };
        Some(format!("\tBus: {}", rest.split(',').map(part).collect::<Option<Vec<_>>>()?.join(", ")))
    };
    lspci.lines().map(|l| moved(l).or_else(|| bridge(l)).unwrap_or_else(|| l.to_owned()) + "\n").collect()
}

/// A real server of eight GPUs whose firmware numbers the buses anew is the same server; without a NIC it is the same but for that.
#[test]
fn a_real_server_with_other_bus_numbers_is_the_same_server() {
    let Ok(lspci) = std::fs::read_to_string("../../../shared/data/lspci/gpud-lspci-vvv.txt") else {
        println!("SKIPPED: ../shared/data is not there");
        return;
    };
    let a = text("a", &lspci);
    let moved = renumbered(&lspci, |n| if matches!(n, 0x15..=0x26 | 0x48..=0x4e | 0x97..=0x9e) { n + 1 } else { n });
    assert_ne!(moved, lspci);
    let found = diff(&a, &text("b", &moved));
    assert_eq!(rows(&found), Vec::<String>::new());
    assert!(found.compared > 5000 && found.verdicts.is_empty() && !found.by_number, "{}", found.compared);

    let without: String = moved.split_inclusive("\n\n").filter(|block| !block.starts_with("4e:00.0 ")).collect();
    let found = diff(&a, &text("c", &without));
    let missing: Vec<_> = found.differences.iter().filter(|d| d.what.id() == "pci").collect();
    assert_eq!(missing.iter().map(|d| d.role.as_ref().unwrap().to_string()).collect::<Vec<_>>(), ["rail 2 NIC"]);
    assert_eq!(missing[0].sides, [value("present"), Shown::NotListed]);
    // What the missing NIC was nearest to, and nothing of the others.
    let others: Vec<_> = found.differences.iter().filter(|d| d.what.id() != "pci").map(|d| d.what.id()).collect();
    assert!(others.iter().all(|id| id.starts_with("gpus.")), "{:?}", rows(&found));
}

/// Whatever is compared with itself is the same.
#[test]
fn a_node_is_the_same_as_itself() {
    let root = Path::new("../../../shared/data");
    if !root.is_dir() {
        println!("SKIPPED: ../shared/data is not there");
        return;
    }
    let mut n = 0;
    for dir in [
        "lspci",
        "nvidia-smi",
        "mlxconfig",
        "ibstat",
        "ibv_devinfo",
        "real2/nvidia-smi",
        "real2/nic-tools",
        "real2/ib-tools",
    ] {
        let Ok(dir) = std::fs::read_dir(root.join(dir)) else { continue };
        let small = |p: &std::path::PathBuf| p.metadata().is_ok_and(|m| m.is_file() && m.len() < 1 << 20);
        for path in dir.flatten().map(|e| e.path()).filter(small) {
            let bytes = std::fs::read(&path).unwrap();
            let Ok(s) = linerate_snapshot::load_bytes(&bytes, &path.display().to_string()) else { continue };
            let p = profile(&s);
            let found = diff(&p, &p);
            assert_eq!(
                (rows(&found), found.verdicts.len(), found.unseen),
                (Vec::new(), 0, [0, 0]),
                "{}",
                path.display()
            );
            n += usize::from(found.compared > 0);
        }
    }
    assert!(n >= 20, "{n} of the files show facts");
}

/// A device that one of two lists lacks is a difference where both lists are whole, though no way to it is shown.
#[test]
fn a_lost_device_is_said_where_the_list_is_whole_and_not_in_an_excerpt() {
    let gpu = |n: u8| {
        format!("{n:02x}:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n")
    };
    let bridge = "00:01.0 PCI bridge [0604]: Intel Corporation Device [8086:352a]\n";
    let all = |n: std::ops::Range<u8>| n.map(gpu).collect::<String>();
    let whole = |n| text("whole", &format!("{bridge}{}", all(n)));
    let found = diff(&whole(0x18..0x20), &whole(0x18..0x1f));
    let lost: Vec<_> = found.differences.iter().map(|d| (d.what.id(), d.names[0].as_deref(), &d.sides[1])).collect();
    assert_eq!(lost, [("pci", Some("0000:1f:00.0"), &Shown::NotListed)]);
    assert!(found.by_number);
    let excerpt = text("excerpt", &all(0x18..0x1f));
    let found = diff(&whole(0x18..0x20), &excerpt);
    assert!(found.differences.is_empty() && found.unseen[0] > 0, "{:?}", rows(&found));
}

/// A text that shows a device twice is the same as itself, too.
#[test]
fn what_is_shown_twice_is_compared_with_itself() {
    let query = |value| mlxconfig(|_| vec![("SRIOV_EN", value)]);
    let twice = text("twice", &format!("{}{}", query("True(1)"), query("False(0)")));
    assert_eq!(rows(&diff(&twice, &twice)), Vec::<String>::new());
}

/// A module is not a part of another one whose name begins as its own.
#[test]
fn one_missing_word_does_not_hide_another() {
    let node = |modules: &str, cmdline: &str| {
        let mut s = Snapshot::new("node");
        s.add_file("proc/modules", modules.as_bytes()).unwrap();
        s.add_file("proc/cmdline", cmdline.as_bytes()).unwrap();
        profile(&s)
    };
    let a = node(
        "nvidia 1 0 - Live 0x0\nnvidia_uvm 1 0 - Live 0x0\nib_core 1 0 - Live 0x0\n",
        "quiet iommu=pt root=UUID=1\n",
    );
    let b = node("ib_core 1 0 - Live 0x0\n", "quiet iommu.passthrough=1 root=UUID=2\n");
    let parts: Vec<_> = diff(&a, &b).differences.into_iter().map(|d| d.part).collect();
    for part in ["nvidia", "nvidia_uvm", "iommu", "iommu.passthrough"] {
        assert!(parts.iter().any(|p| p == part), "{part}: {parts:?}");
    }
    assert_eq!(parts.len(), 4, "the disk of the root is no setting: {parts:?}");
}
