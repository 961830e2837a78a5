//! Whether what a journal kept is what the plan names. Who could write a journal could else have any file of the node overwritten.

use crate::act::{Done, Wrong, on_node};
use crate::journal::{Key, Seen};
use crate::named::{CHOOSERS, is_above, is_named};
use linerate_remedy::Act;

/// Refuses a record that is of another kind than its act, or names what the act does not.
pub(super) fn fits(key: &Key, act: &Act, seen: &Seen) -> Done<()> {
    let refuse = |what: String| {
        let what = format!(
            "{}, act {}: the journal {what}, which the plan does not name: nothing is put back from it. Find out who wrote the journal",
            key.step, key.number
        );
        Err(Wrong::new("backup", what))
    };
    let kind = on_node(act).map_or_else(|| matches!(seen, Seen::Elsewhere { .. }), |act| act.keeps(seen));
    if !kind {
        return refuse("keeps something of another kind".to_owned());
    }
    let (files, dirs) = seen.paths();
    let paths: Vec<&str> = files.iter().map(|f| f.path.as_str()).collect();
    if let Some(path) = paths.iter().find(|path| !is_named(act, path)) {
        return refuse(format!("keeps {path}"));
    }
    if let Some(dir) = dirs.iter().find(|dir| !is_above(dir, &paths)) {
        return refuse(format!("would remove the directory {dir}"));
    }
    if let Seen::Trial { choose, forget, .. } = seen {
        let words = [choose, forget].into_iter().filter_map(|argv| argv.first());
        if let Some(word) = words.into_iter().find(|word| !CHOOSERS.contains(&word.as_str())) {
            return refuse(format!("would run {word}"));
        }
    }
    Ok(())
}
