//! Data in comments, shell words and YAML scalars.

/// Text in a comment: one line, without characters that drive a terminal or hide others.
pub(super) fn comment(text: &str) -> String {
    text.chars().take(400).map(|c| if hidden(c) { ' ' } else { c }).collect()
}

/// Control characters, and those that change the direction or the width of others.
pub(super) fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// A word for a POSIX shell; `None`: it has a byte that no shell word can hold.
pub(super) fn shell_word(word: &str) -> Option<String> {
    if word.contains('\0') {
        return None;
    }
    let plain =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b':' | b',' | b'+' | b'@' | b'%');
    if !word.is_empty() && word.bytes().all(plain) {
        return Some(word.to_owned());
    }
    Some(format!("'{}'", word.replace('\'', "'\\''")))
}

/// Words for a POSIX shell.
pub(super) fn shell_words<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let quoted: Option<Vec<String>> = words.iter().map(|w| shell_word(w.as_ref())).collect();
    quoted.map(|w| w.join(" "))
}

/// A scalar of YAML 1.1 and 1.2 in double quotes.
pub(super) fn yaml_scalar(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            ' '..='~' => out.push(c),
            c if c as u32 <= 0xff => out.push_str(&format!("\\x{:02X}", c as u32)),
            c if c as u32 <= 0xffff => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push_str(&format!("\\U{:08X}", c as u32)),
        }
    }
    out.push('"');
    out
}
