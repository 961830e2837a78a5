//! This machine, or a directory that stands for one: its hand is a function.

use linerate_apply::drive::{Node, Reached, Unreached};
use linerate_apply::hand::{Root, serve_with};
use linerate_apply::loader::Loaders;
use linerate_apply::protocol::{Answer, Call};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::{Options, Purpose, capture};
use std::path::PathBuf;

/// The name of the machine that this runs on.
pub(super) const HERE: &str = "this machine";

/// A machine below a root.
pub(super) struct Here {
    root: PathBuf,
    name: String,
}

impl Here {
    /// This machine; with a directory, what is in it.
    pub(super) fn new(root: Option<PathBuf>) -> Here {
        let name = root.as_ref().map_or_else(|| HERE.to_owned(), |r| r.display().to_string());
        Here { root: root.unwrap_or_else(|| PathBuf::from("/")), name }
    }
}

impl Node for Here {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_here(&self) -> bool {
        self.root.as_os_str() == "/"
    }

    fn ask(&self, call: &Call) -> Reached<Answer> {
        let bad = |e: std::io::Error| Unreached::Foreign(format!("{}: {e}", self.root.display()));
        let root = Root::open(&self.root).map_err(bad)?;
        let served = serve_with(call.clone(), &root, &Loaders);
        if let Some(after) = served.after {
            after.run(&root).map_err(|e| Unreached::Foreign(e.to_string()))?;
        }
        Ok(served.answer)
    }

    fn read(&self) -> Reached<Snapshot> {
        capture(&Options { redact: false, ..crate::budget::options(&self.root, Purpose::Collect) }, &|_| {})
            .map_err(|e| Unreached::Foreign(e.to_string()))
    }

    fn boot(&self) -> Reached<String> {
        let id = std::fs::read_to_string(self.root.join("proc/sys/kernel/random/boot_id"));
        id.map(|id| linerate_snapshot::boot_digest(&id)).map_err(|e| Unreached::Foreign(format!("the boot's id: {e}")))
    }
}
