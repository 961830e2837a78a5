//! `gdr/gdrcopy`.

use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::KernelTrouble;
use linerate_rules::{Remedy, Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/gdrcopy",
    title: "GDRCopy does not work here",
    what: "GDRCopy maps GPU memory into a process, for small copies by the CPU. Its library cannot use its driver gdrdrv, or that cannot pin GPU \
           memory. UCX, NVSHMEM and others go on without it, with a longer latency of small messages; NICs do not need it.",
    shows: &[
        "`gdr_open error: Is gdrdrv driver installed and loaded?` of its tests",
        "`gdrdrv:__gdrdrv_pin_buffer:nvidia_p2p_get_pages(…) failed [ret = -22]` in the kernel's log",
    ],
    why: "The library opens /dev/gdrdrv. It is not there where the module is not loaded, where a container was not given it, or where nobody made the file; \
          gdrdrv pins by the GPU driver, which refuses GPUs without GPUDirect RDMA (GeForce, DGX Spark), and addresses and lengths that 64 KiB does not divide.",
    confirm: &[
        "`lsmod | grep gdrdrv` on the node, `ls -l /dev/gdrdrv` where the program runs",
        "`dmesg | grep -e gdrdrv -e NVRM`",
        "`gdrcopy_sanity` on the node itself",
    ],
    refute: &["GDRCopy 2.6 and later need no gdrdrv where the CUDA driver (13.3) maps a DMA-BUF"],
    remedy: Advice::Software(
        "Load gdrdrv on the node, built for its GPU driver (`modprobe gdrdrv`, the package gdrdrv-dkms; GPU operator: driver.gdrcopy), and give the container /dev/gdrdrv",
    ),
    sources: &[OPEN, GDRDRV],
    severity: Severity::Medium,
    rules: &["gpu/gdr-capable"],
    follows: &[],
    check,
};

const OPEN: Source = nccl(
    "GDRCopy, src/gdrapi.c: gdr_open; tests/common.hpp: gdr_open_safe",
    "https://github.com/NVIDIA/gdrcopy/blob/master/src/gdrapi.c",
);
const GDRDRV: Source = nccl(
    "GDRCopy, src/gdrdrv/gdrdrv.c: __gdrdrv_pin_buffer",
    "https://github.com/NVIDIA/gdrcopy/blob/master/src/gdrdrv/gdrdrv.c",
);

/// That the driver cannot be opened its tests say (`observe/says`).
fn check(c: &Case<'_>) -> Option<Found> {
    let g = c.kernel_line(|k| matches!(k, KernelTrouble::GdrdrvRefused))?;
    let why = "gdrdrv says so: the GPU driver refused the memory";
    let Some(reason) = c.kernel_line(|k| matches!(k, KernelTrouble::PinUnaligned)) else {
        return Some(Found::new(Likely, "gdrdrv cannot pin GPU memory", why).shown(c, g).fix(Some(pinned())));
    };
    let words = "gdrdrv cannot pin GPU memory: 64 KiB does not divide an address or a length";
    Some(Found::new(Likely, words, why).shown(c, g).with(c.first_quote(reason)).fix(Some(pinned())))
}

fn pinned() -> Remedy {
    Advice::Investigate(
        "Take a release of GDRCopy that fits the GPU driver and the kernel (a kernel with pages of 64 KiB, an old GPU driver), and see whether the GPU can do GPUDirect RDMA at all (`linerate audit --rule gpu/gdr-capable`)",
    )
    .remedy()
}
