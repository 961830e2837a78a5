//! `linerate bench run`.

use super::{load, store};
use crate::bench_args::{BenchFormat, RunArgs};
use crate::output::{Failure, Sink, Standard, remark};
use crate::progress;
use linerate_bench::compare::{Input, Options, compare};
use linerate_bench::facts::Facts;
use linerate_bench::import::{Refused, import, remove_secrets};
use linerate_bench::{Param, Run};
use linerate_out::file::{self, Access};
use linerate_report::bench::{comparison_text, runs_json, runs_text};
use linerate_runner::{Event, Measured, RawOutput, Request, Stopped, Variant, What, prepare};
use linerate_snapshot::without_secrets;
use linerate_store::{Imported, Place, SnapshotRef, TextRef};
use linerate_transport::{Collect, HostSpec};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// A run failed.
const EXIT_FAILED: u8 = 1;
/// It ended before its plan did.
const EXIT_STOPPED: u8 = 2;

pub(super) fn run(a: &RunArgs) -> Result<u8, Failure> {
    if matches!(a.answer.format, BenchFormat::Markdown | BenchFormat::Html) {
        return Err(Failure::new("a run is shown as text or JSON"));
    }
    let request = request(a)?;
    let hosts = HostSpec::list(&a.on)?;
    let cancel = crate::interrupt::cancel();
    let mut screen = Screen::new(a.quiet);
    let snapshots = (!a.no_snapshot).then(Collect::default);
    let prepared = prepare(&hosts, &request, &a.ssh_option, snapshots.as_ref(), &cancel, &mut |e| screen.show(e));
    let prepared = match prepared {
        Ok(p) => p,
        Err(e) => {
            screen.clear();
            return if cancel.is_cancelled() { Ok(EXIT_STOPPED) } else { Err(Failure::new(e)) };
        }
    };
    screen.clear();
    // The plan is said before anything runs, on standard error where the answer is for a program.
    let text = prepared.plan.to_string();
    let text = without_secrets(&text);
    if a.answer.format == BenchFormat::Json && !a.dry_run {
        let _ = io::stderr().write_all(text.as_bytes());
    } else {
        let mut out = Standard::new();
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    if a.dry_run {
        return Ok(0);
    }
    let measured = prepared.measure(&cancel, &mut |e| screen.show(e));
    screen.clear();
    let kept = Kept::new(a, &measured)?;
    let mut refused: Vec<Refused> = Vec::new();
    let mut runs: Vec<(usize, Run, String)> = Vec::new();
    for (n, output) in measured.outputs.iter().enumerate().filter(|(_, o)| !o.warmup) {
        let bytes = output.text();
        let found = import(&format!("{} on {}", output.test, output.host), &bytes);
        refused.extend(found.refused);
        let digest = load::digest(&bytes);
        runs.extend(found.runs.into_iter().map(|run| (n, complete(run, output, &measured), digest.clone())));
    }
    if !a.no_store && !runs.is_empty() {
        keep(a, &measured, &runs, &kept)?;
    }
    let (mut sink, style) = super::open(&a.answer.out)?;
    let refused = super::refused(&refused);
    let all: Vec<Run> = runs.into_iter().map(|(_, run, _)| run).collect();
    if a.answer.format == BenchFormat::Json {
        runs_json(&all, &refused, &mut sink)?;
    } else {
        runs_text(&all, &refused, style, &mut sink)?;
        variants(&request, &all, &measured, style, &mut sink)?;
    }
    sink.finish()?;
    for f in &measured.failures {
        remark(&format!("failed: {}", without_secrets(&f.to_string())));
    }
    Ok(match (measured.stopped, measured.failures.is_empty()) {
        (Some(stopped), _) => {
            let why = match stopped {
                Stopped::Cancelled => "interrupted; nothing was left running",
                Stopped::OverBudget => "its budget was used up: --max-time and --max-traffic allow more",
                Stopped::Lost => "a host was lost",
            };
            remark(&format!("it ended before its plan did: {why}"));
            EXIT_STOPPED
        }
        (None, false) => EXIT_FAILED,
        (None, true) => 0,
    })
}

/// Settings that took turns are compared at once: the first with each of the others.
fn variants(
    request: &Request,
    runs: &[Run],
    measured: &Measured,
    style: linerate_report::Style,
    sink: &mut Sink,
) -> Result<(), Failure> {
    let of = |name: &str| -> Vec<Run> {
        let is = |r: &&Run| r.params.get("variant") == Some(&Param::Text(name.into()));
        runs.iter().filter(is).cloned().collect()
    };
    let Some((first, others)) = request.variants.split_first() else { return Ok(()) };
    let facts: Vec<Facts> = snapshots(measured).map(Facts::of).collect();
    let a = of(&first.name);
    for other in others {
        let b = of(&other.name);
        let side = |name, runs| Input { name, runs, hosts: &[], facts: &facts, known: None };
        let answer = compare(&side(&first.name, &a), &side(&other.name, &b), &Options::default());
        writeln!(sink)?;
        comparison_text(&answer, style, sink)?;
    }
    Ok(())
}

fn snapshots(measured: &Measured) -> impl Iterator<Item = &linerate_snapshot::Snapshot> {
    measured.hosts.iter().filter_map(|h| h.snapshot.as_deref().ok())
}

fn request(a: &RunArgs) -> Result<Request, Failure> {
    let mut r = Request::new(What::of_name(&a.what)?);
    r.repetitions = a.repetitions.unwrap_or(r.repetitions);
    r.warmups = a.warmups.unwrap_or(r.warmups);
    r.seconds = a.seconds.unwrap_or(r.seconds);
    r.directory = a.directory.clone();
    r.rdma = a.rdma.iter().map(|d| Some(d.clone()).filter(|d| !d.is_empty() && d != "-")).collect();
    r.bind = !a.no_bind;
    r.skip_missing = a.skip_missing;
    r.port = a.port;
    r.max_seconds = a.max_time;
    r.max_bytes = a.max_traffic;
    if !a.variant.is_empty() {
        r.variants = a.variant.iter().map(|v| variant(v)).collect::<Result<_, _>>()?;
    }
    Ok(r)
}

/// `NAME: VAR=VALUE … args=ARG,ARG`.
fn variant(text: &str) -> Result<Variant, Failure> {
    let no = |why: &str| {
        Failure::new(format!("{text}: {why}")).hint("a setting is written as NAME: VAR=VALUE … args=ARG,ARG")
    };
    let (name, rest) = text.split_once(':').ok_or_else(|| no("there is no colon behind its name"))?;
    // Runs are found by it, so it is cleaned once, here.
    let mut v = Variant { name: without_secrets(name.trim()).into_owned(), ..Variant::default() };
    if v.name.is_empty() {
        return Err(no("it has no name"));
    }
    for word in rest.split_whitespace() {
        match word.split_once('=') {
            Some(("args", list)) => v.args.extend(list.split(',').map(str::to_owned)),
            Some((key, value)) if key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !key.is_empty() => {
                v.env.push((key.to_owned(), value.to_owned()));
            }
            _ => return Err(no("a part of it is neither VAR=VALUE nor args=…")),
        }
    }
    Ok(v)
}

/// What the output cannot say of itself.
fn complete(mut run: Run, output: &RawOutput, measured: &Measured) -> Run {
    for (key, value) in output.params() {
        run.params.insert(key.into(), value);
    }
    run.began = Some(output.began);
    let node = |name: &str| measured.hosts.iter().find(|h| h.name == name).map_or(name, |h| h.node.as_str()).to_owned();
    if run.hosts.is_empty() {
        run.host(&node(&output.host));
        if let Some(server) = &output.server {
            run.host(&node(server));
        }
    }
    run.notes.extend(output.notes.iter().map(|n| linerate_bench::Note { what: n.clone(), line: None }));
    remove_secrets(&mut run);
    run
}

/// Files that were asked for.
struct Kept {
    snapshots: Vec<(String, Option<PathBuf>)>,
}

impl Kept {
    fn new(a: &RunArgs, measured: &Measured) -> Result<Kept, Failure> {
        let mut kept = Kept { snapshots: Vec::new() };
        let Some(dir) = &a.keep else { return Ok(kept) };
        let writing = |path: &Path, e: io::Error| Failure::writing(path, &e);
        std::fs::create_dir_all(dir).map_err(|e| writing(dir, e))?;
        for (n, host) in measured.hosts.iter().enumerate() {
            let path = match &host.snapshot {
                Ok(s) => {
                    let path = dir.join(format!("host{n}.tar.zst"));
                    s.save(&path).map_err(|e| writing(&path, e))?;
                    Some(path)
                }
                Err(_) => None,
            };
            kept.snapshots.push((host.name.clone(), path));
        }
        for o in &measured.outputs {
            // Names of tests are ours; a setting's name is the user's, so it is not in a path.
            let name = format!("{:03}-{}{}.txt", o.order, o.test, if o.warmup { "-warmup" } else { "" });
            let path = dir.join(name);
            file::write(&path, Access::Private, &o.text()).map_err(|e| writing(&path, e))?;
        }
        Ok(kept)
    }
}

fn keep(a: &RunArgs, measured: &Measured, runs: &[(usize, Run, String)], kept: &Kept) -> Result<(), Failure> {
    let mut opened = store::open_to_write(a.answer.store.store.as_deref())?;
    let file = |name: &str| kept.snapshots.iter().find(|(n, _)| n == name).and_then(|(_, p)| p.as_deref());
    let references: Vec<SnapshotRef> = measured
        .hosts
        .iter()
        .filter_map(|h| {
            let s = h.snapshot.as_ref().ok()?;
            let digest =
                file(&h.name).and_then(|p| std::fs::read(p).ok()).map_or_else(String::new, |b| load::digest(&b));
            Some(SnapshotRef { taken: Some(store::now()), ..store::reference(s, file(&h.name), digest) })
        })
        .collect();
    let labels: Vec<&str> = a.label.iter().map(String::as_str).collect();
    let session = format!("{:.0}-{}", store::now(), std::process::id());
    let mut list = Vec::new();
    for (ordinal, (n, run, digest)) in runs.iter().enumerate() {
        let Some(output) = measured.outputs.get(*n) else { continue };
        let place =
            Place { session: &session, side: Some(&output.variant), position: Some(output.order.saturating_sub(1)) };
        let text = TextRef { digest, ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX) };
        list.push(Imported { run, text: Some(text), snapshots: &references, labels: &labels, place: Some(place) });
    }
    opened.store.add(&list, store::now())?;
    Ok(())
}

/// Progress on standard error, for a person who waits.
struct Screen {
    on: bool,
    what: String,
}

impl Screen {
    fn new(quiet: bool) -> Self {
        Screen { on: !quiet && io::stderr().is_terminal(), what: String::new() }
    }

    fn show(&mut self, event: Event<'_>) {
        let text = match event {
            Event::Asking { host } => format!("asking {host}"),
            Event::Collecting { host } => format!("taking a snapshot of {host}"),
            Event::NoSnapshot { host, why } => {
                self.clear();
                // The host may have said why.
                remark(&format!("no snapshot of {host}: {}", without_secrets(&why.to_string())));
                return;
            }
            Event::Started { step, number, of, plan } => {
                let test = plan.tests.get(step.test).map_or("", |t| t.test.name);
                self.what = format!("{number} of {of}: {test}{}", if step.warmup { ", to warm up" } else { "" });
                self.what.clone()
            }
            Event::Progress { left, moved, .. } => {
                let moved = moved.map_or_else(String::new, |b| format!(", {:.1} GB moved", b as f64 / 1e9));
                format!("{}, {} s left{moved}", self.what, left.as_secs())
            }
            Event::PortTaken { host, port } => format!("port {port} of {host} is taken: trying another"),
            Event::Failed(f) => format!("failed: {}", f.why),
            Event::GaveUp { left_out, .. } => format!("gave up: {left_out} runs are left out"),
            Event::Line { .. } | Event::Finished(_) => return,
        };
        if self.on {
            let _ = write!(io::stderr(), "\r\x1b[K{}", linerate_out::terminal(&text));
        }
    }

    fn clear(&self) {
        if self.on {
            progress::clear();
        }
    }
}
