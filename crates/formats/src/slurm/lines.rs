//! The text of `scontrol show node`, and the same in one line for each node.

use super::{Node, gres, keep, state};
use crate::bounds::Kept;
use crate::text::{At, lines};

/// Keys whose values may have blanks, and end where the next key of the line begins.
const KEYS: [&str; 47] = [
    "NodeName",
    "Arch",
    "CpuBind",
    "CoresPerSocket",
    "CPUAlloc",
    "CPUErr",
    "CPUEfctv",
    "CPUTot",
    "CPULoad",
    "AvailableFeatures",
    "ActiveFeatures",
    "Features",
    "Gres",
    "GresDrain",
    "GresUsed",
    "NodeAddr",
    "NodeHostName",
    "BcastAddr",
    "Port",
    "Version",
    "OS",
    "RealMemory",
    "AllocMem",
    "FreeMem",
    "Sockets",
    "Boards",
    "CoreSpecCount",
    "CPUSpecList",
    "MemSpecLimit",
    "RestrictedCoresPerGPU",
    "State",
    "ThreadsPerCore",
    "TmpDisk",
    "Weight",
    "Owner",
    "MCS_label",
    "NextState",
    "Partitions",
    "BootTime",
    "SlurmdStartTime",
    "LastBusyTime",
    "ResumeAfterTime",
    "CfgTRES",
    "AllocTRES",
    "CapWatts",
    "CurrentWatts",
    "Reason",
];

/// What may follow a reason, which people write.
const AFTER: [&str; 5] = ["Comment", "Extra", "InstanceId", "InstanceType", "ReservationName"];

/// No key is longer.
const LONGEST: usize = 24;

pub(super) fn read(text: &str) -> Kept<Node> {
    let mut out = Kept::default();
    let mut node: Option<Node> = None;
    // Behind `Reason=` whatever people wrote may stand, in lines of its own, too.
    let mut is_prose = false;
    let mut indent = 0;
    for (number, whole) in lines(text) {
        let line = whole.trim();
        let indented = whole.len() - whole.trim_start().len();
        if line.starts_with("NodeName=") && (!is_prose || indented <= indent) {
            indent = indented;
            if let Some(done) = node.take() {
                keep(&mut out, done);
            }
            node = Some(Node { line: number, ..Node::default() });
            is_prose = false;
        } else if whole.is_empty() {
            // An empty line ends a node; releases before 21.08 print one of blanks before the reason.
            if let Some(done) = node.take() {
                keep(&mut out, done);
            }
        }
        if let Some(node) = node.as_mut().filter(|_| !is_prose) {
            is_prose = fields(node, line, number);
        }
    }
    if let Some(done) = node {
        keep(&mut out, done);
    }
    out.items.retain(|n| !n.name.is_empty());
    out
}

/// Reads the fields of a line; whether it has begun what people wrote.
fn fields(node: &mut Node, line: &str, number: u32) -> bool {
    let mut rest = line;
    while let Some((key, after)) = key(rest) {
        if key == "Reason" {
            reason(node, after, number);
            return true;
        }
        if AFTER.contains(&key) {
            return true;
        }
        let end = next(after);
        field(node, key, after.get(..end).unwrap_or_default().trim(), number);
        rest = after.get(end..).unwrap_or_default().trim_start();
    }
    false
}

/// The key at the beginning of a text, and what is behind its `=`.
fn key(text: &str) -> Option<(&str, &str)> {
    let equals = text.bytes().take(LONGEST).position(|b| b == b'=')?;
    let (key, after) = (text.get(..equals)?, text.get(equals + 1..)?);
    (KEYS.contains(&key) || AFTER.contains(&key)).then_some((key, after))
}

/// Where the next key begins, behind a blank.
fn next(text: &str) -> usize {
    let mut at = 0;
    while let Some(blank) = text.get(at..).and_then(|t| t.find(' ')) {
        at += blank + 1;
        if text.get(at..).is_some_and(|t| key(t).is_some()) {
            return at;
        }
    }
    text.len()
}

fn field(node: &mut Node, key: &str, value: &str, line: u32) {
    let at_list = || Some(At::new(list(value), line));
    let number = || value.parse().ok().map(|n| At::new(n, line));
    match key {
        "NodeName" => value.clone_into(&mut node.name),
        "NodeHostName" => node.hostname = Some(value.to_owned()),
        "AvailableFeatures" => node.available = at_list(),
        "ActiveFeatures" => node.active = at_list(),
        // Before 16.05 there was one list.
        "Features" => (node.available, node.active) = (at_list(), at_list()),
        "Gres" => node.gres = Some(At::new(gres::parse(value), line)),
        "GresUsed" => node.used = Some(At::new(gres::parse(value), line)),
        "State" => node.state = Some(At::new(state::words(value), line)),
        "RealMemory" => node.memory_mib = number(),
        "CPUTot" => node.cpus = number(),
        "Sockets" => node.sockets = number(),
        "Boards" => node.boards = number(),
        _ => {}
    }
}

pub(super) fn list(text: &str) -> Vec<String> {
    let words = text.split(',').map(str::trim).filter(|w| !w.is_empty() && *w != "(null)" && *w != "N/A");
    words.map(str::to_owned).collect()
}

/// `Not responding [slurm@2026-11-20T10:00:00]`; in one line further keys follow.
fn reason(node: &mut Node, text: &str, line: u32) {
    let ends = AFTER.iter().filter_map(|k| text.find(&format!(" {k}=")));
    let text = ends.min().and_then(|end| text.get(..end)).unwrap_or(text).trim();
    let (said, time) = match text.rsplit_once(" [") {
        Some((said, who)) => match who.strip_suffix(']').and_then(|w| w.split_once('@')) {
            Some((_, time)) => (said, Some(time.to_owned())),
            None => (text, None),
        },
        None => (text, None),
    };
    node.reason = Some(At::new(said.trim().to_owned(), line));
    node.reason_time = time;
}
