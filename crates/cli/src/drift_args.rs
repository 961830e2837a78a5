//! Arguments of `linerate drift`.

use crate::diff_args::DiffFormat;
use crate::on_args::OnArgs;
use crate::show_args::ShowArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate drift fleet/                            the newest snapshot of each node of a fleet's directory
  linerate drift snapshots/*.tar.zst               these
  linerate drift fleet/ --nodes 'gpu[001-064]'     some of its nodes
  linerate drift --on 'gpu[001-128]'               live nodes, over your own ssh; nothing is kept
  linerate drift fleet/ --reference gpu001         gpu001 is right by definition
  linerate drift fleet/ --since 2026-11-01         what changed on each node since then
  linerate drift fleet/ --format markdown          a table for a ticket: majority (count/total), outliers

A fleet's directory with an index that is not old (`linerate fleet index`) is answered from it.

Nodes are compared within their class of hardware (board, processors, models of GPUs and NICs), device by device by position in
the topology. What a node did not show is not a difference. The worst comes first: the severity is that of the rules that read the fact.

Exit codes:
  0  no difference
  1  differences
  2  no difference, but nothing could be compared, or a part was left out or could not be read
  3  usage or internal error")]
#[command(mut_arg("verbose", |a| a.help("Show all values and configurations, and the id of each fact")))]
pub(crate) struct DriftArgs {
    /// Snapshots, trees, or directories of them.
    ///
    /// Or a fleet's directory.
    #[arg(value_name = "SOURCE", required_unless_present = "on", conflicts_with = "on")]
    pub(crate) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) of: crate::chosen::NodesArg,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Reference node: right by definition.
    ///
    /// Default: `reference` in linerate.toml (for all nodes, or of a group for classes whose nodes are all in it); otherwise, what most nodes of a class show is the norm.
    #[arg(long, value_name = "NODE")]
    pub(crate) reference: Option<String>,
    /// Compare each node with its own past.
    ///
    /// Compares its newest snapshot with the newest one that is not younger than TIME, by what the index keeps of both. For a fleet's directory, or its index.
    #[arg(long, value_name = "TIME", value_parser = crate::index_args::moment, conflicts_with_all = ["reference", "on"])]
    pub(crate) since: Option<u64>,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = DiffFormat::Text)]
    pub(crate) format: DiffFormat,
    #[command(flatten)]
    pub(crate) out: ShowArgs,
}
