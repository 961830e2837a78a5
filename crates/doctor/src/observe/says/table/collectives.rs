//! Messages about collectives that differ between ranks.

use super::Sure::{Adds, Certain, Likely, Possible};
use super::{Says, says};

const COLLECTIVES: &str = "job/collective-mismatch";
const DIFFER: &str = "ranks called different collectives, or the same with different sizes";

pub(super) static SAYS: &[Says] = &[
    // Collectives differ.
    says(
        "PyTorch",
        COLLECTIVES,
        Certain,
        "Detected mismatch between collectives on ranks. Rank {n} is running collective: ",
        DIFFER,
    )
    .alone(Possible),
    // A program's own logger quotes it behind words of its own.
    says(
        "PyTorch",
        COLLECTIVES,
        Certain,
        "{} - Detected mismatch between collectives on ranks. Rank {n} is running collective: ",
        DIFFER,
    )
    .alone(Adds),
    says(
        "PyTorch",
        COLLECTIVES,
        Certain,
        "{}: Detected mismatch between collectives on ranks. Rank {n} is running collective: ",
        DIFFER,
    )
    .alone(Adds),
    says(
        "PyTorch",
        COLLECTIVES,
        Possible,
        "DDP expects same model across all ranks, but Rank {n} has {n} params, while rank {n} has inconsistent ",
        DIFFER,
    ),
    says(
        "Gloo",
        COLLECTIVES,
        Likely,
        "[enforce fail at {w}pair.cc:{n}] op.preamble.length <= op.nbytes. {n} vs {n}",
        DIFFER,
    ),
    says("Gloo", COLLECTIVES, Likely, "op.preamble.length <= op.nbytes. {n} vs {n}", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched data types: One rank had type ", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched MPI operations: One rank did an ", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched collective operations: One rank did an ", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched {w} tensor shapes: One rank ", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched {w} root ranks: One rank specified root rank ", DIFFER),
    says(
        "Horovod",
        COLLECTIVES,
        Certain,
        "Mismatched {w} CPU/GPU device selection: One rank specified device ",
        DIFFER,
    ),
];
