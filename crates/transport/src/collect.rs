//! The snapshot of a node: the only way to one that is elsewhere. Nothing is copied to a host.

use crate::{Cancel, Command, NotDone, Transport, TransportError};
use linerate_out::child::Need;
use linerate_snapshot::capture::{CaptureError, Options, Purpose, capture};
use linerate_snapshot::{OpenError, Snapshot};
use std::time::Duration;

/// Largest snapshot that is accepted from another host, bytes.
const MOST: usize = 256 << 20;

/// How a node is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collect {
    /// Whether identifying values are hashed. Secrets are never captured.
    pub redact: bool,
    /// Whether `linerate` runs below `sudo -n` on another host.
    pub sudo: bool,
    /// Longest that it may take on another host.
    pub limit: Duration,
}

impl Default for Collect {
    fn default() -> Self {
        Collect { redact: true, sudo: false, limit: Duration::from_secs(150) }
    }
}

/// Why there is no snapshot of a node.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// This host could not be captured.
    #[error(transparent)]
    Here(#[from] CaptureError),
    /// The host was not reached, or lost.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// `linerate collect` failed on the host, or is not installed there.
    #[error(transparent)]
    NotDone(#[from] NotDone),
    /// What it printed is no snapshot.
    #[error("its snapshot: {0}")]
    Form(#[from] OpenError),
}

/// Captures a node: this host in this process, another one by [`collect_there`].
///
/// # Errors
/// There is no snapshot.
pub fn collect(host: &dyn Transport, how: &Collect, cancel: &Cancel) -> Result<Snapshot, CollectError> {
    if host.is_here() {
        let options = Options { redact: how.redact, ..Options::new("/", Purpose::Collect) };
        return Ok(capture(&options, &|_| {})?);
    }
    collect_there(host, how, cancel)
}

/// Captures a node by the `linerate` that is installed there, below the guard: what is cancelled or lost ends there as well.
///
/// # Errors
/// There is no snapshot.
pub fn collect_there(host: &dyn Transport, how: &Collect, cancel: &Cancel) -> Result<Snapshot, CollectError> {
    let sudo = ["sudo", "-n"].into_iter().filter(|_| how.sudo);
    let words = sudo.chain(["linerate", "collect", "--quiet", "--output", "-"]);
    let argv = words.chain((!how.redact).then_some("--no-redact"));
    let ran = host.run(&Command::new(argv).limit(how.limit).most(MOST).need(Need::Plain), cancel)?;
    if ran.status != 0 || ran.cut {
        return Err(ran.not_done("linerate collect").into());
    }
    Ok(linerate_snapshot::load_bytes(&ran.stdout, host.host())?)
}
