//! `cargo xtask docs [--check]`: writes docs/rules from the rule catalogue, and the picture of an example; or says what is stale.

use crate::shell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes the pages; with `--check` compares only and fails when a page is missing, different or left over.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let check = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("usage: cargo xtask docs [--check]");
            return ExitCode::from(3);
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/rules");
    let pages = linerate_report::explain::pages(linerate_rules::areas());
    let result = if check { stale(&root, &pages) } else { write(&root, &pages).map(|()| Vec::new()) };
    let result = result.and_then(|mut found| {
        found.extend(picture(check)?);
        Ok(found)
    });
    match result {
        Ok(stale) if stale.is_empty() => {
            println!("docs/rules: {} pages {}", pages.len(), if check { "are up to date" } else { "written" });
            ExitCode::SUCCESS
        }
        Ok(stale) => {
            for line in stale {
                eprintln!("docs/rules/{line}");
            }
            eprintln!("run `cargo xtask docs` and commit the result");
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("docs/rules: {e}");
            ExitCode::from(3)
        }
    }
}

/// The picture of the sick example, drawn by the command itself.
fn picture(check: bool) -> io::Result<Option<String>> {
    let source = "examples/sick-8gpu.tar.zst";
    let own = ["run", "--quiet", "--package", "linerate", "--", "topo", source, "--nodes", "2", "--format", "svg"];
    let drawn = shell::output(shell::cargo().args(own)).map_err(io::Error::other)?;
    let path = shell::root().join("docs/sick-8gpu.svg");
    let same = fs::read(&path).is_ok_and(|old| old == drawn.as_bytes());
    if check || same {
        return Ok((!same).then(|| format!("../sick-8gpu.svg differs from what `linerate topo {source}` draws")));
    }
    fs::write(path, drawn)?;
    Ok(None)
}

/// Path below docs/rules, and content.
type Page = (String, String);

fn write(root: &Path, pages: &[Page]) -> io::Result<()> {
    for (path, text) in pages {
        let path = root.join(path);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        // An unchanged file keeps its time.
        if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            fs::write(path, text)?;
        }
    }
    for path in left_over(root, pages)? {
        fs::remove_file(path)?;
    }
    Ok(())
}

fn stale(root: &Path, pages: &[Page]) -> io::Result<Vec<String>> {
    let mut out = Vec::new();
    for (path, text) in pages {
        match fs::read(root.join(path)) {
            Ok(old) if old == text.as_bytes() => {}
            Ok(_) => out.push(format!("{path} differs from the rule")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => out.push(format!("{path} is missing")),
            Err(e) => return Err(e),
        }
    }
    for path in left_over(root, pages)? {
        let path = path.strip_prefix(root).unwrap_or(&path);
        out.push(format!("{} belongs to no rule", path.display()));
    }
    Ok(out)
}

/// Generated pages of rules that are no more. A page without the generator's mark is somebody's own and stays.
fn left_over(root: &Path, pages: &[Page]) -> io::Result<Vec<PathBuf>> {
    let known: BTreeSet<PathBuf> = pages.iter().map(|(p, _)| root.join(p)).collect();
    let mut out = Vec::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        let entries = match fs::read_dir(&dir) {
            Ok(e) => e,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "md")
                && !known.contains(&path)
                && fs::read(&path)?.starts_with(linerate_report::explain::GENERATED.as_bytes())
            {
                out.push(path);
            }
        }
    }
    out.sort();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_missing_or_left_over_is_found_and_mended() {
        let root = std::env::temp_dir().join(format!("linerate-xtask-docs-{}", std::process::id()));
        let mark = linerate_report::explain::GENERATED;
        let pages: Vec<Page> =
            vec![("README.md".into(), format!("{mark}index")), ("a/b.md".into(), format!("{mark}b"))];
        let names =
            |stale: Vec<String>| stale.iter().map(|s| s.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>();

        assert_eq!(names(stale(&root, &pages).unwrap()), ["README.md", "a/b.md"]);
        write(&root, &pages).unwrap();
        assert_eq!(stale(&root, &pages).unwrap(), Vec::<String>::new());

        fs::write(root.join("README.md"), "old").unwrap();
        fs::write(root.join("a/gone.md"), format!("{mark}gone")).unwrap();
        fs::write(root.join("a/own.md"), "by hand").unwrap();
        assert_eq!(names(stale(&root, &pages).unwrap()), ["README.md", "a/gone.md"]);
        write(&root, &pages).unwrap();
        assert_eq!(stale(&root, &pages).unwrap(), Vec::<String>::new());
        assert!(root.join("a/own.md").exists() && !root.join("a/gone.md").exists());
        fs::remove_dir_all(root).unwrap();
    }
}
