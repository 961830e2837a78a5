//! The words of what users read: no message, help or page uses a phrase that readers had to read twice. docs/decisions/words.md says what to write instead.
//! Reports of other people (docs/doctor-reports*.md) have their own words.

mod literals;

use crate::shell;
use literals::shown;

/// Phrases as whole words, in any case.
const BANNED: &[&str] = &[
    "told",
    "tell",
    "tells",
    "stands",
    "stand beside",
    "is none",
    "are none",
    "is no",
    "are no",
    "was no",
    "were no",
    "ours",
    "theirs",
    "of others",
    "alike)",
    "its content decides",
    "decides what it is",
    "have tags enough",
    "has an end",
    "for you to see",
    "set-up",
    "set-ups",
];

/// Ordinary English that holds one of them.
const ALLOWED: &[&str] = &[
    "stands for",
    "there is none",
    "there are none",
    "there is no",
    "there are no",
    "there was no",
    "there were no",
    "is no longer",
    "are no longer",
    "is no better",
    "are no better",
    "is no more",
    "are no more",
    "cannot tell",
];

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

/// Endings of the files that crates take in as text: pages, tables, parts of scripts.
const TAKEN_IN: &[&str] = &[".md", ".sh", ".tsv", ".txt"];

/// What users read, or what makes it; not tests, and not what other people wrote.
fn is_read(name: &str, is_dir: bool, endings: &[&str]) -> bool {
    match is_dir {
        true => !matches!(name, "tests" | "forged" | "decisions" | "security"),
        false => {
            endings.iter().any(|e| name.ends_with(e)) && !name.contains("tests") && !name.starts_with("doctor-reports")
        }
    }
}

#[test]
fn users_read_plain_words() {
    let root = shell::root();
    let (mut sources, mut pages) = (Vec::new(), vec![root.join("README.md")]);
    for of in std::fs::read_dir(root.join("crates")).unwrap().map(|e| e.unwrap().path()) {
        shell::files(&of.join("src"), &|name, is_dir| is_read(name, is_dir, &[".rs"]), &mut sources);
        shell::files(&of, &|name, is_dir| is_read(name, is_dir, TAKEN_IN), &mut pages);
    }
    shell::files(&root.join("docs"), &|name, is_dir| is_read(name, is_dir, &[".md"]), &mut pages);
    let (mut wrong, mut literals) = (Vec::new(), 0);
    for file in &sources {
        let text = std::fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        let is_help = name.starts_with("crates/cli/src") && name.contains("args");
        for (line, words) in shown(&text, is_help).unwrap_or_else(|why| panic!("{name}: {why}")) {
            literals += 1;
            for (n, words) in without_names(&words).lines().enumerate() {
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
        let all = shown(source, is_help).unwrap();
        let words = |(n, text): (usize, String)| found(&without_names(&text)).into_iter().map(move |p| (n, p));
        all.into_iter().flat_map(words).collect::<Vec<_>>()
    };
    assert_eq!(of(false), [(2, "told"), (3, "is none")]);
    assert_eq!(of(true), [(1, "tells"), (2, "told"), (3, "is none")]);
    assert!(found("X stands for Y; exit 2 where there is none; foretold").is_empty());
}
