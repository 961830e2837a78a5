//! `cargo xtask dist [--target TRIPLE …] [--twice] [--try]`: what is handed out, in `target/dist-VERSION`: for each machine a tar of the program with its man
//! pages and completions; .deb and .rpm; an OCI image of the static programs; the SBOM; checksums. Needs root, for the place where it is built (`lab/dist/builder`).
//! `--twice` builds again elsewhere and compares. `--try` starts all of it in old and new userlands (`lab/dist/try`).

mod image;
mod packages;
mod stage;

use crate::shell::{self, Result};
use linerate_remedy::sha256;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// A machine that programs are built for.
#[derive(Debug)]
struct Machine {
    /// As Rust names it, with the oldest glibc that it starts on.
    target: &'static str,
    /// As file names have it.
    name: &'static str,
    /// As Debian, RPM and OCI name it.
    architectures: [&'static str; 3],
    /// Whether packages are made of it. The static ones go into the image: without a dynamic loader they cannot ask NVML.
    is_packaged: bool,
}

const X86: [&str; 3] = ["amd64", "x86_64", "amd64"];
const ARM: [&str; 3] = ["arm64", "aarch64", "arm64"];

const MACHINES: &[Machine] = &[
    Machine {
        target: "x86_64-unknown-linux-gnu.2.17",
        name: "x86_64-linux-gnu",
        architectures: X86,
        is_packaged: true,
    },
    Machine {
        target: "aarch64-unknown-linux-gnu.2.17",
        name: "aarch64-linux-gnu",
        architectures: ARM,
        is_packaged: true,
    },
    Machine { target: "x86_64-unknown-linux-musl", name: "x86_64-linux-musl", architectures: X86, is_packaged: false },
    Machine {
        target: "aarch64-unknown-linux-musl",
        name: "aarch64-linux-musl",
        architectures: ARM,
        is_packaged: false,
    },
];

/// `.ci/run` reads it: what was asked for could not be set up here.
const SKIPPED: u8 = 77;
const BUILDER: &str = "lab/dist/builder";

impl Machine {
    /// The triple without the C library's version: where cargo writes.
    fn triple(&self) -> &'static str {
        self.target.split('.').next().unwrap_or(self.target)
    }
}

/// Bytes of a program: 18.2 MiB for musl on x86_64 (`lab/dist/builder build x86_64-unknown-linux-musl OUT`); for glibc 23.8 MiB without LTO.
const MOST: u64 = 25 << 20;

/// What is handed out of which state of the repository.
struct Release {
    version: &'static str,
    /// The time of the commit, in seconds: of every file in every archive.
    epoch: String,
    /// Where it is written.
    out: PathBuf,
}

pub(crate) fn run(args: &[String]) -> ExitCode {
    let (mut only, mut twice, mut tried) = (Vec::new(), false, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.as_slice().first()) {
            ("--target", Some(name)) => {
                only.push(name.clone());
                args.next();
            }
            ("--twice", _) => twice = true,
            ("--try", _) => tried = true,
            _ => {
                eprintln!("usage: cargo xtask dist [--target NAME …] [--twice] [--try]");
                return ExitCode::from(3);
            }
        }
    }
    let chosen = |m: &&Machine| only.is_empty() || only.iter().any(|o| o == m.name || o == m.target);
    let machines: Vec<&Machine> = MACHINES.iter().filter(chosen).collect();
    if machines.is_empty() {
        let names: Vec<&str> = MACHINES.iter().map(|m| m.name).collect();
        eprintln!("no such target; there are {}", names.join(", "));
        return ExitCode::from(3);
    }
    let setup = Command::new(shell::root().join(BUILDER)).arg("setup").status();
    match setup.map(|s| s.code()) {
        Ok(Some(0)) => {}
        Ok(Some(77)) => return ExitCode::from(SKIPPED),
        _ => {
            eprintln!("{BUILDER} setup failed");
            return ExitCode::FAILURE;
        }
    }
    shell::exit(all(&machines, twice, tried))
}

fn all(machines: &[&Machine], twice: bool, tried: bool) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let epoch = shell::output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(shell::root()))?;
    let out = shell::target().join(format!("dist-{version}"));
    shell::emptied(&out)?;
    let release = Release { version, epoch: epoch.trim().to_owned(), out };
    let mut programs = Vec::new();
    for machine in machines {
        let program = build(machine, "once")?;
        if twice && stage::read(&program)? != stage::read(&build(machine, "again")?)? {
            return Err(format!("{}: two builds differ", machine.name));
        }
        let size = std::fs::metadata(&program).map_err(|e| e.to_string())?.len();
        let equal = if twice { ", built twice, equal" } else { "" };
        println!("{}: {:.1} MiB{equal} (limit {} MiB)", machine.name, size as f64 / f64::from(1 << 20), MOST >> 20);
        if size > MOST {
            return Err(format!("{}: {size} bytes, more than {} MiB", machine.name, MOST >> 20));
        }
        programs.push((*machine, program));
    }
    // Man pages and completions are what the program itself writes.
    let texts = stage::texts(&shell::dev("linerate")?, &release)?;
    for (machine, program) in &programs {
        stage::archive(machine, program, &texts, &release)?;
        if machine.is_packaged {
            packages::deb(machine, program, &texts, &release)?;
            packages::rpm(machine, program, &texts, &release)?;
        }
    }
    let fixed: Vec<_> = programs.iter().filter(|(m, _)| !m.is_packaged).collect();
    if !fixed.is_empty() {
        image::write(&fixed, &release)?;
    }
    let sbom = shell::root().join("docs/security/sbom.cdx.json");
    stage::copied(&sbom, &release.out.join(format!("linerate-{version}.cdx.json")))?;
    checksums(&release)?;
    println!("written to {}", release.out.display());
    if tried {
        shell::status(Command::new(shell::root().join("lab/dist/try")).arg(&release.out))?;
    }
    Ok(())
}

fn build(machine: &Machine, which: &str) -> Result<PathBuf> {
    // Elsewhere the second time: its path must not be in the program.
    let into = shell::target().join("handed-out").join(which);
    if which != "once" {
        shell::emptied(&into)?;
    }
    let mut builder = Command::new(shell::root().join(BUILDER));
    builder.args(["build", machine.target]).arg(&into);
    shell::status(&mut builder)?;
    Ok(into.join(machine.triple()).join("dist/linerate"))
}

/// `sha256sum --check SHA256SUMS` tells whether it came whole.
fn checksums(release: &Release) -> Result<()> {
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&release.out).map_err(|e| e.to_string())?.flatten() {
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut sums = String::new();
    for name in &names {
        sums += &format!("{}  {name}\n", sha256(&stage::read(&release.out.join(name))?));
    }
    stage::put(&release.out.join("SHA256SUMS"), sums.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_names_of_their_own() {
        let names: std::collections::BTreeSet<&str> = MACHINES.iter().map(|m| m.name).collect();
        assert_eq!(names.len(), MACHINES.len());
        assert!(MACHINES.iter().all(|m| m.triple().ends_with("gnu") == m.is_packaged));
    }

    /// `dist` inherits from `release`, and a package's line there counts for more than `dist`'s own level.
    #[test]
    fn nothing_is_handed_out_without_optimisation() {
        let text = std::fs::read_to_string(shell::root().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let levels = |profile: &str| -> toml::Table {
            manifest["profile"][profile]["package"]
                .as_table()
                .unwrap()
                .iter()
                .map(|(name, p)| (name.clone(), p["opt-level"].clone()))
                .collect()
        };
        let handed_out = levels("dist");
        let slow: Vec<String> = levels("release")
            .into_iter()
            .filter(|(_, level)| level.as_integer() == Some(0))
            .map(|(name, _)| name)
            .collect();
        assert!(!slow.is_empty());
        for name in slow {
            let level = handed_out.get(&name);
            assert!(level.is_some_and(|l| l.as_integer() != Some(0)), "{name}: {level:?}");
        }
    }
}
