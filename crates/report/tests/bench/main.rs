//! What was measured, in every form.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

#[path = "../common/mod.rs"]
mod common;
mod compared;
mod imported;
mod made;
mod paged;
mod plotted;

use linerate_report::Style;
use std::io::{self, Write};

/// What a renderer writes.
pub(crate) fn text(render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    render(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn wide(width: usize) -> Style {
    Style { width, ..Style::default() }
}

/// No line is wider, none ends in a blank, nothing moves the cursor.
pub(crate) fn keeps_to(text: &str, width: usize) {
    for line in text.lines() {
        assert!(line.chars().count() <= width, "{} > {width}: {line}", line.chars().count());
        assert!(!line.ends_with(' '), "{line:?}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}
