//! What is printed of any bytes, looked at as its reader sees it.

/// Nothing in it drives a terminal, reorders text, or hides. Line ends may be there, and what else its form takes as it is.
pub(crate) fn inert(page: &[u8], taken: &[char]) {
    let hidden = |c: &char| linerate_out::hidden(*c) && *c != '\n' && !taken.contains(c);
    let found = String::from_utf8_lossy(page).chars().find(hidden);
    assert_eq!(found, None, "a character that nobody sees reached the page");
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn what_hides_is_found_and_what_the_form_takes_is_not() {
        inert("a\tline – of\nwords".as_bytes(), &['\t']);
        for hidden in ["\x1b[2J", "\t", "\u{202e}", "\u{34f}", "\u{feff}"] {
            let page = format!("a{hidden}b");
            assert!(std::panic::catch_unwind(|| inert(page.as_bytes(), &[])).is_err(), "{hidden:?}");
        }
    }
}
