//! A node that is to be read.
use linerate_transport::HostSpec;
/// A node that is to be read: its name in sets and files, and the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The way to it.
    pub spec: HostSpec,
    /// Whether `sudo -n` is tried there.
    pub sudo: bool,
    /// Options that go to `ssh` as they are.
    pub ssh_options: Vec<String>,
}
