//! Arguments of `linerate nodes`.

use crate::show_args::ShowArgs;
use crate::targets::InventoryArgs;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate nodes                                   all nodes of linerate.toml, or of ssh, ClusterShell and genders
  linerate nodes 'gpu[001-128]!@rack7'             a set: , adds, ! removes, & keeps what is in both, ^ what is in one
  linerate nodes --inventory slurm @slurm:state/idle
  linerate nodes --inventory kubernetes:prod '@kubernetes:nvidia.com/gpu.product=NVIDIA-H100'
  linerate nodes --inventory hosts.txt --reach     which of them answer, and why others do not
  pdsh -w \"$(linerate nodes @rack1 --reach --format set)\" uptime

linerate.toml:
  nodes = \"gpu[001-128],login1\"
  reference = \"gpu001\"             what `drift` compares the others with; of a group: in its table
  sources = [\"ssh\", \"slurm\"]
  [way]
  user = \"root\"                     also port, sudo, ssh_options, transport = \"ssh\", \"local\", \"srun\", \"kubectl\"
  [groups]
  rack1 = \"gpu[001-016]\"
  rack2 = { nodes = \"gpu[017-032]\", reference = \"gpu017\", port = 2222, ssh_options = [\"ProxyJump=jump2\"] }
  slurm = { nodes = \"n[001-512]\", transport = \"srun\", srun_options = [\"--partition=gpu\"] }
  pods = { nodes = \"w[1-9]\", transport = \"kubectl\", kubectl = { namespace = \"tools\", selector = \"app=shell\", root = \"/host\" } }
  [hosts.gpu007]
  address = \"10.0.0.7\"

Commands in ClusterShell's configuration are not run: only its files are read. sinfo and kubectl run where they are named.
An unknown or changed host key is never accepted, and no password is asked for.

Exit codes:
  0  listed; with --reach, all were reached
  1  some were not reached
  2  a part of a source was not read, or sources disagree
  3  usage or internal error")]
#[command(mut_arg("verbose", |a| a.help("Show all groups, sources and remarks in full")))]
pub(crate) struct NodesArgs {
    /// The nodes: gpu[001-128,130], @group, 'rack1-*'.
    ///
    /// In ClusterShell's syntax, also @source:group. Default: all nodes.
    #[arg(value_name = "SET")]
    pub(crate) set: Option<String>,
    #[command(flatten)]
    pub(crate) names: InventoryArgs,
    /// Try to reach each node.
    #[arg(long)]
    pub(crate) reach: bool,
    /// Number of nodes to try at once.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) fanout: u16,
    /// Time limit for each node, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) timeout: u64,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = NodesFormat::Text)]
    pub(crate) format: NodesFormat,
    #[command(flatten)]
    pub(crate) out: ShowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NodesFormat {
    /// For a person.
    Text,
    /// For programs: docs/schema/nodes-1.json.
    Json,
    /// The folded set alone; with --reach, of the nodes that answered.
    Set,
}
