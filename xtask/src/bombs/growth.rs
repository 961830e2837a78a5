//! How cost grows: inputs of four times the size may not cost more than four times as much, with a margin for what one measures on a
//! machine that does other things. Each dimension (rows of each kind of text, entries, functions, patterns of a manifest) is doubled
//! twice; CPU time is the least of some runs, and what a run costs with next to no input is taken off.

use super::kinds::{Seeds, functions, manifest_of, tiny};
use super::measure::Server;
use super::pack::{Packing, Tar};
use super::random::Random;
use super::rows::{ROWS, text};
use super::verbs;
use crate::shell::Result;
use std::path::Path;
use std::time::{Duration, Instant};

/// Growth for each doubling that still counts as linear.
const DOUBLING: f64 = 2.6;
/// Seconds and KiB below which nothing is concluded: they are those of starting, and of memory that is taken in large pieces.
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
    for of in ROWS {
        let make = move |n| (of.file.to_owned(), text(of, n, &mut Random::new(5)));
        out.push(Dimension { name: of.name.to_owned(), from: 250_000, make: Box::new(make) });
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

/// Measures all, or those whose name begins so.
pub(super) fn run(
    binary: &Path,
    work: &Path,
    seeds: &Seeds,
    kind: Option<&str>,
    within: Option<Duration>,
) -> Result<()> {
    let mut server = Server::start()?;
    let plan = verbs::prepare(binary, work)?;
    let dir = work.join("growth");
    let began = Instant::now();
    let (mut measured, mut judged, mut left, mut failures) = (0, 0, 0, Vec::new());
    for d in dimensions(seeds).iter().filter(|d| kind.is_none_or(|k| d.name.starts_with(k))) {
        if within.is_some_and(|w| began.elapsed() > w) {
            left += 1;
            continue;
        }
        let at = |n: usize| -> Result<_> {
            let (name, bytes) = (d.make)(n);
            let to = dir.join(n.to_string());
            std::fs::create_dir_all(&to)
                .and_then(|()| std::fs::write(to.join(&name), bytes))
                .map_err(|e| e.to_string())?;
            Ok(to.join(name))
        };
        let (least, small, large) = (at(d.from / 64)?, at(d.from)?, at(d.from * 4)?);
        let of = |path: &Path| verbs::of(&plan, path, &dir, 0);
        for (((verb, none), (_, few)), (_, many)) in of(&least).into_iter().zip(of(&small)).zip(of(&large)) {
            measured += 1;
            let mut cost = |args: &[String], runs: usize| -> Result<(f64, u64)> {
                let mut best = (f64::MAX, u64::MAX);
                for _ in 0..runs {
                    let _ = std::fs::remove_file(dir.join("history.db"));
                    let used = server.run(binary, args, &dir)?;
                    if let Some(end) = used.end {
                        return Err(end);
                    }
                    best = (best.0.min(used.cpu), best.1.min(used.peak));
                }
                Ok(best)
            };
            let once = match cost(&many, 1) {
                Ok(once) => once,
                Err(why) => {
                    println!("FAILED {}: {verb}: {why}", d.name);
                    failures.push(d.name.clone());
                    continue;
                }
            };
            // What costs next to nothing at its largest grows by nothing that matters.
            if once.0 < SECONDS && once.1 < KIB {
                continue;
            }
            judged += 1;
            let (base, few, many) = (cost(&none, RUNS)?, cost(&few, RUNS)?, cost(&many, RUNS)?);
            let time = (many.0 - base.0) / (few.0 - base.0).max(0.01);
            let memory = many.1.saturating_sub(base.1) as f64 / few.1.saturating_sub(base.1).max(4 << 10) as f64;
            let most = DOUBLING * DOUBLING;
            if (many.0 > SECONDS && time > most) || (many.1 > KIB && memory > most) {
                println!(
                    "FAILED {}: {verb}: four times as much costs {time:.1} times the CPU ({:.2} s, {:.2} s) and {memory:.1} times the memory ({} MiB, {} MiB)",
                    d.name,
                    few.0,
                    many.0,
                    few.1 >> 10,
                    many.1 >> 10
                );
                failures.push(d.name.clone());
            }
        }
        let _ = std::fs::remove_dir_all(&dir);
    }
    println!(
        "{measured} pairs of a dimension and a verb, {judged} of them large enough to judge, {left} dimensions left for want of time; {} grow faster than their input",
        failures.len()
    );
    if failures.is_empty() && measured > 0 {
        return Ok(());
    }
    Err(format!("{} of {measured} grow faster than their input", failures.len()))
}
