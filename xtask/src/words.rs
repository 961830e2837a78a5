//! The words of what users read: no message, help or page uses a phrase that readers had to read twice. docs/decisions/words.md says what to write instead.
//! Reports of other people (docs/doctor-reports*.md) have their own words.

use crate::shell;

/// Phrases as whole words, in any case.
const BANNED: &[&str] = &[
    "told",
    "tells",
    "stands",
    "is none",
    "are none",
    "of ours",
    "of theirs",
    "alike)",
    "its content decides",
    "is no result",
    "decides what it is",
    "have tags enough",
];

/// Ordinary English that holds one of them.
const ALLOWED: &[&str] = &["stands for", "there is none", "if there are none", "there are none"];

/// The banned phrases of a text.
fn found(text: &str) -> Vec<&'static str> {
    let mut text = text.to_lowercase();
    for ok in ALLOWED {
        text = text.replace(ok, "");
    }
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    let whole = |phrase: &str| {
        text.match_indices(phrase).any(|(at, _)| {
            let (before, after) =
                (text.get(..at).unwrap_or_default(), text.get(at + phrase.len()..).unwrap_or_default());
            !is_word(before.chars().next_back()) && !is_word(after.chars().next())
        })
    };
    BANNED.iter().copied().filter(|p| whole(p)).collect()
}

/// What users may read of a source file: string literals, without what a format puts in, and comments that become help. `is_help`: doc comments
/// are.
fn shown(source: &str, is_help: bool) -> Vec<(usize, String)> {
    let own = source.split("#[cfg(test)]\n").next().unwrap_or(source);
    let (mut out, mut line, mut rest) = (Vec::new(), 1, own);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        line += newlines(rest.get(..at).unwrap_or_default());
        let raw =
            rest.get(..at).unwrap_or_default().ends_with("r#") || rest.get(..at).unwrap_or_default().ends_with("r");
        rest = rest.get(at..).unwrap_or_default();
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let comment = rest.get(..end).unwrap_or_default();
            if is_help && let Some(text) = comment.strip_prefix("/// ") {
                out.push((line, text.to_owned()));
            }
            rest = rest.get(end..).unwrap_or_default();
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest = rest.get(3..).unwrap_or_default();
        } else if rest.starts_with('"') {
            let end =
                if raw { rest.get(1..).and_then(|r| r.find('"')) } else { end_of(rest.get(1..).unwrap_or_default()) };
            let end = end.unwrap_or(rest.len().saturating_sub(2));
            let text = rest.get(1..=end).unwrap_or_default();
            out.push((line, without_names(text)));
            line += newlines(text);
            rest = rest.get(end + 2..).unwrap_or_default();
        } else {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    out
}

fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}

/// Where a string literal ends.
fn end_of(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    })
}

/// A format string without the names in braces.
fn without_names(text: &str) -> String {
    let mut depth = 0;
    text.chars()
        .filter(|c| {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => {
                    depth -= 1;
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

/// What users read, or what makes it; not tests, and not what other people wrote.
fn is_read(name: &str, is_dir: bool, ending: &str) -> bool {
    match is_dir {
        true => !matches!(name, "tests" | "forged" | "decisions" | "security"),
        false => name.ends_with(ending) && !name.contains("tests") && !name.starts_with("doctor-reports"),
    }
}

#[test]
fn users_read_plain_words() {
    let root = shell::root();
    let (mut sources, mut pages) = (Vec::new(), vec![root.join("README.md")]);
    for of in std::fs::read_dir(root.join("crates")).unwrap().map(|e| e.unwrap().path()) {
        shell::files(&of.join("src"), &|name, is_dir| is_read(name, is_dir, ".rs"), &mut sources);
    }
    shell::files(&root.join("docs"), &|name, is_dir| is_read(name, is_dir, ".md"), &mut pages);
    let (mut wrong, mut literals) = (Vec::new(), 0);
    for file in &sources {
        let text = std::fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        let is_help = name.starts_with("crates/cli/src") && name.contains("args");
        for (line, words) in shown(&text, is_help) {
            literals += 1;
            for (n, words) in words.lines().enumerate() {
                let place = format!("{name}:{}", line + n);
                wrong.extend(found(words).iter().map(|p| format!("{place}: {p:?}: {}", words.trim())));
            }
        }
    }
    for file in &pages {
        let text = std::fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        for (n, words) in text.lines().enumerate() {
            wrong.extend(found(words).iter().map(|p| format!("{name}:{}: {p:?}: {}", n + 1, words.trim())));
        }
    }
    assert!(literals > 10_000, "{literals} literals were read");
    assert!(wrong.is_empty(), "{} phrases to write in plain words:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn phrases_are_found_where_users_read_them() {
    let source = "/// It tells.\nfn told() { let _ = '\"'; println!(\"a {told} b told\"); } // told\nconst A: &str = \"x\ny is none\";\n#[cfg(test)]\nmod tests { \"told\" }\n";
    let of = |is_help| {
        let all = shown(source, is_help);
        all.into_iter().flat_map(|(n, t)| found(&t).into_iter().map(move |p| (n, p))).collect::<Vec<_>>()
    };
    assert_eq!(of(false), [(2, "told"), (3, "is none")]);
    assert_eq!(of(true), [(1, "tells"), (2, "told"), (3, "is none")]);
    assert!(found("X stands for Y; exit 2 where there is none; foretold").is_empty());
}
