//! What a node, a log or a plan says stays text in every form: read by the form's own parser, a page has the same parts as one of tame
//! words, and nothing in it drives a terminal.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::{ECHO, LSPCI, bytes, lspci, usual, with};
use linerate_remedy::{Act, ByHand, Disruption, NodeId, Permanence, Plan, Proof, Refused, Risk, RunAct, SCHEMA, Step};
use linerate_report::plan::{json as plan_json, markdown as plan_markdown, text as plan_text};
use linerate_report::{Style, json, junit, markdown, sarif, terminal};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

const PIECES: &[&str] = &[
    "`",
    "``",
    "```",
    "<img src=x onerror=alert(1)>",
    "</title>",
    "<!--",
    "]]>",
    "![a](https://x.example)",
    "[a](https://x.example)",
    "<https://x.example>",
    "@all ",
    "|",
    "\\",
    "*",
    "_",
    "**",
    "~~",
    "$",
    "&",
    "\"",
    "'",
    "- ",
    "# ",
    "1. ",
    "---",
    "\n",
    "\n\n",
    "\r",
    "\t",
    "\0",
    "\x1b[2J",
    "\x1b]0;x\x07",
    "\u{7f}",
    "\u{85}",
    "\u{9b}31m",
    "\u{200b}",
    "\u{202e}",
    "\u{2028}",
    "\u{2066}",
    "\u{feff}",
    "\u{ffff}",
    "\u{e0041}",
    "a",
    "b c",
    "0",
    "ä",
    "=",
];

/// It begins with a word: what is empty may leave out a part of a page.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..10).prop_map(|p| format!("x{}", p.concat()))
}

/// Nothing drives a terminal, reorders text, or hides. Line ends and tabs may be there.
fn inert(text: &str) -> Result<(), TestCaseError> {
    let bad = text.chars().find(|c| linerate_out::hidden(*c) && !matches!(c, '\n' | '\t'));
    prop_assert!(bad.is_none(), "{:?} in {:?}", bad, text);
    Ok(())
}

/// What no site knows that people paste into: text raised between `^`, attributes of headings.
const OTHERS: Options = Options::ENABLE_SUPERSCRIPT.union(Options::ENABLE_HEADING_ATTRIBUTES);

/// The parts of a page, without what they say. Code within a line is text: messages quote commands so.
fn parts(page: &str) -> Result<Vec<String>, TestCaseError> {
    let mut out = Vec::new();
    for event in Parser::new_ext(page, Options::all() - Options::ENABLE_SMART_PUNCTUATION - OTHERS) {
        match event {
            Event::Text(_) | Event::Code(_) | Event::End(_) => {}
            Event::Start(Tag::Link { dest_url, .. }) if dest_url.starts_with("https://example.org/") => {}
            Event::Start(tag @ (Tag::Link { .. } | Tag::Image { .. })) => {
                return Err(TestCaseError::fail(format!("{tag:?} in {page}")));
            }
            Event::Html(t) | Event::InlineHtml(t) => return Err(TestCaseError::fail(format!("{t} in {page}"))),
            other => out.push(format!("{other:?}")),
        }
    }
    Ok(out)
}

fn audit(label: &str) -> [String; 5] {
    let mut s = lspci(LSPCI);
    s.label = label.to_owned();
    s.problems.push(label.to_owned());
    let mut rules = usual();
    rules.push(&ECHO);
    with(&s, &rules, |r| {
        [
            bytes(|out| markdown::render(r, out)),
            bytes(|out| json::render_pretty(r, json::Version::Two, out)),
            bytes(|out| sarif::render(r, out)),
            bytes(|out| junit::render(r, out)),
            terminal::to_string(r, Style { verbose: true, ..Style::default() }),
        ]
    })
}

fn plan(text: &str) -> Plan {
    let t = || text.to_owned();
    let step = Step {
        id: t(),
        rules: vec![t()],
        summary: t(),
        why: vec![t()],
        precondition: Vec::new(),
        trial: Vec::new(),
        change: vec![Act::Run(RunAct {
            argv: vec!["true".into(), t()],
            writes: vec![t()],
            undo: vec!["undo".into(), t()],
            limit: 9,
        })],
        proof: vec![Proof::Value { path: t(), value: t() }],
        risk: Risk::Low,
        risk_note: t(),
        persistence: Permanence::Immediate,
        disruption: Disruption::None,
        unsimulated: vec![t()],
    };
    let node = NodeId { host: Some(t()), ..NodeId::default() };
    Plan {
        schema: SCHEMA.into(),
        hash: String::new(),
        version: "0.1.0".into(),
        node,
        role: None,
        kubernetes: None,
        source: t(),
        platform: t(),
        steps: vec![step],
        by_hand: vec![ByHand { rules: vec![t()], summary: t(), how: vec![t()], reread: vec![t()] }],
        refused: vec![Refused { rules: vec![t()], summary: t(), reason: t(), unless: Some(t()) }],
        simulation: None,
    }
    .sealed()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn an_audit_is_what_it_is_with_tame_words(text in text()) {
        let [ticket, document, log, suite, page] = audit(&text);
        for written in [&ticket, &document, &log, &suite, &page] {
            inert(written)?;
        }
        prop_assert_eq!(parts(&ticket)?, parts(&audit("x")[0])?, "{}", ticket);
        let read: serde_json::Value = serde_json::from_str(&document).unwrap();
        prop_assert_eq!(read["source"]["label"].as_str(), Some(text.as_str()));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&log).is_ok());
        let suite = roxmltree::Document::parse(&suite).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let tame = audit("x");
        let tame = roxmltree::Document::parse(&tame[3]).unwrap();
        let elements = |d: &roxmltree::Document<'_>| d.descendants().filter(|n| n.is_element()).count();
        prop_assert_eq!(elements(&suite), elements(&tame));
    }

    #[test]
    fn a_plan_is_what_it_is_with_tame_words(text in text()) {
        let made = plan(&text);
        let ticket = bytes(|out| plan_markdown::render(&made, out));
        inert(&ticket)?;
        prop_assert_eq!(parts(&ticket)?, parts(&bytes(|out| plan_markdown::render(&plan("x"), out)))?, "{}", ticket);
        inert(&bytes(|out| plan_text::render(&made, Style::default(), out)))?;
        let document = bytes(|out| plan_json::render_plan(&made, out));
        inert(&document)?;
        let read: Plan = serde_json::from_str(&document).unwrap();
        prop_assert_eq!(read, made);
    }
}

/// Two words and one with a blank in it are distinguished, in text and in Markdown; JSON keeps the list.
#[test]
fn the_words_of_a_command_can_be_told_apart() {
    let made = |argv: &[&str]| {
        let mut plan = plan("x");
        let argv = argv.iter().map(|w| (*w).to_owned()).collect();
        plan.steps[0].change = vec![Act::Run(RunAct { argv, writes: vec![], undo: vec![], limit: 9 })];
        plan
    };
    let text = |p: &Plan| bytes(|out| plan_text::render(p, Style { width: 140, ..Style::default() }, out));
    let md = |p: &Plan| bytes(|out| plan_markdown::render(p, out));
    let (one, two) = (made(&["true", "a b"]), made(&["true", "a", "b"]));
    for (p, want) in [(&one, "run true 'a b'"), (&two, "run true a b")] {
        assert!(text(p).contains(want) && md(p).contains(want), "{}{}", text(p), md(p));
    }
    let document: serde_json::Value = serde_json::from_str(&bytes(|out| plan_json::render_plan(&one, out))).unwrap();
    assert_eq!(document["steps"][0]["change"][0]["argv"], serde_json::json!(["true", "a b"]));
}
