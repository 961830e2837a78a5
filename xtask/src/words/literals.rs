//! String literals of a source file, with their lines, but for what only tests have.

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use std::iter::Peekable;
use syn::Lit;

type Tokens = Peekable<proc_macro2::token_stream::IntoIter>;

/// What users may read of a source file, each with its line: string literals, those of macros and attributes too, and comments that become
/// help. `is_help`: doc comments are.
pub(super) fn shown(source: &str, is_help: bool) -> Result<Vec<(usize, String)>, String> {
    let tokens: TokenStream = source.parse().map_err(|e| format!("not Rust: {e}"))?;
    let mut out = Vec::new();
    gather(tokens, is_help, &mut out);
    // Else the texts of all files are kept for their spans.
    proc_macro2::extra::invalidate_current_thread_spans();
    Ok(out)
}

fn gather(tokens: TokenStream, is_help: bool, out: &mut Vec<(usize, String)>) {
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Literal(literal) => out.extend(text(literal)),
            TokenTree::Group(group) => gather(group.stream(), is_help, out),
            TokenTree::Punct(p) if p.as_char() == '#' => {
                let of_file = rest.next_if(|t| is_punct(t, '!')).is_some();
                let Some(attribute) = attribute(&mut rest) else { continue };
                match attribute.stream().into_iter().next() {
                    Some(t) if is_word(&t, "cfg") && is_for_tests(&attribute) => leave_out(&mut rest),
                    Some(t) if is_word(&t, "doc") && (of_file || !is_help) => {}
                    _ => gather(attribute.stream(), is_help, out),
                }
            }
            _ => {}
        }
    }
}

/// A string's line and text, of bytes too.
fn text(literal: Literal) -> Option<(usize, String)> {
    let line = literal.span().start().line;
    match Lit::new(literal) {
        Lit::Str(text) => Some((line, text.value())),
        Lit::ByteStr(bytes) => Some((line, String::from_utf8_lossy(&bytes.value()).into_owned())),
        _ => None,
    }
}

/// The brackets of an attribute, where they come next.
fn attribute(rest: &mut Tokens) -> Option<Group> {
    match rest.next_if(|t| is_group(t, Delimiter::Bracket)) {
        Some(TokenTree::Group(group)) => Some(group),
        _ => None,
    }
}

fn is_for_tests(attribute: &Group) -> bool {
    let condition = attribute.stream().into_iter().nth(1);
    matches!(condition, Some(TokenTree::Group(g)) if g.stream().to_string() == "test")
}

/// Items that may have a comma before their end.
const ITEMS: &[&str] =
    &["async", "const", "enum", "extern", "fn", "impl", "let", "static", "struct", "trait", "type", "union", "unsafe"];

/// Goes past what comes next: an item, a statement, a field, a variant or an arm.
fn leave_out(rest: &mut Tokens) {
    while rest.next_if(|t| is_punct(t, '#')).is_some() {
        attribute(rest);
    }
    if rest.next_if(|t| is_word(t, "pub")).is_some() {
        rest.next_if(|t| is_group(t, Delimiter::Parenthesis));
    }
    let first: Vec<String> = rest.clone().take(2).map(|t| t.to_string()).collect();
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let is_value = match first.as_slice() {
        ["const", second] => !["fn", "unsafe", "extern", "async"].contains(second),
        [first, ..] => ["let", "static"].contains(first),
        [] => false,
    };
    let is_item = first.first().is_some_and(|word| ITEMS.contains(word));
    let ends =
        |t: &TokenTree| is_punct(t, ';') || is_punct(t, ',') && !is_item || is_group(t, Delimiter::Brace) && !is_value;
    let _ = rest.find(ends);
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == char)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(i) if i == word)
}

fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(g) if g.delimiter() == delimiter)
}

#[test]
fn only_what_tests_have_is_left_out() {
    let cases = [
        ("#[cfg(test)]\nmod tests;\nconst A: &str = \"a\";", vec![(3, "a")]),
        (
            "const A: &str = \"a\";\n#[cfg(test)]\nmod tests {\n fn f() { \"}\" }\n}\nconst B: &str = \"b\";",
            vec![(1, "a"), (6, "b")],
        ),
        (
            "#[cfg(test)]\n#[path = \"x.rs\"]\npub(super) mod x;\nconst A: &str = r#\"a \"told\" \\n\"#;",
            vec![(4, "a \"told\" \\n")],
        ),
        (
            "#[cfg(test)]\nconst fn f<A, B>() { '{'; '\"'; b'\"'; r\"}\"; /* } */ }\nfn g() { '\"'; \"a\"; }",
            vec![(3, "a")],
        ),
        ("#[cfg(test)]\nuse a::{b, c};\nconst A: &[u8] = b\"a\\x20b\";", vec![(3, "a b")]),
        ("#[cfg(test)]\nconst T: A = A { a: 1 }.b(\"b\");\nconst A: &str = \"{ a }\";", vec![(3, "{ a }")]),
        (
            "fn f() {\n#[cfg(test)]\nif x(\"{\") { \"b\" }\nlet a = g(\"a\\\n   b\"); }\nconst B: &str = \"b\";",
            vec![(4, "ab"), (6, "b")],
        ),
        ("struct A {\n#[cfg(test)]\n/// B\na: B<C>,\n#[error(\"a\")]\nb: D }\n// \"c\"\n", vec![(5, "a")]),
        (
            "#[cfg(not(test))]\nmacro_rules! a { ($a:expr) => { #[cfg(test)] mod b { \"b\" } f!(\"a\") } }",
            vec![(2, "a")],
        ),
    ];
    for (source, want) in cases {
        let found = shown(source, false).unwrap();
        let found: Vec<(usize, &str)> = found.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(found, want, "{source}");
    }
    assert_eq!(shown("//! A\n/// B\nstruct B;", true).unwrap(), [(2, " B".to_owned())]);
    assert!(shown("fn f() {", false).is_err());
}
