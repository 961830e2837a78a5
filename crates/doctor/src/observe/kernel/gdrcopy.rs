//! What GDRCopy's driver, and the GPU driver that it asks, say of memory that cannot be pinned.

use crate::observe::trouble::KernelTrouble;

/// gdrdrv (gdrcopy, `src/gdrdrv/gdrdrv.c`, `__gdrdrv_pin_buffer`; the function is in front since 2.0): `gdrdrv:__gdrdrv_pin_buffer:nvidia_p2p_get_pages(va=… len=…
/// p2p_token=0 va_space=0 callback=…) failed [ret = -22]`. The GPU driver (`kernel-open/nvidia/nv-p2p.c`, `nv_p2p_get_pages`) names one of its reasons:
/// `NVRM: Invalid argument in nv_p2p_get_pages,address or length are not aligned address=0x…, length=0x…`.
pub(super) fn read(m: &str) -> Option<KernelTrouble> {
    if let Some(rest) = m.strip_prefix("NVRM: Invalid argument in nv_p2p_get_pages,") {
        return rest
            .trim_start()
            .starts_with("address or length are not aligned")
            .then_some(KernelTrouble::PinUnaligned);
    }
    let rest = m.strip_prefix("gdrdrv:")?;
    let call = match rest.split_once(':') {
        Some((function, call)) if !function.contains(['(', ' ']) => call,
        _ => rest,
    };
    let failed = call.starts_with("nvidia_p2p_get_pages(") && call.contains(") failed [ret = ");
    failed.then_some(KernelTrouble::GdrdrvRefused)
}
