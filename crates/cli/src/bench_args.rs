//! Arguments of `linerate bench`.

use crate::args::When;
use crate::not_a_value::NotAValue;
use clap::{Args, Subcommand, ValueEnum};
use linerate_bench::Kind;
use linerate_bench::ceiling::Links;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    #[command(about = format!("Read outputs of benchmarks into the history: {}, tables", Kind::called().join(", ")))]
    Import(ImportArgs),
    /// Compare two sets of runs: what they show, what they cannot show, and how far from the ceiling both are.
    Compare(CompareArgs),
    /// Run benchmarks on this host, or between hosts: interleaved, within a budget, with a snapshot.
    Run(RunArgs),
    /// Show stored runs: ranges, best runs, targets; export them.
    History(HistoryArgs),
    /// Draw runs: bandwidth over size, values over time, distributions.
    Plot(PlotArgs),
    /// Sum up what was measured on one page: GPU, RDMA, TCP, storage.
    Summary(SummaryArgs),
}

/// Where the history is.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// History file.
    ///
    /// Default: $LINERATE_STORE, else linerate/history.db below $XDG_DATA_HOME or ~/.local/share.
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}

/// How an answer is printed.
#[derive(Debug, Args)]
pub(crate) struct OutArgs {
    /// Write here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
    /// Show everything, unabbreviated.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// The history, and the answer beside it.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
    #[command(flatten)]
    pub(crate) out: OutArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchFormat {
    /// For people.
    Text,
    /// For programs; schemas: docs/schema/bench-*.json.
    Json,
    /// To paste into an issue.
    Markdown,
    /// A page with drawings, in one file.
    Html,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate bench import allreduce.log ib_write_bw.txt
  linerate bench import results/ --label before
  all_reduce_perf -b 8 -e 8G -f 2 | linerate bench import - --node node.tar.zst
  linerate bench import run.json --no-store --format json

Exit codes:
  0  all that was read is a valid result
  1  a run is not a valid result: wrong elements, failures
  2  something looks like a result and could not be read, or is beyond a limit
  3  usage or internal error, or nothing was read at all")]
pub(crate) struct ImportArgs {
    /// Files, directories, or `-`.
    ///
    /// The type is detected from the content; packed files (.gz, .zst, .xz, .bz2) are unpacked.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Snapshot of a node that took part.
    ///
    /// Its configuration is recorded with every run. May be repeated.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) node: Vec<PathBuf>,
    /// A label to find the runs by.
    ///
    /// May be repeated.
    #[arg(long, value_name = "WORD")]
    pub(crate) label: Vec<String>,
    /// Read only; keep nothing.
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Print how much was read and what is wrong; no values.
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate bench compare before.log after.log
  linerate bench compare before/ after/ --threshold 1%            several runs in each directory
  linerate bench compare 3f2a 91c0                                runs of the history
  linerate bench compare label:before label:after
  linerate bench compare a.log b.log --nodes-a u17,u18 --nodes-b u12,u16 --link 4x400G,ib
  linerate bench compare table.md --columns passthrough,disabled  two columns of one table
  linerate bench compare before/ --template > after-the-switch.csv   fill it in, then compare with it

A side is a file, a directory of files (snapshots of its nodes in it are used), the beginning of a run's name, or label:WORD.
With one run on a side the answer is never better or worse: the spread between runs is not known then.

Exit codes:
  0  better or equivalent everywhere, as far as it is decided
  1  worse somewhere
  2  inconclusive
  3  usage or internal error")]
pub(crate) struct CompareArgs {
    /// The baseline.
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The side to judge.
    #[arg(value_name = "B", conflicts_with = "columns")]
    pub(crate) b: Option<String>,
    /// Two columns of a table in A as the two sides.
    ///
    /// Default without B: the columns of a table that has two.
    #[arg(long, value_name = "X,Y", value_parser = two)]
    pub(crate) columns: Option<(String, String)>,
    /// More runs of side A.
    ///
    /// May be repeated.
    #[arg(long = "a", value_name = "RUN")]
    pub(crate) more_a: Vec<String>,
    /// More runs of side B.
    ///
    /// May be repeated.
    #[arg(long = "b", value_name = "RUN")]
    pub(crate) more_b: Vec<String>,
    /// Differences below this count as equal.
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) threshold: f64,
    /// Only this metric (busbw, latency, tps …).
    ///
    /// May be repeated.
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Vec<String>,
    /// Hosts of side A, if the outputs do not show them.
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub(crate) nodes_a: Vec<String>,
    /// Hosts of side B.
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub(crate) nodes_b: Vec<String>,
    /// Snapshot of a node of side A.
    ///
    /// May be repeated.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) node_a: Vec<PathBuf>,
    /// Snapshot of a node of side B.
    ///
    /// May be repeated.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) node_b: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) links: LinkArgs,
    /// Also bootstrap the runs, with this many resamples.
    #[arg(long, value_name = "RESAMPLES", value_parser = clap::value_parser!(u32).range(200..=1_000_000))]
    pub(crate) bootstrap: Option<u32>,
    /// Print side A as a table, to fill in side B.
    #[arg(long, conflicts_with_all = ["b", "more_b", "columns"])]
    pub(crate) template: bool,
    /// Draw what is compared, too.
    #[arg(long)]
    pub(crate) plot: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// What the links allow, where no snapshot shows it.
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// Network ports of each node: 4x400G.
    ///
    /// With ,ib or ,roce and ,mtu=4096, if known.
    #[arg(long, value_name = "LINKS")]
    pub(crate) link: Option<Links>,
    /// Nodes of the job, if the output does not show it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) nodes: Option<u32>,
    /// GPUs of each node, if the output does not show it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) gpus: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate bench run quick --on local,node2                 half a minute: finds gross faults between two hosts
  linerate bench run iperf3,ping --on node1,root@node2:2222 --repetitions 5
  linerate bench run rdma --on node1,node2 --max-time 10m --max-traffic 500G
  linerate bench run storage --on local --directory /mnt/scratch
  linerate bench run iperf3 --on local,node2 --variant a: --variant 'b: args=-C,bbr'
  linerate bench run quick --on local,node2 --dry-run       what would run, and what it would cost

The hosts are reached by your own ssh, with its keys and configuration. Nothing is installed there; missing programs are named.

Exit codes:
  0  everything was measured
  1  a run failed
  2  it ended early
  3  usage or internal error, or something is missing")]
pub(crate) struct RunArgs {
    /// A suite, a kind, or tests.
    ///
    /// A suite (quick, network, rdma, storage, full), a kind (iperf3, perftest …) or tests, separated by commas.
    #[arg(value_name = "SUITE|KIND")]
    pub(crate) what: String,
    /// Hosts: local, HOST, USER@HOST:PORT.
    ///
    /// Add =ADDRESS if the data takes another network, and always for MPI. The first host measures, the second serves.
    #[arg(long, value_name = "HOSTS", default_value = "local")]
    pub(crate) on: String,
    /// Measured repetitions of each test.
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repetitions: Option<u32>,
    /// Warm-up runs of each test, not counted.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) warmups: Option<u32>,
    /// Seconds for one measurement.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: Option<u32>,
    /// Settings to compare: `NAME: VAR=VALUE … args=ARG,ARG`.
    ///
    /// They are run in turns (A B B A). May be repeated.
    #[arg(long, value_name = "SETTING")]
    pub(crate) variant: Vec<String>,
    /// Directory for tests of storage.
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// RDMA devices, one for each host.
    #[arg(long, value_name = "DEVICES", value_delimiter = ',')]
    pub(crate) rdma: Vec<String>,
    /// Do not bind programs to the NUMA node of their device.
    #[arg(long)]
    pub(crate) no_bind: bool,
    /// Time limit for everything: 90, 90s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) max_time: Option<u64>,
    /// Traffic limit for everything: 500G.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) max_traffic: Option<u64>,
    /// Port to try first.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Extra option for ssh, such as Port=2222.
    ///
    /// Passed with `-o`, or as it is (-F, and then a file). May be repeated.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) ssh_option: Vec<String>,
    /// Skip tests whose program is missing on a host.
    #[arg(long)]
    pub(crate) skip_missing: bool,
    /// Take no snapshots.
    ///
    /// The measured configuration is then not known.
    #[arg(long)]
    pub(crate) no_snapshot: bool,
    /// Show what would run and what it would cost; run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// A label to find the runs by.
    ///
    /// May be repeated.
    #[arg(long, value_name = "WORD")]
    pub(crate) label: Vec<String>,
    /// Also write the tools' own outputs here.
    ///
    /// With the snapshots, into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Keep nothing in the history.
    #[arg(long)]
    pub(crate) no_store: bool,
    /// No progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Which runs of the history.
#[derive(Debug, Args, Default)]
pub(crate) struct FilterArgs {
    /// Kind of output: nccl-tests, perftest, iperf3, …
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// The program: all_reduce_perf, ib_write_bw.
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Metric: busbw, bandwidth, latency, tps.
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// Size of the message: 8388608, 8M, 1GiB.
    #[arg(long, value_parser = bytes)]
    pub(crate) size: Option<u64>,
    /// A host that took part.
    #[arg(long)]
    pub(crate) host: Option<String>,
    /// A label of the runs.
    ///
    /// May be repeated.
    #[arg(long)]
    pub(crate) label: Vec<String>,
    /// A parameter, as KEY=VALUE: ranks=16.
    ///
    /// May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) param: Vec<String>,
    /// Only runs not older than this: 7d, 12h.
    #[arg(long, value_name = "AGE", value_parser = seconds)]
    pub(crate) since: Option<u64>,
    /// Show at most N runs, the newest.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate bench history                                      the newest runs
  linerate bench history --kind nccl-tests --host u25
  linerate bench history --band --metric busbw --size 8G      smallest, median, largest so far, with n
  linerate bench history --best --metric busbw
  linerate bench history --export runs.parquet                .csv, .json, .jsonl as well
  linerate bench history --target busbw-2n --metric busbw --low 194GB/s --high 309GB/s --source 'field note N1'
  linerate bench history --check 3f2a                         a run against targets and the history
  linerate bench history --delete 3f2a")]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Show quartiles and range of each measurement.
    ///
    /// Smallest, quartiles, largest, with its n.
    #[arg(long, group = "what")]
    pub(crate) band: bool,
    /// Show the best runs of each measurement.
    #[arg(long, group = "what")]
    pub(crate) best: bool,
    /// Export all matching runs to this file.
    ///
    /// Its ending chooses the format: .csv, .json, .jsonl or .parquet.
    #[arg(long, value_name = "FILE", group = "what")]
    pub(crate) export: Option<PathBuf>,
    /// Set a target of this name.
    ///
    /// For --metric (and --kind, --tool, --size, --param), with --low or --high.
    #[arg(long, value_name = "NAME", group = "what")]
    pub(crate) target: Option<String>,
    /// Lower end of the target, with its unit: 194GB/s.
    #[arg(long, value_name = "VALUE", requires = "target")]
    pub(crate) low: Option<String>,
    /// Upper end of the target, with its unit.
    #[arg(long, value_name = "VALUE", requires = "target")]
    pub(crate) high: Option<String>,
    /// Where the target comes from.
    #[arg(long, value_name = "TEXT", requires = "target")]
    pub(crate) source: Option<String>,
    /// List targets.
    #[arg(long, group = "what")]
    pub(crate) targets: bool,
    /// Remove a target.
    #[arg(long, value_name = "NAME", group = "what")]
    pub(crate) remove_target: Option<String>,
    /// Compare a run with the targets and the history.
    #[arg(long, value_name = "RUN", group = "what")]
    pub(crate) check: Option<String>,
    /// Show a run.
    #[arg(long, value_name = "RUN", group = "what")]
    pub(crate) show: Option<String>,
    /// Delete a run.
    #[arg(long, value_name = "RUN", group = "what")]
    pub(crate) delete: Option<String>,
    /// Check the history file: read every value.
    #[arg(long, group = "what")]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotKind {
    /// What fits the data.
    Auto,
    /// Over the size of messages, with bands of several runs and the alpha–beta fit.
    Sweep,
    /// Over time, with the transient that is cut.
    Timeline,
    /// How values are distributed.
    Distribution,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    /// Characters, for a terminal.
    Text,
    /// A drawing.
    Svg,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate bench plot allreduce.log
  linerate bench plot before/ after/ --format svg -o sweep.svg
  linerate bench plot train.log --kind timeline --metric tps")]
pub(crate) struct PlotArgs {
    /// One side, or two.
    ///
    /// Files, directories, runs of the history, label:WORD.
    #[arg(value_name = "RUN", required = true, num_args = 1..=2)]
    pub(crate) sides: Vec<String>,
    /// What to draw.
    #[arg(long, value_enum, default_value_t = PlotKind::Auto)]
    pub(crate) kind: PlotKind,
    /// Metric to draw.
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    #[command(flatten)]
    pub(crate) links: LinkArgs,
    /// Snapshot of a node, for the ceiling.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) node: Vec<PathBuf>,
    /// Use only ASCII characters.
    #[arg(long)]
    pub(crate) ascii: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = PlotFormat::Text)]
    pub(crate) format: PlotFormat,
    #[command(flatten)]
    pub(crate) out: OutArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate bench summary results/ --link 2x40G
  linerate bench summary results/ --format html -o cluster.html
  linerate bench summary label:rack3 --node node.tar.zst --gradient 14GB")]
pub(crate) struct SummaryArgs {
    /// Files, directories, runs of the history, label:WORD.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Bytes of gradients that a step synchronises.
    ///
    /// To estimate what the network means for training.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) gradient: Option<u64>,
    #[command(flatten)]
    pub(crate) links: LinkArgs,
    /// Snapshot of a node.
    ///
    /// May be repeated.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) node: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
    #[command(flatten)]
    pub(crate) out: OutArgs,
}

/// `X,Y`.
fn two(text: &str) -> Result<(String, String), NotAValue> {
    let pair = text.split_once(',').map(|(x, y)| (x.trim().to_owned(), y.trim().to_owned()));
    pair.filter(|(x, y)| !x.is_empty() && !y.is_empty()).ok_or(NotAValue::Columns)
}

/// `2%`, `0.02`.
fn share(text: &str) -> Result<f64, NotAValue> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    let value = number.parse::<f64>().map(|v| v * scale).ok().filter(|v| *v > 0.0 && *v < 1.0);
    value.ok_or(NotAValue::Share)
}

/// `90`, `90s`, `10m`, `2h`, `7d`.
pub(crate) fn seconds(text: &str) -> Result<u64, NotAValue> {
    let text = text.trim();
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        Some((at, 'd')) => (&text[..at], 86_400),
        _ => (text, 1),
    };
    let value = number.trim().parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n > 0);
    value.ok_or(NotAValue::Time)
}

/// A number of bytes, as `linerate_formats::size` reads it, below 10^18.
fn bytes(text: &str) -> Result<u64, NotAValue> {
    /// More than any benchmark moves; the history holds numbers of 63 bits.
    const MOST: u64 = 1_000_000_000_000_000_000;
    let bytes = linerate_formats::size::parse(text).filter(|n| *n < MOST);
    bytes.ok_or(NotAValue::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_nonsense_is_not() {
        assert_eq!(share("2%"), Ok(0.02));
        assert_eq!(share("0.05"), Ok(0.05));
        assert!(share("0").is_err() && share("120%").is_err() && share("nan").is_err());
        assert_eq!(seconds("10m"), Ok(600));
        assert!(seconds("m").is_err() && seconds("-1s").is_err() && seconds("1µ").is_err());
        assert_eq!(bytes("8M"), Ok(8 << 20));
        assert_eq!(bytes("1.5GB"), Ok(1_500_000_000));
        assert!(bytes("8X").is_err() && bytes("G").is_err());
    }
}
