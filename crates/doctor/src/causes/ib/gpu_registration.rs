//! `ib/gpu-registration`.

use super::{WRAP, failed_call, no_memory, registers, verbs};
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::{KernelTrouble, PeermemTrouble};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/gpu-registration",
    title: "The NIC cannot register memory, usually of a GPU",
    what: "The NIC cannot register memory, usually of a GPU.",
    shows: &[
        "`Call to ibv_reg_mr failed with error Bad address`, `Call to ibv_reg_dmabuf_mr failed …`",
        "errors of `nvidia-peermem`, `dma-buf attach`, `ib_umem_get` in the kernel's log",
    ],
    why: "NCCL asks whether GPU memory can be registered, and tries it only when a connection is made. It fails \
          where nvidia-peermem is older than the driver or the RDMA stack, the GPU's BAR1 is too small or used up, \
          the driver refuses the dma-buf for this topology, or the NIC's driver cannot import one.",
    confirm: &[
        "the kernel's log at that time: `nvidia-peermem`, `NVRM`, `dma-buf attach`",
        "`ib_write_bw --use_cuda=0` (with and without --use_cuda_dmabuf; AMD: --use_rocm=0) on the same NIC",
        "NCCL_DMABUF_ENABLE=0 or NCCL_NET_GDR_LEVEL=LOC: does the job run?",
    ],
    refute: &["it fails with GPUDirect RDMA off as well"],
    remedy: Advice::Investigate(
        "Read the kernel's log at the time of the failure. NVIDIA: rebuild the peer-memory module for this driver and RDMA stack, or, with kernel 5.12 and a NIC newer than ConnectX-3, use DMA-BUF. \
         AMD: use DMA-BUF (a kernel with CONFIG_PCI_P2PDMA), or the peer memory of amdkfd (memory_peers/amdkfd in /sys)",
    ),
    sources: &[WRAP],
    severity: Severity::Critical,
    rules: REGISTRATION_RULES,
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    // Without a word of the error a limit is as likely, but for a dma-buf, which is the GPU's.
    // Nor with half a word of it.
    let cut = |error: &str| "Cannot allocate memory".starts_with(error);
    let of_gpu =
        |call: &str, error: &str| !no_memory(error) && (!cut(error) || error.is_empty() && call.contains("dmabuf"));
    // A benchmark that was set to use the GPU's memory registers that, and nothing else.
    let gpu_only = c.o.gpu_buffers;
    let found = verbs(c, |call, error| {
        registers(call) && (of_gpu(call, error) || gpu_only && (error.is_empty() || !no_memory(error)))
    });
    let kernel = c.kernel(|k| {
        matches!(k, KernelTrouble::Peermem(_) | KernelTrouble::DmabufRefused | KernelTrouble::PagesRefused)
    });
    // What names the error says more.
    let named = found.iter().find(|(_, error, _)| !error.is_empty());
    let (call, error, g) = match named.or(found.first()) {
        Some((call, error, g)) => (*call, *error, *g),
        None => {
            // A module that was not loaded is a cause of its own: gdr/peermem-not-loaded.
            let of_memory = |k: &KernelTrouble| {
                matches!(
                    k,
                    KernelTrouble::Peermem(PeermemTrouble::Error)
                        | KernelTrouble::DmabufRefused
                        | KernelTrouble::PagesRefused
                )
            };
            let (_, g) = kernel.iter().find(|(k, _)| of_memory(k))?;
            let words = "the kernel's log has errors of memory registration";
            return Some(
                Found::new(Likely, words, "nvidia-peermem, the GPU driver or the RDMA core says so")
                    .shown(c, g)
                    .join(c, REGISTRATION_RULES),
            );
        }
    };
    let lines = kernel.iter().flat_map(|(_, g)| c.first_quote(g)).take(4).collect::<Vec<_>>();
    let sure = if lines.is_empty() { Likely } else { Certain };
    Some(
        Found::new(sure, failed_call(call, error), "the call itself fails; why is in the kernel's log")
            .shown(c, g)
            .with(lines)
            .join(c, REGISTRATION_RULES),
    )
}

const REGISTRATION_RULES: &[&str] =
    &["gpumem/peermem-symbols", "gpumem/dmabuf-attach", "gpu/bar1-size", "gpumem/registration-path"];
