//! Which answers of audits a site accepts, as its files say it: `[[suppress]]` in `linerate.toml`, or in a file of its own.
//!
//! ```toml
//! [[suppress]]
//! rule = "iommu/translated-domain"      # an id, an area, or a pattern with *
//! subject = "0000:17:*"                 # what the answer is about; all, where it is left out
//! nodes = "gpu[001-016],login*"         # all, where it is left out
//! reason = "these nodes pass devices to guests"
//! by = "name or ticket"
//! until = 2027-03-01                    # the last day; for ever, where it is left out
//! ```

use linerate_fleet::nodeset::{NodeSet, NodeSetError, names_of};
use linerate_formats::{node_list, wildcard};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::Spanned;
use toml::value::Datetime;

/// `[audit]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AuditOf {
    /// As `--fail-on` takes it.
    pub fail_on: Option<String>,
    /// As `--ignore` takes them.
    #[serde(default)]
    pub ignore: Vec<String>,
}

/// `[[suppress]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuppressOf {
    /// Id, area or pattern.
    pub rule: String,
    /// Pattern for what an answer is about.
    pub subject: Option<String>,
    /// Names of nodes.
    #[serde(default)]
    pub nodes: Option<Nodes>,
    /// Why.
    #[serde(deserialize_with = "said")]
    pub reason: String,
    /// Who.
    #[serde(deserialize_with = "said")]
    pub by: String,
    /// The last day, `YYYY-MM-DD`.
    #[serde(default, deserialize_with = "day")]
    pub until: Option<String>,
}

/// A file that holds nothing else.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    suppress: Vec<Spanned<SuppressOf>>,
}

/// Why the file does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SuppressError(String);

/// Reads a file of suppressions.
///
/// # Errors
/// It is no TOML of this form.
pub fn read(text: &str) -> Result<Vec<Spanned<SuppressOf>>, SuppressError> {
    let file: File = toml::from_str(text).map_err(|e| SuppressError(e.to_string()))?;
    Ok(file.suppress)
}

/// The line on which an entry begins; 1-based.
#[must_use]
pub fn line(text: &str, entry: &Spanned<SuppressOf>) -> usize {
    let before = text.as_bytes().get(..entry.span().start).unwrap_or_default();
    1 + before.iter().filter(|b| **b == b'\n').count()
}

/// Names of nodes: sets, and patterns with `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nodes {
    set: NodeSet,
    patterns: Vec<String>,
}

impl Nodes {
    /// Whether a node of this name is meant.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.set.contains(name) || self.patterns.iter().any(|p| wildcard::star(p.as_bytes(), name.as_bytes()))
    }

    fn read(text: &str) -> Result<Nodes, NodeSetError> {
        let mut nodes = Nodes::default();
        for part in node_list::parts(text).map(str::trim).filter(|p| !p.is_empty()) {
            if part.contains('*') {
                nodes.patterns.push(part.to_owned());
            } else {
                names_of(part)?.iter().for_each(|name| _ = nodes.set.insert(&name));
            }
        }
        Ok(nodes)
    }
}

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Nodes::read(&text).map_err(D::Error::custom)
    }
}

/// Words that say something.
fn said<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.trim().is_empty() {
        Err(D::Error::custom("an empty text: write who accepts it, and why"))
    } else {
        Ok(text)
    }
}

/// A date, as TOML has it or as text.
fn day<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Date(Datetime),
        Text(String),
    }
    let date = match Form::deserialize(from)? {
        Form::Date(date) => date,
        Form::Text(text) => text.trim().parse().map_err(D::Error::custom)?,
    };
    match (date.date, date.time) {
        (Some(day), None) => Ok(Some(day.to_string())),
        _ => Err(D::Error::custom("the last day is a date: 2027-03-01")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# accepted
[[suppress]]
rule = \"acs/*\"
reason = \"guests\"
by = \"ops\"

[[suppress]]
rule = \"rdma\"
subject = \"mlx5_1/*\"
nodes = \"gpu[001-003,7], login*\"
reason = \"a spare cable is on its way\"
by = \"OPS-1\"
until = 2027-03-01
";

    #[test]
    fn entries_with_their_lines() {
        let all = read(FILE).unwrap();
        let [acs, rdma] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((line(FILE, acs), line(FILE, rdma)), (2, 7));
        assert_eq!(rdma.get_ref().until.as_deref(), Some("2027-03-01"));
        let nodes = rdma.get_ref().nodes.as_ref().unwrap();
        for (name, is) in [("gpu002", true), ("gpu7", true), ("login-2", true), ("gpu004", false), ("login", true)] {
            assert_eq!(nodes.contains(name), is, "{name}");
        }
        assert!(acs.get_ref().nodes.is_none());
    }

    #[test]
    fn what_is_refused() {
        let of = |line: &str| read(&format!("[[suppress]]\nrule = \"a/b\"\nreason = \"r\"\nby = \"b\"\n{line}\n"));
        assert!(of("").is_ok());
        for bad in
            ["until = \"soon\"", "until = 2027-03-01T10:00:00Z", "nodes = \"gpu[1-\"", "node = \"x\"", "until = 3"]
        {
            assert!(of(bad).is_err(), "{bad}");
        }
        for text in
            ["[[suppress]]\nrule = \"a\"\nby = \"b\"\n", "[[suppress]]\nrule = \"a\"\nreason = \" \"\nby = \"b\"\n"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
