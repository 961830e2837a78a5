//! `net/no-interface`.

use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::job::version_mismatch;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "net/no-interface",
    title: "NCCL finds no network interface for its bootstrap",
    what: "NCCL finds no network interface for its bootstrap, and stops.",
    shows: &[
        "`Bootstrap : no socket interface found`",
        "`no device found matching …`",
        "`Address family not supported by protocol`: some releases go on with an invalid address",
    ],
    why: "Ranks find each other over TCP before anything else. NCCL_SOCKET_IFNAME selects the interfaces by prefix, \
          and matches none of the container's.",
    confirm: &["`ip -brief address` in the same container against NCCL_SOCKET_IFNAME"],
    refute: &[],
    remedy: Advice::Environment(
        "Set NCCL_SOCKET_IFNAME to an interface that the container has, or unset it",
        &[],
        &["NCCL_SOCKET_IFNAME"],
    ),
    sources: &[ENV_RST],
    severity: Severity::Critical,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.failures(|t| matches!(t, Trouble::NoInterface));
    let (_, g) = found.first()?;
    if version_mismatch::is_garbled(c, g) {
        return None;
    }
    let filter = c.env("NCCL_SOCKET_IFNAME").or_else(|| c.env("NCCL_OOB_NET_IFNAME"));
    let words = match filter {
        Some((value, _)) => format!("no interface matches the filter {value}"),
        None => "no usable interface for the bootstrap".to_owned(),
    };
    let set = filter.into_iter().flat_map(|(_, g)| c.first_quote(g));
    // No socket of the family: an address of no family, where no interface was found, or IPv6 that the host has not.
    let no_socket = g.quotes.iter().all(|q| q.text.contains("Address family not supported")) && filter.is_none();
    // An address of no family: another release's handle looks the same.
    let odd = g.quotes.iter().all(|q| q.text.contains("is neither AF_INET")) && filter.is_none();
    let (sure, why) = if odd {
        (Possible, "the address has no valid family; ranks of different releases look the same")
    } else if no_socket {
        (
            Likely,
            "no socket can be made for the address: usually NCCL found no interface, or an IPv6 address on a host without IPv6",
        )
    } else {
        (Certain, "the log says so")
    };
    Some(Found::new(sure, words, why).shown(c, g).with(set))
}
