//! What is known of each variable: `data/registry.tsv` (made from NCCL's sources) and `data/known.txt` (written by hand).

use linerate_topology::Version;
use serde::{Deserialize, Serialize};

mod data;

pub(crate) use data::word;
pub use data::{NotReleased, lookup, nearest, newest, released, releases, variables};

/// Who reads a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// NCCL itself.
    Nccl,
    /// A plugin of NCCL.
    Plugin,
    /// UCX.
    Ucx,
    /// libfabric.
    Libfabric,
    /// aws-ofi-nccl.
    Ofi,
    /// PyTorch.
    Torch,
    /// CUDA and its libraries.
    Cuda,
    /// The container toolkit.
    Container,
    /// Open MPI.
    Mpi,
    /// nccl-tests.
    Tests,
    /// Builds; no program reads it at run time.
    Build,
    /// Set by images, read by nobody.
    Image,
}

impl Owner {
    /// In words: `PyTorch`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Owner::Nccl => "NCCL",
            Owner::Plugin => "a plugin of NCCL",
            Owner::Ucx => "UCX",
            Owner::Libfabric => "libfabric",
            Owner::Ofi => "aws-ofi-nccl",
            Owner::Torch => "PyTorch",
            Owner::Cuda => "CUDA",
            Owner::Container => "the NVIDIA container toolkit",
            Owner::Mpi => "Open MPI",
            Owner::Tests => "nccl-tests",
            Owner::Build => "builds",
            Owner::Image => "container images",
        }
    }
}

/// Form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// 0 or 1, read as a number.
    Bool,
    /// An integer, as `strtoll` with base 0 reads it.
    Int,
    /// A type of path: LOC … SYS, or an old number.
    Level,
    /// One word of a few.
    Words,
    /// Several words; `^` excludes them.
    List,
    /// Names of devices or interfaces; `^` excludes, `=` is exact.
    Filter,
    /// A path.
    Path,
    /// Anything.
    Text,
}

/// Values that make sense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Legal {
    /// Not limited, or not known.
    Any,
    /// An integer from the first to the second (`None`: no end).
    Range(i64, Option<i64>),
    /// One of these integers.
    Numbers(Vec<i64>),
    /// These words, in any case.
    Words(Vec<&'static str>),
    /// These words exactly.
    Exact(Vec<&'static str>),
}

impl Legal {
    fn parse(s: &'static str) -> Legal {
        if let Some(exact) = s.strip_prefix('=') {
            return Legal::Exact(exact.split('|').collect());
        }
        if let Some((low, high)) = s.split_once("..")
            && let Ok(low) = low.parse()
        {
            return Legal::Range(low, high.parse().ok());
        }
        let numbers: Result<Vec<i64>, _> = s.split('|').map(str::parse).collect();
        numbers.map_or_else(|_| Legal::Words(s.split('|').collect()), Legal::Numbers)
    }

    /// In words: `0 to 31`.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Legal::Any => return None,
            Legal::Range(low, Some(high)) => format!("{low} to {high}"),
            Legal::Range(low, None) => format!("{low} or more"),
            Legal::Numbers(n) => n.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
            Legal::Words(w) | Legal::Exact(w) => w.join(", "),
        })
    }
}

/// What a release takes where the variable is unset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Default {
    /// This number; by NCCL's habit -1 and -2 mean that it decides.
    Number(i64),
    /// The communicator's configuration decides, else NCCL.
    Config,
    /// Unset text, or computed by the code.
    Unset,
}

/// Releases in a row that read a variable, with one default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First release.
    pub first: Version,
    /// Last release that is known to.
    pub last: Version,
    /// Default.
    pub default: Default,
}

/// What is known of a variable.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Name.
    pub name: &'static str,
    /// Who reads it.
    pub owner: Owner,
    /// Form of its values.
    pub kind: Kind,
    /// Values that make sense.
    pub legal: Legal,
    /// Releases of NCCL that read it, in order; empty where nobody's sources were looked at.
    pub spans: Vec<Span>,
    /// What the code takes where the variable is unset and its default is a mark for that (-2): the same on every machine.
    pub computed: Vec<Span>,
    /// What it does.
    pub does: Option<&'static str>,
    /// When to set it.
    pub when: Option<&'static str>,
    /// What to use now.
    pub instead: Option<&'static str>,
    /// Where that is written.
    pub sources: Vec<&'static str>,
    /// File of NCCL's sources that reads it, in the last release that does.
    pub file: Option<&'static str>,
    /// Release that no longer had it, where that is older than the sources that were looked at.
    pub removed: Option<&'static str>,
}

impl Variable {
    fn new(name: &'static str, owner: Owner) -> Self {
        Variable {
            name,
            owner,
            kind: Kind::Text,
            legal: Legal::Any,
            spans: Vec::new(),
            computed: Vec::new(),
            does: None,
            when: None,
            instead: None,
            sources: Vec::new(),
            file: None,
            removed: None,
        }
    }

    /// First and last release that read it.
    #[must_use]
    pub fn range(&self) -> Option<(Version, Version)> {
        Some((self.spans.first()?.first, self.spans.last()?.last))
    }

    /// Whether a release reads it. Releases that were not looked at are taken for their neighbour below.
    #[must_use]
    pub fn read_by(&self, v: Version) -> bool {
        self.span(v).is_some()
    }

    /// Its default in a release.
    #[must_use]
    pub fn default(&self, v: Version) -> Option<Default> {
        self.span(v).map(|s| s.default)
    }

    fn span(&self, v: Version) -> Option<&Span> {
        let v = nearest(v);
        self.spans.iter().find(|s| s.first <= v && v <= s.last)
    }

    /// Releases that read it: `since 2.21.5`, `2.13.4 to 2.21.5`.
    #[must_use]
    pub fn since(&self) -> Option<String> {
        let (first, last) = self.range()?;
        let words = match (first <= OLDEST, last >= newest()) {
            (true, true) => format!("{OLDEST} and earlier, to now"),
            (false, true) => format!("since {first}"),
            (true, false) => format!("up to {last}"),
            (false, false) => format!("{first} to {last}"),
        };
        Some(words)
    }

    /// The same with the numbers that were its defaults, where they changed: `…; default 0 up to 2.20.5, -1 since 2.21.5`.
    #[must_use]
    pub fn history(&self) -> Option<String> {
        let since = self.since()?;
        let numbers: Vec<(Span, i64)> = self
            .spans
            .iter()
            .filter_map(|s| match s.default {
                Default::Number(n) => Some((*s, n)),
                _ => None,
            })
            .collect();
        if numbers.len() < 2 || numbers.len() < self.spans.len() || self.kind == Kind::Level {
            return Some(since);
        }
        let last = newest();
        let one = |(s, n): &(Span, i64)| match s.last >= last {
            true => format!("{n} since {}", s.first),
            false => format!("{n} up to {}", s.last),
        };
        Some(format!("{since}; default {}", numbers.iter().map(one).collect::<Vec<_>>().join(", ")))
    }

    /// Where it is described: `known.txt`'s sources, else the file of NCCL.
    #[must_use]
    pub fn cited(&self) -> Vec<String> {
        if !self.sources.is_empty() {
            return self.sources.iter().map(|s| cite(s, self.owner)).collect();
        }
        let last = self.range().map(|r| r.1);
        self.file.zip(last).map(|(f, v)| format!("NCCL {v} {f}")).into_iter().collect()
    }
}

/// `env.rst` and files of NCCL get its name and the release that was read.
fn cite(source: &str, owner: Owner) -> String {
    let own = owner == Owner::Nccl && (source.starts_with("src/") || source.starts_with("env.rst"));
    match (own, source.starts_with("tag ")) {
        (true, _) => format!("NCCL {} {source}", Version::REFERENCE),
        (_, true) => format!("NCCL {source}"),
        _ => source.to_owned(),
    }
}

/// Oldest release whose sources were looked at.
const OLDEST: Version = Version { major: 2, minor: 3, patch: 5 };

/// Names whose beginning tells that a plugin reads them.
pub(crate) const FAMILIES: &[(&str, &str)] = &[
    ("NCCL_INSPECTOR_", "NCCL's inspector plugin"),
    ("NCCL_PROFILE_", "a profiler plugin"),
    ("NCCL_PROFILER_", "a profiler plugin"),
    ("NCCL_GPUDIRECTTCPX", "Google's GPUDirect-TCPX plugin"),
    ("NCCL_FASTRAK_", "Google's GPUDirect-TCPXO plugin"),
    ("NCCL_SHIMNET_", "Google's plugin"),
    ("NCCL_SHARP_", "the SHARP plugin"),
    ("NCCL_IBEXT_", "HPC-X's plugin"),
    ("NCCL_PLUGIN_", "HPC-X's plugin"),
    ("NCCL_UCX_", "HPC-X's plugin"),
    ("NCCL_TUNER_", "a tuner plugin"),
    ("NCCL_OFI_", "aws-ofi-nccl"),
    ("NCCL_TESTS_", "nccl-tests"),
];
