//! What fails between NICs.

mod flushed;
mod gid_index;
mod gpu_registration;
mod local_protection;
mod memlock;
mod nic_fault;
mod nic_not_started;
mod port_not_active;
mod port_went_down;
pub(crate) mod reasons;
mod remote_access;
mod retry_exceeded;
mod rnr_retry_exceeded;
mod small_mtu;
mod transmit_timeout;
pub(crate) mod verbs_call_failed;

use crate::case::Case;
use crate::causes::{Cause, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::Trouble;
use linerate_formats::nccl_log::status::Status;
use linerate_rules::Source;

pub(super) static CAUSES: &[&Cause] = &[
    &memlock::CAUSE,
    &gpu_registration::CAUSE,
    &gid_index::CAUSE,
    &port_not_active::CAUSE,
    &port_went_down::CAUSE,
    &retry_exceeded::CAUSE,
    &rnr_retry_exceeded::CAUSE,
    &local_protection::CAUSE,
    &remote_access::CAUSE,
    &nic_fault::CAUSE,
    &nic_not_started::CAUSE,
    &transmit_timeout::CAUSE,
    &flushed::CAUSE,
    &small_mtu::CAUSE,
    &verbs_call_failed::CAUSE,
];

const VERBS: Source = nccl(
    "rdma-core, libibverbs/verbs.h: enum ibv_wc_status",
    "https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/verbs.h",
);

const WRAP: Source =
    nccl("NCCL, src/misc/ibvwrap.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/misc/ibvwrap.cc");

/// Verbs calls that failed: name, error, lines.
fn verbs<'a>(c: &Case<'a>, is: impl Fn(&str, &str) -> bool) -> Vec<(&'a str, &'a str, &'a Group)> {
    let all = c.failures(|t| matches!(t, Trouble::Verbs { .. }));
    let words = all.into_iter().filter_map(|(t, g)| match t {
        Trouble::Verbs { call, error } => Some((c.name(call), c.name(error), g)),
        _ => None,
    });
    words.filter(|(call, error, _)| is(call, error)).collect()
}

/// A call that failed, and its error where one is printed.
fn failed_call(call: &str, error: &str) -> String {
    if error.is_empty() { format!("{call} failed") } else { format!("{call} failed: {error}") }
}

fn no_memory(error: &str) -> bool {
    error.contains("Cannot allocate memory")
}

/// Calls that register memory.
fn registers(call: &str) -> bool {
    call.starts_with("ibv_reg_") || call == "fi_mr_reg"
}

fn is_down(event: &str) -> bool {
    ["port error", "port down", "port is down", "link down"].iter().any(|w| event.contains(w))
}

/// Completions of a status.
fn completions<'a>(c: &Case<'a>, status: &[Status]) -> Option<&'a Group> {
    c.failure(|t| matches!(t, Trouble::Completion(s) if status.contains(s)))
}

fn peers(g: &Group) -> String {
    let peer = g.quotes.iter().find_map(|q| {
        q.text.split_once("from peer ").map(|(_, r)| r.split_whitespace().next().unwrap_or_default().to_owned())
    });
    peer.map(|p| format!(" (peer {p})")).unwrap_or_default()
}
