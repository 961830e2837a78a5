//! The page of texts says what is recognised. `UPDATE_PAGE=1 cargo test -p linerate-formats --test all tools::` writes its table again.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

use crate::common;

use linerate_formats::{Gives, Kind};

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
            Gives::Unknown => "benchmark, if no other type fits",
        };
        out += &format!("| `{}` | {} | `{}` | {used} |\n", tool.name, tool.called, tool.run);
    }
    out
}

#[test]
fn the_page_lists_the_texts_as_they_are() {
    common::hold_table("texts.md", [BEGIN, END], &table(), "tools");
}
