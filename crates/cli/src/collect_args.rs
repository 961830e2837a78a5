//! Arguments of `linerate collect`.

use crate::on_args::{OnArgs, duration};
use crate::targets::LIVE;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo linerate collect -o node.tar.zst
  linerate collect --root /host -o node.tar.zst
  linerate collect --on 'gpu[001-128],@rack7' -o fleet/            many nodes, over your own ssh
  linerate collect --on gpu001,root@10.0.0.3 -o fleet/ --redact-key fleet.key
                                                                   hashes that match across nodes, and that you can reverse
  linerate collect --on gpu001,gpu002 -o fleet/ --resume           only nodes without a snapshot of the last 24 hours
  linerate collect --on gpu001 --leave-nothing --format json       nothing stays on the node; the summary for programs
  tar --zstd -tf node.tar.zst                 a snapshot is an archive that any tool opens

Serials, GUIDs, MAC and public IP addresses and host names are hashed, the same within one snapshot so that joins work.
Secrets are never captured. Without root the snapshot is smaller, and says what it lacks.

With --on, each node gets a directory, and each time a file in it: fleet/gpu001/20261123T211906Z.tar.zst. The nodes are reached
by your own ssh, with its keys and configuration; no password is asked for, and a key that changed is never accepted. This program
is put into the user's cache on the host once (~/.cache/linerate), checked before it runs, and used again; where it cannot run, a shell
script reads the same files. Ctrl-C ends what runs on the hosts. At the end the directory's index has what was collected, also after
Ctrl-C.

Exit codes:
  0  the snapshot was written; with --on, one of every node
  2  with --on: some nodes were not collected, it was interrupted, or the index could not be written
  3  usage or internal error")]
pub(crate) struct CollectArgs {
    /// Where to write; `-` is standard output.
    ///
    /// The snapshot (node.tar.zst); with --on, the directory (fleet).
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Capture the system whose root is mounted here.
    ///
    /// Commands are not run then.
    #[arg(long, value_name = "DIR", conflicts_with = "on")]
    pub(crate) root: Option<PathBuf>,
    /// Keep serials, GUIDs, addresses and host names.
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Hash with the key in this file.
    ///
    /// Then hashes match over nodes and times, and `redact reveal` reads them back. Default: a new key for each snapshot, which is not kept. The file
    /// is made (0600) if it does not exist; hosts never see it.
    #[arg(long, value_name = "FILE", conflicts_with = "no_redact")]
    pub(crate) redact_key: Option<PathBuf>,
    /// Do not run any command; read files only.
    #[arg(long, conflicts_with = "on")]
    pub(crate) no_commands: bool,
    /// Collect only counters, for `watch counters`.
    ///
    /// Counters, and what shows which device they belong to.
    #[arg(long, conflicts_with = "on")]
    pub(crate) counters: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) fan: FanArgs,
}

/// Many nodes.
#[derive(Debug, Args)]
pub(crate) struct FanArgs {
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Skip nodes that have a snapshot which is not stale.
    #[arg(long, help_heading = LIVE, requires = "on")]
    pub(crate) resume: bool,
    /// Age at which a snapshot is stale: 30m, 24h, 7d.
    #[arg(long, help_heading = LIVE, value_name = "TIME", default_value = "24h", requires = "resume", value_parser = duration)]
    pub(crate) stale: Duration,
    /// Do not update the directory's index (index.parquet, docs/fleet-index.md).
    #[arg(long, help_heading = LIVE, requires = "on")]
    pub(crate) no_index: bool,
    /// Output format of the summary, on standard output.
    #[arg(long, help_heading = LIVE, short, value_enum, default_value_t = SummaryFormat::Text, requires = "on")]
    pub(crate) format: SummaryFormat,
}

/// Form of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// For people.
    Text,
    /// For programs: docs/schema/collect-1.json.
    Json,
}
