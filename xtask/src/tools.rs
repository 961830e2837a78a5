//! Programs that tests compare with or run: what is missing is installed, where that is possible. What is not is no failure.

use crate::shell::{self, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why something was not tested, and the tests that said so.
pub(crate) type Skipped = BTreeMap<String, Vec<String>>;

/// Programs, and the Debian package of each.
const TOOLS: &[(&str, &str)] = &[
    ("lspci", "pciutils"),
    ("lstopo-no-graphics", "hwloc-nox"),
    ("zstd", "zstd"),
    ("iperf3", "iperf3"),
    ("sockperf", "sockperf"),
    ("fio", "fio"),
    ("ping", "iputils-ping"),
    ("ib_write_bw", "perftest"),
    ("ip", "iproute2"),
    ("numactl", "numactl"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
    ("busybox", "busybox"),
    ("netplan", "netplan.io"),
    ("grub-script-check", "grub-common"),
    ("systemd-analyze", "systemd"),
    ("shellcheck", "shellcheck"),
    ("ansible-playbook", "ansible-core"),
    ("kubectl", "kubernetes-client"),
    ("nodeset", "clustershell"),
    ("nodeattr", "genders"),
];

/// What cloud-init needs to check a configuration.
const CLOUD_INIT_NEEDS: &[&str] = &[
    "python3-configobj",
    "python3-jinja2",
    "python3-jsonpatch",
    "python3-jsonschema",
    "python3-netifaces",
    "python3-oauthlib",
    "python3-requests",
    "python3-serial",
    "python3-yaml",
];

/// What `nmcli` needs to write a profile by itself.
const NMCLI_NEEDS: &[&str] = &["libnm0", "libreadline8"];

/// NMState's own program. Debian 12 does not have it.
const NMSTATECTL: &str = "nmstatectl@2.2.62";

/// Installs what is missing; says what could not be.
pub(crate) fn install() -> Skipped {
    let mut skipped = Skipped::new();
    let mut skip = |program: &str, what: &str, why: &str| {
        let line = format!("SKIPPED: tests with {program} because {what} is not installed, and {why}");
        println!("{line}");
        skipped.insert(line, Vec::new());
    };
    let here = shell::root().join(".lab/tools");
    // Installed, these would configure this machine.
    let unpack = [("cloud-init", "cloud-init", CLOUD_INIT_NEEDS), ("nmcli", "network-manager", NMCLI_NEEDS)];
    let unpack = unpack.map(|(program, package, needs)| {
        (!shell::has(program) && !here.join(package).is_dir()).then_some((program, package, needs))
    });
    let missing: Vec<_> = TOOLS.iter().filter(|(program, _)| !shell::has(program)).collect();
    if unpack.iter().any(Option::is_some) || !missing.is_empty() {
        let updated = updated();
        for (program, package) in missing {
            if let Err(why) = updated.clone().and_then(|()| installed(&[package])) {
                skip(program, package, &why);
            }
        }
        for (program, package, needs) in unpack.into_iter().flatten() {
            if let Err(why) = updated.clone().and_then(|()| unpacked(package, needs, &here)) {
                skip(program, package, &why);
            }
        }
    }
    if !shell::has("nmstatectl")
        && !here.join("bin/nmstatectl").is_file()
        && let Err(why) = nmstatectl(&here)
    {
        skip("nmstatectl", NMSTATECTL, &why);
    }
    let frames = shell::root().join("lab/emulators/frames-setup");
    if let Err(why) = shell::output(Command::new("sh").arg(frames)) {
        skip("duckdb", "DuckDB or Polars (PyPI)", &why);
    }
    skipped
}

/// Sees to a C++ compiler, with which libFuzzer is built.
pub(crate) fn cxx() -> Result<()> {
    if shell::has("c++") { Ok(()) } else { updated().and_then(|()| installed(&["g++"])) }
}

/// What can be installed is known after this; why nothing can be.
fn updated() -> Result<()> {
    match (is_root(), shell::has("apt-get")) {
        (true, true) => apt(&["update"]),
        (false, _) => Err("this is not root".to_owned()),
        (_, false) => Err("there is no apt-get".to_owned()),
    }
}

fn is_root() -> bool {
    let uid = shell::output(Command::new("id").arg("-u"));
    uid.is_ok_and(|u| u.trim() == "0")
}

fn apt(args: &[&str]) -> Result<()> {
    println!("apt-get {}", args.join(" "));
    let mut c = Command::new("apt-get");
    c.arg("-qq").args(args).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
    shell::status(&mut c)
}

/// Installs Debian packages.
pub(crate) fn installed(packages: &[&str]) -> Result<()> {
    apt(&[&["install", "-y", "--no-install-recommends"], packages].concat())
}

/// Puts a package's files into a folder. Installed, cloud-init would configure this machine at its next boot, and NetworkManager at once.
fn unpacked(package: &str, needs: &[&str], tools: &Path) -> Result<()> {
    installed(needs)?;
    let downloads = tools.join("download");
    let _ = std::fs::remove_dir_all(&downloads);
    std::fs::create_dir_all(&downloads).map_err(|e| format!("cannot make {}: {e}", downloads.display()))?;
    println!("apt-get download {package}");
    // apt's own user may not write there.
    let own = ["-qq", "-o", "APT::Sandbox::User=root", "download", package];
    shell::output(Command::new("apt-get").args(own).current_dir(&downloads))?;
    let entries = std::fs::read_dir(&downloads).map_err(|e| format!("cannot list {}: {e}", downloads.display()))?;
    let files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    // Whole or not at all: what is there is not made again.
    let whole = downloads.join(package);
    for file in &files {
        shell::output(Command::new("dpkg-deb").arg("-x").arg(file).arg(&whole))?;
    }
    let to = tools.join(package);
    std::fs::rename(&whole, &to).map_err(|e| format!("cannot make {}: {e}", to.display()))?;
    let _ = std::fs::remove_dir_all(&downloads);
    Ok(())
}

/// As a program of its own: as a crate of ours it would change the features of serde_json for all tests. Without what asks the kernel and
/// NetworkManager, which tests do not need.
fn nmstatectl(tools: &Path) -> Result<()> {
    println!("cargo install {NMSTATECTL}");
    let only = ["--no-default-features", "--features", "gen_conf"];
    let mut c = shell::cargo();
    c.args(["install", "--quiet", "--locked", "--debug", NMSTATECTL]).args(only).arg("--root").arg(tools);
    // cargo says that the folder is not in PATH.
    shell::output(c.env("CARGO_PROFILE_DEV_DEBUG", "0")).map(|_| ())
}
