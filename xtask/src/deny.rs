//! What a dependency may be: `deny.toml`, which cargo-deny reads as well. What is checked here needs no network and no other program.

use crate::metadata::{Metadata, Package};
use crate::shell::{self, Result};
use semver::{Version, VersionReq};
use serde::Deserialize;
use spdx::{Expression, ParseMode};
use std::collections::{BTreeMap, BTreeSet};

const FILE: &str = "deny.toml";

/// As far as it is checked here.
#[derive(Deserialize)]
pub(crate) struct Deny {
    licenses: Licences,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licences {
    /// Under which we may ship a dependency.
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    /// Versions that may be there beside another one of the same crate.
    #[serde(default)]
    skip: Vec<Skip>,
}

#[derive(Deserialize)]
struct Skip {
    /// `name@version`, where a version may leave out its last numbers.
    #[serde(rename = "crate")]
    spec: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

pub(crate) fn load() -> Result<Deny> {
    let text = std::fs::read_to_string(shell::root().join(FILE)).map_err(|e| format!("{FILE}: {e}"))?;
    toml::from_str(&text).map_err(|e| format!("{FILE}: {e}"))
}

impl Deny {
    /// What of these crates is not as the file says.
    pub(crate) fn wrong(&self, all: &Metadata) -> Vec<String> {
        let theirs: Vec<&Package> = all.packages.iter().filter(|p| !all.workspace_members.contains(&p.id)).collect();
        let mut wrong = Vec::new();
        for p in &theirs {
            let licence = p.license.as_deref().unwrap_or_default();
            if !self.allows(licence) {
                wrong.push(format!("{} {}: {FILE} does not allow the licence {licence:?}", p.name, p.version));
            }
            let registry = p.source.as_deref().and_then(|s| s.strip_prefix("registry+"));
            if !registry.is_some_and(|r| self.sources.allow_registry.iter().any(|a| a == r)) {
                wrong.push(format!("{} {}: {FILE} does not allow its source {:?}", p.name, p.version, p.source));
            }
        }
        wrong.extend(self.several(theirs.iter().map(|p| (p.name.as_str(), p.version.as_str()))));
        for p in all.packages.iter().filter(|p| all.workspace_members.contains(&p.id)) {
            let any = p.dependencies.iter().filter(|d| d.source.is_some() && d.req == "*");
            wrong.extend(any.map(|d| format!("{} takes any version of {}", p.name, d.name)));
        }
        wrong
    }

    /// Whether an expression lets us choose allowed licences only. What cannot be read does not.
    fn allows(&self, expression: &str) -> bool {
        // Old crates separate alternatives by a slash, as cargo allowed once.
        let mode = ParseMode {
            allow_slash_as_or_operator: true,
            allow_imprecise_license_names: false,
            allow_postfix_plus_on_gpl: true,
            allow_deprecated: true,
            allow_unknown: false,
        };
        let Ok(read) = Expression::parse_mode(expression, mode) else { return false };
        read.evaluate(|wanted| self.licenses.allow.contains(&wanted.to_string()))
    }

    /// Crates in more than one version beyond those that may be; and entries that nothing needs any more.
    fn several<'a>(&self, crates: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, version) in crates {
            versions.entry(name).or_default().insert(version);
        }
        let mut wrong = Vec::new();
        let mut used = BTreeSet::new();
        for (name, versions) in versions.iter().filter(|(_, v)| v.len() > 1) {
            let skip = |version: &&&str| self.bans.skip.iter().find(|s| s.covers(name, version));
            used.extend(versions.iter().filter_map(|v| skip(&v)).map(|s| s.spec.as_str()));
            let other: Vec<&str> = versions.iter().filter(|v| skip(v).is_none()).copied().collect();
            if other.len() > 1 {
                wrong.push(format!("{name} is there in several versions: {}", other.join(", ")));
            }
        }
        let needless = self.bans.skip.iter().filter(|s| !used.contains(s.spec.as_str()));
        wrong.extend(needless.map(|s| format!("{FILE} skips {}, which is not there beside another version", s.spec)));
        wrong
    }
}

impl Skip {
    fn covers(&self, name: &str, version: &str) -> bool {
        let Some((of, wanted)) = self.spec.split_once('@') else { return false };
        let (wanted, version) = (VersionReq::parse(&format!("={wanted}")), Version::parse(version));
        of == name && wanted.is_ok_and(|w| version.is_ok_and(|v| w.matches(&v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deny() -> Deny {
        toml::from_str(
            "licenses.allow = ['MIT', 'Apache-2.0', 'Apache-2.0 WITH LLVM-exception', 'Unicode-3.0']\n\
             bans.skip = [{ crate = 'a@1.2' }, { crate = 'gone@1.0.0', reason = 'r' }]\n\
             sources.allow-registry = ['https://github.com/rust-lang/crates.io-index']\n",
        )
        .unwrap()
    }

    #[test]
    fn expressions() {
        for (expression, want) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("GPL-3.0 OR MIT", true),
            ("MIT/Apache-2.0", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("", false),
            ("MPL-2.0", false),
        ] {
            assert_eq!(deny().allows(expression), want, "{expression:?}");
        }
    }

    #[test]
    fn a_crate_in_two_versions_is_wrong_unless_the_file_names_one() {
        let wrong = |crates: &[(&'static str, &'static str)]| deny().several(crates.iter().copied());
        let needless = "deny.toml skips gone@1.0.0, which is not there beside another version";
        assert_eq!(wrong(&[("a", "1.2.3"), ("a", "2.0.0"), ("b", "1.0.0")]), [needless]);
        let two = wrong(&[("a", "1.2.3"), ("a", "2.0.0"), ("a", "3.0.0"), ("gone", "1.0.0")]);
        assert_eq!(two, ["a is there in several versions: 2.0.0, 3.0.0", needless]);
    }

    #[test]
    fn the_file_holds_for_what_is_locked() {
        let wrong = load().unwrap().wrong(&crate::metadata::load().unwrap());
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
