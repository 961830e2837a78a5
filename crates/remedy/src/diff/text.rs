//! Texts, compared by their lines: each has a key, so that one value of a table is one difference.

use super::{Change, SHOWN, What};
use linerate_formats::bounds::{DIFF_PARTS, DIFF_PIECES};
use linerate_formats::clip;
use std::collections::HashMap;

/// Texts whose words are compared, not their lines.
const WORDS: [&str; 1] = ["proc/cmdline"];

/// Adds what differs between two texts that are not the same.
pub(super) fn compare(path: &str, before: &[u8], after: &[u8], out: &mut Vec<Change>) {
    let whole = || Change::new(path, "", What::Changed { before: clip(before), after: clip(after) });
    let (Ok(a), Ok(b)) = (std::str::from_utf8(before), std::str::from_utf8(after)) else {
        out.push(whole());
        return;
    };
    let room = DIFF_PIECES.min(DIFF_PARTS.saturating_sub(out.len()));
    if WORDS.contains(&path) && a.split_whitespace().count().max(b.split_whitespace().count()) <= room {
        return pieces(path, a.split_whitespace().map(|w| (w, w)), b.split_whitespace().map(|w| (w, w)), out);
    }
    let lines = |t: &str| t.lines().count();
    let many = |n: usize| n > 1 && n <= room;
    if a.trim() == b.trim() {
        // White space at the end is no value.
    } else if many(lines(a).max(lines(b))) && lines(a).min(lines(b)) > 0 {
        pieces(path, a.lines().map(|l| (key(l), l.trim())), b.lines().map(|l| (key(l), l.trim())), out);
    } else {
        out.push(whole());
    }
}

/// Compares pieces that have the same key and the same number among those of this key.
fn pieces<'t>(
    path: &str,
    before: impl Iterator<Item = (&'t str, &'t str)>,
    after: impl Iterator<Item = (&'t str, &'t str)>,
    out: &mut Vec<Change>,
) {
    let (old, new) = (numbered(before), numbered(after));
    let now: HashMap<(&str, u32), &str> = new.iter().map(|(k, v)| (*k, *v)).collect();
    let then: HashMap<(&str, u32), &str> = old.iter().map(|(k, v)| (*k, *v)).collect();
    for (k, was) in old.iter().filter(|(k, _)| !k.0.is_empty()) {
        let was_shown = clip(was.as_bytes());
        match now.get(k) {
            Some(is) if is == was => {}
            Some(is) => {
                let what = What::Changed { before: was_shown, after: clip(is.as_bytes()) };
                out.push(Change::new(path, &clip(k.0.as_bytes()), what));
            }
            None => out.push(Change::new(path, &clip(k.0.as_bytes()), What::Vanished { before: was_shown })),
        }
    }
    for (k, is) in new.iter().filter(|(k, _)| !k.0.is_empty() && !then.contains_key(k)) {
        let what = What::Appeared { after: clip(is.as_bytes()) };
        out.push(Change::new(path, &clip(k.0.as_bytes()), what));
    }
}

type Numbered<'t> = Vec<((&'t str, u32), &'t str)>;

fn numbered<'t>(pieces: impl Iterator<Item = (&'t str, &'t str)>) -> Numbered<'t> {
    let mut seen: HashMap<&str, u32> = HashMap::new();
    pieces
        .map(|(key, value)| {
            let n = seen.entry(key).or_default();
            *n += 1;
            ((key, *n), value)
        })
        .collect()
}

/// What a line is about: the words before `:` or `=`, else its first word. The marks of mlxconfig's tables are no words.
fn key(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix('*').map_or(line, str::trim_start);
    let line = line.strip_prefix("RO ").map_or(line, str::trim_start);
    // XML: the name of the element.
    if let Some(rest) = line.strip_prefix('<') {
        return rest.split(['>', ' ']).next().unwrap_or(rest);
    }
    let end = line
        .find([':', '='])
        .filter(|at| line.get(at + 1..).is_some_and(|r| r.is_empty() || r.starts_with([' ', '\t'])));
    match end {
        Some(at) => line.get(..at).unwrap_or(line).trim_end(),
        // A column ends with two blanks; what has none is a list of words.
        None => match line.split_once("  ") {
            Some((head, _)) if !head.contains('=') => head,
            _ => line.split([' ', '\t', '=']).next().unwrap_or(line),
        },
    }
}

/// Text of bytes, in one line and not too long.
pub(super) fn clip(bytes: &[u8]) -> String {
    clip::bytes(bytes, SHOWN).replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_keys() {
        for (line, want) in [
            ("cpu MHz\t\t: 2400.0", "cpu MHz"),
            ("Max locked memory         8388608      8388608     bytes", "Max locked memory"),
            ("*        ATS_ENABLED        False(0)  True(1)", "ATS_ENABLED"),
            ("   RO    NUM_OF_VFS     0", "NUM_OF_VFS"),
            ("nvidia_peermem 16384 0 - Live 0x0", "nvidia_peermem"),
            ("  <gpu_temp>41 C</gpu_temp>", "gpu_temp"),
            ("options nvidia NVreg_X=1", "options"),
            ("", ""),
        ] {
            assert_eq!(key(line), want, "{line}");
        }
    }
}
