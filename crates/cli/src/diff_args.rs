//! Arguments of `linerate diff`.

use crate::on_args::OnArgs;
use crate::show_args::ShowArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate diff node1.tar.zst node2.tar.zst          two nodes
  linerate diff monday.tar.zst today.tar.zst         two times of one node
  linerate diff u25-mlxconfig.txt u36-mlxconfig.txt  two texts of a tool
  linerate diff --on gpu[017,044]                    two live nodes, over your own ssh
  linerate diff texts/                               a directory with exactly two such sources
  linerate diff node1.tar.zst / --format markdown    a node and this machine, as a table for a ticket

Devices are paired by their position in the topology, not by bus number or name. What one side did not collect is never a
difference. Each difference is judged by the rules that read the fact.

Exit codes:
  0  no difference
  1  differences
  2  no difference, but nothing could be compared, or a part was left out
  3  usage or internal error")]
#[command(mut_arg("verbose", |a| a.help("Show the id of each fact")))]
pub(crate) struct DiffArgs {
    /// Two sources, or a directory with exactly two.
    ///
    /// Snapshots, trees, pasted texts; `/` is this machine.
    #[arg(value_name = "SOURCE", required_unless_present = "on", conflicts_with = "on", num_args = 1..=2)]
    pub(crate) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = DiffFormat::Text)]
    pub(crate) format: DiffFormat,
    #[command(flatten)]
    pub(crate) out: ShowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For a person.
    Text,
    /// For programs: docs/schema/diff-1.json.
    Json,
    /// A table, to paste into an issue.
    Markdown,
}
