//! Disk guests: Debian machines with a disk, GRUB, systemd and sshd, which keep what was written over reboots and power cuts.
//!
//! The other guests of the lab are booted once, from memory. Where a claim is about a boot loader, a reboot or another host over
//! SSH, it takes one of these. [`Image`] is made once; a [`Group`] starts [`Guest`]s over it, each with a disk of its own that holds
//! only its changes. What is proved with them are functions in [`scenarios`].

use super::options::Options;
use super::patience::Patience;
use super::report::{self, Entry, Outcome};
use super::{Paths, Result, run, setup, watch};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

mod accel;
mod firmware;
mod group;
mod guest;
mod image;
mod scenarios;
mod ssh;

use group::{Group, Spec};
use guest::Guest;
use image::{Image, Loader};

/// What a scenario is given.
struct Lab<'a> {
    image: &'a Image,
    /// The static `linerate`, for this machine and for the guests; absent: why.
    linerate: &'a Result<PathBuf>,
    /// Where it leaves what it saw.
    out: PathBuf,
    /// The repository's pages.
    docs: PathBuf,
    patience: Patience,
    /// How much of a matrix.
    extent: Extent,
    stop: &'a AtomicBool,
}

/// How much of a matrix of cases is gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// A few of each kind, for every commit.
    Few,
    Sample,
    All,
}

/// What is proved, and how.
struct Scenario {
    name: &'static str,
    /// One sentence.
    proves: &'static str,
    /// Does it need `linerate`?
    linerate: bool,
    loader: Loader,
    /// An error is what was expected and what was seen.
    run: fn(&Lab<'_>) -> Result<()>,
}

impl Scenario {
    /// One that needs `linerate`, on guests that boot by GRUB.
    const fn with_linerate(name: &'static str, proves: &'static str, run: fn(&Lab<'_>) -> Result<()>) -> Scenario {
        Scenario { name, proves, linerate: true, loader: Loader::Grub, run }
    }

    /// One of the lab's own guests.
    const fn without_linerate(name: &'static str, proves: &'static str, run: fn(&Lab<'_>) -> Result<()>) -> Scenario {
        Scenario { linerate: false, ..Scenario::with_linerate(name, proves, run) }
    }

    /// The same on guests that boot otherwise.
    const fn booted_by(self, loader: Loader) -> Scenario {
        Scenario { loader, ..self }
    }
}

/// What setup installs for the disk guests.
pub(super) fn packages() -> Vec<&'static str> {
    Image::packages()
}

/// The disk, or what becomes of scenarios that start from it: skipped where no such guest can run here.
fn image(paths: &Paths, loader: Loader, patience: Patience, stop: &AtomicBool) -> std::result::Result<Image, Outcome> {
    match setup::missing_qemu().or_else(|| Image::missing(paths, loader)) {
        Some(why) => Err(Outcome::Skipped(why)),
        None => {
            accel::with_fallback(|| Image::get(paths, loader, patience, stop)).map_err(|why| Outcome::Failed(vec![why]))
        }
    }
}

/// `cargo xtask lab disk`: boots what was asked for, says how it went.
pub(super) fn main(paths: &Paths, options: &Options) -> Result<ExitCode> {
    let all = scenarios::ALL;
    let names: Vec<&str> = all.iter().map(|s| s.name).collect();
    if let Some(name) = options.unmatched(&names).first() {
        return Err(format!("lab: no disk scenario {name:?}; `cargo xtask lab disk --list` names them"));
    }
    let named = |s: &&Scenario| if options.ci { scenarios::CI.contains(&s.name) } else { options.wants(s.name) };
    let wanted: Vec<&Scenario> = options.of_part(all.iter().filter(named));
    let extent = match () {
        () if options.full => Extent::All,
        () if options.ci => Extent::Few,
        () => Extent::Sample,
    };
    if options.list {
        for scenario in &wanted {
            println!("{:<28} {}", scenario.name, scenario.proves);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if options.recheck || options.facts_only {
        return Err("lab: disk takes --list, --ci, --part, --full, --patience, --within, --linerate, --keep and names"
            .to_owned());
    }
    if wanted.is_empty() {
        return Err("lab: no disk scenario is in that part".to_owned());
    }
    let stop = run::stop()?;
    let linerate = if wanted.iter().any(|s| s.linerate) {
        run::binary(paths, options)
    } else {
        Err("no scenario that was asked for needs it".to_owned())
    };
    let patience = options.limits();
    let mut images = BTreeMap::new();
    fs::create_dir_all(paths.out("")).map_err(|e| format!("lab: cannot make {}: {e}", paths.out("").display()))?;
    let started = Instant::now();
    let mut entries = Vec::new();
    for scenario in &wanted {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (began, resets) = (Instant::now(), watch::resets());
        let get = || image(paths, scenario.loader, patience, &stop);
        let outcome = match images.entry(scenario.loader).or_insert_with(get) {
            Ok(image) => {
                let out = paths.out(scenario.name);
                one(
                    scenario,
                    &Lab { image, linerate: &linerate, out, docs: paths.docs(), patience, extent, stop: &stop },
                    options,
                )
            }
            Err(Outcome::Skipped(why)) => Outcome::Skipped(why.clone()),
            Err(Outcome::Failed(why)) => Outcome::Failed(why.clone()),
            Err(Outcome::Passed(_)) => continue, // an error is never that
        };
        let outcome = outcome.with_resets(watch::resets() - resets);
        let (name, proves) = (scenario.name.to_owned(), scenario.proves.to_owned());
        let entry = Entry { name, proves, took: began.elapsed(), outcome };
        println!("{}", report::line(paths, &entry));
        entries.push(entry);
    }
    report::save(&paths.out("junit-disk.xml"), &entries)?;
    let code = report::conclude(&entries, started.elapsed());
    if stop.load(Ordering::Relaxed) {
        eprintln!("lab: interrupted: {} scenarios were not run", wanted.len() - entries.len());
        return Ok(ExitCode::from(1));
    }
    Ok(code)
}

fn one(scenario: &Scenario, lab: &Lab<'_>, options: &Options) -> Outcome {
    if let (true, Err(why)) = (scenario.linerate, lab.linerate) {
        return Outcome::Skipped(format!("no linerate: {why}"));
    }
    if lab.patience.over() {
        return Outcome::Failed(vec!["not run: the time of --within is over".to_owned()]);
    }
    let result = accel::with_fallback(|| (scenario.run)(lab));
    if !options.keep {
        group::discard(&lab.out);
    }
    match result {
        Ok(()) => Outcome::Passed(String::new()),
        Err(why) => Outcome::Failed(why.lines().map(str::to_owned).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_for_every_commit_are_there() {
        assert!(scenarios::CI.iter().all(|name| scenarios::ALL.iter().any(|s| s.name == *name)));
    }

    #[test]
    fn every_scenario_has_a_name_of_its_own_and_a_sentence() {
        let mut names: Vec<&str> = scenarios::ALL.iter().map(|s| s.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), scenarios::ALL.len());
        for scenario in scenarios::ALL {
            assert!(scenario.proves.ends_with('.') && scenario.proves.len() > 20, "{}", scenario.name);
            // Results go to a folder of this name, beside those of the other guests.
            let file = Paths::new().scenarios().join(format!("{}.toml", scenario.name));
            assert!(!file.exists(), "{} is also a scenario of `lab run`", scenario.name);
        }
    }
}
