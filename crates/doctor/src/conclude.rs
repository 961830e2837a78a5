//! From what was observed to the answer.

use crate::NodeGiven;
use crate::answer::{
    Answer, Cause, Confidence, Evidence, Failure, Input, Job as Shown, NicList, Note, Setting, Undecided,
};
use crate::case::Case;
use crate::causes::{self, Found, Known, gdr_by_design, gdr_lacking, gdr_missing};
use crate::jobs::{self, Job};
use crate::matrix::matrix;
use crate::nodes::NodeView;
use crate::observe::groups::Group;
use crate::observe::trouble::{KernelTrouble, Trouble};
use crate::observe::{Observer, PLUGIN_LOADED, PLUGIN_MISSING};
use crate::ranges::some;
use linerate_formats::nccl_log::SocketTrouble;
use linerate_rules::Severity;
use linerate_topology::Version;
use std::collections::{BTreeMap, BTreeSet};

/// Failures that are listed.
const MAX_TIMELINE: usize = 40;

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
    let nodes: Vec<NodeView<'_>> = given.iter().map(|g| NodeView::new(g, version, &env)).collect();
    let mut answer = Answer { inputs: inputs(o), timeline: timeline(o), limits: limits(o, &jobs), ..Answer::default() };
    for (i, job) in jobs.iter().enumerate() {
        let case = Case { o, job, is_first: i == 0, nodes: &nodes };
        if !unseen {
            answer.jobs.push(shown(&case, i));
        }
        judge(&case, if jobs.len() > 1 { Some(i + 1) } else { None }, &mut answer);
    }
    findings(&nodes, &mut answer);
    // What only fits comes last; among the others what ends a job comes first.
    answer.causes.sort_by_key(|c| {
        let critical = c.severity == Severity::Critical;
        (
            c.confidence == Confidence::Possible,
            !critical,
            std::cmp::Reverse(c.confidence),
            std::cmp::Reverse(c.severity),
        )
    });
    answer
}

/// Causes of one job, what follows from them, what cannot be decided, what is none.
fn judge(case: &Case<'_>, number: Option<usize>, answer: &mut Answer) {
    let found: Vec<(&'static Known, Found)> = causes::known().filter_map(|k| Some((k, (k.check)(case)?))).collect();
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
        // What only fits is told as undecided where the job failed and nothing better was found.
        answer.causes.push(cause(k, f, &suffix));
    }
    undecided(case, &ids, &suffix, answer);
    flushed(case, &ids, &suffix, answer);
    none(case, answer);
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
        remedy: Some((k.remedy)()),
        sources: k.sources.to_vec(),
    }
}

/// What is badly wrong on the nodes that were given, and was not joined to a cause: it may be the reason, and is wrong in any case.
fn findings(nodes: &[NodeView<'_>], answer: &mut Answer) {
    for n in nodes {
        for f in n.failing(&["*"]) {
            let told = answer.causes.iter().any(|c| {
                c.id == f.rule || c.rules.contains(&f.rule) || c.evidence.iter().any(|e| e.text.starts_with(f.rule))
            });
            if f.severity < Severity::High || told {
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
                sources: f.sources.to_vec(),
            });
        }
    }
}

/// What is wrong without a cause that is found.
fn undecided(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let any = |area: &str| ids.iter().any(|id| id.starts_with(area));
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
    let without = case.of(&case.o.no_device).next();
    let Some((_, g)) = without.filter(|_| case.multi_node().is_none() && !ids.iter().any(|id| id.starts_with("net/")))
    else {
        return;
    };
    answer.undecided.push(Undecided {
        symptom: "symptom/falls-back-to-sockets",
        summary: format!("NCCL found no RDMA device; whether that matters is not shown: neither that the job spans nodes, nor that they have RDMA{suffix}"),
        evidence: case.quotes(g).into_iter().take(1).collect(),
        candidates: vec!["net/no-rdma-device", "net/no-libibverbs", "net/ib-disabled-by-env"],
        read: vec![
            "on the node: `ls /sys/class/infiniband`; in the container: `ls /dev/infiniband`".to_owned(),
            "connections in the log (`via NET/…`): NCCL_DEBUG=INFO of the whole start".to_owned(),
        ],
    });
}

/// Verbs calls that fail without a word of why.
fn refused(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let silent = |t: &Trouble| matches!(t, Trouble::Verbs { error, .. } if case.name(*error).is_empty());
    let found = case.failures(silent);
    let found = found.iter().find(|(_, g)| !is_harmless(g));
    let Some((_, g)) = found.filter(|_| !ids.iter().any(|id| id.starts_with("ib/"))) else { return };
    answer.undecided.push(Undecided {
        symptom: "symptom/completion-errors",
        summary: format!("a verbs call failed, and this release does not print why{suffix}"),
        evidence: case.quotes(g),
        candidates: vec!["ib/memlock", "ib/gpu-registration"],
        read: vec![
            "in the job itself: `ulimit -l` (a limit of locked memory that is too low is the usual reason)".to_owned(),
            "NCCL 2.14 or later prints the reason".to_owned(),
        ],
    });
}

/// Troubles that a cause's check looks at by itself.
fn known_elsewhere(t: &Trouble) -> bool {
    matches!(t, Trouble::Completion(4 | 5 | 10..=13 | 19))
}

/// Warnings that alarm and mean nothing.
fn is_harmless(g: &Group) -> bool {
    const HARMLESS: &[&str] = &[
        "lib wrapper not initialized",
        "ibv_query_port_speed",
        "Address already in use",
        "dlvsym failed on mlx5dv",
        "[Rem Allocator]",
        "Missing \"iommu=pt\"",
        "NET/OFI Could not find",
        "non-fatal async event: port active",
        "GID table changed",
        "User asked for a",
        "is greater than the maximum allowed",
        "Missing iommu=pt",
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
    if let Some((_, g)) = case.of(&o.plugins).find(|((kind, _), _)| *kind == PLUGIN_MISSING) {
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

fn inputs(o: &Observer) -> Vec<Input> {
    let of = |i: usize| crate::place::FileId(i as u32);
    o.files
        .iter()
        .enumerate()
        .map(|(i, f)| {
            let mut kinds = Vec::new();
            if f.nccl > 0 {
                kinds.push("NCCL log");
            }
            if o.nccl_tests.iter().any(|(file, _)| *file == of(i)) {
                kinds.push("nccl-tests table");
            }
            if o.perftest.iter().any(|(file, _)| *file == of(i)) {
                kinds.push("perftest output");
            }
            if o.kernel.list.iter().any(|(_, g)| g.quotes.iter().any(|q| q.place.file == of(i))) {
                kinds.push("kernel log");
            }
            if o.frameworks.list.iter().any(|(_, g)| g.quotes.iter().any(|q| q.place.file == of(i))) {
                kinds.push("framework log");
            }
            let mut remarks = Vec::new();
            let mut say = |n: u64, what: &str| {
                if n > 0 {
                    remarks.push(format!("{n} {what}"));
                }
            };
            say(f.undecodable, "line(s) are not UTF-8");
            say(f.cut_lines, "line(s) are longer than 64 KiB and were cut");
            say(f.mixed, "line(s) hold texts of two writers");
            if f.nccl > 0 && f.unended {
                remarks.push("the last line has no end: the file may be cut".to_owned());
            }
            let kind = if kinds.is_empty() { "nothing known".to_owned() } else { kinds.join(" and ") };
            Input {
                name: f.name.clone(),
                kind,
                bytes: f.bytes,
                lines: f.lines,
                nccl_lines: f.nccl,
                understood: f.understood,
                remarks,
            }
        })
        .collect()
}

fn limits(o: &Observer, jobs: &[Job]) -> Vec<String> {
    let mut all = Vec::new();
    let mut say = |n: u64, what: &str| {
        if n > 0 {
            all.push(format!("{n} {what}"));
        }
    };
    say(o.threads.untracked, "line(s) of threads beyond the first 65,536 were counted, not judged");
    say(o.ranks.untracked, "rank(s) of communicators beyond the first 49,152 were not kept");
    say(o.failures.untracked + o.kernel.untracked, "failure(s) of further kinds were not kept");
    if jobs.len() > 1 && jobs.iter().any(|j| j.groups.is_empty()) {
        all.push(
            "several groups of processes show no communicator: whether they are one job or several is not certain"
                .to_owned(),
        );
    }
    let stamped = o.failures.list.iter().filter(|(_, g)| g.stamp.is_some()).count();
    let all_failures = o.failures.list.len();
    if stamped > 0 && stamped < all_failures {
        all.push("some failures have no time stamp: their order is that of the lines".to_owned());
    }
    if skewed(o) {
        all.push("clocks of the hosts disagree (the order in time and the order of the lines differ by more than a minute): the first failure may be another one".to_owned());
    }
    all
}

/// Whether time runs backwards by more than a minute between failures of one file, in the order of the lines.
fn skewed(o: &Observer) -> bool {
    let mut stamped: Vec<_> =
        o.failures.list.iter().filter_map(|(_, g)| Some((g.first, g.stamp?))).filter(|(_, s)| s.dated).collect();
    stamped.sort_by_key(|(place, _)| *place);
    stamped.windows(2).any(|w| matches!(w, [(a, s), (b, t)] if a.file == b.file && t.seconds + 60.0 < s.seconds))
}

fn timeline(o: &Observer) -> Vec<Failure> {
    struct One<'a> {
        group: &'a Group,
        consequence: bool,
    }
    let nccl = o.failures.list.iter().filter(|(_, g)| !is_harmless(g)).map(|(t, group)| One {
        group,
        consequence: t.is_consequence() || *t == Trouble::Socket(SocketTrouble::Closed),
    });
    let kernel = o
        .kernel
        .list
        .iter()
        .map(|(k, group)| One { group, consequence: matches!(k, KernelTrouble::Xid { number: 43 | 45, .. }) });
    let torch = o.frameworks.list.iter().map(|(_, group)| One { group, consequence: true });
    let mut all: Vec<One<'_>> = nccl.chain(kernel).chain(torch).collect();
    // By time where all have comparable times, else by line.
    let dated = all.iter().all(|f| f.group.stamp.is_some_and(|s| s.dated));
    if dated {
        all.sort_by(|a, b| {
            let seconds = |f: &One<'_>| f.group.stamp.map_or(0.0, |s| s.seconds);
            seconds(a).total_cmp(&seconds(b)).then(a.group.first.cmp(&b.group.first))
        });
    } else {
        all.sort_by_key(|f| f.group.first);
    }
    let start = all.first().and_then(|f| f.group.stamp).filter(|_| dated);
    let file = |q: &crate::place::Quote| o.files.get(q.place.file.0 as usize).map_or("", |f| &f.name).to_owned();
    all.iter()
        .take(MAX_TIMELINE)
        .filter_map(|f| {
            let g = f.group;
            let quote = g.quotes.first()?;
            let host = g.first_process.and_then(|p| o.process(p)).map(|p| o.name(p.host)).unwrap_or_default();
            let rank =
                g.first_rank.and_then(|r| o.ranks.all.get(r)?.rank).map(|r| format!(" rank {r}")).unwrap_or_default();
            Some(Failure {
                who: format!("{host}{rank}").trim().to_owned(),
                after: start.zip(g.stamp).map(|(a, b)| b.seconds - a.seconds),
                count: g.count,
                processes: g.processes.len() as u32,
                evidence: Evidence::of(quote, &file(quote)),
                consequence: f.consequence,
            })
        })
        .collect()
}

fn shown(case: &Case<'_>, index: usize) -> Shown {
    let o = case.o;
    let processes: Vec<_> = case.processes().collect();
    let unique =
        |items: Vec<String>| -> Vec<String> { items.into_iter().collect::<BTreeSet<_>>().into_iter().collect() };
    let mut networks: BTreeMap<String, u32> = BTreeMap::new();
    for (_, p) in &processes {
        if let Some((n, _)) = p.network.or(p.nics.map(|(n, _, place)| (n, place))) {
            *networks.entry(o.name(n).to_owned()).or_default() += 1;
        }
    }
    let mut lists: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (_, p) in &processes {
        if let Some((net, list, _)) = p.nics {
            lists
                .entry((o.name(net).to_owned(), o.name(list).to_owned()))
                .or_default()
                .insert(o.name(p.host).to_owned());
        }
    }
    let nics = lists.into_iter().map(|((network, list), hosts)| NicList {
        network,
        nics: list.split(' ').filter(|n| !n.is_empty()).map(str::to_owned).collect(),
        hosts: hosts.into_iter().collect(),
    });
    let plugins = case.of(&o.plugins).filter(|((k, _), _)| *k == PLUGIN_LOADED).map(|((_, n), _)| o.name(n).to_owned());
    let channels: Vec<u32> = case.ranks().filter_map(|r| r.channels).map(|(c, _)| c).collect();
    let drivers =
        processes.iter().filter_map(|(_, p)| p.cuda_driver).map(|v| format!("{}.{}", v / 1000, v % 1000 / 10));
    // What one rank tells holds for those whose wordings only allow it.
    let told: Vec<_> = processes.iter().filter_map(|(_, p)| p.release.told).collect();
    let allowed = |range: (u16, u16)| told.iter().any(|(_, minor, _)| (range.0..=range.1).contains(minor));
    let own = processes.iter().filter(|(_, p)| p.release.told.is_some() || !allowed(p.release.range));
    let releases = own.map(|(_, p)| p.release.words()).filter(|w| w != "unknown");
    let benchmarks = o.nccl_tests.iter().filter(|_| case.is_first).filter_map(|(_, r)| {
        let row = r.largest()?;
        Some(format!("{} bytes: busbw {:.1} GB/s", row.size.0, row.best_busbw()?.0))
    });
    Shown {
        name: format!("job {}", index + 1),
        releases: unique(releases.collect()),
        cuda_drivers: unique(drivers.collect()),
        ranks: case.job.world().map(|w| w.size),
        ranks_seen: case.job.world().map_or(0, |w| w.members.len() as u32),
        hosts: case.job.hosts(o),
        nodes: case.job.nodes(o),
        communicators: case.job.groups.len() as u32,
        networks: networks.into_iter().collect(),
        plugins: unique(plugins.collect()),
        nics: nics.collect(),
        channels: channels.iter().min().copied().zip(channels.iter().max().copied()),
        algorithms: o.tuning.iter().map(|t| (format!("{} {}", t.algorithm, t.protocol), t.count)).collect(),
        environment: environment(case),
        matrix: matrix(o, case.job),
        benchmarks: benchmarks.collect(),
    }
}

/// Variables, what each does in this release, and what is wrong with it.
fn environment(case: &Case<'_>) -> Vec<Setting> {
    let o = case.o;
    let settings: Vec<(linerate_env::Setting, &Group)> = case
        .of(&o.settings)
        .map(|((name, value), g)| {
            let origin = linerate_env::Origin::new(linerate_env::OriginKind::Log);
            (linerate_env::Setting::new(o.name(name), o.name(value), origin), g)
        })
        .collect();
    let judged = linerate_env::judge(&settings.iter().map(|(s, _)| s.clone()).collect::<Vec<_>>(), &env_context(case));
    let mut all: Vec<Setting> = settings
        .iter()
        .map(|(s, g)| {
            let mine: Vec<usize> = g.processes.iter().copied().filter(|p| case.job.processes.contains(p)).collect();
            let values = settings.iter().filter(|(other, _)| other.name == s.name).count();
            let worst = judged.iter().find(|j| j.variable == s.name && j.value == s.value);
            let verdict = worst.filter(|j| j.severity > linerate_env::Severity::Info);
            Setting {
                name: s.name.clone(),
                value: s.value.clone(),
                only: (values > 1).then(|| some(&case.hosts(mine), 3)),
                does: worst.and_then(|j| j.what.clone()),
                verdict: verdict.map(|j| format!("{}: {}", j.kind.name(), j.message)),
                at: g.quotes.first().map(|q| case.evidence(q).at).unwrap_or_default(),
            }
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// What judgements of variables depend on, as far as the job shows it.
fn env_context(case: &Case<'_>) -> linerate_env::Context {
    let told = case.processes().find_map(|(_, p)| p.release.told);
    let network = case.of(&case.o.networks).next().map(|(n, _)| case.name(n).to_owned());
    let fabric =
        case.is_roce().map(|roce| if roce { linerate_env::Fabric::Roce } else { linerate_env::Fabric::InfiniBand });
    linerate_env::Context {
        nccl: told.map(|(major, minor, patch)| Version { major, minor, patch }),
        node: case.nodes.first().map(|n| linerate_env::NodeFacts::of(&n.node)),
        network,
        fabric,
    }
}
