//! A second look at lines that fit no program's grammar: loggers, launchers and tickets dress lines in more ways than are known. The message behind a
//! dress that is not known may still be one that a program prints, from its first word on.
//!
//! What is found so is never asserted, and counts only where nothing else was found: see `conclude`.

use super::Observer;
use super::groups::Seen;
use super::keys::Setting;
use crate::place::Place;
use aho_corasick::AhoCorasick;
use linerate_formats::printed;
use std::sync::LazyLock;

/// Lines that are looked at twice, in all inputs.
const MAX: u32 = 5_000;
/// Tags and names before a message.
const MAX_TAGS: usize = 8;
/// Longest line that is taken apart.
const MAX_LINE: usize = 8 << 10;
/// Blanks in a row where a terminal's lines were joined.
const JOINED: &str = "    ";
/// Within a line of PyTorch's watchdog.
const WATCHDOG: &str = "exception: NCCL error: ";

impl Observer {
    /// Looks at the pieces of a line that fits no program's grammar. Whether it was taken apart, which costs much.
    pub(super) fn look_again(&mut self, place: Place, line: &str) -> bool {
        if self.is_second || self.seconds >= MAX {
            return false;
        }
        let is_plain = is_plain(line.trim());
        let found = if is_plain { Vec::new() } else { pieces(line) };
        let setting = setting(line);
        if found.is_empty() && setting.is_none() {
            return !is_plain;
        }
        self.seconds += 1;
        let files = &self.files;
        let second = self.second.get_or_insert_with(|| {
            let mut second = Box::new(Observer { is_second: true, ..Observer::default() });
            for f in files {
                second.open(&f.name);
            }
            second
        });
        if let Some((name, value)) = setting {
            let key = Setting { name: second.names.id(name), value: second.names.id(value) };
            second.settings.add(key, &Seen { place, text: line, stamp: None, process: None, rank: None, host: None });
        }
        for piece in found {
            second.line(place, piece);
        }
        true
    }
}

/// What of a line may be a program's message: behind each of its tags, behind the words of an exception, and each of several lines that were joined.
/// Nothing of a sentence: what somebody says about a message is no message.
fn pieces(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    // Nor of a table.
    if line.len() > MAX_LINE || line.trim_end().ends_with('|') {
        return out;
    }
    for part in line.split(JOINED).flat_map(by_clocks).map(str::trim).filter(|p| p.len() > 8) {
        if part.len() < line.trim().len() {
            out.push(part);
        }
        out.extend(whole_quote(part));
        out.extend(reported(part));
        // The watchdog's line, cut at its beginning.
        out.extend(part.split_once(WATCHDOG).and_then(|(before, _)| part.get(before.len() + 11..)));
        // Markdown's mark of a title. What somebody quotes is left.
        let mut text = part.strip_prefix("# ").unwrap_or(part).trim_start();
        for _ in 0..MAX_TAGS {
            if text.len() < part.len() {
                out.push(text);
            }
            let Some(rest) = behind(text) else { break };
            text = rest;
        }
    }
    out.retain(|p| printed::own(p).text.len() > 8);
    out.dedup();
    out
}

/// Whether it is clear without a search that a line has no pieces: no tag, no quote and nothing that was joined.
fn is_plain(text: &str) -> bool {
    static JOINTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new([JOINED, WATCHDOG, "["]).ok());
    let begins = text.starts_with(['"', '*', '#', '(']);
    let joined = || JOINTS.as_ref().is_none_or(|j| j.is_match(text));
    text.is_ascii() && !begins && behind(text).is_none() && !joined()
}

/// The kernel's lines that were joined to one: each begins with its clock (`dmesg -T`), `[Sat Feb  6 16:51:55 2021] `.
fn by_clocks(line: &str) -> Vec<&str> {
    const DAYS: &[&str] = &["[Mon ", "[Tue ", "[Wed ", "[Thu ", "[Fri ", "[Sat ", "[Sun "];
    let is_clock = |rest: &str| {
        let inside = rest.get(1..).and_then(|r| r.split_once("] ")).map_or("", |(inside, _)| inside);
        inside.len() < 32 && inside.bytes().filter(|b| *b == b':').count() == 2
    };
    let mut starts: Vec<usize> = DAYS.iter().flat_map(|d| line.match_indices(d)).map(|(at, _)| at).collect();
    starts.retain(|at| line.get(*at..).is_some_and(is_clock));
    starts.sort_unstable();
    if starts.is_empty() {
        return vec![line];
    }
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| line.get(*start..end)).collect()
}

/// A line that is nothing but a quote: `"…"`, `**…**`, `"**…**".`
fn whole_quote(text: &str) -> Option<&str> {
    let text = text.trim_end_matches('.');
    let inner = [("\"**", "**\""), ("**\"", "\"**"), ("**", "**"), ("\"", "\""), ("“", "”")]
        .iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close))?;
    (!inner.contains(['"', '*', '“'])).then_some(inner)
}

/// What follows the words for "reports the error" of a script without spaces, to the end of the line.
fn reported(text: &str) -> Option<&str> {
    let rest = ["报错", "错误"].iter().find_map(|w| text.split_once(w)).map(|(_, rest)| rest)?;
    let rest = rest.trim_start_matches([':', ':', ' ']);
    rest.is_ascii().then_some(rest)
}

/// What follows the first tag: `[…] `, `(…) `, `name: `, `LEVEL `, `file.c:63 `.
fn behind(text: &str) -> Option<&str> {
    let close = match text.bytes().next()? {
        b'[' => Some(']'),
        b'(' => Some(')'),
        _ => None,
    };
    let rest = match close {
        Some(c) => text.split_once(c)?.1,
        None => {
            let (word, rest) = text.split_once(' ')?;
            // A tag is a level, a place, a name with its colon, a time; a sentence begins with a word.
            let level = word.len() >= 4 && word.bytes().all(|b| b.is_ascii_uppercase());
            let named = word.len() > 1 && word.ends_with(':');
            let place = word.contains(['.', '/']) && word.bytes().any(|b| b == b':') || word.contains("()");
            let number = word.bytes().any(|b| b.is_ascii_digit()) && !word.bytes().any(|b| b.is_ascii_lowercase());
            let mark = word.bytes().all(|b| matches!(b, b':' | b'='));
            // `Error (gpu_burn.cpp:298): `
            let error = matches!(word, "Error" | "error" | "ERROR" | "Exception") && rest.starts_with('(');
            // `nvidia-peer-memory-dkms_1.2-0_all.deb : `
            let file = word.contains('.') && word.bytes().any(|b| b.is_ascii_digit()) && rest.starts_with(": ");
            (level || named || place || number || mark || error || file).then_some(rest)?
        }
    };
    Some(rest.trim_start_matches([':', ' ', '\t', '-', '|']))
}

/// A variable of NCCL and its value, where a line is nothing but such an assignment: what `env` prints, Python's `os.environ`, JSON. A shell's `export` is
/// a command, which may be meant for another day.
fn setting(line: &str) -> Option<(&str, &str)> {
    let mut text = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\''));
    text = text.strip_prefix("os.environ[").map_or(text, |rest| rest.trim_start_matches(['"', '\'']));
    let end = text.bytes().position(|b| !(b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'))?;
    let (name, rest) = text.split_at_checked(end).filter(|(n, _)| n.starts_with("NCCL_") && n.len() > 6)?;
    let rest = rest.trim_start_matches(['"', '\'', ']']).trim_start();
    let value = rest.strip_prefix(['=', ':'])?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';')).unwrap_or(value.len());
    let (value, rest) = value.split_at_checked(end)?;
    // Nothing behind it: a command's settings hold for that command, and a sentence goes on.
    let ends = rest.trim_matches(['"', '\'', '`', ',', ';', ' ', '\r']).is_empty();
    (!value.is_empty() && value.len() < 200 && ends).then_some((name, value.trim_end_matches(',')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_stand_behind_tags() {
        for (line, want) in [
            ("[component_container-1] [ERROR] Your driver is old.", "Your driver is old."),
            ("  what():  Error (gpu_burn-drv.cpp:298): system not yet initialized", "system not yet initialized"),
            (
                "[r1:27563:0:27563] rc_verbs_iface.c:63   FATAL: send completion with error",
                "send completion with error",
            ),
            ("# misc/ibvwrap.cc:278 NCCL WARN Call to x failed", "misc/ibvwrap.cc:278 NCCL WARN Call to x failed"),
            ("Last error:        NET/IB : Got completion      Exception raised", "NET/IB : Got completion"),
        ] {
            assert!(pieces(line).contains(&want), "{line}: {:?}", pieces(line));
        }
    }

    proptest! {
        #[test]
        fn what_is_plain_has_no_pieces(words in prop::collection::vec("[a-zA-Z0-9:.=/()\\[\\]\"*# -]{0,9}| {1,5}|\\[Mon |exception: NCCL error: |file\\.c:63|报错", 0..9)) {
            let line = words.join(" ");
            prop_assert!(!is_plain(line.trim()) || pieces(&line).is_empty(), "{line}");
        }
    }

    #[test]
    fn assignments_are_settings() {
        for (line, want) in [
            ("`os.environ[\"NCCL_NET\"]=\"Socket\"`", Some(("NCCL_NET", "Socket"))),
            ("export NCCL_IB_DISABLE=1", None),
            ("NCCL_IB_DISABLE=1", Some(("NCCL_IB_DISABLE", "1"))),
            ("  \"NCCL_P2P_DISABLE\": \"1\",", Some(("NCCL_P2P_DISABLE", "1"))),
            ("NCCL_P2P_DISABLE=1 python train.py", None),
            ("NCCL_P2P_DISABLE=1 is what helps", None),
            ("NCCL_DEBUG", None),
            ("We set NCCL_P2P_DISABLE=1", None),
            ("", None),
        ] {
            assert_eq!(setting(line), want, "{line}");
        }
    }

    #[test]
    fn sentences_have_none() {
        for line in [
            "We saw system not yet initialized on Monday",
            "If you see `NCCL WARN Call to x failed` then read on.",
            "Timeout at NCCL work is what one gets",
            "",
            "[",
            "(((((((((",
            "a: b: c: d:",
        ] {
            assert_eq!(
                pieces(line).into_iter().filter(|p| p.len() > 20).collect::<Vec<_>>(),
                Vec::<&str>::new(),
                "{line}"
            );
        }
    }
}
