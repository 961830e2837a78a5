//! Archives that mean harm, or were harmed.

#[path = "../../tests/packs/mod.rs"]
mod packs;

use super::error::OpenError;
use super::{Limits, Reader};
use crate::{Coverage, EntryKind, Lookup, Why};
use linerate_formats::bounds::{GPUS, NET_FUNCTIONS, PATH_DEPTH, PCI_FUNCTIONS};
use std::io::Write;

/// One entry of a tar, as its maker claims it to be.
#[derive(Clone, Copy)]
struct Entry<'a> {
    name: &'a str,
    kind: u8,
    link: &'a str,
    size: Option<u64>,
    data: &'a [u8],
}

fn file<'a>(name: &'a str, data: &'a [u8]) -> Entry<'a> {
    Entry { name, kind: b'0', link: "", size: None, data }
}

fn other<'a>(name: &'a str, kind: u8, link: &'a str) -> Entry<'a> {
    Entry { name, kind, link, size: None, data: b"" }
}

fn header(e: &Entry<'_>) -> [u8; 512] {
    let mut h = [0_u8; 512];
    h[..e.name.len()].copy_from_slice(e.name.as_bytes());
    h[100..107].copy_from_slice(b"0000644");
    let size = e.size.unwrap_or(e.data.len() as u64);
    h[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    h[156] = e.kind;
    h[157..157 + e.link.len()].copy_from_slice(e.link.as_bytes());
    h[257..263].copy_from_slice(b"ustar\0");
    seal(&mut h);
    h
}

fn seal(h: &mut [u8; 512]) {
    h[148..156].copy_from_slice(b"        ");
    let sum: u32 = h.iter().map(|b| u32::from(*b)).sum();
    h[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

fn tar(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for e in entries {
        out.extend_from_slice(&header(e));
        out.extend_from_slice(e.data);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn read(bytes: &[u8]) -> Result<crate::Snapshot, OpenError> {
    Reader::new().read_bytes(bytes, "test")
}

const CPU: &[u8] = b"vendor_id : GenuineIntel\n";

#[test]
fn names_that_lead_out_are_left_out_and_said() {
    let s = read(&tar(&[
        file("proc/cpuinfo", CPU),
        file("../../etc/passwd", b"x"),
        file("sys/class/../../../etc/shadow", b"x"),
        file("/proc/version", b"Linux version 6.8\n"),
    ]))
    .unwrap();
    assert!(matches!(s.resolve("proc/version"), Lookup::Found(_)), "a leading slash is dropped");
    assert!(s.ids().all(|i| s.name(i) != ".." && !s.path(i).contains("shadow")));
    assert!(s.problems.iter().any(|p| p.contains("`..`")), "{:?}", s.problems);
}

#[test]
fn links_out_of_the_tree_lead_nowhere() {
    let s = read(&tar(&[
        file("sys/kernel/x", b"1"),
        other("sys/class/net/a", b'2', "../../../../../../etc/passwd"),
        other("sys/class/net/b", b'2', "/etc/passwd"),
        other("sys/class/net/c", b'2', "c"),
        other("sys/class/net/d", b'2', "d/d/d/d"),
        other("sys/class/net/e", b'2', "../../kernel/x"),
    ]))
    .unwrap();
    for l in ["a", "b", "c", "d"] {
        assert_eq!(s.resolve(&format!("sys/class/net/{l}")), Lookup::Missing, "{l}");
    }
    assert!(matches!(s.resolve("sys/class/net/e"), Lookup::Found(_)));
    // A file below a name that is a link does not go where the link leads.
    let s = read(&tar(&[
        file("proc/cpuinfo", CPU),
        other("sys/class", b'2', "/proc"),
        file("sys/class/cpuinfo", b"false"),
    ]))
    .unwrap();
    assert_eq!(s.text(s.root(), "proc/cpuinfo").known(), Some(&"vendor_id : GenuineIntel"));
}

#[test]
fn hard_links_to_kept_files_are_files() {
    let s = read(&tar(&[
        file("proc/cpuinfo", CPU),
        other("proc/copy", b'1', "proc/cpuinfo"),
        other("proc/lost", b'1', "../../etc/shadow"),
    ]))
    .unwrap();
    assert_eq!(s.read(s.root(), "proc/copy").known(), Some(&CPU));
    assert!(matches!(s.resolve("proc/lost"), Lookup::Blocked(_, Why::Failed(_))));
}

#[test]
fn a_bomb_is_refused_by_its_size_or_its_ratio() {
    let zeros = vec![0_u8; 1 << 20];
    let limits = Limits { unpacked: 8 << 20, ..Limits::default() };
    let mut all: Vec<(&str, Vec<u8>)> = Vec::new();
    let head = tar(&[file("proc/cpuinfo", CPU)]);
    let big = header(&Entry { name: "sys/huge", kind: b'0', link: "", size: Some(64 << 20), data: b"" });
    let mut plain = head[..1024].to_vec();
    plain.extend_from_slice(&big);
    for _ in 0..64 {
        plain.extend_from_slice(&zeros);
    }
    all.push(("zstd", zstd::bulk::compress(&plain, 3).unwrap()));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(&plain).unwrap();
    all.push(("gzip", gz.finish().unwrap()));
    let mut bz = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    bz.write_all(&plain).unwrap();
    all.push(("bzip2", bz.finish().unwrap()));
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&plain).unwrap();
    all.push(("xz", xz.finish().unwrap()));
    for (name, bytes) in all {
        let r = Reader::with_limits(limits).read_bytes(&bytes, name);
        assert!(matches!(r, Err(OpenError::TooLarge { .. })), "{name}: {r:?}");
        // Within the limit the large file passes through, and is not kept.
        let s = Reader::new().read_bytes(&bytes, name).unwrap();
        assert_eq!(
            s.resolve("sys/huge"),
            Lookup::Blocked(s.child(s.child(s.root(), "sys").unwrap(), "huge").unwrap(), Why::TooLarge)
        );
        assert!(s.size() < 4096);
    }
}

#[test]
fn too_many_entries_are_a_clear_error() {
    let names: Vec<String> = (0..300).map(|i| format!("sys/devices/f{i}")).collect();
    let entries: Vec<Entry<'_>> = names.iter().map(|n| file(n, b"1")).collect();
    let r = Reader::with_limits(Limits { entries: 200, ..Limits::default() }).read_bytes(&tar(&entries), "many");
    let text = r.unwrap_err().to_string();
    assert!(text.contains("more than 200 entries") && text.contains("many"), "{text}");
}

#[test]
fn what_is_kept_is_limited() {
    let data = vec![b'x'; 60_000];
    let names: Vec<String> = (0..40).map(|i| format!("sys/devices/f{i}")).collect();
    let entries: Vec<Entry<'_>> = names.iter().map(|n| file(n, &data)).collect();
    let s = Reader::with_limits(Limits { kept: 1 << 20, ..Limits::default() }).read_bytes(&tar(&entries), "x").unwrap();
    assert!(s.size() < 1 << 21);
    assert_eq!(s.coverage, Coverage::Partial);
    assert!(s.problems.iter().any(|p| p.contains("1 MiB")), "{:?}", s.problems);
}

/// Entries of one name: the first is kept, and each of the others would be made again for nothing.
#[test]
fn what_holes_and_hard_links_make_is_limited_too() {
    let data = vec![b'x'; 60_000];
    let link = other("proc/copy", b'1', "proc/cpuinfo");
    let links = tar(&std::iter::once(file("proc/cpuinfo", &data)).chain((0..40).map(|_| link)).collect::<Vec<_>>());
    let mut hole = header(&other("proc/cpuinfo", b'S', ""));
    hole[483..494].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
    seal(&mut hole);
    let holes = [hole.repeat(40), tar(&[file("proc/last", b"1")])].concat();
    for bytes in [links, holes] {
        let limits = Limits { kept: 1 << 20, ..Limits::default() };
        let s = Reader::with_limits(limits).read_bytes(&bytes, "x").unwrap();
        assert_eq!(s.read(s.root(), "proc/cpuinfo").known().map(|d| d.len()), Some(data.len()));
        assert!(matches!(s.resolve("proc/last"), Lookup::Missing));
        assert_eq!(s.coverage, Coverage::Partial);
        assert!(s.problems.iter().any(|p| p.contains("1 MiB")), "{:?}", s.problems);
    }
}

#[test]
fn truncated_archives_keep_what_was_read() {
    let t = tar(&[file("proc/cpuinfo", CPU), file("proc/cmdline", &vec![b'a'; 3000])]);
    for packed in [t[..1024 + 512 + 1000].to_vec(), {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&t[..1024 + 512 + 1000]).unwrap();
        let g = gz.finish().unwrap();
        g[..g.len() - 8].to_vec()
    }] {
        let s = read(&packed).unwrap();
        assert!(matches!(s.resolve("proc/cpuinfo"), Lookup::Found(_)));
        let Lookup::Found(cut) = s.resolve("proc/cmdline") else { panic!() };
        assert_eq!(s.kind(cut), &EntryKind::CutFile);
        assert_eq!(s.coverage, Coverage::Partial);
        assert!(s.problems.iter().any(|p| p.contains("damaged")), "{:?}", s.problems);
    }
    assert!(matches!(read(b""), Err(OpenError::NotASnapshot { .. })));
    assert!(matches!(read(&[0; 4096]), Err(OpenError::NotASnapshot { .. })));
    assert!(matches!(read(b"just some words that no tool prints"), Err(OpenError::NotASnapshot { .. })));
}

#[test]
fn a_damaged_own_archive_is_never_full() {
    let manifest = br#"{"schema":1,"tried":["proc/cpuinfo"]}"#;
    let t = tar(&[file("linerate/manifest.json", manifest), file("proc/cpuinfo", CPU), file("proc/version", CPU)]);
    assert!(matches!(read(&t).unwrap().coverage, Coverage::Full { .. }));
    assert_eq!(read(&t[..2048 + 100]).unwrap().coverage, Coverage::Partial);
    let t = tar(&[file("linerate/manifest.json", b"{ not json"), file("proc/cpuinfo", CPU)]);
    let s = read(&t).unwrap();
    assert_eq!(s.coverage, Coverage::Partial);
    assert!(s.problems[0].contains("manifest.json"));
}

#[test]
fn a_wrong_checksum_ends_the_reading() {
    let mut t = tar(&[file("proc/cpuinfo", CPU), file("proc/version", b"v"), file("proc/cmdline", b"c")]);
    t[1024 + 3] ^= 1;
    let s = read(&t).unwrap();
    assert!(s.problems[0].contains("checksum"), "{:?}", s.problems);
    assert_eq!(s.resolve("proc/cmdline"), Lookup::Missing);
    let mut z = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    z.include_checksum(true).unwrap();
    z.write_all(&tar(&[file("proc/cpuinfo", CPU), file("proc/version", b"v")])).unwrap();
    let mut z = z.finish().unwrap();
    let n = z.len();
    z[n - 1] ^= 1;
    match read(&z) {
        Ok(s) => assert!(s.coverage == Coverage::Partial && !s.problems.is_empty()),
        Err(e) => assert!(matches!(e, OpenError::NotASnapshot { .. }), "{e}"),
    }
}

#[test]
fn gnu_long_names_and_pax_headers() {
    let long = format!("sys/devices/{}/leaf", "x".repeat(150));
    let longer = format!("sys/devices/{}/leaf", "y".repeat(150));
    let record = |k: &str, v: &str| {
        let body = k.len() + v.len() + 3;
        let len = (body..).find(|n| n.to_string().len() + body == *n).unwrap();
        format!("{len} {k}={v}\n")
    };
    let target = format!("../{}", "z".repeat(200));
    let pax = record("path", &longer) + &record("mtime", "1.5");
    let s = read(&tar(&[
        Entry { name: "././@LongLink", kind: b'L', link: "", size: None, data: format!("{long}\0").as_bytes() },
        file("short", b"gnu"),
        Entry { name: "PaxHeaders/x", kind: b'x', link: "", size: None, data: pax.as_bytes() },
        file("short", b"pax"),
        Entry { name: "PaxHeaders/y", kind: b'x', link: "", size: None, data: record("linkpath", &target).as_bytes() },
        other("sys/link", b'2', "cut"),
        Entry { name: "PaxHeaders/z", kind: b'g', link: "", size: None, data: record("path", "sys/wrong").as_bytes() },
        file("sys/after", b"1"),
        Entry { name: "PaxHeaders/bad", kind: b'x', link: "", size: None, data: b"99999999999999999999 path=x\n" },
        file("sys/last", b"1"),
    ]))
    .unwrap();
    let data = |p: &str| match s.resolve(p) {
        Lookup::Found(id) => s.data(id).to_vec(),
        other => panic!("{p}: {other:?}"),
    };
    assert_eq!((data(&long), data(&longer)), (b"gnu".to_vec(), b"pax".to_vec()));
    let link = s.child(s.child(s.root(), "sys").unwrap(), "link").unwrap();
    assert_eq!(s.data(link), target.as_bytes());
    assert_eq!((data("sys/after"), data("sys/last")), (b"1".to_vec(), b"1".to_vec()));
}

#[test]
fn sparse_files_are_put_together() {
    let mut h = header(&Entry { name: "sys/devices/config", kind: b'S', link: "", size: Some(1024), data: b"" });
    let mut piece = |at: usize, offset: u64, len: u64| {
        h[at..at + 11].copy_from_slice(format!("{offset:011o}").as_bytes());
        h[at + 12..at + 23].copy_from_slice(format!("{len:011o}").as_bytes());
    };
    piece(386, 0, 512);
    piece(410, 3584, 512);
    h[483..494].copy_from_slice(format!("{:011o}", 4096).as_bytes());
    seal(&mut h);
    let mut t = h.to_vec();
    t.extend([vec![b'a'; 512], vec![b'b'; 512]].concat());
    let end = tar(&[file("sys/after", b"1")]);
    t.extend_from_slice(&end);
    let s = read(&t).unwrap();
    let Lookup::Found(id) = s.resolve("sys/devices/config") else { panic!() };
    let want = [vec![b'a'; 512], vec![0; 3072], vec![b'b'; 512]].concat();
    assert_eq!(s.data(id), want);
    assert!(matches!(s.resolve("sys/after"), Lookup::Found(_)));
    // A map that points beyond the file, and one that promises gigabytes.
    let mut false_map = h;
    false_map[410..421].copy_from_slice(format!("{:011o}", 1 << 30).as_bytes());
    seal(&mut false_map);
    let bytes = [&false_map[..], &[0; 1024], &end].concat();
    let s = read(&bytes).unwrap();
    assert!(matches!(s.resolve("sys/devices/config"), Lookup::Blocked(..)));
    let mut huge = h;
    huge[483..494].copy_from_slice(format!("{:011o}", 1_u64 << 32).as_bytes());
    seal(&mut huge);
    let s = read(&[&huge[..], &[0; 1024], &end].concat()).unwrap();
    assert!(s.size() < 4096 && matches!(s.resolve("sys/after"), Lookup::Found(_)));
}

#[test]
fn absurd_sizes_and_odd_kinds() {
    let mut h = header(&file("sys/x", b""));
    h[124..136].copy_from_slice(&[0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    seal(&mut h);
    let t = [&tar(&[file("proc/cpuinfo", CPU)])[..1024], &h].concat();
    let s = read(&t).unwrap();
    assert!(!s.problems.is_empty());
    let s = read(&tar(&[file("proc/cpuinfo", CPU), other("sys/fifo", b'6', ""), other("sys/dev", b'3', "")])).unwrap();
    assert!(matches!(s.resolve("sys/fifo"), Lookup::Blocked(_, Why::Failed(_))));
}

#[test]
fn the_tree_is_found_at_any_prefix() {
    let s = read(&tar(&[
        file("./host-1/proc/cpuinfo", CPU),
        file("./host-1/sys/class/net/eth0/mtu", b"9000\n"),
        file("./host-1/proc/4711/environ", b"SECRET=1"),
        file("./host-1/home/sys/notes", b"not it"),
        file("./host-1/etc/os-release", b"ID=x\n"),
        file("./host-1/etc/shadow", b"root"),
        file("./host-1/sos_commands/pci/lspci_-nnvv", b"00:00.0 Host bridge [0600]: Intel [8086:1]\n"),
    ]))
    .unwrap();
    assert_eq!(s.text(s.root(), "sys/class/net/eth0/mtu").known(), Some(&"9000"));
    assert_eq!(s.text(s.root(), "etc/os-release").known(), Some(&"ID=x"));
    assert_eq!(s.resolve("etc/shadow"), Lookup::Missing);
    assert_eq!(s.resolve("proc/4711"), Lookup::Missing);
    assert_eq!(s.outputs.len(), 1);
    assert!(s.text(s.root(), "proc/version").is_unreadable(), "nobody knows what was collected");
}

/// A pack of directories, each in the one before, behind a tar that it belongs to.
fn deep_pack(depth: u32) -> Vec<u8> {
    let tar = tar(&[file("linerate/manifest.json", br#"{"schema":1}"#), file("proc/cpuinfo", CPU)]);
    packs::behind(&tar, &packs::deep(depth))
}

#[test]
fn a_pack_is_no_deeper_than_paths_are() {
    let within = read(&deep_pack(PATH_DEPTH as u32)).unwrap();
    assert_eq!(within.len(), PATH_DEPTH + 1, "the pack was read");
    for depth in [PATH_DEPTH as u32 + 1, 100_000] {
        let s = read(&deep_pack(depth)).unwrap();
        assert!(matches!(s.resolve("proc/cpuinfo"), Lookup::Found(_)), "{depth}: the tar was read in its place");
        assert!(s.len() < 10, "{depth}: {}", s.len());
    }
}

#[test]
fn what_unpacks_beyond_the_budget_is_refused_with_the_option_that_raises_it() {
    let mut text = tar(&[file("proc/cpuinfo", CPU)]);
    text.truncate(1024);
    text.extend(tar(&[Entry { name: "x", kind: b'0', link: "", size: Some(200 << 20), data: b"" }]));
    text.truncate(1536);
    text.resize(text.len() + (200 << 20), 0);
    let packed = zstd::encode_all(&text[..], 1).unwrap();
    let Err(OpenError::TooLarge { why, .. }) = read(&packed) else { panic!("{} bytes were read", packed.len()) };
    assert!(why.contains("--max-input"), "{why}");
    let asked = crate::Budget::new(Some(1 << 30));
    assert!(Reader::within(&asked).read_bytes(&packed, "asked").is_ok());
}

#[test]
fn empty_members_of_bzip2_are_counted() {
    let mut one = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    one.write_all(b"").unwrap();
    let one = one.finish().unwrap();
    let mut u =
        crate::archive::Unpacked::new(std::io::Cursor::new(one.repeat(3000)), &crate::Budget::default()).unwrap();
    let e = std::io::copy(&mut u, &mut std::io::sink()).unwrap_err();
    assert!(e.to_string().contains("members"), "{e}");
    let few = [one.repeat(10), text_member()].concat();
    let mut out = Vec::new();
    std::io::Read::read_to_end(
        &mut crate::archive::Unpacked::new(&few[..], &crate::Budget::default()).unwrap(),
        &mut out,
    )
    .unwrap();
    assert_eq!(out, b"text\n");
}

fn text_member() -> Vec<u8> {
    let mut e = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    e.write_all(b"text\n").unwrap();
    e.finish().unwrap()
}

#[test]
fn a_manifest_of_too_many_patterns_says_nothing_of_what_is_missing() {
    let list = |n: usize| (0..n).map(|i| format!("\"sys/*/a{i}/**\"")).collect::<Vec<_>>().join(",");
    for (n, full) in [(100, true), (200_000, false)] {
        let json = format!(r#"{{"schema":1,"tried":[{}]}}"#, list(n));
        let s = read(&tar(&[file("linerate/manifest.json", json.as_bytes()), file("proc/cpuinfo", CPU)])).unwrap();
        assert_eq!(matches!(s.coverage, Coverage::Full { .. }), full, "{n}");
        assert_eq!(s.problems.is_empty(), full, "{n}: {:?}", s.problems);
    }
}

#[test]
fn more_devices_than_a_node_has_are_refused() {
    let of = |n: usize, class: &'static [u8]| {
        let names: Vec<String> =
            (0..n).map(|i| format!("sys/bus/pci/devices/{:04x}:{:02x}:00.0/class", i >> 8, i & 255)).collect();
        let entries: Vec<_> = names.iter().map(|p| file(p, class)).collect();
        read(&tar(&entries))
    };
    assert!(of(PCI_FUNCTIONS, b"0x060400\n").is_ok());
    for (n, class) in
        [(PCI_FUNCTIONS + 1, &b"0x060400\n"[..]), (GPUS + 1, b"0x030200\n"), (NET_FUNCTIONS + 1, b"0x020700\n")]
    {
        assert!(matches!(of(n, class), Err(OpenError::TooLarge { .. })), "{n}");
    }
}
