//! Heads that stand behind another writer's text, which may run into the host's name: `cudaDev 1 nvmnode1:11:12 [3] NCCL INFO …` is a line of
//! node1. Which part is the host shows only where the process prints a line of its own.

use super::names::{Name, Names};
use linerate_formats::nccl_log::Who;

/// Processes that only such heads name, at most.
const MAX: usize = 256;
/// Bytes of a host's name (Linux: `HOST_NAME_MAX`).
const MAX_HOST: usize = 64;

/// A process of which only such heads were seen.
#[derive(Debug)]
struct Doubtful {
    /// As printed: it ends with the host's name.
    text: Box<str>,
    pid: u32,
    process: usize,
    /// The last word of the text before, without numbers.
    after: Box<str>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Glued(Vec<Doubtful>);

impl Glued {
    /// Remembers a process; false where there are too many.
    pub(super) fn add(&mut self, who: &Who<'_>, process: usize, before: &str) -> bool {
        let has_room = self.0.len() < MAX && who.host.len() <= MAX_HOST;
        if has_room {
            let after = word(before).into();
            self.0.push(Doubtful { text: who.host.into(), pid: who.pid, process, after });
        }
        has_room
    }

    /// The process of an equal head.
    pub(super) fn process(&self, who: &Who<'_>) -> Option<usize> {
        self.0.iter().find(|d| (&*d.text, d.pid) == (who.host, who.pid)).map(|d| d.process)
    }

    /// Whether the same name stands behind other words, too: then no other writer's text is in it.
    pub(super) fn is_seen_elsewhere(&self, who: &Who<'_>, before: &str) -> bool {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        let mut same = self.0.iter().filter(|d| &*d.text == who.host);
        who.host.bytes().all(plain) && same.any(|d| *d.after != *word(before))
    }

    /// Takes the processes that this host's name and process id fit.
    pub(super) fn take(&mut self, who: &Who<'_>) -> Vec<usize> {
        if self.0.is_empty() {
            return Vec::new();
        }
        self.0.extract_if(.., |d| d.pid == who.pid && d.text.ends_with(who.host)).map(|d| d.process).collect()
    }

    /// Processes whose host's name is this one with something before it.
    pub(super) fn longer(&self, host: &str) -> impl Iterator<Item = usize> {
        self.0.iter().filter(move |d| d.text.len() > host.len() && d.text.ends_with(host)).map(|d| d.process)
    }

    /// Takes the processes of hosts of this name: with each its id.
    pub(super) fn take_host(&mut self, host: &str) -> Vec<(u32, usize)> {
        self.0.extract_if(.., |d| &*d.text == host).map(|d| (d.pid, d.process)).collect()
    }
}

/// The last word without numbers: where a writer was interrupted, whatever it counted.
fn word(text: &str) -> String {
    text.split_whitespace()
        .next_back()
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_ascii_digit())
        .take(MAX_HOST)
        .collect()
}

/// Names that a host's name ends with and that were seen before, the longest first, itself included: how much of it comes before, and the name.
pub(super) fn endings<'a>(host: &'a str, names: &'a Names) -> impl Iterator<Item = (usize, Name)> {
    let first = host.len().saturating_sub(MAX_HOST);
    (first..host.len()).filter_map(move |at| Some((at, names.known(host.get(at..)?)?)))
}
