//! Lines with the name of a host in front, `node01: …`, as pdsh and clush print what they ran on many hosts. Those of a host are one text, which is cut by itself.

use super::{Block, Cutter, count_other};
use crate::lines::Lines;
use linerate_formats::bounds::{DOCTOR_BLOCK_NODES, DOCTOR_TEXT};
use linerate_formats::host_name::short;
use linerate_formats::printed;

/// A host's lines.
#[derive(Debug, Default)]
struct Own {
    host: String,
    text: String,
    lines: Lines,
    count: u32,
}

/// Lines by their hosts.
#[derive(Debug, Default)]
pub(super) struct Tagged {
    hosts: Vec<Own>,
    bytes: usize,
}

/// What lines of hosts are.
#[derive(Debug, Default)]
pub(super) struct Untagged {
    pub(super) blocks: Vec<Block>,
    /// Lines of no tool, and the first of them in the file.
    pub(super) other: (usize, usize),
}

/// The host whose name is in front of a line, and the line. Of an empty line only the name is left where its end was trimmed.
pub(super) fn split(line: &str) -> Option<(&str, &str)> {
    // Nearly all lines end here.
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.');
    let end = line.bytes().take(64).position(|b| !is_name(&b))?;
    match line.as_bytes().get(end..)? {
        [b':'] => printed::host(&format!("{line} ")).is_some().then_some((line.get(..end)?, "")),
        [b':', b' ', ..] => printed::host(line),
        _ => None,
    }
}

impl Tagged {
    /// Takes a line that has a host's name in front, where there is room.
    pub(super) fn take(&mut self, line: &str, number: u64) -> bool {
        let Some((name, rest)) = split(line) else { return false };
        let Some(host) = short(name).filter(|_| self.bytes + rest.len() < DOCTOR_TEXT) else { return false };
        let at = self.hosts.iter().position(|o| o.host == host).unwrap_or(self.hosts.len());
        if at == self.hosts.len() {
            if at == DOCTOR_BLOCK_NODES {
                return false;
            }
            self.hosts.push(Own { host, ..Own::default() });
        }
        let Some(own) = self.hosts.get_mut(at) else { return false };
        own.text.push_str(rest);
        own.text.push('\n');
        own.lines.add(number);
        own.count = own.count.saturating_add(1);
        self.bytes += rest.len() + 1;
        true
    }

    /// The tools' texts in the lines of each host. Where there is none, the names are no hosts' or the lines are of no tool.
    pub(super) fn cut(self) -> Untagged {
        let mut out = Untagged::default();
        for Own { host, text, lines, count } in self.hosts {
            let mut cutter = Cutter::of_host(&host);
            cutter.feed(text.as_bytes());
            let found = cutter.found();
            let in_file = |n: usize| lines.in_file(u32::try_from(n).unwrap_or(u32::MAX)) as usize;
            let other = if found.list.is_empty() {
                (count as usize, in_file(1))
            } else {
                (found.other.0, in_file(found.other.1))
            };
            count_other(&mut out.other, other.0, other.1);
            for block in found.list {
                let mut own = Lines::default();
                (1..=u32::try_from(block.text.lines().count()).unwrap_or(u32::MAX))
                    .for_each(|n| own.add(u64::from(lines.in_file(block.lines.in_file(n)))));
                out.blocks.push(Block { lines: own, ..block });
            }
        }
        out
    }
}
