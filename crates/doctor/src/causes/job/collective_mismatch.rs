//! `job/collective-mismatch`.

use super::ras::{self, RAS};
use super::{TORCH, is_bootstrap};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::groups::Group;
use crate::observe::trouble::{FrameworkTrouble, Trouble};
use linerate_rules::Severity;
use std::collections::BTreeSet;

pub(super) static CAUSE: Cause = Cause {
    id: "job/collective-mismatch",
    title: "Ranks called different collectives, or the same with different sizes",
    what: "Ranks called different collectives, or the same with different sizes. The job hangs, or messages are \
           truncated.",
    shows: &[
        "a mismatch in PyTorch's report, or timeouts with one number and different kinds of collective",
        "`Message truncated : received … bytes instead of …`",
        "a report of NCCL's RAS in which each of two ranks has launched more operations of one kind than the other",
    ],
    why: "All ranks of a communicator must call the same collectives in the same order with the same sizes. A branch \
          that only some ranks take, uneven data, or an exception that one rank swallowed breaks that. NCCL sees the sizes \
          of its own messages alone: they differ, too, where ranks have other settings (NCCL_ALGO, NCCL_PROTO, NCCL_BUFFSIZE, \
          channels), and 2.7 reports it of send and receive that are right.",
    confirm: &[
        "TORCH_DISTRIBUTED_DEBUG=DETAIL, or the flight recorder (TORCH_NCCL_TRACE_BUFFER_SIZE) of all ranks",
        "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=COLL: the calls of each rank",
    ],
    refute: &["all ranks' last calls are equal, and so are their NCCL_ variables and releases"],
    remedy: Advice::Investigate(
        "Compare the NCCL_ variables and releases of the ranks, then their calls around the first difference in the program",
    ),
    sources: &[TORCH, RAS],
    severity: Severity::Critical,
    rules: &[],
    follows: &["job/version-mismatch"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let nccl = c.failures(|t| matches!(t, Trouble::CollectiveMismatch));
    let torch = c.frameworks(|t| matches!(t, FrameworkTrouble::Mismatch));
    if let Some(g) = torch.first().map(|(_, g)| *g) {
        return Some(
            Found::new(Certain, "ranks called different collectives", "the framework's report says so")
                .with(c.quotes(g)),
        );
    }
    // Collectives of one number and different kinds.
    let timeouts = c.frameworks(|t| matches!(t, FrameworkTrouble::Timeout(_)));
    if let [(_, one), (_, other), ..] = timeouts.as_slice()
        && same_sequence(one, other)
    {
        let words = "ranks wait in different collectives with the same number";
        return Some(
            Found::new(Certain, words, "the watchdog prints kind and number of each")
                .with(c.first_quote(one))
                .with(c.first_quote(other)),
        );
    }
    let Some((_, g)) = nccl.first().filter(|(_, g)| !is_bootstrap(g)) else { return by_ras(c) };
    let says = |w: &str| g.quotes.iter().any(|q| q.text.contains(w));
    // 2.4 to 2.7 suspect it where a program hangs.
    let sure = if says("may be caused by") { Possible } else { Likely };
    Some(
        Found::new(
            sure,
            "sizes of messages differ between ranks",
            "NCCL got a message of another size than it expected; settings of NCCL that differ between ranks, and up to 2.7.8 calls of send and receive, look the same",
        )
        .with(c.quotes(g)),
    )
}

/// Whether two groups of timeouts tell the same number.
fn same_sequence(a: &Group, b: &Group) -> bool {
    let numbers = |g: &Group| -> BTreeSet<String> {
        let after = g.quotes.iter().filter_map(|q| q.text.split_once("SeqNum="));
        after.map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect()).collect()
    };
    !numbers(a).is_disjoint(&numbers(b))
}

/// Ranks that call the same in the same order are at most one behind the other, in all kinds of operations.
fn by_ras(c: &Case<'_>) -> Option<Found> {
    let crossed = ras::crossed(c)?;
    let why = "ranks that call the same collectives in the same order cannot have such numbers";
    let (sure, severity, why) = if crossed.repeated {
        (Likely, Severity::Critical, format!("{why}, and two reports say the same"))
    } else {
        (Possible, Severity::High, format!("{why}; RAS may have read them while they changed"))
    };
    Some(Found::new(sure, crossed.words, why).with(crossed.evidence).severity(severity))
}
