//! `linerate audit` over many snapshots: each as it comes, then what fails where. Memory does not grow with their number.

use crate::args::{AuditArgs, Format};
use crate::chosen::{Chosen, NO_SOURCE};
use crate::claims::Claims;
use crate::live::Unread;
use crate::output::{Failure, Sink, remark};
use crate::progress::Line;
use crate::sightings::{self, Seen};
use crate::sources::Member;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_report::fleet::{self, Fleet};
use linerate_rules::{Rule, Terms};
use linerate_snapshot::Snapshot;
use std::path::PathBuf;

/// `unread`: nodes of which there is no snapshot; `named`: what the user named.
pub(crate) fn run(
    a: &AuditArgs,
    (rules, terms): (&[&'static Rule], &Terms),
    (named, members): (&[PathBuf], &[Member]),
    unread: &[Unread],
    (claims, chosen): (&Claims, &Chosen),
) -> Result<u8, Failure> {
    if a.schema.is_some() {
        return Err(Failure::new("the lines of many snapshots hold no facts, and have one version")
            .hint("leave out --schema, or name one snapshot"));
    }
    if a.before.is_some() {
        return Err(Failure::new("--before names an earlier reading of one node, and several are audited")
            .hint("audit each node by itself, or `linerate watch counters --on SET`"));
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
    let mut summary = Fleet::new(format, rules, terms);
    let looker = summary.looker();
    let progress = Line::new(a.output.is_some());
    let look = |m: &Member, label: &str, snapshot: &Snapshot| {
        let seen = Seen::of(&m.path, label, snapshot);
        (looker.look(label, &Node::decode_as(snapshot, role), snapshot), seen)
    };
    let mut all: Vec<Seen> = Vec::new();
    let before = |label: &str, snapshot: &mut Snapshot| claims.join(snapshot, label);
    crate::many::each(members, (true, &before, chosen, &progress), look, |label, looked| {
        match looked {
            Ok((looked, seen)) => {
                all.push(seen);
                summary.node(label, looked, &mut sink)?;
            }
            Err(e) => {
                all.extend(Seen::unread(members, label));
                summary.unreadable(label, &e.to_string(), &mut sink)?;
            }
        }
        Ok(())
    })?;
    drop(progress);
    claims.finish();
    for name in chosen.missing()? {
        summary.unreadable(&name, NO_SOURCE, &mut sink)?;
    }
    for Unread { name, why, .. } in unread {
        summary.unreadable(name, why, &mut sink)?;
    }
    let remarks = sightings::remarks(named, all)?;
    summary.remark(&remarks);
    if matches!(a.format, Format::Sarif | Format::Junit) {
        linerate_report::identity::words(&remarks).iter().for_each(|r| remark(r));
        summary.to_review().iter().for_each(|r| remark(r));
    }
    summary.finish(&mut sink)?;
    sink.finish()?;
    Ok(summary.exit_code())
}
