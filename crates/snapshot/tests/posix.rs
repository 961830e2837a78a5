//! The shell script and the capture show the same of this host.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use linerate_snapshot::capture::posix::{read, script};
use linerate_snapshot::capture::{Options, Purpose, capture};
use linerate_snapshot::{EntryId, EntryKind, Snapshot};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

const WORD: &str = "0123456789abcdef";

/// What a shell prints; `None`: there is no such shell here.
fn printed(shell: &[&str]) -> Option<Vec<u8>> {
    let (program, args) = shell.split_first().unwrap();
    let mut command = Command::new(program);
    command.args(args).args(["-c", script(), "linerate-collect", WORD]).stdin(Stdio::null());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("NCCL_DEBUG", "INFO");
    let out = match command.output() {
        Ok(out) => out,
        Err(_) => {
            println!("SKIPPED: {program} not installed");
            return None;
        }
    };
    assert!(out.status.success(), "{shell:?}: {}", String::from_utf8_lossy(&out.stderr));
    Some(out.stdout)
}

const SHELLS: &[&[&str]] = &[&["dash"], &["bash"], &["bash", "--posix"], &["busybox", "ash"]];

/// What is at each path.
fn entries(s: &Snapshot) -> BTreeMap<String, (String, Vec<u8>)> {
    fn add(s: &Snapshot, dir: EntryId, out: &mut BTreeMap<String, (String, Vec<u8>)>) {
        for (_, id) in s.children(dir) {
            out.insert(s.path(id), (format!("{:?}", s.kind(id)), s.data(id).to_vec()));
            if *s.kind(id) == EntryKind::Dir {
                add(s, id, out);
            }
        }
    }
    let mut out = BTreeMap::new();
    add(s, s.root(), &mut out);
    out
}

/// What may differ, and why.
fn excused(path: &str) -> bool {
    // Commands have their own numbers, and print counters.
    path.starts_with("cmd/") || path == "cmd"
        // Memory in use moves.
        || path.ends_with("meminfo")
        // The process that looks is another one.
        || path.starts_with("proc/self") || path.split('/').nth(1).is_some_and(|p| path.starts_with("proc/") && p.bytes().all(|b| b.is_ascii_digit()))
        // A library answers, which a script cannot ask.
        || path == "linerate/nvml.json"
        // Of this test.
        || path == "linerate/env"
        // Counters.
        || path.contains("counters/")
}

#[test]
fn the_script_shows_what_a_capture_shows() {
    let options = Options { redact: false, ..Options::new("/", Purpose::Collect) };
    let one = entries(&capture(&options, &|_| {}).unwrap());
    for shell in SHELLS {
        let Some(bytes) = printed(shell) else { continue };
        let found = read(&bytes, WORD, false).unwrap();
        assert!(found.whole, "{shell:?}");
        let other = entries(&found.snapshot);
        let mut wrong = Vec::new();
        for path in one.keys().chain(other.keys().filter(|p| !one.contains_key(*p))).filter(|p| !excused(p)) {
            let show = |e: Option<&(String, Vec<u8>)>| {
                e.map(|(k, d)| (k.clone(), String::from_utf8_lossy(d.get(..d.len().min(80)).unwrap()).into_owned()))
            };
            if one.get(path) != other.get(path) {
                wrong.push(format!("{path}: capture {:?}, script {:?}", show(one.get(path)), show(other.get(path))));
            }
        }
        let n = wrong.len();
        wrong.truncate(40);
        assert!(wrong.is_empty(), "{shell:?}: {n} of {}\n{}", one.len(), wrong.join("\n"));
    }
}

const SECRET: &str = "hunter2-of-the-test";

/// Files that hold secrets beside what is wanted, of each kind that is cut on the host.
fn plant(root: &Path) {
    let id = "0123456789abcdef0123456789abcdef";
    for (path, text) in [
        (
            "etc/NetworkManager/system-connections/wifi.nmconnection",
            format!(
                "[connection]\nuuid=5c1f\n type = wifi \n[wifi-security]\npsk={SECRET}\n[ethernet]\nmtu=9000\n[x{SECRET}]\nmtu=1\n[ipv4]\naddress1=10.0.0.1/24\naddress=\\\n{SECRET}\nmethod=auto"
            ),
        ),
        (
            "run/systemd/network/10-a.network",
            format!(
                "[Match]\nName=eth0\n[WireGuard]\nPrivateKey={SECRET}\\\n[Network]\nAddress={SECRET}\n[Network]\nDHCP=no\n"
            ),
        ),
        ("run/NetworkManager/devices/3", format!("[device]\nmanaged=true\nconnection-uuid=5c1f\nroot-path={SECRET}\n")),
        (
            "etc/default/grub",
            format!("GRUB_CMDLINE_LINUX=\"a b\"\n# {SECRET}\nGRUB_PASSWORD={SECRET}\n  export GRUB_DEFAULT+=1\n"),
        ),
        (
            "boot/grub2/grub.cfg",
            format!(
                "password_pbkdf2 root {SECRET}\n   set default=\"${{next_entry}}\"\ninsmod ext2\ninsmod x; {SECRET}\n"
            ),
        ),
        (
            "boot/loader/entries/a.conf",
            format!("title T\nmachine-id {id}\noptions root=/dev/vda1\npassword {SECRET}\n"),
        ),
        ("proc/mounts", format!("//srv /mnt cifs rw,password={SECRET} 0 0\ntmpfs /dev/shm tmpfs rw,size=65536k 0 0\n")),
        ("etc/machine-id", format!("{id}\n")),
        ("etc/systemd/network/25-wg0.netdev", format!("[WireGuard]\nPrivateKey={SECRET}\n")),
        ("etc/netplan/50-site.yaml", format!("password: {SECRET}\n")),
        ("boot/config-other", format!("CONFIG_PCI=y\n# {SECRET}\n")),
    ] {
        let at = root.join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }
}

/// A root directory with nothing but busybox in it, and a node's files.
fn node_with_busybox(name: &str) -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes").join(name);
    let mut tree = linerate_compose::Description::load(&at).unwrap().compose().unwrap();
    tree.entries.retain(|path, _| !path.starts_with("linerate/") && !path.starts_with("cmd/"));
    tree.write_to(root).unwrap();
    plant(root);
    let busybox = ["/usr/bin/busybox", "/bin/busybox"].into_iter().find(|p| Path::new(p).exists());
    let Some(busybox) = busybox.filter(|_| rustix::process::geteuid().is_root()) else {
        println!("SKIPPED: busybox not installed, or not root");
        return None;
    };
    let libraries = Command::new("ldd").arg(busybox).output().unwrap().stdout;
    let libraries = String::from_utf8(libraries).unwrap();
    let libraries = libraries.split_whitespace().filter(|w| w.starts_with('/'));
    for from in libraries.chain([busybox]) {
        let to = root.join(from.trim_start_matches('/'));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    }
    std::fs::create_dir_all(root.join("bin")).unwrap();
    std::fs::create_dir_all(root.join("dev")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    let null = rustix::fs::makedev(1, 3);
    rustix::fs::mknodat(rustix::fs::CWD, root.join("dev/null"), rustix::fs::FileType::CharacterDevice, mode, null)
        .unwrap();
    let installed = Command::new("chroot").arg(root).args([busybox, "--install", "-s", "/bin"]).status().unwrap();
    assert!(installed.success());
    Some(dir)
}

/// A large machine, and a host that has busybox and nothing else.
#[test]
fn of_a_large_node_the_script_shows_what_a_capture_shows() {
    for name in ["sick-8gpu.toml"] {
        let Some(dir) = node_with_busybox(name) else { return };
        let began = std::time::Instant::now();
        let out = Command::new("chroot")
            .arg(dir.path())
            .args(["/bin/sh", "-c", script(), "linerate-collect", WORD])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        println!("{name}: {} KiB in {:?}", out.stdout.len() >> 10, began.elapsed());
        let text = String::from_utf8_lossy(&out.stdout);
        for secret in [SECRET, "0123456789abcdef0123456789abcdef"] {
            let at = text.find(secret).map(|at| text.get(at.saturating_sub(300)..at + 40));
            assert!(at.is_none(), "it left the host: {at:?}");
        }
        let began = std::time::Instant::now();
        let found = read(&out.stdout, WORD, false).unwrap();
        println!("read in {:?}", began.elapsed());
        assert!(found.whole);
        let options = Options { redact: false, ..Options::new(dir.path(), Purpose::Collect) };
        let one = entries(&capture(&options, &|_| {}).unwrap());
        let other = entries(&found.snapshot);
        assert!(one.len() > 5000, "{}", one.len());
        let excused = |p: &str| p == "linerate" || p.starts_with("linerate/") || p == "cmd" || p.starts_with("cmd/");
        let mut wrong = Vec::new();
        for path in one.keys().chain(other.keys().filter(|p| !one.contains_key(*p))).filter(|p| !excused(p)) {
            if one.get(path) != other.get(path) {
                let show = |e: Option<&(String, Vec<u8>)>| {
                    e.map(|(k, d)| (k.clone(), String::from_utf8_lossy(d.get(..d.len().min(80)).unwrap()).into_owned()))
                };
                wrong.push(format!("{path}: capture {:?}, script {:?}", show(one.get(path)), show(other.get(path))));
            }
        }
        let n = wrong.len();
        wrong.truncate(30);
        assert!(wrong.is_empty(), "{name}: {n} of {}\n{}", one.len(), wrong.join("\n"));
    }
}

/// Whatever stands in the output, it is read within limits, and a cut one says so.
#[test]
fn an_output_that_is_cut_is_a_part() {
    let Some(bytes) = printed(&["sh"]) else { return };
    for n in 0..40 {
        let cut = bytes.get(..bytes.len() * n / 40).unwrap();
        if let Ok(found) = read(cut, WORD, true) {
            assert!(!found.whole && found.snapshot.incomplete, "{n}");
            assert_eq!(found.snapshot.coverage, linerate_snapshot::Coverage::Partial);
        }
    }
}

mod any {
    use super::*;
    use proptest::prelude::*;

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(format!("\n{WORD} l\n")),
            "[a-z/. *-]{0,12}".prop_map(|p| format!("lrwxrwxrwx 1 0 0 0 Nov 23 21:19 /{p} -> ../{p}\n")),
            "(sys|proc|etc)(/[a-z]{1,3}|/\\.\\.){0,6}".prop_map(|p| format!("-r--r--r-- 1 0 0 0 Nov 23 21:19 /{p}\n")),
            ("[fkexcsr]", "\\PC{0,20}").prop_map(|(l, n)| format!("\n{WORD} {l} /{n}\n")),
            "[0-9 ]{0,6}".prop_map(|n| format!("\n{WORD} c {n}\nx")),
            any::<String>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn any_output_is_read(pieces in proptest::collection::vec(piece(), 0..30)) {
            if let Ok(found) = read(pieces.concat().as_bytes(), WORD, true) {
                prop_assert!(!found.whole);
            }
        }
    }
}
