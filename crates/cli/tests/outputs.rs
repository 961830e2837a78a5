//! What `-o` does to files, and what programs that are started see of the environment.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sick-8gpu.tar.zst");

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outputs").join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// A small machine whose kernel moves pages between its NUMA nodes.
fn machine(dir: &Path) -> PathBuf {
    let root = dir.join("node");
    for (path, text) in [
        ("proc/cmdline", "root=/dev/vda1 ro\n"),
        ("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
        ("proc/sys/kernel/hostname", "n1\n"),
        ("proc/sys/kernel/random/boot_id", "5b2a3f38-9f0f-4a3e-9c1e-2f7a8f3f0001\n"),
        ("proc/sys/kernel/numa_balancing", "1\n"),
        ("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu vme msr\n"),
        ("sys/class/dmi/id/sys_vendor", "Supermicro\n"),
        ("sys/class/dmi/id/product_uuid", "27946b59-9e44-4fa7-8e91-f3527a1ef094\n"),
        ("sys/devices/system/node/online", "0-1\n"),
        ("sys/devices/system/node/node0/cpulist", "0\n"),
        ("sys/devices/system/node/node0/distance", "10 21\n"),
        ("sys/devices/system/node/node1/cpulist", "1\n"),
        ("sys/devices/system/node/node1/distance", "21 10\n"),
        ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
        ("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n"),
        ("usr/sbin/sysctl", "#!/bin/sh\n"),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn linerate(home: &Path, arguments: &[&str]) -> Output {
    let mut c = Command::new(env!("CARGO_BIN_EXE_linerate"));
    c.args(arguments).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").output().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(dir: &Path) -> Vec<String> {
    let mut all: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    all.sort();
    all
}

/// Every verb that writes a file with `-o`: for its owner, in place of a link, not through it.
#[test]
fn a_file_is_for_its_owner_and_follows_no_link() {
    let dir = scratch("links");
    let root = machine(&dir);
    let root = root.to_str().unwrap();
    let victim = dir.join("victim");
    let job = dir.join("job.env");
    fs::write(&job, "NCCL_DEBUG=INFO\n").unwrap();
    for verb in [
        &["audit", root][..],
        &["audit", root, "--format", "sarif"],
        &["plan", root, "--format", "json"],
        &["plan", root, "--format", "shell"],
        &["doctor", root],
        &["env", "check", job.to_str().unwrap()],
        &["topo", EXAMPLE, "--format", "rdma-topo-dump"],
        &["collect", "--root", root, "--no-commands", "--quiet"],
    ] {
        fs::write(&victim, "keep").unwrap();
        let out = dir.join("out");
        let _ = fs::remove_file(&out);
        symlink(&victim, &out).unwrap();
        let done = linerate(&dir, &[verb, &["--output", out.to_str().unwrap()]].concat());
        assert_ne!(done.status.code(), Some(3), "{verb:?} {}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(fs::read(&victim).unwrap(), b"keep", "{verb:?}");
        assert!(fs::symlink_metadata(&out).unwrap().is_file(), "{verb:?}");
        assert!(!fs::read(&out).unwrap().is_empty(), "{verb:?}");
        assert_eq!(mode(&out), 0o600, "{verb:?}");
    }
    assert_eq!(names(&dir), ["job.env", "node", "out", "victim"], "nothing is left beside them");
}

/// What is read stays, by whatever name it is written to.
#[test]
fn no_output_takes_the_place_of_an_input() {
    let dir = scratch("inputs");
    let fleet = dir.join("fleet");
    fs::create_dir_all(fleet.join("n1")).unwrap();
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (one, log, env) = (at("one.tar.zst"), at("nccl.log"), at("job.env"));
    for to in [&one, &at("two.tar.zst"), &at("fleet/n1/2026-11-01T00:00:00Z.tar.zst")] {
        fs::copy(EXAMPLE, to).unwrap();
    }
    fs::write(&log, "n1:7:7 [0] NCCL INFO NET/Plugin: none\n").unwrap();
    fs::write(&env, "NCCL_DEBUG=INFO\n").unwrap();
    symlink("one.tar.zst", at("latest.tar.zst")).unwrap();
    let (two, latest, nodes, of_fleet) =
        (at("two.tar.zst"), at("latest.tar.zst"), at("fleet"), at("fleet/n1/2026-11-01T00:00:00Z.tar.zst"));
    let aside = at("fleet/../one.tar.zst");
    for (arguments, output) in [
        (&["audit", &one][..], &one),
        (&["audit", &one], &aside),
        (&["audit", &latest], &one),
        (&["audit", &latest], &latest),
        (&["audit", &one, "--before", &two], &two),
        (&["audit", &nodes], &of_fleet),
        (&["drift", &nodes], &of_fleet),
        (&["plan", &one, "--format", "json"], &one),
        (&["topo", &one], &one),
        (&["diff", &one, &two], &two),
        (&["doctor", &log], &log),
        (&["doctor", &log, "--node", &one], &one),
        (&["env", "check", &env], &env),
        (&["policy", "learn", &nodes], &of_fleet),
        (&["vm", "layout", &one, "--nccl", &one], &two),
    ] {
        let before = fs::read(output).unwrap();
        let said = linerate(&dir, &[arguments, &["-o", output]].concat());
        assert_eq!(said.status.code(), Some(3), "{arguments:?} -o {output}");
        assert!(String::from_utf8_lossy(&said.stderr).contains("is not written"), "{arguments:?} -o {output}");
        assert!(fs::read(output).unwrap() == before, "{arguments:?} -o {output}");
    }
    // A node's tree is where a container has its place to write.
    let root = machine(&dir);
    for _ in 0..2 {
        let to = root.join("node.tar.zst");
        let said = linerate(
            &dir,
            &["collect", "--root", root.to_str().unwrap(), "--no-commands", "--quiet", "-o", to.to_str().unwrap()],
        );
        assert_eq!(said.status.code(), Some(0), "{}", String::from_utf8_lossy(&said.stderr));
    }
    // A report beside what is read is replaced as any other, and what is written to needs no name of its own.
    for output in [at("fleet/report.md"), at("fleet/report.md"), "/dev/null".to_owned(), "-".to_owned()] {
        let said = linerate(&dir, &["audit", &nodes, "--format", "markdown", "-o", &output]);
        assert_eq!(said.status.code(), Some(1), "{output}: {}", String::from_utf8_lossy(&said.stderr));
    }
}

/// Man pages: in place of a link, not through it; on a full disk, the earlier page stays.
#[test]
fn man_pages_are_replaced_whole() {
    let dir = scratch("man");
    let (pages, victim) = (dir.join("pages"), dir.join("victim"));
    fs::create_dir(&pages).unwrap();
    fs::write(&victim, "keep").unwrap();
    symlink(&victim, pages.join("linerate.1")).unwrap();
    fs::write(pages.join("linerate-audit.1"), "earlier").unwrap();
    let full = Command::new("bash")
        .args(["-c", "ulimit -f 0; trap '' XFSZ; \"$1\" man \"$2\"", "sh", env!("CARGO_BIN_EXE_linerate")])
        .arg(&pages)
        .output()
        .unwrap();
    assert_eq!(full.status.code(), Some(3), "{}", String::from_utf8_lossy(&full.stderr));
    assert_eq!(fs::read(pages.join("linerate-audit.1")).unwrap(), b"earlier");
    assert_eq!(names(&pages), ["linerate-audit.1", "linerate.1"], "nothing is left beside them");
    let done = linerate(&dir, &["man", pages.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read(&victim).unwrap(), b"keep");
    for page in names(&pages) {
        assert!(fs::symlink_metadata(pages.join(&page)).unwrap().is_file(), "{page}");
        assert!(fs::read_to_string(pages.join(&page)).unwrap().contains(".SH NAME"), "{page}");
    }
    assert!(names(&pages).len() > 10 && !names(&pages).iter().any(|n| n.contains("hand")), "{:?}", names(&pages));
}

/// A limit on the size of files stands for a full disk: the earlier file is whole, and nothing is left beside it.
#[test]
fn a_file_that_cannot_be_written_leaves_the_earlier_one() {
    let dir = scratch("full");
    let root = machine(&dir);
    let reports = dir.join("reports");
    fs::create_dir(&reports).unwrap();
    let out = reports.join("audit.json");
    fs::write(&out, "earlier").unwrap();
    for verb in
        ["audit \"$2\" --format json", "plan \"$2\" --format json", "collect --root \"$2\" --no-commands --quiet"]
    {
        let script = format!("ulimit -f 0; trap '' XFSZ; \"$1\" {verb} --output \"$3\"");
        let done = Command::new("bash")
            .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_linerate"), root.to_str().unwrap(), out.to_str().unwrap()])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{verb} {said}");
        assert!(said.contains("audit.json"), "{verb} {said}");
        assert_eq!(fs::read(&out).unwrap(), b"earlier", "{verb}");
        assert_eq!(names(&reports), ["audit.json"], "{verb}");
    }
}

/// Programs that write down their environment and fail.
#[test]
fn the_password_of_a_bmc_goes_to_nobody() {
    let dir = scratch("children");
    let root = machine(&dir);
    let root = root.to_str().unwrap();
    let bin = dir.join("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["ssh", "kubectl", "curl"] {
        let path = bin.join(name);
        fs::write(&path, "#!/bin/sh\nenv >>\"$0.env\"\nexit 255\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (redfish, label) =
        (["--redfish", "https://bmc.example", "--redfish-user", "root"], ["--label", "a.example/b=c"]);
    for (name, has, arguments) in [
        ("ssh", "SSH_AUTH_SOCK=agent", vec!["plan", "--host", "n1"]),
        ("kubectl", "KUBECONFIG=config", [&["plan", "--root", root, "--kube-node", "n1"][..], &label].concat()),
        ("curl", "https_proxy=proxy", [&["plan", "--root", root][..], &redfish].concat()),
    ] {
        let done = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(&arguments)
            .env_clear()
            .env("HOME", &dir)
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .envs([("SSH_AUTH_SOCK", "agent"), ("KUBECONFIG", "config"), ("https_proxy", "proxy")])
            .envs([("LINERATE_REDFISH_PASSWORD", "for-the-bmc"), ("SOME_TOKEN", "for-nobody"), ("BASH_ENV", "/x")])
            .output()
            .unwrap();
        let seen = fs::read_to_string(bin.join(format!("{name}.env"))).unwrap_or_default();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(seen.lines().any(|l| l == has), "{name} was not started as it should be: {seen} {said}");
        for secret in ["for-the-bmc", "for-nobody", "BASH_ENV"] {
            assert!(!seen.contains(secret), "{name}: {seen}");
        }
    }
}

/// Runs with a pipe as standard output whose reader is gone.
fn unread(arguments: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    Command::new(env!("CARGO_BIN_EXE_linerate")).args(arguments).stdout(writer).output().unwrap()
}

/// How much of a report a pipe took before its reader left is luck; the verdict does not depend on it. Data that did not arrive is an error.
#[test]
fn an_exit_code_does_not_depend_on_when_the_reader_leaves() {
    for verb in [
        &["audit", EXAMPLE][..],
        &["plan", EXAMPLE, "--format", "json"],
        &["topo", EXAMPLE],
        &["doctor", EXAMPLE],
        &["env", "check", "--node", EXAMPLE],
        &["completions", "bash"],
        &["audit", EXAMPLE, EXAMPLE],
    ] {
        let (done, read) = (unread(verb), Command::new(env!("CARGO_BIN_EXE_linerate")).args(verb).output().unwrap());
        assert_eq!(done.status.code(), read.status.code(), "{verb:?} {}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(done.stderr, read.stderr, "{verb:?}");
    }
    let archive = unread(&["collect", "--no-commands", "--quiet", "--output", "-"]);
    assert_eq!((archive.status.code(), archive.stderr.as_slice()), (Some(141), &b""[..]));
    for _ in 0..100 {
        let mut audit = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(["audit", EXAMPLE])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(audit.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        drop(reader);
        assert_eq!(audit.wait().unwrap().code(), Some(1));
    }
    assert_eq!(unread(&["--help"]).status.code(), Some(0));
}

/// A pipe that was named is a file like others: half a report is an error, with its name.
#[test]
fn a_named_pipe_whose_reader_leaves_is_an_error() {
    let dir = scratch("fifo");
    let pipe = dir.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let name = pipe.clone();
    // It is longer than a pipe holds.
    let reader = std::thread::spawn(move || drop(fs::File::open(name).unwrap()));
    let done = linerate(&dir, &["audit", EXAMPLE, "--format", "json", "--verbose", "--output", pipe.to_str().unwrap()]);
    reader.join().unwrap();
    assert_eq!(done.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&done.stderr).contains("fifo/pipe"), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_full_output_is_an_error() {
    for verb in [&["completions", "bash"][..], &["--help"], &["--version"], &["rules"], &["man"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let done = Command::new(env!("CARGO_BIN_EXE_linerate")).args(verb).stdout(full).output().unwrap();
        assert_eq!(done.status.code(), Some(3), "{verb:?} {}", String::from_utf8_lossy(&done.stderr));
    }
}
