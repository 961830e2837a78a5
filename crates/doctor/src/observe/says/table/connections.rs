//! Messages about connections that fail or end, and about ranks that wait.

use super::Sure::{Adds, Likely, Possible};
use super::{EXITED, LATE, NO_CONNECTION, STRAGGLER, Says, UNREACHABLE, says};

const GONE: &str = "the other side of a connection ended";

pub(super) static SAYS: &[Says] = &[
    // Connections.
    says(
        "PyTorch",
        UNREACHABLE,
        Likely,
        "The client socket has failed to connect to any network address of ({}, {n})",
        NO_CONNECTION,
    ),
    // An attempt of many.
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "The client socket has failed to connect to {w} (errno: {n} - ",
        NO_CONNECTION,
    ),
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "Timed out after {n} seconds waiting for clients. {n}/{n} clients joined",
        "ranks did not come to the store",
    ),
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "The IPv4 network addresses of ({}, {n}) cannot be retrieved (gai error: ",
        NO_CONNECTION,
    ),
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "The network addresses of ({}, {n}) cannot be retrieved (gai error: ",
        NO_CONNECTION,
    ),
    says("PyTorch", UNREACHABLE, Possible, "The connection to the C10d store has failed", NO_CONNECTION),
    says("Gloo", UNREACHABLE, Possible, "Gloo connectFullMesh failed ", NO_CONNECTION),
    says(
        "Gloo",
        UNREACHABLE,
        Possible,
        "[{w}/gloo/transport/tcp/{w}] connect [{w}]:{n}: Connection refused",
        NO_CONNECTION,
    ),
    says("Gloo", UNREACHABLE, Possible, "[{w}/gloo/transport/tcp/{w}] timed out connecting: ", NO_CONNECTION),
    says(
        "Gloo",
        "net/wrong-interface",
        Adds,
        "Unable to resolve hostname to a (local) address. Using the loopback",
        "Gloo takes the loopback address, which only ranks of the same node reach",
    ),
    says(
        "Open MPI",
        UNREACHABLE,
        Likely,
        "A process or daemon was unable to complete a TCP connection$",
        NO_CONNECTION,
    ),
    says("Open MPI", UNREACHABLE, Likely, "Open MPI failed to TCP connect to a peer MPI process", NO_CONNECTION),
    says(
        "Gloo",
        "net/no-interface",
        Likely,
        "[{w}/gloo/transport/tcp/{w}] Unable to find address for: {w}$",
        "Gloo does not find the interface that it is to use",
    ),
    says(
        "Gloo",
        "net/no-interface",
        Possible,
        "Unable to find address for: {w}$",
        "Gloo does not find the interface that it is to use",
    ),
    says(
        "libfabric",
        "net/plugin-init-failed",
        Possible,
        "libfabric:{w}::cxi:{w} : Failed to find valid default rgroup and vni for cxi{n}$",
        "the job has no network identifier (VNI) on Slingshot",
    ),
    // Connections that end.
    says("PyTorch", EXITED, Possible, "recvValue failed on SocketImpl(fd={n}", GONE),
    says("PyTorch", EXITED, Possible, "recvVector failed on SocketImpl(fd={n}", GONE),
    says("PyTorch", EXITED, Possible, "sendBytes failed on SocketImpl(fd={n}", GONE),
    says("PyTorch", EXITED, Possible, "Failed to recv, got 0 bytes. Connection was likely closed", GONE),
    says("Gloo", EXITED, Possible, "[{w}/gloo/transport/tcp/{w}] Connection closed by peer [", GONE),
    says("Gloo", EXITED, Possible, "[{w}/gloo/transport/tcp/{w}] Read error [{w}]:{n}: Connection reset by peer", GONE),
    says("JAX", EXITED, Possible, "Task {w} heartbeat timeout. This indicates that the remote task has failed", GONE),
    // Waiting.
    says(
        "Gloo",
        STRAGGLER,
        Possible,
        "[{w}/gloo/transport/tcp/{w}] Timed out waiting {n}ms for {w} operation to complete",
        LATE,
    ),
    says(
        "Gloo",
        STRAGGLER,
        Possible,
        "[{w}/gloo/transport/{w}] Timed out waiting {n}ms for {w} operation to complete",
        LATE,
    ),
    says("PyTorch", STRAGGLER, Possible, "Ranks {} failed to pass monitoredBarrier in {n} ms", LATE),
    says("PyTorch", STRAGGLER, Possible, "Rank {n} failed to pass monitoredBarrier in {n} ms", LATE),
    says(
        "Horovod",
        STRAGGLER,
        Possible,
        "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than {n} seconds",
        LATE,
    ),
];
