//! Statuses of requests that failed, in the words of UCX, perftest, Open MPI, uDAPL and the verbs library.

use linerate_formats::nccl_log::status::Status;
use linerate_formats::printed;

/// A status by its name in `enum ibv_wc_status` (rdma-core, `libibverbs/verbs.h`), at the end of a line that says which request failed with it:
/// `RECV 93B246F7.0.169 failed: IBV_WC_RETRY_EXC_ERR`. A sentence, or code that compares with it, counts for nothing.
pub(super) fn named_status(text: &str) -> Option<Status> {
    let (before, name) = text.trim_end().rsplit_once(" failed: IBV_WC_")?;
    let request = before.split_whitespace().next_back()?;
    let counted = request.bytes().any(|b| b.is_ascii_digit()) && !printed::is_prose(before);
    counted.then(|| NAMED.iter().copied().find(|s| s.name() == Some(name))).flatten()
}

/// Statuses that count by their names.
const NAMED: &[Status] = &[
    Status::LocalLength,
    Status::LocalQueuePair,
    Status::LocalProtection,
    Status::Flushed,
    Status::RemoteAccess,
    Status::RemoteOperation,
    Status::RetryExceeded,
    Status::RnrRetryExceeded,
];

/// UCX: `Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 …`; perftest: ` Failed status 12: wr_id 0 syndrom 0x81`, later
/// ` Failed status-transport retry counter exceeded (12): wr_id 0 …`.
pub(super) fn completion(text: &str) -> Option<Status> {
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
        return rest.split_once(" qp ").and_then(|(number, _)| numbered(number));
    }
    if let Some(status) = example(text).or_else(|| dapl(text)).or_else(|| mlx4(text)) {
        return Some(status);
    }
    let rest = text.strip_prefix("Failed status")?;
    // rdma-core, `libibverbs/examples/rc_pingpong.c`: `Failed status transport retry counter exceeded (12) for wr_id 1`.
    if let Some((_, tail)) = rest.split_once('(')
        && let Some((number, end)) = tail.split_once(") for wr_id ")
    {
        return end.trim().bytes().all(|b| b.is_ascii_digit()).then(|| numbered(number)).flatten();
    }
    let (number, rest) = match rest.strip_prefix('-') {
        Some(named) => named.split_once('(')?.1.split_once("):")?,
        None => rest.trim_start().split_once(':')?,
    };
    rest.trim_start().starts_with("wr_id ").then(|| numbered(number.trim())).flatten()
}

fn numbered(number: &str) -> Option<Status> {
    number.parse().ok().map(Status::of)
}

/// Mellanox's RDMA Aware programming manual, `RDMA_RC_example.c`, as many programs copied it: `got bad completion with status: 0xd, vendor syndrome: 0x87`.
fn example(text: &str) -> Option<Status> {
    let (status, vendor) =
        text.strip_prefix("got bad completion with status: 0x")?.split_once(", vendor syndrome: 0x")?;
    let hex = |t: &str| u32::from_str_radix(t.trim_end(), 16).ok();
    hex(vendor).and(hex(status)).map(Status::of)
}

/// uDAPL, which Intel MPI used (`dapl/openib_common/cq.c`): `n1:UCM:d600:37cc880: 1890740163 us(1890740163 us!!!): DTO completion ERR: status 12, op
/// RDMA_WRITE, vendor_err 0x81 - 10.0.0.1`.
fn dapl(text: &str) -> Option<Status> {
    let (before, rest) = text.split_once("DTO completion ERR: status ")?;
    let (number, rest) = rest.split_once(", op ")?;
    let head = before.is_empty() || before.trim_end().ends_with(" us!!!):") || before.trim_end().ends_with(" us):");
    (head && rest.contains(" - ")).then(|| numbered(number)).flatten()
}

/// libmlx4 (rdma-core, `providers/mlx4/cq.c`): `mlx4: local QP operation err (QPN 0002c8, WQE index 0, vendor syndrome 70, opcode = 5e)`.
fn mlx4(text: &str) -> Option<Status> {
    let rest = text.strip_prefix("mlx4: local QP operation err (QPN ")?;
    (rest.contains(", vendor syndrome ") && rest.trim_end().ends_with(')')).then_some(Status::LocalQueuePair)
}

/// UCX 1.2 to 1.5: `Error on QP 0x61f5 wqe[0]: Transport retry count exceeded (synd 0x15 vend 0x81) opcode SEND` (`ib_mlx5_log.c`); and
/// `send completion with error: local protection error [qpn 0xf9db …` of every release (`rc_verbs_iface.c`, `ud_verbs.c`), with its level before it.
fn old_ucx(text: &str) -> Option<Status> {
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

/// Completions in UCX's words (`src/uct/ib/mlx5/ib_mlx5_log.c`).
const UCX: &[(&str, Status)] = &[
    ("Transport retry count exceeded", Status::RetryExceeded),
    ("Receive-no-ready retry count exceeded", Status::RnrRetryExceeded),
    ("Local protection", Status::LocalProtection),
    ("Remote access", Status::RemoteAccess),
    ("Remote operation", Status::RemoteOperation),
    ("Local length", Status::LocalLength),
    ("Local QP operation", Status::LocalQueuePair),
    ("WR flushed because QP in error state", Status::Flushed),
];

/// First lines of Open MPI 4 and before, `opal/mca/btl/openib/help-mpi-btl-openib.txt`.
const OPENIB: &[(&str, Status)] = &[
    ("The InfiniBand retry count between two MPI processes has been", Status::RetryExceeded),
    ("The OpenFabrics \"receiver not ready\" retry count on a per-peer", Status::RnrRetryExceeded),
    ("The OpenFabrics \"receiver not ready\" retry count on a shared receive", Status::RnrRetryExceeded),
];

/// Completions in the words of `ibv_wc_status_str` (rdma-core, `libibverbs/verbs.c`).
const STATUS: &[(&str, Status)] = &[
    ("local length error", Status::LocalLength),
    ("local QP operation error", Status::LocalQueuePair),
    ("local protection error", Status::LocalProtection),
    ("Work Request Flushed Error", Status::Flushed),
    ("remote access error", Status::RemoteAccess),
    ("remote operation error", Status::RemoteOperation),
    ("transport retry counter exceeded", Status::RetryExceeded),
    ("RNR retry counter exceeded", Status::RnrRetryExceeded),
];
