//! Damaged input through every renderer: no panic, and the output stays what it claims to be.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::{HOSTILE, LSPCI, bytes, lspci, usual, with};
use linerate_report::{Style, explain, json, junit, markdown, sarif, terminal};

/// A fixed sequence of pseudo-random numbers (an LCG): the same damage on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn damaged(dice: &mut Dice) -> String {
    const JUNK: [&str; 12] = [
        "\u{1b}[2J",
        "\0",
        "]]>",
        "&amp;",
        "\u{202e}",
        "`````",
        "\n\n",
        "\u{fffe}",
        "|",
        "{",
        "é",
        "99999999999999999999",
    ];
    let mut text: Vec<char> = LSPCI.chars().collect();
    for _ in 0..1 + dice.below(30) {
        let at = dice.below(text.len());
        match dice.below(3) {
            0 => text.truncate(at.max(1)),
            1 => {
                text.remove(at);
                text.push(' ');
            }
            _ => {
                let junk = JUNK[dice.below(JUNK.len())];
                text.splice(at..at, junk.chars());
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn every_renderer_survives_damage() {
    let mut dice = Dice(17);
    let mut rules = usual();
    rules.push(&HOSTILE);
    rules.extend(linerate_rules::rules());
    for round in 0..40 {
        let mut s = lspci(&damaged(&mut dice));
        s.label = damaged(&mut dice);
        s.problems.push(damaged(&mut dice).chars().take(300).collect());
        with(&s, &rules, |r| {
            serde_json::from_str::<serde_json::Value>(&json::to_string(r, json::Version::Two)).unwrap();
            serde_json::from_str::<serde_json::Value>(&bytes(|out| sarif::render(r, out))).unwrap();
            let xml = bytes(|out| junit::render(r, out));
            roxmltree::Document::parse(&xml).unwrap_or_else(|e| panic!("round {round}: {e}\n{xml}"));
            let ticket = bytes(|out| markdown::render(r, out));
            let width = dice.below(120);
            let page = terminal::to_string(r, Style { width, verbose: round % 2 == 0, ..Style::default() });
            for text in [ticket, page] {
                let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{feff}'));
                assert_eq!(bad, None, "round {round}: {text}");
            }
        });
    }
}

#[test]
fn no_width_is_too_small() {
    for width in 0..30 {
        let style = Style { width, verbose: true, colour: true };
        assert!(!with(&lspci(LSPCI), &usual(), |r| terminal::to_string(r, style)).is_empty());
        assert!(!explain::explain(&HOSTILE, style).is_empty());
        assert!(!explain::rules_table(linerate_rules::areas(), style).is_empty());
    }
}
