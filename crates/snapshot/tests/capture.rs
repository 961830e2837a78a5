//! Captures of trees that are hard to read.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use linerate_snapshot::capture::{Options, Purpose, capture};
use linerate_snapshot::{Coverage, EntryKind, Lookup, Reader, Snapshot, Why, load};
use std::path::Path;
use std::time::{Duration, Instant};

fn write(root: &Path, p: &str, d: &[u8]) {
    std::fs::create_dir_all(root.join(p).parent().unwrap()).unwrap();
    std::fs::write(root.join(p), d).unwrap();
}

fn take(root: &Path) -> Snapshot {
    capture(&Options::new(root, Purpose::Collect), &|_| {}).unwrap()
}

fn blocked(s: &Snapshot, path: &str) -> Why {
    match s.resolve(path) {
        Lookup::Blocked(_, why) => why,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn fifos_and_sockets_are_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "proc/cpuinfo", b"x\n");
    let fifo = dir.path().join("proc/cmdline");
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("proc/modules")).unwrap();
    std::os::unix::fs::symlink("cmdline", dir.path().join("proc/version")).unwrap();
    let started = Instant::now();
    let s = take(dir.path());
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(matches!(blocked(&s, "proc/cmdline"), Why::Failed(_)));
    assert!(matches!(blocked(&s, "proc/modules"), Why::Failed(_)));
    assert!(matches!(s.resolve("proc/cpuinfo"), Lookup::Found(_)));
}

/// The sockets of sysfs, a file for each CPU, are read only where cpuinfo names none.
#[test]
fn sockets_of_cpus_are_read_once() {
    for (cpuinfo, read) in
        [("processor\t: 0\nphysical id\t: 0\n", false), ("processor\t: 0\nCPU part\t: 0xd4f\n", true)]
    {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "proc/cpuinfo", cpuinfo.as_bytes());
        let id = "sys/devices/system/cpu/cpu3/topology/physical_package_id";
        write(dir.path(), id, b"1\n");
        for purpose in [Purpose::Audit, Purpose::Collect] {
            let s = capture(&Options::new(dir.path(), purpose), &|_| {}).unwrap();
            assert_eq!(matches!(s.resolve(id), Lookup::Found(_)), read, "{cpuinfo:?} {purpose:?}");
        }
    }
}

#[test]
fn large_files_are_cut_and_full_captures_say_so() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "proc/modules", &vec![b'x'; 1 << 20]);
    write(dir.path(), "proc/cmdline", b"ro\n");
    let s = take(dir.path());
    let Lookup::Found(id) = s.resolve("proc/modules") else { panic!() };
    assert_eq!((s.kind(id), s.data(id).len()), (&EntryKind::CutFile, 64 << 10));
    let mut options = Options::new(dir.path(), Purpose::Collect);
    options.max_bytes = 1000;
    let s = capture(&options, &|_| {}).unwrap();
    assert_eq!(s.coverage, Coverage::Partial);
    assert!(s.problems.iter().any(|p| p.contains("full")), "{:?}", s.problems);
}

#[test]
fn links_stay_in_the_tree() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "proc/cpuinfo", b"x\n");
    std::fs::create_dir_all(dir.path().join("sys/class/net")).unwrap();
    std::fs::create_dir_all(dir.path().join("etc")).unwrap();
    for (at, to) in [
        ("etc/os-release", "../../../../../../../../etc/os-release"),
        ("etc/nccl.conf", "/etc/hostname"),
        ("sys/class/net/eth0", "../../../../../../../../../sys/class/net/lo"),
        ("sys/class/net/eth1", "eth1"),
    ] {
        std::os::unix::fs::symlink(to, dir.path().join(at)).unwrap();
    }
    let s = take(dir.path());
    assert!(s.text(s.root(), "etc/os-release").known().is_none());
    assert!(s.text(s.root(), "etc/nccl.conf").known().is_none());
    assert!(s.text(s.root(), "sys/class/net/eth0/mtu").known().is_none());
    assert!(matches!(
        s.child(s.root(), "etc").and_then(|e| s.child(e, "nccl.conf")).map(|l| s.kind(l).clone()),
        Some(EntryKind::Link)
    ));
}

#[test]
fn the_live_host_is_captured_and_read_back() {
    let mut options = Options::new("/", Purpose::Audit);
    options.commands = false;
    let s = capture(&options, &|_| {}).unwrap();
    assert!(matches!(s.resolve("proc/cmdline"), Lookup::Found(_)));
    assert!(s.manifest.time > 0 && !s.manifest.boot_id.is_empty());
    assert!(matches!(s.coverage, Coverage::Full { .. }), "{:?} {:?}", s.coverage, s.problems);
    assert!(s.text(s.root(), "proc/driver/nvidia/version").is_absent() || Path::new("/proc/driver/nvidia").exists());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("host.tar.zst");
    s.save(&path).unwrap();
    let r = Reader::new().read(&path).unwrap();
    assert_eq!(r.text(r.root(), "proc/version").known(), s.text(s.root(), "proc/version").known());
    assert!(matches!(r.coverage, Coverage::Full { .. }));
    assert!(r.text(r.root(), "proc/driver/nvidia/version").is_absent() || Path::new("/proc/driver/nvidia").exists());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    // Unpacked with the usual tool, it is the same snapshot.
    let out = dir.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let tar = std::process::Command::new("tar").arg("--zstd").arg("-xf").arg(&path).arg("-C").arg(&out).status();
    if tar.is_ok_and(|t| t.success()) {
        let u = load(&out, &Options::new(&out, Purpose::Audit), &|_| {}).unwrap();
        assert_eq!((u.len(), &u.coverage), (r.len(), &r.coverage));
    } else {
        println!("SKIPPED: no tar with --zstd here");
    }
}

#[test]
fn commands_of_the_live_host_are_outputs() {
    let s = capture(&Options::new("/", Purpose::Audit), &|_| {}).unwrap();
    let Lookup::Found(cmd) = s.resolve("cmd") else { panic!("no command was tried") };
    assert!(s.children(cmd).len() >= 2);
    for (_, c) in s.children(cmd) {
        assert!(s.child(c, "argv").is_some() && s.child(c, "status").is_some());
    }
    assert!(s.outputs.iter().any(|o| o.kind == linerate_snapshot::OutputKind::Nvml));
}

/// Runs as nobody in a child process: this test again, with a variable that says so.
#[test]
fn what_root_only_may_read_is_denied_to_others() {
    const WITNESS: &str = "LINERATE_TEST_AS_NOBODY";
    if let Some(root) = std::env::var_os(WITNESS) {
        let s = take(Path::new(&root));
        assert_eq!(blocked(&s, "proc/cmdline"), Why::Denied);
        assert_eq!(blocked(&s, "sys/class/dmi/id"), Why::Denied);
        assert!(matches!(s.resolve("proc/cpuinfo"), Lookup::Found(_)));
        return;
    }
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can become nobody");
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    write(dir.path(), "proc/cpuinfo", b"x\n");
    write(dir.path(), "proc/cmdline", b"ro\n");
    write(dir.path(), "sys/class/dmi/id/sys_vendor", b"x\n");
    std::fs::set_permissions(dir.path().join("proc/cmdline"), std::fs::Permissions::from_mode(0o400)).unwrap();
    std::fs::set_permissions(dir.path().join("sys/class/dmi/id"), std::fs::Permissions::from_mode(0o700)).unwrap();
    // The test's own binary may lie where nobody may not look.
    let copy = dir.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    let out = std::process::Command::new(copy)
        .args(["--exact", "capture::what_root_only_may_read_is_denied_to_others", "--nocapture"])
        .env(WITNESS, dir.path())
        .current_dir("/")
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn texts_of_tools_are_recognised() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "lspci.txt", b"41:00.0 Ethernet controller: Mellanox\n");
    write(dir.path(), "cmdline", b"BOOT_IMAGE=/x iommu=pt\n");
    write(dir.path(), "notes.md", b"hello\n");
    let s = load(dir.path(), &Options::new("/", Purpose::Audit), &|_| {}).unwrap();
    assert_eq!(s.outputs.len(), 2);
    assert!(s.problems.iter().any(|p| p.contains("notes.md")));
    let empty = tempfile::tempdir().unwrap();
    write(empty.path(), "notes.md", b"hello\n");
    let e = load(empty.path(), &Options::new("/", Purpose::Audit), &|_| {}).unwrap_err().to_string();
    assert!(e.contains("Expected"), "{e}");
}

const KEYFILE: &[u8] = b"[connection]\nid=site hunter2\nuuid=11111111-2222-3333-4444-555555555555\ntype=ethernet\ninterface-name=eth1\n\n[ethernet]\n\n\
    [802-1x]\npassword=hunter2\nprivate-key-password=hunter2\n\n[ipv4]\nmethod=manual\naddress1=8.8.4.4/24,8.8.4.1\naddress2=10.0.0.1/24\n";

#[test]
fn network_files_are_taken_without_their_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let profile = "etc/NetworkManager/system-connections/eth1.nmconnection";
    write(dir.path(), profile, KEYFILE);
    write(
        dir.path(),
        "run/NetworkManager/devices/3",
        b"[device]\nmanaged=true\nconnection-uuid=11111111-2222-3333-4444-555555555555\n",
    );
    write(dir.path(), "etc/systemd/network/25-wg0.netdev", b"[WireGuard]\nPrivateKey=hunter2\n");
    write(
        dir.path(),
        "etc/systemd/network/10-eth1.network",
        b"[Match]\nName=eth1\n[Network]\nDescription=hunter2\nAddress=10.0.0.1/24\n",
    );
    write(dir.path(), "etc/netplan/50-site.yaml", b"password: hunter2\n");
    let text = |s: &Snapshot, path: &str| match s.resolve(path) {
        Lookup::Found(id) => String::from_utf8(s.data(id).to_vec()).unwrap(),
        other => panic!("{path}: {other:?}"),
    };
    for redact in [false, true] {
        let s = capture(&Options { redact, ..Options::new(dir.path(), Purpose::Collect) }, &|_| {}).unwrap();
        let mut archive = Vec::new();
        for path in [
            profile,
            "run/NetworkManager/devices/3",
            "etc/systemd/network/25-wg0.netdev",
            "etc/systemd/network/10-eth1.network",
            "etc/netplan/50-site.yaml",
        ] {
            archive.extend(text(&s, path).into_bytes());
        }
        let archive = String::from_utf8(archive).unwrap();
        assert!(!archive.contains("hunter2"), "{archive}");
        let uuid = |path: &str| text(&s, path).lines().find_map(|l| Some(l.split_once("uuid=")?.1.to_owned())).unwrap();
        assert_eq!(uuid(profile), uuid("run/NetworkManager/devices/3"), "one uuid is one uuid, redacted or not");
        let found = text(&s, profile);
        assert!(found.contains("\ninterface-name=eth1\n") && found.contains("address2=10.0.0.1/24\n"), "{found}");
        assert_eq!((found.contains("5555"), found.contains("8.8.4.4/24")), (!redact, !redact), "{found}");
        assert_eq!(
            text(&s, "etc/systemd/network/10-eth1.network"),
            "[Match]\nName=eth1\n[Network]\nAddress=10.0.0.1/24\n"
        );
    }
}
