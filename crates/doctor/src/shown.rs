//! What was read and what ran, for the answer: inputs, jobs, failures in the order of time, limits.

use crate::answer::{Evidence, Failure, Input, Job as Shown, NOTHING_KNOWN, NearestNic, NicList, Search, Setting};
use crate::case::Case;
use crate::conclude::is_harmless;
use crate::jobs::Job;
use crate::matrix::matrix;
use crate::observe::Observer;
use crate::observe::groups::Group;
use crate::observe::keys::{self, DeviceList, Near, PluginEvent};
use crate::observe::release::Release;
use crate::observe::trouble::KernelTrouble;
use crate::place::FileId;
use crate::ranges::some;
use linerate_formats::nccl_log::graph;
use linerate_formats::nccl_ras::{self, Report};
use linerate_topology::Version;
use std::collections::{BTreeMap, BTreeSet};

/// Failures that are listed.
const MAX_TIMELINE: usize = 40;

pub(crate) fn inputs(o: &Observer) -> Vec<Input> {
    let of = |i: usize| crate::place::FileId(i as u32);
    o.files
        .iter()
        .enumerate()
        .map(|(i, f)| {
            let mut kinds = Vec::new();
            if f.nccl > 0 {
                kinds.push("NCCL log");
            }
            if o.ras.is_in(of(i)) {
                kinds.push(nccl_ras::TOOL.called);
            }
            if o.nccl_tests.iter().any(|(file, _)| *file == of(i)) {
                kinds.push("nccl-tests table");
            }
            if o.perftest.iter().any(|(file, _)| *file == of(i)) {
                kinds.push("perftest output");
            }
            if o.trainings.iter().any(|(file, _)| *file == of(i)) {
                kinds.push("training steps");
            }
            if o.kernel.list.iter().any(|(_, g)| g.quotes.iter().any(|q| q.place.file == of(i))) {
                kinds.push("kernel log");
            }
            if o.frameworks.list.iter().any(|(_, g)| g.quotes.iter().any(|q| q.place.file == of(i))) {
                kinds.push("framework log");
            }
            if o.tools.list.iter().any(|(_, g)| g.quotes.iter().any(|q| q.place.file == of(i))) && kinds.is_empty() {
                kinds.push("lines of tools");
            }
            let mut remarks = Vec::new();
            let mut say = |n: u64, one: &str, many: &str| {
                if n > 0 {
                    remarks.push(linerate_formats::counted(n, one, many));
                }
            };
            say(f.undecodable, "line is not UTF-8", "lines are not UTF-8");
            say(f.cut_lines, "line is longer than 64 KiB and was cut", "lines are longer than 64 KiB and were cut");
            say(
                f.cut_lists,
                "list of NICs has no end: there may be more",
                "lists of NICs have no end: there may be more",
            );
            say(f.mixed, "line holds text of two writers", "lines hold text of two writers");
            remarks.extend(refused(o, of(i)));
            if f.nccl > 0 && f.unended {
                remarks.push("the last line has no end: the file may be cut".to_owned());
            }
            let kind = if kinds.is_empty() { NOTHING_KNOWN.to_owned() } else { kinds.join(" and ") };
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

/// Rows of benchmark tables that could not be read, with the first and why.
fn refused(o: &Observer, file: FileId) -> Option<String> {
    let of_tests = o.nccl_tests.iter().filter(|(f, _)| *f == file).map(|(_, r)| &r.refused);
    let all = || of_tests.clone().chain(o.perftest.iter().filter(|(f, _)| *f == file).map(|(_, r)| &r.refused));
    let count = all().map(|r| r.kept.len() as u64 + r.not_kept).sum::<u64>();
    let first = all().flat_map(|r| &r.kept).next()?;
    let count = linerate_formats::counted(count, "row of a benchmark was not read", "rows of benchmarks were not read");
    Some(format!("{count}, the first at line {}: {}", first.line, first.why))
}

pub(crate) fn limits(o: &Observer, jobs: &[Job]) -> Vec<String> {
    let mut all = Vec::new();
    let mut say = |n: u64, [one, many]: [&str; 2], what: &str| {
        if n > 0 {
            all.push(format!("{} {what}", linerate_formats::counted(n, one, many)));
        }
    };
    let lines = ["line of threads", "lines of threads"];
    say(o.threads.untracked, lines, "beyond the first 65,536: counted, not judged");
    let ranks = ["rank of communicators", "ranks of communicators"];
    say(o.ranks.untracked, ranks, "beyond the first 49,152: not kept");
    say(o.failures.untracked + o.kernel.untracked, ["failure", "failures"], "of further kinds: not kept");
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

pub(crate) fn timeline(o: &Observer) -> Vec<Failure> {
    struct One<'a> {
        group: &'a Group,
        consequence: bool,
    }
    let nccl = o
        .failures
        .list
        .iter()
        .filter(|(_, g)| !is_harmless(g))
        .map(|(t, group)| One { group, consequence: t.is_consequence() });
    let kernel = o
        .kernel
        .list
        .iter()
        .map(|(k, group)| One { group, consequence: matches!(k.trouble, KernelTrouble::Xid { number: 43 | 45, .. }) });
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
    let file = |q: &crate::place::Quote| o.file_name(q.place.file).to_owned();
    all.iter()
        .take(MAX_TIMELINE)
        .filter_map(|f| {
            let g = f.group;
            let quote = g.quotes.first()?;
            let host = g.first_process.and_then(|p| o.process(p)).map(|p| p.host).or(g.host);
            let host = host.map(|h| o.name(h)).unwrap_or_default();
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

pub(crate) fn job(case: &Case<'_>, index: usize) -> Shown {
    let o = case.o;
    let processes: Vec<_> = case.processes().collect();
    let unique =
        |items: Vec<String>| -> Vec<String> { items.into_iter().collect::<BTreeSet<_>>().into_iter().collect() };
    let mut networks: BTreeMap<String, u32> = BTreeMap::new();
    for (_, p) in &processes {
        if let Some(n) = p.uses() {
            *networks.entry(o.name(n).to_owned()).or_default() += 1;
        }
    }
    let mut lists: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (_, p) in &processes {
        if let Some(DeviceList { net, list }) = p.nics.map(|n| n.devices) {
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
    let plugins = case.of(&o.plugins).filter_map(|(event, _)| match event {
        PluginEvent::Loaded(name) => Some(o.name(name).to_owned()),
        _ => None,
    });
    let channels: Vec<u32> = case.ranks().filter_map(|r| r.channels).map(|(c, _)| c).collect();
    let drivers = processes.iter().filter_map(|(_, p)| p.cuda_driver).map(cuda_version);
    // What one rank tells holds for those whose wordings only allow it.
    let told: Vec<_> = processes.iter().filter_map(|(_, p)| p.release.told).collect();
    let allowed = |range: (u16, u16)| told.iter().any(|(_, minor, _)| (range.0..=range.1).contains(minor));
    let own = processes.iter().filter(|(_, p)| p.release.told.is_some() || !allowed(p.release.range));
    let (told, by_wordings): (Vec<_>, Vec<_>) = own.map(|(_, p)| &p.release).partition(|r| r.told.is_some());
    // All ranks of a job have one release, where that can be.
    let wordings = match Release::common(by_wordings.iter().copied()) {
        Some(one) => vec![one.words()],
        None => by_wordings.iter().map(|r| r.words()).collect(),
    };
    let releases = told.iter().map(|r| r.words()).chain(wordings).filter(|w| w != "unknown");
    let benchmarks = o.nccl_tests.iter().filter(|_| case.is_first).filter_map(|(_, r)| {
        let row = r.largest()?;
        Some(format!("{} bytes: busbw {:.1} GB/s", row.size.0, row.best_busbw()?.0))
    });
    let mut shown = Shown {
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
        paths: paths(case),
        searches: searches(case),
        channels: channels.iter().min().copied().zip(channels.iter().max().copied()),
        algorithms: o.tuning.iter().map(|t| (format!("{} {}", t.algorithm, t.protocol), t.count)).collect(),
        environment: environment(case),
        matrix: matrix(o, case.job),
        benchmarks: benchmarks.collect(),
    };
    if let Some(report) = case.ras().map(|(_, r)| r).max_by_key(|r| (r.job.map(|j| j.value.gpus), r.reached)) {
        by_ras(&mut shown, report);
    }
    shown
}

/// What a report of NCCL's RAS says of the job, where its log does not.
fn by_ras(job: &mut Shown, r: &Report) {
    if job.releases.is_empty() {
        job.releases.extend(r.nccl.as_ref().map(|v| v.value.to_string()));
    }
    if job.cuda_drivers.is_empty() {
        job.cuda_drivers.extend(r.cuda_driver.map(cuda_version));
    }
    job.nodes = job.nodes.or(r.job.map(|j| j.value.nodes));
    // Of a communicator that no answering process knows, NCCL counts no ranks: then the largest is not known.
    let most = r.communicators.iter().filter_map(|c| Some(c.missing.as_ref()?.count)).max().unwrap_or(0);
    let largest = r.groups.iter().max_by_key(|g| g.ranks).filter(|g| g.ranks > 0 && g.ranks >= most);
    if let (None, Some(world)) = (job.ranks, largest) {
        job.ranks = Some(world.ranks);
        job.ranks_seen = world.answered.min(world.ranks);
        job.communicators = job.communicators.max(r.communicators_in_all());
    }
}

/// `12.4` of `12040`.
fn cuda_version(v: u32) -> String {
    format!("{}.{}", v / 1000, v % 1000 / 10)
}

/// For each GPU its nearest NIC.
fn paths(case: &Case<'_>) -> Vec<NearestNic> {
    let name = |n| case.name(n).to_owned();
    let of = |(n, g): (Near, &Group)| NearestNic {
        gpu: graph::address(case.name(n.gpu)).map_or_else(|| name(n.gpu), |a| a.to_string()),
        nic: name(n.net),
        path: name(n.kind),
        gb_per_s: f64::from(n.centi) / 100.0,
        hosts: case.hosts(g.processes.iter().copied()),
    };
    case.of(&case.o.near).map(of).collect()
}

fn searches(case: &Case<'_>) -> Vec<Search> {
    let spans = case.multi_node() == Some(true);
    let of = |s: keys::Search| Search {
        pattern: s.pattern,
        channels: s.channels,
        intra_gb_per_s: f64::from(s.intra) / 100.0,
        inter_gb_per_s: spans.then(|| f64::from(s.inter) / 100.0),
        gpus: case.name(s.gpus).to_owned(),
        nics: spans.then(|| case.name(s.nics).to_owned()),
    };
    case.of(&case.o.searches).map(|(s, _)| of(s)).collect()
}

/// Variables, what each does in this release, and what is wrong with it.
fn environment(case: &Case<'_>) -> Vec<Setting> {
    let o = case.o;
    let settings: Vec<(linerate_env::Setting, &Group)> = case
        .of(&o.settings)
        .map(|(s, g)| {
            let origin = linerate_env::Origin::new(linerate_env::OriginKind::Log);
            (linerate_env::Setting::new(o.name(s.name), o.name(s.value), origin), g)
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
                only: (values > 1).then(|| format!("{} only", some(&case.hosts(mine), 3))),
                does: worst.and_then(|j| j.what.clone()),
                verdict: verdict.map(|j| format!("{}: {}", j.kind.name(), j.message)),
                at: g.quotes.first().map(|q| case.evidence(q).at).unwrap_or_default(),
            }
        })
        .collect();
    all.extend(launched(case));
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// What commands in the text set, where the job's own lines do not have that variable.
fn launched(case: &Case<'_>) -> Vec<Setting> {
    let o = case.o;
    let own = |name| case.of(&o.settings).any(|(s, _)| s.name == name);
    let of = |(s, g): (keys::Setting, &Group)| Setting {
        name: o.name(s.name).to_owned(),
        value: o.name(s.value).to_owned(),
        only: Some("by a command in the text; whether for this job is not shown".to_owned()),
        at: g.quotes.first().map(|q| case.evidence(q).at).unwrap_or_default(),
        ..Setting::default()
    };
    case.of(&o.launched).filter(|(s, _)| !own(s.name)).map(of).collect()
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
        rccl: case.o.rccl,
        elsewhere: Vec::new(),
    }
}
