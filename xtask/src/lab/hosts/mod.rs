//! `cargo xtask lab hosts`: sixteen hosts over ssh, two of them sick in ways that the tool is not given. It collects them, names the sick ones,
//! learns a policy of the others, plans the sick ones to it, applies one at a time, and all of it is compared with what was done to them.

mod faults;
mod fleet;
pub(super) mod judge;
mod tool;

use super::{Paths, Result, run};
use crate::shell;
use faults::Sick;
use fleet::{Fleet, Host};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use tool::Tool;

struct Options {
    seed: u64,
    keep: bool,
    linerate: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options> {
        let mut options = Options { seed: 18, keep: false, linerate: None };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--keep" => options.keep = true,
                "--seed" => {
                    let seed = args.next().and_then(|n| n.parse().ok());
                    options.seed = seed.ok_or("lab hosts: --seed needs a number")?;
                }
                "--linerate" => options.linerate = Some(args.next().ok_or("--linerate needs a file")?.into()),
                other => return Err(format!("lab hosts: no option {other:?}; see cargo xtask lab help")),
            }
        }
        Ok(options)
    }
}

/// Exit code 0: everything was as it must be; 1: not; 2: skipped.
pub(super) fn main(paths: &Paths, args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    if let Err(why) = fleet::possible() {
        println!("SKIPPED: hosts, because this is not to be had here: {why}");
        return Ok(ExitCode::from(2));
    }
    let linerate = match &options.linerate {
        Some(file) => std::fs::canonicalize(file).map_err(|e| format!("{}: {e}", file.display()))?,
        None => shell::dev("linerate")?,
    };
    let began = Instant::now();
    Ok(match scenario(paths, &options, linerate) {
        Ok(()) => {
            println!("PASS  hosts (seed {}, {:.0} s)", options.seed, began.elapsed().as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("FAIL  hosts (seed {}, {:.0} s): {why}", options.seed, began.elapsed().as_secs_f64());
            ExitCode::FAILURE
        }
    })
}

fn scenario(paths: &Paths, options: &Options, linerate: PathBuf) -> Result<()> {
    let (stop, began) = (run::stop()?, Instant::now());
    let (hosts, sick) = faults::hosts(&paths.root.join("lab/hosts"), &paths.root.join("lab/nodes"), options.seed)?;
    println!("  {} nodes composed ({:.0} s)", hosts.len(), began.elapsed().as_secs_f64());
    let dir = fleet::place(&paths.cache.join("hosts"));
    let fleet = Fleet::start(&dir, &hosts, &stop)?;
    println!("  {} hosts let somebody in ({:.0} s)", hosts.len(), began.elapsed().as_secs_f64());
    let desk = paths.cache.join("hosts/desk");
    let _ = std::fs::remove_dir_all(&desk);
    std::fs::create_dir_all(&desk).map_err(|e| format!("{}: {e}", desk.display()))?;
    let tool = Tool { linerate, config: fleet.config(), desk, stop: &stop };
    let told = before(&tool, &hosts, &sick);
    // What was done is said after the tool said what it found.
    for s in &sick {
        println!("  {} was made sick: {}: {} is {}, {} files", s.host, s.what, s.fact, s.value, s.files.len());
    }
    let end = told.and_then(|()| mend(&tool, &fleet, &sick)).and_then(|()| after(&tool, &hosts));
    if end.is_ok() && !options.keep {
        let _ = std::fs::remove_dir_all(&tool.desk);
    }
    end
}

fn set(hosts: &[Host]) -> String {
    hosts.iter().map(|h| h.name.as_str()).collect::<Vec<_>>().join(",")
}

/// Collected, compared, held to what the good ones are like.
fn before(tool: &Tool<'_>, hosts: &[Host], sick: &[Sick]) -> Result<()> {
    let collected =
        tool.over_ssh(&["collect", "--on", &set(hosts), "-o", "fleet", "--sudo", "--format", "json"])?.ended(0)?;
    judge::collected(&collected.json()?, hosts)?;
    let drift = tool.run(&["drift", "fleet", "--format", "json"])?.ended(1)?;
    judge::drift(&drift.json()?, sick)?;
    let good: Vec<String> =
        hosts.iter().filter(|h| sick.iter().all(|s| s.host != h.name)).map(|h| format!("fleet/{}", h.name)).collect();
    let mut learn = vec!["policy", "learn", "-o", "policy.toml"];
    learn.extend(good.iter().map(String::as_str));
    let learnt = tool.run(&learn)?;
    if learnt.code > 1 {
        return Err(format!("policy learn: {}{}", learnt.out, learnt.err));
    }
    let check = tool.run(&["policy", "check", "policy.toml", "fleet", "--format", "json"])?.ended(1)?;
    judge::policy(&check.json()?, hosts, sick)
}

/// Each sick host in its turn: planned, applied, proven.
fn mend(tool: &Tool<'_>, fleet: &Fleet, sick: &[Sick]) -> Result<()> {
    let mut names: Vec<&str> = sick.iter().map(|s| s.host.as_str()).collect();
    names.dedup();
    for host in names {
        // The hand of `apply` is the program that the site installed.
        fleet.on(host, "cat >/usr/bin/linerate && chmod 755 /usr/bin/linerate", Some(&tool.linerate))?;
        let plan = format!("{host}.plan");
        tool.over_ssh(&["plan", "--host", host, "--sudo", "--policy", "policy.toml", "--format", "json", "-o", &plan])?
            .ended(1)?;
        tool.over_ssh(&["apply", &plan, "--host", host, "--sudo"])?.ended(0)?;
        let applied =
            tool.over_ssh(&["apply", &plan, "--host", host, "--sudo", "--yes", "--format", "json"])?.ended(0)?;
        judge::proven(&applied.json()?, host)?;
        tool.over_ssh(&["verify", &plan, "--host", host, "--sudo"])?.ended(0)?;
    }
    Ok(())
}

/// Collected again: all alike, and as the policy wants.
fn after(tool: &Tool<'_>, hosts: &[Host]) -> Result<()> {
    tool.over_ssh(&["collect", "--on", &set(hosts), "-o", "after", "--sudo", "--format", "json"])?.ended(0)?;
    let drift = tool.run(&["drift", "after", "--format", "json"])?;
    judge::drift(&drift.json()?, &[])?;
    drift.ended(0)?;
    let check = tool.run(&["policy", "check", "policy.toml", "after", "--format", "json"])?;
    judge::policy(&check.json()?, hosts, &[])?;
    check.ended(0).map(drop)
}
