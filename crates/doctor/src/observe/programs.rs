//! What other programs that use verbs print: UCX, perftest, libibverbs, Open MPI, tools. A line counts from its beginning, behind the
//! program's own head.

use super::trouble::ToolTrouble;
use linerate_formats::nccl_log::{Completion, Failure, SocketTrouble};
use linerate_formats::printed;

/// A line's own text behind the head of UCX: `[time] [host:pid:tid]  ib_md.c:348  UCX  ERROR …` (`src/ucs/debug/log.c`, UCS_LOG_FMT), and of
/// others that print `file.c:12  [ERROR] - …`.
fn message(line: &str) -> Option<&str> {
    let own = printed::own(line);
    if own.quoted {
        return None;
    }
    // A Python exception with a library's own words.
    let text = match own.text.split_once("Error: ") {
        Some((class, rest)) if class.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_')) => rest,
        _ => own.text,
    };
    let own = printed::Printed { text, ..own };
    for level in ["UCX  ERROR ", "UCX  WARN  ", "UCX  FATAL "] {
        if let Some((before, rest)) = own.text.split_once(level) {
            return is_place(before).then_some(rest.trim_start());
        }
    }
    match own.text.split_once("[ERROR] - ") {
        Some((before, rest)) if is_place(before) => Some(rest),
        // `ib_mlx5_log.c:177  Transport retry count …` of a signal handler.
        _ => Some(match own.text.split_once("  ") {
            Some((before, rest)) if is_place(before) => rest.trim_start(),
            _ => own.text,
        }),
    }
}

/// Whether the last word is `file.c:12`, or all words are tags in brackets.
fn is_place(before: &str) -> bool {
    let last = before.split_whitespace().next_back().unwrap_or_default().trim_end_matches(':');
    last.rsplit_once(':').is_some_and(|(file, line)| {
        [".c", ".cc", ".cpp", ".cu", ".h"].iter().any(|e| file.ends_with(e)) && line.bytes().all(|b| b.is_ascii_digit())
    }) || before.split_whitespace().all(|w| w.starts_with('[') || w.ends_with(']'))
}

/// A failure, in terms of the call or the completion.
pub(super) fn failure(line: &str) -> Option<Failure<'_>> {
    let text = message(line)?;
    if let Some(call) = verbs(text).or_else(|| nvshmem(text)) {
        return Some(call);
    }
    if let Some(status) = named_status(text) {
        return Some(Failure::Completion(Completion { status, ..Completion::default() }));
    }
    if let Some(status) = completion(text) {
        return Some(Failure::Completion(Completion { status, ..Completion::default() }));
    }
    if let Some(failure) = connection(text).or_else(|| shared_memory(text)).or_else(|| asynchronous(text)) {
        return Some(failure);
    }
    if let Some((peer, port)) = text.strip_prefix("Couldn't connect to ").and_then(|r| r.trim_end().rsplit_once(':')) {
        let is_peer = !peer.contains(' ') && port.bytes().all(|b| b.is_ascii_digit());
        return is_peer.then_some(Failure::Socket { trouble: SocketTrouble::Other, peer: Some(peer) });
    }
    if let Some(device) = text.trim_end().strip_prefix("Couldn't get context for ").filter(|d| is_device(d)) {
        return Some(Failure::Verbs { call: "ibv_open_device", error: "", errno: None, detail: device });
    }
    perftest(text.trim_end())
}

/// NVSHMEM, `src/modules/transport/ibgda/ibgda.cpp`: the firmware refuses what brings a queue pair up. Its macros (`non_abi/nvshmemx_error.h`) put
/// `file.cpp:12: non-zero status: 7 ` before it, or that alone on a line.
fn nvshmem(text: &str) -> Option<Failure<'_>> {
    let located = [": non-zero status: ", ": NULL value "].iter().find_map(|key| {
        let (place, rest) = text.split_once(key)?;
        let words = if key.contains("status") { rest.split_once(' ')?.1 } else { rest };
        (is_place(place) && !place.contains(' ')).then_some(words)
    });
    if let Some(words) = located.map(str::trim)
        && let Some((_, call)) = NVSHMEM.iter().find(|(w, _)| words.trim_end_matches('.') == *w)
    {
        return Some(Failure::Verbs { call, error: "", errno: None, detail: "" });
    }
    let text = located.unwrap_or(text);
    let (step, syndrome) = text.strip_prefix("Error in mlx5dv_devx_obj_modify for ")?.split_once(" with syndrome ")?;
    let step = matches!(step, "INIT2RTR_QP" | "RTR2RTS_QP" | "RST2INIT_QP");
    let syndrome = syndrome.trim_end();
    let whole = !syndrome.is_empty() && syndrome.bytes().all(|b| b.is_ascii_hexdigit());
    (step && whole).then_some(Failure::Verbs { call: "ibv_modify_qp", error: "", errno: None, detail: "" })
}

/// Whole messages of NVSHMEM's transports behind their place in the source (`src/modules/transport/ibrc/ibrc.cpp`, `ibgda/ibgda.cpp`, `ibdevx/ibdevx.cpp`,
/// `common/transport_ib_common.cpp`), and the call that failed.
const NVSHMEM: &[(&str, &str)] = &[
    ("ibv_alloc_pd failed", "ibv_alloc_pd"),
    ("ibv_modify_qp failed", "ibv_modify_qp"),
    ("ibv_post_send failed", "ibv_post_send"),
    ("ibv_poll_cq failed", "ibv_poll_cq"),
    ("ibv_create_srq failed", "ibv_create_srq"),
    ("ibv_create_cq for recv_cq failed", "ibv_create_cq"),
    ("cq creation failed", "ibv_create_cq"),
    ("srq creation failed", "ibv_create_srq"),
    ("Unable to create ah", "ibv_create_ah"),
    ("get_device_list failed", "ibv_get_device_list"),
    ("query_gid failed", "ibv_query_gid"),
    ("ibv_query_device failed", "ibv_query_device"),
    ("ibv_port_query failed", "ibv_query_port"),
];

/// A status by its name in `enum ibv_wc_status` (rdma-core, `libibverbs/verbs.h`), at the end of a line that says which request failed with it:
/// `RECV 93B246F7.0.169 failed: IBV_WC_RETRY_EXC_ERR`. A sentence, or code that compares with it, counts for nothing.
fn named_status(text: &str) -> Option<u32> {
    let (before, name) = text.trim_end().rsplit_once(" failed: IBV_WC_")?;
    let request = before.split_whitespace().next_back()?;
    let numbered = request.bytes().any(|b| b.is_ascii_digit()) && !printed::is_prose(before);
    numbered.then(|| NAMES.iter().find(|(n, _)| *n == name).map(|(_, s)| *s)).flatten()
}

/// Names of [`STATUS`], without `IBV_WC_`.
const NAMES: &[(&str, u32)] = &[
    ("LOC_LEN_ERR", 1),
    ("LOC_QP_OP_ERR", 2),
    ("LOC_PROT_ERR", 4),
    ("WR_FLUSH_ERR", 5),
    ("REM_ACCESS_ERR", 10),
    ("REM_OP_ERR", 11),
    ("RETRY_EXC_ERR", 12),
    ("RNR_RETRY_EXC_ERR", 13),
];

/// `Couldn't allocate MR`, newer ` Couldn't allocate MR with error=14`; `Failed to modify QP 123 to RTR`.
fn perftest(text: &str) -> Option<Failure<'_>> {
    let (words, errno) = match text.split_once(" with error=").or_else(|| text.split_once(", ret=")) {
        Some((words, number)) => (words, Some(number.trim_start_matches('-').parse::<i64>().ok()?)),
        None => (text, None),
    };
    let call = match words.strip_prefix("Failed to modify QP ").and_then(|rest| rest.split_once(" to ")) {
        Some((number, "INIT" | "RTR" | "RTS")) if number.bytes().all(|b| b.is_ascii_digit()) => "ibv_modify_qp",
        _ => PERFTEST.iter().find(|(w, _)| words == *w)?.1,
    };
    let error = ERRNO.iter().find(|(n, _)| Some(*n) == errno).map_or("", |(_, words)| *words);
    Some(Failure::Verbs { call, error, errno, detail: "" })
}

/// Numbers of errors that verbs return, in the words of strerror.
const ERRNO: &[(i64, &str)] = &[
    (1, "Operation not permitted"),
    (12, "Cannot allocate memory"),
    (14, "Bad address"),
    (19, "No such device"),
    (22, "Invalid argument"),
    (61, "No data available"),
    (93, "Protocol not supported"),
    (95, "Operation not supported"),
    (101, "Network is unreachable"),
    (110, "Connection timed out"),
];

/// A connection that UCX (`src/ucs/sys/sock.c`), Open MPI's TCP (`btl_tcp_endpoint.c`, `help-mpi-btl-tcp.txt`) or its launcher
/// (`help-oob-tcp.txt`) could not make: `connect(fd=27, dest_addr=10.0.0.1:47019) failed: Connection refused`,
/// `[n1][[1,1],0][btl_tcp_endpoint.c:626:f] connect() to 10.0.0.1 failed: No route to host (113)`,
/// `Message:    connect() to 10.0.0.1:1024 failed`.
fn connection(text: &str) -> Option<Failure<'_>> {
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
fn shared_memory(text: &str) -> Option<Failure<'_>> {
    let full =
        text.starts_with("Not enough memory to write total of ") && text.contains(" bytes. Please check that /dev/shm");
    let opened = text.strip_prefix("shm_open(").and_then(|r| r.split_once(") failed: ")).map(|(_, error)| error);
    let no_space = full || opened.is_some_and(|e| e.starts_with("No space left on device"));
    no_space.then_some(Failure::SharedMemory { text, no_space })
}

/// UCX, `src/uct/ib/base/ib_device.c`: `IB Async event on mlx5_0: port error on port 1`.
fn asynchronous(text: &str) -> Option<Failure<'_>> {
    let (device, event) = text.strip_prefix("IB Async event on ")?.split_once(": ")?;
    (!device.contains(' ')).then(|| Failure::Async {
        device: Some(device),
        event: event.trim(),
        fatal: event.contains("fatal"),
    })
}

/// Whole lines of perftest (`src/perftest_resources.c`) and of rdma-core's examples (`libibverbs/examples`), and the call that failed. Most have no error number.
const PERFTEST: &[(&str, &str)] = &[
    ("Couldn't allocate MR", "ibv_reg_mr"),
    ("Couldn't allocate PD", "ibv_alloc_pd"),
    ("Couldn't create CQ", "ibv_create_cq"),
    ("Couldn't create a receiver CQ", "ibv_create_cq"),
    ("Couldn't create send completion channel", "ibv_create_comp_channel"),
    ("Couldn't create receive completion channel", "ibv_create_comp_channel"),
    ("Couldn't create SRQ", "ibv_create_srq"),
    ("Couldn't register MR", "ibv_reg_mr"),
    ("Failed to create MR", "ibv_reg_mr"),
    ("failed to create mr", "ibv_reg_mr"),
    ("Failed to create CQs", "ibv_create_cq"),
    ("Couldn't create completion channel", "ibv_create_comp_channel"),
    ("Couldn't create QP", "ibv_create_qp"),
    ("Failed to create QP.", "ibv_create_qp"),
    ("Couldn't connect to remote QP", "ibv_modify_qp"),
    ("Unable to create QP.", "ibv_create_qp"),
    ("Couldn't get context for the device", "ibv_open_device"),
    ("Unable to Connect the HCA's through the link", "ibv_modify_qp"),
    ("Failed to modify QP to INIT", "ibv_modify_qp"),
    ("Failed to modify QP to RTR", "ibv_modify_qp"),
    ("Failed to modify QP to RTS", "ibv_modify_qp"),
    ("Failed to modify RC QP to RTR", "ibv_modify_qp"),
    ("Failed to modify RC QP to RTS", "ibv_modify_qp"),
];

/// `ibv_create_cq(cqe=4096) failed: Cannot allocate memory`, `ibv_reg_mr failed, Bad address. addr:…`, `ibv_open_device(mlx5_0) failed: …`.
fn verbs(text: &str) -> Option<Failure<'_>> {
    if let Some(failure) = queue_pair(text) {
        return Some(failure);
    }
    // UCX names the device before the call (`uct_ib_check_memlock_limit_msg`).
    let text = match text.split_once(": ") {
        Some((device, rest)) if is_device(device) && (rest.starts_with("ibv_") || rest.starts_with("mlx5dv_")) => rest,
        _ => text,
    };
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (call, rest) = text.split_at_checked(end)?;
    // Other libraries and older ones have the same calls with another name.
    let call = match call {
        c if c.starts_with("ibv_exp_reg_mr") => "ibv_reg_mr",
        "ibv_exp_modify_qp" => "ibv_modify_qp",
        "mlx5dv_create_cq" => "ibv_create_cq",
        "mlx5dv_create_qp" => "ibv_create_qp",
        c => c,
    };
    if !call.starts_with("ibv_") || call.len() < 8 {
        return None;
    }
    let rest = match rest.strip_prefix('(') {
        Some(arguments) => arguments.split_once(')')?.1,
        None => rest,
    };
    // ` for RC DEVX QP connect on mlx5_0 failed`.
    let rest = match rest.find(" failed: ") {
        Some(at) if call == "ibv_create_ah" && at < 80 => rest.get(at..)?,
        _ => rest,
    };
    let rest = rest.trim_start().strip_prefix("failed")?;
    let error = failed_with(rest)?;
    // The words of strerror, to the end of the line or to what the program adds.
    let error =
        [" : ", ". ", " ("].iter().fold(error, |e, stop| e.split(stop).next().unwrap_or(e)).trim_end_matches('.');
    ERRORS.iter().any(|e| error.trim().starts_with(e)).then_some(Failure::Verbs {
        call,
        error: error.trim(),
        errno: None,
        detail: "",
    })
}

/// What follows `failed`: the error, perhaps behind what was to be done: ` to create UMR CQ: …`.
fn failed_with(rest: &str) -> Option<&str> {
    let to = rest.starts_with(" to ").then(|| rest.split_once(": ")).flatten();
    let plain = [": ", " : ", ", "].iter().find_map(|s| rest.strip_prefix(s));
    plain.or(to.filter(|(what, _)| what.len() < 60).map(|(_, error)| error))
}

/// `mlx5_0`, `bnxt_re0`, `rocep1s0`.
fn is_device(name: &str) -> bool {
    (3..32).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().any(|b| b.is_ascii_digit())
}

/// UCX: `iface=0x55 failed to create RC QP TX wr:256 …: Cannot allocate memory` (`ib_iface.c`), `modify qp 0x12 to state 2 failed: …`
/// (`ib_device.c`), `error modifying QP to RTR: …` (`rc_iface.c`, `dc_mlx5.c`).
fn queue_pair(text: &str) -> Option<Failure<'_>> {
    let (_, error) = text.rsplit_once(": ")?;
    let error = error.trim().trim_end_matches('.');
    let call = if text.starts_with("iface") && text.contains(" failed to create ") && text.contains(" QP ") {
        "ibv_create_qp"
    } else if text.starts_with("modify qp 0x") && text.contains(" failed: ")
        || text.starts_with("error modifying ") && text.contains(" to ")
    {
        "ibv_modify_qp"
    } else {
        return None;
    };
    ERRORS.iter().any(|e| error.starts_with(e)).then_some(Failure::Verbs { call, error, errno: None, detail: "" })
}

/// What strerror says of the numbers that verbs return.
const ERRORS: &[&str] = &[
    "Cannot allocate memory",
    "Bad address",
    "Invalid argument",
    "Operation not permitted",
    "Permission denied",
    "Operation not supported",
    "Protocol not supported",
    "No such device",
    "No such file or directory",
    "No space left on device",
    "No data available",
    "Connection timed out",
    "Network is unreachable",
    "Device or resource busy",
    "Input/output error",
    "Remote I/O error",
    "Resource temporarily unavailable",
    "Too many open files",
    "Function not implemented",
];

/// UCX: `Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 …`; perftest: ` Failed status 12: wr_id 0 syndrom 0x81`, later
/// ` Failed status-transport retry counter exceeded (12): wr_id 0 …`.
fn completion(text: &str) -> Option<u32> {
    if let Some(status) = old_ucx(text) {
        return Some(status);
    }
    if let Some((_, status)) = UCX.iter().find(|(words, _)| {
        let rest = text.strip_prefix(words).map(|r| r.strip_prefix(" error").unwrap_or(r));
        rest.is_some_and(|rest| rest.starts_with(" on ") && rest.contains("(synd 0x"))
    }) {
        return Some(*status);
    }
    // UCX before 1.10, `ib_iface.h`: `Send completion[0] with error on mlx5_0/0x1: transport retry counter exceeded, vendor_err 0x81 wr_id 0x1`.
    if let Some((before, rest)) = text.split_once(" completion[")
        && !before.contains(' ')
        && let Some((_, words)) = rest.split_once("] with error on ").and_then(|(_, r)| r.split_once(": "))
    {
        return STATUS.iter().find(|(w, _)| words.starts_with(w)).map(|(_, s)| *s);
    }
    if let Some((_, status)) = OPENIB.iter().find(|(words, _)| text.trim_end() == *words) {
        return Some(*status);
    }
    // perftest, `perftest_resources.c`.
    if let Some(rest) = text.strip_prefix("Poll send CQ error status=") {
        return rest.split_once(" qp ").and_then(|(number, _)| number.parse().ok());
    }
    if let Some(status) = example(text).or_else(|| dapl(text)).or_else(|| mlx4(text)) {
        return Some(status);
    }
    let rest = text.strip_prefix("Failed status")?;
    // rdma-core, `libibverbs/examples/rc_pingpong.c`: `Failed status transport retry counter exceeded (12) for wr_id 1`.
    if let Some((_, tail)) = rest.split_once('(')
        && let Some((number, end)) = tail.split_once(") for wr_id ")
    {
        return end.trim().bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok()).flatten();
    }
    let (number, rest) = match rest.strip_prefix('-') {
        Some(named) => named.split_once('(')?.1.split_once("):")?,
        None => rest.trim_start().split_once(':')?,
    };
    rest.trim_start().starts_with("wr_id ").then(|| number.trim().parse().ok()).flatten()
}

/// Mellanox's RDMA Aware programming manual, `RDMA_RC_example.c`, as many programs copied it: `got bad completion with status: 0xd, vendor syndrome: 0x87`.
fn example(text: &str) -> Option<u32> {
    let (status, vendor) =
        text.strip_prefix("got bad completion with status: 0x")?.split_once(", vendor syndrome: 0x")?;
    let hex = |t: &str| u32::from_str_radix(t.trim_end(), 16).ok();
    hex(vendor).and(hex(status))
}

/// uDAPL, which Intel MPI used (`dapl/openib_common/cq.c`): `n1:UCM:d600:37cc880: 1890740163 us(1890740163 us!!!): DTO completion ERR: status 12, op
/// RDMA_WRITE, vendor_err 0x81 - 10.0.0.1`.
fn dapl(text: &str) -> Option<u32> {
    let (before, rest) = text.split_once("DTO completion ERR: status ")?;
    let (number, rest) = rest.split_once(", op ")?;
    let head = before.is_empty() || before.trim_end().ends_with(" us!!!):") || before.trim_end().ends_with(" us):");
    (head && rest.contains(" - ")).then(|| number.parse().ok()).flatten()
}

/// libmlx4 (rdma-core, `providers/mlx4/cq.c`): `mlx4: local QP operation err (QPN 0002c8, WQE index 0, vendor syndrome 70, opcode = 5e)`.
fn mlx4(text: &str) -> Option<u32> {
    let rest = text.strip_prefix("mlx4: local QP operation err (QPN ")?;
    (rest.contains(", vendor syndrome ") && rest.trim_end().ends_with(')')).then_some(2)
}

/// UCX 1.2 to 1.5: `Error on QP 0x61f5 wqe[0]: Transport retry count exceeded (synd 0x15 vend 0x81) opcode SEND` (`ib_mlx5_log.c`); and
/// `send completion with error: local protection error [qpn 0xf9db …` of every release (`rc_verbs_iface.c`, `ud_verbs.c`), with its level before it.
fn old_ucx(text: &str) -> Option<u32> {
    let text =
        ["FATAL: ", "FATAL ", "ERROR ", "WARN ", "DIAG "].iter().find_map(|l| text.strip_prefix(l)).unwrap_or(text);
    let text = text.trim_start();
    // 1.5 names the device before the queue pair: `Error on mlx5_3:1 QP 0xe6d7 wqe[7821]: …`.
    let pair = text.strip_prefix("Error on ").and_then(|r| r.split_once("QP 0x"));
    let pair = pair.filter(|(device, _)| device.split_whitespace().count() <= 1).map(|(_, rest)| rest);
    if let Some(words) = pair.and_then(|r| r.split_once(": ")).map(|(_, w)| w) {
        return UCX.iter().find(|(w, _)| words.starts_with(w) && words.contains("(synd 0x")).map(|(_, s)| *s);
    }
    let words = ["send", "Send", "receive", "Receive", "recv"]
        .iter()
        .find_map(|side| text.strip_prefix(side)?.strip_prefix(" completion with error: "))?;
    STATUS.iter().find(|(w, _)| words.starts_with(w)).map(|(_, s)| *s)
}

/// perftest's lines about a buffer in a GPU (`perftest_resources.c`, later `cuda_memory.c`).
pub(super) fn is_gpu_buffer(line: &str) -> bool {
    let text = line.trim();
    text == "initializing CUDA"
        || text.starts_with("allocated GPU buffer address at ")
        || text.starts_with("cuMemAlloc() of a ") && text.ends_with(" bytes GPU buffer")
        || text == "making it the current CUDA Ctx"
}

/// Completions in UCX's words (`src/uct/ib/mlx5/ib_mlx5_log.c`).
const UCX: &[(&str, u32)] = &[
    ("Transport retry count exceeded", 12),
    ("Receive-no-ready retry count exceeded", 13),
    ("Local protection", 4),
    ("Remote access", 10),
    ("Remote operation", 11),
    ("Local length", 1),
    ("Local QP operation", 2),
    ("WR flushed because QP in error state", 5),
];

/// First lines of Open MPI 4 and before, `opal/mca/btl/openib/help-mpi-btl-openib.txt`.
const OPENIB: &[(&str, u32)] = &[
    ("The InfiniBand retry count between two MPI processes has been", 12),
    ("The OpenFabrics \"receiver not ready\" retry count on a per-peer", 13),
    ("The OpenFabrics \"receiver not ready\" retry count on a shared receive", 13),
];

/// Completions in the words of `ibv_wc_status_str` (rdma-core, `libibverbs/verbs.c`).
const STATUS: &[(&str, u32)] = &[
    ("local length error", 1),
    ("local QP operation error", 2),
    ("local protection error", 4),
    ("Work Request Flushed Error", 5),
    ("remote access error", 10),
    ("remote operation error", 11),
    ("transport retry counter exceeded", 12),
    ("RNR retry counter exceeded", 13),
];

/// What a line says of the node, or of the process's limits.
pub(super) fn tool(line: &str) -> Option<ToolTrouble> {
    let text = message(line)?.trim();
    if NO_DEVICE.iter().any(|w| text.trim_end_matches('.') == *w) || is_missing_device(text) {
        return Some(ToolTrouble::NoRdmaDevice);
    }
    // libibverbs/init.c: the kernel has the device, and no library for its vendor is installed here.
    if text.starts_with("libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband") {
        return Some(ToolTrouble::NoProvider);
    }
    if PEER_MEMORY.iter().any(|w| text.ends_with(w) && is_place(text.get(..text.len() - w.len()).unwrap_or("x"))) {
        return Some(ToolTrouble::NoPeerMemory);
    }
    if wants_efa(text) {
        return Some(ToolTrouble::WantsEfa);
    }
    if is_cancelled(text) {
        return Some(ToolTrouble::Cancelled);
    }
    if ["Failed to initialize NVML: Driver/library version mismatch", "nvml error: driver/library version mismatch"]
        .iter()
        .any(|w| text.starts_with(w))
        || text.starts_with("nvidia-container-cli: ") && text.contains("driver/library version mismatch")
    {
        return Some(ToolTrouble::DriverMismatch);
    }
    if let Some(rest) = text.strip_prefix("max locked memory ") {
        // `ulimit -a`: `max locked memory       (kbytes, -l) 64`.
        let (_, value) = rest.trim_start().strip_prefix('(')?.split_once("-l) ")?;
        let kib = value.trim().parse().ok()?;
        return Some(ToolTrouble::LockedMemory { kib: Some(kib), complains: false });
    }
    // rdma-core, libibverbs/init.c: check_memlock_limit.
    if let Some(rest) = text.strip_prefix("libibverbs: Warning: RLIMIT_MEMLOCK is ") {
        let bytes: u64 = rest.split(' ').next()?.parse().ok()?;
        return Some(ToolTrouble::LockedMemory { kib: Some(bytes >> 10), complains: true });
    }
    // Open MPI 4, opal/mca/btl/openib/help-mpi-btl-openib.txt: the second line of the message, which names memory and no other queue.
    let complains = text.starts_with("allocate some locked memory.  This typically can indicate that the");
    complains.then_some(ToolTrouble::LockedMemory { kib: None, complains: true })
}

/// slurmstepd (`src/slurmd/slurmstepd/req.c`): `slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-11-21T07:00:00 DUE TO TIME LIMIT ***`.
fn is_cancelled(text: &str) -> bool {
    let text = text.strip_prefix("slurmstepd: error: ").unwrap_or(text);
    let whole = text.strip_prefix("*** ").and_then(|t| t.trim_end().strip_suffix("***"));
    whole.is_some_and(|t| (t.starts_with("JOB ") || t.starts_with("STEP ")) && t.contains(" CANCELLED AT "))
}

/// NVSHMEM, `src/modules/transport/ib*/`: neither DMA-BUF nor a module serves; its place in the source stands before.
const PEER_MEMORY: &[&str] = &["neither nv_peer_mem, or nvidia_peermem detected. Skipping transport."];

/// A setting that asks libfabric for EFA, in an environment or a command: `"FI_PROVIDER": "efa"`, `-x FI_PROVIDER=efa`, `export FI_PROVIDER="efa"`.
fn wants_efa(text: &str) -> bool {
    let Some((before, rest)) = text.split_once("FI_PROVIDER") else { return false };
    let value = rest.trim_start_matches(['"', '\'', ':', '=', ' ']);
    let assigned = rest.starts_with(['=', ':', '"', '\'']) && value.len() < rest.len();
    let word = value.split(|c: char| !c.is_ascii_alphanumeric()).next();
    let set = before.is_empty() || before.ends_with(['"', '\'', ' ']);
    let before = before.trim_end_matches(['"', '\'']);
    set && assigned && word == Some("efa") && !printed::is_prose(before)
}

/// Whole lines: ibv_devinfo and ibv_devices of rdma-core, ibstat, perftest.
const NO_DEVICE: &[&str] = &[
    "No IB devices found",
    "Unable to find the Infiniband/RoCE device",
    "Did not detect devices",
    "Failed to get IB devices list",
    "Failed to get IB devices list: Function not implemented",
];

/// `IB device 'mlx5_0' wasn't found` of ibv_devinfo, `IB device mlx5_0 not found` of perftest.
fn is_missing_device(text: &str) -> bool {
    let rest = text.strip_prefix("IB device ").map(|r| r.split_once(' '));
    rest.flatten().is_some_and(|(_, rest)| matches!(rest.trim_end_matches('.'), "wasn't found" | "not found"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_calls_of_other_programs() {
        for (line, want) in [
            ("ibv_create_cq(cqe=4096) failed: Cannot allocate memory", ("ibv_create_cq", "Cannot allocate memory")),
            (
                "[1615993133.560153] [n1:12345:0]   ib_md.c:348  UCX  ERROR ibv_exp_reg_mr(address=0x7f, length=1, access=0xf) failed: Cannot allocate memory : Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)",
                ("ibv_reg_mr", "Cannot allocate memory"),
            ),
            (
                "[2017/07/20-04:47:36.231116] xio_rdma_verbs.c:248         [ERROR] - ibv_reg_mr failed, Bad address. addr:0x7f, length:1, access:0x7",
                ("ibv_reg_mr", "Bad address"),
            ),
            ("RuntimeError: ibv_reg_mr failed: Cannot allocate memory", ("ibv_reg_mr", "Cannot allocate memory")),
            ("Couldn't allocate MR", ("ibv_reg_mr", "")),
            (" Unable to Connect the HCA's through the link", ("ibv_modify_qp", "")),
        ] {
            let Some(Failure::Verbs { call, error, .. }) = failure(line) else { panic!("{line}: {:?}", failure(line)) };
            assert_eq!((call, error), want, "{line}");
        }
        for (line, want) in [
            (" Failed status 12: wr_id 0 syndrom 0x81", 12),
            (" Failed status-transport retry counter exceeded (12): wr_id 0 syndrom 0x81", 12),
            (
                "ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)",
                12,
            ),
            ("[n1:12:0:12] ib_mlx5_log.c:177  Local protection on mlx5_0:1/IB (synd 0x4 vend 0x52 hw_synd 0/0)", 4),
        ] {
            assert!(
                matches!(failure(line), Some(Failure::Completion(c)) if c.status == want),
                "{line}: {:?}",
                failure(line)
            );
        }
        // NVSHMEM and the names of statuses, each with its source at its reader.
        for (line, want) in [
            (
                "/src/modules/transport/ibgda/ibgda.cpp:1345: non-zero status: 121 Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 29e0df",
                "ibv_modify_qp",
            ),
            ("Error in mlx5dv_devx_obj_modify for RTR2RTS_QP with syndrome 5f9c1b", "ibv_modify_qp"),
        ] {
            assert!(matches!(failure(line), Some(Failure::Verbs { call, .. }) if call == want), "{line}");
        }
        for (line, want) in [
            ("CRITICAL_EVENT:AppCriticalEvents/RdmaError:RECV 93B246F7.0.169 failed: IBV_WC_RETRY_EXC_ERR", 12),
            ("SEND 17 failed: IBV_WC_LOC_PROT_ERR", 4),
        ] {
            assert!(matches!(failure(line), Some(Failure::Completion(c)) if c.status == want), "{line}");
        }
        for prose in [
            "Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 29e0df is what we see",
            // Whether the memory is a GPU's is not in the line.
            "Failed to register memory 0x7f00: Cannot allocate memory [12]",
            "Failed to register memory 0x7f00",
            "IBV_WC_RETRY_EXC_ERR",
            "the transfer of our node 12 failed: IBV_WC_RETRY_EXC_ERR",
            "RECV 12 failed: IBV_WC_RETRY_EXC_ERR means that the peer is gone",
            "if (wc.status == IBV_WC_RETRY_EXC_ERR)",
            "ibv_reg_mr failed, so we gave up",
            "ibv_create_cq failed: see above",
            "we saw that ibv_reg_mr failed, Bad address",
            "Couldn't allocate MR means that memory is short",
            "> ibv_create_cq(cqe=4096) failed: Cannot allocate memory",
            "- Couldn't allocate MR",
            "Failed status 12: that is a retry",
            "Transport retry count exceeded on our cluster",
        ] {
            assert!(failure(prose).is_none(), "{prose}: {:?}", failure(prose));
        }
    }

    #[test]
    fn devices_and_limits() {
        use ToolTrouble::*;
        for (line, want) in [
            ("No IB devices found", NoRdmaDevice),
            (" Unable to find the Infiniband/RoCE device", NoRdmaDevice),
            ("IB device mlx5_9 not found", NoRdmaDevice),
            ("IB device 'mlx5_9' wasn't found", NoRdmaDevice),
            ("Failed to initialize NVML: Driver/library version mismatch", DriverMismatch),
            ("max locked memory       (kbytes, -l) 64", LockedMemory { kib: Some(64), complains: false }),
            ("max locked memory           (kbytes, -l) 65536", LockedMemory { kib: Some(65536), complains: false }),
            ("libibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes.", LockedMemory { kib: Some(32), complains: true }),
        ] {
            assert_eq!(tool(line), Some(want), "{line}");
        }
        for other in [
            "max locked memory       (kbytes, -l) unlimited",
            "If it says No IB devices found, load the driver",
            "> No IB devices found",
            "IB device mlx5_9 was not found by our script",
            "RLIMIT_MEMLOCK is 32768 bytes",
        ] {
            assert_eq!(tool(other), None, "{other}");
        }
    }
}
