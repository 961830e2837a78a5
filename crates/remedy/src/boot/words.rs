//! Words of the kernel's command line that may go into files and argument lists.

use super::BootError;

/// The longest word that is taken. The kernel's whole line holds 2 KiB on x86 and arm64 (`COMMAND_LINE_SIZE`).
const MAX_WORD: usize = 1024;

/// Whether a word may be written: no white space, quotes, `$`, backslash, backquote, glob or anything else that a shell, GRUB's parser or an
/// argument list could take for more than itself. Of what those give a meaning only `;` is allowed, and that is quoted.
///
/// # Errors
/// It is none of these, or too long.
pub fn check(word: &str) -> Result<(), BootError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_.,:=@/+;%-".contains(&b);
    // A word that begins with `-` would be an option of `grubby`, and `--` ends the kernel's own arguments.
    let begins = word.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    if begins && word.len() <= MAX_WORD && word.bytes().all(fits) {
        return Ok(());
    }
    let shown: String = word.chars().take(60).flat_map(char::escape_default).collect();
    Err(BootError::Word(shown))
}

/// The word as GRUB's parser has to see it: `;` ends a command there, so the value is quoted: `pci="config_acs=…;…"`. Where a loader hands the
/// quotes on, the kernel takes them off itself when they stand right behind the first `=`.
#[must_use]
pub fn for_grub(word: &str) -> String {
    if !word.contains(';') {
        return word.to_owned();
    }
    match word.split_once('=') {
        Some((name, value)) if !name.contains(';') => format!("{name}=\"{value}\""),
        _ => format!("\"{word}\""),
    }
}

/// All ways in which a word may stand in a file that GRUB's tools read: bare, or quoted from any `=` on.
#[must_use]
pub fn spellings(word: &str) -> Vec<String> {
    let mut out = vec![word.to_owned(), format!("\"{word}\""), format!("'{word}'")];
    for (at, _) in word.match_indices('=') {
        if let Some((head, tail)) = word.split_at_checked(at + 1) {
            out.push(format!("{head}\"{tail}\""));
            out.push(format!("{head}'{tail}'"));
        }
    }
    out
}

/// A word of a line in GRUB's syntax, or in the kernel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// As it is written.
    pub(crate) raw: &'a str,
}

impl Piece<'_> {
    /// Without its quotes and backslashes.
    pub(crate) fn bare(&self) -> String {
        let (mut out, mut quote, mut escaped) = (String::new(), None, false);
        for c in self.raw.chars() {
            match (escaped, quote, c) {
                (true, ..) => {
                    out.push(c);
                    escaped = false;
                }
                (_, None | Some('"'), '\\') => escaped = true,
                (_, None, '"' | '\'') => quote = Some(c),
                (_, Some(q), c) if q == c => quote = None,
                _ => out.push(c),
            }
        }
        out
    }
}

/// Splits a line into words, quotes respected; `None` where a quote is not closed or the line goes on in the next.
pub(crate) fn split(line: &str) -> Option<Vec<Piece<'_>>> {
    let (mut out, mut start, mut quote, mut escaped) = (Vec::new(), None, None, false);
    for (at, c) in line.char_indices() {
        if c.is_ascii_whitespace() && quote.is_none() && !escaped {
            if let Some(s) = start.take() {
                out.push(Piece { raw: line.get(s..at)? });
            }
            continue;
        }
        start.get_or_insert(at);
        match (escaped, quote, c) {
            (true, ..) => escaped = false,
            (_, None | Some('"'), '\\') => escaped = true,
            (_, None, '"' | '\'') => quote = Some(c),
            (_, Some(q), c) if q == c => quote = None,
            _ => {}
        }
    }
    if quote.is_some() || escaped {
        return None;
    }
    if let Some(s) = start {
        out.push(Piece { raw: line.get(s..)? });
    }
    Some(out)
}

/// The words of a line without those that go, and with those that come, each once and last. `quoted`: for GRUB's parser.
pub(crate) fn edited(pieces: &[Piece<'_>], add: &[String], remove: &[String], quoted: bool) -> Vec<String> {
    let goes = |p: &Piece<'_>| {
        let bare = p.bare();
        remove.contains(&bare) || add.contains(&bare)
    };
    let stay = pieces.iter().filter(|p| !goes(p)).map(|p| p.raw.to_owned());
    stay.chain(add.iter().map(|w| if quoted { for_grub(w) } else { w.clone() })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_words_that_mean_themselves() {
        for good in [
            "iommu=pt",
            "pci=config_acs=xx000x0@0000:41:00.0;xx000x0@0000:42:00.0",
            "nvme.poll_queues=4",
            "isolcpus=managed_irq,0-3",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in [
            "", "a b", "a\tb", "a\nb", "$(id)", "`id`", "a'b", "a\"b", "a\\b", "a*", "a?", "a&b", "a|b", "a>b", "{a}",
            "#a", "-a", "--", "ä", "a!b", "a~", "\u{0}",
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
        assert!(check(&"a".repeat(2000)).is_err());
    }

    #[test]
    fn words_are_split_as_grub_does() {
        let pieces = split("linux\t/vmlinuz  a=\"b c\" d\\ e 'f g' pci=\"config_acs=x;y\"").expect("closed");
        let bare: Vec<String> = pieces.iter().map(Piece::bare).collect();
        assert_eq!(bare, ["linux", "/vmlinuz", "a=b c", "d e", "f g", "pci=config_acs=x;y"]);
        assert_eq!(split("a \"b"), None);
        assert_eq!(split("a \\"), None);
    }

    proptest! {
        #[test]
        fn a_word_survives_quoting(word in "[a-z][a-z0-9=;,.:@-]{0,20}", line in "([a-z=]{1,6} ){0,5}") {
            let written = format!("{line}{}", for_grub(&word));
            let last = split(&written).and_then(|p| p.last().map(Piece::bare));
            prop_assert_eq!(last, Some(word.clone()));
            prop_assert!(spellings(&word).contains(&for_grub(&word)));
        }

        #[test]
        fn splitting_never_panics_and_loses_nothing(line in any::<String>()) {
            if let Some(pieces) = split(&line) {
                let kept: String = pieces.iter().map(|p| p.raw).collect();
                let strip = |s: &str| s.chars().filter(|c| !c.is_ascii_whitespace()).collect::<String>();
                prop_assert_eq!(strip(&kept), strip(&line));
            }
        }

        #[test]
        fn each_added_word_is_there_once_and_no_removed_one(
            line in "([ab]=[xy;] |\"[ab]=[xy;]\" ){0,8}", add in prop::collection::btree_set("[ab]=[xy;]", 0..3), remove in prop::collection::btree_set("[ab]=[xy;]", 0..3),
        ) {
            let remove: Vec<String> = remove.difference(&add).cloned().collect();
            let add: Vec<String> = add.into_iter().collect();
            let text = edited(&split(&line).unwrap_or_default(), &add, &remove, true).join(" ");
            let bare: Vec<String> = split(&text).expect("closed").iter().map(Piece::bare).collect();
            for w in &add { prop_assert_eq!(bare.iter().filter(|b| *b == w).count(), 1); }
            for w in &remove { prop_assert!(!bare.contains(w)); }
        }
    }
}
