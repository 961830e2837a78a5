//! Why the kernel does not have the arguments that a boot loader was told.

use super::look::{Look, at};
use crate::boot;
use linerate_formats::cmdline;
use linerate_snapshot::Snapshot;

/// The probable reason why the running kernel lacks words, or has those that were removed.
pub(super) fn diagnose(before: Option<&Snapshot>, after: &Snapshot, has: &[String], lacks: &[String]) -> String {
    match before {
        Some(before) => boot::diagnose(before, after, has, lacks),
        None => overridden(after, has).unwrap_or_else(|| {
            "nothing from before was given to compare with: see which entry the boot loader starts, and whether another drop-in of it \
             sets the same"
                .to_owned()
        }),
    }
}

/// An argument of the same name with another value.
fn overridden(after: &Snapshot, has: &[String]) -> Option<String> {
    let Look::Text(line, _) = at(after, "proc/cmdline") else { return None };
    let parsed = cmdline::parse(line.as_bytes());
    has.iter().find_map(|word| {
        let there = parsed.last(word.split_once('=')?.0)?;
        (there.raw != *word).then(|| format!("{} is in the arguments instead: another place sets it", there.raw))
    })
}
