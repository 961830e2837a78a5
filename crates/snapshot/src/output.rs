//! Texts that tools print, as part of a snapshot: commands run by the capture, and texts that people paste.

use crate::recognise::{output, recognise};
use crate::redact::secrets;
use crate::{EntryId, Snapshot};
pub use linerate_formats::Kind as OutputKind;

/// One text.
#[derive(Debug, Clone)]
pub struct Output {
    /// Which tool's: one that gives facts. Commands are known by their arguments, pasted texts by their content.
    pub kind: OutputKind,
    /// Its bytes.
    pub entry: EntryId,
    /// The command, where one was run; empty for pasted text.
    pub argv: Vec<String>,
    /// Exit status, where known.
    pub status: Option<i32>,
}

impl Output {
    /// The word behind an option of the command that was run: the device behind `-d`.
    #[must_use]
    pub fn behind(&self, option: &str) -> Option<&str> {
        self.argv.iter().skip_while(|a| *a != option).nth(1).map(String::as_str)
    }
}

impl Snapshot {
    /// Adds what a command printed about this node that ran elsewhere, such as on the operator's machine: as if the capture had run it. What looks
    /// like a secret goes; redaction comes later, with that of the rest. `None`: nothing was added, as there is no room.
    pub fn add_output(&mut self, argv: &[&str], stdout: &[u8]) -> Option<EntryId> {
        let kind = output(recognise(argv.first().copied().unwrap_or_default(), stdout));
        let numbers = self.child(self.root(), "cmd").map(|cmd| self.children(cmd)).unwrap_or_default();
        let next = numbers.iter().filter_map(|(n, _)| n.parse::<u32>().ok()).max().map_or(0, |n| n.saturating_add(1));
        let mut data = stdout.to_vec();
        secrets::output(kind, &mut data);
        // Strings always make a JSON array.
        let words = serde_json::to_vec(argv).unwrap_or_default();
        self.add_file(&format!("cmd/{next}/argv"), &words)?;
        self.add_file(&format!("cmd/{next}/status"), b"0\n")?;
        let entry = self.add_file(&format!("cmd/{next}/stdout"), &data)?;
        let argv = argv.iter().map(|a| (*a).to_owned()).collect();
        self.outputs.push(Output { kind, entry, argv, status: Some(0) });
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: &str = "{\n  \"kind\": \"Node\",\n  \"metadata\": {\n    \"name\": \"n1\",\n    \"annotations\": {\"example.com/password\": \"hunter2hunter2\", \"kubectl.kubernetes.io/last-applied-configuration\": \"LONG\"}\n  }\n}\n";

    #[test]
    fn what_is_added_is_there_after_packing() {
        let mut s = Snapshot::new("n1");
        s.add_file("cmd/3/argv", b"[\"lspci\"]");
        let long = NODE.replace("LONG", &"x".repeat(1000));
        s.add_output(&["kubectl", "get", "node", "n1", "-o", "json"], long.as_bytes()).unwrap();
        let added = s.outputs.last().unwrap();
        assert_eq!((added.kind, s.path(added.entry).as_str()), (OutputKind::KubernetesNodes, "cmd/4/stdout"));
        let mut packed = Vec::new();
        s.write_tar_zst_quickly(&mut packed).unwrap();
        let back = crate::load_bytes(&packed, "n1.tar.zst").unwrap();
        let o = back.outputs.iter().find(|o| o.kind == OutputKind::KubernetesNodes).unwrap();
        let text = String::from_utf8_lossy(back.data(o.entry)).into_owned();
        assert!(text.contains("\"name\": \"n1\"") && !text.contains("hunter2") && !text.contains("xxxx"), "{text}");
    }
}
