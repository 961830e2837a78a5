//! Arguments of `linerate policy`.

use crate::args::When;
use crate::on_args::OnArgs;
use crate::show_args::ShowArgs;
use crate::targets::SourceArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) verb: PolicyVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Check nodes against a policy: what differs from it, and on which nodes.
    Check(CheckArgs),
    /// Write a policy from good nodes: what all nodes of a class have in common, without what rules call wrong.
    Learn(LearnArgs),
    /// Compare two policies.
    Diff(PolicyDiffArgs),
    /// Run the tests of a policy: sources that must pass, or must fail as stated.
    Test(TestArgs),
    /// Show what a policy expects, why, and from which nodes it was learnt.
    Explain(PolicyExplainArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate policy check h100.toml node.tar.zst          one node
  linerate policy check h100.toml snapshots/            every snapshot in a directory
  linerate policy check h100.toml /                     this machine
  linerate policy check h100.toml --on @rack7           live nodes, over your own ssh
  linerate policy check h100.toml snapshots/ -f json    for programs
  linerate policy check h100.toml snapshots/ -f markdown

A policy says how nodes of a class of hardware must be; docs/policy.md describes how to write one, and `linerate policy learn` writes one
from good nodes. What a source does not show is unknown: it never passes.

Exit codes:
  0  all is as the policy wants
  1  something of severity low or above is not
  2  nothing is wrong, but something is unknown, a node could not be read, or no class of the policy fits
     a node
  3  usage or internal error, or the policy cannot be read")]
#[command(mut_arg("verbose", |a| a.help("List everything that is unknown")))]
pub(crate) struct CheckArgs {
    /// The policy.
    #[arg(value_name = "POLICY")]
    pub(crate) policy: PathBuf,
    /// Nodes: snapshots, archives, trees, pasted texts.
    ///
    /// Or directories of snapshots; `/` is this machine.
    #[arg(value_name = "SOURCE", required_unless_present = "on", conflicts_with = "on")]
    pub(crate) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) of: crate::chosen::NodesArg,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = PolicyFormat::Text)]
    pub(crate) format: PolicyFormat,
    #[command(flatten)]
    pub(crate) out: ShowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyFormat {
    /// For a person.
    Text,
    /// For programs: docs/schema/policy-check-1.json.
    Json,
    /// A table, to paste into an issue.
    Markdown,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate policy learn snapshots/ -o h100.toml                      from all nodes of a directory
  linerate policy learn fleet/ --nodes 'gpu[001-016]' -o h100.toml   from some of them
  linerate policy learn --on 'gpu[001-016]' -o h100.toml             from live nodes
  linerate policy learn n1.tar.zst n2.tar.zst -o h100.toml
  linerate policy learn snapshots/ -o h100.toml --accept cpu/governor   although the rule fails there

Nodes are grouped by their hardware (board, processors, models of GPUs and NICs). What changes by itself,
addresses, and what only some nodes have is left out and reported. What a rule calls wrong is learnt only if --accept names the rule.

Exit codes:
  0  learnt
  1  learnt, without what rules call wrong
  2  learnt, without sources or nodes that could not be read
  3  usage or internal error: nothing was written")]
pub(crate) struct LearnArgs {
    /// Good nodes: snapshots, archives, trees.
    ///
    /// Or directories of snapshots.
    #[arg(value_name = "SOURCE", required_unless_present = "on", conflicts_with = "on")]
    pub(crate) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) of: crate::chosen::NodesArg,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Where to write the policy; `-` is standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Also learn what this rule calls wrong.
    ///
    /// May be repeated.
    #[arg(long, value_name = "RULE")]
    pub(crate) accept: Vec<String>,
    /// Output format of the summary.
    #[arg(long, short, value_enum, default_value_t = ShortFormat::Text)]
    pub(crate) format: ShortFormat,
    /// List everything that was not learnt.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate policy diff h100.toml new.toml

Exit codes:
  0  both policies want the same
  1  they differ
  3  usage or internal error")]
pub(crate) struct PolicyDiffArgs {
    /// A policy.
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Another one.
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = ShortFormat::Text)]
    pub(crate) format: ShortFormat,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate policy test h100.toml

A test is a [[test]] table in the policy: `source` is a path from the policy's directory; `fails` lists the ids that must
fail there. Nothing else may fail; without `fails`, nothing may.

Exit codes:
  0  all tests hold
  1  some tests do not hold
  2  there are no tests
  3  usage or internal error")]
pub(crate) struct TestArgs {
    /// The policy.
    #[arg(value_name = "POLICY")]
    pub(crate) policy: PathBuf,
    #[command(flatten)]
    pub(crate) names: SourceArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = ShortFormat::Text)]
    pub(crate) format: ShortFormat,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate policy explain h100.toml                                 all of it
  linerate policy explain h100.toml policy/h100.rail-nic.net.mtu    one expectation
  linerate policy explain h100.toml mtu                             those whose id contains a word

Exit codes:
  0  shown
  2  no expectation has this id
  3  usage or internal error")]
pub(crate) struct PolicyExplainArgs {
    /// The policy.
    #[arg(value_name = "POLICY")]
    pub(crate) policy: PathBuf,
    /// Id of an expectation, or a part of it.
    #[arg(value_name = "ID", default_value = "")]
    pub(crate) id: String,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShortFormat {
    /// For a person.
    Text,
    /// For programs: docs/schema/policy-*-1.json.
    Json,
}
