//! Units of ours: a oneshot that says what it does in argument lists, and takes it back when stopped.

use super::{Refusal, ours};
use crate::act::head;
use crate::model::Act;
use linerate_snapshot::Snapshot;

/// What a unit runs, and what takes it back.
pub(super) struct Pair {
    /// What is the same in both: lines of an older file of ours with the same key are replaced.
    pub(super) key: String,
    /// Bits of a register that both write, as `=VALUE:MASK`; `None`: the lines write all there is.
    pub(super) mask: Option<u16>,
    /// For `ExecStart=`: words that were checked.
    pub(super) start: String,
    /// For `ExecStop=`.
    pub(super) stop: String,
}

/// A oneshot unit.
pub(super) struct Unit<'u> {
    /// Name with `.service`.
    pub(super) name: &'u str,
    /// Step, for the first line.
    pub(super) step: &'u str,
    /// `Description=`.
    pub(super) description: &'u str,
    /// Further lines of `[Unit]`: the order among units.
    pub(super) order: &'u [String],
    /// What it runs.
    pub(super) pairs: Vec<Pair>,
}

impl Unit<'_> {
    /// The acts that install and start it; empty: it is there as it should be. An older one of ours keeps what it did, and its old values: what
    /// is there now is what it wrote.
    pub(super) fn acts(&self, s: &Snapshot) -> Result<Vec<Act>, Refusal> {
        let path = format!("/etc/systemd/system/{}", self.name);
        let old = ours::there(s, &path)?;
        let Some(file) = ours::written(s, &path, self.text(old.unwrap_or_default()), 0o644)? else {
            return Ok(Vec::new());
        };
        let reload = |undo: &[&str]| ours::run(&["systemctl", "daemon-reload"], undo, 60);
        // The first acts change nothing: undone last, they make systemd take what is there again by then.
        Ok(match old {
            None => vec![
                reload(&["systemctl", "daemon-reload"]),
                file,
                reload(&[]),
                ours::run(
                    &["systemctl", "enable", "--now", self.name],
                    &["systemctl", "disable", "--now", self.name],
                    120,
                ),
            ],
            Some(_) => vec![
                reload(&["systemctl", "start", self.name]),
                reload(&["systemctl", "daemon-reload"]),
                file,
                reload(&[]),
                ours::run(&["systemctl", "restart", self.name], &["systemctl", "stop", self.name], 120),
            ],
        })
    }

    fn text(&self, old: &str) -> String {
        let (mut start, mut stop) = (old_lines(old, "ExecStart="), old_lines(old, "ExecStop="));
        for pair in &self.pairs {
            start = start.iter().filter_map(|l| pair.leaves(l)).collect();
            start.retain(|l| *l != pair.start);
            start.push(pair.start.clone());
            stop.extend(pair.not_yet(&stop).filter(|l| !stop.contains(l)));
        }
        let mut t = head(self.step);
        t.push_str(&format!("[Unit]\nDescription={}\n", self.description));
        for line in self.order {
            t.push_str(&format!("{line}\n"));
        }
        t.push_str("\n[Service]\nType=oneshot\nRemainAfterExit=yes\n");
        t.extend(start.iter().map(|l| format!("ExecStart={l}\n")));
        t.extend(stop.iter().map(|l| format!("ExecStop={l}\n")));
        t.push_str("\n[Install]\nWantedBy=multi-user.target\n");
        t
    }
}

impl Pair {
    /// What of an older start stays: of a register the bits that this one does not write.
    fn leaves(&self, line: &str) -> Option<String> {
        let Some(rest) = after_key(line, &self.key) else { return Some(line.to_owned()) };
        let (value, mask) = masked(rest)?;
        self.only(value, mask & !self.mask?)
    }

    /// The stop line for what no older one writes back: an older one knows the value of before the first change.
    fn not_yet(&self, stop: &[String]) -> Option<String> {
        let mut older = stop.iter().filter_map(|l| after_key(l, &self.key)).peekable();
        let Some((before, mask)) = self.mask.and(after_key(&self.stop, &self.key)).and_then(masked) else {
            return older.peek().is_none().then(|| self.stop.clone());
        };
        // A line without a mask writes all bits.
        let covered = older.fold(0, |all, rest| all | masked(rest).map_or(u16::MAX, |(_, m)| m));
        self.only(before, mask & !covered)
    }

    fn only(&self, value: u16, mask: u16) -> Option<String> {
        (mask != 0).then(|| format!("{}={:x}:{mask:x}", self.key, value & mask))
    }
}

/// What stands behind the key.
fn after_key<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.strip_prefix(key).filter(|rest| rest.starts_with([' ', '=']))
}

/// `=VALUE:MASK`
fn masked(rest: &str) -> Option<(u16, u16)> {
    let (value, mask) = rest.strip_prefix('=')?.split_once(':')?;
    Some((u16::from_str_radix(value, 16).ok()?, u16::from_str_radix(mask, 16).ok()?))
}

fn old_lines(old: &str, what: &str) -> Vec<String> {
    old.lines().filter_map(|l| l.strip_prefix(what)).map(str::to_owned).collect()
}

/// A name as part of a unit's name (systemd.unit: "String Escaping for Inclusion in Unit Names").
pub(super) fn escaped(name: &str) -> String {
    let plain = |i: usize, b: u8| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_') || (b == b'.' && i > 0);
    name.bytes()
        .enumerate()
        .map(|(i, b)| if plain(i, b) { char::from(b).to_string() } else { format!("\\x{b:02x}") })
        .collect()
}
