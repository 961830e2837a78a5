//! `linerate doctor`.

use super::doctor_feed::{Feed, Remark, Taken};
use super::doctor_walk::{self, Found};
use crate::args::{DoctorArgs, DoctorFormat};
use crate::output::{Failure, Sink, width};
use crate::progress::Line;
use crate::sources;
use linerate_doctor::answer::{Input, Undecided};
use linerate_doctor::{Answer, NodeGiven};
use linerate_formats::bounds::DOCTOR_NODES;
use linerate_report::Style;
use linerate_report::doctor::{json, markdown, text};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::Purpose;
use std::path::{Path, PathBuf};

pub(crate) fn run(a: &DoctorArgs) -> Result<u8, Failure> {
    let dashes = a.inputs.iter().chain(&a.nodes).filter(|p| is_standard(p)).count();
    if dashes > 1 {
        return Err(Failure::new("standard input can be read once only").hint("name `-` once"));
    }
    // What is named and is not there is a mistake to be reported before gigabytes are read.
    for p in a.inputs.iter().chain(&a.nodes).filter(|p| !is_standard(p)) {
        std::fs::metadata(p).map_err(|e| Failure::new(format!("cannot read {}: {e}", p.display())))?;
    }
    let walk = doctor_walk::walk(&a.inputs);
    let line = Line::new(!a.quiet);
    let mut nodes = given(&a.nodes, &line)?;
    let mut feed = Feed::new(&line, &walk.found);
    for found in &walk.found {
        match found {
            Found::Tree { path, name } => feed.tree(path, name),
            Found::Stream(s) => feed.stream(s),
        }
    }
    let fed = feed.finish();
    drop(line);
    nodes.extend(fed.nodes);
    let (mut limits, mut unread) = (walk.remarks, walk.unread);
    if nodes.len() > DOCTOR_NODES {
        let why = format!("only the first {DOCTOR_NODES} nodes were looked at (limit DOCTOR_NODES)");
        limits.push(why.clone());
        unread.push(why);
        nodes.truncate(DOCTOR_NODES);
    }
    for (name, s) in nodes.iter().filter(|(_, s)| s.incomplete) {
        unread.extend(s.problems.iter().map(|p| format!("{name}: {p}")));
    }
    unread.extend(fed.remarks.iter().filter(|r| r.unread).map(|r| format!("{}: {}", r.name, r.text)));
    let given: Vec<NodeGiven<'_>> =
        nodes.iter().map(|(name, snapshot)| NodeGiven { name: name.clone(), snapshot }).collect();
    let mut answer = linerate_doctor::conclude(&fed.observer, &given);
    answer.limits.extend(limits);
    for t in fed.taken {
        take(&mut answer, t);
    }
    for p in &a.nodes {
        take(&mut answer, Taken { name: p.display().to_string(), kind: "snapshot".into(), bytes: 0 });
    }
    remark(&mut answer, fed.remarks);
    answer.undecided.extend(incomplete(unread));
    let mut sink = Sink::open(a.output.as_deref())?;
    let style = Style { colour: sink.colour(a.color), width: width(), verbose: a.verbose };
    match a.format {
        DoctorFormat::Text => text::render(&answer, style, &mut sink)?,
        DoctorFormat::Json => json::render(&answer, &mut sink)?,
        DoctorFormat::Markdown => markdown::render(&answer, &mut sink)?,
    }
    sink.finish()?;
    Ok(answer.exit_code())
}

pub(super) fn is_standard(p: &Path) -> bool {
    p == Path::new("-")
}

/// The nodes that were named as such: one that cannot be read is an error, not a remark.
fn given(paths: &[PathBuf], line: &Line) -> Result<Vec<(String, Snapshot)>, Failure> {
    let many = paths.iter().flat_map(|p| sources::fleet(std::slice::from_ref(p)).unwrap_or_else(|| vec![p.clone()]));
    let mut out = Vec::new();
    for p in many.take(DOCTOR_NODES + 1) {
        let snapshot = linerate_snapshot::load(&p, &crate::budget::options(&p, Purpose::Audit), &|s| line.capture(s));
        let name = if p == Path::new("/") { "this machine".to_owned() } else { p.display().to_string() };
        out.push((name, snapshot.map_err(Failure::new)?));
    }
    Ok(out)
}

/// Says what an input was taken for beside what the observer found in it.
fn take(answer: &mut Answer, t: Taken) {
    match answer.inputs.iter_mut().find(|i| i.name == t.name) {
        Some(i) if i.nccl_lines == 0 && (i.kind.is_empty() || i.kind == "nothing known") => i.kind = t.kind,
        Some(i) if !i.kind.contains(&t.kind) => i.kind = format!("{} and {}", i.kind, t.kind),
        Some(_) => {}
        None => answer.inputs.push(Input { name: t.name, kind: t.kind, bytes: t.bytes, ..Input::default() }),
    }
}

/// Inputs of which part was not read: what is not in the answer may be there.
fn incomplete(mut unread: Vec<String>) -> Option<Undecided> {
    const SHOWN: usize = 8;
    let n = unread.len();
    if n == 0 {
        return None;
    }
    unread.truncate(SHOWN);
    if n > SHOWN {
        unread.push(format!("and {} more, listed among the inputs", n - SHOWN));
    }
    Some(Undecided {
        symptom: "",
        summary: "part of the input was not read: what is wrong may be in it".to_owned(),
        evidence: Vec::new(),
        candidates: Vec::new(),
        read: unread,
    })
}

/// What was noticed while reading, with the input that it is about.
fn remark(answer: &mut Answer, remarks: Vec<Remark>) {
    for Remark { name, text, .. } in remarks {
        let at = answer.inputs.iter().position(|i| i.name == name);
        match at.and_then(|i| answer.inputs.get_mut(i)) {
            Some(input) => input.remarks.push(text),
            None => answer.inputs.push(Input { name, remarks: vec![text], ..Input::default() }),
        }
    }
}
