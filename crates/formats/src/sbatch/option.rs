//! Options of sbatch, srun and mpirun that say how many tasks and GPUs there are, and what each task may use. Values have closed forms: what has none
//! of them is given, and not known.

use super::command::Numbers;
use super::words::Word;
use crate::slurm::gres;
use serde::Serialize;
use std::fmt;

/// What an option is about. Two that set the same are one: `--gres=gpu:8` and `--gpus-per-node=8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opt {
    /// `-N`, `--nodes`.
    Nodes,
    /// `-n`, `--ntasks`.
    Ntasks,
    /// `--ntasks-per-node`.
    NtasksPerNode,
    /// `--ntasks-per-gpu`.
    NtasksPerGpu,
    /// `-G`, `--gpus`: of all nodes together.
    Gpus,
    /// `--gpus-per-node`, `--gres=gpu:…`.
    GpusPerNode,
    /// `--gpus-per-task`, `--tres-per-task=gres/gpu…`.
    GpusPerTask,
    /// `-c`, `--cpus-per-task`.
    CpusPerTask,
    /// `--cpus-per-gpu`.
    CpusPerGpu,
    /// `--mem`, in MiB.
    Mem,
    /// `--exclusive`.
    Exclusive,
    /// `--gpu-bind`, `--tres-bind=gres/gpu:…`.
    GpuBind,
    /// `--cpu-bind`.
    CpuBind,
    /// `--hint`.
    Hint,
    /// `--propagate`.
    Propagate,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// A number.
    Number(u64),
    /// A number of GPUs, or of parts of them (MIG).
    Gpus {
        /// How many, of all types together.
        count: u64,
        /// A type names parts of GPUs: `1g.10gb`.
        parts: bool,
    },
    /// How GPUs are bound to tasks.
    Bind(Bind),
    /// One of few words.
    Word(&'static str),
    /// Names of limits.
    Limits(Vec<&'static str>),
}

/// How GPUs are bound to tasks (`--tres-bind` of sbatch(1)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bind {
    /// A task sees all GPUs that the step has on its node.
    None,
    /// Those that are closest to it.
    Closest,
    /// Those that a list names for it.
    Map,
    /// Those that a list of masks names for it: one, or all.
    Mask,
    /// So many of its own.
    PerTask(u64),
    /// One, which it shares with so many tasks less one.
    Single(u64),
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bind::None => f.write_str("none"),
            Bind::Closest => f.write_str("closest"),
            Bind::Map => f.write_str("map"),
            Bind::Mask => f.write_str("mask"),
            Bind::PerTask(n) => write!(f, "per_task:{n}"),
            Bind::Single(n) => write!(f, "single:{n}"),
        }
    }
}

/// An option that is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Given {
    /// Which.
    pub opt: Opt,
    /// `None`: a variable, a range, or something that is not of its form.
    pub value: Option<Value>,
    /// 1-based line.
    pub line: u32,
}

/// Options, each once: the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Options(pub(super) Vec<Given>);

/// A row of the table: its names, whether it has a value without `=`, and the form of that.
struct Def {
    opt: Opt,
    long: &'static str,
    short: Option<char>,
    /// A value is behind `=` or not there at all.
    optional: bool,
    /// The value; the outer `None`: it is not about this.
    form: fn(&str) -> Option<Option<Value>>,
}

const fn def(opt: Opt, long: &'static str, form: fn(&str) -> Option<Option<Value>>) -> Def {
    Def { opt, long, short: None, optional: false, form }
}

const fn short(short: char, def: Def) -> Def {
    Def { short: Some(short), ..def }
}

/// Of sbatch and srun (`slurm_opt.c`).
const SLURM: &[Def] = &[
    short('N', def(Opt::Nodes, "nodes", |v| Some(nodes(v)))),
    short('n', def(Opt::Ntasks, "ntasks", |v| Some(number(v)))),
    def(Opt::NtasksPerNode, "ntasks-per-node", |v| Some(number(v))),
    def(Opt::NtasksPerGpu, "ntasks-per-gpu", |v| Some(number(v))),
    short('G', def(Opt::Gpus, "gpus", |v| Some(gpus(v)))),
    def(Opt::GpusPerNode, "gpus-per-node", |v| Some(gpus(v))),
    def(Opt::GpusPerNode, "gres", of_gres),
    def(Opt::GpusPerTask, "gpus-per-task", |v| Some(gpus(v))),
    def(Opt::GpusPerTask, "tres-per-task", of_tres),
    short('c', def(Opt::CpusPerTask, "cpus-per-task", |v| Some(number(v)))),
    def(Opt::CpusPerGpu, "cpus-per-gpu", |v| Some(number(v))),
    def(Opt::Mem, "mem", |v| Some(mem(v))),
    Def { optional: true, ..def(Opt::Exclusive, "exclusive", |v| Some(word(v, EXCLUSIVE))) },
    def(Opt::GpuBind, "gpu-bind", |v| Some(bind(v).map(Value::Bind))),
    def(Opt::GpuBind, "tres-bind", of_tres_bind),
    def(Opt::CpuBind, "cpu-bind", |v| Some(cpu_bind(v))),
    def(Opt::CpuBind, "cpu_bind", |v| Some(cpu_bind(v))),
    def(Opt::Hint, "hint", |v| Some(word(v, HINTS))),
    Def { optional: true, ..def(Opt::Propagate, "propagate", |v| Some(limits(v))) },
];

/// Of mpirun: Open MPI, MPICH and Intel MPI.
const MPIRUN: &[Def] = &[
    short('n', def(Opt::Ntasks, "np", |v| Some(number(v)))),
    short('N', def(Opt::NtasksPerNode, "npernode", |v| Some(number(v)))),
    def(Opt::NtasksPerNode, "ppn", |v| Some(number(v))),
    def(Opt::NtasksPerNode, "ntasks-per-node", |v| Some(number(v))),
];

/// Options of srun that take no value, or one behind `=` alone: what follows is the program.
const FLAGS: &[&str] = &[
    "contiguous",
    "disable-status",
    "exact",
    "exclusive",
    "external",
    "immediate",
    "interactive",
    "kill-on-bad-exit",
    "label",
    "multi-prog",
    "no-allocate",
    "no-container-entrypoint",
    "no-container-mount-home",
    "no-container-remap-root",
    "no-kill",
    "no-requeue",
    "nvmps",
    "container-entrypoint",
    "container-mount-home",
    "container-readonly",
    "container-remap-root",
    "container-writable",
    "overcommit",
    "overlap",
    "oversubscribe",
    "preserve-env",
    "propagate",
    "pty",
    "quiet",
    "quit-on-interrupt",
    "reboot",
    "resv-ports",
    "spread-job",
    "unbuffered",
    "use-min-nodes",
    "verbose",
    "wait-all-nodes",
    "allow-run-as-root",
    "bind-to-none",
    "display-map",
    "oversubscribe",
    "report-bindings",
    "tag-output",
];
const SHORT_FLAGS: &str = "EHIKOQSXZklsuv";

/// Whose options they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// `#SBATCH`: all words are options, or nothing.
    Sbatch,
    /// They end at the program.
    Srun,
    /// They end at the program, and have names of their own.
    Mpirun,
}

impl Options {
    /// Takes the options of a list of words. How many words are before the program, and where a variable may hold further options.
    pub(super) fn take(&mut self, all: &[Word], of: Of, numbers: &Numbers) -> (usize, Option<u32>) {
        let table = if of == Of::Mpirun { MPIRUN } else { SLURM };
        let (mut at, mut open) = (0, None);
        while let Some(word) = all.get(at) {
            at += 1;
            let Some(rest) = word.text.strip_prefix('-').filter(|r| !r.is_empty()) else {
                if word.text.starts_with('$') && of != Of::Sbatch {
                    open = open.or(Some(word.line));
                } else if of != Of::Sbatch {
                    return (at - 1, open);
                }
                continue;
            };
            if rest == "-" {
                return (at, open);
            }
            let next = all.get(at);
            let name = rest.strip_prefix('-').unwrap_or(rest);
            let is_long = rest.starts_with('-') || of == Of::Mpirun && table.iter().any(|d| d.long == rest);
            let (name, value) = if is_long {
                name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)))
            } else {
                let behind = rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
                (rest, Some(behind).filter(|b| !b.is_empty()))
            };
            let def = match is_long {
                true => table.iter().find(|d| d.long == name),
                false => table.iter().find(|d| d.short.is_some() && d.short == name.chars().next()),
            };
            let is_flag = match is_long {
                true => FLAGS.contains(&name),
                false => SHORT_FLAGS.contains(name.chars().next().unwrap_or_default()),
            };
            match def {
                Some(d) if d.optional => self.set(d, numbers.of(value.unwrap_or_default()), word.line),
                Some(d) => {
                    let value = value.or_else(|| {
                        at += 1;
                        next.map(|n| n.text.as_str())
                    });
                    self.set(d, numbers.of(value.unwrap_or_default()), word.line);
                }
                None if value.is_none() && !is_flag && next.is_some_and(|n| !n.text.starts_with('-')) => at += 1,
                None => {}
            }
        }
        (at.min(all.len()), open)
    }

    fn set(&mut self, d: &Def, value: &str, line: u32) {
        let Some(value) = (d.form)(value) else { return };
        self.0.retain(|g| g.opt != d.opt);
        self.0.push(Given { opt: d.opt, value, line });
    }

    /// An option, where it is given.
    #[must_use]
    pub fn get(&self, opt: Opt) -> Option<&Given> {
        self.0.iter().find(|g| g.opt == opt)
    }
}

impl Given {
    /// Its number: of tasks, of nodes, of whole GPUs.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self.value {
            Some(Value::Number(n) | Value::Gpus { count: n, parts: false }) => Some(n),
            _ => None,
        }
    }

    /// As it is written again: [`Options::take`] gives the same.
    pub(super) fn write(&self, of: Of, out: &mut String) {
        use fmt::Write;
        let name = |d: &&Def| d.opt == self.opt;
        let Some(def) = (if of == Of::Mpirun { MPIRUN } else { SLURM }).iter().find(name) else { return };
        let sign = if of == Of::Mpirun { ' ' } else { '=' };
        let _ = write!(out, "--{}", def.long);
        let _ = match &self.value {
            None => write!(out, "{sign}[redacted]"),
            Some(Value::Number(n)) => write!(out, "{sign}{n}"),
            Some(Value::Gpus { count, parts: false }) => write!(out, "{sign}{count}"),
            Some(Value::Gpus { count, parts: true }) => write!(out, "{sign}1g.10gb:{count}"),
            Some(Value::Bind(b)) => write!(out, "{sign}{b}"),
            Some(Value::Word(WHOLE)) => Ok(()),
            Some(Value::Word(w)) => write!(out, "{sign}{w}"),
            Some(Value::Limits(all)) => write!(out, "{sign}{}", all.join(",")),
        };
    }
}

fn number(value: &str) -> Option<Value> {
    let digits = (1..=9).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| value.parse().ok().map(Value::Number)).flatten()
}

/// `2`, `2-2`. Of a range the number is not known.
fn nodes(value: &str) -> Option<Value> {
    match value.split_once('-') {
        Some((a, b)) => number(a).filter(|a| Some(a) == number(b).as_ref()),
        None => number(value),
    }
}

/// `8`, `h100:8`, `v100:3,a100:1`.
fn gpus(value: &str) -> Option<Value> {
    let mut all = value.split(',').map(|part| {
        let (model, n) = part.rsplit_once(':').map_or((None, part), |(m, n)| (Some(m), n));
        let Some(Value::Number(n)) = number(n) else { return None };
        Some((n, model.is_some_and(gres::is_partition)))
    });
    all.try_fold((0_u64, false), |(sum, parts), one| {
        let (n, part) = one?;
        Some((sum.checked_add(n)?, parts || part))
    })
    .map(|(count, parts)| Value::Gpus { count, parts })
}

/// `gpu:h100:8,nvme:1`. Without GPUs in it, it is not about them; a variable may hold some.
fn of_gres(value: &str) -> Option<Option<Value>> {
    if value.contains(['$', '[']) {
        return Some(None);
    }
    let bare: Vec<&str> = value.split(',').map(|v| v.trim_start_matches("gres/").trim_start_matches("gres:")).collect();
    let all = gres::parse(&bare.join(","));
    let mut gpus = all.iter().filter(|g| g.name == "gpu").peekable();
    gpus.peek()?;
    let parts = all.iter().any(|g| g.name == "gpu" && g.model.as_deref().is_some_and(gres::is_partition));
    let count = gpus.try_fold(0_u64, |n, g| n.checked_add(g.count));
    Some(count.map(|count| Value::Gpus { count, parts }))
}

/// `cpu=4,gres/gpu:h100=1`; before 23.11 `gres:gpu:1`.
fn of_tres(value: &str) -> Option<Option<Value>> {
    of_gres(&value.replace('=', ":"))
}

/// `none`, `map_gpu:0,1,2,3`, `verbose,per_task:1`.
fn bind(value: &str) -> Option<Bind> {
    let value = value.trim_start_matches("verbose,").trim_start_matches("v,");
    let (kind, rest) = value.split_once(':').unwrap_or((value, "1"));
    let n = || match number(rest) {
        Some(Value::Number(n)) => Some(n),
        _ => None,
    };
    match kind {
        "none" => Some(Bind::None),
        "closest" => Some(Bind::Closest),
        "map" | "map_gpu" => Some(Bind::Map),
        "mask" | "mask_gpu" => Some(Bind::Mask),
        "per_task" => n().map(Bind::PerTask),
        "single" => n().map(Bind::Single),
        _ => None,
    }
}

/// `gres/gpu:per_task:1+gres/nic:closest`.
fn of_tres_bind(value: &str) -> Option<Option<Value>> {
    if value.contains(['$', '[']) {
        return Some(None);
    }
    let gpu = value.split('+').find_map(|v| v.strip_prefix("gres/gpu:"))?;
    Some(bind(gpu).map(Value::Bind))
}

/// MiB, as `--mem` counts: without a unit it is megabytes.
fn mem(value: &str) -> Option<Value> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let Some(Value::Number(n)) = number(digits) else { return None };
    let mib = match value.get(digits.len()..)?.to_ascii_uppercase().as_str() {
        "K" | "KB" => n / 1024,
        "" | "M" | "MB" => n,
        "G" | "GB" => n.checked_mul(1 << 10)?,
        "T" | "TB" => n.checked_mul(1 << 20)?,
        _ => return None,
    };
    Some(Value::Number(mib))
}

/// `--exclusive` without a value: the whole node.
pub(super) const WHOLE: &str = "exclusive";
const EXCLUSIVE: &[&str] = &[WHOLE, "user", "mcs", "topo"];
const HINTS: &[&str] = &["compute_bound", "memory_bound", "multithread", "nomultithread"];
const CPU_BIND: &[&str] = &[
    "none",
    "rank",
    "map_cpu",
    "mask_cpu",
    "rank_ldom",
    "map_ldom",
    "mask_ldom",
    "sockets",
    "cores",
    "threads",
    "ldoms",
    "boards",
];
const LIMITS: &[&str] =
    &["ALL", "NONE", "AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK"];

fn word(value: &str, all: &[&'static str]) -> Option<Value> {
    let value = if value.is_empty() { WHOLE } else { value };
    all.iter().find(|w| w.eq_ignore_ascii_case(value)).map(|w| Value::Word(w))
}

fn cpu_bind(value: &str) -> Option<Value> {
    let prefixes = ["verbose,", "quiet,", "v,", "q,"];
    let value = prefixes.iter().find_map(|p| value.strip_prefix(p)).unwrap_or(value);
    let (kind, _) = value.split_once(':').unwrap_or((value, ""));
    if kind.is_empty() { None } else { word(kind, CPU_BIND) }
}

fn limits(value: &str) -> Option<Value> {
    let value = if value.is_empty() { "ALL" } else { value };
    let one = |name: &str| LIMITS.iter().find(|l| l.eq_ignore_ascii_case(name.trim())).copied();
    let mut all: Vec<&'static str> = value.split(',').map(one).collect::<Option<_>>()?;
    all.sort_unstable();
    all.dedup();
    Some(Value::Limits(all))
}
