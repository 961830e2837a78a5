//! `gpu/wrong-data`.

use crate::causes::{Advice, Cause, nccl};
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/wrong-data",
    title: "A copy delivered other data than was sent",
    what: "A test wrote a pattern, copied it with a GPU at one end or both, and read something else. Results of jobs on these GPUs cannot be trusted.",
    shows: &[
        "` Invalid value when checking the pattern at 0x…` of nvbandwidth",
        "`Verification error @ element …: val = …, ref = …` of simpleP2P",
    ],
    why: "Between GPUs without NVLink an IOMMU that translates, or ACS that redirects, can send peer-to-peer writes elsewhere: nobody reports it. A link or \
          memory that corrupts data is the other reason; then the GPU has counters of it (ECC, NVLink CRC). A program that was built for another GPU \
          architecture than this one checks nothing that it wrote.",
    confirm: &[
        "`linerate audit --rule 'acs/*' --rule 'iommu/*'`; the same test with the IOMMU off or in passthrough",
        "another test of the same kind (`nvbandwidth -t device_to_device_memcpy_write_ce`, simpleP2P), and of each pair of GPUs: does it follow a GPU?",
        "`nvidia-smi -q -d ECC,ROW_REMAPPER`, `nvidia-smi nvlink -e`, Xids in the kernel's log",
    ],
    refute: &["a build of the test for this GPU and driver finds all values right"],
    remedy: Advice::Investigate(
        "Use these GPUs for nothing until it is known. Build the test for this GPU and run it again; then judge the node's IOMMU and ACS, and run the GPU's own diagnostics (`dcgmi diag -r 3`)",
    ),
    sources: &[NVBANDWIDTH, P2P],
    severity: Severity::Critical,
    rules: &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults"],
    follows: &["kernel/xid", "kernel/iommu-fault", "kernel/pcie-error"],
    // The programs say so themselves (`observe/says`).
    check: |_| None,
};

const NVBANDWIDTH: Source =
    nccl("nvbandwidth, kernels.cu: memcmpKernelDevice", "https://github.com/NVIDIA/nvbandwidth/blob/main/kernels.cu");
const P2P: Source = nccl("cuda-samples, simpleP2P.cu", "https://github.com/NVIDIA/cuda-samples/tree/master/Samples");
