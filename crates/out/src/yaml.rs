//! YAML 1.1 and 1.2.

use crate::quoted::quoted;

/// A scalar in double quotes, of ASCII characters only.
#[must_use]
pub fn scalar(text: &str) -> String {
    quoted(text, |out, c| match c {
        ' '..='~' => out.push(c),
        c if c as u32 <= 0xff => out.push_str(&format!("\\x{:02X}", c as u32)),
        c if c as u32 <= 0xffff => out.push_str(&format!("\\u{:04X}", c as u32)),
        c => out.push_str(&format!("\\U{:08X}", c as u32)),
    })
}
