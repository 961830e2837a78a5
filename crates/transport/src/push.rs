//! `linerate` for a host that lacks it, in a private directory of that host that is removed again.

use crate::{Cancel, Command, NotDone, Transport, TransportError};
use linerate_out::child::Need;
use std::time::Duration;

/// Longest that it may take.
const LIMIT: Duration = Duration::from_secs(600);
/// Writes standard input to a new file, of `$1` bytes, and says where. A file that did not arrive whole is removed.
const PUT: &str = r#"
umask 077
dir=$(mktemp -d) || exit 1
file=$dir/linerate
cat >"$file" && [ "$(wc -c <"$file")" -eq "$1" ] && chmod 700 "$file" && echo "$file" && exit 0
echo "$file did not arrive whole" >&2
rm -rf "$dir"
exit 1
"#;
/// Removes what [`PUT`] made.
const REMOVE: &str = r#"rm -f "$1" && rmdir "${1%/*}""#;

/// A program on a host. Dropping it removes it there.
pub struct Pushed<'a> {
    host: &'a dyn Transport,
    path: String,
}

/// Why a program could not be put on a host. Nothing of it is left there, as long as the host is reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// The host was not reached, or lost.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// It was not written there: no space, no directory for temporary files.
    #[error(transparent)]
    NotDone(#[from] NotDone),
}

/// Puts a program on a host.
///
/// # Errors
/// It could not be written there.
pub fn push<'a>(host: &'a dyn Transport, program: Vec<u8>, cancel: &Cancel) -> Result<Pushed<'a>, PushError> {
    let command = Command::script(PUT, &[&program.len().to_string()]).limit(LIMIT).need(Need::Plain);
    let ran = host.converse(&command, program, cancel)?;
    match ran.text().strip_suffix('\n').filter(|path| ran.status == 0 && path.starts_with('/')) {
        Some(path) => Ok(Pushed { host, path: path.to_owned() }),
        None => Err(ran.not_done("writing a program").into()),
    }
}

impl Pushed<'_> {
    /// Its path on the host: the first word of a [`Command`] there.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Drop for Pushed<'_> {
    fn drop(&mut self) {
        let _ = self.host.run(&Command::script(REMOVE, &[&self.path]), &Cancel::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Local;
    use std::path::PathBuf;

    #[test]
    fn a_program_arrives_runs_and_goes() {
        let (host, cancel) = (Local::new(), Cancel::new());
        let pushed = push(&host, b"#!/bin/sh\necho \"$1\"\n".to_vec(), &cancel).unwrap();
        let path = PathBuf::from(pushed.path());
        let ran = host.run(&Command::new([pushed.path(), "x y"]), &cancel).unwrap();
        assert_eq!((ran.status, ran.text().as_str()), (0, "x y\n"));
        drop(pushed);
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }

    #[test]
    fn what_arrives_in_part_is_removed() {
        let short = Command::script(PUT, &["100"]);
        let ran = Local::new().converse(&short, b"half".to_vec(), &Cancel::new()).unwrap();
        let said = ran.last_words();
        let file = said.strip_suffix(" did not arrive whole").unwrap();
        assert!(ran.status == 1 && !std::path::Path::new(file).parent().unwrap().exists());
    }
}
