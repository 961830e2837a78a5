//! Nodes as the user named them.

use super::here::Here;
use crate::live;
use crate::on_args::ReadArgs;
use crate::output::Failure;
use crate::plan_args::Reach;
use linerate_apply::drive::{Node, Remote};
use linerate_snapshot::Snapshot;
use linerate_transport::{HostSpec, Way};
use std::path::Path;

/// A node by its name; without one, this machine.
pub(super) fn node(
    host: Option<&str>,
    root: Option<&Path>,
    ssh: &[String],
    sudo: bool,
) -> Result<Box<dyn Node>, Failure> {
    let Some(host) = host else { return Ok(Box::new(Here::new(root.map(Path::to_owned)))) };
    by(&host.parse()?, ssh, sudo)
}

/// A node by the way to it.
fn by(spec: &HostSpec, ssh: &[String], sudo: bool) -> Result<Box<dyn Node>, Failure> {
    if spec.way == Way::Local {
        return Ok(Box::new(Here::new(None)));
    }
    let transport = spec.transport(ssh)?;
    Ok(Box::new(Remote::new(transport, sudo, crate::interrupt::cancel())))
}

/// What a live node shows, and the node.
type Seen = (Snapshot, Box<dyn Node>);

/// A node that is read by `--on`: its snapshot, and the node itself.
pub(super) fn live(reach: &Reach, on: &ReadArgs) -> Result<Option<Seen>, Failure> {
    if on.on.is_some() && (reach.host.is_some() || reach.root.is_some()) {
        return Err(Failure::new("--on and --host both name the node").hint("give one of them"));
    }
    // A plan must know its node again.
    let Some(live) = live::exactly_of(1, on, &reach.ssh, false)? else { return Ok(None) };
    let snapshot = live.one()?;
    let Some(target) = live.targets.first() else { return Ok(None) };
    let node = by(&target.spec, &target.ssh_options, target.sudo)?;
    Ok(Some((snapshot, node)))
}

impl Reach {
    /// The node as the user named it; `None`: this machine.
    pub(super) fn named<'a>(&'a self, on: &'a ReadArgs) -> Option<&'a str> {
        self.host.as_deref().or(on.on.as_deref())
    }

    /// The node.
    pub(super) fn node(&self) -> Result<Box<dyn Node>, Failure> {
        node(self.host.as_deref(), self.root.as_deref(), &self.ssh.ssh_option, self.ssh.sudo)
    }
}
