//! Values of the running kernel.

use super::{Done, Look, Made, Root, Undo, Wrong, unexpected};
use crate::journal::Seen;

/// What a file of the kernel shows: of a choice, the marked word.
fn shown(text: &str) -> &str {
    let marked = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    marked.unwrap_or(text.trim())
}

/// Whether the kernel shows the value: letters and spaces as they are, one space for several, or for a tab (`tcp_rmem`).
pub(crate) fn shows(text: &str, value: &str) -> bool {
    let words = |t: &str| t.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    words(text) == words(value) || words(shown(text)) == words(shown(value))
}

fn read(root: &Root, path: &str) -> Done<String> {
    if !path.starts_with("/sys/") && !path.starts_with("/proc/sys/") {
        return Err(Wrong::failed(format!(
            "{path} is no value of the kernel: only what is under /sys and /proc/sys is"
        )));
    }
    let there = root.read(path, 1 << 16)?;
    let there = there.ok_or_else(|| Wrong::new("stale", format!("{path} is not there: make a new plan")))?;
    Ok(String::from_utf8_lossy(&there.bytes).trim().to_owned())
}

pub(super) fn before(root: &Root, path: &str, expected: &str) -> Done<Seen> {
    let now = read(root, path)?;
    if !shows(&now, expected) {
        let what = format!("{path}: the plan expects {expected:?}, there is {now:?}: make a new plan");
        return Err(Wrong::new("stale", what));
    }
    Ok(Seen::Value { value: shown(&now).to_owned() })
}

/// Whether the kernel shows one value and not the other. What is not there shows neither.
pub(crate) fn shows_only(root: &Root, path: &str, value: &str, other: &str) -> Done<bool> {
    let now = root.read(path, 1 << 16)?.map(|there| String::from_utf8_lossy(&there.bytes).into_owned());
    Ok(now.is_some_and(|now| shows(&now, value) && !shows(&now, other)))
}

pub(super) fn make(root: &Root, path: &str, value: &str) -> Done<Made> {
    root.set_value(path, shown(value))?;
    let now = read(root, path)?;
    if !shows(&now, value) {
        return Err(Wrong::failed(format!("{path}: the kernel took {value:?} and shows {now:?}")));
    }
    Ok(Made { after: Seen::Value { value: shown(&now).to_owned() }, output: None })
}

pub(super) fn stands(root: &Root, path: &str, after: &str, before: &Seen) -> Done<Look> {
    let now = read(root, path)?;
    if shows(&now, after) {
        return Ok(Look::After(Seen::Value { value: shown(&now).to_owned() }));
    }
    Ok(match before {
        Seen::Value { value } if shows(&now, value) => Look::Before,
        _ => Look::Other(format!("{path} is {now:?}, neither as before nor as planned")),
    })
}

pub(super) fn undo(root: &Root, path: &str, set: &str, before: &Seen, same_boot: bool) -> Done<Undo> {
    let Seen::Value { value: old } = before else {
        return Err(Wrong::new("journal", "the journal has no value where the plan has one"));
    };
    let now = match read(root, path) {
        Err(_) if !same_boot => return Ok(Undo::Back(format!("{path} is gone since the boot"))),
        now => now?,
    };
    if shows(&now, old) {
        return Ok(Undo::Back(format!("{path} is {old} already")));
    }
    if !shows(&now, set) {
        if !same_boot {
            return Ok(Undo::Back(format!("{path} did not outlive the boot: it is {now:?}")));
        }
        return Err(unexpected(format!("{path} is {now:?}, neither as linerate left it nor as it was")));
    }
    make(root, path, old)?;
    Ok(Undo::Back(format!("{path} is {old} again")))
}

/// Puts the value back after an attempt that failed, whatever the kernel made of it.
pub(super) fn put_back(root: &Root, path: &str, before: &Seen) -> Done<()> {
    match before {
        Seen::Value { value } if shows(&read(root, path)?, value) => Ok(()),
        Seen::Value { value } => make(root, path, value).map(|_| ()),
        _ => Err(Wrong::new("journal", "the journal has no value where the plan has one")),
    }
}

#[cfg(test)]
mod tests {
    use super::{shown, shows};

    #[test]
    fn the_marked_word_of_a_choice() {
        assert_eq!(shown("always [madvise] never"), "madvise");
        assert_eq!(shown("[none]"), "none", "a choice of one");
        assert!(shows("always [madvise] never\n", "madvise") && shows("always [madvise] never", "[madvise]"));
        assert!(shows("4096\t131072\t6291456", "4096 131072 6291456"));
        assert!(!shows("always [madvise] never", "always"));
    }
}
