//! `linerate topo` as it is called.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use std::path::PathBuf;
use std::process::{Command, Output};

/// A guest: an emulated port with the link that QEMU gives it, above a GPU that is passed through and shows its own, and a NIC that
/// shows none but the emulated.
const GUEST: &str = "\
0000:00:01.0 PCI bridge [0604]: Red Hat, Inc. QEMU PCIe Root port [1b36:000c] (prog-if 00 [Normal decode])
\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0
\tCapabilities: [40] Express (v2) Root Port (Slot+), IntMsgNum 0
\t\tLnkCap:\tPort #0, Speed 2.5GT/s, Width x1, ASPM not supported
\t\tLnkSta:\tSpeed 2.5GT/s, Width x1
0000:00:02.0 PCI bridge [0604]: Red Hat, Inc. QEMU PCIe Root port [1b36:000c] (prog-if 00 [Normal decode])
\tBus: primary=00, secondary=02, subordinate=02, sec-latency=0
\tCapabilities: [40] Express (v2) Root Port (Slot+), IntMsgNum 0
\t\tLnkCap:\tPort #0, Speed 2.5GT/s, Width x1, ASPM not supported
\t\tLnkSta:\tSpeed 2.5GT/s, Width x1
0000:01:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)
\tCapabilities: [60] Express (v2) Endpoint, IntMsgNum 0
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 32GT/s, Width x16
\tKernel driver in use: nvidia
0000:02:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]
\tCapabilities: [60] Express (v2) Endpoint, IntMsgNum 0
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 2.5GT/s, Width x1
\tKernel driver in use: mlx5_core
";

/// Runs it on the guest.
fn topo(test: &str, arguments: &[&str]) -> Output {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("topo-{test}.txt"));
    std::fs::write(&file, GUEST).unwrap();
    Command::new(env!("CARGO_BIN_EXE_linerate")).arg("topo").arg(&file).args(arguments).output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_guests_virtual_links_do_not_count() {
    let out = topo("guest", &["--ceiling"]);
    let text = said(&out.stdout);
    assert!(out.status.success(), "{}", said(&out.stderr));
    assert!(text.contains("GPU0 0000:01:00.0 Gen5 x16,"), "{text}");
    assert!(!text.contains("Gen1"), "{text}");
    assert!(text.contains("a guest does not show the wires"), "{text}");
    assert!(!text.contains("an idle GPU"), "{text}");
    let changed = said(&topo("guest-changed", &["--ceiling", "--what-if", "link=0000:01:00.0:Gen4x8"]).stdout);
    assert!(changed.contains("GPU0 0000:01:00.0 Gen4 x8 of Gen5 x16"), "{changed}");
    let drawn = said(&topo("guest-drawn", &["--format", "dot"]).stdout);
    assert!(!drawn.contains("Gen1"), "{drawn}");
}

#[test]
fn what_would_be_ignored_is_refused() {
    for (arguments, why) in [
        (&["--explain", "GPU0", "NET0", "--format", "json"][..], "--explain has no form `json`"),
        (&["--explain", "GPU0", "NET0", "--format", "xml"], "--explain has no form `xml`"),
        (&["--explain", "GPU0", "NET0", "--ceiling"], "--explain and --ceiling are two reports"),
        (&["--ceiling", "--format", "svg"], "--ceiling has no form `svg`"),
        (&["--ceiling", "--format", "dot"], "--ceiling has no form `dot`"),
        (&["--ceiling", "--format", "xml"], "--ceiling has no form `xml`"),
        (&["--explain", "GPU0", "0000:01:00.0"], "GPU0 and 0000:01:00.0 are one device, GPU0"),
    ] {
        let out = topo("refused", arguments);
        let error = said(&out.stderr);
        assert!(!out.status.success() && out.stdout.is_empty(), "{arguments:?}: {}", said(&out.stdout));
        assert!(error.contains(why), "{arguments:?}: {error}");
    }
    let out = topo("refused-json", &["--ceiling", "--format", "json"]);
    assert!(out.status.success(), "{}", said(&out.stderr));
}
