//! Verbs calls that failed, in the words of perftest, UCX, libibverbs and NVSHMEM.

use super::{is_device, is_place};
use linerate_formats::nccl_log::Failure;

/// NVSHMEM, `src/modules/transport/ibgda/ibgda.cpp`: the firmware refuses what brings a queue pair up. Its macros (`non_abi/nvshmemx_error.h`) put
/// `file.cpp:12: non-zero status: 7 ` before it, or that alone on a line.
pub(super) fn nvshmem(text: &str) -> Option<Failure<'_>> {
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

/// `Couldn't allocate MR`, newer ` Couldn't allocate MR with error=14`; `Failed to modify QP 123 to RTR`.
pub(super) fn perftest(text: &str) -> Option<Failure<'_>> {
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

/// A call, with the words of its error in a line of their own: `Bad address.`.
pub(super) fn failed_with_errno<'a>(call: &'a str, error: &'a str) -> Option<Failure<'a>> {
    let error = error.trim().trim_end_matches('.');
    ERRORS.contains(&error).then_some(Failure::Verbs { call, error, errno: None, detail: "" })
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
pub(super) fn verbs(text: &str) -> Option<Failure<'_>> {
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
