//! Redaction of a snapshot that was captured as it is: by the operator, before anything is written. The same as at the capture.

use super::{RedactKey, Redactor};
use crate::catalogue::{Hide, catalogue};
use crate::manifest::covers;
use crate::{EntryKind, NVML_PATH, Snapshot};
use std::collections::HashMap;

impl Snapshot {
    /// Hashes what identifies, with a key of the operator's or with one that nobody keeps. One that was redacted before stays as it is.
    ///
    /// # Errors
    /// The kernel gives no random numbers.
    pub fn redact(&mut self, key: Option<&RedactKey>) -> std::io::Result<()> {
        if self.manifest.redacted {
            return Ok(());
        }
        let mut redactor = Redactor::new(true, key)?;
        redactor.set_host(&self.manifest.host);
        let hiding = Hiding::new();
        let files: Vec<_> =
            self.ids().filter(|id| matches!(self.kind(*id), EntryKind::File | EntryKind::CutFile)).collect();
        for id in files {
            let hide = hiding.of(&self.path(id), self.name(id));
            if hide == Hide::Nothing {
                continue;
            }
            let mut data = self.data(id).to_vec();
            redactor.file(hide, &mut data);
            if data != self.data(id) {
                self.replace(id, &data);
            }
        }
        self.manifest.host = redactor.host_name(&self.manifest.host);
        self.manifest.redacted = true;
        self.manifest.redact_key = key.map(RedactKey::id);
        Ok(())
    }
}

/// What the catalogue hides, by the last name of its patterns.
struct Hiding {
    by_name: HashMap<&'static str, Vec<(&'static str, Hide)>>,
    globs: Vec<(&'static str, Hide)>,
}

impl Hiding {
    fn new() -> Self {
        let mut out = Hiding { by_name: HashMap::new(), globs: Vec::new() };
        for (pattern, hide) in catalogue().hiding() {
            let last = pattern.rsplit('/').next().unwrap_or(pattern);
            if last.contains('*') {
                out.globs.push((pattern, hide));
            } else {
                out.by_name.entry(last).or_default().push((pattern, hide));
            }
        }
        out
    }

    fn of(&self, path: &str, name: &str) -> Hide {
        // Outputs of commands, the environment, what the library said.
        if path == NVML_PATH
            || path == "linerate/env"
            || (path.starts_with("cmd/") && (name == "stdout" || name == "stderr"))
        {
            return Hide::Text;
        }
        let named = self.by_name.get(name).into_iter().flatten().chain(&self.globs);
        named.filter(|(p, _)| covers(p, path)).map(|(_, h)| *h).next().unwrap_or(Hide::Nothing)
    }
}
