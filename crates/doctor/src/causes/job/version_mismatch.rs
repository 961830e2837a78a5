//! `job/version-mismatch`.

use super::is_bootstrap;
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::Trouble;
use crate::place::Quote;
use linerate_rules::Severity;
use std::collections::BTreeMap;

pub(super) static CAUSE: Cause = Cause {
    id: "job/version-mismatch",
    title: "Ranks run different releases of NCCL",
    what: "Ranks of one job run different releases of NCCL.",
    shows: &[
        "`Mismatched NCCL version detected : rank …`",
        "`NCCL version …` differs between processes of one job",
        "`Message truncated : received …` in the bootstrap",
        "`connecting to address … with family 33621 is neither AF_INET(2) nor AF_INET6(10)`",
    ],
    why: "The bootstrap exchanges data whose layout differs between releases. Older releases fail with truncated \
          messages or wrong magic, or hang.",
    confirm: &[
        "`python -c 'import torch; print(torch.cuda.nccl.version())'` on every node",
        "`ldd` or LD_PRELOAD: which libnccl is loaded",
    ],
    refute: &[],
    remedy: Advice::Software("Run the same image, and one libnccl, on all nodes"),
    sources: &[nccl(
        "NCCL, src/init.cc: ncclCommInitRankFunc",
        "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/init.cc",
    )],
    severity: Severity::Critical,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if let Some((_, g)) = c.failures(|t| matches!(t, Trouble::VersionMismatch)).first() {
        return Some(Found::new(Certain, "ranks run different releases of NCCL", "NCCL says so").with(c.quotes(g)));
    }
    let truncated =
        c.failures(|t| matches!(t, Trouble::CollectiveMismatch)).into_iter().map(|(_, g)| g).find(|g| is_bootstrap(g));
    let mut by_release: BTreeMap<(u16, u16, u16), Vec<usize>> = BTreeMap::new();
    for (i, p) in c.processes() {
        if let Some(told) = p.release.told {
            by_release.entry(told).or_default().push(i);
        }
    }
    if by_release.len() < 2 {
        let garbled = c.failures(|t| matches!(t, Trouble::NoInterface)).into_iter().map(|(_, g)| g);
        if let Some(g) = garbled.into_iter().find(|g| is_garbled(c, g)) {
            let why = "the address of a peer has a family that does not exist, so its message has another layout or was damaged: other releases of NCCL or of a plugin, or a fault of one";
            let words = "ranks may run different releases of NCCL or of its network plugin";
            return Some(Found::new(Possible, words, why).shown(c, g));
        }
        let g = truncated?;
        let why = "the bootstrap's messages have the wrong size, as with different releases; a stranger on the port looks the same";
        return Some(Found::new(Possible, "ranks may run different releases of NCCL", why).with(c.quotes(g)));
    }
    // Processes of one job share communicators; otherwise these are simply several jobs in one file.
    if c.job.groups.is_empty() && !c.failed() {
        return None;
    }
    let names: Vec<String> = by_release.keys().map(|(a, b, p)| format!("{a}.{b}.{p}")).collect();
    let lines: Vec<Evidence> = by_release
        .iter()
        .filter_map(|((a, b, p), of)| Some(c.at(c.o.process(*of.first()?)?.first, format!("NCCL version {a}.{b}.{p}"))))
        .collect();
    let (sure, why) = if c.failed() || !c.ran() {
        (Likely, "processes of one job print different releases, and the job did not run")
    } else {
        (Possible, "processes of one job print different releases; the job ran nevertheless")
    };
    Some(Found::new(sure, format!("releases {} in one job", names.join(" and ")), why).with(lines))
}

/// Whether a peer's address is of a family that does not exist, in processes that have an interface: what was received is wrong, not the host's network
/// (NVIDIA/nccl#1267). Family 0 is an address that nobody filled in.
pub(crate) fn is_garbled(c: &Case<'_>, g: &Group) -> bool {
    let family =
        |q: &Quote| q.text.split_once("with family ").and_then(|(_, r)| r.split(' ').next()?.parse::<u32>().ok());
    let odd = |q: &Quote| q.text.contains("is neither AF_INET") && family(q).is_some_and(|f| f > MAX_FAMILY);
    let has_interface = |p: &usize| c.o.process(*p).is_some_and(|p| p.bootstrap.is_some());
    g.quotes.iter().all(odd)
        || g.quotes.iter().all(|q| q.text.contains("is neither AF_INET")) && g.processes.iter().any(has_interface)
}

/// Families of addresses that Linux has (`AF_MAX`, include/linux/socket.h).
const MAX_FAMILY: u32 = 46;
