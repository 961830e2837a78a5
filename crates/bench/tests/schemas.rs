//! The schemas list the kinds that there are. `UPDATE_PAGE=1 cargo test -p linerate-bench --test all schemas::` writes the lists again.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_bench::Kind;
use std::path::Path;

/// The text with the kinds in every list of kinds: one name a line, from the first kind to the last.
fn with_kinds(text: &str) -> String {
    let (first, last) = (format!("\"{}\"", Kind::ALL[0]), format!("\"{}\"", Kind::Series));
    let (mut out, mut in_list) = (String::new(), false);
    for line in text.split_inclusive('\n') {
        let name = line.trim().trim_end_matches(',');
        if name == first {
            in_list = true;
            let indent = line.find('"').unwrap_or_default();
            out.extend(Kind::ALL.iter().map(|k| format!("{:indent$}\"{k}\",\n", "")));
        }
        if !in_list {
            out += line;
        }
        if in_list && name == last {
            in_list = false;
            if !line.trim_end().ends_with(',') {
                out.truncate(out.len() - 2);
                out.push('\n');
            }
        }
    }
    out
}

#[test]
fn schemas_list_every_kind() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let mut lists = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let wanted = with_kinds(&text);
        lists += usize::from(text.contains("\"nccl-tests\","));
        if std::env::var_os("UPDATE_PAGE").is_some() && wanted != text {
            std::fs::write(&path, &wanted).unwrap();
            continue;
        }
        assert_eq!(text, wanted, "{}: UPDATE_PAGE=1 cargo test -p linerate-bench --test all schemas::", path.display());
    }
    assert!(lists > 0);
}
