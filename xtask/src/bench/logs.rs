//! NCCL's logs: `linerate doctor` of a large one, beside `rg -c` over the same bytes, on one core.

use super::measure::{self, Program, Run};
use super::place::Place;
use super::{Scale, Target};
use crate::shell::{self, Result};
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

/// Aims: bytes per second, share of ripgrep's rate, MiB.
const RATE: f64 = 1e9;
const SHARE: f64 = 0.5;
const PEAK: f64 = 64.0;
/// What is packed: a piece of this many bytes.
const PIECE: u64 = 256 << 20;
const NEEDLE: &str = "NCCL INFO";

pub(super) fn measure(linerate: &Path, scale: &Scale) -> Result<(String, Vec<Target>)> {
    let core = core()?;
    let place = Place::new(scale.log + 3 * PIECE)?;
    let log = place.dir.join("job.log");
    generate(&log, scale.log)?;
    // Read once: from here on it comes out of the page cache.
    let bytes = read(&log)? as f64;
    let on_core = |program: &Path, args: &[&str], file: &Path| {
        let mut c = Command::new("taskset");
        c.args(["-c", &core]).arg(program).args(args).arg(file);
        c
    };
    let doctor = |file: &Path| on_core(linerate, &["doctor", "--quiet"], file);
    let rg = || on_core(Path::new("rg"), &["-c", NEEDLE], &log);
    let beside = ripgrep();
    let mut all: Vec<Program<'_>> = vec![("`linerate doctor --quiet FILE`".to_owned(), Box::new(|| Ok(doctor(&log))))];
    if let Ok(version) = &beside {
        all.push((format!("`rg -c \"{NEEDLE}\" FILE`, {version}"), Box::new(|| Ok(rg()))));
    }
    let measured = measure::alternately(&all, scale.rounds)?;
    let mut text = format!(
        "\n## NCCL logs\n\n`linerate-logs big --bytes {}` (release 2.21.5, 1,024 ranks: the start of a job, then collectives), {}, read once before. \
         {} rounds, alternately, each pinned to core {core} (`taskset -c {core}`).\n\n\
         | | GB/s, best | GB/s, median | wall, median | CPU, median | peak memory |\n|---|---|---|---|---|---|\n",
        scale.log, place.kind, scale.rounds
    );
    all.iter().zip(&measured).for_each(|((name, _), runs)| row(&mut text, name, bytes, runs));
    let (ours, theirs) = (measured.first().map_or(&[][..], |r| r), measured.get(1));
    let mut targets = Vec::new();
    match &beside {
        Ok(_) => {
            // Round by round: a machine that is busy in between slows both.
            let shares = ours.iter().zip(theirs.into_iter().flatten()).map(|(a, b)| a.wall / b.wall).collect();
            let slower = measure::summary(shares);
            let (best, median) = (1.0 / slower.best, 1.0 / slower.median);
            let _ = writeln!(
                text,
                "\nThe doctor's rate over ripgrep's, round by round: best {best:.2}, median {median:.2}. Ripgrep maps the file: its peak holds the page cache."
            );
            let what = format!(
                "the doctor reads a log at {SHARE} of ripgrep's rate or more: {median:.2} (median of the rounds)"
            );
            targets.push(Target::new(what, median >= SHARE));
        }
        Err(why) => {
            let _ = writeln!(text, "\nNot compared with ripgrep: {why}.");
        }
    }
    let rate = bytes / measure::wall(ours).median * 1e3;
    let what = format!("the doctor reads {:.0} GB/s or more on one core: {:.2} (median)", RATE / 1e9, rate / 1e9);
    targets.push(Target::new(what, rate >= RATE));
    let mut peak = measure::peak(ours);
    let _ = writeln!(
        text,
        "\nPacked, {} MiB unpacked, {} rounds; the rate is of unpacked bytes:\n\n\
         | | packed to | GB/s, best | GB/s, median | wall, median | CPU, median | peak memory |\n|---|---|---|---|---|---|---|",
        PIECE >> 20,
        scale.rounds
    );
    let piece = place.dir.join("piece.log");
    generate(&piece, PIECE.min(scale.log))?;
    let unpacked = read(&piece)? as f64;
    for (program, ending) in [("gzip", "gz"), ("zstd", "zst"), ("xz", "xz")] {
        if !shell::has(program) {
            let _ = writeln!(text, "| `.{ending}` | not measured: no `{program}` here | | | | | |");
            continue;
        }
        let packed = place.dir.join(format!("piece.log.{ending}"));
        let file = fs::File::create(&packed).map_err(|e| format!("{}: {e}", packed.display()))?;
        shell::status(Command::new(program).args(["-c", "-q"]).arg(&piece).stdout(file))?;
        let small = read(&packed)?;
        let runs = (0..scale.rounds).map(|_| measure::run(&mut doctor(&packed))).collect::<Result<Vec<_>>>()?;
        row(
            &mut text,
            &format!("`.{ending}`, by `{program}` | {:.1} MiB", small as f64 / f64::from(1 << 20)),
            unpacked,
            &runs,
        );
        peak = peak.max(measure::peak(&runs));
    }
    let what = format!("the doctor needs at most {PEAK:.0} MiB for a log, packed or not: {peak:.1} MiB");
    targets.push(Target::new(what, peak <= PEAK));
    Ok((text, targets))
}

fn row(text: &mut String, name: &str, bytes: f64, runs: &[Run]) {
    let (wall, cpu) = (measure::wall(runs), measure::cpu(runs));
    let rate = |ms: f64| bytes / ms / 1e6;
    let _ = writeln!(
        text,
        "| {name} | {:.2} | {:.2} | {:.2} s | {:.2} s | {:.1} MiB |",
        rate(wall.best),
        rate(wall.median),
        wall.median / 1e3,
        cpu.median / 1e3,
        measure::peak(runs)
    );
}

/// The version of ripgrep, installed where it is missing and we may; or why there is none.
fn ripgrep() -> Result<String> {
    if !shell::has("rg") {
        let install = "apt-get -qq update && apt-get -qq install -y --no-install-recommends ripgrep >/dev/null 2>&1";
        let tried = shell::output(Command::new("sh").args(["-c", install]));
        if !shell::has("rg") {
            return Err(match tried {
                Ok(_) => "it could not be installed".to_owned(),
                Err(why) => format!("it is not here, and could not be installed: {why}"),
            });
        }
    }
    let version = shell::output(Command::new("rg").arg("--version"))?;
    Ok(version.lines().next().unwrap_or("ripgrep").to_owned())
}

/// The last core that this process may use: the first serves interrupts, as a rule.
pub(super) fn core() -> Result<String> {
    if !shell::has("taskset") {
        return Err("taskset is missing: install util-linux".to_owned());
    }
    let status = fs::read_to_string("/proc/self/status").map_err(|e| format!("/proc/self/status: {e}"))?;
    let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap_or("0").trim();
    Ok(list.rsplit([',', '-']).next().unwrap_or("0").to_owned())
}

/// In a process of its own, built for speed.
fn generate(path: &Path, bytes: u64) -> Result<()> {
    let own = ["run", "--quiet", "--release", "--package", "linerate-logs", "--", "big", "--bytes"];
    shell::status(
        shell::cargo().args(own).arg(bytes.to_string()).arg("-o").arg(path).stdout(std::process::Stdio::null()),
    )
}

/// Reads a file, so that it comes out of the page cache from here on; says how many bytes it has.
pub(super) fn read(path: &Path) -> Result<u64> {
    let told = |e: std::io::Error| format!("{}: {e}", path.display());
    let (mut file, mut buffer, mut sum) = (fs::File::open(path).map_err(told)?, vec![0; 1 << 20], 0);
    loop {
        match file.read(&mut buffer).map_err(told)? {
            0 => return Ok(sum),
            n => sum += n as u64,
        }
    }
}
