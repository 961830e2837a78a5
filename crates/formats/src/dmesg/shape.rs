//! Whether a text begins as messages of the kernel and its drivers do. Prose, tables and other programs name the same words.

use super::probe;
use crate::pci::Bdf;

/// What messages without a device begin with: the `pr_fmt` of their files.
pub(super) const BEGINNINGS: &[&str] = &[
    "iommu: ",
    "AMD-Vi: ",
    "DMAR: ",
    "DMAR:[",
    "dmar: DMAR:",
    "dmar_fault: ",
    "arm-smmu",
    "NVRM: ",
    "PCI: ",
    "PCI-DMA: ",
    "DMA: ",
    "SNP: ",
    "Memory encryption detected",
    "Memory Encryption Features active:",
    "x86/mm: ",
    "software IO TLB",
    "swiotlb",
    "Kernel is locked down from ",
    "Lockdown: ",
    "lockdown: ",
    "Command line: ",
    "Kernel command line: ",
    "Linux version ",
    "DMI: ",
    "Hypervisor detected: ",
    "[Firmware Bug]: ",
    super::amdgpu::DRM,
    super::watchdog::NAME,
];

/// What is said behind a module's name: by the module loader (`nvidia_peermem: Unknown symbol …`), and by `nvidia-nvswitch3` of a switch.
pub(super) const OF_MODULES: &[&str] =
    &["SXid (PCI:", "disagrees about version of symbol ", "Unknown symbol ", "unknown parameter '"];

/// Modules for memory of GPUs, which print with and without a colon.
pub(super) const PEERMEM: &[&str] = &["nvidia-peermem", "nvidia_peermem", "nv_peer_mem"];

/// The end of a device's address, with what follows it in a message.
pub(super) const ADDRESS_ENDS: &[&str] =
    &[".0:", ".1:", ".2:", ".3:", ".4:", ".5:", ".6:", ".7:", ".0 ", ".1 ", ".2 ", ".3 ", ".4 ", ".5 ", ".6 ", ".7 "];

/// Whether a message begins as one of the kernel's does.
pub(super) fn begins(m: &str) -> bool {
    BEGINNINGS.iter().any(|b| m.starts_with(b))
        || is_of_device(m)
        || is_of_module(m)
        || is_peermem(m)
        || is_nvswitch(m)
        || probe::read(m).is_some()
}

/// `mlx5_core 0000:41:00.0: …`, `mlx5_core 0000:41:00.0 eth0: …`, `pci 0000:00:00.2: …`.
fn is_of_device(m: &str) -> bool {
    let Some((driver, rest)) = m.split_once(' ') else { return false };
    let name = !driver.is_empty()
        && driver.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'(' | b')'));
    let (address, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let alone = address.strip_suffix(':');
    // Before 4.20 a port's services had names of their own: `dpc 0000:00:03.2:pcie008: `.
    let service = |a: &str| a.rsplit_once(":pcie").map(|(b, _)| b.len() >= 12 && b.parse::<Bdf>().is_ok());
    let is_address = |a: &str| service(a).unwrap_or_else(|| a.len() >= 12 && a.parse::<Bdf>().is_ok());
    match alone {
        Some(a) => name && is_address(a),
        None => name && is_address(address) && rest.split(' ').next().is_some_and(|w| w.ends_with(':')),
    }
}

/// `nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): …` (`NVSWITCH_PRINT_SXID`).
fn is_nvswitch(m: &str) -> bool {
    let Some((name, rest)) = m.split_once(": ") else { return false };
    let number = name.strip_prefix("nvidia-nvswitch");
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) && rest.starts_with("SXid (PCI:")
}

fn is_of_module(m: &str) -> bool {
    let Some((module, rest)) = m.split_once(": ") else { return false };
    !module.is_empty()
        && module.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && OF_MODULES.iter().any(|w| rest.starts_with(w))
}

/// `nvidia-peermem nv_mem_client_init:640 ERROR …` (`peer_err`), `nv_mem_client_init:…`, or what the module loader says of it. Neither
/// lsmod's `nvidia_peermem  16384  0` nor a container `nvidia-peermem-ctr:`.
pub(super) fn is_peermem(m: &str) -> bool {
    let located = |text: &str| {
        let Some((function, rest)) = text.split_once(':') else { return false };
        let name = !function.is_empty() && function.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        name && rest.starts_with(|c: char| c.is_ascii_digit())
    };
    if m.starts_with("nv_mem_client") {
        return located(m);
    }
    PEERMEM.iter().find_map(|p| m.strip_prefix(p)).is_some_and(|rest| {
        rest.strip_prefix(": ").is_some_and(|r| LOADER.iter().any(|w| r.starts_with(w)))
            || rest.strip_prefix(' ').is_some_and(located)
            || rest.strip_prefix(": ").is_some_and(located)
    })
}

/// `kernel/module`: what it says as a module is loaded.
const LOADER: &[&str] = &[
    "loading out-of-tree module taints kernel",
    "module verification failed",
    "module license ",
    "version magic ",
    "exports duplicate symbol ",
    "no symbol version for ",
];

/// Whether a message of nvidia-peermem reports an error: `… ERROR …`.
pub(super) fn is_peermem_error(m: &str) -> bool {
    m.split(' ').take(4).any(|w| w == "ERROR")
}

/// `[DMA Write NO_PASID] Request device [41:00.0] fault addr 0x…`, as the driver prints it from its beginning.
pub(super) fn is_dmar_fault(rest: &str) -> bool {
    let Some((access, rest)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) else { return false };
    let rest = rest.trim_start();
    let request = rest.get(..16).is_some_and(|r| r.eq_ignore_ascii_case("Request device ["));
    let fault = rest.split_once(']').is_some_and(|(_, r)| r.contains("fault addr") || r.contains("fault index"));
    request && fault && (access.starts_with("DMA ") || access.starts_with("INTR-REMAP"))
}

/// `Event logged [IO_PAGE_FAULT device=… domain=0x… address=0x… flags=0x…]`.
pub(super) fn is_amd_fault(m: &str) -> bool {
    m.split_once("Event logged [IO_PAGE_FAULT ").is_some_and(|(before, rest)| {
        let before = before.trim_end();
        (before.is_empty() || before.ends_with(':')) && rest.contains("address=0x")
    })
}
