//! What rules on events of the kernel log share, whichever area they are in.

use crate::finding::{Finding, Findings, Subject};
use crate::rule::Cx;
use linerate_snapshot::{Coverage, Place};

/// Answers for rules on events of the kernel log where the log was not seen: `true` if it answered.
pub(crate) fn no_log(cx: &Cx<'_>, what: &str, out: &mut Findings) -> bool {
    let log = &cx.node.kernel.log;
    if log.known().is_some() {
        return false;
    }
    out.unreadable(Subject::Node, format_args!("kernel log ({what})"), log);
    true
}

/// Answers where the log holds none of a rule's messages. Only a whole log shows that; a pasted text may be a part of one.
pub(crate) fn silent_log<'o>(cx: &Cx<'_>, what: &str, out: &'o mut Findings) -> &'o mut Finding {
    let log = cx.node.kernel.log.place();
    if matches!(cx.snapshot.coverage, Coverage::Full { .. }) {
        out.pass(Subject::Node, format_args!("{what} in the kernel log that was kept")).at(log)
    } else {
        out.unknown(Subject::Node, format_args!("{what} in this text, which may be an excerpt of the log"))
            .at(log)
            .see("dmesg as root, or journalctl -k -b (complete output)")
    }
}

/// Different messages of a log that are reported; a node in trouble repeats a few.
const MOST: usize = 64;

/// Equal items counted, in the order in which they first came, with the first place.
pub(crate) fn count<T: PartialEq>(items: impl Iterator<Item = (T, Place)>) -> Vec<(T, u32, Place)> {
    let mut out: Vec<(T, u32, Place)> = Vec::new();
    for (item, place) in items {
        if let Some(same) = out.iter_mut().find(|o| o.0 == item) {
            same.1 = same.1.saturating_add(1);
        } else if out.len() < MOST {
            out.push((item, 1, place));
        }
    }
    out
}
