//! Directories as they are to be packed: the program, its man pages, its completions, licence and notes.

use super::{Machine, Release};
use crate::shell::{self, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Man pages and completions, in a directory each way that packages want them.
pub(super) struct Texts {
    man: PathBuf,
    completions: PathBuf,
}

/// Shells, and where their completions are in a system.
pub(super) const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/linerate"),
    ("zsh", "usr/share/zsh/vendor-completions/_linerate"),
    ("fish", "usr/share/fish/vendor_completions.d/linerate.fish"),
];

pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(dir) = path.parent() {
        shell::made(dir)?;
    }
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

pub(super) fn copied(from: &Path, to: &Path) -> Result<()> {
    put(to, &read(from)?)
}

/// What the program writes of itself.
pub(super) fn texts(linerate: &Path, release: &Release) -> Result<Texts> {
    let dir = release.out.with_extension("texts");
    shell::emptied(&dir)?;
    let texts = Texts { man: dir.join("man"), completions: dir.join("completions") };
    shell::output(Command::new(linerate).arg("man").arg(&texts.man))?;
    for (shell, _) in SHELLS {
        let text = shell::output(Command::new(linerate).args(["completions", shell]))?;
        put(&texts.completions.join(shell), text.as_bytes())?;
    }
    Ok(texts)
}

/// An empty directory of this name beside what is handed out.
pub(super) fn fresh(release: &Release, name: &str) -> Result<PathBuf> {
    let dir = release.out.with_extension("stage").join(name);
    shell::emptied(&dir)?;
    Ok(dir)
}

/// Made executable.
pub(super) fn program(from: &Path, to: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    copied(from, to)?;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(to, mode).map_err(|e| format!("{}: {e}", to.display()))
}

/// The tree of a system with the program in it.
pub(super) fn system(root: &Path, of: &Path, texts: &Texts) -> Result<()> {
    program(of, &root.join("usr/bin/linerate"))?;
    for entry in std::fs::read_dir(&texts.man).map_err(|e| e.to_string())?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let page = root.join("usr/share/man/man1").join(&name);
        copied(&entry.path(), &page)?;
        // Without a name and a time in it.
        shell::status(Command::new("gzip").args(["--no-name", "--best"]).arg(&page))?;
    }
    for (shell, path) in SHELLS {
        copied(&texts.completions.join(shell), &root.join(path))?;
    }
    for (from, to) in [("LICENSE", "copyright"), ("CHANGELOG.md", "CHANGELOG.md"), ("README.md", "README.md")] {
        copied(&shell::root().join(from), &root.join("usr/share/doc/linerate").join(to))?;
    }
    Ok(())
}

/// `linerate-VERSION-MACHINE.tar.zst`: one directory, to be unpacked anywhere.
pub(super) fn archive(machine: &Machine, of: &Path, texts: &Texts, release: &Release) -> Result<()> {
    let name = format!("linerate-{}-{}", release.version, machine.name);
    let above = fresh(release, "tar")?;
    let dir = above.join(&name);
    program(of, &dir.join("linerate"))?;
    for (from, to) in [(&texts.man, "man/man1"), (&texts.completions, "completions")] {
        for entry in std::fs::read_dir(from).map_err(|e| e.to_string())?.flatten() {
            copied(&entry.path(), &dir.join(to).join(entry.file_name()))?;
        }
    }
    for file in ["LICENSE", "README.md", "CHANGELOG.md"] {
        copied(&shell::root().join(file), &dir.join(file))?;
    }
    let tar = release.out.join(format!("{name}.tar"));
    tarred(&above, &[&name], &tar, release)?;
    shell::status(Command::new("zstd").args(["--quiet", "--rm", "-19", "--force"]).arg(&tar))
}

/// In one order, with root as the owner, at the time of the commit.
pub(super) fn tarred(dir: &Path, names: &[&str], tar: &Path, release: &Release) -> Result<()> {
    let own = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--format=gnu"];
    let mut command = Command::new("tar");
    command.args(own).arg(format!("--mtime=@{}", release.epoch)).arg("--create").arg("--file").arg(tar);
    shell::status(command.arg("--directory").arg(dir).args(names))
}
