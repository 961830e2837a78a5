//! The map of ARCHITECTURE.md, read from the page itself, so that the page and the manifests cannot disagree.

use crate::metadata::{Dependency, Metadata, Package};
use crate::shell::{self, Result};
use std::collections::BTreeSet;

const PAGE: &str = "ARCHITECTURE.md";
const COMPOSE: &str = "linerate-compose";
/// An independent witness: it uses no crate of the workspace.
const LOGS: &str = "linerate-logs";
/// Developer's tools: they may depend on all crates but the command.
const DEVELOPERS: [&str; 2] = ["linerate-fuzz", "xtask"];
const COMMAND: &str = "linerate";

/// One row: a crate, and the crates of the workspace that it depends on, by package name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) depends_on: BTreeSet<String>,
}

/// The page's table.
pub(crate) fn read() -> Result<Vec<Row>> {
    let path = shell::root().join(PAGE);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    rows(&text)
}

fn rows(text: &str) -> Result<Vec<Row>> {
    let table = text.lines().skip_while(|l| !l.starts_with("| crate |")).skip(2).take_while(|l| l.starts_with('|'));
    let mut rows = Vec::new();
    for line in table {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[name, _, on] = cells.as_slice() else {
            return Err(format!("{PAGE}: a row of the map has {} cells instead of 3: {line}", cells.len()));
        };
        let depends_on = on.split(", ").filter(|n| *n != "–").map(package).collect();
        rows.push(Row { name: package(name.trim_matches('`')), depends_on });
    }
    if rows.is_empty() { Err(format!("{PAGE}: no table that begins with \"| crate |\"")) } else { Ok(rows) }
}

/// The package in the folder `crates/NAME`.
fn package(folder: &str) -> String {
    if folder == "cli" { COMMAND.to_owned() } else { format!("linerate-{folder}") }
}

/// What is wrong with the dependencies among the workspace's own crates, compared with the map in both directions.
pub(crate) fn compare(map: &[Row], all: &Metadata) -> Vec<String> {
    let members: Vec<&Package> = all.packages.iter().filter(|p| all.workspace_members.contains(&p.id)).collect();
    let names: BTreeSet<&str> = members.iter().map(|p| p.name.as_str()).collect();
    let mut wrong = order(map);
    wrong.extend(
        map.iter()
            .filter(|r| !names.contains(r.name.as_str()))
            .map(|r| format!("{PAGE} lists {}, which is not here", r.name)),
    );
    for p in &members {
        let ours: Vec<&Dependency> = p.dependencies.iter().filter(|d| names.contains(d.name.as_str())).collect();
        match map.iter().find(|r| r.name == p.name) {
            Some(row) => on_the_map(map, row, &ours, &mut wrong),
            None => beside_the_map(map, p, &ours, &mut wrong),
        }
    }
    wrong
}

/// A crate depends on those above it only: so there are no circles, and the table is read from top to bottom.
fn order(map: &[Row]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, row) in map.iter().enumerate() {
        let above = |name: &String| map.iter().take(at).any(|r| r.name == *name);
        wrong.extend(
            row.depends_on.iter().filter(|n| !above(n)).map(|n| format!("{PAGE}: {n} is not above {}", row.name)),
        );
    }
    wrong
}

fn on_the_map(map: &[Row], row: &Row, ours: &[&Dependency], wrong: &mut Vec<String>) {
    let (tests, normal): (Vec<&Dependency>, Vec<&Dependency>) =
        ours.iter().copied().partition(|d| d.kind.as_deref() == Some("dev"));
    let normal: BTreeSet<&str> = normal.iter().map(|d| d.name.as_str()).collect();
    for name in &normal {
        if !row.depends_on.contains(*name) {
            wrong.push(format!("{} depends on {name}, which its row of {PAGE} does not list", row.name));
        }
    }
    for name in row.depends_on.iter().filter(|n| !normal.contains(n.as_str())) {
        wrong.push(format!("{PAGE} says that {} depends on {name}, its manifest does not", row.name));
    }
    // Tests keep to the order too. Fixtures are composed: each crate's tests may use that, except of what it is made of.
    let at = map.iter().position(|r| r.name == row.name).unwrap_or_default();
    for d in tests {
        let above = map.iter().take(at).any(|r| r.name == d.name);
        let fixtures =
            d.name == COMPOSE && row.name != "linerate-formats" || d.name == LOGS && row.name == "linerate-doctor";
        if !above && !fixtures {
            wrong.push(format!("tests of {} must not depend on {}", row.name, d.name));
        }
    }
}

fn beside_the_map(map: &[Row], p: &Package, ours: &[&Dependency], wrong: &mut Vec<String>) {
    let may: Box<dyn Fn(&str) -> bool> = match p.name.as_str() {
        COMPOSE => Box::new(|n| n == "linerate-formats"),
        LOGS => Box::new(|_| false),
        name if DEVELOPERS.contains(&name) => {
            Box::new(|n| n != COMMAND && (n == COMPOSE || n == LOGS || map.iter().any(|r| r.name == n)))
        }
        name => return wrong.push(format!("{name}: not on the map in {PAGE}")),
    };
    wrong.extend(ours.iter().filter(|d| !may(&d.name)).map(|d| format!("{} must not depend on {}", p.name, d.name)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata;
    use regex_lite::Regex;
    use std::process::Command;

    /// Bytes: the page has to be read in one sitting.
    const LONGEST: usize = 8 << 10;

    #[test]
    fn the_arrows_hold() {
        let wrong = compare(&read().unwrap(), &metadata::load().unwrap());
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Each way in which map and manifests can differ is found.
    #[test]
    fn a_wrong_arrow_is_found() {
        let row = |name: &str, on: &[&str]| Row {
            name: name.to_owned(),
            depends_on: on.iter().map(|n| (*n).to_owned()).collect(),
        };
        let wrong = |name: &str, on: &str, kind: &str| {
            let package = |name: &str, on: &str| {
                let on = if on.is_empty() { String::new() } else { format!(r#"{{"name":"{on}","kind":{kind}}}"#) };
                format!(
                    r#"{{"id":"{name}","name":"{name}","version":"1","license":null,"source":null,"dependencies":[{on}]}}"#
                )
            };
            let others =
                ["linerate-formats", "linerate-node", "linerate-rules", COMPOSE].iter().filter(|n| **n != name);
            let others: Vec<String> = others
                .map(|n| package(n, if *n == "linerate-rules" && kind == "null" { "linerate-node" } else { "" }))
                .collect();
            let members: Vec<String> = ["linerate-formats", "linerate-node", "linerate-rules", COMPOSE, name]
                .map(|n| format!("{n:?}"))
                .to_vec();
            let json = format!(
                r#"{{"packages":[{},{}],"workspace_members":[{}],"resolve":{{"nodes":[]}}}}"#,
                package(name, on),
                others.join(","),
                members.join(",")
            );
            let on_rules: &[&str] = if kind == "null" { &["linerate-node"] } else { &[] };
            let map = [row("linerate-formats", &[]), row("linerate-node", &[]), row("linerate-rules", on_rules)];
            compare(&map, &serde_json::from_str(&json).unwrap()).len()
        };
        assert_eq!(wrong("linerate-rules", "linerate-node", "null"), 0);
        // One that is not listed, and the listed one that is not there.
        assert_eq!(wrong("linerate-rules", "linerate-formats", "null"), 2);
        assert_eq!(wrong("linerate-node", "linerate-rules", "null"), 1);
        assert_eq!(wrong("linerate-node", "linerate-rules", "\"dev\""), 1);
        assert_eq!(wrong("linerate-rules", COMPOSE, "\"dev\""), 0);
        assert_eq!(wrong("linerate-new", "linerate-formats", "null"), 1);
        assert_eq!(wrong("xtask", "linerate-rules", "null"), 0);
        assert_eq!(order(&[row("linerate-node", &["linerate-rules"]), row("linerate-rules", &[])]).len(), 1);
    }

    /// The page names tests that exist, and stays short.
    #[test]
    fn the_page_is_short_and_names_tests_that_exist() {
        let page = std::fs::read_to_string(shell::root().join(PAGE)).unwrap();
        assert!(page.len() <= LONGEST, "{} bytes", page.len());
        let invariants = page.split_once("## Invariants").unwrap().1;
        let name = Regex::new("`([a-z0-9]+(?:_[a-z0-9]+){2,})`").unwrap();
        let named: Vec<&str> = name.captures_iter(invariants).map(|c| c.get(1).unwrap().as_str()).collect();
        assert!(named.len() > 20, "{named:?}");
        let mut grep = Command::new("git");
        grep.args(["grep", "-hoE", "fn [a-z0-9_]+\\(", "--", "*.rs"]).current_dir(shell::root());
        let functions = shell::output(&mut grep).unwrap();
        let functions: BTreeSet<&str> =
            functions.lines().filter_map(|l| l.strip_prefix("fn ")?.strip_suffix('(')).collect();
        for test in named {
            assert!(functions.contains(test), "{PAGE} names a test that does not exist: {test}");
        }
    }

    /// Each decision has its line in the index, and each line its page.
    #[test]
    fn each_decision_is_in_the_index() {
        let folder = shell::root().join("docs/decisions");
        let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let link = Regex::new(r"\]\(([a-z0-9-]+\.md)\)").unwrap();
        let listed: BTreeSet<String> = link.captures_iter(&index).map(|c| c[1].to_owned()).collect();
        let pages = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let pages: BTreeSet<String> = pages.filter(|n| n != "README.md").collect();
        assert_eq!(listed, pages);
    }
}
