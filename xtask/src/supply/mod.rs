//! `cargo xtask supply`: the crates that are locked against those that were reviewed, without network.
//!
//! RustSec's database is a repository, and no registry of packages has it: a machine that reaches crates.io only cannot ask it. So what it
//! says of our crates is pinned (docs/security/advisories.tsv, with the database's commit), beside the crates that were compared with it
//! (docs/security/crates.tsv, with the checksum of each). A crate that is not in that list, or in another version, fails the check: its
//! review is due. `--advisories DIR`, a checkout of the database, makes both anew. docs/security/sbom.cdx.json lists what is shipped.

mod advisories;
mod sbom;
mod table;

use crate::metadata::{self, Metadata, reached};
use crate::shell::{self, Result};
use advisories::Advisory;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Locked;

const COMMAND: &str = "linerate";
const CRATES: &str = "docs/security/crates.tsv";
const ADVISORIES: &str = "docs/security/advisories.tsv";
const SBOM: &str = "docs/security/sbom.cdx.json";
const USAGE: &str = "usage: cargo xtask supply [--write [--advisories DIR]]";
const REDO: &str =
    "review what is new, then `cargo xtask supply --write --advisories DIR` with a checkout of RustSec's advisory-db";

pub(crate) fn run(args: &[String]) -> ExitCode {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [] => check().and_then(|(notes, wrong)| {
            notes.iter().for_each(|n| println!("{n}"));
            if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
        }),
        ["--write"] => write(None),
        ["--write", "--advisories", dir] => write(Some(Path::new(dir))),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(3);
        }
    };
    shell::exit(done)
}

/// What there is to say, and what is wrong.
pub(crate) fn check() -> Result<(Vec<String>, Vec<String>)> {
    let all = metadata::load()?;
    let locked = table::locked(&all)?;
    let mut wrong = differences(&locked, &table::parse(&read(CRATES)?)?);
    let known = read(ADVISORIES)?;
    let (database, advisories) = advisories::parse(&known)?;
    wrong.extend(affected(&locked, &advisories));
    if read(SBOM)? != sbom::write(&shipped(&all, &locked)) {
        wrong.push(format!("{SBOM} is not what is shipped: `cargo xtask supply --write`"));
    }
    let shipped = locked.iter().filter(|l| l.shipped).count();
    let notes = vec![format!(
        "{} crates as reviewed, {shipped} of them shipped; {} advisories about crates of these names, none about these versions ({database})",
        locked.len(),
        advisories.len()
    )];
    Ok((notes, wrong))
}

/// Crates that are locked and were not reviewed, and the other way round.
fn differences(locked: &[Locked], reviewed: &BTreeMap<(String, String), String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for l in locked {
        match reviewed.get(&(l.name.clone(), l.version.clone())) {
            None => wrong.push(format!("{} {} is not in {CRATES}: {REDO}", l.name, l.version)),
            Some(sum) if *sum != l.checksum => {
                wrong.push(format!("{} {} has another checksum than the one reviewed", l.name, l.version));
            }
            Some(_) => {}
        }
    }
    let now: BTreeSet<(&str, &str)> = locked.iter().map(|l| (l.name.as_str(), l.version.as_str())).collect();
    let gone = reviewed.keys().filter(|(n, v)| !now.contains(&(n.as_str(), v.as_str())));
    wrong.extend(
        gone.map(|(n, v)| format!("{n} {v} stands in {CRATES} and is not locked: `cargo xtask supply --write`")),
    );
    wrong
}

fn affected(locked: &[Locked], advisories: &[Advisory]) -> Vec<String> {
    let mut wrong = Vec::new();
    for l in locked {
        for a in advisories.iter().filter(|a| a.package == l.name) {
            match a.affects(&l.version) {
                Ok(false) => {}
                Ok(true) => wrong.push(format!("{} {}: {} ({})", l.name, l.version, a.id, a.kind)),
                Err(why) => wrong.push(format!("{} {}: {}: {why}", l.name, l.version, a.id)),
            }
        }
    }
    wrong
}

fn write(database: Option<&Path>) -> Result<()> {
    let all = metadata::load()?;
    let locked = table::locked(&all)?;
    match database {
        Some(dir) => {
            let text = advisories::collect(dir, &locked)?;
            let (_, found) = advisories::parse(&text)?;
            let wrong = affected(&locked, &found);
            if !wrong.is_empty() {
                return Err(wrong.join("\n"));
            }
            put(ADVISORIES, &text)?;
            put(CRATES, &table::write(&locked))?;
        }
        // Without the database only what was reviewed already may stay in the list.
        None => {
            let wrong = differences(&locked, &table::parse(&read(CRATES)?)?);
            let new: Vec<String> = wrong.into_iter().filter(|w| !w.contains("is not locked")).collect();
            if !new.is_empty() {
                return Err(new.join("\n"));
            }
            put(CRATES, &table::write(&locked))?;
        }
    }
    put(SBOM, &sbom::write(&shipped(&all, &locked)))
}

/// What the command is made of: of ours and of others, each with what it uses.
fn shipped<'a>(all: &'a Metadata, locked: &'a [Locked]) -> Vec<sbom::Part<'a>> {
    let command = all.packages.iter().filter(|p| p.name == COMMAND && all.workspace_members.contains(&p.id));
    let ids = reached(all, command.map(|p| p.id.as_str()).collect());
    let sums: BTreeMap<(&str, &str), &str> =
        locked.iter().map(|l| ((l.name.as_str(), l.version.as_str()), l.checksum.as_str())).collect();
    let mut parts: Vec<sbom::Part<'_>> = all
        .packages
        .iter()
        .filter(|p| ids.contains(p.id.as_str()))
        .map(|p| sbom::Part {
            name: &p.name,
            version: &p.version,
            licence: p.license.as_deref(),
            checksum: sums.get(&(p.name.as_str(), p.version.as_str())).copied(),
            uses: metadata::uses(all, &p.id),
        })
        .collect();
    parts.sort_by_key(|p| (p.name, p.version));
    parts
}

fn path(name: &str) -> PathBuf {
    shell::root().join(name)
}

fn read(name: &str) -> Result<String> {
    std::fs::read_to_string(path(name)).map_err(|e| format!("{name}: {e}"))
}

fn put(name: &str, text: &str) -> Result<()> {
    std::fs::write(path(name), text).map_err(|e| format!("{name}: {e}"))?;
    println!("{name}: {} lines", text.lines().count());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(name: &str, version: &str) -> Locked {
        Locked { name: name.into(), version: version.into(), checksum: "aa".into(), ..Locked::default() }
    }

    #[test]
    fn what_was_not_reviewed_is_found() {
        let reviewed = table::parse(&table::write(&[locked("a", "1.0.0"), locked("gone", "1.0.0")])).unwrap();
        assert_eq!(differences(&[locked("a", "1.0.0"), locked("gone", "1.0.0")], &reviewed), Vec::<String>::new());
        let other = Locked { checksum: "bb".into(), ..locked("gone", "1.0.0") };
        assert_eq!(differences(&[locked("a", "1.0.1"), other], &reviewed).len(), 3);
    }

    #[test]
    fn what_is_locked_was_reviewed() {
        let (_, wrong) = check().unwrap();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
