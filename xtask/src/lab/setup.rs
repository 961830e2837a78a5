//! `cargo xtask lab setup`: QEMU on this machine, kernels and the guests' tools in `.lab`. Idempotent.

use super::cpio::Archive;
use super::{Paths, Result, closure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Alias and the Debian package that depends on the newest kernel of its line. The first must be there; the others may be missing
/// (their scenarios are skipped).
pub(super) const KERNELS: &[(&str, &str)] = &[("6.1", "linux-image-amd64"), ("6.12", "linux-image-6.12-amd64")];

/// The guest's tools and the libraries they need, from the Debian release that this machine runs.
const PACKAGES: &[&str] = &[
    "busybox-static",
    "ibverbs-providers",
    "ibverbs-utils",
    "iproute2",
    "kmod",
    "libbpf1",
    "libbsd0",
    "libc6",
    "libcap2",
    "libcom-err2",
    "libdb5.3",
    "libelf1",
    "libgcc-s1",
    "libgssapi-krb5-2",
    "libibumad3",
    "libibverbs1",
    "libk5crypto3",
    "libkeyutils1",
    "libkmod2",
    "libkrb5-3",
    "libkrb5support0",
    "liblzma5",
    "libmd0",
    "libmnl0",
    "libnl-3-200",
    "libnl-route-3-200",
    "libpci3",
    "libpcre2-8-0",
    "librdmacm1",
    "libselinux1",
    "libssl3",
    "libtirpc3",
    "libxtables12",
    "libzstd1",
    "pciutils",
    "perftest",
    "zlib1g",
];

/// Programs that every guest carries, besides busybox.
const PROGRAMS: &[&str] = &[
    "bin/ip",
    "usr/bin/rdma",
    "sbin/rdma",
    "usr/bin/lspci",
    "usr/bin/setpci",
    "usr/bin/ib_read_bw",
    "usr/bin/ib_write_bw",
    "usr/bin/ib_write_lat",
    "usr/bin/ibv_devinfo",
    "usr/bin/ibv_devices",
];

/// Most seconds of one program of setup.
const LIMIT: &str = "600";

/// Changes here make setup build the initramfs again.
const BASE_VERSION: &str = "2";

/// Installs and fetches what is missing.
pub(super) fn setup(paths: &Paths) -> Result<()> {
    fs::create_dir_all(&paths.cache).map_err(|e| format!("lab: cannot make {}: {e}", paths.cache.display()))?;
    if run("qemu-system-x86_64", &["--version"]).is_err() {
        install_qemu()?;
    }
    let stamp = paths.cache.join("base.version");
    if fs::read_to_string(&stamp).unwrap_or_default() != BASE_VERSION || !paths.cache.join("base.cpio").exists() {
        let _ = fs::remove_dir_all(paths.debian());
        fetch(paths, PACKAGES, &paths.debian())?;
        base_initramfs(paths)?;
        fs::write(&stamp, BASE_VERSION).map_err(|e| format!("lab: cannot write {}: {e}", stamp.display()))?;
    }
    for (at, (alias, package)) in KERNELS.iter().enumerate() {
        if let Err(why) = kernel(paths, alias, package) {
            if at == 0 {
                return Err(why);
            }
            eprintln!("lab: NO KERNEL {alias}: its scenarios will be SKIPPED: {why}");
        }
    }
    disk_guests();
    redfish(paths);
    missing(paths, KERNELS[0].0).map_or_else(
        || {
            println!("lab: ready ({})", paths.cache.display());
            Ok(())
        },
        Err,
    )
}

/// Why nothing can be booted here; `None` when QEMU is there.
pub(super) fn missing_qemu() -> Option<String> {
    let no = run("qemu-system-x86_64", &["--version"]).is_err();
    no.then(|| "no qemu-system-x86_64: run `cargo xtask lab setup`".to_owned())
}

/// What makes and runs the guests that have a disk. Without it their scenarios are skipped.
fn disk_guests() {
    let packages = super::disk::packages();
    if packages.is_empty() {
        return;
    }
    println!("lab: installing {}", packages.join(" "));
    let args = [&["install", "-y", "-q", "--no-install-recommends"], &packages[..]].concat();
    let installed = run("apt-get", &["update", "-q"]).and_then(|_| run("apt-get", &args));
    if let Err(why) = installed {
        eprintln!("lab: NO DISK GUESTS: their scenarios will be SKIPPED: {why}");
    }
}

/// A Redfish service for the tests of `linerate-apply`. Without it they are skipped.
fn redfish(paths: &Paths) {
    let script = paths.root.join("lab/emulators/redfish-setup");
    match run("sh", &[&script.display().to_string(), &paths.cache.join("redfish").display().to_string()]) {
        Ok(words) => print!("{words}"),
        Err(why) => eprintln!("lab: NO REDFISH SERVICE: its tests will be SKIPPED: {why}"),
    }
}

/// Why scenarios of this kernel cannot run; `None` when they can.
pub(super) fn missing(paths: &Paths, kernel: &str) -> Option<String> {
    let hint = "run `cargo xtask lab setup`";
    if let Some(why) = missing_qemu() {
        return Some(why);
    }
    if !paths.cache.join("base.cpio").exists() {
        return Some(format!("no guest tools in {}: {hint}", paths.cache.display()));
    }
    if !paths.kernel(kernel).join("vmlinuz").exists() {
        return Some(format!("no kernel {kernel} in {}: {hint}", paths.cache.display()));
    }
    None
}

fn run(program: &str, args: &[&str]) -> Result<String> {
    run_in(Path::new("."), program, args)
}

fn run_in(folder: &Path, program: &str, args: &[&str]) -> Result<String> {
    // A mirror that does not answer must not hang the lab.
    let output = Command::new("timeout")
        .args(["-k", "10", LIMIT, program])
        .args(args)
        .current_dir(folder)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output()
        .map_err(|e| format!("lab: cannot run {program}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = words.lines().rev().take(5).collect();
    Err(format!("lab: {program} {} failed:\n{}", args.join(" "), last.into_iter().rev().collect::<Vec<_>>().join("\n")))
}

fn install_qemu() -> Result<()> {
    println!("lab: installing QEMU");
    run("apt-get", &["update", "-q"])?;
    let base = ["install", "-y", "-q", "--no-install-recommends", "--allow-downgrades", "qemu-system-x86"];
    // A newer qemu-utils from elsewhere conflicts with the release's QEMU: then it has to go back to the release's.
    run("apt-get", &base).or_else(|_| {
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let code = release.lines().find_map(|l| l.strip_prefix("VERSION_CODENAME=")).unwrap_or("bookworm").to_owned();
        let utils = format!("qemu-utils/{code}");
        run("apt-get", &[&base[..], &[utils.as_str()]].concat())
    })?;
    Ok(())
}

/// Downloads packages and unpacks them into one folder; nothing is installed on this machine.
fn fetch(paths: &Paths, packages: &[&str], into: &Path) -> Result<()> {
    println!("lab: fetching {}", packages.join(" "));
    let downloads = paths.cache.join("download");
    let _ = fs::remove_dir_all(&downloads);
    for folder in [&downloads, &into.to_path_buf()] {
        fs::create_dir_all(folder).map_err(|e| format!("lab: cannot make {}: {e}", folder.display()))?;
    }
    let args = [&["download", "-q"], packages].concat();
    run_in(&downloads, "apt-get", &args).or_else(|_| {
        run("apt-get", &["update", "-q"])?;
        run_in(&downloads, "apt-get", &args)
    })?;
    let entries = fs::read_dir(&downloads).map_err(|e| format!("lab: cannot list {}: {e}", downloads.display()))?;
    for package in entries.flatten() {
        run("dpkg-deb", &["-x", &package.path().display().to_string(), &into.display().to_string()])?;
    }
    let _ = fs::remove_dir_all(&downloads);
    Ok(())
}

fn kernel(paths: &Paths, alias: &str, package: &str) -> Result<()> {
    let home = paths.kernel(alias);
    if home.join("vmlinuz").exists() {
        return Ok(());
    }
    let depends = run("apt-cache", &["depends", package])?;
    let image = depends
        .lines()
        .filter_map(|l| l.trim().strip_prefix("Depends: "))
        .find(|p| p.starts_with("linux-image-"))
        .ok_or_else(|| format!("lab: {package} names no kernel: is this Debian?"))?;
    let tree = home.join("tree");
    let _ = fs::remove_dir_all(&home);
    fetch(paths, &[image], &tree)?;
    let release = image.trim_start_matches("linux-image-");
    // Newer packages carry their modules below usr.
    let lib = ["lib/modules", "usr/lib/modules"].iter().map(|l| tree.join(l)).find(|l| l.join(release).is_dir());
    let lib = lib.ok_or_else(|| format!("lab: {image} has no modules of {release}"))?;
    let base = lib.parent().and_then(Path::parent).map_or(tree.clone(), PathBuf::from);
    let output = closure::foreign(paths, Some("depmod"))
        .arg(paths.debian().join("bin/kmod"))
        .args(["-b", &base.display().to_string(), release])
        .output()
        .map_err(|e| format!("lab: cannot run depmod: {e}"))?;
    if !output.status.success() {
        return Err(format!("lab: depmod: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let name = |e| format!("lab: {}: {e}", home.display());
    fs::rename(lib.join(release), home.join("modules")).map_err(name)?;
    fs::write(home.join("release"), release).map_err(name)?;
    // Last, because its presence means that the kernel is ready.
    fs::rename(tree.join("boot").join(format!("vmlinuz-{release}")), home.join("vmlinuz")).map_err(name)?;
    let _ = fs::remove_dir_all(tree);
    println!("lab: kernel {alias} is {release}");
    Ok(())
}

/// The part of the first root that all guests share. Not compressed: an emulated CPU unpacks slowly.
fn base_initramfs(paths: &Paths) -> Result<()> {
    let root = paths.debian();
    let mut archive = Archive::default();
    for folder in ["proc", "sys", "dev", "tmp", "root", "out"] {
        archive.dir(folder);
    }
    archive.device("dev/console", 5, 1);
    archive.copy("bin/busybox", &root.join("bin/busybox"))?;
    archive.symlink("bin/sh", "busybox");
    archive.file("etc/passwd", 0o644, b"root:x:0:0::/root:/bin/sh\nauditor:x:1000:1000::/tmp:/bin/sh\n");
    archive.file("etc/group", 0o644, b"root:x:0:\nauditor:x:1000:\n");
    archive.copy("lib64/ld-linux-x86-64.so.2", &root.join("lib64/ld-linux-x86-64.so.2"))?;
    let mut wanted: Vec<PathBuf> = Vec::new();
    for program in PROGRAMS {
        let file = root.join(program);
        if file.is_file() {
            archive.copy(&format!("usr/bin/{}", program.rsplit('/').next().unwrap_or(program)), &file)?;
            wanted.push(file);
        }
    }
    // Verbs providers are loaded by name at run time: Soft-RoCE and the ones of real cards.
    for provider in ["librxe-rdmav34.so", "libmlx5-rdmav34.so"] {
        let place = format!("usr/lib/x86_64-linux-gnu/libibverbs/{provider}");
        if root.join(&place).is_file() {
            archive.copy(&place, &root.join(&place))?;
            wanted.push(root.join(&place));
        }
    }
    archive.file("etc/libibverbs.d/rxe.driver", 0o644, b"driver rxe\n");
    archive.file("etc/libibverbs.d/mlx5.driver", 0o644, b"driver mlx5\n");
    for file in &wanted {
        for library in closure::libraries(paths, file)? {
            let name = library.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            archive.copy(&format!("lib/x86_64-linux-gnu/{name}"), &library)?;
        }
    }
    if let Some(program) = ["lspci", "setpci", "ip", "rdma", "ib_write_bw", "ib_write_lat"]
        .iter()
        .find(|p| !archive.has(&format!("usr/bin/{p}")))
    {
        return Err(format!("lab: no package of setup has {program}"));
    }
    let file = paths.cache.join("base.cpio");
    fs::write(&file, archive.finish()).map_err(|e| format!("lab: cannot write {}: {e}", file.display()))
}
