//! What the rules say of pasted `lspci` texts: small ones written here, and a real machine's where it is at hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use crate::common;

use linerate_node::Node;
use linerate_node::context::Role;
use linerate_rules::{Audit, DependsOn, Severity, Status, audit, rules};
use linerate_snapshot::{Output, OutputKind, Snapshot};
use std::path::Path;

fn lspci(text: &[u8]) -> Snapshot {
    let mut s = Snapshot::new("text");
    let entry = s.add_file("lspci.txt", text).expect("a free path");
    s.outputs.push(Output { kind: OutputKind::Lspci, entry, argv: vec![], status: None });
    s
}

fn told(s: &Snapshot, role: Role) -> Audit {
    audit(&Node::decode_as(s, Some(role)), s, rules())
}

fn said(a: &Audit, rule: &str) -> Vec<(String, Status, Severity, String)> {
    let of = a.verdicts.iter().filter(|v| v.rule.id == rule);
    of.map(|v| (v.finding.subject.to_string(), v.finding.status, v.severity(), v.finding.message.to_string())).collect()
}

#[test]
fn product_names_tell_which_gpus_can() {
    let s = lspci(
        b"01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [GeForce RTX 3090] [10de:2204] (rev a1)\n\
          02:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n\
          03:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2901] (rev a1)\n",
    );
    let a = told(&s, Role::BareMetal);
    let answers: Vec<_> = said(&a, "gpu/gdr-capable").into_iter().map(|(s, st, ..)| (s, st)).collect();
    for (bdf, status) in
        [("0000:01:00.0", Status::Fail), ("0000:02:00.0", Status::Pass), ("0000:03:00.0", Status::Unknown)]
    {
        assert!(answers.contains(&(bdf.to_owned(), status)), "{answers:?}");
    }
    // Here no role is known, and answers that depend on it become unknown.
    common::survey_agrees(&Node::decode(&s), &s, "a text");
}

#[test]
fn a_device_that_fell_off_the_bus_is_found_and_nothing_else_is_said_of_it() {
    let s = lspci(
        b"17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev ff) (prog-if ff)\n\
          \t!!! Unknown header type 7f\n\
          18:00.0 Ethernet controller [0200]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n\
          \tNUMA node: 0\n",
    );
    let a = told(&s, Role::BareMetal);
    let gone = said(&a, "pcie/device-gone");
    assert_eq!(gone.len(), 1, "{gone:?}");
    assert_eq!((gone[0].0.as_str(), gone[0].1, gone[0].2), ("0000:17:00.0", Status::Fail, Severity::Critical));
    let others = a.verdicts.iter().filter(|v| matches!(v.rule.area(), "pcie" | "gpu" | "acs" | "ats"));
    for v in others.filter(|v| v.finding.status == Status::Fail) {
        assert_eq!(v.rule.id, "pcie/device-gone", "{:?}", v.finding);
    }
}

/// A text as somebody pastes it.
fn pasted(name: &str, text: &str) -> Snapshot {
    linerate_snapshot::load_bytes(text.as_bytes(), name).expect("a known text")
}

fn statuses(a: &Audit, rule: &str) -> Vec<(Status, Severity)> {
    said(a, rule).into_iter().map(|(_, st, sev, _)| (st, sev)).collect()
}

/// What `grep LnkSta` leaves: the words of `lspci` stand for the maximum, and the command for the device, as far as they go.
#[test]
fn lines_of_links_are_judged_as_far_as_they_tell() {
    const DEVICE: Option<DependsOn> = Some(DependsOn::Device);
    const NIC: &str = "3b:00.0 Ethernet controller: Mellanox Technologies MT2892 Family [ConnectX-6 Dx]\n";
    const GPU: &str = "3b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)\n";
    const ASKED: &str = "$ lspci -s 3b:00.0 -vv | grep Lnk\n";
    let bad = "\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)\n";
    let cap = "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported\n";
    let right = "\t\tLnkSta:\tSpeed 16GT/s (ok), Width x16 (ok)\n";
    let silent = "\t\tLnkSta:\tSpeed 8GT/s, Width x8\n";
    let port = "$ lspci -vv | grep Lnk\n";
    use Status::{Fail, NotApplicable, Pass, Unknown};
    for (text, speed, width, depends) in [
        (format!("{NIC}{bad}"), Fail, Fail, None),
        (format!("{NIC}{cap}{bad}"), Fail, Fail, None),
        (format!("{NIC}{right}"), Pass, Pass, None),
        (format!("{NIC}{silent}"), Unknown, Unknown, None),
        // A GPU may be idle; its width is not.
        (format!("{GPU}{bad}"), Unknown, Fail, None),
        (format!("{GPU}{cap}{bad}"), NotApplicable, Fail, None),
        (format!("{ASKED}{bad}"), Unknown, Unknown, DEVICE),
        (format!("{ASKED}{cap}{bad}"), Unknown, Unknown, DEVICE),
        (format!("{ASKED}{cap}$ lspci -s 3b:00.0 -vv | grep LnkSta\n{bad}"), Unknown, Unknown, DEVICE),
        (format!("{ASKED}{right}"), Pass, Pass, None),
        (format!("{ASKED}{silent}"), Unknown, Unknown, None),
        // The device's own line below the command: it is known.
        (format!("{ASKED}{NIC}{bad}"), Fail, Fail, None),
        // Lines of nobody knows which device are of none.
        (format!("{port}{bad}"), Unknown, Unknown, None),
    ] {
        let a = told(&pasted("a.txt", &text), Role::BareMetal);
        assert_eq!(statuses(&a, "pcie/link-speed").first().map(|s| s.0), Some(speed), "speed: {text}");
        assert_eq!(statuses(&a, "pcie/link-width").first().map(|s| s.0), Some(width), "width: {text}");
        let found = a.verdicts.iter().filter(|v| v.rule.id == "pcie/link-width").map(|v| v.finding.depends_on);
        assert_eq!(found.collect::<Vec<_>>(), [depends], "{text}");
    }
}

#[test]
fn a_workstation_gets_no_alarm() {
    let bridge = "00:00.0 Host bridge [0600]: Intel Corporation Device [8086:3e30]\n";
    let gpu = "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation TU102 [GeForce RTX 2080 Ti] [10de:1e07]\n\
               \tRegion 1: Memory at 80000000 (64-bit, prefetchable) [size=256M]\n";
    let nic = "02:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n";
    let a = told(&pasted("a.txt", &format!("{bridge}{gpu}")), Role::BareMetal);
    assert_eq!(statuses(&a, "gpu/gdr-capable"), [(Status::Fail, Severity::Info)]);
    assert_eq!(said(&a, "gpu/bar1-size")[0].1, Status::NotApplicable);
    let a = told(&pasted("a.txt", &format!("{bridge}{gpu}{nic}")), Role::BareMetal);
    assert_eq!(statuses(&a, "gpu/gdr-capable"), [(Status::Fail, Severity::High)]);
}

#[test]
fn an_excerpt_of_the_list_does_not_show_what_is_missing() {
    let nic = "02:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n";
    let bridge = "00:00.0 Host bridge [0600]: Intel Corporation Device [8086:3e30]\n";
    let a = told(&pasted("a.txt", nic), Role::BareMetal);
    assert_eq!(said(&a, "gpu/gdr-capable")[0].1, Status::Unknown);
    let a = told(&pasted("a.txt", &format!("{bridge}{nic}")), Role::BareMetal);
    assert_eq!(said(&a, "gpu/gdr-capable")[0].1, Status::NotApplicable);
}

#[test]
fn silence_in_an_excerpt_of_the_log_is_no_pass() {
    let log = "[    0.000000] Linux version 6.8.0\n[    0.000000] Command line: ro quiet\n[    1.000000] pci: done\n";
    let a = told(&pasted("dmesg.txt", log), Role::BareMetal);
    for rule in ["gpumem/xid", "gpumem/driver-init", "gpumem/dmabuf-attach", "gpumem/peermem-symbols"] {
        assert_eq!(said(&a, rule)[0].1, Status::Unknown, "{rule}");
    }
    assert_eq!(said(&a, "cmdline/noats")[0].1, Status::Pass);
    // The same log, which ends in the middle of the command line.
    let cut = &log[..log.find("quiet").unwrap() + 3];
    let a = told(&pasted("dmesg.txt", cut), Role::BareMetal);
    assert_eq!(said(&a, "cmdline/noats")[0].1, Status::Unknown);
}

#[test]
fn a_log_that_could_not_be_read_is_no_empty_log() {
    for text in [&b""[..], b"-- No entries --\n", b"-- Logs begin at Mon --\n-- No entries --\n"] {
        let mut s = Snapshot::new("capture");
        s.coverage = linerate_snapshot::Coverage::Full { not_tried: Vec::new() };
        let entry = s.add_file("cmd/1/stdout", text).expect("a free path");
        s.outputs.push(Output { kind: OutputKind::Dmesg, entry, argv: vec!["journalctl".into()], status: Some(0) });
        let a = told(&s, Role::BareMetal);
        assert_eq!(said(&a, "gpumem/xid")[0].1, Status::Unknown);
        assert_eq!(said(&a, "iommu/faults")[0].1, Status::Unknown);
    }
}

#[test]
fn what_a_text_ends_in_is_not_judged_by_what_follows() {
    let head = "00:00.0 Host bridge [0600]: Intel Corporation Device [8086:3e30]\n\tControl: I/O- Mem+\n\tKernel driver in use: skx\n\n\
                18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n\tControl: I/O- Mem+\n";
    let of = |tail: &str| {
        let a = told(&pasted("lspci.txt", &format!("{head}{tail}")), Role::BareMetal);
        said(&a, "gpumem/driver-loaded")[0].1
    };
    assert_eq!(of("\tKernel driver in use: nvidia\n"), Status::Pass);
    assert_eq!(of("\tKernel driver in use: nvid"), Status::Unknown);
    assert_eq!(of(""), Status::Unknown);
    assert_eq!(of("\n"), Status::Fail);
    let a = told(&pasted("cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro amd_iommu=of"), Role::BareMetal);
    assert_eq!(said(&a, "cmdline/amd-iommu-off")[0].1, Status::Unknown);
}

#[test]
fn a_query_that_may_be_cut_does_not_show_that_nothing_waits() {
    let q = "Device #1:\n----------\nDevice type:  ConnectX7\nDevice:       0000:41:00.0\n\
             Configurations:     Default   Current   Next Boot\n   SRIOV_EN   False(0)  False(0)  False(0)\n";
    let a = told(&pasted("mlxconfig.txt", q), Role::BareMetal);
    assert_eq!(said(&a, "nicfw/pending-reset")[0].1, Status::Unknown);
}

#[test]
fn an_unassigned_region_is_found() {
    let s = lspci(
        b"17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n\
          \tControl: I/O- Mem- BusMaster- SpecCycle-\n\
          \tRegion 0: Memory at 90000000 (64-bit, prefetchable) [size=16M]\n\
          \tRegion 2: Memory at <unassigned> (64-bit, prefetchable) [size=128G]\n",
    );
    let a = told(&s, Role::BareMetal);
    let found = said(&a, "gpu/bar-unassigned");
    assert_eq!((found.len(), found[0].1), (1, Status::Fail), "{found:?}");
    assert!(found[0].3.contains("region 2"), "{found:?}");
}

#[test]
fn a_gpu_without_bar1_is_not_said_to_have_one_of_zero() {
    let gpu = "17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n\
               \tControl: I/O- Mem+ BusMaster+ SpecCycle-\n";
    let of = |regions: &str| {
        said(&told(&pasted("a.txt", &format!("{gpu}{regions}")), Role::BareMetal), "gpu/bar1-size").remove(0)
    };
    let one = of("\tRegion 0: Memory at 90000000 (64-bit, prefetchable) [size=256K]\n");
    assert_eq!(one.1, Status::Unknown);
    assert!(one.3.contains("the largest has 256 KiB"), "{one:?}");
    let one = of("\tRegion 0: Memory at 90000000 (64-bit, prefetchable) [size=16M]\n");
    assert!(one.1 == Status::Unknown && one.3.contains("not among its memory regions"), "{one:?}");
    let one = of(
        "\tRegion 0: Memory at 90000000 (64-bit, prefetchable)\n\tRegion 2: Memory at 3a000000000 (64-bit, prefetchable)\n",
    );
    assert!(one.1 == Status::Unknown && one.3.contains("not in this source"), "{one:?}");
    let one = of("\tRegion 1: Memory at 3a000000000 (64-bit, prefetchable) [size=256M]\n");
    assert!(one.1 == Status::Fail && one.3.contains("BAR1 256 MiB"), "{one:?}");
}

#[test]
fn a_nic_that_no_gpu_needs_says_why() {
    let bridge = "00:00.0 Host bridge [0600]: Intel Corporation Device [8086:3e30]\n\tKernel driver in use: skx\n";
    let nic = "02:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n\
               \tKernel driver in use: mlx5_core\n";
    let mut s = lspci(format!("{bridge}{nic}").as_bytes());
    s.coverage = linerate_snapshot::Coverage::Full { not_tried: Vec::new() };
    let answer = said(&told(&s, Role::BareMetal), "rdma/device-present").remove(0);
    assert_eq!((answer.1, answer.2), (Status::Fail, Severity::Info), "{answer:?}");
    assert!(answer.3.ends_with("no GPU is to be seen that it could serve"), "{answer:?}");
}

/// Data Direct: function, GPU and NIC port wiring of ConnectX-8, with one wrong setting each time.
#[test]
fn data_direct_ports_are_judged_by_their_own_strings() {
    let text = |dma: &str, gpu: &str, inner: &str, root: &str| {
        let port = |bdf: &str, ids: &str, kind: &str, buses: &str, acs: &str| {
            format!(
                "{bdf} PCI bridge [0604]: Device [{ids}] (prog-if 00 [Normal decode])\n\
                 \tBus: {buses}, sec-latency=0\n\tCapabilities: [68] Express (v2) {kind}, MSI 00\n{}\n",
                if acs.is_empty() {
                    String::new()
                } else {
                    format!(
                        "\tCapabilities: [100 v1] Access Control Services\n\
                         \t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+\n\t\tACSCtl:\t{acs}\n"
                    )
                }
            )
        };
        let end =
            |bdf: &str, what: &str| format!("{bdf} {what}\n\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n\n");
        let (up, down) = ("Upstream Port", "Downstream Port (Slot+)");
        [
            port("00:00.0", "10de:22b1", "Root Port (Slot+)", "primary=00, secondary=01, subordinate=06", root),
            port("01:00.0", "15b3:197c", up, "primary=01, secondary=02, subordinate=06", ""),
            port("02:00.0", "15b3:197c", down, "primary=02, secondary=03, subordinate=03", dma),
            port("02:01.0", "15b3:197c", down, "primary=02, secondary=04, subordinate=06", gpu),
            port("04:00.0", "15b3:197c", up, "primary=04, secondary=05, subordinate=06", ""),
            port("05:00.0", "15b3:197c", down, "primary=05, secondary=06, subordinate=06", inner),
            end("03:00.0", "System peripheral [0880]: Mellanox Technologies Device [15b3:2100]"),
            end("06:00.0", "3D controller [0302]: NVIDIA Corporation Device [10de:31c2]"),
        ]
        .concat()
    };
    let dma = "SrcValid+ TransBlk- ReqRedir- CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-";
    let gpu = "SrcValid+ TransBlk- ReqRedir+ CmpltRedir- UpstreamFwd+ EgressCtrl- DirectTrans-";
    let root = "SrcValid- TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-";
    let kernel = "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-";
    let failing = |t: String| -> Vec<String> {
        let s = lspci(t.as_bytes());
        let a = told(&s, Role::BareMetal);
        assert_eq!(said(&a, "acs/direct-nic").len(), 4, "{:?}", said(&a, "acs/direct-nic"));
        assert!(said(&a, "acs/redirect-on-p2p-path").iter().all(|f| f.1 == Status::NotApplicable));
        said(&a, "acs/direct-nic").into_iter().filter(|f| f.1 == Status::Fail).map(|f| f.0).collect()
    };
    assert!(failing(text(dma, gpu, kernel, root)).is_empty());
    assert_eq!(failing(text(kernel, gpu, kernel, root)), ["0000:02:00.0"]);
    assert_eq!(failing(text(dma, kernel, kernel, root)), ["0000:02:01.0"]);
    assert_eq!(failing(text(dma, gpu, kernel, kernel)), ["0000:00:00.0"]);
    // What this rule asked for once: the GPU's value on the port directly above it.
    assert_eq!(failing(text(dma, kernel, gpu, root)), ["0000:02:01.0", "0000:05:00.0"]);
}

#[test]
fn a_real_healthy_machine_gets_no_finding() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/lspci/gpud-lspci-vvv.txt");
    let Ok(bytes) = std::fs::read(path) else { return eprintln!("SKIPPED: ../shared/data is not here") };
    let s = lspci(&bytes);
    let node = Node::decode(&s);
    let a = audit(&node, &s, rules());
    let own = |id: &str| ["acs/", "ats/", "pcie/", "gpu/"].iter().any(|p| id.starts_with(p));
    let bad: Vec<String> = a
        .with(Status::Fail)
        .filter(|v| own(v.rule.id) && v.severity() > Severity::Info)
        .map(|v| format!("{} {}: {}", v.rule.id, v.finding.subject, v.finding.message))
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    for rule in
        ["acs/redirect-on-p2p-path", "pcie/link-width", "pcie/link-speed", "pcie/path-bottleneck", "gpu/bar1-size"]
    {
        assert!(said(&a, rule).iter().any(|f| f.1 == Status::Pass), "{rule} passes nothing");
    }
}

/// Loading what is loaded is no fix: the driver refused this GPU, or was taken from it.
#[test]
fn a_driver_that_runs_is_not_to_be_loaded() {
    let gpu = |at: &str, driver: &str| {
        format!(
            "{at} 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n\tControl: I/O- Mem+\n{driver}\n"
        )
    };
    let bound = "\tKernel driver in use: nvidia\n";
    for (other, loads) in [(gpu("2a:00.0", bound), false), (gpu("2a:00.0", ""), true)] {
        let bridge = "00:00.0 Host bridge [0600]: Intel Corporation Device [8086:3e30]\n\tControl: I/O- Mem+\n\tKernel driver in use: skx\n\n";
        let a = told(&pasted("lspci.txt", &format!("{bridge}{}{other}", gpu("18:00.0", ""))), Role::BareMetal);
        let failed: Vec<_> = a.with(Status::Fail).filter(|v| v.rule.id == "gpumem/driver-loaded").collect();
        assert!(!failed.is_empty());
        for v in failed {
            let action = v.finding.remedy.as_ref().map(|r| &r.action);
            assert_eq!(matches!(action, Some(linerate_rules::Action::LoadModule { .. })), loads, "{action:?}");
        }
    }
}

/// In a guest a small BAR1 may be all that the board has: nothing tells, and nobody is sent to the host for it.
#[test]
fn a_small_bar1_in_a_guest_is_not_the_hosts_fault_without_a_sign() {
    let s = lspci(
        b"00:00.0 Host bridge: Intel Corporation 440FX - 82441FX PMC [Natoma] (rev 02)\n\tSubsystem: Red Hat, Inc Qemu virtual machine\n\n\
          00:03.0 VGA compatible controller: NVIDIA Corporation GK104GL [GRID K520] (rev a1)\n\
          \tRegion 0: Memory at ec000000 (32-bit, non-prefetchable) [size=16M]\n\
          \tRegion 1: Memory at e0000000 (64-bit, prefetchable) [size=128M]\n\n",
    );
    let audit = common::judge(&s);
    let said: Vec<_> =
        audit.verdicts.iter().filter(|v| v.rule.id == "gpu/bar1-size").map(|v| v.finding.status).collect();
    assert_eq!(said, [linerate_rules::Status::Unknown]);
}
