//! `linerate where`.

use crate::chosen::NodesArg;
use crate::index_args::{WhereArgs, WhereFormat};
use crate::output::{Failure, remark};
use linerate_fleet::condition::{Condition, NotACondition};
use linerate_fleet::names;
use linerate_gather::index::{Index, Question, When};
use linerate_report::located::{Format, Found, Located, Shown};

pub(crate) fn run(a: &WhereArgs) -> Result<u8, Failure> {
    let texts: Vec<&String> = std::iter::once(&a.condition).chain(&a.and).collect();
    let conditions = texts.iter().map(|t| condition(t)).collect::<Result<Vec<_>, _>>()?;
    let chosen = NodesArg { nodes: a.nodes.clone() }.read()?;
    let index = Index::open(&a.dir)?;
    if a.dir.is_dir() {
        let stale = index.stale(&a.dir)?;
        if stale.new + stale.gone > 0 {
            let (new, gone) = (stale.new, stale.gone);
            let hint = format!("`linerate fleet index {}`", a.dir.display());
            remark(&format!(
                "the index is out of date: {new} snapshots are not in it, {gone} in it no longer exist; {hint} updates it"
            ));
        }
    }
    if !index.is_current() {
        remark(
            "the index was made by another version of linerate: facts and rules that only one of the two has are missing",
        );
    }
    let when = match a.at {
        Some(time) => When::At(time),
        None if a.all_times => When::All,
        None => When::Newest,
    };
    let answer =
        index.ask(&Question { conditions: &conditions, subject: a.subject.as_deref(), when, nodes: chosen.set() })?;
    if chosen.set().is_some() {
        index.labels()?.iter().for_each(|l| _ = chosen.takes(l));
    }
    let missing = chosen.missing()?;
    if !missing.is_empty() {
        let names = names::folded(missing.iter().map(String::as_str));
        remark(&format!("--nodes: the index has no node of these names: {names}"));
    }
    let label = |n: &usize| answer.yes.get(*n).map_or("", |n| n.label.as_str());
    let shown = answer.reasons.iter().map(|(reason, nodes)| Shown {
        id: reason.id,
        subject: reason.subject.trim_start_matches('=').to_owned(),
        part: reason.part.clone(),
        value: reason.value.clone(),
        count: nodes.len(),
        nodes: names::folded(nodes.iter().map(label)),
    });
    let shown = shown.collect();
    // Of a node that is not there nothing can be told, either.
    let blind = answer.cannot_tell.iter().map(|n| n.label.as_str()).chain(missing.iter().map(String::as_str));
    let blind: Vec<&str> = blind.collect();
    let found = answer.yes.iter().map(|n| Found {
        label: n.label.clone(),
        node: n.node.clone(),
        time: n.time,
        snapshot: n.snapshot.clone(),
    });
    let asked = (texts.into_iter().cloned().collect(), a.subject.clone());
    let mut report = Located::of(asked, found.collect(), &blind, answer.no, shown);
    report.remarks = linerate_report::identity::words(&answer.remarks);
    let mut sink = a.out.sink()?;
    let format = match a.format {
        WhereFormat::Set => Format::Set,
        WhereFormat::Lines => Format::Lines,
        WhereFormat::Text => Format::Text(a.out.style(&sink)),
        WhereFormat::Json => Format::Json,
    };
    report.write(format, &mut sink)?;
    sink.finish()?;
    if report.cannot_tell_count > 0 && a.format != WhereFormat::Text {
        let count = report.cannot_tell_count;
        remark(&format!("unknown on {count} nodes: {}", report.cannot_tell));
    }
    if matches!(a.format, WhereFormat::Set | WhereFormat::Lines) {
        report.remarks.iter().for_each(|r| remark(r));
    }
    Ok(report.exit_code)
}

fn condition(text: &str) -> Result<Condition, Failure> {
    Condition::parse(text).map_err(|e| {
        let failure = Failure::new(&e);
        match e {
            NotACondition::Unknown { .. } => failure.hint("`linerate rules` lists the rules, docs/facts.md the facts"),
            NotACondition::NotKept { .. } => failure.hint("ask for a rule that judges it: `linerate rules`"),
            _ => failure,
        }
    })
}
