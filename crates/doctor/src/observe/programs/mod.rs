//! What other programs that use verbs print: UCX, perftest, libibverbs, Open MPI, tools. A line counts from its beginning, behind the
//! program's own head.

mod completion;
mod connection;
pub(crate) mod perftest;
mod tool;
mod verbs;

pub(crate) use tool::{is_gpu_buffer, tool};

use completion::{completion, named_status};
use connection::{asynchronous, connection, shared_memory};
use linerate_formats::nccl_log::{Completion, Failure, SocketTrouble};
use linerate_formats::printed;
use verbs::{nvshmem, perftest, verbs};

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
        return Some(Failure::Completion(Completion { status: status.number(), ..Completion::default() }));
    }
    if let Some(status) = completion(text) {
        return Some(Failure::Completion(Completion { status: status.number(), ..Completion::default() }));
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

/// `mlx5_0`, `bnxt_re0`, `rocep1s0`.
fn is_device(name: &str) -> bool {
    (3..32).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests;
