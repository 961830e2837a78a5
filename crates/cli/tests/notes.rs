//! The texts of the field notes, pasted as they stand there, each with one command: the answer is the one that its author needed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::Value;
use std::process::Command;

/// What a command answers in JSON, run beside a file of this text.
fn answer(file: &str, text: &str, args: &[&str]) -> (Value, Option<i32>) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(file), text).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(args)
        .args(["--format", "json"])
        .current_dir(dir.path())
        .env("LINERATE_STORE", dir.path().join("history.db"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    let json = serde_json::from_str(&said)
        .unwrap_or_else(|e| panic!("{args:?}: {e}\n{said}\n{}", String::from_utf8_lossy(&out.stderr)));
    (json, out.status.code())
}

/// Ids of rules with a verdict, in an audit of one text.
fn failing(text: &str) -> Vec<String> {
    let (json, _) = answer("paste.txt", text, &["audit", "paste.txt"]);
    let all = json["verdicts"].as_array().unwrap();
    let fails = all.iter().filter(|f| f["status"] == "fail");
    fails.map(|f| f["rule"].as_str().unwrap().to_owned()).collect()
}

/// N0: one value per cell decides nothing, whatever the table suggests.
#[test]
fn n0_two_columns_of_one_table() {
    let table = "\
| all-reduce size | passthrough GB/s | disabled GB/s |
|---|---|---|
| 1 MB | 5.91 | 5.90 |
| 4 MB | 23.25 | 23.17 |
| 16 MB | 75.92 | 75.71 |
| 64 MB | 89.23 | 88.90 |
| 256 MB | 92.44 | 91.98 |
| 512 MB | 93.04 | 92.26 |
| 1024 MB | 93.08 | 92.30 |
| 2048 MB | 93.13 | 92.37 |
";
    let (json, code) = answer("n0.md", table, &["bench", "compare", "n0.md"]);
    let all = json["comparisons"].as_array().unwrap();
    assert_eq!((all.len(), code), (8, Some(2)));
    assert!(all.iter().all(|c| c["verdict"] == "inconclusive"), "{all:?}");
    let names = [&json["a"]["name"], &json["b"]["name"]].map(|n| n.as_str().unwrap_or_default().to_owned());
    assert!(names[0].contains("passthrough") && names[1].contains("disabled"), "{names:?}");
}

/// N1: the switch that shows settings differs, which is nothing to do; what a NIC hides, or a person says in words, is no value.
#[test]
fn n1_settings_of_two_nodes_side_by_side() {
    let text = "\
| mlxconfig setting | u25 | u36 before |
|---|---|---|
| ADVANCED_PCI_SETTINGS | True(1) | False(0) |
| MAX_ACC_OUT_READ | 128 | missing |
| PCI_WR_ORDERING | per_mkey(0) | mixed between NICs |
";
    let (json, _) = answer("paste.md", text, &["audit", "paste.md"]);
    let all = json["verdicts"].as_array().unwrap();
    let of: Vec<_> = all.iter().filter(|v| v["rule"] == "nicfw/mixed-between-nics").collect();
    let said: Vec<_> =
        of.iter().map(|v| [&v["subject"], &v["status"]].map(|w| w.as_str().unwrap_or_default())).collect();
    assert_eq!(said, [["ADVANCED_PCI_SETTINGS", "fail"], ["node", "unknown"]], "{of:?}");
    assert_eq!(of[0]["severity"], "info");
    let fails = all.iter().filter(|v| v["status"] == "fail" && v["severity"] != "info").count();
    assert_eq!(fails, 0, "{all:?}");
}

/// N1: `iommu=pt` on the command line and no IOMMU group: the words do nothing, and the node is right as it is.
#[test]
fn n1_passthrough_without_an_iommu() {
    let text = "\
sh-5.1# cat /proc/cmdline
BOOT_IMAGE=(hd0,gpt3)/ostree/rhcos/vmlinuz-5.14.0-284.45.1.el9_2.x86_64 rw ignition.platform.id=metal root=UUID=11 amd_iommu=on iommu=pt
sh-5.1# ls /sys/kernel/iommu_groups | wc -l
0
";
    let (json, _) = answer("paste.txt", text, &["audit", "paste.txt"]);
    let all = json["verdicts"].as_array().unwrap();
    let of = |rule: &str| all.iter().filter(|f| f["rule"] == rule).map(|f| f["status"].clone()).collect::<Vec<_>>();
    assert!(!of("cmdline/amd-iommu-on").is_empty());
    assert!(of("cmdline/iommu-pt-without-iommu").iter().all(|s| s == "fail" || s == "unknown"), "{all:?}");
}

/// N2: the three ways in which a recipe delivers kernel arguments, and the words in it that no kernel knows.
#[test]
fn n2_a_recipe_before_the_boot() {
    let grub = "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"iommu=pt pci=noacs,relloc\"\n";
    let machine = "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: 99-gpu\nspec:\n  kernelArguments:\n    - iommu=pt\n    - pci=noacs\n    - pci=relloc\n";
    let talos = "machine:\n  install:\n    extraKernelArgs:\n      - iommu=pt\n      - pci=noacs\n      - pci=relloc\n";
    for text in [grub, machine, talos] {
        let found = failing(text);
        for rule in ["cmdline/noacs", "cmdline/pci-unknown-option"] {
            assert!(found.iter().any(|f| f == rule), "{rule} of {text}: {found:?}");
        }
        let (json, _) = answer("paste.txt", text, &["audit", "paste.txt"]);
        let all = json["verdicts"].as_array().unwrap();
        let next = all.iter().find(|f| f["rule"] == "cmdline/next-boot-differs").unwrap();
        assert_eq!(next["status"], "unknown", "what runs is not in the text: {next}");
    }
}

/// N3: the figure is what 40 Gb/s carry: MiB that perftest calls MB, at the MTU that RoCE has on these cards.
#[test]
fn n3_a_table_without_its_head() {
    let table = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\nConflicting CPU frequency values detected: 1200.000000 != 3600.000000. CPU Frequency is not max.\n 65536      5000             4554.51            4554.47\t\t   0.072872\n";
    let (json, _) = answer("n3.txt", table, &["doctor", "n3.txt", "--link", "40G,mtu=2048"]);
    let figure = &json["figures"][0];
    assert!((figure["value"].as_f64().unwrap() - 38.2).abs() < 0.1, "{figure}");
    assert_eq!(figure["reached"], true, "nothing is wrong with it: {figure}");
}

/// N4: a tenth of the bandwidth in guests: the detour over the root complex fits, no step of a link does.
#[test]
fn n4_guests_at_a_tenth() {
    let table = "                    RDMA_Write BW Test\n Dual-port       : OFF          Device         : mlx5_0\n Link type       : IB\n ---------------------------------------------------------------------------------------\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      5000             35.20              35.01              0.066776\n";
    let (json, _) = answer("n4.txt", table, &["doctor", "n4.txt", "--link", "400G,ib"]);
    let fits = json["figures"][0]["fits"].as_array().unwrap().clone();
    assert!(fits.iter().any(|f| f["id"] == "path/detour"), "{fits:?}");
    assert!(!fits.iter().any(|f| f["id"].as_str().unwrap().starts_with("pcie/")), "{fits:?}");
    assert!(json["figures"][0]["next"]["command"].is_string(), "{}", json["figures"][0]);
}
