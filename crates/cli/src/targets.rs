//! Which nodes a command is about, and where their names come from.

use crate::output::Failure;
use clap::Args;
use linerate_gather::Target;
use linerate_gather::inventory::{Inventory, References, Request, Settings, load};
use std::path::PathBuf;

/// The heading of these options.
pub(crate) const LIVE: &str = "Live nodes, and the way to them";

/// Where names of nodes come from, and how they are reached.
#[derive(Debug, Clone, Args)]
pub(crate) struct InventoryArgs {
    #[command(flatten)]
    pub(crate) names: SourceArgs,
    #[command(flatten)]
    pub(crate) ssh: SshArgs,
}

/// Where names of nodes come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct SourceArgs {
    /// Where names, groups and ways come from.
    ///
    /// A file (linerate.toml, names, groups of ClusterShell, genders, `kubectl get nodes -o json`), or ssh,
    /// clustershell, genders, hosts (each with :FILE), slurm, kubernetes (with :CONTEXT). May be repeated. Without it, linerate.toml of this
    /// directory or of ~/.config/linerate; without one, ~/.ssh/config, ClusterShell's groups and /etc/genders.
    #[arg(long, help_heading = LIVE, value_name = "SOURCE")]
    pub(crate) inventory: Vec<String>,
}

/// How nodes are reached.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SshArgs {
    /// A further argument of ssh, such as Port=2222.
    ///
    /// As its `-o` takes it, or as it is (-F, and then a file). May be repeated.
    #[arg(long, help_heading = LIVE, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) ssh_option: Vec<String>,
    /// Use `sudo -n` on the node for what needs root.
    #[arg(long, help_heading = LIVE)]
    pub(crate) sudo: bool,
}

/// What the sources say together; `lists`: with what schedulers say of each node.
pub(crate) fn inventory(names: &SourceArgs, ssh: &SshArgs, lists: bool) -> Result<Inventory, Failure> {
    let settings = settings();
    let (sources, ssh_options) = (names.inventory.clone(), ssh.ssh_option.clone());
    let request = Request { sources, ssh_options, sudo: ssh.sudo, lists };
    Ok(load(&request, &settings)?)
}

/// The nodes that others are compared with, of linerate.toml.
pub(crate) fn references(names: &SourceArgs) -> Result<References, Failure> {
    Ok(linerate_gather::inventory::references(&names.inventory, &files())?)
}

/// Where files of a site are looked for, and programs that list nodes are started.
pub(crate) fn settings() -> Settings {
    Settings { cancel: crate::interrupt::cancel(), ..files() }
}

/// Where files of a site are looked for. A signal ends this command as it would without them.
pub(crate) fn files() -> Settings {
    let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = var("HOME");
    Settings {
        directory: PathBuf::new(),
        config: var("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|h| h.join(".config"))),
        home,
        clustershell: var("CLUSTERSHELL_CFGDIR"),
        etc: PathBuf::from("/etc"),
        cancel: linerate_transport::Cancel::new(),
    }
}

/// The nodes of a set.
pub(crate) fn targets(inventory: &Inventory, set: &str) -> Result<Vec<Target>, Failure> {
    inventory
        .targets(set)
        .map_err(|e| Failure::new(e).hint("linerate nodes lists nodes and groups, and --inventory names other sources"))
}
