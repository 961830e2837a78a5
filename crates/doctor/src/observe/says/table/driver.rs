//! Messages about the GPU driver: too old, of two releases, peer access refused.

use super::Sure::{Certain, Likely, Possible};
use super::{Says, says};

const TOO_OLD: &str = "gpu/driver-too-old";
const MISMATCH: &str = "gpu/driver-mismatch";
const REFUSED: &str = "p2p/refused-by-driver";
const OLD: &str = "the driver is older than the CUDA of this program needs";
const TWO_DRIVERS: &str = "library and kernel module of the GPU driver are of different releases";
const NO_PEER: &str = "CUDA gives two GPUs no access to each other's memory";

pub(super) static SAYS: &[Says] = &[
    // The driver is too old.
    says("PyTorch", TOO_OLD, Certain, "The NVIDIA driver on your system is too old (found version {n})", OLD),
    says(
        "PyTorch",
        TOO_OLD,
        Certain,
        "CUDA initialization: The NVIDIA driver on your system is too old (found version {n})",
        OLD,
    ),
    says("a program", TOO_OLD, Likely, "Your NVIDIA driver is too old", OLD),
    says("the container's runtime", TOO_OLD, Certain, "requirement error: unsatisfied condition: cuda>={n}", OLD),
    says("the container's runtime", TOO_OLD, Certain, "requirement error: unsatisfied condition: cuda >= {n}", OLD),
    says("the container's runtime", TOO_OLD, Certain, "requirement error: unsatisfied condition: driver>={n}", OLD),
    says("the container's runtime", TOO_OLD, Certain, "requirement error: unsatisfied condition: driver >= {n}", OLD),
    // As a rule the driver's compiler is older than the one that made the code.
    says("CUDA", TOO_OLD, Likely, "CUDA error: the provided PTX was compiled with an unsupported toolchain", OLD),
    says("CUDA", TOO_OLD, Likely, "{w} the provided PTX was compiled with an unsupported toolchain", OLD),
    // Error 35 is also what the runtime says where it finds no driver: a container that was given no GPU.
    says("CUDA", TOO_OLD, Possible, "CUDA driver version is insufficient for CUDA runtime version$", OLD),
    says("TensorRT", TOO_OLD, Possible, "CUDA initialization failure with error: 35", OLD),
    says("TensorRT", TOO_OLD, Possible, "{w}: Error Code {n}: {}CUDA initialization failure with error: 35", OLD),
    says("a CUDA sample", TOO_OLD, Possible, "CUDA error at {w}:{n} code=35({w}) ", OLD),
    says("a CUDA sample", TOO_OLD, Possible, "cudaGetDeviceCount returned 35$", OLD),
    // Often it goes on in spite of it.
    says(
        "the container's start",
        TOO_OLD,
        Possible,
        "This container was built for NVIDIA Driver Release {n} or later",
        OLD,
    ),
    says(
        "the container's start",
        TOO_OLD,
        Likely,
        "[[System has unsupported display driver / cuda driver combination",
        OLD,
    ),
    says("the container's start", TOO_OLD, Likely, "[[CUDA Driver UNAVAILABLE (cuInit(0) returned 80{n})]]", OLD),
    // The driver's two halves differ.
    says(
        "TensorFlow",
        MISMATCH,
        Certain,
        "kernel version {n} does not match DSO version {n} -- cannot find working devices in this configuration",
        TWO_DRIVERS,
    ),
    says(
        "the container's runtime",
        MISMATCH,
        Certain,
        "initialization error: nvml error: driver/library version mismatch",
        TWO_DRIVERS,
    ),
    says("NVML", MISMATCH, Certain, "RM has detected an NVML/RM version mismatch$", TWO_DRIVERS),
    says("NVML", MISMATCH, Certain, "Failed to initialize NVML: ERROR_LIB_RM_VERSION_MISMATCH", TWO_DRIVERS),
    says("NVML", MISMATCH, Certain, "failed to initialize NVML: ERROR_LIB_RM_VERSION_MISMATCH", TWO_DRIVERS),
    says("NVML", MISMATCH, Certain, "failed to initialize NVML: Driver/library version mismatch", TWO_DRIVERS),
    // Peer access.
    says(
        "a HIP sample",
        REFUSED,
        Possible,
        "peer2peer transfer not possible between the selected gpu devices$",
        "HIP gives two GPUs no access to each other's memory",
    ),
    says("TensorRT-LLM", REFUSED, Certain, "Can't enable access between nodes {n} and {n}", NO_PEER),
    says("TensorRT-LLM", REFUSED, Possible, "Device {n} peer access Device {n} is not available", NO_PEER),
    says("p2pBandwidthLatencyTest", REFUSED, Possible, "Device={n} CANNOT Access Peer Device={n}$", NO_PEER),
];
