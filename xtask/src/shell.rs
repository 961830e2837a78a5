//! What several commands need: the repository, cargo, other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// A sentence that says what, where and what to do.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// The repository.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// The cargo that runs us, in the repository.
pub(crate) fn cargo() -> Command {
    let mut c = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    c.current_dir(root());
    c
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |t| root().join(t))
}

/// Makes a directory, with those above it.
pub(crate) fn made(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))
}

/// Makes a directory in which nothing is.
pub(crate) fn emptied(dir: &Path) -> Result<()> {
    let _ = std::fs::remove_dir_all(dir);
    made(dir)
}

/// Runs a command that prints for itself.
pub(crate) fn status(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(s) if s.success() => Ok(()),
        Ok(s) => Err(format!("{name} failed ({s})")),
        Err(e) => Err(format!("cannot run {name}: {e}")),
    }
}

/// Runs a command for its standard output; its standard error is in the error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.stdin(Stdio::null()).output().map_err(|e| format!("cannot run {name}: {e}"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    Err(format!("{name} failed ({}): {}", out.status, String::from_utf8_lossy(&out.stderr).trim()))
}

/// Whether a program of this name can be run from here.
pub(crate) fn has(program: &str) -> bool {
    let sbin = [PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")];
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(sbin).any(|d| d.join(program).is_file())
}

/// Builds `linerate` with the profile of what is handed out, and says where it is.
pub(crate) fn dist() -> Result<PathBuf> {
    built("dist")
}

/// Builds the `linerate` of `cargo build --release`, and says where it is.
pub(crate) fn release() -> Result<PathBuf> {
    built("release")
}

fn built(profile: &str) -> Result<PathBuf> {
    status(cargo().args(["build", "--quiet", "--locked", "--profile", profile, "--package", "linerate"]))?;
    Ok(target().join(profile).join("linerate"))
}

/// What runs a program whose figures count: it is built like what is handed out.
pub(crate) fn measured() -> Command {
    let mut cargo = cargo();
    cargo.args(["run", "--quiet", "--profile", "dist"]);
    cargo
}

/// Builds a program as the tests have it, and says where it is. With xtask beside it, whose features are the workspace's (`cargo xtask
/// deps` compares them): nothing that the tests have built is built again.
pub(crate) fn dev(program: &str) -> Result<PathBuf> {
    status(&mut beside_xtask(program, program))?;
    Ok(target().join("debug").join(program))
}

/// What builds it.
pub(crate) fn beside_xtask(package: &str, program: &str) -> Command {
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--package", package, "--package", "xtask", "--bin", program]);
    cargo
}

/// Whether `--check` is asked for, the one argument of a command; `None` for any other, which is shown.
pub(crate) fn only_check(command: &str, args: &[String]) -> Option<bool> {
    match args {
        [] => Some(false),
        [one] if one == "--check" => Some(true),
        _ => {
            eprintln!("usage: cargo xtask {command} [--check]");
            None
        }
    }
}

/// The end of a command.
pub(crate) fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Files of a directory and those below it; `wanted` is asked for each name, and whether it is a directory.
#[cfg(test)]
pub(crate) fn files(dir: &Path, wanted: &dyn Fn(&str, bool) -> bool, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match (entry.is_dir(), wanted(&name, entry.is_dir())) {
            (_, false) => {}
            (true, true) => files(&entry, wanted, out),
            (false, true) => out.push(entry),
        }
    }
}
