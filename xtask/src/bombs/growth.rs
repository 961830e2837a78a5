//! How cost grows: inputs of four times the size may not cost more than four times as much, with a margin for what one measures on a
//! machine that does other things. Each dimension (rows of each kind of text, entries, functions, patterns of a manifest) is doubled
//! twice. What seems to grow faster is measured again: then CPU time is the least of some runs. What a run costs with next to no input is taken off.

use super::kinds::{Seeds, functions, manifest_of, tiny};
use super::measure::Server;
use super::pack::{Packing, Tar};
use super::random::Random;
use super::rows::text;
use super::{Asked, lock, verbs};
use crate::shell::Result;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Growth for each doubling that still counts as linear.
const DOUBLING: f64 = 2.6;
/// Growth of memory for four times as much that still counts as linear: a vector that has just grown holds twice what is in it. A square is 16.
const MEMORY: f64 = 8.0;
/// Seconds and KiB, over what a run with next to no input costs, below which nothing is concluded: memory is taken in large pieces, and a clock of
/// the CPU ticks.
const SECONDS: f64 = 0.25;
const KIB: u64 = 48 << 10;
/// Runs of which the cheapest counts.
const RUNS: usize = 3;

/// A dimension at a size.
type Make<'a> = Box<dyn Fn(usize) -> (String, Vec<u8>) + 'a>;

struct Dimension<'a> {
    name: String,
    /// The smallest of the three sizes.
    from: usize,
    make: Make<'a>,
}

fn tarred(fill: impl Fn(&mut Tar)) -> (String, Vec<u8>) {
    let mut tar = Tar::default();
    fill(&mut tar);
    ("node.tar.zst".to_owned(), Packing::Zstd.pack(&tar.end()))
}

fn dimensions(seeds: &Seeds) -> Vec<Dimension<'_>> {
    let mut out: Vec<Dimension<'_>> = Vec::new();
    for of in &seeds.rows {
        let make = move |n| (of.file.clone(), text(of, n, &mut Random::new(5)));
        out.push(Dimension { name: of.name.clone(), from: 250_000, make: Box::new(make) });
    }
    let mut add = |name: &str, from, make: Make<'static>| out.push(Dimension { name: name.to_owned(), from, make });
    for dir in ["proc", "sys/class/net", "sys/class/infiniband", "cmd"] {
        add(&format!("entries of {dir}"), 8_000, Box::new(move |n| tarred(|t| tiny(t, dir, n))));
    }
    for (name, of) in [
        ("GPUs", ("0x10de\n", "0x030200\n")),
        ("NICs", ("0x15b3\n", "0x020700\n")),
        ("bridges", ("0x1000\n", "0x060400\n")),
    ] {
        add(&format!("functions: {name}"), 1_000, Box::new(move |n| tarred(|t| functions(t, &[of], false, n))));
    }
    for (form, name) in ["tried", "unread trees", "unread", "problems"].into_iter().enumerate() {
        let make = move |n| {
            tarred(|t| {
                t.file("linerate/manifest.json", manifest_of(form, n).as_bytes());
                seeds.tree.iter().take(400).for_each(|(path, data)| t.file(path, data));
            })
        };
        out.push(Dimension { name: format!("manifest: {name}"), from: 20_000, make: Box::new(make) });
    }
    out
}

/// What was seen of all.
#[derive(Default)]
struct Seen {
    dimensions: usize,
    left: usize,
    measured: usize,
    judged: usize,
    failures: Vec<String>,
}

/// Measures all, or those whose name begins so.
pub(super) fn run(binary: &Path, work: &Path, seeds: &Seeds, a: &Asked) -> Result<()> {
    let plan = verbs::prepare(binary, work)?;
    let kind = a.kind.as_deref();
    let names: Vec<String> = dimensions(seeds).into_iter().map(|d| d.name).collect();
    let wanted: Vec<usize> = (0..names.len()).filter(|n| kind.is_none_or(|k| names[*n].starts_with(k))).collect();
    let (seen, next, began) = (Mutex::new(Seen::default()), AtomicUsize::new(0), Instant::now());
    let servers: Vec<_> = (0..a.jobs).map(|_| Server::start()).collect::<Result<_>>()?;
    let done: Vec<Result<()>> = std::thread::scope(|threads| {
        let each: Vec<_> = servers
            .into_iter()
            .enumerate()
            .map(|(job, server)| {
                let (seen, next, wanted, plan) = (&seen, &next, &wanted, &plan);
                let mut bench = Bench { binary, server, plan, dir: work.join(format!("growth-{job}")) };
                threads.spawn(move || {
                    let dimensions = dimensions(seeds);
                    while let Some(n) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if a.within.is_some_and(|w| began.elapsed() > w) {
                            lock(seen).left += 1;
                        } else if let Some(d) = dimensions.get(*n) {
                            bench.dimension(d, seen)?;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        each.into_iter().map(|t| t.join().unwrap_or_else(|_| Err("a thread ended".to_owned()))).collect()
    });
    done.into_iter().collect::<Result<()>>()?;
    let seen = seen.into_inner().map_err(|e| e.to_string())?;
    println!(
        "{} dimensions, {} left for want of time; {} pairs of a dimension and a verb, {} of them large enough to judge; {} grow faster than their input",
        seen.dimensions,
        seen.left,
        seen.measured,
        seen.judged,
        seen.failures.len()
    );
    if !seen.failures.is_empty() {
        return Err(format!("{} of {} grow faster than their input", seen.failures.len(), seen.measured));
    }
    super::enough("dimensions", seen.dimensions, wanted.len(), a.least)
}

/// What measures.
struct Bench<'a> {
    binary: &'a Path,
    server: Server,
    plan: &'a verbs::Prepared,
    dir: PathBuf,
}

/// Seconds and KiB.
type Cost = (f64, u64);

impl Bench<'_> {
    /// Every verb with one dimension at three sizes.
    fn dimension(&mut self, d: &Dimension<'_>, seen: &Mutex<Seen>) -> Result<()> {
        let dir = self.dir.clone();
        let at = |n: usize| -> Result<PathBuf> {
            let (name, bytes) = (d.make)(n);
            let to = dir.join(n.to_string());
            std::fs::create_dir_all(&to)
                .and_then(|()| std::fs::write(to.join(&name), bytes))
                .map_err(|e| e.to_string())?;
            Ok(to.join(name))
        };
        let (least, small, large) = (at(d.from / 64)?, at(d.from)?, at(d.from * 4)?);
        let plan = self.plan;
        let of = |path: &Path| verbs::of(plan, path, &dir, 0);
        lock(seen).dimensions += 1;
        for (((verb, none), (_, few)), (_, many)) in of(&least).into_iter().zip(of(&small)).zip(of(&large)) {
            lock(seen).measured += 1;
            let once = match self.cost(&many, 1) {
                Ok(once) => once,
                Err(why) => {
                    println!("FAILED {}: {verb}: {why}", d.name);
                    lock(seen).failures.push(d.name.clone());
                    continue;
                }
            };
            // What costs next to nothing at its largest grows by nothing that matters.
            if once.0 < SECONDS && once.1 < KIB {
                continue;
            }
            let base = self.cost(&none, 1)?;
            if matters(base, once) == (false, false) {
                continue;
            }
            lock(seen).judged += 1;
            if grows(base, self.cost(&few, 1)?, once).is_none() {
                continue;
            }
            // Once may be a hiccup of the machine.
            let (base, few, many) = (self.cost(&none, RUNS)?, self.cost(&few, RUNS)?, self.cost(&many, RUNS)?);
            if let Some((time, memory)) = grows(base, few, many) {
                println!(
                    "FAILED {}: {verb}: four times as much costs {time:.1} times the CPU ({:.2} s, {:.2} s) and {memory:.1} times the memory ({} MiB, {} MiB)",
                    d.name,
                    few.0,
                    many.0,
                    few.1 >> 10,
                    many.1 >> 10
                );
                lock(seen).failures.push(d.name.clone());
            }
        }
        let _ = std::fs::remove_dir_all(&dir);
        Ok(())
    }

    /// The least of some runs.
    fn cost(&mut self, args: &[String], runs: usize) -> Result<Cost> {
        let mut best = (f64::MAX, u64::MAX);
        for _ in 0..runs {
            let _ = std::fs::remove_file(self.dir.join("history.db"));
            let used = self.server.run(self.binary, args, &self.dir)?;
            if let Some(end) = used.end {
                return Err(end);
            }
            best = (best.0.min(used.cpu), best.1.min(used.peak));
        }
        Ok(best)
    }
}

/// Whether the input itself, without what every run costs, took enough CPU, and enough memory, to be compared.
fn matters(base: Cost, many: Cost) -> (bool, bool) {
    (many.0 - base.0 > SECONDS, many.1.saturating_sub(base.1) > KIB)
}

/// How many times CPU and memory grow from a size to four times that, where one of them grows faster than the input.
fn grows(base: Cost, few: Cost, many: Cost) -> Option<(f64, f64)> {
    let time = (many.0 - base.0) / (few.0 - base.0).max(0.01);
    let memory = many.1.saturating_sub(base.1) as f64 / few.1.saturating_sub(base.1).max(4 << 10) as f64;
    let most = DOUBLING * DOUBLING;
    let (slow, large) = matters(base, many);
    ((slow && time > most) || (large && memory > MEMORY)).then_some((time, memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_seen_and_a_line_is_not() {
        let base = (0.01, 10 << 10);
        assert!(grows(base, (0.11, 20 << 10), (0.41, 50 << 10)).is_none());
        assert!(grows(base, (0.11, 20 << 10), (1.61, 50 << 10)).is_some(), "time");
        assert!(grows(base, (0.11, 20 << 10), (0.41, 170 << 10)).is_some(), "memory");
        assert!(grows(base, (0.01, 10 << 10), (0.2, 20 << 10)).is_none(), "too little to judge");
        assert!(
            grows((0.12, 30 << 10), (0.15, 41 << 10), (0.34, 75 << 10)).is_none(),
            "the input itself costs too little to judge"
        );
    }
}
