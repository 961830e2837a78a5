//! Connections, shared memory and asynchronous events, in the words of UCX and Open MPI.

use linerate_formats::nccl_log::{Failure, SocketTrouble};

/// A connection that UCX (`src/ucs/sys/sock.c`), Open MPI's TCP (`btl_tcp_endpoint.c`, `help-mpi-btl-tcp.txt`) or its launcher
/// (`help-oob-tcp.txt`) could not make: `connect(fd=27, dest_addr=10.0.0.1:47019) failed: Connection refused`,
/// `[n1][[1,1],0][btl_tcp_endpoint.c:626:f] connect() to 10.0.0.1 failed: No route to host (113)`,
/// `Message:    connect() to 10.0.0.1:1024 failed`.
pub(super) fn connection(text: &str) -> Option<Failure<'_>> {
    if OF_LAUNCHER.contains(&text.trim_end()) {
        return Some(Failure::Socket { trouble: SocketTrouble::Other, peer: None });
    }
    let text = text.strip_prefix("Message:").map_or(text, str::trim_start);
    let text = match text.split_once(".c:") {
        Some((before, rest)) if before.starts_with('[') && before.contains("][") && !before.contains(' ') => {
            rest.split_once("] ")?.1
        }
        _ => text,
    };
    let (peer, rest) = match text.strip_prefix("connect(fd=") {
        Some(arguments) => {
            let (arguments, rest) = arguments.split_once(')')?;
            (arguments.split_once("dest_addr=").map_or(arguments, |(_, peer)| peer), rest)
        }
        None => text
            .strip_prefix("connect() to ")?
            .split_once(" failed")
            .map(|(peer, _)| peer)
            .zip(text.find(" failed").and_then(|at| text.get(at..)))?,
    };
    let rest = rest.trim_start().strip_prefix("failed")?;
    let is_peer = !peer.is_empty() && !peer.contains(' ');
    let ends = rest.trim().is_empty() || rest.starts_with(": ");
    (is_peer && ends).then(|| Failure::Socket { trouble: SocketTrouble::of(rest), peer: Some(peer) })
}

/// First lines of Open MPI's launcher (`orte/mca/oob/tcp/oob_tcp.c`) and of PRRTE (`src/rml/oob/oob_tcp_connection.c`).
const OF_LAUNCHER: &[&str] = &[
    "A process or daemon was unable to complete a TCP connection",
    "A daemon was unable to complete a TCP connection",
];

/// UCX, `src/uct/sm/mm/posix/mm_posix.c`.
pub(super) fn shared_memory(text: &str) -> Option<Failure<'_>> {
    let full =
        text.starts_with("Not enough memory to write total of ") && text.contains(" bytes. Please check that /dev/shm");
    let opened = text.strip_prefix("shm_open(").and_then(|r| r.split_once(") failed: ")).map(|(_, error)| error);
    let no_space = full || opened.is_some_and(|e| e.starts_with("No space left on device"));
    no_space.then_some(Failure::SharedMemory { text, no_space })
}

/// UCX, `src/uct/ib/base/ib_device.c`: `IB Async event on mlx5_0: port error on port 1`.
pub(super) fn asynchronous(text: &str) -> Option<Failure<'_>> {
    let (device, event) = text.strip_prefix("IB Async event on ")?.split_once(": ")?;
    (!device.contains(' ')).then(|| Failure::Async {
        device: Some(device),
        event: event.trim(),
        fatal: event.contains("fatal"),
    })
}
