//! Messages about shared memory, and memory of the GPU and the host.

use super::Sure::{Certain, Likely, Possible};
use super::{FULL, GPU_OOM, KILLED, OOM, Says, says};

const SHM: &str = "shm/too-small";
const NO_ROOM: &str = "/dev/shm has no room for what the program shares";

pub(super) static SAYS: &[Says] = &[
    // Shared memory.
    says("PyTorch", SHM, Certain, "unable to write to file </torch_{}>: No space left on device", NO_ROOM),
    says("PyTorch", SHM, Likely, "unable to write to file </torch_{w}>$", NO_ROOM),
    says(
        "PyTorch",
        SHM,
        Certain,
        "unable to resize file </torch_{}> to the right size: No space left on device",
        NO_ROOM,
    ),
    says(
        "PyTorch",
        SHM,
        Certain,
        "unable to allocate shared memory(shm) for file <{}>: No space left on device",
        NO_ROOM,
    ),
    // posix_fallocate also gives this where the file system is full (EAGAIN of a tmpfs that is short of memory).
    says(
        "PyTorch",
        SHM,
        Likely,
        "unable to allocate shared memory(shm) for file <{}>: Resource temporarily unavailable",
        NO_ROOM,
    ),
    says(
        "PyTorch",
        SHM,
        Certain,
        "unable to open shared memory object <{}> in read-write mode: No space left on device",
        NO_ROOM,
    ),
    says("Python", SHM, Certain, "[Errno 28] No space left on device: '/dev/shm/{}'", NO_ROOM),
    says("Open MPI", SHM, Likely, "It appears as if there is not enough space for {w} (the shared-memory", NO_ROOM),
    says(
        "Ray",
        SHM,
        Possible,
        "The object store is using {w} instead of /dev/shm because /dev/shm has only {n} bytes available",
        NO_ROOM,
    ),
    // Memory of the GPU.
    says("PyTorch", GPU_OOM, Certain, "CUDA out of memory. Tried to allocate {n} ", FULL).alone(Possible),
    says("TensorRT-LLM", GPU_OOM, Certain, "CUDA runtime error in {}: out of memory", FULL),
    // Memory of the host.
    says("Kubernetes", OOM, Certain, "Reason: OOMKilled$", KILLED).alone(Likely),
];
