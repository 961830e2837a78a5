//! `linerate audit` over many snapshots: each as it comes, then what fails where. Memory does not grow with their number.

use crate::args::{AuditArgs, Format};
use crate::claims::Claims;
use crate::live::Unread;
use crate::output::{Failure, Sink, remark};
use crate::progress::Line;
use crate::sightings::{self, Seen};
use crate::sources::Member;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_report::fleet::{self, Fleet};
use linerate_rules::Rule;
use linerate_snapshot::Snapshot;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// `unread`: nodes of which there is no snapshot; `named`: what the user named.
pub(crate) fn run(
    a: &AuditArgs,
    rules: &[&'static Rule],
    (named, members): (&[PathBuf], &[Member]),
    unread: &[Unread],
    claims: &Claims,
) -> Result<u8, Failure> {
    if a.schema.is_some() {
        return Err(Failure::new("the lines of many snapshots hold no facts, and have one version")
            .hint("leave out --schema, or name one snapshot"));
    }
    let mut sink = Sink::open(a.output.as_deref())?;
    let format = match a.format {
        Format::Text => fleet::Format::Text(sink.style(a.color, a.verbose)),
        Format::Json => fleet::Format::JsonLines,
        Format::Sarif => fleet::Format::Sarif,
        Format::Junit => fleet::Format::Junit,
        Format::Markdown => fleet::Format::Markdown,
    };
    let role = a.role.map(Role::from);
    let paths: Vec<PathBuf> = members.iter().map(|m| m.path.clone()).collect();
    let labels: HashMap<&Path, &str> = members.iter().map(|m| (m.path.as_path(), m.label.as_str())).collect();
    let label = |path: &Path| labels.get(path).copied().unwrap_or_default();
    let mut summary = Fleet::new(format, rules);
    let looker = summary.looker();
    let progress = Line::new(a.output.is_some());
    let look = |path: &Path, snapshot: &Snapshot| {
        let seen = Seen::of(path, label(path), snapshot);
        (looker.look(label(path), &Node::decode_as(snapshot, role), snapshot), seen)
    };
    let mut all: Vec<Seen> = Vec::new();
    let before = |path: &Path, snapshot: &mut Snapshot| claims.join(snapshot, label(path));
    crate::many::each(&paths, (true, &before, &progress), look, |path, looked| {
        match looked {
            Ok((looked, seen)) => {
                all.push(seen);
                summary.node(label(path), looked, &mut sink)?;
            }
            Err(e) => {
                all.push(Seen::unread(path, label(path)));
                summary.unreadable(label(path), &e.to_string(), &mut sink)?;
            }
        }
        Ok(())
    })?;
    drop(progress);
    claims.finish();
    for Unread { name, why, .. } in unread {
        summary.unreadable(name, why, &mut sink)?;
    }
    let remarks = sightings::remarks(named, all)?;
    summary.remark(&remarks);
    if matches!(a.format, Format::Sarif | Format::Junit) {
        linerate_report::identity::words(&remarks).iter().for_each(|r| remark(r));
    }
    summary.finish(&mut sink)?;
    sink.finish()?;
    Ok(summary.exit_code())
}
