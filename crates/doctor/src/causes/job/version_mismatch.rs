//! `job/version-mismatch`.

use super::is_bootstrap;
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::Trouble;
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
