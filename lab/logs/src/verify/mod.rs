//! Checks the table of forms against NCCL's sources, release by release. For developers: it needs a clone of NCCL, so no test calls it.

mod git;
mod scan;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::forms::{Form, Level, forms};
use crate::release::{Release, releases};
use scan::Site;

/// Why a check could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// git is not there.
    #[error("git cannot be started: {0}; install git")]
    Start(std::io::Error),
    /// git stopped answering.
    #[error("git stopped answering: {0}")]
    Pipe(std::io::Error),
    /// git refused.
    #[error("git {arguments}: {said}; is this a clone of NCCL with its tags?")]
    Git {
        /// What was asked.
        arguments: String,
        /// What it said.
        said: String,
    },
}

/// A literal as it stands in a source: callee, first argument, text.
type Key = (String, String, String);

/// Every literal of every release.
#[derive(Debug)]
pub struct Measured {
    /// To the releases that have it, as indices into [`releases`], and in which files.
    sites: BTreeMap<Key, BTreeMap<usize, Vec<String>>>,
}

/// Reads all releases: a repository of NCCL with its tags, bare or not.
///
/// # Errors
/// git, or a tag, is missing.
pub fn measure(repository: &Path) -> Result<Measured, VerifyError> {
    let mut lists = Vec::new();
    for release in releases() {
        lists.push(git::files(repository, &tag(*release))?);
    }
    let contents = git::contents(repository, lists.iter().flatten().map(|(_, object)| object.clone()))?;
    let scanned: HashMap<&String, Vec<Site>> = contents.iter().map(|(k, v)| (k, scan::scan(v))).collect();
    let mut sites: BTreeMap<Key, BTreeMap<usize, Vec<String>>> = BTreeMap::new();
    for (index, list) in lists.iter().enumerate() {
        for (path, object) in list {
            for site in scanned.get(object).into_iter().flatten() {
                let key = (site.callee.clone(), site.first.clone(), site.text.clone());
                let paths = sites.entry(key).or_default().entry(index).or_default();
                if paths.last() != Some(path) {
                    paths.push(path.clone());
                }
            }
        }
    }
    Ok(Measured { sites })
}

impl Measured {
    /// One line for each literal and each span of releases that have it in the same files: callee, first argument, first and last
    /// release, files, text.
    pub fn spans(&self) -> Vec<String> {
        let mut out = Vec::new();
        for ((callee, first, text), at) in &self.sites {
            let mut span: Option<(usize, usize, &Vec<String>)> = None;
            for (index, paths) in at {
                match &mut span {
                    Some((_, to, files)) if *to + 1 == *index && *files == paths => *to = *index,
                    _ => {
                        out.extend(span.take().map(|s| line(callee, first, text, s)));
                        span = Some((*index, *index, paths));
                    }
                }
            }
            out.extend(span.map(|s| line(callee, first, text, s)));
        }
        out
    }

    /// What is wrong with the table of forms: nothing, if it says of every release what the sources say.
    pub fn wrong(&self) -> Vec<String> {
        let mut groups: BTreeMap<(Vec<&str>, &str, &str), Vec<&Form>> = BTreeMap::new();
        for form in forms() {
            groups.entry((callees(form.level), form.subsystem_text, form.text)).or_default().push(form);
        }
        let mut wrong = Vec::new();
        for ((callees, subsystem, text), rows) in groups {
            // Releases to the files that have the literal there.
            let mut there: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
            for ((callee, first, t), at) in &self.sites {
                let first: String = first.chars().filter(|c| !matches!(c, '(' | ')')).collect();
                if t != text || !callees.contains(&callee.as_str()) || (subsystem != "-" && first != subsystem) {
                    continue;
                }
                for (index, paths) in at {
                    there.entry(*index).or_default().extend(paths.iter().map(String::as_str));
                }
            }
            for (index, release) in releases().iter().enumerate() {
                let have = there.get(&index).map_or(&[][..], Vec::as_slice);
                let claims: Vec<&&Form> = rows.iter().filter(|f| f.holds(*release)).collect();
                let known = |path: &&str| rows.iter().any(|f| f.files.contains(path));
                if claims.is_empty() && have.iter().any(known) {
                    wrong.push(format!("{text:?}: {release} has it, the table says not"));
                }
                for form in claims {
                    if !have.iter().any(|path| form.files.contains(path)) {
                        wrong
                            .push(format!("{} {text:?}: the table says {release} has it, its sources do not", form.id));
                    }
                }
            }
            for form in rows {
                for file in &form.files {
                    if !there.values().flatten().any(|path| path == file) {
                        wrong.push(format!("{} {text:?}: no release has it in {file}", form.id));
                    }
                }
            }
        }
        wrong
    }
}

fn line(callee: &str, first: &str, text: &str, (from, to, files): (usize, usize, &Vec<String>)) -> String {
    let name = |index: usize| releases().get(index).map(ToString::to_string).unwrap_or_default();
    format!("{callee}\t{first}\t{}\t{}\t{}\t{text}", name(from), name(to), files.join(","))
}

fn callees(level: Level) -> Vec<&'static str> {
    match level {
        Level::Info => vec!["INFO"],
        Level::InfoLocated => vec!["INFO_LOC"],
        Level::Warn => vec!["WARN"],
        Level::Version => vec!["VERSION"],
        Level::Printf => vec!["printf"],
        Level::Part => vec!["snprintf", "sprintf"],
        Level::Macro(name) => vec![name],
    }
}

fn tag(release: Release) -> String {
    format!("v{release}-1")
}
