//! The parts of large texts that are kept.

use super::ini;
use crate::catalogue::Keep;
use sha2::{Digest, Sha256};
use std::io::Read;

/// Words of the kernel log that some rule or the report reads. Lower case.
pub(super) const KERNEL_LOG: &[&str] = &[
    "linux version",
    "command line",
    "iommu",
    "dmar",
    "amd-vi",
    "smmu",
    "io_page_fault",
    "nvrm",
    "nvidia",
    "xid",
    "nvlink",
    "nvswitch",
    "mlx4",
    "mlx5",
    "infiniband",
    "rdma",
    "ib_core",
    "ib_uverbs",
    "peermem",
    "peer_mem",
    "nv_mem",
    "pcieport",
    "aer:",
    "pcie bus error",
    "pci_bus",
    "pci host bridge",
    "no space for",
    "failed to assign",
    "can't assign",
    "bar ",
    "acs",
    "ats",
    "vfio",
    "hypervisor",
    "kvm",
    "lockdown",
    "secure boot",
    "numa",
    "firmware bug",
    "unknown option",
    "unknown kernel command",
    "memory encryption",
    "snp",
    "tsc",
    "clocksource",
    "mce:",
    "hardware error",
    "dma-buf",
    "disagrees about version",
    "bond",
    "hugepages",
    "thermal",
    "throttl",
    "link is down",
    "link down",
    "link up",
    "limited by",
    "available pcie bandwidth",
    "dpc:",
    "hotplug",
    "surprise",
];

/// Bytes of the kernel log that are kept after filtering.
const KERNEL_LOG_MAX: usize = 1 << 20;

/// Lines of the kernel log that matter, whole, in order. Where they are more than a MiB, the oldest and the newest halves.
pub(crate) fn kernel_log(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len().min(KERNEL_LOG_MAX));
    let mut lower = Vec::new();
    for line in text.split_inclusive(|b| *b == b'\n') {
        lower.clear();
        lower.extend(line.iter().map(u8::to_ascii_lowercase));
        let lower = String::from_utf8_lossy(&lower);
        if KERNEL_LOG.iter().any(|w| lower.contains(w)) {
            out.extend_from_slice(line);
        }
    }
    if out.len() > KERNEL_LOG_MAX {
        let half = KERNEL_LOG_MAX / 2;
        let head = out.iter().take(half).rposition(|b| *b == b'\n').map_or(half, |p| p + 1);
        let from = out.len() - half;
        let tail = out.iter().skip(from).position(|b| *b == b'\n').map_or(from, |p| from + p + 1);
        out.drain(head..tail);
    }
    out
}

/// Words in the options of a kernel configuration that matter.
const KCONFIG: &[&str] = &[
    "IOMMU",
    "PCI",
    "DMABUF",
    "DMA_SHARED",
    "P2PDMA",
    "INFINIBAND",
    "MLX",
    "VFIO",
    "NUMA",
    "HUGETLB",
    "ZONE_DEVICE",
    "PREEMPT",
    "MODULE_SIG",
    "LOCKDOWN",
    "HMM",
    "IRQ_REMAP",
];

/// The kept part of a file, and whether that is a part only. Compressed kernel configurations are unpacked.
pub(crate) fn keep(data: &mut Vec<u8>, how: Keep) -> bool {
    let before = data.len();
    let line = |l: &[u8], f: &dyn Fn(&str) -> bool| std::str::from_utf8(l).is_ok_and(f);
    match how {
        Keep::All => return false,
        Keep::FirstLine => {
            let end = data.iter().position(|b| *b == b'\n').map_or(data.len(), |p| p + 1);
            data.truncate(end);
        }
        Keep::Shm => {
            *data = lines(data, |l| line(l, &|l| l.split(' ').nth(1) == Some("/dev/shm")));
        }
        Keep::Cpuinfo => {
            *data = cpuinfo(data);
            // Nothing is lost that differs between processors and that anybody asks for: it is not a part.
            return false;
        }
        Keep::Kconfig => {
            if data.starts_with(&[0x1f, 0x8b]) {
                let mut text = Vec::new();
                // A configuration is some 300 KB; what is cut off or broken is not kept.
                let _ = flate2::read::GzDecoder::new(data.as_slice()).take(4 << 20).read_to_end(&mut text);
                *data = text;
            }
            *data = lines(data, |l| {
                line(l, &|l| {
                    let name = l.trim_start_matches("# ").split(['=', ' ']).next().unwrap_or_default();
                    name.starts_with("CONFIG_") && KCONFIG.iter().any(|w| name.contains(w))
                })
            });
            return true;
        }
        Keep::Grub => *data = lines(data, |l| line(l, &grub_assignment)),
        Keep::GrubOnce => *data = lines(data, |l| line(l, &grub_once)),
        Keep::BootEntry => *data = lines(data, |l| line(l, &boot_entry)),
        Keep::Ini(allowed) => {
            *data = ini::keep(data, allowed);
            // Never the whole: nobody may take it for the file that is there.
            return true;
        }
        Keep::Digest => {
            *data = machine_digest(data).into_bytes();
            data.push(b'\n');
            return true;
        }
    }
    data.len() != before
}

/// Whether `/proc/cpuinfo` has `physical id`, as that of x86 has.
pub(super) fn names_sockets(cpuinfo: &[u8]) -> bool {
    cpuinfo.windows(11).take(64 << 10).any(|w| w == b"physical id")
}

/// The first processor's lines, and of each further one the lines that say which it is and in which socket. On a node of 200 processors the
/// rest is half a megabyte of repetition. Files of other shapes (arm prints its model behind the last processor) stay whole.
fn cpuinfo(data: &[u8]) -> Vec<u8> {
    let mut processors = 0_usize;
    let x86 = names_sockets(data);
    lines(data, |l| {
        processors += usize::from(l.starts_with(b"processor"));
        !x86 || processors < 2 || l.starts_with(b"processor") || l.starts_with(b"physical id") || l.is_empty()
    })
}

/// Variables of `/etc/default/grub` that decide which arguments the kernel gets and which entry is started.
pub(super) const GRUB: &[&str] = &[
    "GRUB_DEFAULT",
    "GRUB_SAVEDEFAULT",
    "GRUB_CMDLINE_LINUX",
    "GRUB_CMDLINE_LINUX_DEFAULT",
    "GRUB_CMDLINE_LINUX_RECOVERY",
    "GRUB_TIMEOUT",
    "GRUB_TIMEOUT_STYLE",
    "GRUB_RECORDFAIL_TIMEOUT",
    "GRUB_ENABLE_BLSCFG",
    "GRUB_DISABLE_SUBMENU",
];

/// Whether a line assigns one of [`GRUB`]. It is shell: what runs programs there is not kept, and neither is what else it sets.
fn grub_assignment(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    line.split_once('=').is_some_and(|(name, _)| GRUB.contains(&name.strip_suffix('+').unwrap_or(name)))
}

/// What `grub-mkconfig` writes for `grub-reboot`, and modules by name.
fn grub_once(line: &str) -> bool {
    let line = line.trim();
    let module =
        line.strip_prefix("insmod ").is_some_and(|m| m.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    module
        || matches!(
            line,
            r#"if [ "${next_entry}" ] ; then"#
                | r#"set default="${next_entry}""#
                | "set next_entry="
                | "save_env next_entry"
        )
}

/// Keys of an entry of the Boot Loader Specification, and of systemd-boot's `loader.conf`; without the machine's id.
pub(super) const BOOT_ENTRY: &[&str] = &[
    "title",
    "version",
    "sort-key",
    "linux",
    "initrd",
    "efi",
    "uki",
    "options",
    "id",
    "grub_users",
    "grub_arg",
    "grub_class",
    "default",
    "timeout",
];

fn boot_entry(line: &str) -> bool {
    BOOT_ENTRY.contains(&line.split_ascii_whitespace().next().unwrap_or_default())
}

/// Digest of a machine id (or its file's content), by which a plan knows its node again. The id itself must not leave the machine
/// (machine-id(5)), so it is salted for this use.
#[must_use]
pub fn machine_digest(id: &[u8]) -> String {
    let mut h = Sha256::new_with_prefix(b"linerate machine-id\0");
    h.update(id.trim_ascii());
    h.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

fn lines(data: &[u8], mut wanted: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    data.split_inclusive(|b| *b == b'\n').filter(|l| wanted(l.trim_ascii_end())).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let mut d = b"# CONFIG_INTEL_IOMMU_DEFAULT_ON is not set\nCONFIG_X86=y\nCONFIG_PCI_P2PDMA=y\n".to_vec();
        assert!(keep(&mut d, Keep::Kconfig));
        assert_eq!(d, b"# CONFIG_INTEL_IOMMU_DEFAULT_ON is not set\nCONFIG_PCI_P2PDMA=y\n");
        let mut d = b"proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,size=65536k 0 0\n".to_vec();
        assert!(keep(&mut d, Keep::Shm));
        assert_eq!(d, b"tmpfs /dev/shm tmpfs rw,size=65536k 0 0\n");
        let one = |n: u32| format!("processor\t: {n}\nflags\t: fpu\nphysical id\t: {}\nbugs\t: x\n\n", n / 2);
        let mut d: Vec<u8> = (0..4).map(one).collect::<String>().into_bytes();
        assert!(!keep(&mut d, Keep::Cpuinfo));
        let text = String::from_utf8_lossy(&d);
        assert_eq!((text.matches("processor").count(), text.matches("physical id\t: 1").count()), (4, 2));
        assert_eq!((text.matches("flags").count(), text.matches("bugs").count()), (1, 1));
        let mut arm = b"processor\t: 0\nprocessor\t: 1\nHardware\t: x\n".to_vec();
        assert!(!keep(&mut arm, Keep::Cpuinfo) && arm.ends_with(b"Hardware\t: x\n"));
        let mut d = b"0::/init.scope\n".to_vec();
        assert!(!keep(&mut d, Keep::FirstLine), "nothing was cut");
    }

    #[test]
    fn configuration_without_what_it_may_hold_besides() {
        let mut d = b"# token=abc\nGRUB_CMDLINE_LINUX=\"a b\"\n  export GRUB_CMDLINE_LINUX+=\" c\"\nGRUB_PASSWORD=x\nexport PATH\ncurl http://u:p@h\n".to_vec();
        assert!(keep(&mut d, Keep::Grub));
        assert_eq!(d, b"GRUB_CMDLINE_LINUX=\"a b\"\n  export GRUB_CMDLINE_LINUX+=\" c\"\n");
        let mut d = b"password_pbkdf2 root grub.pbkdf2.x\n   set default=\"${next_entry}\"\n   save_env next_entry\ninsmod ext2\ninsmod x; y\n".to_vec();
        assert!(keep(&mut d, Keep::GrubOnce));
        assert_eq!(d, b"   set default=\"${next_entry}\"\n   save_env next_entry\ninsmod ext2\n");
        let mut d = b"# c\ntitle T\nmachine-id 0123\noptions root=/dev/vda1\npassword x\n".to_vec();
        assert!(keep(&mut d, Keep::BootEntry));
        assert_eq!(d, b"title T\noptions root=/dev/vda1\n");
        let id = "0123456789abcdef0123456789abcdef";
        let mut d = format!("{id}\n").into_bytes();
        assert!(keep(&mut d, Keep::Digest));
        let told = String::from_utf8(d).expect("hexadecimal");
        assert!(!told.contains(id) && told.len() == 65, "{told}");
        assert_eq!(told.trim(), machine_digest(id.as_bytes()), "with and without its newline");
    }

    #[test]
    fn kernel_log_keeps_what_rules_read_within_its_limit() {
        let log = b"[1] usb 1-1: new device\n[2] DMAR: IOMMU enabled\n[3] AMD-Vi: Unknown option - 'on'\n";
        assert_eq!(kernel_log(log), b"[2] DMAR: IOMMU enabled\n[3] AMD-Vi: Unknown option - 'on'\n");
        let long = "[9] NVRM: Xid line\n".repeat(200_000);
        let kept = kernel_log(long.as_bytes());
        assert!(kept.len() <= KERNEL_LOG_MAX && kept.len() > KERNEL_LOG_MAX / 2);
        assert!(kept.split(|b| *b == b'\n').all(|l| l.is_empty() || l == b"[9] NVRM: Xid line"));
    }
}
