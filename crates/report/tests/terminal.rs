//! The terminal report of a small node.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::{HOSTILE, LSPCI, REDIRECT, lspci, usual, with};
use linerate_report::{Style, terminal};
use linerate_snapshot::Snapshot;

fn text(s: &Snapshot, style: Style) -> String {
    with(s, &usual(), |r| terminal::to_string(r, style))
}

#[test]
fn the_usual_report() {
    insta::assert_snapshot!(text(&lspci(LSPCI), Style::default()));
}

#[test]
fn verbose() {
    insta::assert_snapshot!(text(&lspci(LSPCI), Style { verbose: true, ..Style::default() }));
}

#[test]
fn a_laptop_without_gpu_and_nic() {
    let host_bridge = "0000:00:00.0 Host bridge [0600]: Intel Corporation Device [8086:0001]\n";
    let got = text(&lspci(host_bridge), Style::default());
    assert!(got.contains("No NVIDIA GPU and no RDMA NIC here: 6 of 7 rules apply"), "{got}");
    insta::assert_snapshot!(got);
}

#[test]
fn an_empty_source() {
    let s = Snapshot::new("empty");
    let got = with(&s, &[&REDIRECT], |r| terminal::to_string(r, Style::default()));
    assert!(got.contains("no list of PCI devices in this source"), "{got}");
    assert!(got.contains("UNKNOWN"), "{got}");
}

/// No line is wider than asked for, except a word that does not fit a line at all; colour does not count.
#[test]
fn lines_fit_the_width() {
    for width in [40, 60, 80, 100, 132, 200] {
        for (verbose, colour) in [(false, false), (true, false), (true, true)] {
            let got = strip(&text(&lspci(LSPCI), Style { width, verbose, colour }));
            for line in got.lines() {
                let one_word = line.trim().split(' ').count() == 1;
                assert!(line.chars().count() <= width || one_word, "{width}: {line}");
            }
        }
    }
}

#[test]
fn colour_only_when_told_and_changes_nothing_else() {
    let s = lspci(LSPCI);
    let plain = text(&s, Style::default());
    let coloured = text(&s, Style { colour: true, ..Style::default() });
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains("\x1b[1;97;41m"), "critical findings alarm");
    assert_eq!(strip(&coloured), plain);
}

#[test]
fn data_never_reaches_the_terminal_raw() {
    let hostile = LSPCI.replace("ConnectX-7", "\u{1b}[31mConnectX\u{7}\u{202e}");
    let mut s = lspci(&hostile);
    s.label = "evil\u{1b}[2J.lspci\n".into();
    for verbose in [false, true] {
        let got = with(&s, &[&HOSTILE, &REDIRECT], |r| terminal::to_string(r, Style { verbose, ..Style::default() }));
        let bad = got.chars().find(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{feff}'));
        assert_eq!(bad, None, "{got}");
        assert!(got.contains("\\u{1b}[2J"), "{got}");
        assert!(got.contains("]]> | @all  second line") || got.contains("second line"), "{got}");
    }
}

fn strip(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    out + rest
}
