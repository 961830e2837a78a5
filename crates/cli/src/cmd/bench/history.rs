//! `linerate bench history`.

use super::history_json;
use super::store::{self, Opened};
use crate::bench_args::{BenchFormat, FilterArgs, HistoryArgs};
use crate::output::{Failure, Sink};
use linerate_bench::{Kind, Unit};
use linerate_out::file::{Access, Replace};
use linerate_report::Style;
use linerate_report::bench::{self as show, HistoryRow, headline, runs_json, runs_text};
use linerate_store::export::Form;
use linerate_store::{Band, Filter, Measured, Outcome, Store, Target, Typical};
use std::io::{self, Write};
use std::path::Path;

/// Runs that are listed when nobody says how many.
const NEWEST: u32 = 30;
/// Parameters without which two runs measured different things.
const SAME: [&str; 8] = ["ranks", "nodes", "dtype", "redop", "streams", "protocol", "bidirectional", "rw"];
/// Parameters that name a run.
const NAMES: [&str; 5] = ["run", "repetition", "order", "reported", "variant"];
/// A run misses a target.
const EXIT_MISSED: u8 = 1;

pub(super) fn run(a: &HistoryArgs) -> Result<u8, Failure> {
    if matches!(a.answer.format, BenchFormat::Markdown | BenchFormat::Html) {
        return Err(
            Failure::new("the history is shown as text or JSON").hint("`linerate bench summary` makes a page of runs")
        );
    }
    let told = a.answer.store.store.as_deref();
    let change = a.target.is_some() || a.remove_target.is_some() || a.delete.is_some();
    let Opened { mut store, path } = if change { store::open_to_write(told)? } else { store::open_to_read(told)? };
    let filter = filter(&a.filter)?;
    if let Some(file) = &a.export {
        return export(&store, &filter, file);
    }
    let (mut sink, style) = super::open(&a.answer.out)?;
    let json = a.answer.format == BenchFormat::Json;
    let code = if let Some(name) = &a.target {
        store.set_target(&target(name, a, &filter)?, store::now())?;
        writeln!(sink, "target {name} is set")?;
        0
    } else if let Some(name) = &a.remove_target {
        if !store.remove_target(name)? {
            return Err(Failure::new(format!("there is no target `{name}`")));
        }
        writeln!(sink, "target {name} is removed")?;
        0
    } else if let Some(run) = &a.delete {
        let id = store.find(run)?;
        store.delete(id)?;
        writeln!(sink, "run {id} is deleted")?;
        0
    } else if a.verify {
        verify(&store, &path, &mut sink)?
    } else if a.targets {
        targets(&store, json, &mut sink)?;
        0
    } else if let Some(run) = &a.show {
        let run = store.load(store.find(run)?)?;
        if json {
            runs_json(&[run], &[], &mut sink)?
        } else {
            runs_text(&[run], &[], style, &mut sink)?
        }
        0
    } else if let Some(run) = &a.check {
        check(&store, run, &filter, json, style, &mut sink)?
    } else if a.band {
        bands(&store, &filter, json, style, &mut sink)?;
        0
    } else if a.best {
        best(&store, &filter, json, &mut sink)?;
        0
    } else {
        list(&store, filter, json, style, &mut sink)?;
        0
    };
    sink.finish()?;
    Ok(code)
}

fn filter(a: &FilterArgs) -> Result<Filter, Failure> {
    let kind = match &a.kind {
        None => None,
        Some(name) => Some(Kind::of_name(name).ok_or_else(|| {
            let all: Vec<&str> = Kind::ALL.into_iter().map(Kind::name).collect();
            Failure::new(format!("there is no kind `{name}`")).hint(format!("kinds are {}", all.join(", ")))
        })?),
    };
    let mut params = Vec::new();
    for p in &a.param {
        let (key, value) = p.split_once('=').ok_or_else(|| Failure::new(format!("{p}: a parameter is KEY=VALUE")))?;
        params.push((key.to_owned(), value.to_owned()));
    }
    Ok(Filter {
        kind,
        tool: a.tool.clone(),
        metric: a.metric.clone(),
        size: a.size,
        host: a.host.clone(),
        labels: a.label.clone(),
        params,
        since: a.since.map(|s| store::now() - s as f64),
        limit: a.limit,
        ..Filter::default()
    })
}

fn list(store: &Store, mut filter: Filter, json: bool, style: Style, sink: &mut Sink) -> Result<(), Failure> {
    let asked = filter.limit;
    filter.limit = asked.or(Some(if json { u32::MAX } else { NEWEST }));
    let runs = store.list(&filter)?;
    if json {
        return Ok(crate::output::json(sink, &history_json::runs(&runs))?);
    }
    let mut rows = Vec::new();
    for r in runs {
        let headline = store.load(r.id).ok().and_then(|run| headline(&run));
        rows.push(HistoryRow {
            id: r.id.to_string(),
            kind: r.kind.to_string(),
            tool: r.tool.or_else(|| Some(r.kind.to_string())),
            when: Some(r.began.unwrap_or(r.stored)),
            hosts: r.hosts,
            label: Some(r.labels.join(", ")).filter(|l| !l.is_empty()),
            headline,
            valid: r.valid,
        });
    }
    show::history_text(&rows, style, sink)?;
    let all = store.stats()?;
    if all.runs > rows.len() as u64 && asked.is_none() {
        writeln!(sink, "{} of {} runs; --limit shows more", rows.len(), all.runs)?;
    }
    Ok(())
}

fn bands(store: &Store, filter: &Filter, json: bool, style: Style, sink: &mut Sink) -> Result<(), Failure> {
    let bands = store.bands(filter, Typical::Mean)?;
    if json {
        return Ok(crate::output::json(sink, &history_json::bands(&bands))?);
    }
    let rows: Vec<show::Band> = bands.iter().map(|b| band_row(b, None)).collect();
    show::bands_text(&rows, style, sink)?;
    for (key, values) in store.mixed(filter, &NAMES)? {
        writeln!(sink, "mixed: the runs differ in {key} ({}); choose with --param {key}=…", values.join(", "))?;
    }
    Ok(())
}

fn band_row(b: &Band, latest: Option<f64>) -> show::Band {
    show::Band {
        what: name(&b.of, b.size),
        unit: b.of.metric.unit.clone(),
        better: b.of.metric.better,
        low: b.min(),
        median: b.median(),
        high: b.max(),
        runs: b.n(),
        target: None,
        latest,
    }
}

/// ` at 8 GiB`.
fn at(size: Option<u64>) -> String {
    size.map_or_else(String::new, |s| format!(" at {}", linerate_formats::units::Bytes(s)))
}

/// `all_reduce_perf busbw at 8 GiB, place out-of-place`.
fn name(of: &Measured, size: Option<u64>) -> String {
    let mut text = format!("{} {}{}", of.tool.as_deref().unwrap_or(of.kind.name()), of.metric, at(size));
    for l in of.labels.iter().filter(|l| !l.is_member()) {
        text.push_str(&format!(", {} {}", l.key, l.value));
    }
    text
}

fn best(store: &Store, filter: &Filter, json: bool, sink: &mut Sink) -> Result<(), Failure> {
    let best = store.best(filter, Typical::Mean, 3)?;
    if json {
        return Ok(crate::output::json(sink, &history_json::best(&best))?);
    }
    for b in &best {
        let size = at(b.size);
        let tool = b.of.tool.as_deref().unwrap_or(b.of.kind.name());
        let runs: Vec<String> = b.runs.iter().map(|(v, id)| format!("{v:.4} {} ({id})", b.of.metric.unit)).collect();
        writeln!(sink, "{tool} {}{size}: {}", b.of.metric, runs.join(", "))?;
    }
    Ok(())
}

fn targets(store: &Store, json: bool, sink: &mut Sink) -> Result<(), Failure> {
    let all = store.targets()?;
    if json {
        return Ok(crate::output::json(sink, &history_json::targets(&all))?);
    }
    for t in &all {
        writeln!(sink, "{}: {} {} ({})", t.name, t.metric, range(t), t.source)?;
    }
    Ok(())
}

/// A target in words.
fn range(t: &Target) -> String {
    match (t.low, t.high) {
        (Some(l), Some(h)) => format!("{l} to {h} {}", t.unit),
        (Some(l), None) => format!("at least {l} {}", t.unit),
        (None, Some(h)) => format!("at most {h} {}", t.unit),
        (None, None) => "anything".to_owned(),
    }
}

fn check(store: &Store, run: &str, filter: &Filter, json: bool, style: Style, sink: &mut Sink) -> Result<u8, Failure> {
    let run = store.load(store.find(run)?)?;
    let checks = store.check(&run)?;
    let standing = store.standing(&run, filter, &SAME, Typical::Mean)?;
    let missed = checks.iter().any(|c| matches!(c.outcome, Some(Outcome::Below | Outcome::Above)));
    if json {
        crate::output::json(sink, &history_json::check(run.id(), &checks, &standing))?;
    } else {
        for c in &checks {
            let value = c.value.map_or_else(|| "not measured".to_owned(), |v| format!("{v:.4} {}", c.target.unit));
            let word = match c.outcome {
                Some(Outcome::Within) => "reached",
                Some(Outcome::Below) => "below",
                Some(Outcome::Above) => "above",
                None => "open",
            };
            let size = at(c.size);
            writeln!(
                sink,
                "target {}{size}: {value}, {word} ({}; {})",
                c.target.name,
                range(&c.target),
                c.target.source
            )?;
        }
        let rows: Vec<show::Band> =
            standing.iter().filter_map(|s| Some(band_row(s.band.as_ref()?, Some(s.value)))).collect();
        show::bands_text(&rows, style, sink)?;
        let first = standing.iter().filter(|s| s.band.is_none()).count();
        if first > 0 {
            writeln!(
                sink,
                "{first} measurements of it are the first of their kind: there are no earlier runs to compare with"
            )?;
        }
    }
    Ok(if missed { EXIT_MISSED } else { 0 })
}

fn verify(store: &Store, path: &Path, sink: &mut Sink) -> Result<u8, Failure> {
    let wrong = store.verify()?;
    for w in &wrong {
        writeln!(sink, "{w}")?;
    }
    if wrong.is_empty() {
        let s = store.stats()?;
        writeln!(sink, "{}: {} runs, {} values, nothing is damaged", path.display(), s.runs, s.points)?;
    }
    Ok(u8::from(!wrong.is_empty()))
}

fn export(store: &Store, filter: &Filter, file: &Path) -> Result<u8, Failure> {
    let name = file.to_string_lossy();
    let form = Form::of_name(&name)
        .ok_or_else(|| Failure::new(format!("{name}: unknown file type")).hint(".csv, .json, .jsonl or .parquet"))?;
    let failed = |e: io::Error| Failure::writing(file, &e);
    let mut out = Replace::begin(file, Access::Umask).map_err(failed)?;
    let done = store.export(form, filter, &mut out)?;
    out.keep().map_err(failed)?;
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{name}: {} runs, {} samples", done.runs, done.samples);
    Ok(0)
}

fn target(name: &str, a: &HistoryArgs, filter: &Filter) -> Result<Target, Failure> {
    let metric = filter.metric.clone().ok_or_else(|| Failure::new("a target is of a metric: --metric busbw"))?;
    let read = |text: &Option<String>| text.as_deref().map(quantity).transpose();
    let (low, high) = (read(&a.low)?, read(&a.high)?);
    let unit = low.as_ref().or(high.as_ref()).map(|(_, u)| u.clone());
    let unit = unit.ok_or_else(|| Failure::new("a target needs --low or --high, such as --low 194GB/s"))?;
    let within = |v: &(f64, Unit)| {
        v.1.convert(v.0, &unit).ok_or_else(|| Failure::new("both ends of a target measure the same thing"))
    };
    Ok(Target {
        name: name.to_owned(),
        kind: filter.kind,
        tool: filter.tool.clone(),
        metric,
        stat: None,
        labels: Vec::new(),
        size: filter.size,
        params: filter.params.clone(),
        low: low.as_ref().map(within).transpose()?,
        high: high.as_ref().map(within).transpose()?,
        unit: unit.clone(),
        source: a.source.clone().unwrap_or_else(|| "unknown".to_owned()),
    })
}

/// A number with its unit.
fn quantity(text: &str) -> Result<(f64, Unit), Failure> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let value: f64 =
        number.parse().map_err(|_| Failure::new(format!("{text}: a number and its unit, such as 194GB/s")))?;
    let unit = unit.trim().replace('µ', "u");
    if unit.is_empty() {
        return Err(Failure::new(format!("{text}: a value has a unit"))
            .hint("Gb/s, GB/s, MiB/s, us, s, IO/s, tokens/s, %, GiB"));
    }
    Ok((value, Unit::of_name(&unit)))
}
