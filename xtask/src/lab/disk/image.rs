//! The disks that disk guests start from: each made once, by `recipe/`, without mounting anything.

use super::firmware::Firmware;
use super::group::{Group, Spec, discard};
use crate::lab::patience::Patience;
use crate::lab::{Paths, Result};
use crate::shell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How a guest boots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Loader {
    /// Debian 12 with GRUB.
    Grub,
    /// Debian 13 with systemd-boot, kernel-install, and what makes unified kernel images.
    SystemdBoot,
}

/// What the guests have besides the smallest Debian.
const PACKAGES: &[&str] = &[
    "systemd-sysv",
    "udev",
    "linux-image-amd64",
    "initramfs-tools",
    "zstd",
    "openssh-server",
    "iproute2",
    "iputils-ping",
    "ethtool",
    "pciutils",
    "kmod",
    "procps",
    "python3",
];

impl Loader {
    /// Release of Debian.
    const fn suite(self) -> &'static str {
        match self {
            Loader::Grub => "bookworm",
            // The first that has ukify.
            Loader::SystemdBoot => "trixie",
        }
    }

    /// Packages besides those of all.
    const fn packages(self) -> &'static [&'static str] {
        match self {
            Loader::Grub => &[
                "grub-efi-amd64-bin",
                "grub2-common",
                "efibootmgr",
                "rdma-core",
                "ibverbs-providers",
                "ibverbs-utils",
                "perftest",
                "iperf3",
                // The two before it: debootstrap does not look for who provides a name.
                "dbus",
                "libpam-systemd",
                "network-manager",
                "netplan.io",
            ],
            // The two in the middle: debootstrap does not look for who provides a name.
            Loader::SystemdBoot => &["systemd-boot", "systemd-boot-efi", "python3-cffi-backend", "systemd-ukify"],
        }
    }

    /// The parts of the recipe.
    const fn recipe(self) -> [&'static str; 3] {
        let loader = match self {
            Loader::Grub => include_str!("recipe/grub.sh"),
            Loader::SystemdBoot => include_str!("recipe/systemd-boot.sh"),
        };
        [include_str!("recipe/base.sh"), loader, include_str!("recipe/disk.sh")]
    }

    /// What of an image is not in the recipe: what its first boot does.
    const fn first_boot(self) -> &'static str {
        match self {
            Loader::Grub => "update-grub 2>&1 && sync",
            Loader::SystemdBoot => {
                "bootctl install 2>&1 && kernel-install add $(uname -r) /boot/vmlinuz-$(uname -r) 2>&1 &&
                rm -r /boot/efi/lab /boot/efi/loader/entries/lab.conf && sync"
            }
        }
    }

    /// Where the image that this tree describes is, once it is made.
    fn home(self, paths: &Paths) -> PathBuf {
        let [base, loader, disk] = self.recipe();
        let packages = [PACKAGES, self.packages()].concat().join(",");
        paths.disk().join(digest(&[base, loader, disk, self.suite(), &packages, self.first_boot()]))
    }
}

/// Programs that every run needs, and the packages that have them.
const TOOLS: &[(&str, &str)] = &[("qemu-img", "qemu-utils"), ("ssh", "openssh-client")];

/// Most time of the recipe: packages are fetched, unpacked and configured.
const BOOTSTRAP: Duration = Duration::from_secs(900);

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
    /// The packages that would have to be installed, for a disk to be made and to run.
    pub(super) fn packages() -> Vec<&'static str> {
        let lacking =
            TOOLS.iter().chain(MAKERS).filter(|(program, _)| !shell::has(program)).map(|(_, package)| *package);
        let firmware = Firmware::find().is_err().then_some("ovmf");
        lacking.chain(firmware).collect()
    }

    /// Why there is none, and none can be made here.
    pub(super) fn missing(paths: &Paths, loader: Loader) -> Option<String> {
        if let Err(why) = Firmware::find() {
            return Some(why);
        }
        let made = loader.home(paths).join("disk.raw").exists();
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
    pub(super) fn get(paths: &Paths, loader: Loader, patience: Patience, stop: &AtomicBool) -> Result<Image> {
        let home = loader.home(paths);
        if !home.join("disk.raw").exists() {
            let new = home.with_extension("new");
            make(&new, loader, patience, stop)?;
            // Disks of earlier recipes are large, and nothing asks for them any more.
            let asked_for = [new.clone(), Loader::Grub.home(paths), Loader::SystemdBoot.home(paths)];
            let all = fs::read_dir(paths.disk()).into_iter().flatten().flatten().map(|old| old.path());
            for old in all.filter(|old| !asked_for.contains(old)) {
                let _ = fs::remove_dir_all(old);
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

/// Makes the disk and boots it once, so that its boot loader's configuration is its own.
fn make(home: &Path, loader: Loader, patience: Patience, stop: &AtomicBool) -> Result<()> {
    println!("lab: making the guests' disk ({}), which takes some minutes", loader.suite());
    // What an earlier try left is taken up: its name says that it is of this recipe.
    if !home.join("disk.raw").exists() {
        bootstrap(home, loader, patience)?;
    }
    let image = Image::of(home)?;
    let out = home.join("first-boot");
    let group = Group::new(&image, &out, patience, stop)?;
    let mut guest = group.start(Spec::new("lab"))?;
    guest.wait_ssh(Duration::from_secs(300))?;
    guest.shell(loader.first_boot())?;
    guest.shutdown(Duration::from_secs(120))?;
    shell::output(Command::new("qemu-img").args(["commit", "-q"]).arg(guest.disk()))?;
    drop(guest);
    discard(&out);
    Ok(())
}

/// Runs the recipe.
fn bootstrap(home: &Path, loader: Loader, patience: Patience) -> Result<()> {
    let at = |e: std::io::Error| format!("lab: {}: {e}", home.display());
    if home.exists() {
        fs::remove_dir_all(home).map_err(at)?;
    }
    fs::create_dir_all(home).map_err(at)?;
    let recipe = home.join("recipe.sh");
    fs::write(&recipe, loader.recipe().concat()).map_err(at)?;
    let mut key = Command::new("ssh-keygen");
    shell::output(key.args(["-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", "id"]).current_dir(home))?;
    // A mirror that does not answer must not hang the lab.
    let seconds = patience.limit(BOOTSTRAP).as_secs().to_string();
    let mut make = Command::new("timeout");
    make.args(["-k", "10", &seconds, "sh"]);
    let packages = [PACKAGES, loader.packages()].concat().join(",");
    make.arg(&recipe).args([loader.suite(), &mirror(loader.suite())?, &packages, "id.pub"]).current_dir(home);
    if let Some(proxy) = proxy() {
        make.env("http_proxy", &proxy).env("https_proxy", &proxy);
    }
    shell::output(&mut make).map(drop)
}

/// The mirror that this machine's apt uses.
fn mirror(suite: &str) -> Result<String> {
    let mut ask = Command::new("apt-get");
    ask.args(["indextargets", "--format", "$(REPO_URI) $(COMPONENT)", "Created-By: Packages"]);
    let codename = format!("Codename: {suite}");
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
    fn the_recipes_are_shell_and_name_no_mirror() {
        for loader in [Loader::Grub, Loader::SystemdBoot] {
            let recipe = loader.recipe().concat();
            let checked = Command::new("sh").arg("-n").arg("-c").arg(&recipe).status().unwrap();
            assert!(checked.success(), "{loader:?}");
            assert!(!recipe.contains("://"));
            assert!(PACKAGES.iter().chain(loader.packages()).all(|p| !p.contains([',', ' '])));
        }
    }
}
