//! A program in the cache of the user on a host: named by its digest, so that it is there once for each version and architecture, and
//! moved to its name only when it has arrived whole.

use crate::{Cancel, Command, NotDone, Transport, TransportError};
use linerate_out::child::Need;
use std::sync::Arc;
use std::time::Duration;

/// Writes standard input into the cache: `$1` digest, `$2` bytes, `$3` a word that no other push has.
const PLACE: &str = include_str!("place.sh");
/// Removes the program of a digest, and the directories that were made for it.
const REMOVE: &str = r#"
home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $home in /*) ;; *) exit 0 ;; esac
rm -f "$home/linerate/$1/linerate" && rmdir "$home/linerate/$1" "$home/linerate" 2>/dev/null
exit 0
"#;

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

/// A program that is placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// SHA-256 of the program, hexadecimal.
    pub digest: String,
}

/// Puts a program into the user's cache on a host. Its digest is compared there before it gets its name.
///
/// # Errors
/// It could not be written: no home, no space, not allowed. Nothing of it is left.
pub fn place(
    host: &dyn Transport,
    program: &Arc<[u8]>,
    digest: &str,
    limit: Duration,
    cancel: &Cancel,
) -> Result<Placed, PushError> {
    let size = program.len().to_string();
    let word = crate::chance();
    let command = Command::script(PLACE, &[digest, &size, &word]).limit(limit).need(Need::Plain);
    let ran = host.hand(&command, Arc::clone(program), cancel)?;
    // Whatever the host prints before it.
    if ran.status == 0 && ran.text().contains(&format!("placed {word}\n")) {
        return Ok(Placed { digest: digest.to_owned() });
    }
    Err(ran.not_done("writing a program").into())
}

/// Removes a placed program when it is dropped.
pub struct Remover<'a> {
    /// Host.
    pub host: &'a dyn Transport,
    /// What is removed there.
    pub placed: Placed,
}

impl Drop for Remover<'_> {
    fn drop(&mut self) {
        let command = Command::script(REMOVE, &[&self.placed.digest]).limit(Duration::from_secs(20));
        let _ = self.host.run(&command, &Cancel::new());
    }
}
