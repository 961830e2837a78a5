//! From what was observed to the answer.

use crate::NodeGiven;
use crate::answer::{Answer, Cause, Confidence, Evidence, Note, Undecided};
use crate::case::Case;
use crate::causes::{
    self, Found, Known, gdr_by_design, gdr_lacking, gdr_missing, gdr_works, plugin_may_be_needed, verbs_failed,
    verbs_reasons,
};
use crate::jobs::{self, Job};
use crate::nodes::NodeView;
use crate::observe::groups::Group;
use crate::observe::trouble::Trouble;
use crate::observe::{Observer, PLUGIN_MISSING};
use crate::shown;
use linerate_rules::Severity;
use linerate_topology::Version;
use std::collections::BTreeSet;

/// Concludes from what was observed, with the nodes that were given.
#[must_use]
pub fn conclude(o: &Observer, given: &[NodeGiven<'_>]) -> Answer {
    let mut jobs = jobs::jobs(o);
    // A kernel's log or a table alone: what they show belongs to a job that is not seen.
    let unseen = jobs.is_empty();
    if unseen {
        jobs.push(Job::default());
    }
    let release = o.threads.processes.iter().find_map(|p| p.release.told);
    let version = release.map(|(major, minor, patch)| Version { major, minor, patch });
    let env: Vec<(String, String)> =
        o.settings.list.iter().map(|((n, v), _)| (o.name(*n).to_owned(), o.name(*v).to_owned())).collect();
    let (of_job, strangers) = by_host(o, given);
    let nodes: Vec<NodeView<'_>> = of_job.into_iter().map(|g| NodeView::new(g, version, &env)).collect();
    let mut answer = Answer {
        inputs: shown::inputs(o),
        timeline: shown::timeline(o),
        limits: shown::limits(o, &jobs),
        ..Answer::default()
    };
    answer.limits.extend(strangers);
    let (mut failed, mut direct) = (false, false);
    for (i, job) in jobs.iter().enumerate() {
        let case = Case { o, job, is_first: i == 0, nodes: &nodes };
        if !unseen {
            answer.jobs.push(shown::job(&case, i));
        }
        judge(&case, if jobs.len() > 1 { Some(i + 1) } else { None }, &mut answer);
        failed |= case.failed();
        direct |= gdr_works(&case);
    }
    if let Some(second) = o.second.as_ref().filter(|_| answer.causes.iter().all(|c| c.severity == Severity::Info)) {
        answer.causes.extend(
            conclude(second, &[]).causes.into_iter().filter(|c| c.severity > Severity::Info).map(in_unknown_dress),
        );
    }
    sort(&mut answer.causes, failed);
    if answer.causes.iter().all(|c| c.severity == Severity::Info) {
        let phrased = causes::by_phrases(o);
        answer.causes.splice(0..0, phrased.iter().map(|(k, f)| cause(k, f, "")));
    }
    // What the logs show comes before what only a node shows.
    let shown = answer.causes.len();
    findings(&nodes, direct, &mut answer);
    if let Some(of_nodes) = answer.causes.get_mut(shown..) {
        sort(of_nodes, false);
    }
    answer
}

/// A cause whose lines are in no form that their program is known to print: it may be quoted, so it is not asserted.
fn in_unknown_dress(cause: Cause) -> Cause {
    let because =
        format!("{}; the line is not in a form that its program prints by itself, so it may be quoted", cause.because);
    Cause { confidence: Confidence::Possible, because, ..cause }
}

/// What only fits comes last; among the others what ends a job comes first. Where a job failed, what ends jobs comes before all that makes
/// them slow, however sure that is: a missing /GDRDMA ends none.
fn sort(causes: &mut [Cause], failed: bool) {
    causes.sort_by_key(|c| {
        let critical = c.severity == Severity::Critical;
        (
            failed && !critical,
            c.confidence == Confidence::Possible,
            !critical,
            std::cmp::Reverse(c.confidence),
            std::cmp::Reverse(c.severity),
        )
    });
}

/// The nodes that may be those of the logs, and what is said of the others: a node of another host is no evidence.
fn by_host<'a>(o: &Observer, given: &'a [NodeGiven<'a>]) -> (Vec<&'a NodeGiven<'a>>, Vec<String>) {
    let hosts = o.hosts(0..o.threads.processes.len());
    let mut said = Vec::new();
    let short = |h: &str| h.split('.').next().unwrap_or(h).to_ascii_lowercase();
    let is_of_job = |g: &&NodeGiven<'_>| {
        let m = &g.snapshot.manifest;
        // A redacted name cannot be compared.
        if m.host.is_empty() || m.redacted || hosts.is_empty() || hosts.iter().any(|h| short(h) == short(&m.host)) {
            return true;
        }
        let of = crate::ranges::some(&hosts, 4);
        said.push(format!("{} is of host {}, the logs are of {of}: it was not used as evidence", g.name, m.host));
        false
    };
    (given.iter().filter(is_of_job).collect(), said)
}

/// Causes of one job, what follows from them, what cannot be decided, what is none.
fn judge(case: &Case<'_>, number: Option<usize>, answer: &mut Answer) {
    let found: Vec<(&'static Known, Found)> =
        causes::known().filter_map(|k| Some((k, heard(case.o, causes::found(k, case)?)))).collect();
    let ids: BTreeSet<&str> =
        found.iter().filter(|(_, f)| f.confidence >= Confidence::Likely).map(|(k, _)| k.id).collect();
    let follows = |k: &Known| k.follows.iter().find(|id| ids.contains(*id));
    let suffix = number.map(|n| format!(" (job {n})")).unwrap_or_default();
    if answer.jobs.iter().any(|j| !j.benchmarks.is_empty()) && case.nodes.is_empty() && case.is_first {
        answer.limits.push(
            "whether a benchmark's figure is low cannot be said without the ceiling of the links: add --node SNAPSHOT"
                .to_owned(),
        );
    }
    for (k, f) in &found {
        if let Some(from) = follows(k).filter(|_| f.confidence < Confidence::Certain) {
            let why = format!("it follows from {from}");
            answer.consequences.push(Note {
                what: format!("{}{suffix}", f.summary),
                why,
                evidence: f.evidence.clone(),
            });
            continue;
        }
        answer.causes.push(cause(k, f, &suffix));
    }
    undecided(case, &ids, &suffix, answer);
    flushed(case, &ids, &suffix, answer);
    none(case, answer);
}

/// What is only shown where somebody writes about such messages is not asserted of anybody's machine.
fn heard(o: &Observer, mut found: Found) -> Found {
    let quoted = !found.evidence.is_empty() && found.evidence.iter().all(|e| o.is_quoted(e));
    if quoted && found.confidence > Confidence::Possible {
        found.confidence = Confidence::Possible;
        found.because.push_str(
            "; but the text around the line describes such messages (a guide, a change, an example): whether it is a report of this machine is not shown",
        );
    }
    found
}

fn cause(k: &'static Known, f: &Found, suffix: &str) -> Cause {
    Cause {
        id: k.id,
        title: k.title,
        summary: format!("{}{suffix}", f.summary),
        severity: f.severity.unwrap_or(k.severity),
        confidence: f.confidence,
        because: f.because.clone(),
        scope: f.scope.clone(),
        evidence: f.evidence.clone(),
        confirm: k.confirm.iter().map(|s| (*s).to_owned()).collect(),
        refute: k.refute.iter().map(|s| (*s).to_owned()).collect(),
        rules: k.rules.to_vec(),
        remedy: f.remedy.clone().unwrap_or_else(|| Some((k.remedy)())),
        role: None,
        sources: k.sources.to_vec(),
    }
}

/// What is badly wrong on the nodes that were given, and was not joined to a cause: it may be the reason, and is wrong in any case.
fn findings(nodes: &[NodeView<'_>], direct: bool, answer: &mut Answer) {
    for n in nodes {
        for f in n.failing(&["*"]) {
            let told = answer.causes.iter().any(|c| {
                c.id == f.rule || c.rules.contains(&f.rule) || c.evidence.iter().any(|e| e.text.starts_with(f.rule))
            });
            if f.severity < Severity::High || told {
                continue;
            }
            if direct && denies_gpudirect(f.rule) {
                answer.not_causes.push(Note {
                    what: format!("{} on {}: {}", f.rule, n.name, f.message),
                    why: "the log contradicts the node: connections over RDMA have /GDRDMA; the node was captured at another time, in another container, or is another machine".to_owned(),
                    evidence: vec![Evidence { at: f.at, text: f.message }],
                });
                continue;
            }
            let because = if answer.jobs.is_empty() {
                "the node's own state says so; no log shows what it does to a job"
            } else {
                "the node's own state says so; the log does not show that it is the reason"
            };
            answer.causes.push(Cause {
                id: f.rule,
                title: f.title,
                summary: format!("{}: {}", n.name, f.message),
                severity: f.severity,
                confidence: Confidence::Possible,
                because: because.to_owned(),
                scope: String::new(),
                evidence: vec![Evidence { at: f.at, text: f.message }],
                confirm: vec![format!("`linerate audit --rule {}` on the node", f.rule)],
                refute: Vec::new(),
                rules: vec![f.rule],
                remedy: f.remedy,
                role: n.role(),
                sources: f.sources.to_vec(),
            });
        }
    }
}

/// Rules of which a failing one says that GPU and NIC cannot talk directly.
fn denies_gpudirect(rule: &str) -> bool {
    rule.starts_with("gpumem/") && !matches!(rule, "gpumem/xid" | "gpumem/nvlink-fabric" | "gpumem/driver-loaded")
        || rule == "numa/no-shared-switch"
}

/// What is wrong without a cause that is found.
fn undecided(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let any = |area: &str| ids.iter().any(|id| id.starts_with(area));
    refused(case, ids, suffix, answer);
    // A job that failed, of which only consequences are seen.
    let closed = case.failures(|t| matches!(t, Trouble::Completion(5)));
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
    let missing = gdr_missing(case);
    if !missing.is_empty() && !any("gdr/") {
        let scope = case.scope(missing.iter().copied());
        let scope = if scope.is_empty() { String::new() } else { format!(", on {scope}") };
        answer.undecided.push(Undecided {
            symptom: "symptom/gpudirect-disabled",
            summary: format!("connections over RDMA without /GDRDMA{scope}; these lines do not say why{suffix}"),
            evidence: gdr_lacking(case),
            candidates: vec!["gdr/no-peer-memory", "gdr/too-far", "gdr/level-too-low-by-env", "gdr/default-off-behind-cpu"],
            read: vec![
                "the lines `GPU Direct RDMA Enabled/Disabled` of the same job: NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV".to_owned(),
                "the node: `linerate doctor LOG --node SNAPSHOT` joins both".to_owned(),
            ],
        });
    }
    sockets(case, ids, suffix, answer);
    let silent =
        case.job.processes.iter().all(|p| {
            case.o.process(*p).is_none_or(|p| p.network.is_none() && p.nics.is_none() && p.bootstrap.is_none())
        });
    let quiet = case.ranks().all(|r| r.cells.is_empty())
        && case.failures(|_| true).is_empty()
        && case.frameworks(|_| true).is_empty();
    if silent
        && quiet
        && !case.job.processes.is_empty()
        && case.of(&case.o.settings).next().is_none()
        && case.kernel(|_| true).is_empty()
        && ids.is_empty()
    {
        answer.undecided.push(Undecided {
            symptom: "symptom/low-bandwidth-with-gpudirect",
            summary: format!(
                "these lines show neither networks nor connections: nothing can be said of the path{suffix}"
            ),
            evidence: Vec::new(),
            candidates: Vec::new(),
            read: vec!["a log with NCCL_DEBUG=INFO (at WARN NCCL prints errors only)".to_owned()],
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
    if ids.is_empty()
        && answer.causes.is_empty()
        && answer.undecided.is_empty()
        && (!harmful.is_empty() || !torch.is_empty())
    {
        let groups = harmful.iter().map(|(_, g)| *g).chain(torch.iter().map(|(_, g)| *g));
        let evidence: Vec<Evidence> = groups.flat_map(|g| case.quotes(g).into_iter().take(1)).take(6).collect();
        answer.undecided.push(Undecided {
            symptom: "symptom/hang",
            summary: format!("something failed for which these lines show no cause{suffix}"),
            evidence,
            candidates: Vec::new(),
            read: vec![
                "the lines before these: NCCL prints the reason as a warning (`NCCL WARN`) in the log of the rank that failed first".to_owned(),
                "NCCL_DEBUG=INFO on all ranks, and the kernel's log of their nodes".to_owned(),
            ],
        });
    }
}

/// Sockets of which nobody knows whether they matter.
fn sockets(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let unopened = case.failures(|t| matches!(t, Trouble::Library(n) if case.name(*n).contains("libibverbs")));
    let sockets = !case.socket_processes().is_empty();
    let without = case.of(&case.o.no_device).next().map(|(_, g)| ("found no RDMA device", g));
    let without = without.or_else(|| Some(("cannot open libibverbs", unopened.first().filter(|_| sockets)?.1)));
    let open = case.multi_node().is_none() && !ids.iter().any(|id| id.starts_with("net/"));
    let Some((what, g)) = without.filter(|_| open) else { return };
    answer.undecided.push(Undecided {
        symptom: "symptom/falls-back-to-sockets",
        summary: format!("NCCL {what}; whether that matters is not shown: neither that the job spans nodes, nor that they have RDMA{suffix}"),
        evidence: case.quotes(g).into_iter().take(1).collect(),
        candidates: vec!["net/no-rdma-device", "net/no-libibverbs", "net/ib-disabled-by-env"],
        read: vec![
            "on the node: `ls /sys/class/infiniband`; in the container: `ls /dev/infiniband`".to_owned(),
            "connections in the log (`via NET/…`): NCCL_DEBUG=INFO of the whole start".to_owned(),
        ],
    });
}

/// Verbs calls that fail: what each leaves as reasons, by call and error.
fn refused(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let failed = verbs_failed(case);
    let Some((call, error, g)) = failed.first().filter(|_| !ids.iter().any(|id| id.starts_with("ib/"))) else { return };
    let row = verbs_reasons(call, error);
    let silent = error.is_empty();
    let mut read: Vec<String> = row.into_iter().flat_map(|r| r.read.iter().map(|s| (*s).to_owned())).collect();
    if silent {
        read.push("NCCL 2.14 or later prints the reason".to_owned());
    }
    let why = if silent { "and this release does not print why".to_owned() } else { format!("with `{error}`") };
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
    matches!(t, Trouble::Completion(4 | 5 | 10..=13 | 19))
}

/// Warnings that alarm and mean nothing.
pub(crate) fn is_harmless(g: &Group) -> bool {
    const HARMLESS: &[&str] = &[
        "lib wrapper not initialized",
        "ibv_query_port_speed",
        "Address already in use",
        "dlvsym failed on mlx5dv",
        "[Rem Allocator]",
        "NET/OFI Could not find",
        "Supplying default values for NIC properties",
        // RCCL's advice, and features of it that are off (`src/init.cc: checkHsaEnvSetting`, `src/clique`, `src/mscclpp`).
        "from kernel command line which can lead to",
        "from environment which can lead to low RCCL performance",
        "Disabling clique-based kernels",
        "MSCCL++: ",
        // Limits and features that NCCL goes on without.
        ", ignoring",
        "Limiting value to",
        "cap it to",
        "set both to",
        "set it to 0",
        "defaulting to",
        "using default",
        "Skipping nvlink detection",
        "falling back to",
        "Ignoring SHM locality",
        "trying to use CUDA instead",
        "Max rings reached, limiting",
        "is being ignored because it is not a power of 2",
        "CollNet currently only supports up to",
        "Cannot initialize CollNet, using",
        "ignoring NCCL_ALGO=COLLNET",
        "GDR Flush only supported on",
        "not dumping topology",
        "Could not find a path for pattern",
        "Unable to create thread context due to old driver, disabling",
        "port active",
        "client reregistration",
        "SM change",
        "GID table change",
        "User asked for a",
        "is greater than the maximum allowed",
        "NUMA auto balancing enabled",
        "retrying",
    ];
    g.quotes.iter().all(|q| HARMLESS.iter().any(|h| q.text.contains(h)))
}

/// Flush errors beside a cause: told as what they are.
fn flushed(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let found = case.failures(|t| matches!(t, Trouble::Completion(5)));
    if let (Some((_, g)), true) =
        (found.first(), ids.iter().any(|id| id.starts_with("ib/") || id.starts_with("kernel/")))
    {
        answer.consequences.push(Note {
            what: format!("{} request(s) flushed (status 5){suffix}", g.count),
            why: "all requests of a connection are flushed after its first error".to_owned(),
            evidence: case.quotes(g),
        });
    }
}

/// What people suspect, and what is not the cause.
fn none(case: &Case<'_>, answer: &mut Answer) {
    let mut note = |what: &str, why: &str, evidence: Vec<Evidence>| {
        if !answer.not_causes.iter().any(|n| n.what == what) {
            answer.not_causes.push(Note { what: what.to_owned(), why: why.to_owned(), evidence });
        }
    };
    let o = case.o;
    let missing = case.of(&o.plugins).find(|((kind, _), _)| *kind == PLUGIN_MISSING);
    // Only where another network than sockets works without one; on EFA it is the cause.
    if let Some((_, g)) = missing.filter(|_| !plugin_may_be_needed(case)) {
        let why = "NCCL looks for an external plugin and goes on with its own transports where there is none; missing symbols of other plugin versions are tried one after the other";
        note(
            "no external network plugin, or one without a symbol of some version",
            why,
            case.quotes(g).into_iter().take(2).collect(),
        );
    }
    if let Some((_, p)) = case.processes().find(|(_, p)| p.dmabuf.is_some() && p.gdr_nics.0 > 0)
        && let Some(place) = p.dmabuf
    {
        let why = "DMA-BUF is available and the NICs can use GPU memory: nvidia-peermem is not needed";
        note("nvidia-peermem that is not loaded", why, vec![case.at(place, "DMA-BUF is available on GPU device")]);
    }
    if gdr_by_design(case) {
        let why = "GPUs before Ampere without NVLink are not read directly by default (NCCL_NET_GDR_READ); receiving is direct, and that is what counts";
        note("sending without /GDRDMA", why, gdr_lacking(case).into_iter().take(2).collect());
    }
    if case.multi_node() == Some(false) && !case.socket_processes().is_empty() {
        let lines = case
            .of(&o.networks)
            .map(|(_, g)| g)
            .next()
            .map(|g| case.quotes(g).into_iter().take(1).collect())
            .unwrap_or_default();
        note("the network Socket", "all ranks are on one node: data does not go through it", lines);
    }
    for (what, why, evidence) in causes::kernel_elsewhere(case).into_iter().chain(causes::harmless_xids(case)) {
        note(&what, &why, evidence);
    }
    let port_active =
        case.failures(|t| matches!(t, Trouble::Async { event, .. } if o.name(*event).contains("port active")));
    if let Some((_, g)) = port_active.first() {
        note("an asynchronous event `port active`", "a port came up", case.quotes(g));
    }
    for (what, why, word) in [
        (
            "`lib wrapper not initialized`",
            "a plugin asked for a library that NCCL had not opened yet; it goes on",
            "lib wrapper not initialized",
        ),
        (
            "a warning of the `[Rem Allocator]`",
            "a stranger (a port scanner, a health check) connected to NCCL's port",
            "[Rem Allocator]",
        ),
    ] {
        let seen = case.failures(|_| true).into_iter().find(|(_, g)| g.quotes.iter().any(|q| q.text.contains(word)));
        if let Some((_, g)) = seen {
            note(what, why, case.quotes(g).into_iter().take(1).collect());
        }
    }
    for n in case.nodes {
        if n.passes("acs/redirect-on-p2p-path") {
            note(
                "ACS",
                "on the node that was given, no port on a GPU-NIC path redirects",
                vec![Evidence { at: n.name.to_owned(), text: "acs/redirect-on-p2p-path passes".to_owned() }],
            );
        }
        if n.passes("iommu/translated-domain") {
            note(
                "the IOMMU",
                "on the node that was given, GPUs and NICs are in identity domains or there is no IOMMU",
                vec![Evidence { at: n.name.to_owned(), text: "iommu/translated-domain passes".to_owned() }],
            );
        }
    }
}
