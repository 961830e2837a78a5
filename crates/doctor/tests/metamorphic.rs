//! What must not change an answer: the prefixes of any launcher, cut lines, lines wrapped at 80 columns, ranks in another order, writers that mix,
//! prose and healthy logs beside. An answer may become undecided; it may not become another.

use crate::common;

use common::{answer_to, asserted};
use linerate_doctor::answer::Answer;
use linerate_logs::{Dress, Scenario, scenarios};
use std::path::Path;

/// A text, and how it was changed.
struct Changed {
    how: String,
    text: Vec<u8>,
    /// All facts are still in it: the answer is the same.
    keeps: bool,
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate()
}

/// What launchers and collectors put before each line.
fn prefixes(text: &str) -> Vec<Changed> {
    let with = |how: &str, f: &dyn Fn(usize) -> String| {
        let text: String = lines(text).flat_map(|(i, l)| [f(i), l.to_owned(), "\n".to_owned()]).collect();
        Changed { how: how.to_owned(), text: text.into_bytes(), keeps: true }
    };
    vec![
        with("mpirun", &|_| "[1,0]<stdout>:".to_owned()),
        with("prterun", &|_| "[prterun-host-1@1,0]<stderr>: ".to_owned()),
        with("srun", &|_| "0: ".to_owned()),
        with("torchrun", &|_| "[rank0]:".to_owned()),
        with("tee", &|_| "[default0]:".to_owned()),
        with("kubectl", &|_| "[pod/train-0/pytorch] ".to_owned()),
        with("compose", &|_| "worker-1  | ".to_owned()),
        with("docker", &|i| format!("2025-03-01T10:00:{:02}.123456789Z ", i % 60)),
        with("cri", &|i| format!("2025-03-01T10:00:{:02}.123456789Z stdout F ", i % 60)),
        with("ray", &|_| "(RayTrainWorker pid=1234, ip=10.0.0.1) ".to_owned()),
        with("pdsh", &|_| "node1: ".to_owned()),
        // Behind another program's name the kernel's lines are none.
        Changed { keeps: false, ..with("journald", &|i| format!("Nov 21 07:00:{:02} host slurmstepd[12]: ", i % 60)) },
        with("logging", &|i| format!("2025-03-01 10:00:{:02},123 ", i % 60)),
        with("indent", &|_| "    ".to_owned()),
    ]
}

/// What pasting does.
fn pasting(text: &str) -> Vec<Changed> {
    let mut out = Vec::new();
    let mut push =
        |how: &str, text: String, keeps| out.push(Changed { how: how.to_owned(), text: text.into_bytes(), keeps });
    let wrapped = |width: usize| -> String {
        lines(text)
            .map(|(_, l)| {
                let chars: Vec<char> = l.chars().collect();
                let rows: Vec<String> = chars.chunks(width).map(|c| c.iter().collect()).collect();
                rows.join("\n") + "\n"
            })
            .collect()
    };
    push("wrapped at 80", wrapped(80), false);
    push("cut at 100", lines(text).map(|(_, l)| l.chars().take(100).collect::<String>() + "\n").collect(), false);
    push("heads cut", lines(text).map(|(_, l)| l.chars().skip(12).collect::<String>() + "\n").collect(), false);
    push("first half", lines(text).take(text.lines().count() / 2).flat_map(|(_, l)| [l, "\n"]).collect(), false);
    let all: Vec<&str> = text.lines().collect();
    push("every second line", all.iter().step_by(2).flat_map(|l| [*l, "\n"]).collect(), false);
    push("a fence and prose", format!("{PROSE}\n```\n{text}```\n{PROSE}"), true);
    push("CRLF", text.replace('\n', "\r\n"), true);
    let mixed = lines(text).map(|(i, l)| {
        if i % 17 == 16 && l.is_ascii() { l.split_at(l.len() / 2).0.to_owned() } else { format!("{l}\n") }
    });
    push("glued writers", mixed.collect(), false);
    out
}

/// What people write about such troubles; none of it is evidence.
const PROSE: &str = "\
# Hang with NCCL WARN on two nodes
We checked dmesg: no IO_PAGE_FAULT errors, no `NVRM: Xid (PCI:0000:18:00): 79, pid=1`.
- NCCL WARN Call to ibv_create_qp failed with error Cannot allocate memory is not what we see
$ dmesg | grep -i -e DMAR -e 'NVRM: Xid'
> NCCL WARN Cuda failure 2 'out of memory'
Could it be ACS? With NCCL_IB_DISABLE=1 it runs. The watchdog timeout is 600 s, and nothing exited on signal 9.
";

/// A job of other hosts in which nothing is wrong.
fn healthy() -> Vec<u8> {
    let all = scenarios();
    let s = all.iter().find(|s| s.name == "healthy-ib-gdr");
    s.and_then(|s| Some(text_of(s, s.releases().last().copied()?, 7))).unwrap_or_default()
}

fn text_of(s: &Scenario, release: linerate_logs::Release, seed: u64) -> Vec<u8> {
    s.render(release, seed, Dress::Bare).into_iter().find(|f| f.name == "nccl.log").map(|f| f.bytes).unwrap_or_default()
}

/// Lines of ranks in another order: each process keeps its own.
fn shuffled(text: &str) -> Changed {
    let mut by_head: std::collections::BTreeMap<&str, Vec<&str>> = std::collections::BTreeMap::new();
    for (_, l) in lines(text) {
        let head =
            l.split_once(" NCCL ").and_then(|(h, _)| h.split(' ').next()).filter(|h| h.matches(':').count() == 2);
        by_head.entry(head.map_or("", |h| h.rsplit_once(':').map_or(h, |(p, _)| p))).or_default().push(l);
    }
    let text: String = by_head.into_values().rev().flatten().flat_map(|l| [l, "\n"]).collect();
    Changed { how: "ranks in another order".to_owned(), text: text.into_bytes(), keeps: false }
}

/// Causes that are one thing, of which more or less is seen.
fn same(id: &'static str) -> Vec<&'static str> {
    const FAMILIES: &[&[&str]] = &[
        &["net/efa-without-plugin", "net/plugin-init-failed", "net/library-missing"],
        &["gpu/nvlink", "p2p/refused-by-driver"],
    ];
    FAMILIES.iter().find(|f| f.contains(&id)).map_or_else(|| vec![id], |f| f.to_vec())
}

/// Causes that are asserted of the changed text and were not of the whole one; and, where nothing was lost, what is missing.
fn differs(before: &Answer, after: &Answer, keeps: bool) -> Option<String> {
    let (old, new) = (asserted(before), asserted(after));
    let all: Vec<&str> = before.causes.iter().flat_map(|c| same(c.id)).collect();
    let consequences = before.consequences.iter().map(|n| n.what.as_str()).collect::<Vec<_>>();
    let added: Vec<&&str> = new.iter().filter(|id| !all.contains(id)).collect();
    let lost: Vec<&&str> = old.iter().filter(|id| keeps && !new.contains(id)).collect();
    // What followed from a cause is alone where that cause was cut away.
    let explained = !consequences.is_empty() && !keeps;
    ((!added.is_empty() && !explained) || !lost.is_empty()).then(|| format!("{old:?} became {new:?}"))
}

/// `turn`: where to begin in the list of prefixes, of which every third is tried; `None` for all.
fn judge(name: &str, files: &[(String, Vec<u8>)], log: usize, turn: Option<usize>, wrong: &mut Vec<String>) {
    let answer_with = |text: &[u8], more: Option<&[u8]>| {
        let mut texts: Vec<(&str, &[u8])> = files
            .iter()
            .enumerate()
            .map(|(i, (n, b))| (n.as_str(), if i == log { text } else { b.as_slice() }))
            .collect();
        texts.extend(more.map(|b| ("other.log", b)));
        answer_to(&texts)
    };
    let Some((_, bytes)) = files.get(log) else { return };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let before = answer_with(bytes, None);
    let some =
        prefixes(&text).into_iter().enumerate().filter(|(i, _)| turn.is_none_or(|t| (i + t) % 3 == 0)).map(|(_, c)| c);
    for c in some.chain(pasting(&text)).chain([shuffled(&text)]) {
        if let Some(how) = differs(&before, &answer_with(&c.text, None), c.keeps) {
            wrong.push(format!("{name}, {}: {how}", c.how));
        }
    }
    if let Some(how) = differs(&before, &answer_with(bytes, Some(PROSE.as_bytes())), true) {
        wrong.push(format!("{name}, prose in another file: {how}"));
    }
    if let Some(how) = differs(&before, &answer_with(bytes, Some(&healthy())), false) {
        wrong.push(format!("{name}, a healthy log beside: {how}"));
    }
}

#[test]
fn clothes_change_no_verdict_of_generated_logs() {
    let mut wrong = Vec::new();
    for (i, s) in scenarios().iter().enumerate() {
        // One release of each scenario: `cargo xtask doctor` has them all.
        let releases = s.releases();
        let Some(release) = releases.get(releases.len() / 2).copied() else { continue };
        let files: Vec<(String, Vec<u8>)> =
            s.render(release, 3, Dress::Bare).into_iter().map(|f| (f.name, f.bytes)).collect();
        judge(&format!("{} {release}", s.name), &files, 0, Some(i), &mut wrong);
    }
    assert!(wrong.is_empty(), "{} changes\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[allow(clippy::print_stdout)]
fn clothes_change_no_verdict_of_real_reports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/cases");
    if !root.is_dir() {
        println!("SKIPPED: ../shared/data is not here");
        return;
    }
    let mut wrong = Vec::new();
    for dir in std::fs::read_dir(&root).into_iter().flatten().flatten() {
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(dir.path())
            .into_iter()
            .flatten()
            .flatten()
            .filter(|f| f.file_name() != "truth.md")
            .map(|f| (f.file_name().to_string_lossy().into_owned(), std::fs::read(f.path()).unwrap_or_default()))
            .collect();
        files.sort();
        for i in 0..files.len() {
            judge(&dir.file_name().to_string_lossy(), &files, i, None, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{} changes\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn prose_beside_nothing_is_nothing() {
    let a = answer_to(&[("ticket.md", PROSE.as_bytes())]);
    assert!(a.causes.is_empty() && a.timeline.is_empty(), "{:?}", asserted(&a));
}
