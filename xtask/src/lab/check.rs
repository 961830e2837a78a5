//! Compares what a guest showed with what its scenario expects.

use super::scenario::{CommandExpectation, FileExpectation, Scenario, TextExpectation, regex};
use std::fs;
use std::path::{Path, PathBuf};

/// Complaints, each with the expectation and what was seen. Empty: every fact holds.
pub(super) fn facts(scenario: &Scenario, out: &Path) -> Vec<String> {
    let mut complaints = setup_lines(scenario, out);
    let insmod = read(&out.join("insmod.txt"));
    if !insmod.trim().is_empty() {
        complaints.push(format!("modules: expected to load, saw {}", short(&insmod)));
    }
    for (at, file) in scenario.expect.file.iter().enumerate() {
        complaints.extend(files(file, &out.join(format!("file/{at:02}"))));
    }
    let dmesg = read(&out.join("dmesg.txt"));
    for text in &scenario.expect.dmesg {
        complaints.extend(log(text, &dmesg));
    }
    for (at, expectation) in scenario.expect.command.iter().enumerate() {
        let output = read(&out.join(format!("command/{at:02}.txt")));
        let status = read(&out.join(format!("command/{at:02}.status"))).trim().parse().ok();
        complaints.extend(command(expectation, &output, status));
    }
    complaints
}

fn setup_lines(scenario: &Scenario, out: &Path) -> Vec<String> {
    let mut complaints = Vec::new();
    for (at, line) in scenario.setup.iter().enumerate() {
        let status = read(&out.join(format!("setup/{at:02}.status")));
        if status.trim() != "0" {
            let said = read(&out.join(format!("setup/{at:02}.txt")));
            complaints.push(format!("setup `{line}`: expected status 0, saw {:?}: {}", status.trim(), short(&said)));
        }
    }
    complaints
}

fn files(expectation: &FileExpectation, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    walk(folder, &mut found);
    found.sort();
    let contents: Vec<(String, String)> = found
        .iter()
        .map(|f| {
            (format!("/{}", f.strip_prefix(folder).unwrap_or(f).display()), read(f).trim_end_matches('\n').to_owned())
        })
        .collect();
    let path = &expectation.path;
    let mut complaints = Vec::new();
    if let Some(count) = expectation.count.filter(|c| *c != contents.len()) {
        complaints.push(format!("{path}: expected {count} files, saw {}", contents.len()));
    }
    if let Some(pattern) = &expectation.every {
        if contents.is_empty() {
            complaints.push(format!("{path}: expected every file to match {pattern:?}, saw no file"));
        }
        if let Some((name, text)) = contents.iter().find(|(_, text)| !matches(pattern, text)) {
            complaints.push(format!("{path}: expected every file to match {pattern:?}, saw {name}: {}", short(text)));
        }
    }
    if let Some(pattern) = expectation.some.as_ref().filter(|p| !contents.iter().any(|(_, text)| matches(p, text))) {
        let seen = contents
            .iter()
            .map(|(name, text)| format!("{name}: {}", short(text)))
            .take(4)
            .collect::<Vec<_>>()
            .join("; ");
        complaints.push(format!(
            "{path}: expected a file to match {pattern:?}, saw {}",
            if seen.is_empty() { "no file" } else { &seen }
        ));
    }
    if let Some(pattern) = &expectation.none
        && let Some((name, text)) = contents.iter().find(|(_, text)| matches(pattern, text))
    {
        complaints.push(format!("{path}: expected no file to match {pattern:?}, saw {name}: {}", short(text)));
    }
    complaints
}

fn log(expectation: &TextExpectation, dmesg: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if let Some(pattern) = expectation.has.as_ref().filter(|p| !matches(p, dmesg)) {
        complaints.push(format!("dmesg: expected {pattern:?}, saw no such line (dmesg.txt)"));
    }
    if let Some(pattern) = &expectation.lacks
        && let Some(line) = dmesg.lines().find(|l| matches(pattern, l))
    {
        complaints.push(format!("dmesg: expected no {pattern:?}, saw {}", short(line)));
    }
    complaints
}

fn command(expectation: &CommandExpectation, output: &str, status: Option<i32>) -> Vec<String> {
    let output = output.trim_end_matches('\n');
    let run = &expectation.run;
    let mut complaints = Vec::new();
    if let Some(want) = expectation.status.filter(|s| Some(*s) != status) {
        complaints.push(format!("`{run}`: expected status {want}, saw {status:?}: {}", short(output)));
    }
    if status.is_none() {
        complaints.push(format!("`{run}`: was not run"));
    }
    if let Some(pattern) = expectation.has.as_ref().filter(|p| !matches(p, output)) {
        complaints.push(format!("`{run}`: expected {pattern:?}, saw {}", short(output)));
    }
    if let Some(pattern) = expectation.lacks.as_ref().filter(|p| matches(p, output)) {
        complaints.push(format!("`{run}`: expected no {pattern:?}, saw {}", short(output)));
    }
    complaints
}

fn matches(pattern: &str, text: &str) -> bool {
    // Patterns were compiled when the scenario was read.
    regex(pattern).is_ok_and(|r| r.is_match(text))
}

fn read(file: &Path) -> String {
    fs::read(file).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
}

fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), into),
            Ok(kind) if kind.is_file() => into.push(entry.path()),
            _ => {}
        }
    }
}

/// One line of what was seen, for one line of output.
pub(super) fn short(text: &str) -> String {
    let flat = text.trim().replace('\n', " | ");
    if flat.is_empty() {
        return "nothing".to_owned();
    }
    let mut cut: String = flat.chars().take(200).collect();
    if cut.len() < flat.len() {
        cut.push('…');
    }
    format!("{cut:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("lab-check-{}-{name}", std::process::id()));
        for (path, text) in files {
            let file = root.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        root
    }

    #[test]
    fn files_are_counted_and_matched() {
        let root = folder("files", &[("sys/0/type", "DMA-FQ\n"), ("sys/1/type", "identity\n")]);
        let check = |every: Option<&str>, some: Option<&str>, none: Option<&str>, count| {
            let own = |o: Option<&str>| o.map(str::to_owned);
            files(
                &FileExpectation {
                    path: "/sys/*/type".into(),
                    every: own(every),
                    some: own(some),
                    none: own(none),
                    count,
                },
                &root,
            )
            .len()
        };
        assert_eq!(check(Some("^(DMA-FQ|identity)$"), Some("^identity$"), Some("^DMA$"), Some(2)), 0);
        assert_eq!(check(Some("^DMA-FQ$"), Some("blocked"), Some("DMA"), Some(3)), 4);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(check(Some("x"), Some("x"), Some("x"), Some(0)), 2, "no file: nothing matches, and none is fine");
    }

    #[test]
    fn commands_that_did_not_run_are_complaints() {
        let expectation = CommandExpectation { run: "x".into(), has: None, lacks: Some("y".into()), status: None };
        assert_eq!(command(&expectation, "", None).len(), 1);
        assert_eq!(command(&expectation, "", Some(0)).len(), 0);
        assert_eq!(command(&expectation, "ayb", Some(0)).len(), 1);
    }

    #[test]
    fn the_log_has_and_lacks() {
        let check = |has: Option<&str>, lacks: Option<&str>| {
            log(
                &TextExpectation { has: has.map(str::to_owned), lacks: lacks.map(str::to_owned) },
                "[ 0.1] a\n[ 0.2] b: c\n",
            )
            .len()
        };
        assert_eq!(check(Some("b: c$"), Some("d")), 0);
        assert_eq!(check(Some("d"), Some("a$")), 2);
    }
}
