//! Scenarios: a job, and what a doctor must, may and must not say of its log.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::dress::{Dress, dress};
use crate::job::{Entry, Facts, Job, play};
use crate::release::{Release, releases};
use crate::{bench, kernel};

/// Where the scenarios are: each is a file of its own.
const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");

/// A file that a scenario leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// `nccl.log`, `dmesg-node001.txt`, `all_reduce_perf.txt`.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Releases of a scenario, as it is written: `all`, `2.13.4..2.20.5`, `2.21.5`, several with commas.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Releases(String);

/// A job with the truth beside it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The file's name.
    #[serde(skip)]
    pub name: String,
    /// One sentence.
    pub description: String,
    /// Where it can happen.
    pub releases: Releases,
    /// Causes that must be named, the first before all others.
    pub truth: Vec<String>,
    /// Causes that may be named after them.
    #[serde(default)]
    pub acceptable: Vec<String>,
    /// Causes that must not be named.
    #[serde(default)]
    pub absent: Vec<String>,
    /// The log does not tell: the right answer is to say so.
    #[serde(default)]
    pub undecidable: bool,
    /// `NCCL_DEBUG`: `INFO` or `WARN`.
    #[serde(default = "info")]
    pub debug: String,
    /// `NCCL_DEBUG_SUBSYS`; without it the release's own choice.
    #[serde(default)]
    pub subsys: Option<String>,
    /// The job.
    #[serde(default)]
    pub job: Job,
}

fn info() -> String {
    "INFO".into()
}

/// A scenario that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("scenarios/{name}.toml: {error}")]
pub struct ScenarioError {
    name: String,
    error: String,
}

/// All scenarios, by name.
///
/// # Errors
/// A file that is not a scenario, or cannot be read; a test reads them all.
pub fn read_all() -> Result<Vec<Scenario>, ScenarioError> {
    let files = fs::read_dir(DIR).map_err(|e| ScenarioError { name: "*".into(), error: e.to_string() })?;
    let names = files.flatten().filter_map(|f| f.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.into_iter().map(|name| read(&name).map_err(|error| ScenarioError { name, error })).collect()
}

fn read(name: &str) -> Result<Scenario, String> {
    let text = fs::read_to_string(Path::new(DIR).join(format!("{name}.toml"))).map_err(|e| e.to_string())?;
    let scenario: Scenario = toml::from_str(&text).map_err(|e| e.to_string())?;
    scenario.releases.list()?;
    Ok(Scenario { name: name.to_owned(), ..scenario })
}

/// All scenarios, by name.
pub fn scenarios() -> Vec<Scenario> {
    static ALL: OnceLock<Vec<Scenario>> = OnceLock::new();
    ALL.get_or_init(|| read_all().unwrap_or_default()).clone()
}

impl Releases {
    fn list(&self) -> Result<Vec<Release>, String> {
        let mut found = Vec::new();
        for part in self.0.split(',').map(str::trim) {
            let (first, last) = match part.split_once("..") {
                _ if part == "all" => (Release(0, 0, 0), Release(u8::MAX, 0, 0)),
                Some((a, b)) => (a.parse()?, b.parse()?),
                None => (part.parse()?, part.parse()?),
            };
            let before = found.len();
            found.extend(releases().iter().filter(|r| first <= **r && **r <= last));
            if found.len() == before {
                return Err(format!("{part}: no release of NCCL"));
            }
        }
        Ok(found)
    }
}

impl Scenario {
    /// Releases in which it can happen.
    pub fn releases(&self) -> Vec<Release> {
        self.releases.list().unwrap_or_default()
    }

    /// The files that the job leaves behind. The same arguments give the same bytes.
    pub fn render(&self, release: Release, seed: u64, clothes: Dress) -> Vec<GeneratedFile> {
        let (facts, lines, _) = self.play(release, seed);
        let mut files = vec![GeneratedFile { name: "nccl.log".into(), bytes: dress(&facts, &lines, clothes, seed) }];
        for node in 0..self.job.nodes {
            if let Some(text) = kernel::dmesg(&facts, node) {
                files.push(GeneratedFile { name: format!("dmesg-{}.txt", facts.host(node)), bytes: text.into_bytes() });
            }
        }
        if let Some(wanted) = &self.job.bench {
            let text = bench::table(&facts, wanted.busbw);
            files.push(GeneratedFile { name: "all_reduce_perf.txt".into(), bytes: text.into_bytes() });
        }
        files
    }

    /// The lines without clothes, and what could not be written.
    pub(crate) fn play(&self, release: Release, seed: u64) -> (Facts<'_>, Vec<Entry>, Vec<String>) {
        let facts = Facts::new(&self.job, release, seed);
        let subsystems = self.subsys.as_ref().map(|s| s.split(',').map(|s| s.trim().to_owned()).collect());
        let (lines, errors) = play(&facts, self.debug == "INFO", subsystems);
        (facts, lines, errors)
    }
}
