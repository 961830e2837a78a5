//! The two files, read once.

use super::{Default, Legal, Owner, Span, Variable};
use linerate_topology::Version;
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};
use std::collections::HashMap;
use std::sync::LazyLock;

const REGISTRY: &str = include_str!("../../data/registry.tsv");
const KNOWN: &str = include_str!("../../data/known.txt");

struct Registry {
    variables: Vec<Variable>,
    by_name: HashMap<&'static str, usize>,
    releases: Vec<Version>,
}

static TABLE: LazyLock<Registry> = LazyLock::new(make);

fn make() -> Registry {
    let mut r = Registry { variables: Vec::new(), by_name: HashMap::new(), releases: Vec::new() };
    for line in REGISTRY.lines() {
        if let Some(list) = line.strip_prefix("# releases ") {
            r.releases = list.split(' ').filter_map(|v| v.parse().ok()).collect();
        } else if let Some(v) = row(line) {
            r.by_name.insert(v.name, r.variables.len());
            r.variables.push(v);
        }
    }
    let mut at = None;
    for line in KNOWN.lines().filter(|l| !l.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            let next = r.variables.len();
            let index = *r.by_name.entry(name).or_insert(next);
            if index == next {
                r.variables.push(Variable::new(name, Owner::Nccl));
            }
            at = Some(index);
        } else if let Some((key, value)) = line.split_once(": ")
            && let Some(v) = at.and_then(|i| r.variables.get_mut(i))
        {
            field(v, key, value);
        }
    }
    r
}

fn row(line: &'static str) -> Option<Variable> {
    let mut columns = line.split('\t');
    let (name, kind, file, spans) = (columns.next()?, columns.next()?, columns.next()?, columns.next()?);
    let mut v = Variable::new(name, Owner::Nccl);
    v.kind = word(kind)?;
    v.file = Some(file);
    v.spans = spans.split(' ').filter_map(span).collect();
    Some(v)
}

fn span(s: &str) -> Option<Span> {
    let (range, default) = s.split_once('=')?;
    let (first, last) = range.split_once('-')?;
    let default = match default {
        "undef" => Default::Config,
        "?" => Default::Unset,
        n => Default::Number(n.parse().ok()?),
    };
    Some(Span { first: first.parse().ok()?, last: last.parse().ok()?, default })
}

/// A word of the data, as JSON has it.
pub(crate) fn word<T: DeserializeOwned>(s: &str) -> Option<T> {
    T::deserialize(StrDeserializer::<Error>::new(s)).ok()
}

fn field(v: &mut Variable, key: &str, value: &'static str) {
    match key {
        "owner" => v.owner = word(value).unwrap_or(v.owner),
        "kind" => v.kind = word(value).unwrap_or(v.kind),
        "computed" => v.computed = value.split(' ').filter_map(span).collect(),
        "legal" => v.legal = Legal::parse(value),
        "does" => v.does = Some(value),
        "when" => v.when = Some(value),
        "instead" => v.instead = Some(value),
        "removed" => v.removed = Some(value),
        "source" => v.sources = value.split("; ").collect(),
        _ => {}
    }
}

/// What is known of a variable; `None` where nothing is.
#[must_use]
pub fn lookup(name: &str) -> Option<&'static Variable> {
    let t = &*TABLE;
    t.variables.get(*t.by_name.get(name)?)
}

/// All variables.
#[must_use]
pub fn variables() -> &'static [Variable] {
    &TABLE.variables
}

/// Releases of NCCL whose sources were looked at, in order.
#[must_use]
pub fn releases() -> &'static [Version] {
    &TABLE.releases
}

/// The newest of them.
#[must_use]
pub fn newest() -> Version {
    TABLE.releases.last().copied().unwrap_or(Version::REFERENCE)
}

/// Not a release of NCCL: what there is beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotReleased {
    /// What was asked for.
    pub asked: Version,
    /// The last release before it.
    pub before: Option<Version>,
    /// The first release after it.
    pub after: Option<Version>,
}

impl std::fmt::Display for NotReleased {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let NotReleased { asked, before, after } = self;
        match (before, after) {
            (Some(b), Some(a)) => write!(f, "NCCL {asked} was never released; the nearest releases are {b} and {a}"),
            (Some(b), None) => {
                write!(f, "linerate does not know NCCL {asked}; the newest release that it knows is {b}")
            }
            (None, Some(a)) => {
                write!(f, "linerate does not know NCCL {asked}; the oldest release that it knows is {a}")
            }
            (None, None) => write!(f, "linerate does not know NCCL {asked}"),
        }
    }
}

impl std::error::Error for NotReleased {}

/// Whether there is such a release, by the tags of NCCL's repository; without a patch number, whether there is one of that minor number.
///
/// # Errors
/// There is none; the error names those beside it.
pub fn released(v: Version) -> Result<Version, NotReleased> {
    let all = releases();
    let same = |r: &&Version| if v.patch == 0 { (r.major, r.minor) == (v.major, v.minor) } else { **r == v };
    if all.iter().any(|r| same(&r)) {
        return Ok(v);
    }
    let before = all.iter().rev().find(|r| **r < v).copied();
    Err(NotReleased { asked: v, before, after: all.iter().find(|r| **r > v).copied() })
}

/// The release whose sources stand for this one: itself; where only the minor number was said (`2.21`), the last of that; else the
/// last one before it, else the oldest.
#[must_use]
pub fn nearest(v: Version) -> Version {
    let all = releases();
    let minor = |r: &&Version| (r.major, r.minor) == (v.major, v.minor);
    if v.patch == 0
        && let Some(last) = all.iter().rev().find(minor)
    {
        return *last;
    }
    all.iter().rev().find(|r| **r <= v).or(all.first()).copied().unwrap_or(v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Kind;

    fn v(s: &str) -> Version {
        s.parse().unwrap()
    }

    #[test]
    fn every_line_of_the_data_is_understood() {
        let rows = REGISTRY.lines().filter(|l| !l.starts_with('#')).count();
        assert_eq!(rows, REGISTRY.lines().filter_map(row).count());
        assert!(rows > 250 && releases().len() > 55, "{rows} {}", releases().len());
        for line in REGISTRY.lines().filter(|l| !l.starts_with('#')) {
            let spans = line.rsplit('\t').next().unwrap();
            assert!(spans.split(' ').all(|s| span(s).is_some()), "{line}");
        }
        let keys = ["owner", "kind", "computed", "legal", "does", "when", "instead", "removed", "source"];
        for line in KNOWN.lines().filter(|l| !l.is_empty() && !l.starts_with(['#', '['])) {
            let (key, value) = line.split_once(": ").unwrap();
            assert!(keys.contains(&key) && !value.trim().is_empty(), "{line}");
            assert!(key != "computed" || value.split(' ').all(|s| span(s).is_some()), "{line}");
            assert!(key != "kind" || word::<Kind>(value).is_some(), "{line}");
            assert!(key != "owner" || word::<Owner>(value).is_some(), "{line}");
        }
        for d in variables().iter().filter(|v| v.does.is_some()) {
            assert!(!d.sources.is_empty(), "{} has no source", d.name);
            assert!(
                d.owner != Owner::Nccl || !d.spans.is_empty() || d.removed.is_some(),
                "{} is of no release",
                d.name
            );
        }
        let described = variables().iter().filter(|v| v.does.is_some() && v.owner == Owner::Nccl).count();
        assert!(described >= 60, "{described}");
    }

    #[test]
    fn releases_that_were_not_looked_at_are_like_the_one_before() {
        for (asked, like) in
            [("2.21", "2.21.5"), ("2.30", "2.30.7"), ("2.19.2", "2.19.1"), ("2.31.1", "2.30.7"), ("2.1.2", "2.3.5")]
        {
            assert_eq!(nearest(v(asked)), v(like), "{asked}");
        }
    }

    #[test]
    fn what_was_never_released_is_refused_with_what_was() {
        for (asked, want) in [
            ("2.21", Ok(())),
            ("2.21.5", Ok(())),
            ("2.3.7", Ok(())),
            ("2.30.7", Ok(())),
            ("2.21.4", Err((Some("2.20.5"), Some("2.21.5")))),
            ("2.22.9", Err((Some("2.22.3"), Some("2.23.4")))),
            ("9.9", Err((Some("2.30.7"), None))),
            ("2.31.1", Err((Some("2.30.7"), None))),
            ("2.1", Err((None, Some("2.3.5")))),
        ] {
            let said = released(v(asked)).map(|_| ()).map_err(|e| (e.before, e.after));
            let want = want.map_err(|(b, a): (Option<&str>, Option<&str>)| (b.map(v), a.map(v)));
            assert_eq!(said, want, "{asked}");
        }
    }

    #[test]
    fn defaults_are_those_of_the_release() {
        let default = |name: &str, at: &str| lookup(name).unwrap().default(v(at));
        for (name, at, want) in [
            ("NCCL_IB_TIMEOUT", "2.13.4", Some(14)),
            ("NCCL_IB_TIMEOUT", "2.22.3", Some(18)),
            ("NCCL_IB_TIMEOUT", "2.23.4", Some(20)),
            ("NCCL_IB_GID_INDEX", "2.20.5", Some(0)),
            ("NCCL_IB_GID_INDEX", "2.21.5", Some(-1)),
            ("NCCL_CROSS_NIC", "2.18", Some(2)),
            ("NCCL_NET_GDR_C2C", "2.26", Some(0)),
            ("NCCL_NET_GDR_C2C", "2.27", Some(1)),
            ("NCCL_NET_GDR_C2C", "2.25", None),
        ] {
            assert_eq!(default(name, at), want.map(Default::Number), "{name} {at}");
        }
        assert!(!lookup("NCCL_IB_CUDA_SUPPORT").unwrap().read_by(v("2.4.2")));
        assert!(lookup("NCCL_SHM_MEMCPY_MODE").is_none_or(|x| !x.read_by(v("2.30.7"))));
        assert_eq!(lookup("NCCL_IB_HCA").unwrap().since().unwrap(), "2.3.5 and earlier, to now");
        let history = lookup("NCCL_IB_TIMEOUT").unwrap().history().unwrap();
        assert!(history.ends_with("default 14 up to 2.13.4, 18 up to 2.22.3, 20 since 2.23.4"), "{history}");
        assert_eq!(lookup("NCCL_RINGS").unwrap().since().unwrap(), "up to 2.4.8");
    }
}
