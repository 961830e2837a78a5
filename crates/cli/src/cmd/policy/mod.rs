//! `linerate policy`.

mod check;
mod learn;
mod test;

use crate::live::{self, Live, Unread};
use crate::on_args::OnArgs;
use crate::output::{Failure, Sink};
use crate::policy_args::{PolicyArgs, PolicyDiffArgs, PolicyExplainArgs, PolicyVerb, ShortFormat};
use crate::sources::{self, Member};
use linerate_fleet::policy::{self, Checked, Policy, condition};
use linerate_fleet::{Profile, Traits};
use linerate_formats::bounds::POLICY_BYTES;
use linerate_node::Node;
use linerate_report::json::node_facts;
use linerate_report::policy as report;
use linerate_snapshot::Snapshot;
use std::io::Read;
use std::path::{Path, PathBuf};

pub(crate) fn run(a: &PolicyArgs) -> Result<u8, Failure> {
    match &a.verb {
        PolicyVerb::Check(a) => check::run(a),
        PolicyVerb::Learn(a) => learn::run(a),
        PolicyVerb::Test(a) => test::run(a),
        PolicyVerb::Diff(a) => diff(a),
        PolicyVerb::Explain(a) => explain(a),
    }
}

fn diff(a: &PolicyDiffArgs) -> Result<u8, Failure> {
    let (one, other) = (read(&a.a)?, read(&a.b)?);
    let all = policy::diff(&one, &other);
    let paths = [a.a.display().to_string(), a.b.display().to_string()];
    let labels = [paths[0].as_str(), paths[1].as_str()];
    let mut sink = Sink::open(None)?;
    match a.format {
        ShortFormat::Text => report::changes(labels, &all, sink.style(a.color, false), &mut sink)?,
        ShortFormat::Json => report::changes_json(labels, &all, &mut sink)?,
    }
    sink.finish()?;
    Ok(u8::from(!all.is_empty()))
}

fn explain(a: &PolicyExplainArgs) -> Result<u8, Failure> {
    let policy = read(&a.policy)?;
    let mut sink = Sink::open(None)?;
    let shown = report::explain(&policy, &a.id, sink.style(a.color, false), &mut sink)?;
    sink.finish()?;
    if shown == 0 {
        crate::output::remark("no expectation has this id");
    }
    Ok(if shown == 0 { 2 } else { 0 })
}

/// A policy from a file.
pub(crate) fn read(path: &Path) -> Result<Policy, Failure> {
    let text = text(path)?;
    let policy = policy::read(&text).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(|m| format!("  {m}")).collect();
        Failure::new(format!("{} is not a valid policy:\n{}", path.display(), lines.join("\n")))
            .hint("docs/policy.md describes the format")
    })?;
    Ok(Policy { name: if policy.name.is_empty() { label(path) } else { policy.name }, ..policy })
}

/// The text of a policy, as far as one may be long.
fn text(path: &Path) -> Result<String, Failure> {
    let failed = |e: std::io::Error| Failure::new(format!("cannot read {}: {e}", path.display()));
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(POLICY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| Failure::new(format!("{} is not UTF-8 text", path.display())))
}

/// The nodes of a command: those that sources name, or live ones.
pub(crate) struct Nodes {
    pub(crate) members: Vec<Member>,
    /// Live ones, whose snapshots are there as long as this is.
    live: Option<Live>,
}

/// The snapshots of many nodes.
pub(crate) fn nodes(paths: &[PathBuf], on: &OnArgs) -> Result<Nodes, Failure> {
    let live = live::many(on, false)?;
    let members = match &live {
        Some(live) => {
            // One that is not read is the error that ends the command, as with one source.
            if live.is_one() {
                live.whole()?;
            }
            live.members.clone()
        }
        None => sources::fleet(paths).unwrap_or_else(|| paths.iter().map(|p| Member::of(p)).collect()),
    };
    Ok(Nodes { members, live })
}

impl Nodes {
    /// Those of which there is no snapshot.
    pub(crate) fn unread(&self) -> &[Unread] {
        self.live.as_ref().map_or(&[], |l| &l.unread)
    }

    /// Whether one that cannot be read is named, and the others count.
    pub(crate) fn are_many(&self) -> bool {
        self.members.len() + self.unread().len() > 1
    }

    /// One of them.
    pub(crate) fn read(&self, member: &Member) -> Result<Snapshot, Failure> {
        match &self.live {
            Some(_) => live::load(member),
            None => sources::unredacted(&member.path),
        }
    }
}

/// The name of a policy's file, without what it ends in.
fn label(path: &Path) -> String {
    let name = sources::short(path);
    name.strip_suffix(".toml").map_or(name.clone(), str::to_owned)
}

/// Holds a node to a policy.
pub(crate) fn checked<'p>(policy: &'p Policy, label: &str, snapshot: &Snapshot) -> Checked<'p> {
    let node = Node::decode(snapshot);
    let profile = Profile::of(label, &node, snapshot, &policy.rules());
    let has_conditions = policy.needs_facts();
    let facts = has_conditions.then(|| condition::Facts::new(node_facts(&node, snapshot)));
    policy::check(policy, &profile, &Traits::of(&node), facts.as_ref())
}
