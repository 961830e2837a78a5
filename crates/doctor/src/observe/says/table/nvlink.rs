//! Messages about NVLink, the fabric manager and IMEX.

use super::Sure::{Certain, Likely, Possible, Refutes};
use super::{NVLINK, Says, says};

const IMEX: &str = "gpu/imex";
const NO_MANAGER: &str = "the fabric manager does not run";
const NO_IMEX: &str = "nvidia-imex does not run";
const LINK_DOWN: &str = "an NVLink that should be up is down";

pub(super) static SAYS: &[Says] = &[
    // NVLink.
    says("a CUDA sample", NVLINK, Certain, "CUDA error at {w}:{n} code=802({w}) ", "CUDA waits for the NVLink fabric"),
    says("a CUDA sample", NVLINK, Certain, "cudaGetDeviceCount returned 802$", "CUDA waits for the NVLink fabric"),
    says(
        "numba",
        NVLINK,
        Certain,
        "[802] Call to cuInit results in CUDA_ERROR_SYSTEM_NOT_READY",
        "CUDA waits for the NVLink fabric",
    ),
    says(
        "numba",
        NVLINK,
        Certain,
        "Call to cuInit results in CUDA_ERROR_SYSTEM_NOT_READY",
        "CUDA waits for the NVLink fabric",
    ),
    says(
        "the fabric manager",
        NVLINK,
        Certain,
        "detected NVSwitch fatal error {n} on ",
        "an NVSwitch reported a fatal error",
    ),
    says(
        "the fabric manager",
        NVLINK,
        Possible,
        "failed to find the GPU handle {n} in the multicast team ",
        "the fabric manager does not know a GPU that asks for multicast memory",
    ),
    says(
        "the fabric manager",
        NVLINK,
        Refutes,
        "request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do",
        "the machine has no NVSwitch",
    ),
    says("systemd", NVLINK, Possible, "nvidia-fabricmanager.service: failed (Result: ", NO_MANAGER),
    says("systemd", NVLINK, Possible, "nvidia-fabricmanager.service: inactive (dead)", NO_MANAGER),
    says("systemd", NVLINK, Possible, "nvidia-fabricmanager.service: Failed with result", NO_MANAGER),
    says(
        "systemd",
        NVLINK,
        Possible,
        "nvidia-fabricmanager.service: Control process exited, code=exited, status={n}/",
        NO_MANAGER,
    ),
    says("systemd", NVLINK, Possible, "Failed to start NVIDIA fabric manager service$", NO_MANAGER),
    says("systemd", NVLINK, Possible, "Failed to start nvidia-fabricmanager.service", NO_MANAGER),
    says(
        "systemctl",
        NVLINK,
        Possible,
        "Job for nvidia-fabricmanager.service failed because the control process exited",
        NO_MANAGER,
    ),
    says("DCGM", NVLINK, Likely, "GPU {n}'s NvLink link {n} is currently down", LINK_DOWN),
    says("DCGM", NVLINK, Likely, "Only {n} NvLinks are up out of the expected {n}", LINK_DOWN),
    says("DCGM", NVLINK, Likely, "NvSwitch {n} - Only {n} NvLinks are up out of the expected {n}", LINK_DOWN),
    says("DCGM", NVLINK, Likely, "NvSwitch physical ID {n}'s NvLink port {n} is currently down", LINK_DOWN),
    says(
        "DCGM",
        NVLINK,
        Likely,
        "Detected fatal errors on NvSwitch {n} link {n}",
        "an NVSwitch reported a fatal error",
    ),
    // IMEX.
    says("nvidia-imex-ctl", IMEX, Likely, "Domain State: DOWN$", "nvidia-imex reports its domain down").alone(Likely),
    says("nvidia-imex-ctl", IMEX, Possible, "Domain State: DEGRADED$", "nvidia-imex reports its domain degraded"),
    says("systemd", IMEX, Possible, "nvidia-imex.service: failed (Result: ", NO_IMEX),
    says("systemd", IMEX, Possible, "nvidia-imex.service: inactive (dead)", NO_IMEX),
    says("systemd", IMEX, Possible, "nvidia-imex.service: Failed with result", NO_IMEX),
    // Memory of another node's kind is asked for, and the process has no channel; without multi-node NVLink it is so by design.
    says(
        "nvbandwidth",
        IMEX,
        Possible,
        "[CUDA_ERROR_NOT_PERMITTED] operation not permitted in expression cuMemCreate(",
        "CUDA gives the process no memory that other nodes can map",
    )
    .with(&["Multinode"]),
    // A handle of the fabric is asked for; `csrc/hybrid_ep` of DeepEP.
    says(
        "DeepEP",
        IMEX,
        Possible,
        "call='cuMemCreate({}fabric{}' Reason=operation not permitted$",
        "CUDA gives the process no memory that other nodes can map",
    ),
];
