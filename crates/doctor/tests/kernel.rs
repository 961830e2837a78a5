//! What the kernel and its drivers print: each form of tests/kernel_messages.tsv has a verdict, in whatever clothes it is pasted.

mod common;

use common::{answer, asserted, ids};

const MESSAGES: &str = include_str!("kernel_messages.tsv");

/// What comes before a message: dmesg, its `-T`, journals in several languages, syslogd, consoles, collectors.
const HEADS: &[&str] = &[
    "",
    "[ 1234.567890] ",
    "[Mon Nov 21 07:00:00 2026] ",
    "[Do Apr 24 16:22:15 2025] ",
    "[   12.345678][    T1] ",
    "Nov 21 07:00:00 host kernel: ",
    "april 24 16:22:15 host kernel: ",
    "Okt 24 16:22:15 host kernel: ",
    "avril 24 16:22:15 host kernel: ",
    "4月 24 16:22:15 host kernel: ",
    "2026-11-21T07:00:00.123456+00:00 host kernel: [   12.345678] ",
    "Thu 2025-04-24 16:22:15 CEST host kernel: ",
    "Nov 21 07:00:00 Tower kernel: ",
    "6,3973,227996636,-;",
    "\"MESSAGE\" : \"",
];

struct Row<'a> {
    message: &'a str,
    verdict: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let lines: Vec<&str> = MESSAGES.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let row = |l: &&'static str| match l.split('\t').collect::<Vec<_>>()[..] {
        [_program, message, _source, verdict, _reason] => Some(Row { message, verdict }),
        _ => None,
    };
    let rows: Vec<Row<'static>> = lines.iter().filter_map(row).collect();
    assert_eq!(rows.len(), lines.len(), "a row has five columns");
    assert!(rows.len() > 80);
    rows
}

#[test]
fn every_form_has_its_verdict_behind_every_head() {
    let mut wrong = Vec::new();
    for Row { message, verdict } in rows() {
        for head in HEADS {
            let a = answer(&format!("{head}{message}\n"));
            let right = match verdict.split_once(' ') {
                Some(("asserts", id)) => asserted(&a) == [id],
                Some(("possible", id)) => asserted(&a).is_empty() && ids(&a) == [id],
                _ => verdict == "none" && ids(&a).is_empty(),
            };
            if !right {
                wrong.push(format!("{head}{message}\n    want {verdict}, is {:?} of {:?}", asserted(&a), ids(&a)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// The same lines in a text about them are asserted of nobody's machine; in a report they are.
#[test]
fn guides_and_changes_assert_nothing_and_reports_do() {
    let about = [
        "# How to read it\nThe device is gone then.\nTypical messages may include:\n\n{}\n\n# Root cause\nBad power, as a rule.\n",
        "fix(logs): detect this message\nThis change makes the error message of users clearer.\n\n```\n{}\n```\n",
        "Check the cables of the card.\nReplace the card if that does not help.\nIt usually indicates a broken card.\n{}\n",
    ];
    let of_machine = [
        "Hello, our training hangs. Here is my dmesg:\n```\n{}\n```\nAny idea what this means?\n",
        "### Describe the bug\nTraining hangs after an hour.\n\n### Logs\n{}\n",
        "{}\n",
    ];
    for Row { message, verdict } in rows().iter().filter(|r| r.verdict.starts_with("asserts ")) {
        for text in about {
            let a = answer(&text.replace("{}", message));
            assert_eq!(asserted(&a), [""; 0], "{text}{message}");
            assert!(verdict.ends_with(ids(&a).first().copied().unwrap_or("?")), "still shown: {text}{message}");
        }
        for text in of_machine {
            let a = answer(&text.replace("{}", message));
            assert!(asserted(&a).iter().any(|id| verdict.ends_with(id)), "{text}{message}: {:?}", ids(&a));
        }
    }
}
