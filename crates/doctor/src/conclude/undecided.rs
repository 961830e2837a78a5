//! What is wrong without a cause that is found.

use super::harmless::is_harmless;
use super::stuck::stuck;
use crate::answer::{Answer, Evidence, Undecided};
use crate::case::Case;
use crate::causes::gdr::seen as gdr;
use crate::causes::ib;
use crate::observe::trouble::Trouble;
use linerate_formats::nccl_log::Phase;
use linerate_formats::nccl_log::status::Status;
use std::collections::BTreeSet;

/// What is wrong without a cause that is found. `ids`: causes of this job that are likely at least; `listed`: all of them.
pub(super) fn undecided(
    case: &Case<'_>,
    ids: &BTreeSet<&str>,
    listed: &BTreeSet<&str>,
    suffix: &str,
    answer: &mut Answer,
) {
    let any = |area: &str| ids.iter().any(|id| id.starts_with(area));
    let start = answer.undecided.len();
    answer.undecided.extend(stuck(case, ids, suffix));
    refused(case, ids, suffix, answer);
    // A job that failed, of which only consequences are seen.
    let closed = case.failures(|t| matches!(t, Trouble::Completion(Status::Flushed)));
    if let (Some((_, g)), false) = (closed.first(), any("ib/") || any("kernel/")) {
        answer.undecided.push(Undecided {
            symptom: "symptom/completion-errors",
            summary: format!(
                "requests were flushed (status 5): the first error of that connection is not in these lines{suffix}"
            ),
            evidence: case.quotes(g),
            candidates: vec!["ib/retry-exceeded", "ib/local-protection", "ib/remote-access", "job/peer-exited"],
            read: vec!["the logs of all ranks: the first completion with another status than 5, by time".to_owned()],
        });
    }
    let missing = gdr::missing(case);
    if !missing.is_empty() && !any("gdr/") {
        let scope = case.scope(missing.iter().copied());
        let scope = if scope.is_empty() { String::new() } else { format!(", on {scope}") };
        answer.undecided.push(Undecided {
            symptom: "symptom/gpudirect-disabled",
            summary: format!("connections over RDMA without /GDRDMA{scope}; these lines do not say why{suffix}"),
            evidence: gdr::lacking(case)
                .into_iter()
                .chain(launched(case, &["NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ", "NCCL_DMABUF_ENABLE"]))
                .collect(),
            candidates: vec!["gdr/no-peer-memory", "gdr/too-far", "gdr/level-too-low-by-env", "gdr/default-off-behind-cpu"],
            read: vec![
                "the lines `GPU Direct RDMA Enabled/Disabled` of the same job: NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV".to_owned(),
                "the node: `linerate doctor LOG --node SNAPSHOT` joins both".to_owned(),
            ],
        });
    }
    sockets(case, ids, listed, suffix, answer);
    let nothing_failed =
        case.failures(|_| true).is_empty() && case.frameworks(|_| true).is_empty() && case.kernel(|_| true).is_empty();
    let is_open = nothing_failed && ids.is_empty() && answer.causes.is_empty() && answer.undecided.is_empty();
    let unstarted = if is_open { unstarted(case, suffix) } else { None };
    let is_unstarted = unstarted.is_some();
    answer.undecided.extend(unstarted);
    // Neither the bootstrap's interface nor a variable shows a path.
    let silent =
        case.job.processes.iter().all(|p| case.o.process(*p).is_none_or(|p| p.network.is_none() && p.nics.is_none()));
    if silent
        && nothing_failed
        && !is_unstarted
        && case.ranks().all(|r| r.cells.is_empty())
        && !case.job.processes.is_empty()
        && ids.is_empty()
    {
        let table = case.of(&case.o.near).next().is_some();
        let what = if table { "which network and which connections are used" } else { "the path" };
        let read = if case.o.has_info {
            "the start of the log (`NET/…`, `Using network`, `Channel … via`), with NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH"
        } else {
            "a log with NCCL_DEBUG=INFO (at WARN NCCL prints errors only)"
        };
        answer.undecided.push(Undecided {
            symptom: "symptom/low-bandwidth-with-gpudirect",
            summary: format!("these lines show neither networks nor connections: {what} is not known{suffix}"),
            evidence: Vec::new(),
            candidates: Vec::new(),
            read: vec![read.to_owned()],
        });
    }
    let others: Vec<_> = case.failures(|t| {
        matches!(
            t,
            Trouble::Other(_)
                | Trouble::Completion(_)
                | Trouble::Cuda { .. }
                | Trouble::Usage
                | Trouble::NoTransport
                | Trouble::NicsDiffer
                | Trouble::Verbs { .. }
                | Trouble::Async { .. }
        )
    });
    let harmful: Vec<_> = others.into_iter().filter(|(t, g)| !known_elsewhere(t) && !is_harmless(g)).collect();
    let torch = case.frameworks(|_| true);
    // A warning that functions of NCCL returned as an error ended the job, whatever else is open.
    let fatal = !harmful.is_empty() && case.of(&case.o.returned).next().is_some();
    let beside = answer.undecided.iter().all(|u| fatal && u.symptom == "symptom/falls-back-to-sockets");
    if ids.is_empty() && answer.causes.is_empty() && beside && (!harmful.is_empty() || !torch.is_empty()) {
        let first = if harmful.is_empty() {
            "the lines before these: NCCL prints the reason as a warning (`NCCL WARN`) in the log of the rank that failed first"
        } else {
            "the logs of all ranks: the first warning (`NCCL WARN`) by time is of the rank that failed first"
        };
        let groups = harmful.iter().map(|(_, g)| *g).chain(torch.iter().map(|(_, g)| *g));
        let evidence: Vec<Evidence> = groups.flat_map(|g| case.first_quote(g)).take(6).collect();
        let failed = Undecided {
            symptom: "symptom/hang",
            summary: format!("something failed for which these lines show no cause{suffix}"),
            evidence,
            candidates: Vec::new(),
            read: vec![
                first.to_owned(),
                "NCCL_DEBUG=INFO on all ranks, and the kernel's log of their nodes".to_owned(),
            ],
        };
        answer.undecided.insert(start.min(answer.undecided.len()), failed);
    }
}

/// A start that did not come to its end, of a job in which nothing failed.
fn unstarted(case: &Case<'_>, suffix: &str) -> Option<Undecided> {
    let connected = case.ranks().any(|r| r.phase.is_some_and(|p| p >= Phase::Complete) || !r.cells.is_empty());
    if connected || case.ran() {
        return None;
    }
    let begun = case.ranks().filter(|r| r.phase == Some(Phase::Start)).count();
    let (summary, evidence) = if let Some((code, g)) = case.of(&case.o.returned).next() {
        let what = result_name(code).map_or_else(|| format!("error {code}"), |name| format!("error {code}, {name}"));
        (
            format!("functions of NCCL returned {what}; the warning that says why is not in these lines{suffix}"),
            case.quotes(g),
        )
    } else if begun > 0 {
        let ranks = linerate_formats::counted(begun, "rank", "ranks");
        (format!("{ranks} began to make a communicator, and none completed it in these lines{suffix}"), Vec::new())
    } else {
        return None;
    };
    Some(Undecided {
        symptom: "symptom/hang",
        summary,
        evidence: evidence.into_iter().take(4).collect(),
        candidates: Vec::new(),
        read: vec![
            "the rest of the log: a warning (`NCCL WARN`), or `Init COMPLETE`".to_owned(),
            "the logs of all ranks: which did not begin, which did not complete".to_owned(),
        ],
    })
}

/// `ncclResult_t` of NCCL's `src/nccl.h.in`.
fn result_name(code: u32) -> Option<&'static str> {
    const NAMES: &[&str] = &[
        "ncclUnhandledCudaError",
        "ncclSystemError",
        "ncclInternalError",
        "ncclInvalidArgument",
        "ncclInvalidUsage",
        "ncclRemoteError",
    ];
    NAMES.get(usize::try_from(code).ok()?.checked_sub(1)?).copied()
}

/// Sockets of which nobody knows whether they matter.
fn sockets(case: &Case<'_>, ids: &BTreeSet<&str>, listed: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let unopened = case.failures(|t| matches!(t, Trouble::Library(n) if case.name(*n).contains("libibverbs")));
    let processes = case.socket_processes();
    let sockets = !processes.is_empty();
    let without = case.of(&case.o.no_device).next().map(|(_, g)| ("found no RDMA device", g));
    let without = without.or_else(|| Some(("cannot open libibverbs", unopened.first().filter(|_| sockets)?.1)));
    let has_cause = |of: &BTreeSet<&str>| of.iter().any(|id| id.starts_with("net/"));
    let nodes = case.multi_node();
    if sockets && nodes == Some(true) && !has_cause(listed) {
        answer.undecided.push(between_nodes(case, processes, suffix));
    }
    let open = nodes.is_none() && !has_cause(ids);
    let Some((what, g)) = without.filter(|_| open) else { return };
    answer.undecided.push(Undecided {
        symptom: "symptom/falls-back-to-sockets",
        summary: format!("NCCL {what}; whether that matters is not shown: neither that the job spans nodes, nor that they have RDMA{suffix}"),
        evidence: case.first_quote(g).into_iter().collect(),
        candidates: vec!["net/no-rdma-device", "net/no-libibverbs", "net/ib-disabled-by-env"],
        read: vec![
            "on the node: `ls /sys/class/infiniband`; in the container: `ls /dev/infiniband`".to_owned(),
            "connections in the log (`via NET/…`): NCCL_DEBUG=INFO of the whole start".to_owned(),
        ],
    });
}

/// Commands in the text that set one of these.
fn launched(case: &Case<'_>, names: &[&str]) -> Vec<Evidence> {
    let of = case.of(&case.o.launched).filter(|(s, _)| names.contains(&case.name(s.name)));
    of.flat_map(|(_, g)| case.first_quote(g)).take(3).collect()
}

/// A job over several nodes on sockets, for which no line says why.
fn between_nodes(case: &Case<'_>, processes: BTreeSet<usize>, suffix: &str) -> Undecided {
    let scope = case.scope(processes);
    let scope = if scope.is_empty() { String::new() } else { format!(", on {scope}") };
    let chosen = case.of(&case.o.networks).find(|(n, _)| Case::is_socket(case.name(*n))).map(|(_, g)| case.quotes(g));
    let connections = || case.cells(case.net_cells().filter(|(_, c)| Case::is_socket(case.net_name(c))));
    let set = launched(case, &["NCCL_IB_DISABLE", "NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"]);
    Undecided {
        symptom: "symptom/falls-back-to-sockets",
        summary: format!(
            "the nodes talk over sockets, not RDMA{scope}; why, and whether they have RDMA, is not in these lines{suffix}"
        ),
        evidence: chosen.unwrap_or_else(connections).into_iter().take(3).chain(set).collect(),
        candidates: vec!["net/no-rdma-device", "net/no-libibverbs", "net/ib-disabled-by-env", "net/socket-forced"],
        read: vec![
            "the start of the log: `NET/IB : …`, `NCCL_… set by environment`".to_owned(),
            "on the node: `ls /sys/class/infiniband`; in the container: `ls /dev/infiniband`".to_owned(),
        ],
    }
}

/// Verbs calls that fail: what each leaves as reasons, by call and error.
fn refused(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let failed = ib::verbs_call_failed::failed(case);
    let Some((call, error, g)) = failed.first().filter(|_| !ids.iter().any(|id| id.starts_with("ib/"))) else { return };
    let row = ib::reasons::reasons(call, error);
    // NCCL's own line, before it printed the error.
    let of_nccl = g.first_process.is_some() || g.quotes.iter().any(|q| q.text.contains("Call to ibv_"));
    let silent = error.is_empty() && of_nccl;
    let mut read: Vec<String> = row.into_iter().flat_map(|r| r.read.iter().map(|s| (*s).to_owned())).collect();
    if silent {
        read.push("NCCL 2.14 or later prints the reason".to_owned());
    }
    let why = if silent {
        "and this release does not print why".to_owned()
    } else if error.is_empty() {
        "and the program does not print why".to_owned()
    } else {
        format!("with `{error}`")
    };
    answer.undecided.push(Undecided {
        symptom: "symptom/completion-errors",
        summary: format!("{call} failed, {why}{suffix}"),
        evidence: case.quotes(g),
        candidates: row.map(|r| r.candidates.to_vec()).unwrap_or_default(),
        read,
    });
}

/// Troubles that a cause's check looks at by itself.
fn known_elsewhere(t: &Trouble) -> bool {
    matches!(
        t,
        Trouble::Completion(
            Status::LocalProtection
                | Status::Flushed
                | Status::RemoteAccess
                | Status::RemoteOperation
                | Status::RetryExceeded
                | Status::RnrRetryExceeded
                | Status::Fatal
        )
    )
}
