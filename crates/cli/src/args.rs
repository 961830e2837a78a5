//! The command line. Help, man pages and completions are made from these types.

use crate::not_a_value::NotAValue;
use crate::on_args::OnArgs;
use crate::show_args::ShowArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use linerate_node::context::Role;
use linerate_report::json::Version;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0  everything that was judged is right
  1  findings of severity low or above
  2  no findings, but something could not be seen
  3  usage or internal error
  130, 143  ended by SIGINT, SIGTERM
  141  standard output was closed before an archive or a stream was complete; a report keeps the exit code of its verdict";

/// Finds and fixes what slows down GPU/RDMA cluster nodes, and proves it.
#[derive(Debug, Parser)]
#[command(name = "linerate", version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli<C: Subcommand = Command> {
    /// Limit for unpacked input, in total: 500M, 20G.
    ///
    /// For .gz, .zst, .xz, .bz2 and archives. Powers of 1024; 20GB is 20 × 10^9. Default: 64 MiB and 200 times the packed bytes.
    #[arg(long, global = true, help_heading = "Texts and archives", value_name = "SIZE", value_parser = crate::budget::size)]
    pub(crate) max_input: Option<u64>,
    /// Node that a text is from: `--host-of lspci2.txt=gpu002`.
    ///
    /// If neither the text nor its name shows it. FILE is a path, the end of one, or `-`.
    #[arg(long, global = true, help_heading = "Texts and archives", value_name = "FILE=NAME", value_parser = crate::budget::host_of)]
    pub(crate) host_of: Vec<(PathBuf, String)>,
    #[command(subcommand)]
    pub(crate) command: C,
}

/// The commands, twice from one list: [`Command`] with the options of all of them, and [`Named`], of which clap makes those of a command when it is
/// named. Making all of them takes as long as the rest of a start.
macro_rules! commands {
    ($($command:tt)*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command { $($command)* }

        #[derive(Debug, Subcommand)]
        #[command(defer = true)]
        pub(crate) enum Named { $($command)* }
    };
}

commands! {
    /// Audit a node: what is wrong, the evidence, the sources, and what could not be checked.
    Audit(AuditArgs),
    /// Capture a node into a snapshot, or many nodes into a directory of them; read-only and redacted.
    Collect(Box<crate::collect_args::CollectArgs>),
    /// Compare two nodes, or one at two times: what differs, by position in the topology, and which side is right.
    Diff(crate::diff_args::DiffArgs),
    /// Find nodes that differ from the others: for each fact, the majority value and the outliers.
    Drift(crate::drift_args::DriftArgs),
    /// Find the nodes where a rule fails or a fact has a value; print a set to paste.
    Where(crate::index_args::WhereArgs),
    /// Update the index of a fleet's directory.
    Fleet(crate::index_args::FleetArgs),
    /// List the nodes and groups of all sources, as sets to paste; test which can be reached.
    Nodes(crate::nodes_args::NodesArgs),
    /// Show the topology as NCCL sees it: paths, GPUDirect RDMA, the NIC of each GPU, possible bandwidth.
    Topo(TopoArgs),
    /// Find causes in logs: what ran, what went wrong first, why, what would prove it, and what is not the cause.
    Doctor(DoctorArgs),
    /// Check and lay out virtual machines: the host's PCI tree in a guest, and what NCCL sees there.
    Vm(crate::vm_args::VmArgs),
    /// Watch a node, or two dumps of one: which counters grow, how fast, and what that means.
    Watch(Box<crate::watch_args::WatchArgs>),
    /// Check environment variables of NCCL, UCX and related libraries.
    Env(EnvArgs),
    /// Run, import and compare benchmarks, with confidence intervals.
    Bench(Box<crate::bench_args::BenchArgs>),
    /// Check nodes against a policy; learn, compare and test policies.
    Policy(crate::policy_args::PolicyArgs),
    /// Plan fixes for the node's platform: what, why, how to undo and how to prove it.
    Plan(crate::plan_args::PlanArgs),
    /// Apply a plan: change, reboot, read again, prove. A journal lets it go on after a crash.
    Apply(crate::plan_args::ApplyArgs),
    /// Verify a plan: is each step effective on the node, and did anything else change?
    Verify(crate::plan_args::VerifyArgs),
    /// Undo a plan, byte for byte.
    Rollback(crate::plan_args::RollbackArgs),
    /// What apply asks on a node.
    #[command(hide = true)]
    Hand,
    /// Reverse hashes that were made with a redaction key.
    Redact(crate::redact_args::RedactArgs),
    /// Explain a rule, a symptom or a cause: what it is, why, how to see it yourself, the fix, the myths.
    Explain(ExplainArgs),
    /// List the rules.
    Rules(RulesArgs),
    /// Print completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one page for each command into a directory.
    Man {
        /// Directory to write into.
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Write Markdown instead, as in docs/verbs.
        #[arg(long, requires = "dir")]
        markdown: bool,
    },
}

#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  sudo linerate audit                         this machine
  linerate audit node.tar.zst                 a snapshot taken elsewhere
  linerate audit lspci.txt                    a pasted text
  linerate audit snapshots/                   each snapshot: a line, then totals
  linerate audit --on 'gpu[001-128],@rack7'   live nodes, over your own ssh
  linerate audit --rule 'acs/*' --format json
  linerate audit --fail-on high               for CI

Exit codes: 0 all that was judged is right; 1 findings of severity low or above
(--fail-on); 2 no findings, but something could not be seen; 3 usage or
internal error",
    after_long_help = "\
Examples:
  sudo linerate audit                         this machine
  linerate audit node.tar.zst                 a snapshot taken elsewhere
  linerate audit --root /host                 a container with the host's filesystem at /host
  linerate audit lspci.txt                    a pasted dump
  linerate audit snapshots/                   every snapshot in a directory: a line each, then who fails what, and where
  linerate audit fleet/ --format markdown     the newest snapshot of each node (NODE/TIME.tar.zst), for a ticket
  linerate audit fleet/ --format sarif -o fleet.sarif
  linerate audit --on gpu007                  a live node, over your own ssh: nothing has to be installed there
  linerate audit --on 'gpu[001-128],@rack7'   many of them: a line each, then who fails what, and where
  linerate audit --rule 'acs/*' --format json
  linerate audit --fail-on high               for CI: findings below high do not fail
  linerate audit --ignore iommu/faults:0000:19:00.0 --suppressions site/accepted.toml
  linerate audit --format json --schema 1     the JSON of earlier releases

Exit codes:
  0  everything that was judged is right
  1  findings of severity low or above (--fail-on); suppressed ones do not count
  2  no findings, but something could not be seen, a node could not be read, or a limit left part of the source out
  3  usage or internal error"
)]
pub(crate) struct AuditArgs {
    /// What to audit (default: this machine).
    ///
    /// A snapshot, a tree or archive with sys/ and proc/, a text of lspci, mlxconfig, nvidia-smi, dmesg …, a directory of such texts, a directory of
    /// snapshots, a fleet's directory, or `-`.
    #[arg(value_name = "SOURCE", conflicts_with = "on")]
    pub(crate) sources: Vec<PathBuf>,
    /// Audit the system whose root directory is mounted here.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["sources", "on"])]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) of: crate::chosen::NodesArg,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Version of the JSON schema.
    ///
    /// 2 (default) marks each fact as known, absent or unreadable; 1 is the form of earlier releases.
    #[arg(long, value_enum, value_name = "VERSION")]
    pub(crate) schema: Option<SchemaArg>,
    /// Write the report here instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Run only these rules: an id or a pattern like 'acs/*'.
    ///
    /// May be repeated.
    #[arg(long = "rule", short, value_name = "PATTERN", value_parser = crate::ids::Ids::Rules, hide_possible_values = true)]
    pub(crate) rules: Vec<String>,
    /// Fail only on findings of this severity or above (exit code 1).
    ///
    /// Exit code 2 then means that a finding at or above it cannot be ruled out. [default: low]
    #[arg(long, help_heading = "Known findings", value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<crate::terms_args::FailOn>,
    #[command(flatten)]
    pub(crate) known: crate::terms_args::SuppressArgs,
    /// Earlier snapshot: judge counters by their growth since.
    ///
    /// Or an earlier dump of the same node. Default: error counters are judged by their totals.
    #[arg(long, value_name = "EARLIER", conflicts_with = "on")]
    pub(crate) before: Option<PathBuf>,
    /// Role of the node, if the source lacks it.
    #[arg(long, value_enum, value_name = "ROLE")]
    pub(crate) role: Option<RoleArg>,
    /// Print only the verdict and one line per finding.
    #[arg(long, conflicts_with = "verbose")]
    pub(crate) brief: bool,
    /// List passes and not-applicable rules, too.
    ///
    /// With their evidence. For several nodes: also name those on which a rule is unknown.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Keep serials, GUIDs, addresses and names of live nodes.
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate topo                                        this machine
  linerate topo --on gpu007                            a live node, over your own ssh
  linerate topo node.tar.zst --nccl 2.21               a snapshot, and an older NCCL
  linerate topo topo.xml --env NCCL_NET_GDR_LEVEL=PHB  NCCL's topology file, and a variable
  linerate topo node.tar.zst --explain GPU0 mlx5_3     how NCCL decides about two devices
  linerate topo node.tar.zst --what-if full-links --what-if move=mlx5_3:NUMA1
  linerate topo node.tar.zst --ceiling --nodes 2       what two such nodes could reach, and what limits them
  linerate topo node.tar.zst --format svg -o node.svg
  linerate topo node.tar.zst --format xml -o topo.xml  for NCCL_TOPO_FILE
  linerate topo node.tar.zst --format rdma-topo-dump   for `rdma_topo check -F`

Changes for --what-if: full-links, link=BUSID:Gen5x16, move=NIC:BUSID, move=NIC:NUMA1, level=PHB,
NCCL_VARIABLE=VALUE, nccl=VERSION.

Exit codes:
  0  the whole source was read
  2  a limit, or damage, left part of the source out
  3  usage or internal error")]
pub(crate) struct TopoArgs {
    /// What to read (default: this machine).
    ///
    /// A snapshot or an archive of one, a directory with a system's tree, pasted texts (lspci -vvv, nvidia-smi), or NCCL's topology XML.
    #[arg(value_name = "SOURCE", conflicts_with = "on")]
    pub(crate) source: Option<PathBuf>,
    /// Read the system whose root directory is mounted here.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["source", "on"])]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = TopoFormat::Text)]
    pub(crate) format: TopoFormat,
    /// Write the answer here instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Release of NCCL, such as 2.21 or 2.21.5.
    #[arg(long, value_name = "VERSION", default_value_t = linerate_topology::Version::REFERENCE, value_parser = modelled)]
    pub(crate) nccl: linerate_topology::Version,
    /// A variable of NCCL's environment, KEY=VALUE.
    ///
    /// May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) env: Vec<String>,
    /// Number of identical nodes in the job.
    ///
    /// It decides what rings and trees there are, and the ceiling across nodes.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) nodes: u32,
    /// Also show the possible bandwidth, and its limit.
    ///
    /// With the derivation. In text and JSON.
    #[arg(long)]
    pub(crate) ceiling: bool,
    /// Explain how NCCL decides about GPU0 mlx5_0.
    ///
    /// Two devices, by name or bus id. In text, instead of the report.
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub(crate) explain: Vec<String>,
    /// Show what this change would make different.
    ///
    /// May be repeated.
    #[arg(long, value_name = "CHANGE")]
    pub(crate) what_if: Vec<linerate_topology::what_if::Change>,
    /// Type of the XML (default: from its content).
    ///
    /// A file that NCCL completes, or a dump that is complete.
    #[arg(long = "as", value_enum, value_name = "KIND")]
    pub(crate) input: Option<XmlKind>,
    /// Compute capability of the GPUs, times ten.
    ///
    /// If the source does not show it.
    #[arg(long, value_name = "SM", value_parser = clap::value_parser!(i32).range(30..=200))]
    pub(crate) assume_sm: Option<i32>,
    /// NVLinks of each GPU to NVLink switches; 0 for none.
    ///
    /// If the source does not show it.
    #[arg(long, value_name = "LINKS", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub(crate) assume_nvlinks: Option<u32>,
    /// Speed of a NIC in Gb/s.
    ///
    /// If the source does not show it.
    #[arg(long, value_name = "GBPS", value_parser = clap::value_parser!(u32).range(1..=3200))]
    pub(crate) assume_nic_gbps: Option<u32>,
    /// Keep serials, GUIDs, addresses and names of live nodes.
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopoFormat {
    /// For a person.
    Text,
    /// For programs: docs/schema/topo-1.json.
    Json,
    /// For Graphviz.
    Dot,
    /// A drawing.
    Svg,
    /// For NCCL_TOPO_FILE.
    Xml,
    /// What `rdma_topo dump` of rdma-core prints on that node.
    RdmaTopoDump,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum XmlKind {
    /// A topology file, of a vendor for example.
    File,
    /// What NCCL_TOPO_DUMP_FILE wrote.
    Dump,
}

#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    #[command(subcommand)]
    pub(crate) command: EnvCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EnvCommand {
    /// Check settings: obsolete, ignored, misspelt, harmful here, contradictory; and show what this node needs.
    Check(EnvCheckArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate env check                                       this process, /etc/nccl.conf and ~/.nccl.conf
  linerate env check pod.yaml --nccl 2.21 --node node.tar.zst
  linerate env check pod.yaml --on gpu007                  and a live node, over your own ssh
  linerate env check job.sbatch /etc/nccl.conf             and which of them takes effect
  linerate env check nccl.log                              the settings that NCCL logged, and its release
  linerate env check /proc/4711/environ
  kubectl exec POD -- env | linerate env check -
  linerate env check --node node.tar.zst --format k8s      the minimum that this node needs, to paste

Only variables of NCCL, UCX, libfabric, PyTorch's NCCL, CUDA and the container toolkit are kept; all others, which may be
secrets, are dropped where they are read.

Exit codes:
  0  no problem in these settings
  1  findings of severity low or above
  2  no findings, but something could not be decided from this, or part of the input was left out
  3  usage or internal error")]
#[command(mut_arg("verbose", |a| a.help("Show the sources of every judgement")))]
pub(crate) struct EnvCheckArgs {
    /// What to check (default: this process's environment).
    ///
    /// A shell environment, /proc/PID/environ, a job script, a pod spec or another manifest, a Dockerfile, nccl.conf, a log of NCCL, or `-`. The type is detected from the content. Without FILE, /etc/nccl.conf and ~/.nccl.conf are read, too; with --node or --on, that node's /etc/nccl.conf.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Node on which it runs; `/` is this machine.
    ///
    /// A snapshot, a tree, or pasted texts.
    #[arg(long, value_name = "SNAPSHOT", conflicts_with = "on")]
    pub(crate) node: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Release of NCCL, such as 2.21 or 2.21.5. A log shows it.
    #[arg(long, value_name = "VERSION", value_parser = released)]
    pub(crate) nccl: Option<linerate_topology::Version>,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = EnvFormat::Text)]
    pub(crate) format: EnvFormat,
    #[command(flatten)]
    pub(crate) out: ShowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnvFormat {
    /// For a person.
    Text,
    /// For programs: docs/schema/env-1.json.
    Json,
    /// What to set and unset, for a shell.
    Shell,
    /// What to set, as `env` of a container.
    K8s,
    /// What to set and unset, in a Slurm script.
    Sbatch,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate doctor nccl.log                             the output of a job with NCCL_DEBUG=INFO
  kubectl logs job/train --all-containers | linerate doctor -
  linerate doctor logs/                                logs of all ranks, dmesg of the nodes, benchmarks, .gz as they are
  linerate doctor slurm-*.out --node node7.tar.zst     with what `linerate collect` took on a node
  linerate doctor slurm-*.out --on 'gpu[001-016]'      with its nodes as they are now, over your own ssh
  linerate doctor ib_write_bw.txt --link 400G,ib       a table alone: what explains its figure, and what to run next
  linerate doctor ticket.txt --format markdown -o answer.md

The type of each input is detected from its content: NCCL logs of any launcher, kernel logs, tables of nccl-tests and perftest, texts of
nvidia-smi, lspci and other tools, snapshots; plain or packed by gzip, zstd, xz, bzip2. Memory does not grow with the logs.

Exit codes:
  0  nothing wrong was seen
  1  causes were found
  2  something is wrong and cannot be decided from this, nothing was understood, or part of the input was not read
  3  usage or internal error")]
#[command(mut_arg("verbose", |a| a.help("Show all evidence, all inputs and whole lists")))]
pub(crate) struct DoctorArgs {
    /// What to read (default: piped input).
    ///
    /// Files, pipes, directories, snapshots, or `-` for standard input.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) inputs: Vec<PathBuf>,
    /// A node of the job; `/` is this machine.
    ///
    /// A snapshot, a tree, or a directory of snapshots. May be repeated.
    #[arg(long = "node", value_name = "SNAPSHOT")]
    pub(crate) nodes: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Network ports of each node: 4x400G.
    ///
    /// If no node is given. With ,ib or ,roce and ,mtu=4096, if known.
    #[arg(long, value_name = "LINKS")]
    pub(crate) link: Option<linerate_topology::ceiling::Links>,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = DoctorFormat::Text)]
    pub(crate) format: DoctorFormat,
    #[command(flatten)]
    pub(crate) out: ShowArgs,
    /// No progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DoctorFormat {
    /// For a person.
    Text,
    /// For programs: docs/schema/doctor-1.json.
    Json,
    /// For a ticket.
    Markdown,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate explain iommu/translated-domain             a rule
  linerate explain net/ib-disabled-by-env              a cause that `linerate doctor` names
  linerate explain symptom/gpudirect-disabled          from the symptom to the cause
  linerate explain symptom                             all symptoms")]
pub(crate) struct ExplainArgs {
    /// Id of a rule, symptom or cause; or a variable.
    ///
    /// As in reports; a variable such as NCCL_IB_HCA. An area or a pattern ('acs/*') lists what it names; so do `symptom` and `cause`.
    #[arg(value_name = "ID", value_parser = crate::ids::Ids::Explained, hide_possible_values = true)]
    pub(crate) id: String,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    /// List only these: an id, an area, or a pattern such as 'acs/*'.
    #[arg(value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// Also show where each rule applies.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a person.
    Text,
    /// For programs: docs/schema/audit-2.json.
    Json,
    /// For a ticket.
    Markdown,
    /// For code-scanning tools, SARIF 2.1.0.
    Sarif,
    /// For CI systems.
    Junit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaArg {
    /// docs/schema/audit-1.json.
    #[value(name = "1")]
    One,
    /// docs/schema/audit-2.json.
    #[value(name = "2")]
    Two,
}

impl From<SchemaArg> for Version {
    fn from(s: SchemaArg) -> Version {
        match s {
            SchemaArg::One => Version::One,
            SchemaArg::Two => Version::Two,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A table.
    Text,
    /// JSON.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// The system uses GPUs and NICs itself.
    BareMetal,
    /// The system passes them to virtual machines.
    VmHost,
    /// The system is a virtual machine.
    VmGuest,
}

impl From<RoleArg> for Role {
    fn from(r: RoleArg) -> Role {
        match r {
            RoleArg::BareMetal => Role::BareMetal,
            RoleArg::VmHost => Role::VmHost,
            RoleArg::VmGuest => Role::VmGuest,
        }
    }
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A release of NCCL that there is.
pub(crate) fn released(text: &str) -> Result<linerate_topology::Version, NotAValue> {
    Ok(linerate_env::released(text.parse()?)?)
}

/// A release whose topology is rebuilt.
pub(crate) fn modelled(text: &str) -> Result<linerate_topology::Version, NotAValue> {
    let v = released(text)?;
    let oldest = linerate_topology::Version::OLDEST;
    if v.since(oldest.major, oldest.minor) {
        return Ok(v);
    }
    Err(NotAValue::NotRebuilt { asked: v, oldest })
}
