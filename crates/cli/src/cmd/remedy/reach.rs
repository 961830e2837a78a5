//! Nodes as the user named them.

use super::here::Here;
use crate::output::Failure;
use crate::plan_args::Reach;
use linerate_apply::drive::{Node, Remote};
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
    let spec: HostSpec = host.parse()?;
    if spec.way == Way::Local {
        return Ok(Box::new(Here::new(None)));
    }
    let transport = spec.transport(ssh)?;
    Ok(Box::new(Remote::new(transport, sudo, crate::interrupt::cancel())))
}

impl Reach {
    /// The node.
    pub(super) fn node(&self) -> Result<Box<dyn Node>, Failure> {
        node(self.host.as_deref(), self.root.as_deref(), &self.ssh_option, self.sudo)
    }
}
