//! `linerate bench compare`.

use super::load::{self, Loaded};
use crate::bench_args::{BenchFormat, CompareArgs, LinkArgs};
use crate::output::{Failure, Sink};
use crate::progress::Line;
use linerate_bench::ceiling::Known;
use linerate_bench::columns::columns;
use linerate_bench::compare::{Comparisons, Input, Options, Verdict, compare};
use linerate_bench::facts::Facts;
use linerate_bench::{Run, template};
use linerate_node::Node;
use linerate_out::file::Access;
use linerate_report::Style;
use linerate_report::bench::plot::{Screen, plot_text, sweeps_of};
use linerate_report::bench::{comparison_json, comparison_markdown, comparison_text};
use linerate_snapshot::Snapshot;
use smol_str::SmolStr;
use std::io::Write;
use std::path::PathBuf;

/// Worse somewhere.
const EXIT_WORSE: u8 = 1;
/// Not decided.
const EXIT_INCONCLUSIVE: u8 = 2;

pub(super) fn run(a: &CompareArgs) -> Result<u8, Failure> {
    let line = Line::new(true);
    let history = a.answer.store.store.as_deref();
    let names = |first: &'_ str, more: &'_ [String]| -> Vec<String> {
        std::iter::once(first.to_owned()).chain(more.iter().cloned()).collect()
    };
    let read = |names: &[String]| -> Result<Loaded, Failure> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        load::side(&names, history, &line)
    };
    let names_a = names(&a.a, &a.more_a);
    let loaded_a = read(&names_a)?;
    if a.template {
        let runs: Vec<Run> = loaded_a.into_runs();
        let mut sink = Sink::open_for(a.answer.out.output.as_deref(), Access::Umask)?;
        sink.write_all(template::template(&runs).as_bytes())?;
        sink.finish()?;
        return Ok(0);
    }
    let (names_a, loaded_a, names_b, loaded_b) = match &a.b {
        Some(b) => {
            let names_b = names(b, &a.more_b);
            let loaded_b = read(&names_b)?;
            (names_a, loaded_a, names_b, loaded_b)
        }
        None => {
            let [(first, loaded_a), (second, loaded_b)] = two_columns(a, loaded_a)?;
            let with = |column: String| names_a.iter().cloned().chain([column]).collect::<Vec<_>>();
            (with(first), loaded_a, with(second), loaded_b)
        }
    };
    let side_a = Side::new(names_a, loaded_a, &a.nodes_a, &a.node_a, &a.links, &line)?;
    let side_b = Side::new(names_b, loaded_b, &a.nodes_b, &a.node_b, &a.links, &line)?;
    drop(line);
    let options =
        Options { threshold: a.threshold, metrics: a.metric.clone(), resamples: a.bootstrap, ..Options::default() };
    let answer = compare(&side_a.input(), &side_b.input(), &options);
    let (mut sink, style) = super::open(&a.answer.out)?;
    match a.answer.format {
        BenchFormat::Json => comparison_json(&answer, &mut sink)?,
        BenchFormat::Markdown => comparison_markdown(&answer, &mut sink)?,
        BenchFormat::Html => {
            return Err(Failure::new("a comparison is shown as text, JSON or Markdown")
                .hint("`linerate bench plot A B --format svg` draws it"));
        }
        BenchFormat::Text => {
            refused(&[&side_a, &side_b], &mut sink)?;
            comparison_text(&answer, style, &mut sink)?;
            if a.plot {
                plots(&answer, style, &mut sink)?;
            }
        }
    }
    sink.finish()?;
    Ok(exit(&answer))
}

/// Columns of side A as two sides, each with the column's name. What is said of the files is said once.
fn two_columns(a: &CompareArgs, mut loaded: Loaded) -> Result<[(String, Loaded); 2], Failure> {
    let facts = loaded.facts.clone();
    let refused = std::mem::take(&mut loaded.refused);
    let runs: Vec<Run> = loaded.into_runs();
    let names = a.columns.as_ref().map(|(x, y)| (x.as_str(), y.as_str()));
    let sides = columns(&runs, names).map_err(|e| Failure::new(e.to_string()))?;
    let [one, other] = sides.map(|side| {
        let texts = vec![load::Text { digest: String::new(), runs: side.runs }];
        (side.name, Loaded { texts, facts: facts.clone(), ..Loaded::default() })
    });
    Ok([(one.0, Loaded { refused, ..one.1 }), other])
}

/// Two sides as a comparison shows them, below another command's answer.
pub(crate) fn beside(before: &[String], after: &[String], sink: &mut Sink) -> Result<(), Failure> {
    let line = Line::new(true);
    let side = |names: &[String]| -> Result<Side, Failure> {
        let read = load::side(&names.iter().map(String::as_str).collect::<Vec<_>>(), None, &line)?;
        Side::new(names.to_vec(), read, &[], &[], &LinkArgs { link: None, nodes: None, gpus: None }, &line)
    };
    let (a, b) = (side(before)?, side(after)?);
    drop(line);
    let answer = compare(&a.input(), &b.input(), &Options::default());
    let style = Style { colour: false, width: crate::output::width(), verbose: false };
    writeln!(sink, "\nBenchmarks, before (A) and after (B):\n")?;
    refused(&[&a, &b], sink)?;
    Ok(comparison_text(&answer, style, sink)?)
}

fn exit(answer: &Comparisons) -> u8 {
    let has = |v: Verdict| answer.comparisons.iter().any(|c| c.verdict == v);
    match () {
        () if has(Verdict::Worse) => EXIT_WORSE,
        () if has(Verdict::Inconclusive) || answer.comparisons.is_empty() => EXIT_INCONCLUSIVE,
        () => 0,
    }
}

/// What could not be read is said before anything is concluded from the rest.
fn refused(sides: &[&Side; 2], sink: &mut Sink) -> Result<(), Failure> {
    for side in sides {
        for r in side.refused.iter().take(8) {
            let line = if r.line > 0 { format!(":{}", r.line) } else { String::new() };
            let source = linerate_out::terminal(&r.source).into_owned();
            writeln!(sink, "not used: {source}{line}: {}", linerate_out::terminal(&r.why))?;
        }
        if side.refused.len() > 8 {
            writeln!(sink, "not used: {} more; `linerate bench import --no-store` lists them", side.refused.len() - 8)?;
        }
    }
    Ok(())
}

fn plots(answer: &Comparisons, style: Style, sink: &mut Sink) -> Result<(), Failure> {
    let screen = Screen { width: style.width, colour: style.colour, ..Screen::default() };
    for plot in sweeps_of(answer) {
        writeln!(sink)?;
        plot_text(&plot, screen, sink)?;
    }
    Ok(())
}

/// A side, complete.
pub(super) struct Side {
    name: String,
    pub(super) runs: Vec<Run>,
    refused: Vec<linerate_bench::import::Refused>,
    hosts: Vec<SmolStr>,
    facts: Vec<Facts>,
    pub(super) known: Known,
}

impl Side {
    pub(super) fn new(
        names: Vec<String>,
        mut loaded: Loaded,
        hosts: &[String],
        nodes: &[PathBuf],
        links: &LinkArgs,
        line: &Line,
    ) -> Result<Side, Failure> {
        let mut snapshots: Vec<Snapshot> = std::mem::take(&mut loaded.snapshots);
        for path in nodes {
            snapshots.push(load::snapshot(path, line)?);
        }
        let mut facts: Vec<Facts> = snapshots.iter().map(Facts::of).collect();
        facts.append(&mut loaded.facts);
        let of_node = snapshots.first().map(|s| Known::of_node(&Node::decode(s)));
        let known = of_node.unwrap_or_default().links(links.link).shape(links.nodes, links.gpus);
        Ok(Side {
            name: names.join(" "),
            refused: std::mem::take(&mut loaded.refused),
            runs: loaded.into_runs(),
            hosts: hosts.iter().map(|h| SmolStr::from(h.trim())).filter(|h| !h.is_empty()).collect(),
            facts,
            known,
        })
    }

    pub(super) fn input(&self) -> Input<'_> {
        Input { name: &self.name, runs: &self.runs, hosts: &self.hosts, facts: &self.facts, known: Some(&self.known) }
    }
}
