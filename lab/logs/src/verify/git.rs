//! Reads the sources of every release out of a repository, by `git`.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::VerifyError;

/// The output of one git command.
fn git(repository: &Path, arguments: &[&str]) -> Result<Vec<u8>, VerifyError> {
    let out = Command::new("git").arg("-C").arg(repository).args(arguments).output().map_err(VerifyError::Start)?;
    if out.status.success() {
        Ok(out.stdout)
    } else {
        let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        Err(VerifyError::Git { arguments: arguments.join(" "), said })
    }
}

/// C++ files below `src` of a tag: path and object.
pub(super) fn files(repository: &Path, tag: &str) -> Result<Vec<(String, String)>, VerifyError> {
    let out = git(repository, &["ls-tree", "-r", tag, "src"])?;
    let mut found = Vec::new();
    for line in String::from_utf8_lossy(&out).lines() {
        let Some((head, path)) = line.split_once('\t') else { continue };
        let ext = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default();
        if let (Some(object), "cc" | "cu" | "c" | "h") = (head.split(' ').nth(2), ext) {
            found.push((path.to_owned(), object.to_owned()));
        }
    }
    Ok(found)
}

/// The contents of objects, each once.
pub(super) fn contents(
    repository: &Path,
    objects: impl IntoIterator<Item = String>,
) -> Result<HashMap<String, String>, VerifyError> {
    let mut wanted: Vec<String> = objects.into_iter().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut child = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(VerifyError::Start)?;
    let (Some(mut questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(VerifyError::Git { arguments: "cat-file".into(), said: "no pipe".into() });
    };
    let mut answers = BufReader::new(answers);
    let mut found = HashMap::new();
    // One question at a time: neither side can fill a pipe while the other does not read.
    for object in wanted {
        writeln!(questions, "{object}").map_err(VerifyError::Pipe)?;
        questions.flush().map_err(VerifyError::Pipe)?;
        let mut head = String::new();
        answers.read_line(&mut head).map_err(VerifyError::Pipe)?;
        let size: usize = head.trim().rsplit(' ').next().and_then(|n| n.parse().ok()).ok_or_else(|| {
            VerifyError::Git { arguments: format!("cat-file {object}"), said: head.trim().to_owned() }
        })?;
        let mut bytes = vec![0; size + 1];
        answers.read_exact(&mut bytes).map_err(VerifyError::Pipe)?;
        bytes.pop();
        found.insert(object, String::from_utf8_lossy(&bytes).into_owned());
    }
    drop(questions);
    child.wait().map_err(VerifyError::Pipe)?;
    Ok(found)
}
