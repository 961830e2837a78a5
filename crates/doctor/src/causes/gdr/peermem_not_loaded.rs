//! `gdr/peermem-not-loaded`.

use super::seen;
use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::{KernelTrouble, PeermemTrouble};
use linerate_rules::{Remedy, Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/peermem-not-loaded",
    title: "The peer-memory module cannot be loaded",
    what: "nvidia-peermem (nv_peer_mem before it) cannot be loaded. Without it only DMA-BUF lets NICs use GPU \
           memory.",
    shows: &[
        "`nvidia_peermem: disagrees about version of symbol …`, `Unknown symbol … (err -22)`: built against another \
         driver or RDMA stack than the one that runs",
        "`Unknown symbol … (err -2)`, `Invalid argument`: the RDMA core has no peer-memory interface",
        "`Module nvidia-peermem not found in directory …`: not installed for this kernel, or not visible in the \
         container",
    ],
    why: "The module takes `nvidia_p2p_*` of the GPU driver and `ib_register_peer_memory_client` of the RDMA core of \
          MLNX_OFED or DOCA-OFED. Both must be there, in the versions that it was built against.",
    confirm: &[
        "on the node: `grep -w ib_register_peer_memory_client /proc/kallsyms`, and `modinfo nvidia-peermem`",
        "DMA-BUF: the open GPU driver, and `DMA-BUF is available on GPU device 0` in NCCL's log",
    ],
    refute: &["connections with /GDRDMA: then DMA-BUF serves, and the module is not needed"],
    remedy: Advice::Software(
        "Rebuild nvidia-peermem for the GPU driver and the RDMA stack that run (reinstall the GPU driver after MLNX_OFED or DOCA-OFED), make the module visible where it is loaded, or use the open GPU driver with DMA-BUF instead (kernel 5.12, and a NIC newer than ConnectX-3)",
    ),
    sources: &[PEERMEM, NV_PEER_MEM, LOADER],
    severity: Severity::High,
    rules: &["gpumem/registration-path", "gpumem/peermem-symbols", "gpumem/peermem-inbox"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.kernel(|k| matches!(k, KernelTrouble::Peermem(p) if *p != PeermemTrouble::Error));
    if found.is_empty() || seen::works(c) {
        return None;
    }
    // A mismatch says most, then what is absent; a refusal follows from either.
    let rank = |k: &KernelTrouble| match k {
        KernelTrouble::Peermem(PeermemTrouble::Mismatch) => 0,
        KernelTrouble::Peermem(PeermemTrouble::Absent) => 1,
        KernelTrouble::Peermem(PeermemTrouble::NotFound) => 2,
        _ => 3,
    };
    let (k, g) = found.iter().min_by_key(|(k, g)| (rank(k), g.first))?;
    let KernelTrouble::Peermem(what) = k else { return None };
    let of = g.quotes.iter().find_map(|q| symbol(&q.text)).map(owner).unwrap_or("another module");
    let is_old = |g: &Group| g.quotes.iter().any(|q| OLD.iter().any(|name| q.text.contains(name)));
    let old = is_old(g);
    let module = if old { "nv_peer_mem" } else { "nvidia-peermem" };
    let (words, why) = match what {
        PeermemTrouble::Mismatch => (
            format!("it was built against another version of {of}"),
            "the kernel compares the symbols' versions as it loads the module",
        ),
        PeermemTrouble::Absent => {
            (format!("a symbol of {of} is missing"), "the kernel names the symbol as it loads the module")
        }
        PeermemTrouble::NotFound => (
            "its file is not where modprobe looks".to_owned(),
            "modprobe says so; in a container it looks in the container's /lib/modules",
        ),
        // The loader's EINVAL; nvidia-peermem gives it itself where it was built without that interface.
        _ if old => (
            "the kernel refuses it: usually it was built against another RDMA stack or GPU driver than those that run"
                .to_owned(),
            "modprobe says so; the kernel's log has the symbol",
        ),
        _ => (
            "the kernel refuses it: usually the RDMA core has no peer-memory interface".to_owned(),
            "modprobe says so; the kernel's log has the symbol",
        ),
    };
    let found = Found::new(Certain, format!("{module} cannot be loaded: {words}"), why).shown(c, g);
    Some(if old { found.fix(Some(of_old())) } else { found })
}

/// The module before nvidia-peermem, and its packages.
const OLD: &[&str] = &["nv_peer_mem", "nvidia-peer-memory", "nvidia_peer_memory"];

/// It is a package of its own; nobody rebuilds it with the GPU driver.
fn of_old() -> Remedy {
    Advice::Software(
        "Rebuild nv_peer_mem (the package nvidia-peer-memory) against the MLNX_OFED and the GPU driver that run, each time one of them changes (1.1 goes with MLNX_OFED 4.9, 1.2 and later with newer ones); most inbox RDMA stacks have no interface for it. The GPU driver from 470 on has nvidia-peermem instead",
    )
    .remedy()
}

const PEERMEM: Source = nccl(
    "open-gpu-kernel-modules, kernel-open/nvidia-peermem/nvidia-peermem.c",
    "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/nvidia-peermem/nvidia-peermem.c",
);

const NV_PEER_MEM: Source = nccl("nv_peer_memory, README", "https://github.com/Mellanox/nv_peer_memory");

const LOADER: Source = nccl(
    "Linux, kernel/module/main.c: resolve_symbol",
    "https://github.com/torvalds/linux/blob/master/kernel/module/main.c",
);

/// Who has a symbol that the module needs.
fn owner(symbol: &str) -> &'static str {
    if symbol.starts_with("nvidia_p2p_") {
        "the GPU driver (nvidia)"
    } else if symbol.starts_with("ib_") || symbol.starts_with("rdma_") {
        "the RDMA core (ib_core) of MLNX_OFED or DOCA-OFED"
    } else {
        "another module"
    }
}

/// The symbol that a line names.
fn symbol(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(" symbol ")?;
    rest.split(' ').next()
}
