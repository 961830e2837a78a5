//! The parts of large texts that are kept.

use crate::catalogue::Keep;
use std::io::Read;

/// Words of the kernel log that some rule or the report reads. Lower case.
const KERNEL_LOG: &[&str] = &[
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
    }
    data.len() != before
}

fn lines(data: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
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
        let mut d = b"0::/init.scope\n".to_vec();
        assert!(!keep(&mut d, Keep::FirstLine), "nothing was cut");
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
