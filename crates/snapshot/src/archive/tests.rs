use super::*;
use crate::capture::{Options, Purpose, capture};
use crate::{Coverage, EntryKind, Lookup, OutputKind, Snapshot, Why};
use proptest::prelude::*;
use std::path::Path;
use std::sync::OnceLock;

/// A small node, as a tree on disk.
fn node(root: &Path) {
    let write = |p: &str, d: &[u8]| {
        std::fs::create_dir_all(root.join(p).parent().unwrap()).unwrap();
        std::fs::write(root.join(p), d).unwrap();
    };
    let link = |p: &str, t: &str| {
        std::fs::create_dir_all(root.join(p).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(t, root.join(p)).unwrap();
    };
    let dev = "sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0";
    write("proc/cmdline", b"ro iommu=pt password=hunter2\n");
    write("proc/cpuinfo", b"vendor_id : GenuineIntel\n");
    write("proc/sys/kernel/hostname", b"gpu-a-17.example.net\n");
    write(&format!("{dev}/vendor"), b"0x15b3\n");
    write(&format!("{dev}/class"), b"0x020700\n");
    write(&format!("{dev}/unrelated"), b"1\n");
    write(&format!("{dev}/config"), &[0xb3; 4096]);
    write(&format!("{dev}/infiniband/mlx5_0/node_guid"), b"946d:ae03:00ab:cdef\n");
    write(&format!("{dev}/infiniband/mlx5_0/ports/1/gids/0"), b"fe80:0000:0000:0000:946d:ae03:00ab:cdef\n");
    write(&format!("{dev}/infiniband/mlx5_0/ports/1/gids/1"), b"0000:0000:0000:0000:0000:0000:0000:0000\n");
    write(&format!("{dev}/infiniband/mlx5_0/ports/1/gid_attrs/types/0"), b"IB/RoCE v1\n");
    write(&format!("{dev}/infiniband/mlx5_0/ports/1/gid_attrs/types/1"), b"");
    write("sys/firmware/acpi/tables/DMAR", b"secret table");
    link(&format!("{dev}/driver"), "../../../../bus/pci/drivers/mlx5_core");
    link("sys/bus/pci/devices/0000:41:00.0", &format!("../../../../{dev}"));
    link("sys/class/infiniband/mlx5_0", &format!("../../../{dev}/infiniband/mlx5_0"));
    write("home/user/.bash_history", b"no");
}

fn captured() -> Snapshot {
    let dir = tempfile::tempdir().unwrap();
    node(dir.path());
    capture(&Options::new(dir.path(), Purpose::Collect), &|_| {}).unwrap()
}

fn list(s: &Snapshot) -> Vec<(String, EntryKind, Vec<u8>)> {
    let mut all: Vec<_> = s.ids().map(|i| (s.path(i), s.kind(i).clone(), s.data(i).to_vec())).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.retain(|(p, ..)| !p.starts_with("linerate"));
    all
}

fn archive() -> &'static [u8] {
    static ARCHIVE: OnceLock<Vec<u8>> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let mut out = Vec::new();
        captured().write_tar_zst(&mut out).unwrap();
        out
    })
}

#[test]
fn a_tree_becomes_a_snapshot_of_what_the_catalogue_names() {
    let s = captured();
    let text = |p: &'static str| s.text(s.root(), p).known().map(|t| (*t).to_owned());
    assert_eq!(text("sys/bus/pci/devices/0000:41:00.0/vendor").as_deref(), Some("0x15b3"));
    assert_eq!(text("proc/cmdline").as_deref(), Some("ro iommu=pt password=[redacted]"));
    assert_eq!(text("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0").as_deref(), Some("IB/RoCE v1"));
    for absent in ["sys/bus/pci/devices/0000:41:00.0/unrelated", "home/user/.bash_history"] {
        assert_eq!(s.resolve(absent), Lookup::Missing, "{absent}");
    }
    for unused in
        ["sys/class/infiniband/mlx5_0/ports/1/gids/1", "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1"]
    {
        assert_eq!(s.resolve(unused), Lookup::Missing, "{unused}");
    }
    // Names only: it is there, and its content was not kept.
    let Lookup::Found(dmar) = s.resolve("sys/firmware/acpi/tables/DMAR") else { panic!() };
    assert_eq!((s.kind(dmar), s.data(dmar)), (&EntryKind::CutFile, &b""[..]));
    assert_eq!(s.coverage, Coverage::Partial, "no kernel made this tree");
    assert!(s.manifest.redacted && s.manifest.host.starts_with("host-"));
    let gid = text("sys/class/infiniband/mlx5_0/ports/1/gids/0").unwrap();
    assert!(gid.ends_with(&text("sys/class/infiniband/mlx5_0/node_guid").unwrap()));
    assert!(!gid.contains("946d"));
    let driver = s.resolve("sys/bus/pci/devices/0000:41:00.0");
    let Lookup::Found(dev) = driver else { panic!() };
    assert_eq!(s.link_name(dev, "driver").known(), Some(&"mlx5_core"));
}

#[test]
fn what_is_written_is_read() {
    let mut s = captured();
    s.add_failed("sys/kernel/security/lockdown", Why::Denied).unwrap();
    s.add_failed("sys/kernel/slow", Why::TimedOut).unwrap();
    s.add_file(&format!("sys/{}/{}", "d".repeat(90), "n".repeat(200)), b"long name").unwrap();
    s.add_link("sys/long", "../x".repeat(60).as_bytes()).unwrap();
    s.add_file("cmd/0/argv", b"lspci\n-D\n-vvv\n-nn\n").unwrap();
    s.add_file("cmd/0/status", b"0\n").unwrap();
    s.add_file("cmd/0/stdout", b"0000:00:00.0 Host bridge: x\n").unwrap();
    s.problems.push("something".into());
    s.manifest.tried = vec!["proc/cmdline".into()];
    let mut out = Vec::new();
    s.write_tar_zst(&mut out).unwrap();
    let mut again = Vec::new();
    s.write_tar_zst(&mut again).unwrap();
    assert_eq!(out, again, "the same snapshot gives the same bytes");
    let r = Reader::new().read_bytes(&out, "x").unwrap();
    assert_eq!(list(&r), list(&s));
    // The tar says the same as the pack behind it.
    let tar = tar_only().read_bytes(&out, "x").unwrap();
    assert_eq!((list(&tar), &tar.manifest, &tar.coverage), (list(&r), &r.manifest, &r.coverage));
    assert_eq!(r.problems, ["something"]);
    assert_eq!(r.outputs.len(), 1);
    assert_eq!((r.outputs[0].kind, r.outputs[0].status), (OutputKind::Lspci, Some(0)));
    assert!(r.text(r.root(), "proc/version").is_unreadable(), "an older capture did not look there");
    let Coverage::Full { not_tried } = &r.coverage else { panic!() };
    assert!(not_tried.iter().any(|p| p == "proc/version") && !not_tried.iter().any(|p| p == "proc/cmdline"));
    // Read, written and read again, it is the same still.
    let mut third = Vec::new();
    r.write_tar_zst(&mut third).unwrap();
    assert_eq!(list(&Reader::new().read_bytes(&third, "x").unwrap()), list(&s));
}

#[test]
fn a_pack_that_is_not_the_tars_is_passed_over() {
    let a = archive().to_vec();
    let tar_len = zstd::zstd_safe::find_frame_compressed_size(&a).unwrap();
    assert!(pack::find(&a, tar_len).is_some(), "archives have a pack");
    // Damaged anywhere, the tar is read instead.
    for at in (tar_len..a.len()).step_by(7) {
        let mut a = a.clone();
        a[at] ^= 0x10;
        let s = Reader::new().read_bytes(&a, "x").unwrap();
        assert_eq!(list(&s), list(&captured_archive()), "{at}");
    }
    // Behind another tar it does not count.
    let mut other = Vec::new();
    let mut s = captured();
    s.add_file("proc/version", b"another").unwrap();
    s.write_tar_zst(&mut other).unwrap();
    let n = zstd::zstd_safe::find_frame_compressed_size(&other).unwrap();
    other.truncate(n);
    other.extend_from_slice(&a[tar_len..]);
    let s = Reader::new().read_bytes(&other, "x").unwrap();
    assert_eq!(s.text(s.root(), "proc/version").known(), Some(&"another"));
}

fn tar_only() -> Reader {
    let mut r = Reader::new();
    r.no_packs = true;
    r
}

fn captured_archive() -> Snapshot {
    tar_only().read_bytes(archive(), "x").unwrap()
}

const BOUNDS: pack::Bounds = pack::Bounds { entries: 1000, file: 1 << 20, kept: 1 << 20 };

/// The unpacked pack of the archive.
fn pack_body() -> Vec<u8> {
    let a = archive();
    let tar_len = zstd::zstd_safe::find_frame_compressed_size(a).unwrap();
    zstd::decode_all(pack::find(a, tar_len).unwrap()).unwrap()
}

/// Whatever was accepted is a tree in which everything is found again.
fn is_sound(s: &Snapshot) {
    for id in s.ids().skip(1) {
        let dir = s.parent(id).unwrap();
        assert!(dir < id);
        assert_eq!(s.child(dir, s.name(id)), Some(id), "{}", s.path(id));
        assert!(s.children(dir).contains(&(s.name(id), id)));
    }
}

#[test]
fn entries_may_come_to_a_packed_snapshot() {
    let mut s = Snapshot::new("x");
    assert!(pack::read(&mut pack_body(), &mut s, BOUNDS));
    is_sound(&s);
    let new = s.add_file("proc/a new one", b"1").unwrap();
    assert_eq!(s.add_file("proc/a new one", b"2"), None);
    assert_eq!(s.add_file("proc/cmdline", b"2"), None, "it is there already");
    assert_eq!(s.resolve("proc/a new one"), Lookup::Found(new));
    let names: Vec<&str> = s.children(s.child(s.root(), "proc").unwrap()).iter().map(|c| c.0).collect();
    assert!(names.is_sorted() && names.contains(&"a new one") && names.contains(&"cmdline"));
    is_sound(&s);
}

proptest! {
    #[test]
    fn packs_of_any_bytes_never_panic(body in proptest::collection::vec(any::<u8>(), 0..300), n in 0u32..20) {
        let mut body = body;
        if body.len() > 4 { body[..4].copy_from_slice(&n.to_le_bytes()); }
        let mut s = Snapshot::new("x");
        if pack::read(&mut body, &mut s, BOUNDS) { is_sound(&s) }
    }

    #[test]
    fn a_pack_that_was_changed_is_refused_or_sound(at in 0usize..2000, xor in 1u8..255) {
        let mut body = pack_body();
        let n = body.len();
        body[at % n] ^= xor;
        let mut s = Snapshot::new("x");
        if pack::read(&mut body, &mut s, BOUNDS) { is_sound(&s) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damaged_archives_never_panic(at in 0usize..4000, xor in 1u8..255, cut in 0usize..4000) {
        let mut a = archive().to_vec();
        let (n, cut) = (a.len(), cut.min(a.len()));
        a[at % n] ^= xor;
        a.truncate(n - cut / 2);
        let _ = Reader::new().read_bytes(&a, "x");
        let mut tar = Vec::new();
        std::io::Read::read_to_end(&mut zstd::stream::read::Decoder::new(archive()).unwrap(), &mut tar).unwrap();
        let n = tar.len();
        tar[(at * 7) % n] ^= xor;
        tar.truncate(n - cut);
        let _ = Reader::new().read_bytes(&tar, "x");
    }
}

#[test]
fn what_a_limit_left_out_is_known_of_the_archive_too() {
    let written = |s: &Snapshot| {
        let mut out = Vec::new();
        s.write_tar_zst(&mut out).unwrap();
        Reader::new().read_bytes(&out, "x").unwrap()
    };
    let mut s = captured();
    assert!(!written(&s).incomplete);
    s.left_out("the capture is full".to_owned());
    let r = written(&s);
    assert_eq!((r.incomplete, &r.problems[..]), (true, &["the capture is full".to_owned()][..]));
    assert!(written(&r).incomplete);
}
