#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use super::*;
use crate::model::{Act, Content, FileAct, FileState, NicFirmwareAct, Plan, Proof, RunAct, Step};
use linerate_snapshot::{Coverage, Output, OutputKind};
use proptest::prelude::*;

const DEVICE: &str = "sys/devices/pci0000:18/0000:18:00.0";

fn snapshot(files: &[(&str, &str)]) -> Snapshot {
    let mut s = Snapshot::new("t");
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    for (path, text) in files {
        s.add_file(path, text.as_bytes()).unwrap();
    }
    s
}

fn lines(changes: &[Change]) -> Vec<String> {
    let mark = |c: &Change| if c.volatile.is_some() { "~ " } else { "" };
    changes.iter().map(|c| format!("{}{}", mark(c), c.summary())).collect()
}

fn plan(change: Vec<Act>, proof: Vec<Proof>) -> Plan {
    crate::verify::example::plan(vec![Step { change, proof, ..crate::verify::example::step("one") }])
}

#[test]
fn values_words_lines_and_links() {
    let mut a = snapshot(&[
        ("proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet\n"),
        ("proc/sys/kernel/numa_balancing", "1\n"),
        ("proc/sys/kernel/random/boot_id", "one\n"),
        ("proc/meminfo", "MemTotal: 10 kB\nMemFree: 5 kB\n"),
        ("proc/modules", "ib_core 1 1 mlx5_ib, Live 0x0\nmlx5_ib 1 0 - Live 0x0\n"),
        ("etc/gone.conf", "x\n"),
    ]);
    a.add_link("sys/bus/pci/devices/0000:18:00.0/iommu_group", b"../../7").unwrap();
    let mut b = snapshot(&[
        ("proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet iommu=pt\n"),
        ("proc/sys/kernel/numa_balancing", "0\n"),
        ("proc/sys/kernel/random/boot_id", "two\n"),
        ("proc/meminfo", "MemTotal: 10 kB\nMemFree: 3 kB\n"),
        ("proc/modules", "mlx5_ib 1 2 - Live 0x1\nib_core 1 1 mlx5_ib, Live 0x0\nnvidia_peermem 2 0 - Live 0x0\n"),
        ("etc/new.conf", "y\n"),
    ]);
    b.add_link("sys/bus/pci/devices/0000:18:00.0/iommu_group", b"../../8").unwrap();
    assert_eq!(
        lines(&diff(&a, &b)),
        [
            "/etc/gone.conf: vanished: x",
            "/etc/new.conf: appeared: y",
            "/proc/cmdline (iommu=pt): appeared",
            "~ /proc/meminfo (MemFree): MemFree: 5 kB → MemFree: 3 kB",
            "~ /proc/modules (mlx5_ib): mlx5_ib 1 0 - Live 0x0 → mlx5_ib 1 2 - Live 0x1",
            "/proc/modules (nvidia_peermem): appeared: nvidia_peermem 2 0 - Live 0x0",
            "/proc/sys/kernel/numa_balancing: 1 → 0",
            "~ /proc/sys/kernel/random/boot_id: one → two",
            "/sys/bus/pci/devices/0000:18:00.0/iommu_group: → ../../7 → → ../../8",
        ]
    );
    assert_eq!(diff(&a, &a), []);
}

#[test]
fn what_nobody_looked_for_is_no_difference() {
    let full = snapshot(&[("proc/cmdline", "quiet\n"), ("etc/new.conf", "y\n")]);
    let mut partial = snapshot(&[("proc/cmdline", "quiet\n")]);
    partial.coverage = Coverage::Partial;
    assert_eq!(diff(&partial, &full), []);
    assert_eq!(diff(&full, &partial), []);
    partial.coverage = Coverage::Full { not_tried: vec!["etc/*.conf".into()] };
    assert_eq!(diff(&full, &partial), []);
    partial.coverage = Coverage::Full { not_tried: Vec::new() };
    partial.manifest.tried = vec!["proc/**".into()];
    assert_eq!(diff(&full, &partial), []);
    partial.manifest.tried = vec!["etc/*.conf".into()];
    assert_eq!(lines(&diff(&full, &partial)), ["/etc/new.conf: vanished: y"]);
}

#[test]
fn what_cannot_be_read_any_more_is_told() {
    let a = snapshot(&[("proc/cmdline", "quiet\n"), ("sys/x/y", "1\n")]);
    let mut b = snapshot(&[]);
    b.add_failed("proc/cmdline", Why::Denied).unwrap();
    b.add_failed("sys/x", Why::TimedOut).unwrap();
    assert_eq!(
        lines(&diff(&a, &b)),
        [
            "/proc/cmdline: cannot be read any more: permission denied",
            "/sys/x/y: cannot be read any more: reading it timed out",
        ]
    );
    assert_eq!(lines(&diff(&b, &a)).first().unwrap(), "/proc/cmdline: can be read now: quiet");
}

/// A port with Express at 0x40 and ACS at 0x100.
fn port(acs: u16, link_status: u16, device_control: u16) -> Vec<u8> {
    let mut c = vec![0u8; 4096];
    c[..4].copy_from_slice(&[0x00, 0x10, 0x30, 0xc0]);
    (c[0x0e], c[0x34]) = (1, 0x40);
    c[0x40..0x42].copy_from_slice(&[0x10, 0]);
    c[0x48..0x4a].copy_from_slice(&device_control.to_le_bytes());
    c[0x52..0x54].copy_from_slice(&link_status.to_le_bytes());
    c[0x100..0x104].copy_from_slice(&0x0001_000d_u32.to_le_bytes());
    c[0x106..0x108].copy_from_slice(&acs.to_le_bytes());
    c
}

#[test]
fn registers_of_configuration_space() {
    let path = format!("{DEVICE}/config");
    let of = |bytes: &[u8]| {
        let mut s = snapshot(&[]);
        s.add_file(&path, bytes).unwrap();
        s
    };
    let before = of(&port(0x1f, 0x1044, 0x2810));
    let found = diff(&before, &of(&port(0x13, 0x1045, 0x5810)));
    assert_eq!(
        lines(&found),
        [
            format!("/{path} (ACS control @0x106+2): 1f 00 → 13 00"),
            format!("/{path} (Express Device Control @0x48+2): 10 28 → 10 58"),
            format!("~ /{path} (Express Link Status @0x52+2): 44 10 → 45 10"),
        ]
    );
    let dead = diff(&before, &of(&[0xff; 4096]));
    assert!(lines(&dead)[0].ends_with("every byte reads ff: the device does not answer"), "{dead:?}");
    let cut = diff(&before, &of(&port(0x1f, 0x1044, 0x2810)[..64]));
    assert!(lines(&cut)[0].ends_with("only the first 64 bytes could be read"), "{cut:?}");
}

#[test]
fn a_plan_explains_what_follows_from_it() {
    let grub = Act::File(FileAct {
        path: "/etc/default/grub.d/90-linerate.cfg".into(),
        before: FileState::Absent,
        after: Some(Content("GRUB_CMDLINE_LINUX=\"iommu=pt\"\n".into())),
        mode: 0o644,
    });
    let load = Act::File(FileAct {
        path: "/etc/modules-load.d/linerate.conf".into(),
        before: FileState::Absent,
        after: Some(Content("# ours\nnvidia_peermem\n".into())),
        mode: 0o644,
    });
    let run = Act::Run(RunAct {
        argv: vec!["update-grub".into()],
        writes: vec!["/boot/grub/grub.cfg".into()],
        undo: Vec::new(),
        limit: 60,
    });
    let plan = plan(
        vec![grub, load, run],
        vec![
            Proof::Cmdline { has: vec!["iommu=pt".into()], lacks: vec![] },
            Proof::Value { path: "/sys/class/net/eth1/mtu".into(), value: "9000".into() },
        ],
    );
    let a = snapshot(&[
        ("proc/cmdline", "quiet"),
        ("proc/modules", "ext4 1 0 - Live 0\n\n"),
        ("sys/kernel/iommu_groups/7/type", "DMA-FQ"),
        ("boot/grub/grub.cfg", "old"),
        ("sys/devices/pci0/net/eth1/mtu", "1500"),
        ("sys/devices/pci0/net/eth2/mtu", "1500"),
    ]);
    let b = snapshot(&[
        ("proc/cmdline", "quiet iommu=pt nosmt"),
        (
            "proc/modules",
            "ext4 1 0 - Live 0\nnvidia_peermem 1 0 - Live 0\nib_core 1 1 ib_uverbs, Live 0\nib_uverbs 1 1 nvidia_peermem, Live 0\nevil 1 0 - Live 0\n",
        ),
        ("sys/kernel/iommu_groups/7/type", "identity"),
        ("boot/grub/grub.cfg", "new"),
        ("sys/devices/pci0/net/eth1/mtu", "9000"),
        ("sys/devices/pci0/net/eth2/mtu", "9000"),
        ("etc/default/grub.d/90-linerate.cfg", "x"),
        ("etc/modules-load.d/linerate.conf", "x"),
    ]);
    let changes = diff(&a, &b);
    let found: Vec<String> = outside(&changes, &plan).into_iter().map(Change::at).collect();
    assert_eq!(found, ["/proc/cmdline (nosmt)", "/proc/modules (evil)", "/sys/devices/pci0/net/eth2/mtu"]);
}

#[test]
fn a_unit_explains_the_registers_that_it_writes() {
    let unit = |line: &str| {
        let act = FileAct {
            path: "/etc/systemd/system/linerate-registers.service".into(),
            before: FileState::Absent,
            after: Some(Content(format!("[Service]\nExecStart={line}\n"))),
            mode: 0o644,
        };
        plan(vec![Act::File(act)], Vec::new())
    };
    let of = |bytes: &[u8]| {
        let mut s = snapshot(&[]);
        s.add_file(&format!("{DEVICE}/config"), bytes).unwrap();
        s
    };
    let changes = diff(&of(&port(0x1f, 0x1044, 0x2810)), &of(&port(0x13, 0x1044, 0x5810)));
    let left = |line: &str| {
        outside(&changes, &unit(line))
            .into_iter()
            .map(|c| c.part.split(" @").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(left("setpci -s 0000:18:00.0 CAP_EXP+8.w=5000:7000"), ["ACS control"]);
    assert_eq!(left("setpci -s 0000:18:00.0 ECAP_ACS+6.w=13:1f"), ["Express Device Control"]);
    assert_eq!(left("setpci -s 0000:19:00.0 CAP_EXP+8.w=5000:7000").len(), 2, "another function's");
    assert_eq!(left("setpci -s 0000:18:00.0 CAP_EXP+28.w=1000:1000").len(), 2, "another register");
}

#[test]
fn a_long_word_is_explained_though_it_is_cut_where_it_is_told() {
    let ports: Vec<String> = (0..40).map(|n| format!("xx000x0@0000:{n:02x}:00.0")).collect();
    let word = format!("pci=config_acs={}", ports.join(";"));
    let changes =
        diff(&snapshot(&[("proc/cmdline", "quiet")]), &snapshot(&[("proc/cmdline", &format!("quiet {word} nosmt"))]));
    let plan = plan(vec![], vec![Proof::Cmdline { has: vec![word], lacks: vec![] }]);
    let found: Vec<String> = outside(&changes, &plan).into_iter().map(Change::at).collect();
    assert_eq!(found, ["/proc/cmdline (nosmt)"]);
}

#[test]
fn a_pci_option_explains_its_own_part_only() {
    let explains = |word: &str, path: &str, part: &str| {
        let plan = plan(vec![], vec![Proof::Cmdline { has: vec![word.into()], lacks: vec![] }]);
        explain::explanations(&plan).iter().any(|e| volatile::path_is(&e.path, path) && glob::within(&e.part, part))
    };
    let acs = "pci=config_acs=xx000x0@0000:41:00.0;xx000x0@0000:42:00.0";
    for (word, part, is) in [
        (acs, "ACS control @0x126", true),
        (acs, "BAR 0", false),
        (acs, "AER status", false),
        ("pci=realloc", "BAR 0", true),
        ("pci=realloc", "ACS control @0x126", false),
        ("pci=noats,realloc=on", "BAR 0", true),
        ("pci=noats", "BAR 0", false),
        ("pci=nomsi", "BAR 0", false),
    ] {
        assert_eq!(explains(word, "sys/devices/pci0000:40/0000:41:00.0/config", part), is, "{word}: {part}");
    }
    let cpu = plan(vec![], vec![Proof::Rule { rule: "cpu/governor".into(), subject: "node".into() }]);
    let all = explain::explanations(&cpu);
    assert!(!all.iter().any(|e| volatile::path_is(&e.path, "sys/devices/system/cpu/cpu1/online")), "{all:?}");
}

#[test]
fn settings_of_a_nic_are_compared_by_name() {
    let of = |text: &str| {
        let mut s = snapshot(&[]);
        let entry = s.add_file("cmd/3/stdout", text.as_bytes()).unwrap();
        let argv = ["mlxconfig", "-d", "0000:18:00.0", "-e", "q"].map(String::from).to_vec();
        s.outputs.push(Output { kind: OutputKind::MlxconfigText, entry, argv, status: Some(0) });
        s
    };
    let a = of("Configurations:\n    ATS_ENABLED   False(0)  False(0) False(0)\n    NUM_OF_VFS  0 0 0\n");
    let b = of("Configurations:\n*   ATS_ENABLED   False(0)  False(0) True(1)\n*   NUM_OF_VFS  0 0 4\n");
    let plan = plan(
        vec![Act::NicFirmware(NicFirmwareAct {
            device: "0000:18:00.0".into(),
            parameter: "ATS_ENABLED".into(),
            before: "False(0)".into(),
            after: "True(1)".into(),
        })],
        vec![],
    );
    let changes = diff(&a, &b);
    let found: Vec<String> = outside(&changes, &plan).into_iter().map(Change::at).collect();
    assert_eq!(
        (changes.len(), found.as_slice()),
        (2, &["`mlxconfig -d 0000:18:00.0 -e q` (NUM_OF_VFS)".to_owned()][..])
    );
}

#[test]
fn a_directory_that_each_boot_makes_is_none_of_what_is_in_it() {
    let (a, mut b) = (snapshot(&[("proc/cmdline", "quiet")]), snapshot(&[("proc/cmdline", "quiet")]));
    b.add_dir("run/systemd/network");
    assert_eq!(lines(&diff(&a, &b)), ["~ /run/systemd/network: appeared"]);
    let file = ("run/systemd/network/10-netplan-eth1.network", "[Match]\nName=eth1\n");
    let c = snapshot(&[("proc/cmdline", "quiet"), file]);
    let told: Vec<String> = lines(&diff(&a, &c)).into_iter().filter(|l| !l.starts_with('~')).collect();
    assert!(matches!(&told[..], [one] if one.starts_with("/run/systemd/network/10-netplan-eth1.network: appeared")));
}

#[test]
fn every_volatile_entry_has_its_reason() {
    for v in VOLATILE {
        assert!(v.reason.len() > 10 && !v.path.starts_with('/'), "{v:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_compared(a in proptest::collection::vec(any::<u8>(), 0..600), b in proptest::collection::vec(any::<u8>(), 0..600)) {
        for path in ["sys/x/config", "proc/modules", "proc/cmdline", "etc/x"] {
            let of = |bytes: &[u8]| { let mut s = snapshot(&[]); s.add_file(path, bytes).unwrap(); s };
            let (x, y) = (of(&a), of(&b));
            prop_assert!(diff(&x, &x).is_empty());
            for c in diff(&x, &y) {
                prop_assert!(c.summary().len() < 4000);
            }
        }
    }

    #[test]
    fn capabilities_of_rubbish_end(bytes in proptest::collection::vec(any::<u8>(), 4096..=4096), at in 0usize..4096) {
        let mut other = bytes.clone();
        other[at] ^= 0x5a;
        let mut out = Vec::new();
        config::compare("sys/x/config", &bytes, &other, &mut out);
        prop_assert_eq!(out.len(), 1);
    }
}

/// Real texts and trees: nothing differs from itself, and nothing of theirs stops the comparison.
#[test]
fn real_sources_do_not_differ_from_themselves() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        println!("SKIPPED: ../shared/data is not here");
        return;
    }
    let mut last: Option<Snapshot> = None;
    let mut read = 0;
    for kind in ["mlxconfig", "sysfs-pci", "ibv_devinfo"] {
        let mut files: Vec<_> =
            std::fs::read_dir(data.join(kind)).into_iter().flatten().flatten().map(|f| f.path()).collect();
        files.sort();
        for path in files.iter().take(12) {
            let options = linerate_snapshot::options_for(path, linerate_snapshot::capture::Purpose::Audit);
            let Ok(s) = linerate_snapshot::load(path, &options, &|_| {}) else { continue };
            assert_eq!(diff(&s, &s), [], "{}", path.display());
            if let Some(before) = &last {
                for c in diff(before, &s) {
                    assert!(!c.summary().is_empty());
                }
            }
            last = Some(s);
            read += 1;
        }
    }
    assert!(read > 0, "nothing of {} could be read", data.display());
}

#[test]
fn a_directory_that_is_filled_or_emptied_is_still_there() {
    let mut empty = snapshot(&[("proc/cmdline", "quiet\n")]);
    empty.add_dir("etc/security/limits.d").unwrap();
    let full = snapshot(&[("proc/cmdline", "quiet\n"), ("etc/security/limits.d/90-linerate.conf", "x\n")]);
    assert_eq!(lines(&diff(&empty, &full)), ["/etc/security/limits.d/90-linerate.conf: appeared: x"]);
    assert_eq!(lines(&diff(&full, &empty)), ["/etc/security/limits.d/90-linerate.conf: vanished: x"]);
    // One that is gone with nothing in it is told.
    let gone = snapshot(&[("proc/cmdline", "quiet\n")]);
    assert_eq!(lines(&diff(&empty, &gone)), ["/etc/security/limits.d: vanished"]);
}

#[test]
fn modules_of_the_path_say_something_and_helpers_do_not() {
    let a = snapshot(&[("proc/modules", "ib_core 1 1 - Live 0x0\n")]);
    let b =
        snapshot(&[("proc/modules", "ib_core 1 1 - Live 0x0\ncrc32_generic 1 0 - Live 0x0\nmlx5_ib 1 0 - Live 0x0\n")]);
    assert_eq!(
        lines(&diff(&a, &b)),
        [
            "~ /proc/modules (crc32_generic): appeared: crc32_generic 1 0 - Live 0x0",
            "/proc/modules (mlx5_ib): appeared: mlx5_ib 1 0 - Live 0x0",
        ]
    );
}
