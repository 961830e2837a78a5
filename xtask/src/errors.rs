//! Errors of the crates are types: no function answers `Result<_, String>`. docs/decisions/errors.md says why.

use crate::shell;

/// The error type of each `Result<…>` in a line, and of `type Err = …`.
fn error_types(line: &str) -> impl Iterator<Item = &str> {
    let results = line.match_indices("Result<").filter_map(|(at, word)| last_argument(line.get(at + word.len()..)?));
    results.chain(line.trim_start().strip_prefix("type Err = ").and_then(|rest| rest.strip_suffix(';')))
}

/// The last of two arguments of a type, from behind its `<`; `None` where there is one, or the line ends before them.
fn last_argument(rest: &str) -> Option<&str> {
    let (mut depth, mut comma) = (0_u32, None);
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' if depth == 0 => return rest.get(comma?..at).map(str::trim),
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => comma = Some(at + 1),
            _ => {}
        }
        before = c;
    }
    None
}

/// Lines of a file outside of its tests that have such an error.
fn found(text: &str) -> impl Iterator<Item = usize> {
    let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    own.lines().enumerate().filter(|(_, l)| error_types(l).any(|e| e == "String")).map(|(n, _)| n + 1)
}

#[test]
fn no_error_is_a_string() {
    let crates = shell::root().join("crates");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&crates).unwrap().map(|e| e.unwrap()) {
        let mut all = Vec::new();
        let own = |name: &str, is_dir: bool| is_dir || name.ends_with(".rs") && name != "tests.rs";
        shell::files(&entry.path().join("src"), &own, &mut all);
        for file in all {
            let text = std::fs::read_to_string(&file).unwrap();
            let file = file.strip_prefix(&crates).unwrap().display().to_string();
            wrong.extend(found(&text).map(|line| format!("{file}:{line}")));
        }
    }
    assert!(wrong.is_empty(), "errors that are String:\n{}", wrong.join("\n"));
}

#[test]
fn errors_that_are_strings_are_found() {
    for (line, is_string) in [
        ("pub fn a() -> Result<u8, String> {", true),
        ("fn a(b: &str) -> Option<Result<Vec<(f64, u8)>, String>> {", true),
        ("    Reply(Result<Reply, String>),", true),
        (") -> Result<HashMap<String, fn(u8) -> u8>, String>", true),
        ("    type Err = String;", true),
        ("fn a() -> Result<BTreeMap<String, String>, Why> {", false),
        ("fn a() -> Result<String, Why> {", false),
        ("fn a() -> io::Result<String> {", false),
        ("fn a() -> Result<(String, String)> {", false),
    ] {
        assert_eq!(error_types(line).any(|e| e == "String"), is_string, "{line}");
    }
    assert_eq!(
        found("fn a() -> Result<u8, String> {}\n#[cfg(test)]\nmod tests {\n    fn b() -> Result<u8, String> {}\n}")
            .count(),
        1
    );
}
