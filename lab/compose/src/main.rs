//! `linerate-compose DESCRIPTION.toml OUTDIR [--many N --as tree]`: writes the tree of a described node, or of N different ones.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use linerate_compose::Description;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: linerate-compose DESCRIPTION.toml OUTDIR [--many N] [--as tree]
       linerate-compose DESCRIPTION.toml --names      symbolic names and the addresses they mean
       linerate-compose DESCRIPTION.toml --hexdump    configuration spaces for `lspci -F`";

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("linerate-compose: {message}");
            ExitCode::from(3)
        }
    }
}

fn run(arguments: Vec<String>) -> Result<(), String> {
    let (mut places, mut many, mut names, mut dump): (Vec<PathBuf>, Option<u64>, bool, bool) =
        (Vec::new(), None, false, false);
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--many" => many = Some(rest.next().and_then(|n| n.parse().ok()).ok_or("--many needs a number")?),
            "--as" => match rest.next().as_deref() {
                Some("tree") => {}
                other => return Err(format!("--as {}: only `tree` is known", other.unwrap_or(""))),
            },
            "--names" => names = true,
            "--hexdump" => dump = true,
            "--help" | "-h" => {
                println!("{USAGE}");
                return Ok(());
            }
            a if a.starts_with('-') => return Err(format!("{a}: unknown\n{USAGE}")),
            _ => places.push(argument.into()),
        }
    }
    let mut places = places.into_iter();
    let description = places.next().ok_or(USAGE)?;
    let mut description = Description::load(&description).map_err(|e| e.to_string())?;
    if names {
        for (name, bdf) in description.names().map_err(|e| e.to_string())? {
            println!("{name}\t{bdf}");
        }
        return Ok(());
    }
    if dump {
        for (bdf, space) in description.config_spaces().map_err(|e| e.to_string())? {
            print!("{}", linerate_compose::hexdump(bdf, &space));
        }
        return Ok(());
    }
    let out = places.next().ok_or(USAGE)?;
    let Some(count) = many else { return write(&description, &out) };
    for n in 0..count {
        description.node.seed = n + 1;
        write(&description, &out.join(format!("node-{:05}", n + 1)))?;
    }
    Ok(())
}

fn write(description: &Description, out: &Path) -> Result<(), String> {
    if out.exists() && out.read_dir().is_ok_and(|mut d| d.next().is_some()) {
        return Err(format!("{}: not empty; name a new directory", out.display()));
    }
    let tree = description.compose().map_err(|e| e.to_string())?;
    tree.write_to(out).map_err(|e| e.to_string())
}
