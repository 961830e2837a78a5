//! `cargo xtask bombs [--count N] [--from N] [--seed S] [--jobs N] [--binary PATH] [--keep DIR] [--kind NAME] [--within SECONDS]
//! [--least N]`: inputs of at most 1 MB that cost their reader dear, given to every verb that reads. Each run is measured by what the
//! kernel says of it: over 20 s of CPU, over 256 MiB of memory, or an end by a signal or a panic is a failure. So is a command that
//! ran fewer bombs than asked for; with `--within`, fewer than `--least`. `--from` goes on where another command ended.
//! `--growth`: how cost grows with each dimension, instead. A signal ends all of it at once (130 at Ctrl-C).

mod growth;
mod interrupt;
mod kinds;
mod measure;
mod pack;
mod random;
mod rows;
mod seeds;
mod verbs;

use crate::lab;
use crate::shell::{self, Result};
use kinds::Bomb;
use measure::Used;
use random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a run may cost. The worst takes 7 to 8 s of CPU on one machine and 15 on another: how cost grows is what `--growth` looks at.
const CPU: f64 = 20.0;
const MEMORY: u64 = 256 << 10;

struct Asked {
    count: usize,
    from: usize,
    /// Bombs, or dimensions, below which the command fails. Without it: all.
    least: Option<usize>,
    seed: u64,
    jobs: usize,
    binary: Option<PathBuf>,
    keep: Option<PathBuf>,
    kind: Option<String>,
    within: Option<Duration>,
    growth: bool,
    serve: bool,
}

pub(crate) fn run(args: &[String]) -> ExitCode {
    shell::exit(asked(args).and_then(all))
}

fn asked(args: &[String]) -> Result<Asked> {
    let mut a = Asked {
        count: 150,
        from: 0,
        least: None,
        seed: 1,
        jobs: 2,
        binary: None,
        keep: None,
        kind: None,
        within: None,
        growth: false,
        serve: false,
    };
    let mut args = args.iter();
    while let Some(name) = args.next() {
        if name == "--serve" {
            a.serve = true;
            continue;
        }
        if name == "--growth" {
            a.growth = true;
            continue;
        }
        let value = args.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|e| format!("{name} {value}: {e}"));
        match name.as_str() {
            "--count" => a.count = usize::try_from(number()?).map_err(|e| e.to_string())?,
            "--from" => a.from = usize::try_from(number()?).map_err(|e| e.to_string())?,
            "--least" => a.least = Some(usize::try_from(number()?).map_err(|e| e.to_string())?),
            "--seed" => a.seed = number()?,
            "--jobs" => a.jobs = usize::try_from(number()?.max(1)).map_err(|e| e.to_string())?,
            "--binary" => a.binary = Some(value.into()),
            "--keep" => a.keep = Some(value.into()),
            "--kind" => a.kind = Some(value.clone()),
            "--within" => a.within = Some(Duration::from_secs(number()?)),
            _ => return Err(format!("no option {name}")),
        }
    }
    Ok(a)
}

/// What was seen of all.
#[derive(Default)]
struct Seen {
    bombs: usize,
    runs: usize,
    kinds: BTreeMap<String, usize>,
    most_cpu: (f64, String),
    most_memory: (u64, String),
    failures: Vec<String>,
}

fn all(a: Asked) -> Result<()> {
    if a.serve {
        measure::serve();
        return Ok(());
    }
    let binary = match &a.binary {
        Some(path) => path.clone(),
        // That of the guests: built quickly, and fast enough that the limits mean something.
        None => lab::binary()?,
    };
    let binary = binary.canonicalize().map_err(|e| format!("{}: {e}", binary.display()))?;
    let work = std::env::temp_dir().join(format!("linerate-bombs-{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    interrupt::watch(work.clone())?;
    if a.growth {
        let done = seeds::all().and_then(|s| growth::run(&binary, &work, &s, &a));
        let _ = std::fs::remove_dir_all(&work);
        return done;
    }
    let done = explode(&a, &binary, &work);
    let _ = std::fs::remove_dir_all(&work);
    let seen = done?;
    println!(
        "{} bombs of {} kinds, {} runs of {}; most CPU {:.2} s ({}); most memory {} MiB ({}); {} failures",
        seen.bombs,
        seen.kinds.len(),
        seen.runs,
        binary.file_name().unwrap_or_default().to_string_lossy(),
        seen.most_cpu.0,
        seen.most_cpu.1,
        seen.most_memory.0 >> 10,
        seen.most_memory.1,
        seen.failures.len()
    );
    if !seen.failures.is_empty() {
        return Err(format!("{} of {} runs cost too much or ended badly", seen.failures.len(), seen.runs));
    }
    // Of one kind there are as many as come.
    enough("bombs", seen.bombs, if a.kind.is_some() { 1 } else { a.count }, a.least)
}

/// A command that measured nothing, or little, shows nothing.
fn enough(what: &str, run: usize, all: usize, least: Option<usize>) -> Result<()> {
    let wanted = least.unwrap_or(all).min(all).max(1);
    if run >= wanted {
        return Ok(());
    }
    Err(format!(
        "only {run} {what} were run, {wanted} were wanted: allow more time (--within), or ask for fewer (--least)"
    ))
}

fn explode(a: &Asked, binary: &Path, work: &Path) -> Result<Seen> {
    let seeds = seeds::all()?;
    let plan = verbs::prepare(binary, work)?;
    let kinds = kinds::count(&seeds);
    let stride = (37..).find(|s| coprime(*s, kinds)).unwrap_or(1);
    let servers: Vec<_> = (0..a.jobs).map(|_| measure::Server::start()).collect::<Result<_>>()?;
    let (seen, next, began) = (Mutex::new(Seen::default()), AtomicUsize::new(0), Instant::now());
    std::thread::scope(|threads| {
        for (job, mut server) in servers.into_iter().enumerate() {
            let (seen, next, seeds, plan) = (&seen, &next, &seeds, &plan);
            threads.spawn(move || {
                loop {
                    let i = a.from + next.fetch_add(1, Ordering::Relaxed);
                    if i >= a.from + a.count || a.within.is_some_and(|w| began.elapsed() > w) {
                        return;
                    }
                    let mut random = Random::new(a.seed.wrapping_mul(1_000_003).wrapping_add(i as u64));
                    // Every kind in turn, so that a short run sees them all in some order.
                    let n = (i * stride + a.seed as usize) % kinds;
                    let (kind, bomb) = kinds::make(n, &mut random, seeds);
                    if a.kind.as_ref().is_some_and(|k| !kind.starts_with(k.as_str())) {
                        continue;
                    }
                    let dir = work.join(format!("{job}"));
                    match lay(&bomb, &dir) {
                        Ok(path) => one(binary, &mut server, plan, &kind, i, &path, &dir, a, seen),
                        Err(e) => lock(seen).failures.push(format!("{kind}: cannot be written: {e}")),
                    }
                    let _ = std::fs::remove_dir_all(&dir);
                }
            });
        }
    });
    seen.into_inner().map_err(|e| e.to_string())
}

fn coprime(a: usize, b: usize) -> bool {
    if b == 0 { a == 1 } else { coprime(b, a % b) }
}

fn lock<T>(seen: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Writes a bomb; its path.
fn lay(bomb: &Bomb, dir: &Path) -> std::io::Result<PathBuf> {
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir)?;
    match bomb {
        Bomb::File(name, bytes) => {
            let path = dir.join(name);
            std::fs::write(&path, bytes)?;
            Ok(path)
        }
        Bomb::Holes(name, bytes, len) => {
            let path = dir.join(name);
            std::fs::write(&path, bytes)?;
            std::fs::OpenOptions::new().write(true).open(&path)?.set_len(*len)?;
            Ok(path)
        }
        Bomb::Dir(files) => {
            let path = dir.join("inputs");
            std::fs::create_dir(&path)?;
            for (name, bytes) in files {
                std::fs::write(path.join(name), bytes)?;
            }
            Ok(path)
        }
    }
}

#[allow(clippy::too_many_arguments)] // what one bomb is, and where it is noted
fn one(
    binary: &Path,
    server: &mut measure::Server,
    plan: &verbs::Prepared,
    kind: &str,
    i: usize,
    path: &Path,
    dir: &Path,
    a: &Asked,
    seen: &Mutex<Seen>,
) {
    {
        let mut seen = lock(seen);
        seen.bombs += 1;
        *seen.kinds.entry(kind.to_owned()).or_default() += 1;
    }
    for (verb, args) in verbs::of(plan, path, dir, i) {
        let name = format!("{kind} #{i}: {verb}");
        let used = server.run(binary, &args, dir);
        let mut seen = lock(seen);
        seen.runs += 1;
        let why = match &used {
            Err(e) => Some(e.clone()),
            Ok(Used { end: Some(end), .. }) => Some(end.clone()),
            Ok(u) if u.cpu > CPU => Some("too much CPU".to_owned()),
            Ok(u) if u.peak > MEMORY => Some("too much memory".to_owned()),
            Ok(_) => None,
        };
        if let Ok(u) = &used {
            if u.cpu > seen.most_cpu.0 {
                seen.most_cpu = (u.cpu, name.clone());
            }
            if u.peak > seen.most_memory.0 {
                seen.most_memory = (u.peak, name.clone());
            }
        }
        if let Some(why) = why {
            // Printed at once: a long run may be ended.
            let cost = used.map_or_else(|_| String::new(), |u| format!(" ({:.1} s, {} MiB)", u.cpu, u.peak >> 10));
            println!("FAILED {name}: {why}{cost}");
            seen.failures.push(name);
            if let Some(keep) = &a.keep {
                let _ = std::fs::create_dir_all(keep);
                let to = keep.join(format!("{kind}-{i}-{}", path.file_name().unwrap_or_default().to_string_lossy()));
                let _ = std::process::Command::new("cp").arg("-a").arg(path).arg(to).status();
            }
        }
    }
}
