//! Sources that hold several nodes: trees beside each other, and archives inside archives.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{Limits, OpenError, Reader, Snapshot, SourceKind, load, load_bytes, options_for, sources};
use std::io::Write;
use std::path::Path;

/// A tar of files.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (path, data) in files {
        let mut h = [0_u8; 512];
        let mut put = |at: usize, text: &[u8]| h[at..at + text.len()].copy_from_slice(text);
        put(0, path.as_bytes());
        put(100, b"0000644\0");
        put(124, format!("{:011o}", data.len()).as_bytes());
        put(148, b"        ");
        put(156, b"0");
        let sum: u32 = h.iter().map(|b| u32::from(*b)).sum();
        h[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        out.extend_from_slice(&h);
        out.extend_from_slice(data);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn tree(prefix: &str, release: &str) -> Vec<(String, Vec<u8>)> {
    vec![
        (format!("{prefix}proc/sys/kernel/osrelease"), format!("{release}\n").into_bytes()),
        (format!("{prefix}proc/cmdline"), b"ro\n".to_vec()),
        (format!("{prefix}sys/class/net/eth0/mtu"), b"1500\n".to_vec()),
    ]
}

fn tar_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    tar(&files.iter().map(|(p, d)| (p.as_str(), d.as_slice())).collect::<Vec<_>>())
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}

/// Places of nodes, with their release or why they could not be read.
fn nodes(bytes: &[u8]) -> (Vec<(String, String)>, Result<(), OpenError>) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.tar");
    std::fs::write(&file, bytes).unwrap();
    let mut out = Vec::new();
    let done = Reader::new().read_each(&file, &mut |at, node| {
        out.push((at.to_owned(), node.map_or_else(|e| e.reason(), |s| release(&s))));
    });
    (out, done)
}

fn release(s: &Snapshot) -> String {
    s.text(s.root(), "proc/sys/kernel/osrelease").known().map_or("", |t| t.trim()).to_owned()
}

fn owned(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn trees_beside_each_other_are_nodes() {
    let both = [tree("mg/nodes/gpu001/", "6.1"), tree("mg/nodes/gpu002/", "6.2")].concat();
    let (found, done) = nodes(&tar_of(&both));
    assert_eq!(found, owned(&[("mg/nodes/gpu001", "6.1"), ("mg/nodes/gpu002", "6.2")]));
    done.unwrap();
    let e = load_bytes(&tar_of(&both), "mg.tar").unwrap_err();
    assert!(matches!(&e, OpenError::Several { names, .. } if names == &["gpu001", "gpu002"]), "{e}");
    assert_eq!(e.to_string(), "mg.tar holds 2 nodes: gpu001, gpu002. Name one, as in mg.tar/gpu001");
    // One tree is one node, as before, also where a part of another lies in it.
    let one = [tree("sos/", "6.1"), tree("sos/var/lib/container/", "5.0")].concat();
    assert_eq!(nodes(&tar_of(&one)).0, owned(&[("", "6.1")]));
}

#[test]
fn archives_in_archives_are_nodes() {
    let (one, two) = (gz(&tar_of(&tree("", "6.1"))), gz(&tar_of(&tree("host/", "6.2"))));
    let other = gz(&tar(&[("notes.txt", b"nothing")]));
    let files: [(&str, &[u8]); 5] = [
        ("mg/nodes/gpu001/sysinfo.tgz", &one),
        ("mg/nodes/gpu002/sysinfo.tgz", &two),
        ("mg/logs/old.tar.gz", &other),
        ("mg/nodes/gpu003/sysinfo.tgz", b"no archive"),
        ("mg/nodes/gpu004/var/crash.tgz", &two),
    ];
    let whole = tar(&files);
    let expected = [("mg/nodes/gpu001/sysinfo.tgz", "6.1"), ("mg/nodes/gpu002/sysinfo.tgz", "6.2")];
    for bytes in [whole.clone(), gz(&whole)] {
        let (found, done) = nodes(&bytes);
        done.unwrap();
        assert_eq!(found[..2], owned(&expected));
        assert!(found.len() == 3 && found[2].1.contains("not a snapshot"), "{found:?}");
    }
    // A path goes on into the archive.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mg.tar");
    std::fs::write(&file, &whole).unwrap();
    let open = |p: &Path| load(p, &options_for(p, Purpose::Audit), &|_| {});
    assert_eq!(release(&open(&file.join("gpu002")).unwrap()), "6.2");
    assert_eq!(release(&open(&file.join("nodes/gpu001/sysinfo.tgz")).unwrap()), "6.1");
    let e = open(&file.join("gpu009")).unwrap_err().to_string();
    assert!(e.contains("holds no node gpu009, but gpu001, gpu002"), "{e}");
    // The only node of an archive in an archive is the archive's.
    assert_eq!(nodes(&tar(&[("a/b.tgz", &one)])).0, owned(&[("", "6.1")]));
}

#[test]
fn archives_in_archives_stay_within_the_limits() {
    // Four below the outermost: one too deep.
    let mut deep = tar_of(&tree("", "6.1"));
    for _ in 0..3 {
        deep = tar(&[("in/a.tar", &deep)]);
    }
    assert_eq!(nodes(&deep).0, owned(&[("", "6.1")]));
    let (found, _) = nodes(&tar(&[("in/a.tar", &deep)]));
    assert!(found.len() == 1 && found[0].1.contains("ARCHIVES_DEEP is 3"), "{found:?}");
    // What came out of an archive earns nothing: a second layer costs what the first one does.
    let zeros = gz(&tar(&[("zeros", &vec![0; 72 << 20])]));
    let twice = gz(&tar(&[("a.tgz", &zeros)]));
    let (found, _) = nodes(&twice);
    assert!(found.iter().all(|(_, why)| why.contains("too large")), "{found:?}");
    // A limit of an archive holds for those inside.
    let many: Vec<(String, Vec<u8>)> =
        (0..50).map(|n| (format!("sys/class/net/eth{n}/mtu"), b"1\n".to_vec())).collect();
    let bytes = tar(&[("a.tar", &tar_of(&many))]);
    let limits = Limits { entries: 20, ..Limits::default() };
    assert!(matches!(Reader::with_limits(limits).read_bytes(&bytes, "x"), Err(OpenError::TooLarge { .. })));
    // Cut in the middle of the second: the first is whole, the rest is said.
    let (one, two) = (tar_of(&tree("", "6.1")), tar_of(&tree("", "6.2")));
    let whole = tar(&[("n1/x.tar", &one), ("n2/x.tar", &two)]);
    let (found, done) = nodes(&whole[..whole.len() - two.len()]);
    assert_eq!(found.first(), owned(&[("n1/x.tar", "6.1")]).first(), "{found:?}");
    assert!(done.is_err_and(|e| e.reason().contains("the rest is missing")));
}

#[test]
fn a_directory_is_listed_once_for_all() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, data: &[u8]| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, data).unwrap();
    };
    let of = |prefix: &str| tree(prefix, "6.1").iter().for_each(|(p, d)| write(p, d));
    of("gpu001/20261101T120000Z/");
    of("gpu001/20261102T120000Z/");
    write("gpu002/20261101T120000Z.tar.zst", b"x");
    of("mg/image/nodes/gpu003/");
    write("mg/image/nodes/gpu004/sysinfo.tgz", b"x");
    write("mg/image/nodes/gpu005/lspci.txt", b"0000:00:00.0 Host bridge [0600]: Intel Device [8086:09a2]\n");
    write("mg/image/namespaces/x/current.log", b"nothing\n");
    write("rack/gpu006.tar.gz", b"x");
    write("rack/gpu007.tar.gz", b"x");
    write("sosreport-gpu008-2026-11-01.tar.xz", b"x");
    write("index.parquet", b"x");
    write("notes/a.doc", b"x");
    let all = sources(dir.path()).unwrap();
    let labels: Vec<&str> =
        all.sources.iter().filter(|s| s.kind != SourceKind::Unknown).map(|s| s.label.as_str()).collect();
    let expected =
        ["gpu001", "gpu001", "gpu002", "gpu003", "gpu004", "gpu005", "gpu006", "gpu007", "sosreport-gpu008-2026-11-01"];
    assert_eq!(labels, expected);
    assert_eq!(all.sources.iter().filter(|s| s.kind == SourceKind::Unknown).count(), 1);
    let newest = all.newest();
    assert!(newest.iter().filter(|s| s.label == "gpu001").all(|s| s.name.ends_with("20261102T120000Z")));
    // One node is read: they are named.
    let e = load(dir.path(), &options_for(dir.path(), Purpose::Audit), &|_| {}).unwrap_err();
    assert!(matches!(&e, OpenError::Several { names, .. } if names.len() == 2), "{e}");
}

/// What is in a node's directory of a must-gather: the archive that `gather-sysinfo snapshot` makes, and what tools printed.
fn must_gather(dir: &str) -> Vec<(String, Vec<u8>)> {
    let sysinfo = gz(&tar_of(&[
        ("machineinfo.json".to_owned(), b"{}".to_vec()),
        ("proc/cmdline".to_owned(), b"ro iommu=pt\n".to_vec()),
        ("proc/meminfo".to_owned(), b"MemTotal:       1055000000 kB\n".to_vec()),
        ("sys/bus/pci/devices/0000:18:00.0/vendor".to_owned(), b"0x15b3\n".to_vec()),
        ("sys/devices/system/node/node0/cpulist".to_owned(), b"0-3\n".to_vec()),
        ("sys/devices/system/node/node0/distance".to_owned(), b"10\n".to_vec()),
    ]));
    let lspci = "18:00.0 0207: 15b3:1021\n\tSubsystem: 15b3:0041\n\tLnkSta:\tSpeed 32GT/s, Width x16\n\n";
    let dmesg = "[    0.000000] Linux version 5.14.0-427.13.1.el9_4.x86_64 (mockbuild@x) #1 SMP\n\
        [   12.000000] mlx5_core 0000:18:00.0: firmware version: 28.39.1002\n";
    let of = |node: &str| format!("{dir}/nodes/{node}");
    let text = |at: String, text: &str| (at, text.as_bytes().to_vec());
    vec![
        text(format!("{dir}/version"), "openshift/must-gather\n4.16.0\n"),
        text(format!("{dir}/cluster-scoped-resources/core/nodes/gpu001.yaml"), "apiVersion: v1\nkind: Node\n"),
        text(format!("{dir}/nodes/debug"), "[ns/10.0.0.1/pod]\n"),
        // Its texts before and behind its archive.
        text(format!("{}/dmesg", of("gpu001")), dmesg),
        text(format!("{}/cpu_affinities.json", of("gpu001")), "{}"),
        (format!("{}/sysinfo.tgz", of("gpu001")), sysinfo),
        text(format!("{}/lspci", of("gpu001")), lspci),
        text(format!("{}/proc_cmdline", of("gpu001")), "ro quiet\n"),
        text(format!("{}/sysinfo.log", of("gpu001")), "done\n"),
        // `oc exec` failed, and the archive is empty.
        text(format!("{}/dmesg", of("gpu002")), dmesg),
        (format!("{}/sysinfo.tgz", of("gpu002")), b"error: timed out\n".to_vec()),
        // Texts alone.
        text(format!("{}/lspci", of("gpu003")), lspci),
        text(format!("{}/dmesg", of("gpu003")), dmesg),
        // Nothing of use.
        text(format!("{}/pods_info.json", of("gpu004")), "{}"),
    ]
}

/// A node's command line, whether it has a tree, and the kinds of its outputs.
type Shown = (String, bool, Vec<String>);

fn shown(s: &Snapshot) -> Shown {
    let cmdline = s.text(s.root(), "proc/cmdline").known().map_or("", |t| t.trim()).to_owned();
    let tree = s.text(s.root(), "sys/devices/system/node/node0/cpulist").known().is_some();
    let mut kinds: Vec<String> = s.outputs.iter().map(|o| format!("{:?}", o.kind)).collect();
    kinds.sort();
    (cmdline, tree, kinds)
}

/// An archive and a directory of a must-gather say the same of each node, by its tree and what tools printed beside it.
#[test]
fn a_must_gather_is_read_with_what_is_beside_the_trees() {
    let root = "must-gather.local.591/quay-io-openshift-release-dev-sha256-0a1b";
    let files = must_gather(root);
    let expected = [
        ("gpu001", "ro iommu=pt", true, &["Cmdline", "Dmesg", "Lspci"][..]),
        ("gpu002", "", false, &["Dmesg"][..]),
        ("gpu003", "", false, &["Dmesg", "Lspci"][..]),
    ];
    let is = |found: &[(String, Shown)]| {
        for ((name, shown), (node, cmdline, tree, kinds)) in found.iter().zip(expected) {
            assert_eq!((name.as_str(), shown.0.as_str(), shown.1), (node, cmdline, tree));
            assert_eq!(shown.2, kinds, "{node}");
        }
        assert_eq!(found.len(), expected.len());
    };
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("must-gather.tar.gz");
    std::fs::write(&archive, gz(&tar_of(&files))).unwrap();
    let mut found = Vec::new();
    Reader::new()
        .read_each(&archive, &mut |at, node| {
            let name = linerate_snapshot::node_name(at, false).to_owned();
            found.push((name, shown(&node.unwrap_or_else(|e| panic!("{at}: {e}")))));
        })
        .unwrap();
    found.sort();
    is(&found);
    // Files of one node that lie apart are still one node's.
    let mut mixed = files.clone();
    mixed.sort_by_key(|(path, _)| path.rsplit('/').next().map(str::to_owned));
    std::fs::write(&archive, tar_of(&mixed)).unwrap();
    let mut names = Vec::new();
    Reader::new()
        .read_each(&archive, &mut |at, _| names.push(linerate_snapshot::node_name(at, false).to_owned()))
        .unwrap();
    names.sort();
    assert_eq!(names, ["gpu001", "gpu002", "gpu003"]);
    // Texts behind a node that was handed on are no node of their own, and said.
    mixed.reverse();
    std::fs::write(&archive, tar_of(&mixed)).unwrap();
    let mut late = Vec::new();
    Reader::new().read_each(&archive, &mut |at, node| late.push((at.ends_with("gpu001"), node.is_err()))).unwrap();
    assert!(late.contains(&(true, true)) && late.len() == 5, "{late:?}");

    let below = dir.path().join("unpacked");
    for (path, data) in &files {
        let path = below.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, data).unwrap();
    }
    let listed = sources(&below).unwrap().sources;
    let mut found = Vec::new();
    for source in listed.iter().filter(|s| s.kind != SourceKind::Unknown) {
        let options = options_for(&source.path, Purpose::Audit);
        linerate_snapshot::load_each(&mut Reader::new(), &source.path, &options, &mut |at, node| {
            assert_eq!(at, "");
            found.push((source.label.clone(), shown(&node.unwrap_or_else(|e| panic!("{}: {e}", source.name)))));
        })
        .unwrap();
    }
    is(&found);
    let own = below.join(root).join("nodes/gpu001");
    assert_eq!(shown(&load(&own, &options_for(&own, Purpose::Audit), &|_| {}).unwrap()), found[0].1);
}
