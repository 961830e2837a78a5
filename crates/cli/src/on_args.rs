//! Which nodes are read live, and how: the same arguments for every command that reads nodes.

use crate::not_a_value::NotAValue;
use crate::targets::{LIVE, SourceArgs, SshArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Nodes that are read live.
#[derive(Debug, Args)]
pub(crate) struct OnArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) ssh: SshArgs,
}

/// The same, for commands that have arguments of `ssh` already.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Read these nodes live: gpu[001-128], @group, host1.
    ///
    /// A set such as gpu[001-128,130], @group, 'rack1-*', @slurm:partition/gpu!gpu007; or hosts: local, root@node1:2222.
    #[arg(long, help_heading = LIVE, value_name = "SET")]
    pub(crate) on: Option<String>,
    /// Number of connections at a time.
    #[arg(long, help_heading = LIVE, value_name = "N", default_value_t = 64, requires = "on", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) fanout: u16,
    /// Time limit for each node: 90s, 3m.
    #[arg(long, help_heading = LIVE, value_name = "TIME", default_value = "3m", requires = "on", value_parser = duration)]
    pub(crate) node_limit: Duration,
    /// Remove this program from the nodes again.
    #[arg(long, help_heading = LIVE, requires = "on")]
    pub(crate) leave_nothing: bool,
    /// Collector to use on the node.
    #[arg(long, help_heading = LIVE, value_enum, default_value_t = CollectorArg::Auto, requires = "on")]
    pub(crate) collector: CollectorArg,
    /// Program to copy to the nodes.
    ///
    /// Instead of this one; one for each kind of machine. May be repeated.
    #[arg(long, help_heading = LIVE, value_name = "FILE", requires = "on")]
    pub(crate) program: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) names: SourceArgs,
}

/// What collects on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CollectorArg {
    /// This program: cached, installed or pushed; the shell script where none runs.
    Auto,
    /// The program that is pushed, and nothing else.
    Push,
    /// The shell script.
    Script,
}

/// `90`, `90s`, `3m`, `24h`, `7d`; a year at most.
pub(crate) fn duration(text: &str) -> Result<Duration, NotAValue> {
    let seconds = crate::bench_args::seconds(text)?;
    Some(Duration::from_secs(seconds)).filter(|_| seconds <= 366 * 86_400).ok_or(NotAValue::Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("3m", 180), ("24h", 86_400), ("7d", 604_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "h", "0", "-1s", "1w", "1.5h", "9999d", "99999999999999999999s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
