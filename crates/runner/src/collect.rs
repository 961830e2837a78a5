//! The configuration of the hosts, taken with every run.

use crate::cancel::Cancel;
use crate::transport::{Command, Transport};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::{Options, Purpose, capture};
use std::time::Duration;

/// Largest snapshot that is accepted from another host.
const MAX: usize = 256 << 20;
/// `linerate collect` there, into a private directory that is removed.
const REMOTE: &str = r#"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 143' TERM INT HUP
linerate collect --quiet -o "$dir/snapshot.tar.zst" >&2 || exit 1
cat "$dir/snapshot.tar.zst"
"#;

/// Takes snapshots. The command line may bring its own, with its options for redaction.
pub trait Collector {
    /// The snapshot of a host, or why there is none.
    ///
    /// # Errors
    /// There is none; the run goes on, and its numbers do not know that host's configuration.
    fn collect(&self, host: &dyn Transport, cancel: &Cancel) -> Result<Snapshot, String>;
}

/// This host by a capture, another one by the `linerate` that is installed there. Nothing is copied to a host.
#[derive(Debug, Clone)]
pub struct Standard {
    /// How this host is captured.
    pub options: Options,
}

impl Default for Standard {
    fn default() -> Self {
        Standard { options: Options::new("/", Purpose::Collect) }
    }
}

impl Collector for Standard {
    fn collect(&self, host: &dyn Transport, cancel: &Cancel) -> Result<Snapshot, String> {
        if host.is_here() {
            return capture(&self.options, &|_| {}).map_err(|e| e.to_string());
        }
        let command = Command::script(REMOTE, &[]).limit(Duration::from_secs(150));
        let process = host.start(&command).map_err(|e| e.to_string())?;
        let ran = process.finish(&command, MAX, &|| cancel.is_cancelled()).map_err(|e| e.to_string())?;
        if ran.status != 0 || ran.cut {
            let said = String::from_utf8_lossy(&ran.stderr);
            let said = said.lines().last().unwrap_or("nothing");
            return Err(format!("linerate collect there ended with status {} and said: {said}", ran.status));
        }
        linerate_snapshot::load_bytes(&ran.stdout, host.host()).map_err(|e| e.to_string())
    }
}

/// No snapshots: for tests, and for hosts whose configuration is known otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Collector for Nothing {
    fn collect(&self, _: &dyn Transport, _: &Cancel) -> Result<Snapshot, String> {
        Err("not asked for".to_owned())
    }
}
