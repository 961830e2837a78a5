//! How a node is taken out of service and given back. A lone host has nobody to ask; schedulers plug in here.

/// What a scheduler does with a node.
pub trait Lifecycle: Send + Sync {
    /// What it is, for people: `Slurm`.
    fn name(&self) -> &str;

    /// Gives the node no further jobs.
    ///
    /// # Errors
    /// In words; then nothing is changed on the node.
    fn cordon(&self, node: &str, why: &str) -> Result<(), String>;

    /// Waits until no job is on it. Called after [`Lifecycle::cordon`].
    ///
    /// # Errors
    /// In words; then nothing is changed on the node, and it is returned.
    fn drain(&self, node: &str) -> Result<(), String>;

    /// Gives it back. Called only when the node has shown that it is right, or is as it was.
    ///
    /// # Errors
    /// In words; the node then stays out of service.
    fn give_back(&self, node: &str) -> Result<(), String>;
}

/// No scheduler: the operator sees to it that nothing runs there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lone;

impl Lifecycle for Lone {
    fn name(&self) -> &str {
        "no scheduler is known: that no job runs there is for you to see"
    }

    fn cordon(&self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn drain(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn give_back(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}
