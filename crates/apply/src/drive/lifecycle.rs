//! How a node is taken out of service and given back. A lone host has nobody to ask; schedulers plug in here.
//!
//! The reason that a scheduler keeps with a node that is out of service is the record of whose doing that is: the driver's reason is the mark of its
//! plan. A node that is out of service for any other reason stays so.

use super::Event;
use linerate_remedy::Plan;

/// Why a scheduler did not do it, each with what it said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LifecycleError {
    /// It was not reached, or did not answer.
    #[error("{0}")]
    Unreached(String),
    /// It refused.
    #[error("{0}")]
    Refused(String),
    /// Jobs still run on the node.
    #[error("{0}")]
    Busy(String),
}

/// What a scheduler does with a node.
pub trait Lifecycle: Send + Sync {
    /// What it is, for people: `Slurm`.
    fn name(&self) -> &str;

    /// The reason why the node gets no jobs, as it was given to whatever took it out of service, without what the scheduler adds (user, time); empty
    /// where nobody gave one. `None`: it is in service.
    ///
    /// # Errors
    /// Nothing is changed then.
    fn out_of_service(&self, node: &str) -> Result<Option<String>, LifecycleError>;

    /// Gives the node no further jobs, for this reason. Fails where it is out of service already, and leaves the reason that is there.
    ///
    /// # Errors
    /// Nothing is changed on the node then.
    fn cordon(&self, node: &str, why: &str) -> Result<(), LifecycleError>;

    /// Waits until no job is on it. Called only while the node is out of service.
    ///
    /// # Errors
    /// Nothing is changed on the node then.
    fn drain(&self, node: &str) -> Result<(), LifecycleError>;

    /// Gives it back. Called only where [`Lifecycle::out_of_service`] says the reason of this plan, and when the node has shown that it is right, or is
    /// as it was.
    ///
    /// # Errors
    /// The node then stays out of service.
    fn give_back(&self, node: &str) -> Result<(), LifecycleError>;
}

/// No scheduler: the operator sees to it that nothing runs there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lone;

impl Lifecycle for Lone {
    fn name(&self) -> &str {
        "no scheduler is configured: make sure that no job is running on the node"
    }

    fn out_of_service(&self, _: &str) -> Result<Option<String>, LifecycleError> {
        Ok(None)
    }

    fn cordon(&self, _: &str, _: &str) -> Result<(), LifecycleError> {
        Ok(())
    }

    fn drain(&self, _: &str) -> Result<(), LifecycleError> {
        Ok(())
    }

    fn give_back(&self, _: &str) -> Result<(), LifecycleError> {
        Ok(())
    }
}

/// A node's service, for one plan: only what this plan took out of service is given back.
pub(super) struct Service<'a> {
    lifecycle: &'a dyn Lifecycle,
    node: &'a str,
    mark: String,
}

impl<'a> Service<'a> {
    pub(super) fn new(lifecycle: &'a dyn Lifecycle, node: &'a str, plan: &Plan) -> Service<'a> {
        Service { lifecycle, node, mark: format!("linerate plan {}", plan.hash) }
    }

    /// Takes the node out of service, where it is not, and waits until no job is on it.
    pub(super) fn take_out(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<(), LifecycleError> {
        tell(Event::Lifecycle(self.lifecycle.name()));
        match self.lifecycle.out_of_service(self.node)? {
            None => self.lifecycle.cordon(self.node, &self.mark)?,
            Some(reason) if reason == self.mark => {}
            Some(reason) => tell(Event::Lifecycle(&stays(&reason))),
        }
        self.lifecycle.drain(self.node)
    }

    /// Gives the node back where this plan took it out of service. Returned: why it stays out of service all the same.
    pub(super) fn give_back(&self) -> Result<Option<String>, LifecycleError> {
        match self.lifecycle.out_of_service(self.node)? {
            None => Ok(None),
            Some(reason) if reason == self.mark => self.lifecycle.give_back(self.node).map(|()| None),
            Some(reason) => Ok(Some(stays(&reason))),
        }
    }
}

fn stays(reason: &str) -> String {
    format!("the node is out of service for another reason ({reason}), and stays so")
}

#[cfg(test)]
mod tests;
