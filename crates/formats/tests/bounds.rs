//! The page of limits says what the code holds to. `UPDATE_PAGE=1 cargo test -p linerate-formats --test bounds` writes its table again.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

use linerate_formats::bounds::ALL;
use std::path::Path;

const BEGIN: &str = "<!-- limits: made by crates/formats/tests/bounds.rs -->\n";
const END: &str = "<!-- end of limits -->\n";

/// A value, in the largest unit that it is a whole number of.
fn value(n: u64) -> String {
    match [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")]
        .into_iter()
        .find(|(shift, _)| n.is_multiple_of(1 << shift) && n > 0)
    {
        Some((shift, unit)) if n >= 1 << 20 || unit != "KiB" => format!("{} {unit}", n >> shift),
        _ => n.to_string(),
    }
}

fn table() -> String {
    let mut out = "| limit | value | what it bounds | beyond it |\n|---|---|---|---|\n".to_owned();
    for b in ALL {
        out += &format!("| `{}` | {} | {} | {} |\n", b.name, value(b.value), b.what, b.beyond);
    }
    out
}

#[test]
fn the_page_lists_the_limits_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security/bound.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap_or_else(|| panic!("no table in {}", path.display()));
    let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("no end of the table in {}", path.display()));
    let wanted = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_PAGE").is_some() {
        std::fs::write(&path, wanted).unwrap();
        return;
    }
    assert_eq!(
        page, wanted,
        "docs/security/bound.md is stale: UPDATE_PAGE=1 cargo test -p linerate-formats --test bounds"
    );
}

#[test]
fn each_limit_is_named_once_and_says_what_happens_beyond_it() {
    for (i, b) in ALL.iter().enumerate() {
        assert!(b.value > 0 && !b.what.is_empty() && !b.beyond.is_empty(), "{b:?}");
        assert!(ALL.iter().skip(i + 1).all(|o| o.name != b.name), "{b:?}");
    }
}
