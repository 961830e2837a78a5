//! Nodes that are read live for one command: collected into a private directory that is gone when the command ends.

use crate::on_args::{CollectorArg, OnArgs, ReadArgs};
use crate::output::{Failure, remark};
use crate::progress::Line;
use crate::scratch::Scratch;
use crate::sources::Member;
use crate::targets::{self, SshArgs};
use linerate_fleet::cluster::Lists;
use linerate_fleet::names::folded;
use linerate_gather::Target;
use linerate_gather::fan::{self, Cause, Collector, Options, Outcome, Program, Summary};
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{RedactKey, Snapshot};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The nodes of a set, as far as they could be read.
#[derive(Debug)]
pub(crate) struct Live {
    /// Those that were read, in the order of their names.
    pub(crate) members: Vec<Member>,
    /// Those that were not.
    pub(crate) unread: Vec<Unread>,
    /// All of them.
    pub(crate) targets: Vec<Target>,
    _scratch: Scratch,
}

/// A node that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) name: String,
    /// The cause, and what was said.
    pub(crate) why: String,
    cause: Cause,
}

impl Live {
    /// The only node that was asked for, and no set of them.
    pub(crate) fn is_one(&self) -> bool {
        self.targets.len() == 1
    }

    /// An error that names the first node that was not read, where a command needs every one.
    pub(crate) fn whole(&self) -> Result<(), Failure> {
        let failed = |u: &Unread| Failure::new(format!("{}: {}", u.name, u.why)).hint(u.cause.hint());
        self.unread.first().map_or(Ok(()), |u| Err(failed(u)))
    }

    /// The snapshots of all, where a command needs every node.
    pub(crate) fn all(&self) -> Result<Vec<Snapshot>, Failure> {
        self.whole()?;
        self.members.iter().map(load).collect()
    }

    /// The snapshot of the only one.
    pub(crate) fn one(&self) -> Result<Snapshot, Failure> {
        let mut all = self.all()?;
        all.pop().filter(|_| all.is_empty()).ok_or_else(|| Failure::new("this command reads one node, not a set"))
    }
}

/// The snapshot of a node, under the name that it was asked for by.
pub(crate) fn load(member: &Member) -> Result<Snapshot, Failure> {
    let options = crate::budget::options(&member.path, Purpose::Audit);
    let mut snapshot = linerate_snapshot::load(&member.path, &options, &|_| {})?;
    snapshot.label.clone_from(&member.label);
    Ok(snapshot)
}

/// The nodes of `--on`; `None`: it was not given. `redact`: what identifies is hashed, by each node with a key that nobody keeps.
pub(crate) fn many(on: &OnArgs, redact: bool) -> Result<Option<Live>, Failure> {
    no_inventory(&on.read)?;
    of(on, redact, None)
}

/// The same, where `--inventory` means something without `--on`: a policy names its groups.
pub(crate) fn many_of_policy(on: &OnArgs) -> Result<Option<Live>, Failure> {
    of(on, false, None)
}

/// So many nodes, all of which are needed.
pub(crate) fn exactly(count: usize, on: &OnArgs, redact: bool) -> Result<Option<Live>, Failure> {
    no_inventory(&on.read)?;
    of(on, redact, Some(count))
}

/// That sources of names are named for nothing.
pub(crate) fn no_inventory(read: &ReadArgs) -> Result<(), Failure> {
    if read.on.is_none() && !read.names.inventory.is_empty() {
        return Err(Failure::new("--inventory is only for nodes that are read live").hint("give the nodes with --on"));
    }
    Ok(())
}

fn of(on: &OnArgs, redact: bool, count: Option<usize>) -> Result<Option<Live>, Failure> {
    if on.read.on.is_none() && (!on.ssh.ssh_option.is_empty() || on.ssh.sudo) {
        let what = "--ssh-option and --sudo are only for nodes that are read live";
        return Err(Failure::new(what).hint("give the nodes with --on"));
    }
    gather(&on.read, &on.ssh, redact, count)
}

/// The same, where arguments of `ssh` mean something without `--on`.
pub(crate) fn exactly_of(count: usize, read: &ReadArgs, ssh: &SshArgs, redact: bool) -> Result<Option<Live>, Failure> {
    gather(read, ssh, redact, Some(count))
}

fn gather(read: &ReadArgs, ssh: &SshArgs, redact: bool, count: Option<usize>) -> Result<Option<Live>, Failure> {
    let Some(set) = &read.on else { return Ok(None) };
    let (targets, lists) = named(set, read, ssh)?;
    if let Some(count) = count.filter(|n| *n != targets.len()) {
        let nodes = if count == 1 { "one node".to_owned() } else { format!("{count} nodes") };
        return Err(Failure::new(format!("this command reads {nodes}, but {set} has {}", targets.len()))
            .hint("linerate nodes SET lists the nodes of a set"));
    }
    let scratch = Scratch::make()?;
    let options = options(scratch.path(), read, redact, lists)?;
    let cancel = crate::interrupt::cancel();
    let line = Line::new(true);
    let summary = fan::collect(&targets, &options, &cancel, &mut |p| line.nodes(p))?;
    drop(line);
    if summary.interrupted {
        return Err(Failure::new("interrupted: nothing was left running on the nodes"));
    }
    crate::interrupt::done();
    let mut live = Live { members: Vec::new(), unread: Vec::new(), targets, _scratch: scratch };
    for node in &summary.nodes {
        match &node.outcome {
            Outcome::Collected { file, .. } | Outcome::Fresh { file } => {
                live.members.push(Member { label: node.name.clone(), path: file.clone() });
            }
            Outcome::Failed { cause, why } => {
                let why = format!("{}: {why}", cause.words());
                live.unread.push(Unread { name: node.name.clone(), why, cause: *cause });
            }
        }
    }
    // Where all are needed, the first one that failed is the error.
    if count.is_none() && !live.is_one() {
        say(&summary);
    }
    Ok(Some(live))
}

/// The nodes of a set, and what schedulers say of them; what their sources left out is said.
pub(crate) fn named(set: &str, read: &ReadArgs, ssh: &SshArgs) -> Result<(Vec<Target>, Lists), Failure> {
    let inventory = targets::inventory(&read.names, ssh, true)?;
    inventory.remarks.iter().for_each(|r| remark(&r.to_string()));
    Ok((targets::targets(&inventory, set)?, inventory.lists))
}

/// How nodes are collected into a directory.
pub(crate) fn options(directory: &Path, read: &ReadArgs, redact: bool, lists: Lists) -> Result<Options, Failure> {
    let mut files: Vec<PathBuf> = read.program.clone();
    // What a user gives comes first; this program is for machines like this one.
    if files.is_empty() && read.collector != CollectorArg::Script {
        files.push(std::env::current_exe()?);
    }
    let programs = files.iter().map(|f| Program::of(f)).collect::<Result<Vec<_>, _>>()?;
    Ok(Options {
        directory: directory.to_owned(),
        fanout: read.fanout.into(),
        limit: read.node_limit,
        redact,
        key: None::<RedactKey>,
        leave_nothing: read.leave_nothing,
        collector: match read.collector {
            CollectorArg::Auto => Collector::Auto,
            CollectorArg::Push => Collector::Given,
            CollectorArg::Script => Collector::Script,
        },
        programs,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        lists,
        fresh: None::<Duration>,
        purpose: Purpose::Collect,
    })
}

/// Who was not read, by cause, and what is to be known of the others: beside the answer, which says it of each node.
fn say(summary: &Summary) {
    let names = |nodes: &[&str]| folded(nodes.iter().copied());
    for (cause, nodes) in summary.failed() {
        let of: Vec<&str> = nodes.iter().map(|n| n.name.as_str()).collect();
        let all = summary.nodes.len();
        remark(&format!("{} of {all} nodes not read, {}: {}; {}", of.len(), cause.words(), names(&of), cause.hint()));
    }
    for (note, of) in summary.notes() {
        remark(&format!("{note} ({}): {}", of.len(), names(&of)));
    }
    let user = summary.without_root();
    if !user.is_empty() {
        remark(&format!("not read as root, so that a part is missing ({}): {}", user.len(), names(&user)));
    }
}
