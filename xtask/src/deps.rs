//! `cargo xtask deps [CHECK …]`: what we depend on, checked without network: the arrows of ARCHITECTURE.md, licences, sources, several
//! versions of a crate, the libraries that the binary loads, its size, and files that know the machine they were written on.

use crate::deny;
use crate::features;
use crate::map;
use crate::metadata::{self, reached};
use crate::shell::{self, Result};
use crate::supply;
use regex_lite::Regex;
use std::collections::BTreeSet;
use std::process::{Command, ExitCode};

const COMMAND: &str = "linerate";
/// The C library's family; the binary may load nothing else.
const LIBRARIES_OF_C: &[&str] = &["linux-vdso.so", "linux-gate.so", "libc.so", "libm.so", "libgcc_s.so", "ld-linux"];
/// Of the release build, much of which is not optimised: 42 MiB. What is handed out has a limit of its own (`cargo xtask dist`).
const MAX_BINARY: u64 = 48 << 20;
/// Paths and hosts that say where a file was written. The character before is none of a longer path.
const MACHINE: &str = r"(^|[\s\x22'`(=:<\[])(/(work|root|home|Users)/[A-Za-z0-9_.-]+)";

pub(crate) fn run(args: &[String]) -> ExitCode {
    let is_known = |name: &String| CHECKS.iter().any(|(known, _)| known == name);
    if !args.iter().all(is_known) {
        let names: Vec<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: cargo xtask deps [{}]…", names.join("|"));
        return ExitCode::from(3);
    }
    let mut wrong = Vec::new();
    for (name, check) in CHECKS.iter().filter(|(name, _)| args.is_empty() || args.iter().any(|a| a == name)) {
        match check() {
            Ok(found) => {
                found.notes.iter().for_each(|n| println!("{name}: {n}"));
                wrong.extend(found.wrong.into_iter().map(|w| format!("{name}: {w}")));
            }
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    shell::exit(if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) })
}

type Check = fn() -> Result<Found>;

const CHECKS: &[(&str, Check)] = &[
    ("crates", crates),
    ("cargo-deny", cargo_deny),
    ("supply", supply_chain),
    ("features", same_features),
    ("binary", binary),
    ("files", files),
];

/// What a check found.
#[derive(Default)]
struct Found {
    notes: Vec<String>,
    wrong: Vec<String>,
}

fn crates() -> Result<Found> {
    let all = metadata::load()?;
    let mut found = Found::default();
    let map = map::read()?;
    found.wrong.extend(map::compare(&map, &all));
    found.notes.push(format!("{} of ours, each depends on what ARCHITECTURE.md lists and on no other", map.len()));
    let ours: BTreeSet<&str> = all.workspace_members.iter().map(String::as_str).collect();
    let command = all.packages.iter().filter(|p| p.name == COMMAND && ours.contains(p.id.as_str()));
    let shipped = reached(&all, command.map(|p| p.id.as_str()).collect());
    let built = reached(&all, ours.iter().copied().collect());
    let theirs = |ids: &BTreeSet<&str>| ids.iter().filter(|id| !ours.contains(**id)).count();
    found.notes.push(format!("{} in linerate, {} with the developer's tools", theirs(&shipped), theirs(&built)));
    found.wrong.extend(deny::load()?.wrong(&all));
    Ok(found)
}

/// The same file once more, by the program that it is written for, where that is installed.
fn cargo_deny() -> Result<Found> {
    let mut found = Found::default();
    if shell::has("cargo-deny") {
        let args =
            ["deny", "--offline", "--workspace", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"];
        found.notes.push(shell::output(shell::cargo().args(args))?.trim().to_owned());
    } else {
        found.notes.push("not installed, so deny.toml was only checked by xtask".to_owned());
    }
    Ok(found)
}

/// What was reviewed is what is locked, and no advisory is about it.
fn supply_chain() -> Result<Found> {
    let (notes, wrong) = supply::check()?;
    Ok(Found { notes, wrong })
}

/// Nothing is built twice for tests and for the developer's programs.
fn same_features() -> Result<Found> {
    Ok(Found { wrong: features::differing()?, ..Found::default() })
}

fn binary() -> Result<Found> {
    let path = shell::release()?;
    let size = std::fs::metadata(&path).map_err(|e| format!("{}: {e}", path.display()))?.len();
    let mut found = Found::default();
    found.notes.push(format!("{:.1} MiB (limit {} MiB)", size as f64 / f64::from(1 << 20), MAX_BINARY >> 20));
    if size > MAX_BINARY {
        found.wrong.push(format!("{size} bytes, more than {} MiB", MAX_BINARY >> 20));
    }
    let loaded = loaded(&path)?;
    for library in loaded.iter().filter(|l| !LIBRARIES_OF_C.iter().any(|c| l.starts_with(c))) {
        found.wrong.push(format!("loads {library}, which a bare node may lack"));
    }
    found.notes.push(format!("loads {}", loaded.join(", ")));
    Ok(found)
}

/// Names of the libraries that a program loads.
pub(crate) fn loaded(path: &std::path::Path) -> Result<Vec<String>> {
    let text = shell::output(Command::new("ldd").arg(path))?;
    let name = |line: &str| line.split_whitespace().next().map(|n| n.rsplit('/').next().unwrap_or(n).to_owned());
    Ok(text.lines().filter_map(name).collect())
}

fn files() -> Result<Found> {
    let listed = shell::output(Command::new("git").args(["ls-files", "-z"]).current_dir(shell::root()))?;
    let machine = Regex::new(MACHINE).map_err(|e| e.to_string())?;
    let hosts = registry_hosts();
    let mut found = Found::default();
    let mut count = 0;
    for name in listed.split('\0').filter(|n| !n.is_empty()) {
        let Ok(bytes) = std::fs::read(shell::root().join(name)) else { continue };
        count += 1;
        let text = String::from_utf8_lossy(&bytes);
        for (at, line) in text.lines().enumerate() {
            if let Some(path) = machine.captures(line).and_then(|c| c.get(2)) {
                found.wrong.push(format!("{name}:{}: {} is a path of one machine", at + 1, path.as_str()));
            }
            for host in hosts.iter().filter(|h| line.contains(h.as_str())) {
                found.wrong.push(format!("{name}:{}: {host} is this machine's registry", at + 1));
            }
        }
    }
    found.notes.push(format!("{count} without paths of one machine"));
    found.wrong.extend(lost_tests(&listed));
    Ok(found)
}

/// Files of tests that are in no program: `tests/all.rs` of their crate does not name them, nor does `Cargo.toml`.
fn lost_tests(listed: &str) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(shell::root().join(name)).unwrap_or_default();
    let mut lost = Vec::new();
    for all in listed.split('\0').filter(|n| n.ends_with("/tests/all.rs")) {
        let Some(dir) = all.strip_suffix("all.rs") else { continue };
        let manifest = read(&format!("{}Cargo.toml", dir.strip_suffix("tests/").unwrap_or(dir)));
        let modules = read(all);
        for name in listed.split('\0').filter(|n| *n != all) {
            let Some(module) = name.strip_prefix(dir).and_then(|n| n.strip_suffix(".rs")) else { continue };
            let own = format!("path = \"tests/{module}.rs\"");
            if !module.contains('/')
                && !modules.lines().any(|l| l == format!("mod {module};"))
                && !manifest.contains(&own)
            {
                lost.push(format!("{name}: {all} does not name it: its tests never run"));
            }
        }
    }
    lost
}

/// Hosts of the registries that cargo uses on this machine instead of the public one.
fn registry_hosts() -> BTreeSet<String> {
    let home = std::env::var_os("CARGO_HOME").map(std::path::PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|h| std::path::PathBuf::from(h).join(".cargo")));
    let configured = home.iter().flat_map(|h| [h.join("config.toml"), h.join("config")]);
    let mut texts: Vec<String> = configured.filter_map(|p| std::fs::read_to_string(p).ok()).collect();
    texts.extend(
        std::env::vars_os()
            .filter(|(k, _)| ["CARGO_REGISTR", "CARGO_SOURCE"].iter().any(|p| k.to_string_lossy().starts_with(p)))
            .map(|(_, v)| v.to_string_lossy().into_owned()),
    );
    texts.iter().flat_map(|t| hosts(t)).collect()
}

fn hosts(text: &str) -> Vec<String> {
    const PUBLIC: &[&str] = &["github.com", "crates.io", "docs.rs", "rust-lang.org"];
    let urls = text.split("://").skip(1);
    let authority = |u: &str| u.split(|c: char| "/\"' \n?#".contains(c)).next().map(str::to_owned);
    let host = |a: String| a.rsplit('@').next().and_then(|h| h.split(':').next()).unwrap_or_default().to_owned();
    let public = |h: &str| PUBLIC.iter().any(|p| h == *p || h.ends_with(&format!(".{p}")));
    urls.filter_map(authority).map(host).filter(|h| h.contains('.') && !public(h)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_machine_are_found() {
        let machine = Regex::new(MACHINE).unwrap();
        // Put together here: this file is checked, too.
        for (text, want) in [
            (format!("see {}", ["", "home", "me", "x"].join("/")), true),
            (format!("\"{}\"", ["", "root", ".cargo"].join("/")), true),
            ("http://x/home/page".to_owned(), false),
            ("target/work/x".to_owned(), false),
            ("/proc/self/root/x".to_owned(), false),
        ] {
            assert_eq!(machine.is_match(&text), want, "{text}");
        }
    }

    #[test]
    fn no_file_names_a_path_of_one_machine() {
        let found = files().unwrap();
        assert!(found.wrong.is_empty(), "{}", found.wrong.join("\n"));
    }

    #[test]
    fn hosts_of_private_registries() {
        let config =
            "registry = \"sparse+https://me:secret@crates.example.org:8080/index/\"\nx = \"https://index.crates.io/\"";
        assert_eq!(hosts(config), ["crates.example.org"]);
    }
}
