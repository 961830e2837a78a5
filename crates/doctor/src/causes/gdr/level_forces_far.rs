//! `gdr/level-forces-far`.

use super::PATHS_CC;
use super::distance::distance_words;
use super::seen::{is_grace, seen};
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/level-forces-far",
    title: "NCCL_NET_GDR_LEVEL forces GPUDirect RDMA across sockets",
    what: "NCCL_NET_GDR_LEVEL=SYS lets GPU and NIC talk directly across the link between sockets.",
    shows: &[
        "`NCCL_NET_GDR_LEVEL set by environment to SYS`, or 4 and above",
        "pairs of GPU and NIC across sockets that are enabled",
    ],
    why: "That link is on many machines slower than a copy through host memory, and on some it does not work. The \
          value is often copied from recipes as \"full GPUDirect\".",
    confirm: &[
        "unset NCCL_NET_GDR_LEVEL, or set PHB, and compare the same benchmark",
        "`linerate topo --explain` for the pairs that the level allows",
    ],
    refute: &["all pairs that are used are PXB apart or nearer: then the variable changes nothing"],
    remedy: Advice::Environment("Unset NCCL_NET_GDR_LEVEL", &[], &["NCCL_NET_GDR_LEVEL"]),
    sources: &[ENV_RST, PATHS_CC],
    severity: Severity::Medium,
    rules: &["numa/cross-socket-nic"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (value, g) = c
        .env("NCCL_NET_GDR_LEVEL")
        .filter(|(v, _)| v.trim().eq_ignore_ascii_case("SYS") || v.trim().parse::<i64>().is_ok_and(|n| n >= 4))?;
    let s = seen(c);
    if s.any && s.with.is_empty() || is_grace(c) {
        return None;
    }
    let far = c.of(&c.o.pairs).find(|(p, g)| p.enabled && distance_words(c, p, g).is_some_and(|(far, _)| far == "SYS"));
    let lines = far.iter().flat_map(|(_, g)| c.first_quote(g)).collect::<Vec<_>>();
    let (sure, why) = match far {
        Some(_) => (Likely, "pairs across sockets are enabled; a benchmark shows what that costs"),
        None => (Possible, "the level allows it; whether such pairs are used is not shown"),
    };
    Some(
        Found::new(sure, format!("NCCL_NET_GDR_LEVEL={value} allows GPUDirect RDMA across sockets"), why)
            .with(c.quotes(g))
            .with(lines),
    )
}
