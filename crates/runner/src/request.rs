//! What a user asks for.

use crate::tools::{Suite, Test, tests};
use linerate_bench::Kind;

/// Which tests.
#[derive(Debug, Clone)]
pub enum What {
    /// A suite: tests that a host cannot do are left out, with a remark.
    Suite(Suite),
    /// These tests, and nothing else: one that cannot be done is an error.
    Tests(Vec<&'static Test>),
}

impl What {
    /// Of a suite's name (`quick`), a kind (`iperf3`: all of its tests), a test (`iperf3-reverse`), or several with commas.
    ///
    /// # Errors
    /// A name that is none, with those that there are.
    pub fn of_name(name: &str) -> Result<What, Unknown> {
        if let Some(suite) = Suite::ALL.into_iter().find(|s| s.name() == name) {
            return Ok(What::Suite(suite));
        }
        let mut out: Vec<&'static Test> = Vec::new();
        for part in name.split(',').map(str::trim) {
            let kind = Kind::of_name(part);
            // A name that is both a test and a kind (`ping`, `iperf3`) means the kind.
            let found = tests().filter(|t| kind.map_or(t.name == part, |k| t.kind == k));
            let before = out.len();
            for test in found.filter(|t| kind.is_none() || !t.suites.is_empty()) {
                if !out.iter().any(|o| o.name == test.name) {
                    out.push(test);
                }
            }
            if out.len() == before && !tests().any(|t| t.name == part) {
                return Err(Unknown(part.to_owned()));
            }
        }
        Ok(What::Tests(out))
    }

    pub(crate) fn tests(&self) -> Vec<&'static Test> {
        match self {
            What::Suite(suite) => tests().filter(|t| t.suites.contains(suite)).collect(),
            What::Tests(list) => list.clone(),
        }
    }
}

/// A name that no test has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither a suite ({suites}), nor a kind, nor a test ({names})", suites = suites(), names = names())]
pub struct Unknown(pub String);

fn suites() -> String {
    Suite::ALL.map(Suite::name).join(", ")
}

fn names() -> String {
    tests().map(|t| t.name).collect::<Vec<_>>().join(", ")
}

/// A setting to compare with others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Variables for the tool, on all sides.
    pub env: Vec<(String, String)>,
    /// Further arguments for the tool.
    pub args: Vec<String>,
}

/// A run as it is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which tests.
    pub what: What,
    /// How often each is measured.
    pub repetitions: u32,
    /// How often each is run before, without counting.
    pub warmups: u32,
    /// How long a measurement takes, where the tool takes a time, seconds.
    pub seconds: u32,
    /// Largest file of a storage test, largest message of a collective, bytes.
    pub size: u64,
    /// Settings to compare, at least one; one is no comparison.
    pub variants: Vec<Variant>,
    /// Where storage is tested. Without: the host's directory for temporary files.
    pub directory: Option<String>,
    /// RDMA devices, one for each host, where the choice is not linerate's.
    pub rdma: Vec<Option<String>>,
    /// Bind programs to the NUMA node of their device.
    pub bind: bool,
    /// Leave out tests whose program a host lacks, instead of ending with an error.
    pub skip_missing: bool,
    /// A port to try first. Without, the server's kernel chooses.
    pub port: Option<u16>,
    /// Limit of the whole, seconds. Without: what is expected, with room.
    pub max_seconds: Option<u64>,
    /// Limit of what is moved, bytes. Without: what is expected, with room, where that is known.
    pub max_bytes: Option<u64>,
}

impl Request {
    /// Five repetitions of ten seconds (in the quick suite three of five), one warm-up, one setting.
    #[must_use]
    pub fn new(what: What) -> Self {
        let quick = matches!(what, What::Suite(Suite::Quick));
        Request {
            what,
            repetitions: if quick { 3 } else { 5 },
            warmups: 1,
            seconds: if quick { 2 } else { 10 },
            size: 1 << 30,
            variants: vec![Variant { name: "default".to_owned(), ..Variant::default() }],
            directory: None,
            rdma: Vec::new(),
            bind: true,
            skip_missing: false,
            port: None,
            max_seconds: None,
            max_bytes: None,
        }
    }
}
