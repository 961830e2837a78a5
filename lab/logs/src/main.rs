//! `linerate-logs`: NCCL logs of any release, for jobs that are well and jobs that are not.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use linerate_logs::{Dress, Release, Scenario, big, forms, releases, scenarios, verify};

const USAGE: &str = "usage: linerate-logs list
       linerate-logs write NAME [--release 2.21.5] [--seed 1] [--dress bare] -o DIR
       linerate-logs write-all [--limit-releases N] [--seed 1] [--dress bare] -o DIR
       linerate-logs big --bytes 4G [--release 2.21.5] [--seed 1] -o FILE
       linerate-logs verify --source DIR [--spans]     compare the table of forms with a clone of NCCL";

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("linerate-logs: {message}");
            ExitCode::from(3)
        }
    }
}

/// Options, whatever the command.
#[derive(Default)]
struct Options {
    name: Option<String>,
    release: Option<Release>,
    seed: u64,
    dress: Dress,
    out: Option<PathBuf>,
    source: Option<PathBuf>,
    bytes: u64,
    limit: Option<usize>,
    spans: bool,
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options { seed: 1, bytes: 1 << 30, ..Options::default() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--release" => options.release = Some(value()?.parse()?),
            "--seed" => options.seed = value()?.parse().map_err(|_| "--seed needs a number")?,
            "--dress" => {
                let name = value()?;
                options.dress =
                    Dress::named(name).ok_or(format!("{name}: no such dress; there are {:?}", Dress::ALL))?;
            }
            "-o" => options.out = Some(value()?.into()),
            "--source" => options.source = Some(value()?.into()),
            "--bytes" => options.bytes = bytes(value()?)?,
            "--limit-releases" => {
                options.limit = Some(value()?.parse().map_err(|_| "--limit-releases needs a number")?)
            }
            "--spans" => options.spans = true,
            other if other.starts_with('-') => return Err(format!("{other}: unknown\n{USAGE}")),
            other => options.name = Some(other.to_owned()),
        }
    }
    Ok(options)
}

/// `4G`, `512M`, `100`.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'G') => (text.trim_end_matches('G'), 1_u64 << 30),
        Some(b'M') => (text.trim_end_matches('M'), 1 << 20),
        Some(b'K') => (text.trim_end_matches('K'), 1 << 10),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or(format!("{text}: not a size; write 4G"))
}

fn run(arguments: Vec<String>) -> Result<ExitCode, String> {
    let Some((command, rest)) = arguments.split_first() else { return Err(USAGE.into()) };
    let options = options(rest)?;
    let out = || options.out.clone().ok_or("where to? -o is missing");
    match command.as_str() {
        "list" => {
            for s in scenarios() {
                println!("{:<36} {:>2} releases  {}  {}", s.name, s.releases().len(), s.truth.join(","), s.description);
            }
        }
        "write" => {
            let name = options.name.clone().ok_or(USAGE)?;
            let scenario = scenarios()
                .into_iter()
                .find(|s| s.name == name)
                .ok_or(format!("{name}: no such scenario; see `linerate-logs list`"))?;
            let release = options.release.or(scenario.releases().last().copied()).ok_or("no release")?;
            if !scenario.releases().contains(&release) {
                return Err(format!("{name} does not happen with {release}"));
            }
            write(&scenario, release, &options, &out()?)?;
        }
        "write-all" => {
            let root = out()?;
            for scenario in scenarios() {
                for release in spread(&scenario.releases(), options.limit) {
                    write(&scenario, release, &options, &root.join(&scenario.name).join(release.to_string()))?;
                }
            }
        }
        "big" => {
            let path = out()?;
            let file = fs::File::create(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let release = options.release.unwrap_or(Release(2, 21, 5));
            let written =
                big::write(&mut BufWriter::with_capacity(1 << 20, file), options.bytes, release, options.seed);
            println!("{} bytes", written.map_err(|e| format!("{}: {e}", path.display()))?);
        }
        "verify" => {
            let source = options.source.clone().ok_or("--source is missing: a clone of NCCL with its tags")?;
            let measured = verify::measure(&source).map_err(|e| e.to_string())?;
            if options.spans {
                measured.spans().iter().for_each(|s| println!("{s}"));
                return Ok(ExitCode::SUCCESS);
            }
            let wrong = measured.wrong();
            wrong.iter().for_each(|w| println!("{w}"));
            println!("{} forms, {} releases, {} wrong", forms().len(), releases().len(), wrong.len());
            return Ok(ExitCode::from(u8::from(!wrong.is_empty())));
        }
        "--help" | "-h" | "help" => println!("{USAGE}"),
        other => return Err(format!("{other}: unknown\n{USAGE}")),
    }
    Ok(ExitCode::SUCCESS)
}

/// At most `limit` of them, evenly, the first and the last included.
fn spread(all: &[Release], limit: Option<usize>) -> Vec<Release> {
    match limit {
        Some(n) if n > 0 && n < all.len() => (0..n)
            .filter_map(|i| all.get(if n == 1 { all.len() - 1 } else { i * (all.len() - 1) / (n - 1) }))
            .copied()
            .collect(),
        _ => all.to_vec(),
    }
}

fn write(scenario: &Scenario, release: Release, options: &Options, dir: &Path) -> Result<(), String> {
    fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for file in scenario.render(release, options.seed, options.dress) {
        let path = dir.join(&file.name);
        fs::write(&path, &file.bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}
