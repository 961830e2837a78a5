//! The disk that all disk guests start from: made once, by `recipe.sh`, without mounting anything.

use super::firmware::Firmware;
use super::group::{Group, Spec, discard};
use crate::lab::{Paths, Result};
use crate::shell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Release of Debian in the guests.
const SUITE: &str = "bookworm";

/// What the guests have besides the smallest Debian.
const PACKAGES: &[&str] = &[
    "systemd-sysv",
    "udev",
    "linux-image-amd64",
    "initramfs-tools",
    "zstd",
    "grub-efi-amd64-bin",
    "grub2-common",
    "efibootmgr",
    "openssh-server",
    "iproute2",
    "iputils-ping",
    "ethtool",
    "rdma-core",
    "ibverbs-providers",
    "ibverbs-utils",
    "perftest",
    "iperf3",
    "pciutils",
    "kmod",
    "procps",
    "python3",
];

const RECIPE: &str = include_str!("recipe.sh");

/// What of an image is not in the recipe: what its first boot does.
const FIRST_BOOT: &str = "update-grub 2>&1 && sync";

/// Programs that every run needs, and the packages that have them.
const TOOLS: &[(&str, &str)] = &[("qemu-img", "qemu-utils"), ("ssh", "openssh-client")];

/// What it takes to make the disk.
const MAKERS: &[(&str, &str)] = &[
    ("debootstrap", "debootstrap"),
    ("sfdisk", "fdisk"),
    ("mkfs.vfat", "dosfstools"),
    ("mcopy", "mtools"),
    ("mke2fs", "e2fsprogs"),
    ("ssh-keygen", "openssh-client"),
    ("apt-get", "apt"),
];

/// A disk that boots, and the way into it.
pub(super) struct Image {
    /// Raw, with a GPT: the ESP and the root, an ext4 that is called `lab-root`.
    pub(super) disk: PathBuf,
    /// Private key of root.
    pub(super) key: PathBuf,
    /// Public host key of every guest.
    pub(super) host_key: String,
    pub(super) firmware: Firmware,
}

impl Image {
    /// Where the image that this tree describes is, once it is made.
    fn home(paths: &Paths) -> PathBuf {
        paths.disk().join(digest(&[RECIPE, SUITE, &PACKAGES.join(","), FIRST_BOOT]))
    }

    /// The packages that would have to be installed, for a disk to be made and to run.
    pub(super) fn packages() -> Vec<&'static str> {
        let lacking =
            TOOLS.iter().chain(MAKERS).filter(|(program, _)| !shell::has(program)).map(|(_, package)| *package);
        let firmware = Firmware::find().is_err().then_some("ovmf");
        lacking.chain(firmware).collect()
    }

    /// Why there is none, and none can be made here.
    pub(super) fn missing(paths: &Paths) -> Option<String> {
        if let Err(why) = Firmware::find() {
            return Some(why);
        }
        let made = Image::home(paths).join("disk.raw").exists();
        let tools = TOOLS.iter().chain(MAKERS.iter().filter(|_| !made));
        let missing: Vec<&str> =
            tools.filter(|(program, _)| !shell::has(program)).map(|(_, package)| *package).collect();
        if !missing.is_empty() {
            return Some(format!("programs are missing here: apt-get install {}", missing.join(" ")));
        }
        if made {
            return None;
        }
        let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n");
        (!root).then(|| "making the disk takes root once".to_owned())
    }

    /// The image, made if there is none.
    pub(super) fn get(paths: &Paths, patience: u32, stop: &AtomicBool) -> Result<Image> {
        let home = Image::home(paths);
        if !home.join("disk.raw").exists() {
            let new = home.with_extension("new");
            make(&new, patience, stop)?;
            // Disks of earlier recipes are large, and nothing asks for them any more.
            for old in fs::read_dir(paths.disk()).into_iter().flatten().flatten().filter(|old| old.path() != new) {
                let _ = fs::remove_dir_all(old.path());
            }
            fs::rename(&new, &home).map_err(|e| format!("lab: {}: {e}", home.display()))?;
            println!("lab: the disk is {}", home.join("disk.raw").display());
        }
        Image::of(&home)
    }

    fn of(home: &Path) -> Result<Image> {
        let host_key = home.join("host.pub");
        Ok(Image {
            disk: home.join("disk.raw"),
            key: home.join("id"),
            host_key: fs::read_to_string(&host_key).map_err(|e| format!("lab: {}: {e}", host_key.display()))?,
            firmware: Firmware::find()?,
        })
    }
}

/// Makes the disk and boots it once, so that it has a grub.cfg of its own.
fn make(home: &Path, patience: u32, stop: &AtomicBool) -> Result<()> {
    println!("lab: making the guests' disk, which takes some minutes");
    // What an earlier try left is taken up: its name says that it is of this recipe.
    if !home.join("disk.raw").exists() {
        bootstrap(home)?;
    }
    let image = Image::of(home)?;
    let out = home.join("first-boot");
    let group = Group::new(&image, &out, patience, stop)?;
    let mut guest = group.start(Spec::new("lab"))?;
    guest.wait_ssh(Duration::from_secs(300))?;
    guest.shell(FIRST_BOOT)?;
    guest.shutdown(Duration::from_secs(120))?;
    shell::output(Command::new("qemu-img").args(["commit", "-q"]).arg(guest.disk()))?;
    drop(guest);
    discard(&out);
    Ok(())
}

/// Runs the recipe.
fn bootstrap(home: &Path) -> Result<()> {
    let at = |e: std::io::Error| format!("lab: {}: {e}", home.display());
    if home.exists() {
        fs::remove_dir_all(home).map_err(at)?;
    }
    fs::create_dir_all(home).map_err(at)?;
    let recipe = home.join("recipe.sh");
    fs::write(&recipe, RECIPE).map_err(at)?;
    let mut key = Command::new("ssh-keygen");
    shell::output(key.args(["-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", "id"]).current_dir(home))?;
    let mut make = Command::new("sh");
    make.arg(&recipe).args([SUITE, &mirror()?, &PACKAGES.join(","), "id.pub"]).current_dir(home);
    if let Some(proxy) = proxy() {
        make.env("http_proxy", &proxy).env("https_proxy", &proxy);
    }
    shell::output(&mut make).map(drop)
}

/// The mirror that this machine's apt uses.
fn mirror() -> Result<String> {
    let mut ask = Command::new("apt-get");
    ask.args(["indextargets", "--format", "$(REPO_URI) $(COMPONENT)", "Created-By: Packages"]);
    let codename = format!("Codename: {SUITE}");
    let text = shell::output(ask.arg(codename))?;
    let main = text.lines().find_map(|l| l.strip_suffix(" main"));
    // Another release, or another distribution, may still know where Debian is.
    Ok(main.unwrap_or("http://deb.debian.org/debian").to_owned())
}

/// The proxy that this machine's apt uses.
fn proxy() -> Option<String> {
    let text = shell::output(Command::new("apt-config").args(["shell", "proxy", "Acquire::http::Proxy"])).ok()?;
    let proxy = text.trim().strip_prefix("proxy='")?.strip_suffix('\'')?;
    (!proxy.is_empty()).then(|| proxy.to_owned())
}

/// A name for what is made of these texts (FNV-1a): the same for the same texts, another one for others.
fn digest(texts: &[&str]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    // No text has a zero byte: what ends here cannot begin there.
    for byte in texts.iter().flat_map(|t| t.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_of_the_recipe_is_in_its_name() {
        assert_eq!(digest(&["a", "b"]), digest(&["a", "b"]));
        for other in [&["ab", ""][..], &["a", "c"], &["b", "a"], &["a"], &["a", "b", ""]] {
            assert_ne!(digest(&["a", "b"]), digest(other), "{other:?}");
        }
        assert_eq!(digest(&[]), "cbf29ce484222325");
    }

    #[test]
    fn the_recipe_is_shell_and_names_no_mirror() {
        let checked = Command::new("sh").arg("-n").arg("-c").arg(RECIPE).status().unwrap();
        assert!(checked.success());
        assert!(!RECIPE.contains("://"));
        assert!(PACKAGES.iter().all(|p| !p.contains([',', ' '])));
    }
}
