//! A program in the cache of the user on a host: named by its digest, so that it is there once for each version and architecture, and
//! moved to its name only when it has arrived whole.

use crate::{Cancel, Command, NotDone, Transport, TransportError};
use linerate_out::child::Need;
use std::sync::Arc;
use std::time::Duration;

/// Writes standard input into the cache: `$1` digest, `$2` bytes, `$3` a word that no other push has.
const PLACE: &str = include_str!("place.sh");
/// Removes the program of a digest, and the directories that were made for it: `$1` digest, `$2` the word of the push. What the push writes goes first: a
/// push that still runs, for its connection was lost, cannot give the program its name any more, and one that was faster is undone by the second step.
const REMOVE: &str = r#"
home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $home in /*) ;; *) exit 0 ;; esac
dir=$home/linerate/$1
rm -f "$dir/.$2.part"
rm -f "$dir/linerate" && rmdir "$dir" "$home/linerate" 2>/dev/null
exit 0
"#;

/// Why a program could not be put on a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// The host was not reached, or lost.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// It was not written there: no space, no directory for temporary files.
    #[error(transparent)]
    NotDone(#[from] NotDone),
}

/// Puts a program into the user's cache on a host. Its digest is compared there before it gets its name. A host does not learn that a push was
/// interrupted (it takes what it was handed, and no guard is above it): the whole program may be there then, and the [`Remover`] of this push takes it away.
///
/// # Errors
/// It could not be written: no home, no space, not allowed. Nothing of it is left then, unless the connection was lost.
pub fn place(
    host: &dyn Transport,
    program: &Arc<[u8]>,
    push: &Push,
    limit: Duration,
    cancel: &Cancel,
) -> Result<(), PushError> {
    let size = program.len().to_string();
    let command = Command::script(PLACE, &[&push.digest, &size, &push.word]).limit(limit).need(Need::Plain);
    let ran = host.hand(&command, Arc::clone(program), cancel)?;
    // Whatever the host prints before it.
    if ran.status == 0 && ran.text().contains(&format!("placed {}\n", push.word)) {
        return Ok(());
    }
    Err(ran.not_done("writing a program").into())
}

/// One push of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// SHA-256 of the program, hexadecimal.
    digest: String,
    /// A word that no other push has.
    word: String,
}

impl Push {
    /// A push of the program that has this digest: SHA-256, hexadecimal.
    #[must_use]
    pub fn new(digest: &str) -> Self {
        Push { digest: digest.to_owned(), word: crate::chance() }
    }
}

/// Removes what a push wrote when it is dropped, whether it came to an end or not. Make it before the push.
pub struct Remover<'a> {
    /// Host.
    pub host: &'a dyn Transport,
    /// What is removed there.
    pub push: Push,
}

impl Drop for Remover<'_> {
    fn drop(&mut self) {
        let arguments = [self.push.digest.as_str(), self.push.word.as_str()];
        let command = Command::script(REMOVE, &arguments).limit(Duration::from_secs(20));
        // An interrupted run still tidies up.
        let _ = self.host.run(&command, &Cancel::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::Path;
    use std::process::{Child, Command as Program, Stdio};

    const BYTES: &[u8] = b"#!/bin/sh\nexit 0\n";
    const DIGEST: &str = "306c6ca7407560340797866e077e053627ad409277d1b9da58106fce4cf717cb";

    fn sh(script: &str, args: &[&str], home: &Path) -> Option<Child> {
        let mut shell = Program::new("sh");
        shell.arg("-c").arg(script).arg("sh").args(args).env_remove("XDG_CACHE_HOME").env("HOME", home);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
    }

    fn remove(home: &Path) -> bool {
        sh(REMOVE, &[DIGEST, "word"], home).and_then(|mut c| c.wait().ok()).is_some_and(|s| s.success())
    }

    fn is_waited(mut done: impl FnMut() -> bool) -> bool {
        (0..500).any(|_| {
            done() || {
                std::thread::sleep(Duration::from_millis(20));
                false
            }
        })
    }

    /// A push that nobody hears any more is undone, wherever it was.
    #[test]
    fn what_a_push_wrote_is_removed() -> std::io::Result<()> {
        for before_the_end in [true, false] {
            let home = tempfile::tempdir()?;
            let cache = home.path().join(".cache/linerate");
            let size = BYTES.len().to_string();
            let mut push = sh(PLACE, &[DIGEST, &size, "word"], home.path()).ok_or(std::io::ErrorKind::NotFound)?;
            let mut to = push.stdin.take().ok_or(std::io::ErrorKind::NotFound)?;
            to.write_all(BYTES)?;
            if before_the_end {
                assert!(is_waited(|| cache.join(DIGEST).join(".word.part").exists()));
                assert!(remove(home.path()));
                drop(to);
                assert!(!push.wait()?.success());
            } else {
                drop(to);
                assert!(push.wait()?.success());
                assert!(cache.join(DIGEST).join("linerate").exists());
                assert!(remove(home.path()));
            }
            assert!(!cache.exists(), "{before_the_end}");
        }
        Ok(())
    }
}
