//! The page of texts says what is recognised. `UPDATE_PAGE=1 cargo test -p linerate-formats --test tools` writes its table again.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

use linerate_formats::{Gives, Kind};
use std::path::Path;

const BEGIN: &str = "<!-- texts: made by crates/formats/tests/tools.rs -->\n";
const END: &str = "<!-- end of texts -->\n";

fn table() -> String {
    let mut out = "| name | text | to get it | used as |\n|---|---|---|---|\n".to_owned();
    for tool in Kind::ALL.iter().map(|k| k.tool()) {
        let used = match tool.gives {
            _ if !tool.words.is_empty() => "benchmark",
            Gives::Facts => "facts about the node",
            Gives::KernelLog => "facts about the node; log",
            Gives::Copy(_) => "facts about the node, as the file itself",
            Gives::NoFacts(_) => "no facts about the node",
            Gives::Unknown => "benchmark, where it is nothing else",
        };
        out += &format!("| `{}` | {} | `{}` | {used} |\n", tool.name, tool.called, tool.run);
    }
    out
}

#[test]
fn the_page_lists_the_texts_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/texts.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap_or_else(|| panic!("no table in {}", path.display()));
    let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("no end of the table in {}", path.display()));
    let wanted = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_PAGE").is_some() {
        std::fs::write(&path, wanted).unwrap();
        return;
    }
    assert_eq!(page, wanted, "docs/texts.md is stale: UPDATE_PAGE=1 cargo test -p linerate-formats --test tools");
}
