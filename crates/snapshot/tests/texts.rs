//! What people paste, by itself and in directories; real outputs where they are present.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{HostOf, Lookup, OpenError, OutputKind, Place, Snapshot, load, load_bytes, options_for};
use std::io::Read;
use std::path::Path;

fn open(path: &Path) -> Result<Snapshot, OpenError> {
    load(path, &options_for(path, Purpose::Audit), &|_| {})
}

/// Files that are not what their folder's tool prints, by the start of their names: what they are instead, and what `load`
/// answers: an output of another kind, or a word of its refusal.
const EXCEPTIONS: &[(&str, Result<OutputKind, &str>, &str)] = &[
    ("cvs__cvs_tests_platform", Err("not recognised"), "prose about lspci"),
    ("jc__tests_fixtures_ubuntu-20.10_lspci-mmv.json", Err("not recognised"), "jc's JSON, not lspci's text"),
    ("jc__tests_fixtures_ubuntu-20.10_lspci-nnmmv.json", Err("not recognised"), "jc's JSON, not lspci's text"),
    ("cvs__docs_reference", Err("not recognised"), "a table of a manual"),
    ("azurehpc-health-checks__test_data_bad_nvlink", Err("state of NVLink"), "nvidia-smi nvlink"),
    ("gpud-nvlink-status", Err("state of NVLink"), "nvidia-smi nvlink"),
    ("insights-core__test_nvidia.1", Err("not recognised"), "a table without its header"),
    ("insights-core__test_nvidia.2", Err("a list of GPUs"), "nvidia-smi -L"),
    ("insights-core__test_nvidia.3", Err("a list of GPUs"), "nvidia-smi -L"),
    ("insights-core__test_nvidia.4", Err("not recognised"), "nvidia-smi -L"),
    ("imbue-4__ibdev2netdev", Ok(OutputKind::Ibdev2netdev), "ibdev2netdev"),
    ("nccltests-71__iblinkinfo", Err("not recognised"), "iblinkinfo: the fabric, not the node"),
];

#[test]
fn real_outputs_load_as_what_they_are() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = here.join("../../../shared/data");
    if !data.is_dir() {
        println!("SKIPPED: ../shared/data is not here");
        return;
    }
    use OutputKind::*;
    let folders: &[(&str, &[OutputKind])] = &[
        ("lspci", &[Lspci]),
        ("lspci-hex", &[Lspci]),
        ("mlxconfig", &[MlxconfigText]),
        ("nvidia-smi", &[NvidiaSmiQuery, NvidiaSmiXml, NvidiaSmiTable]),
        ("topo-m", &[NvidiaSmiTopo]),
        ("ibstat", &[Ibstat]),
        ("ibv_devinfo", &[IbvDevinfo]),
        ("dmesg", &[Dmesg]),
    ];
    let (mut bad, mut used, mut good) = (Vec::new(), Vec::new(), 0);
    for (folder, kinds) in folders {
        let mut files: Vec<_> = std::fs::read_dir(data.join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty());
        for f in files {
            let name = f.file_name().unwrap().to_string_lossy().into_owned();
            let exception = EXCEPTIONS.iter().find(|(n, ..)| name.starts_with(n));
            used.extend(exception.map(|(n, ..)| *n));
            let ok = match (open(&f), exception.map(|e| e.1)) {
                (Ok(s), None) => s.outputs.len() == 1 && kinds.contains(&s.outputs[0].kind),
                (Ok(s), Some(Ok(kind))) => s.outputs.len() == 1 && s.outputs[0].kind == kind,
                (Err(OpenError::NotASnapshot { why, .. }), Some(Err(word))) => why.contains(word),
                _ => false,
            };
            good += usize::from(ok);
            if !ok {
                bad.push(format!("{folder}/{name}: {:?}", open(&f).map(|s| s.outputs).map_err(|e| e.to_string())));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(EXCEPTIONS.iter().all(|(n, ..)| used.contains(n)), "an exception that is none");
    println!("{good} texts");
}

#[test]
fn texts_without_facts_say_what_they_are() {
    let why = |name: &str, bytes: &[u8]| match load_bytes(bytes, name) {
        Err(OpenError::NotASnapshot { why, .. }) => why,
        other => panic!("{name}: {other:?}"),
    };
    assert!(why("log", b"n1:7:7 [0] NCCL INFO Bootstrap : Using ib0\n").starts_with("it is an NCCL log: not a source"));
    assert!(
        why("x.tar.gz", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n").contains("git lfs")
    );
    assert!(why("x", b"").contains("empty"));
    assert!(why("x", b"\x7fELF\0\0\0\0").contains("neither"));
    assert!(why("x", b"to be, or not to be\n").contains("not recognised"));
}

#[test]
fn copies_of_kernel_files_lie_where_the_kernel_has_them() {
    let s = load_bytes(b"processor\t: 0\nvendor_id\t: AuthenticAMD\n", "cpu.txt").unwrap();
    assert!(matches!(s.resolve("proc/cpuinfo"), Lookup::Found(_)));
    assert!(s.outputs.is_empty() && s.problems.is_empty());
}

/// The text packed in each way that people pack.
fn packings(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let read = |mut r: Box<dyn Read + '_>| {
        let mut out = Vec::new();
        r.read_to_end(&mut out).map(|_| out).unwrap()
    };
    vec![
        ("gz", read(Box::new(flate2::read::GzEncoder::new(text, flate2::Compression::best())))),
        ("bz2", read(Box::new(bzip2::read::BzEncoder::new(text, bzip2::Compression::best())))),
        ("xz", read(Box::new(liblzma::read::XzEncoder::new(text, 6)))),
        ("zst", zstd::bulk::compress(text, 3).unwrap()),
    ]
}

#[test]
fn a_packed_text_is_read_like_a_plain_one() {
    let lspci = b"41:00.0 Ethernet controller: X\n\tControl: I/O- Mem+\n";
    let dir = tempfile::tempdir().unwrap();
    for (ending, bytes) in packings(lspci) {
        let name = format!("lspci.{ending}");
        let in_memory = load_bytes(&bytes, &name).unwrap();
        std::fs::write(dir.path().join(&name), &bytes).unwrap();
        let file = open(&dir.path().join(&name)).unwrap();
        let whole = open(dir.path()).unwrap();
        for s in [in_memory, file, whole] {
            assert_eq!(s.outputs.iter().map(|o| o.kind).collect::<Vec<_>>(), [OutputKind::Lspci], "{name}");
            assert_eq!(s.data(s.outputs[0].entry), lspci, "{name}");
            assert!(s.problems.is_empty(), "{:?}", s.problems);
        }
        std::fs::remove_file(dir.path().join(&name)).unwrap();
    }
}

#[test]
fn a_packed_text_is_limited_and_may_be_damaged() {
    let mut text = b"41:00.0 Ethernet controller: X\n".to_vec();
    text.resize(40 << 20, b' ');
    for (ending, bytes) in packings(&text) {
        let s = load_bytes(&bytes, &format!("lspci.{ending}")).unwrap();
        assert_eq!(s.problems.len(), 1, "{ending}: {:?}", s.problems);
        assert!(s.problems[0].ends_with("only the first 16 MiB were read"), "{:?}", s.problems);
        assert!(s.size() <= (16 << 20) + 1000, "{ending}: {}", s.size());
    }
    let mut numbers = String::new();
    for n in 0..50_000_u32 {
        let line = format!("[{n:>5}.000000] mlx5_core 0000:{:02x}:00.0: {}\n", n % 251, n.wrapping_mul(2_654_435_761));
        numbers.push_str(&line);
    }
    for (ending, bytes) in packings(numbers.as_bytes()) {
        let s = load_bytes(&bytes[..bytes.len() / 2], &format!("dmesg.{ending}")).unwrap();
        assert_eq!(s.outputs[0].kind, OutputKind::Dmesg, "{ending}");
        assert!(s.problems.iter().any(|p| p.contains("compression is damaged")), "{ending}: {:?}", s.problems);
        // Nothing comes out of a few bytes, nor out of a header alone.
        for n in [0, 1, 3, 6, 12] {
            assert!(load_bytes(&bytes[..n], "x").is_err(), "{ending} {n}");
        }
    }
}

#[test]
fn the_nodes_of_a_directory_of_texts_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    for host in ["gpu-1", "gpu-2"] {
        let log = format!(
            "Nov 21 07:00:00 {host} kernel: Linux version 6.8.0\nNov 21 07:00:00 {host} kernel: Command line: ro\n"
        );
        std::fs::write(dir.path().join(format!("{host}.log")), log).unwrap();
    }
    let Err(OpenError::Several { names, .. }) = open(dir.path()) else { panic!("two nodes are not one") };
    assert_eq!(names, ["gpu-1", "gpu-2"]);
    let one = open(&dir.path().join("gpu-1")).unwrap();
    assert_eq!((one.outputs.len(), one.problems.len()), (1, 0));
    let Err(OpenError::Several { wanted, .. }) = open(&dir.path().join("gpu-3")) else { panic!("there is none") };
    assert_eq!(wanted.as_deref(), Some("gpu-3"));
}

/// What a loop over hosts leaves: a file for each, with several tools' texts.
#[test]
fn each_file_of_a_directory_may_hold_several_tools() {
    let dir = tempfile::tempdir().unwrap();
    let cmdline = "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.8.0 root=/dev/sda1 iommu=pt\n";
    for file in ["gpu-1.txt", "gpu-2.txt"] {
        std::fs::write(dir.path().join(file), format!("all of {file}\n{cmdline}$ lspci -D -nn\n{GPU}{NIC}")).unwrap();
    }
    let Err(OpenError::Several { names, .. }) = open(dir.path()) else { panic!("two nodes are not one") };
    assert_eq!(names, ["gpu-1.txt", "gpu-2.txt"]);
    let one = open(&dir.path().join("gpu-1.txt")).unwrap();
    let mut kinds: Vec<_> = one.outputs.iter().map(|o| o.kind).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [OutputKind::Lspci, OutputKind::Cmdline]);
    // The operator knows better: both are of one node.
    let said = ["gpu-1.txt", "gpu-2.txt"].map(|f| (f.into(), "gpu".to_owned()));
    let host_of = HostOf::new(said);
    let options = Options { host_of: host_of.clone(), ..options_for(dir.path(), Purpose::Audit) };
    let s = load(dir.path(), &options, &|_| {}).unwrap();
    assert_eq!(s.outputs.len(), 4, "{:?}", s.problems);
    assert!(s.problems.iter().all(|p| p.contains("1 line is of no tool")), "{:?}", s.problems);
    assert!(host_of.unused().is_empty());
    // Evidence names the line of the file.
    let lspci = s.outputs.iter().find(|o| o.kind == OutputKind::Lspci).unwrap();
    let (gpu, shown) = (Place::of(lspci.entry).line(1), s.data(lspci.entry));
    assert!(shown.starts_with(b"0000:18"), "{:?}", String::from_utf8_lossy(shown));
    assert!(s.describe(gpu).ends_with(":5"), "{}", s.describe(gpu));
}

#[test]
fn a_directory_of_texts_notes_what_it_does_not_use() {
    let dir = tempfile::tempdir().unwrap();
    let write = |n: &str, d: &[u8]| std::fs::write(dir.path().join(n), d).unwrap();
    let utf16: Vec<u8> =
        "\u{feff}41:00.0 Ethernet controller: X\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    write("lspci.txt", &utf16);
    write("nccl.log", b"n1:7:7 [0] NCCL INFO Bootstrap : Using ib0\n");
    write("poem", b"to be\n");
    let s = open(dir.path()).unwrap();
    let kinds: Vec<_> = s.outputs.iter().map(|o| o.kind).collect();
    assert_eq!(kinds, [OutputKind::Lspci, OutputKind::Other]);
    assert!(s.data(s.outputs[0].entry).starts_with(b"41:00.0 Ethernet"));
    assert_eq!(s.problems.len(), 2, "{:?}", s.problems);
    assert!(s.problems[0].starts_with("nccl.log: an NCCL log: not a source of facts"));
    std::fs::remove_file(dir.path().join("lspci.txt")).unwrap();
    assert!(matches!(open(dir.path()), Err(OpenError::NotASnapshot { .. })));
}

const GPU: &str = "0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)\n";
const NIC: &str = "0000:19:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]\n";

#[test]
fn a_paste_of_several_tools_is_one_node() {
    let text = format!(
        "it is slow since Monday\n\nroot@n1:~# cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.8.0 root=/dev/sda1 iommu=pt\n\
         root@n1:~# lspci -D -nn\n{GPU}{NIC}root@n1:~# grep . /sys/class/infiniband/mlx5_0/ports/1/*\n\
         /sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE\n/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)\n\
         root@n1:~#\n\nthank you\n"
    );
    let s = load_bytes(text.as_bytes(), "ticket.txt").unwrap();
    let mut kinds: Vec<_> = s.outputs.iter().map(|o| o.kind).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [OutputKind::FileDump, OutputKind::Lspci, OutputKind::Cmdline]);
    let state = s.text(s.root(), "sys/class/infiniband/mlx5_0/ports/1/state");
    assert_eq!(state.known(), Some(&"4: ACTIVE"));
    assert_eq!(s.problems, ["ticket.txt: 2 lines are of no tool that is read, the first is line 1"]);
}

#[test]
fn a_paste_of_two_nodes_is_not_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ticket.txt");
    std::fs::write(&path, format!("good node:\n{GPU}{NIC}\nbad node:\n{GPU}\n")).unwrap();
    let Err(OpenError::Several { names, .. }) = open(&path) else { panic!("two nodes are not one") };
    assert_eq!(names, ["1", "2"]);
    let second = open(&path.join("2")).unwrap();
    assert_eq!(second.outputs.len(), 1);
    assert!(!String::from_utf8_lossy(second.data(second.outputs[0].entry)).contains("Mellanox"));
}
