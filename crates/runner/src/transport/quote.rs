//! Words for a remote shell. `ssh` joins its arguments and hands them to the login shell of the other side, so each word is quoted.

/// A word as a shell reads it back unchanged: POSIX shells, bash, zsh and fish. Backslashes stand outside of the quotes, because fish
/// reads them inside. Not csh, whose quotes end at a line's end.
///
/// `None` for a word with a NUL, which no process can be given.
#[must_use]
pub fn quote(word: &str) -> Option<String> {
    if word.contains('\0') {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    // `=` begins an expansion of zsh, `-` and `%` mean something at the front for other readers; a quoted word is never wrong.
    if word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/' || c == '-' || c == '.')
        && word.chars().all(plain)
    {
        return Some(word.to_owned());
    }
    let mut out = String::with_capacity(word.len() + 2);
    out.push('\'');
    for c in word.chars() {
        match c {
            '\'' => out.push_str("'\\''"),
            '\\' => out.push_str("'\\\\'"),
            c => out.push(c),
        }
    }
    out.push('\'');
    Some(out)
}

/// A command line of quoted words.
#[must_use]
pub fn join(words: &[String]) -> Option<String> {
    let words: Option<Vec<String>> = words.iter().map(|w| quote(w)).collect();
    words.map(|w| w.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    #[test]
    fn in_words() {
        for (word, quoted) in [
            ("iperf3", "iperf3"),
            ("--port=5201", "--port=5201"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("a\\b", "'a'\\\\'b'"),
            ("$(reboot)", "'$(reboot)'"),
            ("=ls", "'=ls'"),
            ("~root", "'~root'"),
        ] {
            assert_eq!(quote(word).as_deref(), Some(quoted));
        }
        assert_eq!(quote("a\0b"), None);
        assert_eq!(join(&["a".into(), "b\0".into()]), None);
    }

    fn shells() -> Vec<&'static str> {
        let all = ["sh", "dash", "bash", "zsh", "fish"];
        all.into_iter().filter(|s| Command::new(s).args(["-c", "true"]).output().is_ok()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// What a shell hands to the program are the words that were quoted.
        #[test]
        fn shells_read_it_back(words in prop::collection::vec("[ -~\n\täß'\\\\$`\"!*]{0,12}", 1..6)) {
            let line = join(&words).unwrap();
            for shell in shells() {
                let script = format!("printf '%s|' {line}");
                let out = Command::new(shell).args(["-c", &script]).output().unwrap();
                let want: String = words.iter().map(|w| format!("{w}|")).collect();
                prop_assert_eq!(String::from_utf8_lossy(&out.stdout).into_owned(), want, "{} {}", shell, script);
            }
        }
    }
}
