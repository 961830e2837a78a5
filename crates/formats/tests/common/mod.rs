//! What tests of pages share.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::path::Path;

/// Compares the table of a page below `docs/`, between two marks, with what the code says; with `UPDATE_PAGE` in the environment it is
/// written again. `test`: the module that asks.
pub(crate) fn hold_table(page: &str, marks: [&str; 2], table: &str, test: &str) {
    let [begin, end] = marks;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no table in {}", path.display()));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("no end of the table in {}", path.display()));
    let wanted = format!("{before}{begin}{table}{end}{after}");
    if std::env::var_os("UPDATE_PAGE").is_some() {
        std::fs::write(&path, wanted).unwrap();
        return;
    }
    assert_eq!(text, wanted, "docs/{page} is stale: UPDATE_PAGE=1 cargo test -p linerate-formats --test all {test}::");
}
