//! The window for 64-bit BARs: what the devices need of it.

use crate::Refusal;
use linerate_formats::libvirt::Domain;
use linerate_formats::pci::Bdf;
use linerate_formats::text::At;
use linerate_node::Node;
use serde::Serialize;

/// The window above 4 GiB in which the guest's firmware places BARs of 64 bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Window {
    /// Bytes that the BARs take, each aligned to its size.
    pub need: u64,
    /// Bytes to ask for: a power of two, and twice the need, as firmware aligns windows of bridges within it.
    pub size: u64,
    /// Whose BARs: function, number, bytes.
    pub from: Vec<(Bdf, u8, u64)>,
}

/// Bits of an address without five-level paging: OVMF counts on no more (OvmfPkg, `PlatformAddressWidthInitialization`).
pub(crate) const BITS: u32 = 46;
/// A window is at least this large: what QEMU has by itself (q35, 32 GiB).
pub const LEAST: u64 = 32 << 30;

/// 64-bit BARs of functions of the host: function, number, bytes.
///
/// # Errors
/// A function whose BARs, or their sizes, are not seen. Functions that the host does not have are passed over.
pub fn bars(node: &Node<'_>, of: impl Iterator<Item = Bdf>) -> Result<Vec<(Bdf, u8, u64)>, Bdf> {
    let mut out = Vec::new();
    for bdf in of {
        let Some(f) = node.pci.find(bdf).map(|id| node.pci.get(id)) else { continue };
        if !f.bars.seen || f.bars.list.iter().any(|b| b.size == 0 || b.high.is_none()) {
            return Err(bdf);
        }
        out.extend(f.bars.list.iter().filter(|b| b.high == Some(true)).map(|b| (bdf, b.index, b.size)));
    }
    Ok(out)
}

/// Bytes that BARs take. Sizes are powers of two: in falling order each is aligned, and the sum is what they take.
#[must_use]
pub fn sum(bars: &[(Bdf, u8, u64)]) -> u64 {
    bars.iter().map(|(.., size)| size.next_power_of_two()).fold(0u64, u64::saturating_add)
}

/// What an argument of QEMU asks OVMF for, MiB as it is written. QEMU lets people leave out `name=`.
pub(crate) fn asked(argument: &str) -> Option<&str> {
    argument.strip_prefix("name=").unwrap_or(argument).strip_prefix("opt/ovmf/X-PciMmio64Mb,string=")
}

/// The window that a domain asks OVMF for, in bytes, and the line (`-fw_cfg name=opt/ovmf/X-PciMmio64Mb,string=MIB`).
#[must_use]
pub fn of_firmware(domain: &Domain) -> Option<At<u64>> {
    domain.arguments.iter().rev().find_map(|argument| {
        Some(At::new(asked(&argument.value)?.trim().parse::<u64>().ok()?.checked_mul(1 << 20)?, argument.line))
    })
}

/// # Errors
/// BARs that are not seen, or more than addresses reach.
pub(crate) fn window(node: &Node<'_>, functions: impl IntoIterator<Item = Bdf>) -> Result<Window, Refusal> {
    let from = bars(node, functions.into_iter()).map_err(Refusal::Bars)?;
    let need = sum(&from);
    // A bridge's window begins at a multiple of its largest BAR.
    let size = need.saturating_mul(2).max(LEAST).checked_next_power_of_two().unwrap_or(u64::MAX);
    if size > 1 << (BITS - 1) {
        return Err(Refusal::Window { need_gib: size >> 30, bits: BITS });
    }
    Ok(Window { need, size, from })
}
