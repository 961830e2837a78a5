//! `env/algo-or-proto-forced`.

use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found, nccl};
use crate::observe::trouble::Trouble;
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "env/algo-or-proto-forced",
    title: "Variables force NCCL's algorithm, protocol or channels",
    what: "A variable forces NCCL's choice of algorithm, protocol or channels.",
    shows: &[
        "`NCCL_ALGO`, `NCCL_PROTO`, `NCCL_MAX_NCHANNELS` and others `set by environment to …`",
        "`Error : no algorithm/protocol available …`",
    ],
    why: "NCCL chooses by size and topology. A forced value is right for the size and machine for which it was \
          measured, and costs elsewhere: few channels do not fill a fast network, LL does not fill any.",
    confirm: &["the same benchmark without the variable"],
    refute: &["the benchmark is as fast without it"],
    remedy: Advice::Environment("Unset the variable and measure again", &[], DECISIONS),
    sources: &[TUNING, ENV_RST],
    severity: Severity::Low,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if let Some(found) = none_left(c) {
        return Some(found);
    }
    let set: Vec<_> = DECISIONS.iter().filter_map(|name| Some((*name, c.env(name)?))).collect();
    let costs: Vec<_> = set.iter().filter(|(name, (value, _))| costs_much(name, value)).collect();
    let is_severe = !costs.is_empty();
    let named = if is_severe { costs } else { set.iter().collect() };
    if named.is_empty() {
        return None;
    }
    let words: Vec<String> = named.iter().map(|(name, (value, _))| format!("{name}={value}")).collect();
    let (sure, severity, why) = if is_severe {
        (Likely, Severity::Medium, "such a value limits bandwidth on any fast machine")
    } else {
        (Possible, Severity::Low, "NCCL no longer chooses by itself; a benchmark shows whether that costs")
    };
    let lines = named.iter().flat_map(|(_, (_, g))| c.quotes(g));
    Some(Found::new(sure, crate::ranges::some(&words, 4), why).severity(severity).with(lines.collect::<Vec<_>>()))
}

/// Few channels, or the protocol of small messages.
fn costs_much(name: &str, value: &str) -> bool {
    let is_few = || value.trim().parse::<i64>().is_ok_and(|n| (1..=2).contains(&n));
    match name {
        "NCCL_MAX_NCHANNELS" | "NCCL_MAX_CTAS" | "NCCL_MAX_NRINGS" => is_few(),
        "NCCL_PROTO" => matches!(value.trim(), "LL" | "ll"),
        _ => false,
    }
}

const TUNING: Source = nccl(
    "NCCL user guide: environment variables are discouraged in production",
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
);

/// Variables that take a decision from NCCL.
const DECISIONS: &[&str] = &[
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NCCL_NTHREADS",
    "NCCL_BUFFSIZE",
    "NCCL_MAX_NCHANNELS",
    "NCCL_MIN_NCHANNELS",
    "NCCL_MAX_NRINGS",
    "NCCL_MIN_NRINGS",
    "NCCL_MAX_CTAS",
    "NCCL_MIN_CTAS",
    "NCCL_LL_THRESHOLD",
    "NCCL_LL128_NTHREADS",
    "NCCL_TREE_THRESHOLD",
];

/// NCCL finds no algorithm and protocol for an operation (`src/enqueue.cc`, topoGetAlgoInfo): what is left by the variables does not exist for it. From 2.23
/// the message ends with the variables, where they are set.
fn none_left(c: &Case<'_>) -> Option<Found> {
    let none = |t: &Trouble| matches!(t, Trouble::Other(n) if c.name(*n).starts_with(NONE_LEFT));
    let g = c.failure(none)?;
    let set: Vec<_> = ["NCCL_ALGO", "NCCL_PROTO"].iter().filter_map(|n| Some((*n, c.env(n)?))).collect();
    let said =
        g.quotes.iter().any(|q| q.text.contains("NCCL_ALGO was set to") || q.text.contains("NCCL_PROTO was set to"));
    let lines: Vec<_> = set.iter().flat_map(|(_, (_, g))| c.first_quote(g)).collect();
    let (sure, why) = if said || !set.is_empty() {
        (Certain, "NCCL says so, and a variable forces the choice")
    } else {
        (Possible, "that is what a forced algorithm or protocol leads to; the variables are not in these lines")
    };
    let words = match set.first() {
        Some((name, (value, _))) => format!("{name}={value} leaves NCCL no algorithm for an operation"),
        None => "NCCL has no algorithm left for an operation".to_owned(),
    };
    Some(Found::new(sure, words, why).severity(Severity::Critical).with(c.quotes(g)).with(lines))
}

const NONE_LEFT: &str = "Error : no algorithm/protocol available";
