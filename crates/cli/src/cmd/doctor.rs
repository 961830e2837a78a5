//! `linerate doctor`.

use super::doctor_feed::Feed;
use super::doctor_walk::{self, Found};
use crate::args::{DoctorArgs, DoctorFormat};
use crate::live;
use crate::output::Failure;
use crate::progress::Line;
use crate::sources;
use linerate_formats::bounds::DOCTOR_NODES;
use linerate_report::doctor::{json, markdown, text};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::Purpose;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

pub(crate) fn run(a: &DoctorArgs) -> Result<u8, Failure> {
    let piped = [PathBuf::from("-")];
    let inputs = match a.inputs.as_slice() {
        [] if a.nodes.is_empty() && a.on.read.on.is_none() => {
            if std::io::stdin().is_terminal() {
                return Err(Failure::new("there is nothing to read")
                    .hint("name files, or pipe a log: `journalctl -k | linerate doctor`; --node reads a node"));
            }
            piped.as_slice()
        }
        some => some,
    };
    let dashes = inputs.iter().chain(&a.nodes).filter(|p| is_standard(p)).count();
    if dashes > 1 {
        return Err(Failure::new("standard input can be read once only").hint("name `-` once"));
    }
    // What is named and is not there is a mistake to be reported before gigabytes are read.
    for p in inputs.iter().chain(&a.nodes).filter(|p| !is_standard(p)) {
        std::fs::metadata(p).map_err(|e| Failure::new(format!("cannot read {}: {e}", p.display())))?;
    }
    let walk = doctor_walk::walk(inputs);
    let line = Line::new(!a.quiet);
    let nodes = given(&a.nodes, &line)?;
    let live = live::many(&a.on, true)?;
    let mut feed = Feed::new(&line, &walk.found);
    feed.inputs.given(a.nodes.iter().map(|p| p.display().to_string()).collect(), nodes);
    if let Some(l) = a.link {
        feed.inputs.links(l);
    }
    if let Some(live) = &live {
        let mut read = Vec::new();
        for member in live.members.iter().take(DOCTOR_NODES + 1) {
            read.push((member.label.clone(), live::load(member)?));
        }
        feed.inputs.given(live.members.iter().map(|m| m.label.clone()).collect(), read);
        live.unread.iter().for_each(|u| feed.inputs.unread(&u.name, u.why.clone()));
    }
    for found in &walk.found {
        match found {
            Found::Tree { path, name } => feed.tree(path, name),
            Found::Stream(s) => feed.stream(s),
        }
    }
    let inputs = feed.inputs;
    drop(line);
    let answer = inputs.conclude(walk.remarks, walk.unread);
    let mut sink = a.out.sink()?;
    let style = a.out.style(&sink);
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
    let each = |p: &PathBuf| match sources::fleet(std::slice::from_ref(p)) {
        Some(members) => members.into_iter().map(|m| m.path).collect(),
        None => vec![p.clone()],
    };
    let many = paths.iter().flat_map(each);
    let mut out = Vec::new();
    for p in many.take(DOCTOR_NODES + 1) {
        let snapshot = linerate_snapshot::load(&p, &crate::budget::options(&p, Purpose::Audit), &|s| line.capture(s));
        let name = if p == Path::new("/") { "this machine".to_owned() } else { p.display().to_string() };
        out.push((name, snapshot?));
    }
    Ok(out)
}
