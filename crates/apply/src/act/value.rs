//! Values of the running kernel.

use super::{ActDone, Done, Hands, Look, Made, Root, Texts, Undo, Wrong, unexpected};
use crate::journal::{Journal, Seen};
use linerate_remedy::ValueAct;

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
        return Err(Wrong::failed(format!("{path} is not a kernel value: only files under /sys and /proc/sys are")));
    }
    let there = root.read(path, 1 << 16)?;
    let there = there.ok_or_else(|| Wrong::new("stale", format!("{path} does not exist: make a new plan")))?;
    Ok(String::from_utf8_lossy(&there.bytes).trim().to_owned())
}

/// Whether the kernel shows one value and not the other. What is not there shows neither.
pub(crate) fn shows_only(root: &Root, path: &str, value: &str, other: &str) -> Done<bool> {
    let now = root.read(path, 1 << 16)?.map(|there| String::from_utf8_lossy(&there.bytes).into_owned());
    Ok(now.is_some_and(|now| shows(&now, value) && !shows(&now, other)))
}

fn seen(now: &str) -> Seen {
    Seen::Value { value: shown(now).to_owned() }
}

/// The value that was there before.
pub(super) fn old(before: &Seen) -> Done<&str> {
    match before {
        Seen::Value { value } => Ok(value),
        _ => Err(Wrong::new("journal", "the journal has no value where the plan has one")),
    }
}

/// Writes a value, and reads it.
fn set(root: &Root, path: &str, value: &str) -> Done<Made> {
    root.set_value(path, shown(value))?;
    let now = read(root, path)?;
    if !shows(&now, value) {
        return Err(Wrong::failed(format!("{path}: the kernel accepted {value:?} but shows {now:?}")));
    }
    Ok(Made { after: seen(&now), output: None })
}

/// What is there, where the plan expects it.
fn expected(root: &Root, ValueAct { path, before, .. }: &ValueAct) -> Done<Seen> {
    let now = read(root, path)?;
    if !shows(&now, before) {
        let what = format!("{path}: the plan expects {before:?}, but it is {now:?}: make a new plan");
        return Err(Wrong::new("stale", what));
    }
    Ok(seen(&now))
}

impl ActDone for ValueAct {
    fn check(&self, hands: &Hands<'_>, later: &mut Texts) -> Vec<Wrong> {
        let wrong = if later.contains_key(&self.path) { None } else { expected(hands.root, self).err() };
        later.insert(self.path.clone(), Some(self.after.clone()));
        wrong.into_iter().collect()
    }

    fn before(&self, hands: &Hands<'_>, _: &Journal, _: &str) -> Done<Seen> {
        expected(hands.root, self)
    }

    fn make(&self, hands: &Hands<'_>, _: &Journal, _: &Seen) -> Done<Made> {
        set(hands.root, &self.path, &self.after)
    }

    fn look(&self, hands: &Hands<'_>, _: &Journal, before: &Seen) -> Done<Look> {
        let (now, path) = (read(hands.root, &self.path)?, &self.path);
        Ok(match before {
            _ if shows(&now, &self.after) => Look::After(seen(&now)),
            Seen::Value { value } if shows(&now, value) => Look::Before,
            _ => Look::Other(format!("{path} is {now:?}, neither as before nor as planned")),
        })
    }

    fn undo(&self, hands: &Hands<'_>, _: &Journal, before: &Seen, _: Option<&Seen>, same_boot: bool) -> Done<Undo> {
        let (old, path) = (old(before)?, &self.path);
        let now = match read(hands.root, path) {
            Err(_) if !same_boot => return Ok(Undo::Back(format!("{path} is gone since the boot"))),
            now => now?,
        };
        if shows(&now, old) {
            return Ok(Undo::Back(format!("{path} is {old} already")));
        }
        if !shows(&now, &self.after) {
            if !same_boot {
                return Ok(Undo::Back(format!("{path} did not keep its value over the boot: it is {now:?}")));
            }
            return Err(unexpected(format!("{path} is {now:?}, neither as linerate left it nor as it was")));
        }
        set(hands.root, path, old)?;
        Ok(Undo::Back(format!("{path} is {old} again")))
    }

    /// Whatever the kernel made of it.
    fn put_back(&self, hands: &Hands<'_>, _: &Journal, before: &Seen) -> Done<()> {
        let old = old(before)?;
        if shows(&read(hands.root, &self.path)?, old) {
            return Ok(());
        }
        set(hands.root, &self.path, old).map(drop)
    }

    fn keeps(&self, seen: &Seen) -> bool {
        matches!(seen, Seen::Value { .. })
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
