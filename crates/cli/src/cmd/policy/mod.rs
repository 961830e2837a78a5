//! `linerate policy`.

mod check;
mod learn;
mod test;

use crate::chosen::{Chosen, NO_SOURCE, NodesArg};
use crate::live::{self, Live, Unread};
use crate::on_args::OnArgs;
use crate::output::{Failure, Sink};
use crate::policy_args::{PolicyArgs, PolicyDiffArgs, PolicyExplainArgs, PolicyVerb, ShortFormat};
use crate::sources::{self, Member};
use crate::targets::{self, SourceArgs, SshArgs};
use linerate_fleet::policy::{self, Checked, Policy, condition};
use linerate_fleet::{Profile, Traits};
use linerate_formats::bounds::POLICY_BYTES;
use linerate_node::Node;
use linerate_report::json::node_facts;
use linerate_report::policy as report;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{Reader, Snapshot, dated, load_each, node_name};
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

/// A policy that nodes are held to: with the nodes of the groups that its classes name, of the inventory.
pub(crate) fn read_with_groups(path: &Path, names: &SourceArgs) -> Result<Policy, Failure> {
    let mut policy = read(path)?;
    if policy.needs_groups() {
        let inventory = targets::inventory(names, &SshArgs::default(), false)?;
        policy.resolve(|set, budget| inventory.set_within(set, budget)).map_err(|e| {
            Failure::new(format!("{}: {e}", path.display())).hint(
                "groups are those of the inventory: linerate.toml, ClusterShell or genders, or what --inventory names; `linerate nodes` lists them",
            )
        })?;
    }
    Ok(policy)
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
    chosen: Chosen,
}

/// The snapshots of many nodes, which are held to a policy.
pub(crate) fn nodes(paths: &[PathBuf], of: &NodesArg, on: &OnArgs, policy: Option<&Policy>) -> Result<Nodes, Failure> {
    let names_nodes = policy.is_some_and(|p| p.classes.iter().any(|c| !c.matches.nodes.is_empty()));
    let live = if names_nodes { live::many_of_policy(on)? } else { live::many(on, false)? };
    let chosen = of.read()?;
    let members = match &live {
        Some(live) => {
            // One that is not read is the error that ends the command, as with one source.
            if live.is_one() {
                live.whole()?;
            }
            live.members.clone()
        }
        None => {
            let all = sources::fleet(paths);
            chosen.of(all.unwrap_or_else(|| paths.iter().map(|p| Member::of(p)).collect()))
        }
    };
    Ok(Nodes { members, live, chosen })
}

impl Nodes {
    /// Those of which there is no snapshot.
    pub(crate) fn unread(&self) -> &[Unread] {
        self.live.as_ref().map_or(&[], |l| &l.unread)
    }

    /// Whether one that cannot be read is named, and the others count.
    fn are_many(&self) -> bool {
        self.members.len() + self.unread().len() > 1
    }

    /// Each of them, of an archive all that it holds, with its number among the sources. The error of the only one ends the command.
    pub(crate) fn each(
        &self,
        mut take: impl FnMut(usize, &str, Result<Snapshot, Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut take =
            |i: usize, label: &str, node| if self.chosen.takes(label) { take(i, label, node) } else { Ok(()) };
        if self.live.is_some() {
            let each = |(i, m): (usize, &Member)| take(i, &m.label, self.judged(live::load(m))?);
            return self.members.iter().enumerate().try_for_each(each);
        }
        let mut reader = Reader::within(&crate::budget::budget());
        for (i, member) in self.members.iter().enumerate() {
            // Of a node's snapshots the newest, which is known when those of another node come: archives of directories are in their order.
            let mut held: Option<Held> = None;
            let mut done = Ok(());
            let options = Options { redact: false, ..crate::budget::options(&member.path, Purpose::Collect) };
            let read = load_each(&mut reader, &member.path, &options, &mut |at, node| {
                if done.is_err() {
                    return;
                }
                let node = node.map_err(Failure::from);
                let dir = dated(at).map(str::to_owned);
                let is_same = dir.is_some() && held.as_ref().is_some_and(|h| Some(&h.dir) == dir.as_ref());
                if is_same {
                    held = held.take().filter(|h| h.at.as_str() > at).or_else(|| Held::of(dir, at, node));
                    return;
                }
                done = held.take().map_or(Ok(()), |h| take(i, node_name(&h.at, false), h.node));
                let label = if at.is_empty() { member.label.as_str() } else { node_name(at, false) };
                if dir.is_some() {
                    held = Held::of(dir, at, node);
                } else if done.is_ok() {
                    let node = if at.is_empty() { self.judged(node) } else { Ok(node) };
                    done = node.and_then(|node| take(i, label, node));
                }
            });
            done?;
            held.map_or(Ok(()), |h| take(i, node_name(&h.at, false), h.node))?;
            if let Err(e) = read {
                let e = self.judged(Err(e.into()))?;
                take(i, &member.label, e)?;
            }
        }
        for name in self.chosen.missing()? {
            take(self.members.len(), &name, Err(Failure::new(NO_SOURCE)))?;
        }
        Ok(())
    }

    /// Of many nodes one that cannot be read is named, and the others count; the only one is the error that ends the command.
    fn judged(&self, node: Result<Snapshot, Failure>) -> Result<Result<Snapshot, Failure>, Failure> {
        if self.are_many() { Ok(node) } else { node.map(Ok) }
    }
}

/// The newest snapshot until now of a node's directory in an archive.
struct Held {
    dir: String,
    at: String,
    node: Result<Snapshot, Failure>,
}

impl Held {
    fn of(dir: Option<String>, at: &str, node: Result<Snapshot, Failure>) -> Option<Self> {
        Some(Held { dir: dir?, at: at.to_owned(), node })
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
