//! Programs that print secrets, whether they end well or badly: neither the journal nor an answer shows one.
#![allow(dead_code)] // other tests use the rest of the corpus

#[path = "../../../../snapshot/tests/secrets/corpus.rs"]
pub(crate) mod corpus;

use super::{INSPECT, Node, begin, codes, run, step};
use crate::protocol::{Answer, Note, Phase, Request, Stands};
use corpus::Planted;

/// Prints the planted text on both ways, and ends with the status in `status`.
const TALKS: &str =
    "#!/bin/sh\nroot=${0%/usr/*}\ncat \"$root/says\"\ncat \"$root/says\" >&2\nexit \"$(cat \"$root/status\")\"\n";

fn node(says: &str, status: &str) -> Node {
    let node = Node::new();
    node.write("usr/bin/talks", TALKS);
    node.chmod("usr/bin/talks", 0o755);
    node.write("says", says);
    node.write("status", status);
    node
}

/// Three at a time: of a program that fails, the last three lines are shown.
fn groups() -> Vec<Vec<Planted>> {
    let (mut all, mut tokens) = (corpus::lines(0), corpus::tokens(7));
    tokens.iter_mut().for_each(|t| t.text = format!("tool: x {} y", t.text));
    all.extend(tokens);
    let mut out = Vec::new();
    let mut rest = all.into_iter().peekable();
    while rest.peek().is_some() {
        out.push(rest.by_ref().take(3).collect());
    }
    out
}

fn says(group: &[Planted]) -> String {
    group.iter().map(|p| format!("{}\n", p.text)).collect()
}

/// The journal as it is on disk, and what an answer says.
fn seen(node: &Node, hash: &str, answers: &[Answer]) -> String {
    let journal = node.read(&format!("var/lib/linerate/apply/{}/journal.jsonl", &hash[..16])).unwrap();
    assert!(journal.len() > 100, "the journal is read");
    format!("{journal}{}", serde_json::to_string(answers).unwrap())
}

fn lost(what: &str, group: &[Planted], seen: &str) -> Vec<String> {
    let tail = |p: &Planted| p.secret[p.secret.len() - 12..].to_owned();
    group.iter().filter(|p| seen.contains(&tail(p))).map(|p| format!("{what}: {}", p.form)).collect()
}

#[test]
fn what_programs_print_is_journalled_and_answered_without_secrets() {
    let (mut all, mut hidden) = (Vec::new(), 0);
    for (n, group) in groups().iter().enumerate() {
        // In turn: the program ends well and is undone; it ends badly; the one that undoes it ends badly.
        let node = node(&says(group), if n % 3 == 1 { "7" } else { "0" });
        let plan = node.plan_of(vec![step("talk", vec![run(&["talks"], &[], &["talks"])])]);
        let hash = plan.hash.clone();
        let mut answers =
            vec![node.ask(begin(&plan)), node.ask(Request::Perform { plan: hash.clone(), phase: Phase::First })];
        match n % 3 {
            1 => assert_eq!(codes(&answers[1]), ["unexpected"], "its inverse fails as well"),
            _ => assert_eq!(codes(&answers[1]), Vec::<&str>::new()),
        }
        if n % 3 == 2 {
            node.write("status", "7");
        }
        answers.push(node.ask(Request::Rollback { plan: hash.clone() }));
        answers.push(node.ask(INSPECT));
        let seen = seen(&node, &hash, &answers);
        hidden += seen.matches(linerate_snapshot::MARK).count();
        all.extend(lost(["made", "failed", "not undone"][n % 3], group, &seen));
    }
    assert!(hidden > 200, "{hidden}");
    assert!(all.is_empty(), "{} survived:\n{}", all.len(), all.join("\n"));
}

#[test]
fn what_the_operators_side_notes_is_journalled_without_secrets() {
    let mut all = Vec::new();
    for p in corpus::lines(3000) {
        let node = node("", "0");
        let plan = node.plan_of(vec![step("talk", vec![run(&["talks"], &[], &[])])]);
        let note = Note { step: Some("talk".to_owned()), what: "ineffective".to_owned(), why: p.text.clone() };
        let answers = [node.ask(begin(&plan)), node.ask(Request::Note { plan: plan.hash.clone(), note })];
        assert_eq!(codes(&answers[1]), Vec::<&str>::new());
        all.extend(lost("noted", std::slice::from_ref(&p), &seen(&node, &plan.hash, &answers)));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// A secret that the limit of what is kept cuts in two is not shown in part.
#[test]
fn a_line_that_is_cut_is_not_kept() {
    let secret = corpus::word(1);
    let head = format!("--password {}", secret.repeat(5000));
    let node = node(&format!("{head}\nthe end\n"), "0");
    let plan = node.plan_of(vec![step("talk", vec![run(&["talks"], &[], &[])])]);
    let hash = plan.hash.clone();
    let answers = [node.ask(begin(&plan)), node.ask(Request::Perform { plan: hash.clone(), phase: Phase::First })];
    assert_eq!(answers[1].state.as_ref().unwrap().acts[0].stands, Stands::Made);
    let seen = seen(&node, &hash, &answers);
    assert!(seen.contains("the end") && !seen.contains(&secret), "{seen}");
}
