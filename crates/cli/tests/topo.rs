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

const AMD: &str = "\
0000:01:00.0 Processing accelerators [1200]: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X] [1002:74a1]
\tKernel driver in use: amdgpu
0000:02:00.0 Processing accelerators [1200]: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X] [1002:74a1]
\tKernel driver in use: amdgpu
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
    assert!(text.contains("a guest does not show the real links"), "{text}");
    assert!(!text.contains("an idle GPU"), "{text}");
    let changed = said(&topo("guest-changed", &["--ceiling", "--what-if", "link=0000:01:00.0:Gen4x8"]).stdout);
    assert!(changed.contains("GPU0 0000:01:00.0 Gen4 x8 of Gen5 x16"), "{changed}");
    let drawn = said(&topo("guest-drawn", &["--format", "dot"]).stdout);
    assert!(!drawn.contains("Gen1"), "{drawn}");
}

/// AMD's GPUs are GPUs: the refusal says what is not computed, and the exit code is that of a node without a topology.
#[test]
fn amd_gpus_are_named_and_not_modelled() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("topo-amd.txt");
    std::fs::write(&file, AMD).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_linerate")).arg("topo").arg(&file).output().unwrap();
    assert_eq!(out.status.code(), Some(3));
    let text = said(&out.stderr);
    assert!(text.contains("2 AMD GPUs") && text.contains("RCCL"), "{text}");
}

/// Of a matrix alone the types and the nearest NICs are said, and no bandwidth; what needs more is refused with what to add.
#[test]
fn a_matrix_alone_tells_types_and_nearest_nics() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("topo-matrix.txt");
    let text = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\tPIX\t0-31\t0\nGPU1\tNV18\t X \tSYS\t32-63\t1\n\
                NIC0\tPIX\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n";
    std::fs::write(&file, text).unwrap();
    let run = |more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_linerate")).arg("topo").arg(&file).args(more).output().unwrap()
    };
    let out = run(&[]);
    let text = said(&out.stdout);
    assert!(out.status.success(), "{}", said(&out.stderr));
    for word in ["NV18 NVL GPU0–GPU1", "GPU0 PIX mlx5_0", "GPU1 SYS mlx5_0", "UNKNOWN"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("GB/s"), "{text}");
    let refused = run(&["--ceiling"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(said(&refused.stderr).contains("lspci -vvv"), "{}", said(&refused.stderr));
}

/// `--format rdma-topo-dump` needs sysfs; what comes out is read again, and the same comes out.
#[test]
fn a_dump_is_written_and_read() {
    let text = std::fs::read_to_string("../../lab/nodes/healthy/gb200-tray.toml").unwrap();
    let tree = linerate_compose::Description::parse(&text).unwrap().compose().unwrap();
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("topo-dump");
    let _ = std::fs::remove_dir_all(&dir);
    tree.write_to(&dir).unwrap();
    let dump = |source: &std::path::Path| {
        let arguments = ["--format", "rdma-topo-dump", "--no-redact"];
        let out =
            Command::new(env!("CARGO_BIN_EXE_linerate")).arg("topo").arg(source).args(arguments).output().unwrap();
        assert!(out.status.success(), "{}", said(&out.stderr));
        out.stdout
    };
    let first = dump(&dir);
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("topo-dump.json");
    std::fs::write(&file, &first).unwrap();
    let second = dump(&file);
    assert!(!first.is_empty() && first == second);
    let audit = Command::new(env!("CARGO_BIN_EXE_linerate")).arg("audit").arg(&file).output().unwrap();
    assert!(matches!(audit.status.code(), Some(0..=2)), "{:?} {}", audit.status, said(&audit.stderr));
    assert_eq!(topo("no-dump", &["--format", "rdma-topo-dump"]).status.code(), Some(3));
    std::fs::remove_dir_all(&dir).unwrap();
}

/// The drawing marks what `--ceiling` says, whatever NICs there are that no GPU uses; its numbers of NICs are the matrix's.
#[test]
fn a_drawing_says_what_the_report_says() {
    for name in ["sick-8gpu", "healthy-8gpu"] {
        let source = format!("{}/../../examples/{name}.tar.zst", env!("CARGO_MANIFEST_DIR"));
        let run = |arguments: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_linerate"))
                .arg("topo")
                .arg(&source)
                .args(arguments)
                .output()
                .unwrap()
                .stdout
        };
        for nodes in ["1", "4"] {
            let value: serde_json::Value =
                serde_json::from_slice(&run(&["--nodes", nodes, "--ceiling", "--format", "json"])).unwrap();
            let list = if nodes == "1" { &value["ceilings"]["intra"] } else { &value["ceilings"]["inter"] };
            let high = |c: &serde_json::Value| c["bus"]["result"]["high"].as_f64().unwrap();
            let reduce = list
                .as_array()
                .unwrap()
                .iter()
                .filter(|c| c["collective"].as_str().is_some_and(|c| c.contains("educe")));
            let best = reduce.max_by(|a, b| high(a).total_cmp(&high(b))).unwrap();
            let limiting = best["bus"]["limiting"]["name"].as_str().unwrap().to_owned();
            let drawn = said(&run(&["--nodes", nodes, "--format", "svg"]));
            let marked =
                drawn.split("Bottleneck: ").nth(1).unwrap().split(['<', '(']).next().unwrap().trim().to_owned();
            assert!(limiting.contains(&marked), "{name}, {nodes} nodes: {marked:?} and {limiting:?}");
        }
        let text = String::from_utf8(run(&[])).unwrap();
        let drawn = String::from_utf8(run(&["--format", "svg"])).unwrap();
        for line in text.lines().map(str::trim).filter(|l| l.starts_with("NIC") && l.contains(": mlx5_")) {
            let (column, device) = line.split_once(": ").unwrap();
            let badge = format!(">{}<", column.replace("NIC", "N"));
            // The badge and the name stand in one card.
            let card = drawn.split("<g").find(|g| g.contains(&format!(">{device}<")));
            assert!(card.is_none_or(|c| c.contains(&badge)), "{name}: {line}");
        }
    }
}

/// A text of `lspci` shows neither ports nor drivers: what hangs on them says so in each place.
#[test]
fn what_the_source_does_not_show_is_marked_at_each_conclusion() {
    let out = topo("open", &["--format", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let open = |v: &serde_json::Value| v["open"].as_array().map_or(0, Vec::len);
    assert!(open(&value) > 0, "{value}");
    for list in ["local", "gdr"] {
        let all = value[list].as_array().unwrap();
        assert!(!all.is_empty() && all.iter().all(|v| open(v) > 0), "{list}: {all:?}");
    }
    assert_eq!(value["unused_nics"].as_array().map(Vec::len), Some(0));
    let told = topo("told", &["--format", "json", "--assume-nic-gbps", "400"]);
    let value: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let named = value["open"].as_array().unwrap().iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>();
    assert!(!named.contains(&"nic-speed") && !named.contains(&"nic-ports"), "{named:?}");
}

#[test]
fn releases_that_never_were_are_refused() {
    for (release, beside) in
        [("9.9", "2.30.7"), ("2.21.4", "2.20.5 and 2.21.5"), ("2.3", "2.7"), ("2.31.1", "2.30.7"), ("2.1", "2.3.5")]
    {
        let out = topo("release", &["--nccl", release]);
        assert!(out.status.code() == Some(3) && out.stdout.is_empty(), "{release}");
        assert!(said(&out.stderr).contains(beside), "{release}: {}", said(&out.stderr));
    }
    let out = topo("release", &["--what-if", "nccl=2.21.4"]);
    assert_eq!(out.status.code(), Some(3), "{}", said(&out.stdout));
    assert!(topo("release", &["--nccl", "2.21"]).status.success());
}

#[test]
fn what_would_be_ignored_is_refused() {
    for (arguments, why) in [
        (&["--explain", "GPU0", "NET0", "--format", "json"][..], "--explain cannot be written as `json`"),
        (&["--explain", "GPU0", "NET0", "--format", "xml"], "--explain cannot be written as `xml`"),
        (&["--explain", "GPU0", "NET0", "--ceiling"], "--explain and --ceiling are different reports"),
        (&["--ceiling", "--format", "svg"], "--ceiling cannot be written as `svg`"),
        (&["--ceiling", "--format", "dot"], "--ceiling cannot be written as `dot`"),
        (&["--ceiling", "--format", "xml"], "--ceiling cannot be written as `xml`"),
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

/// AMD's GPUs are no `sm 64` of NVIDIA's, and what NCCL does with such is no answer.
#[test]
fn a_topology_of_rccl_is_not_answered_as_nccls() {
    let gpu = "<gpu dev=\"0\" sm=\"64\" gcn=\"906\" arch=\"38911\" rank=\"0\" gdr=\"1\"/>";
    let xml = |gpu: &str| {
        format!(
            "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"143\" modelid=\"49\" affinity=\"f\" host_hash=\"0x1\"><pci busid=\"0000:1d:00.0\" class=\"0x038000\" link_speed=\"16 GT/s\" link_width=\"16\">{gpu}</pci></cpu></system>"
        )
    };
    for (name, gpu, ok) in
        [("rccl", gpu.to_owned(), false), ("nccl", gpu.replace(" gcn=\"906\" arch=\"38911\"", ""), true)]
    {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("topo-{name}.xml"));
        std::fs::write(&file, xml(&gpu)).unwrap();
        let out = Command::new(env!("CARGO_BIN_EXE_linerate")).arg("topo").arg(&file).output().unwrap();
        assert_eq!(out.status.success(), ok, "{name}: {}", said(&out.stderr));
        assert_eq!(out.stdout.is_empty(), !ok, "{name}");
    }
}

#[test]
fn one_gpu_has_no_bandwidth_between_gpus() {
    let text = said(&topo("one-gpu", &["--assume-sm", "90", "--assume-nvlinks", "0"]).stdout);
    assert!(!text.contains("GB/s between GPUs") && !text.contains("by LOC between GPUs"), "{text}");
}

/// A packed XML is the same topology, whatever packs it; part of one is none.
#[test]
fn a_packed_xml_is_read() {
    let example = format!("{}/../../examples/healthy-8gpu.tar.zst", env!("CARGO_MANIFEST_DIR"));
    let run =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_linerate")).arg("topo").args(arguments).output().unwrap();
    let xml = run(&[&example, "--format", "xml"]).stdout;
    assert!(xml.starts_with(b"<system"), "{}", said(&xml));
    let file = |name: &str, bytes: &[u8]| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_string_lossy().into_owned()
    };
    let plain = run(&[&file("topo.xml", &xml), "--format", "json"]);
    assert!(plain.status.success(), "{}", said(&plain.stderr));
    let text = |out: &[u8], name: &str| String::from_utf8_lossy(out).replace(name, "topo.xml");
    let same = text(&plain.stdout, "topo.xml");
    let zst = zstd::encode_all(&xml[..], 3).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, &xml).unwrap();
    for (name, bytes) in [("topo.xml.zst", zst.clone()), ("topo.xml.gz", gz.finish().unwrap())] {
        let out = run(&[&file(name, &bytes), "--format", "json"]);
        assert_eq!(text(&out.stdout, name), same, "{name}: {}", said(&out.stderr));
    }
    // A second frame that is cut: the first one is all that can be read.
    let cut = [&zst[..], &zst[..zst.len() / 2]].concat();
    let out = run(&[&file("cut.xml.zst", &cut)]);
    assert_eq!(out.status.code(), Some(3));
    assert!(said(&out.stderr).contains("zstd compression is damaged"), "{}", said(&out.stderr));
}
