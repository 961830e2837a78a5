//! Arguments of `linerate watch`.

use crate::on_args::{OnArgs, duration};
use crate::show_args::ShowArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    pub(crate) command: WatchCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WatchCommand {
    /// Show which counters of ports, RoCE, interfaces, PCIe and GPUs grow, how fast, and what each means.
    Counters(CountersArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo linerate watch counters                              this machine: six intervals of ten seconds
  linerate watch counters --interval 1s --count 30
  linerate watch counters --on 'gpu[001-128]' --interval 60s --count 5    over your own ssh, while the job runs
  linerate watch counters before.tar.zst after.tar.zst      two snapshots of one node
  linerate watch counters before.txt after.txt --apart 60s  two dumps: ethtool -S, perfquery, nvidia-smi pci -gErrCnt,
                                                            nvidia-smi nvlink -e, rdma -j statistic, grep . counters/*

One reading of a counter says little: nobody knows since when it counts. Run traffic while you watch: a quiet link shows no
errors. Ctrl-C ends the watch; what was read so far is reported.

Exit codes:
  0  data passed, and no counter of faults or losses grew
  1  a counter of faults or losses grew
  2  cannot tell: nothing was read twice, no port carried data, a counter is at its maximum, or a node could not be read
  3  usage or internal error
  130, 143  ended early by SIGINT, SIGTERM")]
#[command(mut_arg("verbose", |a| a.help("List all counters that grew, also those whose meaning is not known")))]
pub(crate) struct CountersArgs {
    /// Dumps or snapshots of one node, in order of time.
    ///
    /// Default: this machine is read repeatedly.
    #[arg(value_name = "SOURCE", conflicts_with = "on")]
    pub(crate) sources: Vec<PathBuf>,
    /// Time between two readings: 1s, 10s, 5m.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, conflicts_with = "sources")]
    pub(crate) interval: Duration,
    /// Number of intervals: one less than readings.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "sources")]
    pub(crate) count: u32,
    /// Time between two sources that do not say it.
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "sources")]
    pub(crate) apart: Option<Duration>,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = WatchFormat::Text)]
    pub(crate) format: WatchFormat,
    #[command(flatten)]
    pub(crate) out: ShowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// For a person.
    Text,
    /// For programs: docs/schema/watch-1.json.
    Json,
}
