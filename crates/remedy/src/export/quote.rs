//! Data in comments.

/// Text in a comment: one line, without characters that drive a terminal or hide others.
pub(super) fn comment(text: &str) -> String {
    let short: String = text.chars().take(400).collect();
    linerate_out::terminal(&short).into_owned()
}
