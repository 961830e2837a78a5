//! Arguments of `linerate fleet` and `linerate where`.

use crate::not_a_value::NotAValue;
use crate::show_args::ShowArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Update the index of a fleet's directory from its snapshots.
    Index(IndexArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate fleet index fleet/            reads what is new, keeps the rest
  linerate fleet index fleet/ --rebuild  reads all snapshots again
  duckdb -c \"select distinct label from 'fleet/index.parquet' where fact = 'kernel.cmdline' and value = 'iommu=pt'\"

The index is one Parquet file, DIR/index.parquet, with what every snapshot shows: docs/fleet-index.md. `where` answers from it without the
snapshots. It can be rebuilt at any time. Two writers wait for each other.

Exit codes:
  0  the index is up to date
  2  the same, but some snapshots could not be read
  3  usage or internal error")]
pub(crate) struct IndexArgs {
    /// The fleet's directory.
    ///
    /// NODE/TIME.tar.zst as `linerate collect` writes them, archives, trees and texts.
    #[arg(value_name = "DIR", default_value = "fleet")]
    pub(crate) dir: PathBuf,
    /// Read all snapshots again.
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// No progress on standard error, and no summary.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate where acs/redirect-on-p2p-path              nodes on which the rule fails
  linerate where acs/redirect-on-p2p-path=unknown      … could not be decided
  linerate where kernel.cmdline=iommu=pt               have this argument
  linerate where 'kernel.cmdline!=iommu=pt' fleet/     certainly do not
  linerate where 'net.mtu<9000' --subject 'rail 3 NIC'
  linerate where 'nic_firmware.settings.current[NUM_OF_VFS]!=0' --and 'numa/balancing=fail' --format text
  srun --exclude=\"$(linerate where gpumem/xid)\" …
  clush -w \"$(linerate where 'kernel.release~6.8.*')\" uptime
  linerate where gpumem/xid --format lines | xargs -r -n1 kubectl cordon

A condition is RULE (it fails), RULE=pass|fail|unknown|not-applicable, FACT (it exists), FACT=absent, or FACT with =, !=, ~ (`*` matches
any characters), >=, <=, > or < and a value; FACT[PART] is one port, setting or argument. A node matches if any of its subjects
does; FACT!=WORD means that a list lacks the word. A node that did not show what is asked never matches: it is counted on standard
error.

Exit codes:
  0  some nodes
  1  none
  2  none, but it is unknown for some
  3  usage or internal error")]
#[command(mut_arg("verbose", |a| a.help("Show all values, in text")))]
pub(crate) struct WhereArgs {
    /// Condition: a rule, or a fact with a value.
    #[arg(value_name = "CONDITION")]
    pub(crate) condition: String,
    /// The fleet's directory, or an index.
    #[arg(value_name = "DIR", default_value = "fleet")]
    pub(crate) dir: PathBuf,
    /// Another condition that must hold.
    ///
    /// May be repeated.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) and: Vec<String>,
    /// Only these nodes: gpu[001-128,130].
    ///
    /// In ClusterShell's syntax, such as 'gpu[1-8]!gpu7'.
    #[arg(long, value_name = "SET")]
    pub(crate) nodes: Option<String>,
    /// Only these subjects: 'rail 3 NIC', 'GPU 0', node.
    ///
    /// Also 'rail * NIC', 'NUMA node 1'.
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,
    /// At this time: 2026-11-01, 2026-11-01T12:30:00Z.
    ///
    /// Uses the newest snapshot of each node that is not younger than this.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) at: Option<u64>,
    /// Search all snapshots of each node, not only the newest.
    ///
    /// A node matches if any of its snapshots does.
    #[arg(long, conflicts_with = "at")]
    pub(crate) all_times: bool,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = WhereFormat::Set)]
    pub(crate) format: WhereFormat,
    #[command(flatten)]
    pub(crate) out: ShowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhereFormat {
    /// All names as one set, to paste.
    Set,
    /// One name per line.
    Lines,
    /// With the values that they show.
    Text,
    /// For programs: docs/schema/where-1.json.
    Json,
}

pub(crate) fn moment(text: &str) -> Result<u64, NotAValue> {
    linerate_formats::clock::moment(text).ok_or(NotAValue::Moment)
}
