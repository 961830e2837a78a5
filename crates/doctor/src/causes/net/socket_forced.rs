//! `net/socket-forced`.

use super::{NET_CC, disabled, socket_lines, verbs_missing};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "net/socket-forced",
    title: "NCCL_NET names sockets, or a network that does not exist",
    what: "NCCL_NET names sockets, so NCCL tries nothing else.",
    shows: &[
        "`NCCL_NET set by environment to Socket`",
        "`Using network Socket` with no line of NET/IB before it: most releases do not print the variable",
    ],
    why: "NCCL_NET is the exact name of the network to use. With `Socket` neither plugins nor InfiniBand are tried.",
    confirm: &["unset NCCL_NET and read which network is chosen"],
    refute: &["`Using network` names RDMA"],
    remedy: Advice::Environment("Unset NCCL_NET", &[], &["NCCL_NET"]),
    sources: &[ENV_RST, NET_CC],
    severity: Severity::High,
    rules: &["rdma/device-present"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if c.multi_node() == Some(false) {
        return None;
    }
    let sockets = c.socket_processes();
    let Some((value, g)) = c.env("NCCL_NET").filter(|(v, _)| Case::is_socket(v)) else {
        // Most releases do not print the variable. They print what InfiniBand finds, if it is asked.
        let asked = c.of(&c.o.no_device).next().is_some() || verbs_missing(c) || disabled(c);
        let starts = c.of(&c.o.plugins).next().is_some() || c.since(28) == Some(true);
        if asked || !starts || sockets.is_empty() || !c.rdma_processes().is_empty() || c.multi_node() != Some(true) {
            return None;
        }
        let words = "sockets are used, and InfiniBand was not even asked for";
        let why = "the log has no word of NET/IB, which is tried before sockets unless NCCL_NET (or the communicator's configuration) names another network";
        return Some(Found::new(Possible, words, why).with(socket_lines(c)).scope(c.scope(sockets)));
    };
    let sure = if sockets.is_empty() { Likely } else { Certain };
    let words = format!("NCCL_NET={value}: only sockets are tried");
    Some(
        Found::new(sure, words, "the variable names the network to use")
            .with(c.quotes(g))
            .with(socket_lines(c))
            .scope(c.scope(sockets)),
    )
}
