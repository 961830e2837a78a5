//! Patterns with wildcards, for whole names and texts. The only matcher of the project: a path's pattern is matched name by name with it.
//!
//! Two forms. [`star`]: `*` is any run of bytes, every other byte is itself (patterns of our own, which must not change their
//! meaning when a name holds a bracket). [`glob`]: glob(7), as systemd, udev and tmpfiles.d read it: also `?`, `[abc]`, `[a-z]`, `[!a]`, `\*`.
//! Neither treats `/` specially. Time is at most the product of both lengths, and no pattern recurses.

/// Whether the whole name fits, where `*` is any run of bytes.
#[must_use]
pub fn star(pattern: &[u8], name: &[u8]) -> bool {
    fits(pattern, name, |p, byte| match p.split_first() {
        Some((want, rest)) if Some(*want) == byte => Some(rest),
        _ => None,
    })
}

/// Whether the whole name fits a pattern of glob(7). A bracket that is not closed is itself.
#[must_use]
pub fn glob(pattern: &[u8], name: &[u8]) -> bool {
    fits(pattern, name, |p, byte| {
        let byte = byte?;
        match p {
            [b'?', rest @ ..] => Some(rest),
            [b'\\', want, rest @ ..] => (*want == byte).then_some(rest),
            [b'[', class @ ..] => match set(class, byte) {
                Some((within, rest)) => within.then_some(rest),
                None => (byte == b'[').then_some(class),
            },
            [want, rest @ ..] => (*want == byte).then_some(rest),
            [] => None,
        }
    })
}

/// Whether a byte is in the set that begins behind `[`, and what follows the set; `None` where it has no end.
fn set(class: &[u8], byte: u8) -> Option<(bool, &[u8])> {
    let (inverted, members) = match class {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    // A `]` that comes first is a member.
    let end = 1 + members.get(1..)?.iter().position(|b| *b == b']')?;
    let (mut members, rest) = (members.get(..end)?, members.get(end + 1..)?);
    let mut within = false;
    while let Some((first, others)) = members.split_first() {
        if let [b'-', last, others @ ..] = others {
            within |= (*first..=*last).contains(&byte);
            members = others;
        } else {
            within |= *first == byte;
            members = others;
        }
    }
    Some((within != inverted, rest))
}

/// Matches with a memory of the last `*` alone: a later `*` makes every earlier choice final. `one` takes a byte off the pattern, and says what is left of that.
fn fits(pattern: &[u8], name: &[u8], one: impl for<'p> Fn(&'p [u8], Option<u8>) -> Option<&'p [u8]>) -> bool {
    let (mut p, mut n) = (pattern, name);
    let mut last: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', rest @ ..] = p {
            p = rest;
            last = Some((rest, n));
            continue;
        }
        if p.is_empty() && n.is_empty() {
            return true;
        }
        if let Some(rest) = one(p, n.first().copied()) {
            p = rest;
            n = n.get(1..).unwrap_or_default();
            continue;
        }
        // The last star takes one byte more.
        match last {
            Some((behind, [_, longer @ ..])) => {
                (p, n) = (behind, longer);
                last = Some((behind, longer));
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars() {
        for (pattern, name, want) in [
            ("", "", true),
            ("", "a", false),
            ("a", "", false),
            ("*", "", true),
            ("*", "any/thing", true),
            ("a*b*c", "aXXbYYc", true),
            ("a*b*c", "aXXbYY", false),
            ("a*a", "a", false),
            ("*ab", "aab", true),
            ("**x", "x", true),
            ("[a]", "[a]", true),
            ("[a]", "a", false),
            ("a?", "ab", false),
        ] {
            assert_eq!(star(pattern.as_bytes(), name.as_bytes()), want, "{pattern} {name}");
        }
    }

    #[test]
    fn globs() {
        for (pattern, name, want) in [
            ("eth?", "eth0", true),
            ("eth?", "eth", false),
            ("en[op]*", "enp1s0", true),
            ("en[op]*", "ens1", false),
            ("en[!op]*", "ens1", true),
            ("cpu[0-9]", "cpu7", true),
            ("cpu[0-9]", "cpux", false),
            ("cpu[0-9]*/x", "cpu12/x", true),
            ("[]a]", "]", true),
            ("[a", "[a", true),
            ("[a-]", "-", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("[!]", "!", false),
        ] {
            assert_eq!(glob(pattern.as_bytes(), name.as_bytes()), want, "{pattern} {name}");
        }
    }

    /// A pattern that makes naive matchers try every split.
    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(50) + "b";
        assert!(!star(pattern.as_bytes(), "a".repeat(5000).as_bytes()));
        assert!(!glob(pattern.as_bytes(), "a".repeat(5000).as_bytes()));
    }

    /// Without brackets and question marks both say the same, and what the definition by all splits says.
    #[test]
    fn as_by_definition() {
        fn split(pattern: &[u8], name: &[u8]) -> bool {
            match pattern {
                [] => name.is_empty(),
                [b'*', rest @ ..] => (0..=name.len()).any(|at| split(rest, &name[at..])),
                [want, rest @ ..] => name.first() == Some(want) && split(rest, &name[1..]),
            }
        }
        let words = |letters: &[u8], longest: u32| -> Vec<Vec<u8>> {
            let base = letters.len();
            let all = (0..=longest).flat_map(|len| (0..base.pow(len)).map(move |i| (i, len)));
            all.map(|(i, len)| (0..len).map(|k| letters[i / base.pow(k) % base]).collect()).collect()
        };
        for pattern in words(b"ab*", 5) {
            for name in words(b"ab", 4) {
                let want = split(&pattern, &name);
                assert_eq!(star(&pattern, &name), want, "{pattern:?} {name:?}");
                assert_eq!(glob(&pattern, &name), want, "{pattern:?} {name:?}");
            }
        }
    }
}
