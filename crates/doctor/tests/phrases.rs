//! The third look: messages in dresses that no grammar knows name their cause, as possible; described, titled, searched for, coded or explained, they
//! name nothing.

use crate::common;

use common::answer;
use linerate_doctor::answer::{Answer, Cause, Confidence};
use linerate_rules::Severity;
use std::fmt::Write as _;

fn messages() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("phrases.tsv").lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once('\t'))
}

fn first(a: &Answer) -> Option<&Cause> {
    a.causes.iter().find(|c| c.severity > Severity::Info)
}

/// Each in place of `@`.
const DRESSES: &[&str] = &[
    "[0] @",
    "E0511 07:42:36.355509 10240 engine.cpp:198] @",
    "2026/08/10 19:09:42 @",
    "2026-08-10T19:09:42Z node-agent @",
    "[agent] ERROR @",
    "agent[4711]: @",
    "src/engine/common.cpp:58: @",
    "Hello,\n\nI run it and it stops:\n\n```\nloading\n@\n```\nAny idea?",
    "$ run\n```console\n$ ./run\n@\n```",
    "It ends so:\n\n> [ERROR] @\n\nThanks for any help!",
    "```\nstep 12 of 40, loss 0.3, and then the worker printed a long line of its own, \n@\n```",
];

/// What people, guides, rules and sources make of them.
const OTHERS: &[&str] = &[
    "We think that @ is what the users see",
    "If you see `@`, check the cable.",
    "The log said @ when the job began",
    "- @",
    "* @",
    "1. @",
    "# @",
    "### @\n\nIt happens on two nodes.",
    "[Bug]: @\n\nIt happens on two nodes.\nThe others are well.\n",
    "@\n\nIt happens on two nodes.\nThe others are well.\n",
    "fix(agent): report @",
    "* Fixed: @",
    "v1.2: fixed an issue where @",
    "| @ | reboot the node |",
    "$ grep '@' /var/log/syslog",
    "grep -r \"@\" /var/log",
    "[root@n1 ~]# journalctl | grep \"@\"",
    "    LOG(ERROR) << \"@\";",
    "    raise RuntimeError(\"@\")",
    "    printf(\"@\\n\");",
    "  - regex: '@'",
    "pattern: \"@\"",
    "description: @",
    "+    @",
    "// @",
    "```python\n@\n```",
    "```yaml\n@\n```",
    "> The words @ stand in the manual",
    "2026-08-10 19:09:42 INFO @",
    "level=info msg=\"@\"",
    "## What it means\nYou will see for example:\n```\n[0] @\n```\n## How to fix\nCheck your system.",
    "This PR adds a detector. It closes #12.\n```\n2026/08/10 19:09:42 @\n```\n",
    "test('finds it', () => {\n[0] @\nexpect(found).toBe(true)",
];

#[test]
fn unknown_dresses_name_the_cause_as_possible() {
    let mut wrong = String::new();
    for (cause, message) in messages() {
        for dress in DRESSES {
            let text = format!("{}\n", dress.replace('@', message));
            let found = answer(&text);
            let got = first(&found).map(|c| (c.id, c.confidence));
            if got != Some((cause, Confidence::Possible)) {
                let _ = writeln!(wrong, "{text:?}: {got:?}, not {cause}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_told_of_names_nothing() {
    let mut wrong = String::new();
    for (_, message) in messages() {
        for other in OTHERS {
            let text = format!("{}\n", other.replace('@', message));
            let found = answer(&text);
            if let Some(c) = first(&found) {
                let _ = writeln!(wrong, "{text:?}: {}", c.id);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_phrase_may_span_a_terminals_line_break() {
    let message = "2026/08/10 19:09:42 engine: transfer of block 4711 to the second node of the rack ended: local protection error";
    for width in [68, 72, 80, 92, 96, 100, 102, 104] {
        let (first_line, rest) = message.split_at(width);
        for text in [format!("{first_line}\n{rest}\n"), format!("```\nready\n{first_line}\n{rest}\n```\n")] {
            let found = answer(&text);
            assert_eq!(first(&found).map(|c| c.id), Some("ib/local-protection"), "{text}");
        }
    }
}

#[test]
fn another_look_comes_first() {
    let known =
        "node1:11:12 [0] misc/x.cc:12 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 50\n";
    let found = answer(&format!("{known}[0] DAPL startup: RLIMIT_MEMLOCK too small\n"));
    assert!(found.causes.iter().all(|c| c.id != "ib/memlock"));
    assert_eq!(first(&found).map(|c| c.id), Some("gpu/duplicate"));
}
