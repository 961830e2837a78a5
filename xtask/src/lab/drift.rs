//! `cargo xtask lab drift`: guests that differ in what is written down, and what `linerate drift` and `diff` say of them.

use super::hosts::judge::differences;
use super::options::Options;
use super::patience::Patience;
use super::scenario::{self, Scenario};
use super::{Paths, Result, run, setup};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// `lab/drift/guests.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fleet {
    /// What all guests have.
    base: toml::Table,
    guest: Vec<Guest>,
}

#[derive(Debug, Deserialize)]
struct Guest {
    name: String,
    /// All facts in which it differs from the majority.
    #[serde(default)]
    facts: BTreeSet<String>,
    /// It is that guest, booted again.
    boots: Option<String>,
    /// What it has instead of the base's; of `setup` what it has besides.
    #[serde(flatten)]
    own: toml::Table,
}

/// Facts that a boot of one machine may change.
const REBOOT: &[&str] = &["memory.total_kib"];

impl Fleet {
    fn read(paths: &Paths) -> Result<Fleet> {
        let file = paths.root.join("lab/drift/guests.toml");
        let text = std::fs::read_to_string(&file).map_err(|e| format!("lab: cannot read {}: {e}", file.display()))?;
        toml::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))
    }

    /// A guest as a scenario, with a machine of its own.
    fn scenario(&self, guest: &Guest) -> Result<Scenario> {
        let mut all = self.base.clone();
        for (key, value) in &guest.own {
            match (all.get_mut(key), value) {
                (Some(toml::Value::Array(base)), toml::Value::Array(more)) if key == "setup" => {
                    base.extend(more.iter().cloned());
                }
                _ => drop(all.insert(key.clone(), value.clone())),
            }
        }
        let machine = guest.boots.as_ref().unwrap_or(&guest.name);
        let number =
            self.guest.iter().position(|g| g.name == *machine).ok_or_else(|| format!("no guest {machine:?}"))?;
        let id = format!("echo {number:032x} >/etc/machine-id; hostname {machine}");
        if let Some(toml::Value::Array(setup)) = all.get_mut("setup") {
            setup.insert(0, id.into());
        }
        let mut scenario = scenario::of(&format!("drift-{}", guest.name), all)?;
        scenario.machine.options.extend(["-uuid".to_owned(), format!("6d0c51f2-5c0e-4e0a-9f0b-{number:012x}")]);
        Ok(scenario)
    }
}

/// Boots them and judges.
pub(super) fn main(paths: &Paths, options: &Options) -> Result<ExitCode> {
    let fleet = Fleet::read(paths)?;
    if let Some(why) = setup::missing(paths, "6.1") {
        eprintln!("lab: drift is SKIPPED: {why}");
        return Ok(ExitCode::from(2));
    }
    let began = Instant::now();
    let linerate = run::binary(paths, options)?;
    let linerate = std::path::absolute(&linerate).map_err(|e| format!("{}: {e}", linerate.display()))?;
    let (stop, patience) = (run::stop()?, options.limits());
    let desk = paths.out("drift");
    if desk.exists() {
        std::fs::remove_dir_all(&desk).map_err(|e| format!("{}: {e}", desk.display()))?;
    }
    std::fs::create_dir_all(desk.join("fleet")).map_err(|e| format!("{}: {e}", desk.display()))?;
    let lab = Lab { paths, options, patience, linerate: &linerate, desk: &desk, stop: &stop };
    let mut complaints = Vec::new();
    if !options.recheck {
        lab.boot(&fleet)?;
    }
    for guest in &fleet.guest {
        complaints.extend(lab.same(guest)?);
    }
    complaints.extend(lab.drift(&fleet)?);
    for line in &complaints {
        println!("FAIL {line}");
    }
    let n = fleet.guest.len();
    println!("drift: {n} guests, {} complaints, {:.0} s", complaints.len(), began.elapsed().as_secs_f64());
    Ok(ExitCode::from(u8::from(!complaints.is_empty())))
}

struct Lab<'a> {
    paths: &'a Paths,
    options: &'a Options,
    patience: Patience,
    linerate: &'a Path,
    desk: &'a Path,
    stop: &'a std::sync::Arc<AtomicBool>,
}

impl Lab<'_> {
    fn out(&self, guest: &str) -> PathBuf {
        self.paths.out(&format!("drift-{guest}"))
    }

    /// The first collection of a guest, and the second one of the same boot.
    fn snapshots(&self, guest: &str) -> (PathBuf, PathBuf) {
        (self.out(guest).join("linerate/snapshot.tar.zst"), self.out(guest).join("second.tar.zst"))
    }

    fn boot(&self, fleet: &Fleet) -> Result<()> {
        for guest in &fleet.guest {
            let (began, scenario) = (Instant::now(), fleet.scenario(guest)?);
            let out = self.out(&guest.name);
            run::boot(self.paths, self.options, self.patience, &scenario, Some(self.linerate), &out, self.stop)?;
            let complaints = super::check::facts(&scenario, &out);
            if !complaints.is_empty() {
                return Err(format!("{}: {}", scenario.name, complaints.join("; ")));
            }
            println!("  {} booted and collected in {:.0} s", guest.name, began.elapsed().as_secs_f64());
        }
        Ok(())
    }

    fn json(&self, arguments: &[&str], codes: &[i32]) -> Result<Value> {
        let out = Command::new(self.linerate)
            .args(arguments)
            .current_dir(self.desk)
            .output()
            .map_err(|e| format!("cannot run {}: {e}", self.linerate.display()))?;
        let words = String::from_utf8_lossy(&out.stderr);
        if !out.status.code().is_some_and(|c| codes.contains(&c)) {
            return Err(format!("linerate {}: {}: {words}", arguments.join(" "), out.status));
        }
        serde_json::from_slice(&out.stdout).map_err(|e| format!("linerate {}: {e}: {words}", arguments.join(" ")))
    }

    /// Facts that differ between two snapshots.
    fn diff(&self, a: &Path, b: &Path) -> Result<BTreeSet<String>> {
        let (a, b) = (a.display().to_string(), b.display().to_string());
        let said = self.json(&["diff", "--format", "json", &a, &b], &[0, 1])?;
        let all = said.get("differences").and_then(Value::as_array).ok_or("diff: no list of differences")?;
        Ok(all.iter().map(|d| d.get("fact").and_then(Value::as_str).unwrap_or("?").to_owned()).collect())
    }

    /// Two collections of one boot, and of two boots.
    fn same(&self, guest: &Guest) -> Result<Vec<String>> {
        let (first, second) = self.snapshots(&guest.name);
        let mut complaints = Vec::new();
        let two = self.diff(&first, &second)?;
        if !two.is_empty() {
            complaints.push(format!("{}: two collections of one boot differ in {two:?}", guest.name));
        }
        if let Some(before) = &guest.boots {
            let mut changed = self.diff(&self.snapshots(before).0, &first)?;
            changed.retain(|fact| !REBOOT.contains(&fact.as_str()));
            if !changed.is_empty() {
                complaints.push(format!("{}: a boot changed {changed:?}", guest.name));
            }
        }
        Ok(complaints)
    }

    /// Who differs in what.
    fn drift(&self, fleet: &Fleet) -> Result<Vec<String>> {
        let guests = || fleet.guest.iter().filter(|g| g.boots.is_none());
        for guest in guests() {
            let to = self.desk.join("fleet").join(format!("{}.tar.zst", guest.name));
            std::fs::copy(self.snapshots(&guest.name).0, &to).map_err(|e| format!("{}: {e}", to.display()))?;
        }
        let said = self.json(&["drift", "--format", "json", "fleet"], &[0, 1])?;
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (node, fact, _) in differences(&said)? {
            found.entry(node).or_default().insert(fact);
        }
        let mut complaints = Vec::new();
        for guest in guests() {
            let said = found.remove(&guest.name).unwrap_or_default();
            let (missed, more) = (guest.facts.difference(&said), said.difference(&guest.facts));
            let (missed, more): (Vec<_>, Vec<_>) = (missed.collect(), more.collect());
            if !missed.is_empty() || !more.is_empty() {
                complaints
                    .push(format!("{}: drift lacks {missed:?} and says {more:?}, which was not done", guest.name));
            }
            println!("  {}: {} facts of {} differ", guest.name, said.len(), guest.facts.len());
        }
        complaints.extend(found.into_keys().map(|node| format!("drift names {node}, which is no guest")));
        Ok(complaints)
    }
}
