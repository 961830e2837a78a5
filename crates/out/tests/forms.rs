//! What each form's own reader gets of text that was made safe for it.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::hostile;

use hostile::{config, inert, text, visible};
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use linerate_out::{csv, json, markup, shell, yaml};
use proptest::prelude::*;
use std::cell::RefCell;
use std::io::Write;
use std::process::{Command, Stdio};

#[derive(Default)]
struct Tokens(RefCell<Vec<String>>);

impl TokenSink for Tokens {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut all = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(t) => match all.last_mut() {
                Some(last) if last.starts_with("text ") => last.push_str(&t),
                _ => all.push(format!("text {t}")),
            },
            Token::TagToken(Tag { kind: TagKind::StartTag, name, attrs, .. }) => {
                all.push(format!("start {name}"));
                all.extend(attrs.iter().map(|a| format!("attribute {}={}", a.name.local, a.value)));
            }
            Token::TagToken(tag) => all.push(format!("end {}", tag.name)),
            Token::EOFToken | Token::ParseError(_) => {}
            other => all.push(format!("{other:?}")),
        }
        TokenSinkResult::Continue
    }
}

fn tokens(page: &str) -> Vec<String> {
    let tokenizer = Tokenizer::new(Tokens::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(page.into());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// What neither XML nor a terminal can show.
fn shown(text: &str) -> String {
    visible(text, true).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn html(text in text()) {
        let safe = markup::html(&text);
        prop_assert!(inert(&safe));
        let want = shown(&text);
        let mut all = vec!["start p".to_owned(), format!("attribute title={want}"), format!("attribute class={want}")];
        all.extend((!want.is_empty()).then(|| format!("text {want}")));
        all.push("end p".to_owned());
        prop_assert_eq!(tokens(&format!("<p title=\"{safe}\" class='{safe}'>{safe}</p>")), all);
    }

    #[test]
    fn xml_and_svg(text in text()) {
        let (content, attribute) = (markup::xml(&text), markup::attribute(&text));
        prop_assert!(inert(&content) && inert(&attribute));
        let page = format!("<?xml version=\"1.0\"?>\n<svg a=\"{attribute}\" b='{attribute}'><title>{content}</title></svg>");
        let document = roxmltree::Document::parse(&page).map_err(|e| TestCaseError::fail(format!("{e}: {page}")))?;
        let root = document.root_element();
        let want = shown(&text);
        prop_assert_eq!(root.attribute("a"), Some(want.as_str()));
        prop_assert_eq!(root.attribute("b"), Some(want.as_str()));
        let title = root.first_element_child().unwrap();
        prop_assert_eq!(title.text().unwrap_or_default(), want);
        prop_assert_eq!(document.descendants().filter(|n| n.is_element() || n.is_comment() || n.is_pi()).count(), 2);
    }

    #[test]
    fn csv_fields(text in text()) {
        let safe = csv::field(&text);
        prop_assert!(inert(&safe));
        let line = format!("{safe},{safe},end\n");
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        let rows: Vec<::csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(rows.len(), 1);
        let row = &rows[0];
        prop_assert_eq!(row.len(), 3);
        let want = visible(&text, true);
        let guarded = row[0].strip_prefix('\'').is_some_and(|r| r == want);
        prop_assert!(row[0] == want || guarded, "{:?}", &row[0]);
        prop_assert_eq!(&row[0], &row[1]);
        let begins = row[0].trim_start().chars().next();
        prop_assert!(!begins.is_some_and(|c| "=+-@\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".contains(c)), "{}", safe);
        prop_assert!(!row[0].starts_with(['\t', '\r', '\n']), "{}", safe);
    }

    #[test]
    fn json_strings_and_documents(text in text()) {
        let safe = json::string(&text);
        prop_assert!(!safe.chars().any(linerate_out::hidden));
        prop_assert_eq!(&serde_json::from_str::<String>(&safe).unwrap(), &text);
        let document = serde_json::json!({ &text: [&text, { "a": &text }], "z": 1 });
        let mut out = json::Inert::new(Vec::new());
        serde_json::to_writer_pretty(&mut out, &document).unwrap();
        let written = String::from_utf8(out.into_inner()).unwrap();
        prop_assert!(inert(&written));
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), document);
    }

    #[test]
    fn yaml_scalars(text in text()) {
        let safe = yaml::scalar(&text);
        prop_assert!(safe.bytes().all(|b| (b' '..=b'~').contains(&b)));
        prop_assert_eq!(&serde_yaml_ng::from_str::<String>(&safe).unwrap(), &text);
        let list: Vec<String> = serde_yaml_ng::from_str(&format!("- {safe}\n- {safe}\n")).unwrap();
        prop_assert_eq!(list, [text.clone(), text]);
    }

    #[test]
    fn terminals(text in text()) {
        let one = linerate_out::terminal(&text);
        prop_assert!(!one.chars().any(linerate_out::hidden));
        prop_assert_eq!(one.into_owned(), visible(&text, false));
        prop_assert_eq!(linerate_out::lines(&text).into_owned(), visible(&text, true));
    }
}

fn shells(all: &[&'static str]) -> Vec<&'static str> {
    let there = |s: &&&str| Command::new(s).args(["-c", "true"]).output().is_ok();
    all.iter().filter(there).copied().collect()
}

/// What a shell answers to a script on its standard input: an argument has a limit.
fn run(shell: &str, arguments: &[&str], script: &str) -> (bool, Vec<u8>) {
    let mut command = Command::new(shell);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    (out.status.success(), out.stdout)
}

/// Each text, and a bar, so that a line end at its end is seen.
fn joined(texts: &[String]) -> Vec<u8> {
    texts.iter().flat_map(|t| [t.as_bytes(), b"|"].concat()).collect()
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn shells_read_words_back(texts in prop::collection::vec(text().prop_map(|t| t.replace('\0', "")), 1..24)) {
        let line = shell::words(&texts).unwrap();
        prop_assert!(inert(&line), "{}", line);
        // Bash reads what its own `printf %q` makes of the words.
        let again = format!("eval \"set -- $(printf '%q ' {line})\"; printf '%s|' \"$@\"");
        let bash = shells(&["bash"]);
        prop_assert!(!bash.is_empty());
        prop_assert!(run("bash", &["-n"], &again).0, "{}", again);
        prop_assert_eq!(run("bash", &[], &again).1, joined(&texts), "{}", line);
        for s in shells(&["sh", "dash", "busybox", "zsh"]) {
            let arguments: &[&str] = if s == "busybox" { &["sh"] } else { &[] };
            prop_assert_eq!(run(s, arguments, &format!("printf '%s|' {line}")).1, joined(&texts), "{} {}", s, line);
        }
    }

    #[test]
    fn what_people_see_is_one_line(texts in prop::collection::vec(text().prop_map(|t| t.replace('\0', "")), 1..24)) {
        let argv = [vec!["printf".to_owned(), "%s|".to_owned()], texts.clone()].concat();
        let line = shell::shown(&argv);
        prop_assert!(!line.chars().any(linerate_out::hidden), "{}", line);
        prop_assert_eq!(run("bash", &[], &line).1, joined(&texts), "{}", line);
        let first = shell::command(&texts).unwrap();
        // Whatever the name is, it is one, not the shell's language: nothing of that name can be found.
        prop_assert!(run("bash", &["-n"], &first).0, "{}", first);
    }

    #[test]
    fn login_shells_read_words_back(texts in prop::collection::vec(text().prop_map(|t| t.replace('\0', "")), 1..24)) {
        let line = shell::remote_words(&texts).unwrap();
        for s in shells(&["sh", "dash", "bash", "zsh", "fish"]) {
            prop_assert_eq!(run(s, &[], &format!("printf '%s|' {line}")).1, joined(&texts), "{} {}", s, line);
        }
    }
}

#[test]
fn words_of_commands() {
    for (argv, want) in [
        (&["true", "a b"][..], "true 'a b'"),
        (&["true", "a", "b"], "true a b"),
        (&["env", "--a=b", "c=d"], "env --a=b 'c=d'"),
        (&["if"], "'if'"),
        (&["x=y", "z"], "'x=y' z"),
        (&["echo", ""], "echo ''"),
        (&["echo", "a\nb"], "echo 'a'$'\\n''b'"),
        (&["echo", "\x1b[2J\u{202e}"], "echo ''\"$(printf '\\033')\"'[2J'\"$(printf '\\342\\200\\256')\"''"),
        (&["a\0b"], "'a\\u{0}b'"),
        (&[], ""),
    ] {
        assert_eq!(shell::shown(argv), want);
    }
    assert_eq!(shell::word("a\0"), None);
    assert_eq!(shell::remote_word("a\0"), None);
    for (word, quoted) in [
        ("--port=5201", "--port=5201"),
        ("", "''"),
        ("it's", "'it'\\''s'"),
        ("a\\b", "'a'\\\\'b'"),
        ("=ls", "'=ls'"),
        ("~root", "'~root'"),
    ] {
        assert_eq!(shell::remote_word(word).as_deref(), Some(quoted));
    }
}
