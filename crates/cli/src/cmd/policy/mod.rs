//! `linerate policy`.

mod check;
mod learn;
mod test;

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
        crate::output::remark("no expectation is called so");
    }
    Ok(if shown == 0 { 2 } else { 0 })
}

/// A policy from a file.
pub(crate) fn read(path: &Path) -> Result<Policy, Failure> {
    let text = text(path)?;
    let policy = policy::read(&text).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(|m| format!("  {m}")).collect();
        Failure::new(format!("{} is no policy that can be read:\n{}", path.display(), lines.join("\n")))
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
    String::from_utf8(bytes).map_err(|_| Failure::new(format!("{} is no text in UTF-8", path.display())))
}

/// The snapshots of many nodes.
pub(crate) fn nodes(paths: &[PathBuf]) -> Vec<Member> {
    sources::fleet(paths).unwrap_or_else(|| paths.iter().map(|p| Member::of(p)).collect())
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
