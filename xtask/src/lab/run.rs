//! `cargo xtask lab run` and `list`.

use super::machine::{self, Media};
use super::options::Options;
use super::patience::Patience;
use super::qemu::{self, Limits};
use super::report::{self, Entry, Outcome};
use super::scenario::{self, Scenario};
use super::{Paths, Result, check, guest, setup, verdict};
use crate::shell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes of the results' disk; it is sparse.
const DISK: u64 = 256 << 20;

/// The scenarios that were asked for.
fn chosen(paths: &Paths, options: &Options) -> Result<Vec<Scenario>> {
    let all = scenario::load_all(paths)?;
    let names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
    if let Some(name) = options.unmatched(&names).first() {
        return Err(format!("lab: no scenario {name:?}; `cargo xtask lab list` names them"));
    }
    Ok(options.of_part(all.into_iter().filter(|s| options.wants(&s.name) && (s.ci || !options.ci))))
}

/// Prints names and what each proves.
pub(super) fn list(paths: &Paths, options: &Options) -> Result<ExitCode> {
    for scenario in chosen(paths, options)? {
        println!("{:<28} {}", scenario.name, scenario.proves);
    }
    Ok(ExitCode::SUCCESS)
}

/// Boots what was asked for, says how it went.
pub(super) fn run(paths: &Paths, options: &Options) -> Result<ExitCode> {
    if options.list {
        return list(paths, options);
    }
    let scenarios = chosen(paths, options)?;
    if scenarios.is_empty() {
        return Err("lab: no scenario with `ci = true` has such a name".to_owned());
    }
    let linerate = if options.facts_only { Err("--facts-only".to_owned()) } else { binary(paths, options) };
    if let (Err(why), false) = (&linerate, options.facts_only) {
        eprintln!("lab: NO LINERATE for the guests, so its verdicts are not checked: {why}");
    }
    let stop = stop()?;
    fs::create_dir_all(paths.out("")).map_err(|e| format!("lab: cannot make {}: {e}", paths.out("").display()))?;
    let started = Instant::now();
    let patience = options.limits();
    let next = AtomicUsize::new(0);
    let entries = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.min(scenarios.len()) {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let began = Instant::now();
                    let outcome = one(paths, options, patience, scenario, &linerate, &stop);
                    let entry = Entry {
                        name: scenario.name.clone(),
                        proves: scenario.proves.clone(),
                        took: began.elapsed(),
                        outcome,
                    };
                    println!("{}", report::line(paths, &entry));
                    if let Ok(mut entries) = entries.lock() {
                        entries.push(entry);
                    }
                }
            });
        }
    });
    let mut entries = entries.into_inner().map_err(|_| "lab: a scenario's thread broke off".to_owned())?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    report::save(&paths.out("junit.xml"), &entries)?;
    let code = report::conclude(&entries, started.elapsed());
    if stop.load(Ordering::Relaxed) {
        eprintln!("lab: interrupted: {} scenarios were not run", scenarios.len() - entries.len());
        return Ok(ExitCode::from(1));
    }
    Ok(code)
}

/// The static `linerate` of this tree, with what the tests of faults need. It is linked from the crates of `cargo build --release`; only those with the feature `faults` are built for it.
pub(super) fn built(paths: &Paths) -> Result<PathBuf> {
    let mut cargo = shell::cargo();
    cargo.args(["rustc", "--quiet", "--locked", "--release", "--package", "linerate", "--bin", "linerate"]);
    cargo.args(["--features", "faults", "--", "-Ctarget-feature=+crt-static"]);
    shell::status(&mut cargo)?;
    // The next build without faults takes its name.
    let (made, own) = (shell::target().join("release/linerate"), paths.cache.join("linerate"));
    shell::made(&paths.cache)?;
    // A copy that runs, or that others have linked, stays as it is.
    let _ = fs::remove_file(&own);
    fs::copy(&made, &own).map_err(|e| format!("{} as {}: {e}", made.display(), own.display()))?;
    Ok(own)
}

/// The `linerate` for the guests.
pub(super) fn binary(paths: &Paths, options: &Options) -> Result<PathBuf> {
    let file = options.linerate.clone().map_or_else(|| built(paths), Ok)?;
    let help = Command::new(&file)
        .args(["audit", "--help"])
        .output()
        .map_err(|e| format!("cannot run {}: {e}", file.display()))?;
    if help.stdout.is_empty() {
        return Err(format!("{} has no `audit` yet", file.display()));
    }
    Ok(file)
}

fn one(
    paths: &Paths,
    options: &Options,
    patience: Patience,
    scenario: &Scenario,
    linerate: &Result<PathBuf>,
    stop: &AtomicBool,
) -> Outcome {
    if let Some(why) = setup::missing(paths, &scenario.kernel) {
        return Outcome::Skipped(why);
    }
    if patience.over() {
        return Outcome::Failed(vec!["not run: the time of --within is over".to_owned()]);
    }
    let out = paths.out(&scenario.name);
    let linerate = linerate.as_ref().map(PathBuf::as_path);
    if options.recheck {
        if !out.join("dmesg.txt").exists() {
            return Outcome::Skipped("no results of an earlier run".to_owned());
        }
    } else if let Err(why) = boot(paths, options, patience, scenario, linerate.ok(), &out, stop) {
        return Outcome::Failed(vec![why]);
    }
    let mut complaints = check::facts(scenario, &out);
    if !scenario.expect.needs_linerate() || options.facts_only {
        let note = if options.facts_only && scenario.expect.needs_linerate() { " (guest facts only)" } else { "" };
        return if complaints.is_empty() { Outcome::Passed(note.to_owned()) } else { Outcome::Failed(complaints) };
    }
    let binary = match linerate {
        Ok(binary) => binary,
        // What was not looked at is never a pass.
        Err(_) if complaints.is_empty() => {
            return Outcome::Skipped("the guest's facts hold; linerate's verdicts were not checked".to_owned());
        }
        Err(_) => return Outcome::Failed(complaints),
    };
    match offline(binary, &out) {
        Ok(audit) if options.recheck => complaints.extend(verdict::check(&scenario.expect, &audit)),
        Ok(audit) => {
            let live = verdict::Said::live(&out);
            complaints.extend(verdict::check(&scenario.expect, &live));
            complaints.extend(verdict::same(&live, &audit));
        }
        Err(why) => complaints.push(why),
    }
    if !scenario.expect.path.is_empty() {
        complaints.extend(super::paths::check(binary, &scenario.expect, &out));
    }
    let note = if options.recheck { " (recheck: nothing was booted)" } else { "" };
    if complaints.is_empty() { Outcome::Passed(note.to_owned()) } else { Outcome::Failed(complaints) }
}

/// Audits the guest's snapshot on this machine.
fn offline(binary: &Path, out: &Path) -> Result<verdict::Said> {
    let snapshot = out.join("linerate/snapshot.tar.zst");
    let status = fs::read_to_string(out.join("linerate/collect.status")).unwrap_or_default();
    if status.trim() != "0" {
        return Err(format!("linerate collect: expected status 0, saw {:?} (linerate/collect.txt)", status.trim()));
    }
    let output = Command::new(binary)
        .args(["audit", "--format", "json"])
        .arg(&snapshot)
        .output()
        .map_err(|why| format!("cannot run {}: {why}", binary.display()))?;
    let _ = fs::write(out.join("linerate/offline.json"), &output.stdout);
    Ok(verdict::Said {
        status: output.status.code().map(|c| c.to_string()).unwrap_or_default(),
        json: String::from_utf8_lossy(&output.stdout).into_owned(),
        words: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Boots the guest and brings its results to `out`.
pub(super) fn boot(
    paths: &Paths,
    options: &Options,
    patience: Patience,
    scenario: &Scenario,
    linerate: Option<&Path>,
    out: &Path,
    stop: &AtomicBool,
) -> Result<()> {
    let at = |e: std::io::Error| format!("{}: {e}", out.display());
    if out.exists() {
        fs::remove_dir_all(out).map_err(at)?;
    }
    fs::create_dir_all(out).map_err(at)?;
    let (initrd, disk, serial) = (out.join("initramfs.cpio"), out.join("disk.raw"), out.join("serial.log"));
    let mut root = fs::read(paths.cache.join("base.cpio")).map_err(at)?;
    root.extend(guest::initramfs(paths, scenario, linerate)?);
    fs::write(&initrd, root).map_err(at)?;
    fs::File::create(&disk).and_then(|f| f.set_len(DISK)).map_err(at)?;
    let kernel = paths.kernel(&scenario.kernel).join("vmlinuz");
    // Not below `out`: the name of a socket has a limit of about 100 bytes.
    let monitor = std::env::temp_dir().join(format!("lab-{}-{}", std::process::id(), scenario.name));
    let media = Media { kernel: &kernel, initrd: &initrd, disk: &disk, serial: &serial, monitor: &monitor };
    let args = machine::arguments(scenario, &media)?;
    fs::write(out.join("qemu.args"), args.join("\n")).map_err(at)?;
    let seconds = |n: u64| patience.limit(Duration::from_secs(n));
    let limits = Limits { boot: seconds(scenario.boot_timeout), total: seconds(scenario.timeout) };
    let booted = qemu::boot(scenario, &args, &media, &out.join("qemu.log"), &limits, stop);
    let _ = fs::remove_file(&monitor);
    let unpacked = booted.and_then(|()| unpack(&disk, out));
    if !options.keep {
        let _ = fs::remove_file(&initrd);
        let _ = fs::remove_file(&disk);
    }
    unpacked
}

/// The tar that the guest wrote to its disk.
fn unpack(disk: &Path, out: &Path) -> Result<()> {
    let output = Command::new("tar")
        .args(["--no-same-owner", "--no-same-permissions", "-xf"])
        .arg(disk)
        .arg("-C")
        .arg(out)
        .output()
        .map_err(|e| format!("cannot run tar: {e}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("the guest's results are damaged: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// What is set when a signal asks to stop.
pub(super) fn stop() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|e| format!("lab: cannot watch signals: {e}"))?;
    }
    Ok(stop)
}
