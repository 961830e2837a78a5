//! Planted secrets: no form of them survives in what is captured, read, or packed again; and what rules read stays readable.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

#[path = "secrets/corpus.rs"]
mod corpus;
#[path = "secrets/harmless.rs"]
mod harmless;
#[path = "secrets/sources.rs"]
mod sources;

use corpus::Planted;
use linerate_snapshot::capture::{Options, Purpose, capture};
use linerate_snapshot::{EntryId, EntryKind, Lines, Lookup, Snapshot, load, load_bytes};
use sources::{Source, all, archive_of, write_tree};
use std::collections::HashSet;

/// Everything that is in an archive: the tar, the pack behind it, and what is in memory.
fn bytes_of(s: &Snapshot) -> Vec<u8> {
    let mut archive = Vec::new();
    s.write_tar_zst(&mut archive).unwrap();
    let mut out = Vec::new();
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    for at in (0..archive.len().saturating_sub(4)).filter(|at| archive[*at..].starts_with(&magic)) {
        let frame = zstd::zstd_safe::find_frame_compressed_size(&archive[at..]).unwrap_or(0);
        if let Ok(text) = zstd::stream::decode_all(&archive[at..at + frame]) {
            out.extend(text);
        }
    }
    assert!(out.len() > 1000, "the archive is read");
    fn walk(s: &Snapshot, dir: EntryId, out: &mut Vec<u8>) {
        for (name, id) in s.children(dir) {
            out.extend(name.as_bytes());
            match s.kind(id) {
                EntryKind::Dir => walk(s, id, out),
                EntryKind::Failed(why) => out.extend(why.to_string().into_bytes()),
                _ => out.extend(s.data(id)),
            }
            out.push(b'\n');
        }
    }
    walk(s, s.root(), &mut out);
    out.extend(format!("{:?} {:?} {:?} {}", s.manifest, s.problems, s.outputs, s.label).into_bytes());
    out
}

/// Words that survived, of all that were planted.
fn survivors<'a>(bytes: &[u8], planted: impl Iterator<Item = &'a Planted>) -> Vec<String> {
    // A token that was cut is a token still: its last twelve characters may not stay either. One walk over the bytes for all of them.
    const TAIL: usize = 12;
    let tail = |p: &'a Planted| &p.secret.as_bytes()[p.secret.len() - TAIL..];
    let planted: Vec<&Planted> = planted.collect();
    let wanted: HashSet<&[u8]> = planted.iter().map(|p| tail(p)).collect();
    let firsts: HashSet<[u8; 2]> = wanted.iter().map(|t| [t[0], t[1]]).collect();
    let mut first = vec![false; 1 << 16];
    firsts.iter().for_each(|f| first[usize::from(u16::from_le_bytes(*f))] = true);
    let seen: HashSet<&[u8]> = bytes
        .windows(TAIL)
        .filter(|w| first[usize::from(u16::from_le_bytes([w[0], w[1]]))])
        .filter_map(|w| wanted.get(w).copied())
        .collect();
    planted
        .into_iter()
        .filter(|p| seen.contains(tail(p)))
        .map(|p| format!("{} [{}]", p.form.replace('\u{1}', "§"), p.secret))
        .collect()
}

fn report(what: &str, sources: &[Source], bytes: &[u8]) -> (usize, Vec<String>) {
    let mut lost = Vec::new();
    let all = sources.iter().flat_map(|s| s.planted.iter());
    let found = survivors(bytes, all);
    lost.extend(found.into_iter().map(|l| format!("{what}: {l}")));
    (sources.iter().map(|s| s.planted.len()).sum(), lost)
}

fn judge(parts: Vec<(usize, Vec<String>)>) {
    let (n, lost) = parts.into_iter().fold((0, Vec::new()), |(n, mut all), (m, lost)| {
        all.extend(lost);
        (n + m, all)
    });
    println!("{n} planted, {} survived", lost.len());
    if let Ok(to) = std::env::var("PLANTED_SURVIVORS") {
        std::fs::write(to, lost.join("\n")).unwrap();
    }
    assert!(n >= 300, "{n} forms");
    assert!(
        lost.is_empty(),
        "{} of {n} survived:\n{}",
        lost.len(),
        lost.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn nothing_planted_is_captured_from_a_tree() {
    let sources: Vec<Source> = all().into_iter().filter(|s| s.file).collect();
    let dir = tempfile::tempdir().unwrap();
    write_tree(dir.path(), &sources);
    let mut parts = Vec::new();
    for redact in [true, false] {
        for purpose in [Purpose::Collect, Purpose::Audit] {
            let s = capture(&Options { redact, ..Options::new(dir.path(), purpose) }, &|_| {}).unwrap();
            assert!(s.len() > 20, "the tree is read");
            let what = format!("captured (redact {redact}, {purpose:?})");
            parts.push(report(&what, &sources, &bytes_of(&s)));
        }
    }
    judge(parts);
}

#[test]
fn captures_of_earlier_versions_are_cleaned_and_their_manifest_is_not_believed() {
    let sources = all();
    let mut parts = Vec::new();
    for redacted in [true, false] {
        for version in ["0.1.0", "99.0.0"] {
            let tar = archive_of(&sources, redacted, version);
            let packed = zstd::bulk::compress(&tar, 1).unwrap();
            for (form, bytes) in [("tar", &tar), ("tar.zst", &packed)] {
                let s = load_bytes(bytes, "old").unwrap();
                let what = format!("{form} of {version} (redacted {redacted})");
                parts.push(report(&what, &sources, &bytes_of(&s)));
            }
        }
    }
    judge(parts);
}

#[test]
fn an_archive_without_a_manifest_is_cleaned() {
    let sources: Vec<Source> = all().into_iter().filter(|s| !s.path.starts_with("linerate/")).collect();
    let s = load_bytes(&sources::tar_of(&sources, "sosreport-x/", None), "sos").unwrap();
    judge(vec![report("foreign tar", &sources, &bytes_of(&s))]);
}

#[test]
fn an_unpacked_snapshot_is_cleaned() {
    let sources = all();
    let dir = tempfile::tempdir().unwrap();
    write_tree(dir.path(), &sources);
    std::fs::create_dir_all(dir.path().join("linerate")).unwrap();
    std::fs::write(dir.path().join("linerate/manifest.json"), sources::manifest(true, "0.1.0")).unwrap();
    let options = Options::new(dir.path(), Purpose::Collect);
    let s = load(dir.path(), &options, &|_| {}).unwrap();
    judge(vec![report("unpacked", &sources, &bytes_of(&s))]);
}

#[test]
fn nothing_planted_survives_in_pasted_texts() {
    let mut parts = Vec::new();
    for source in sources::pasted() {
        let s = load_bytes(source.text().as_bytes(), &source.path).unwrap_or_else(|e| panic!("{}: {e}", source.path));
        parts.push(report("pasted", std::slice::from_ref(&source), &bytes_of(&s)));
        let mut texts = linerate_snapshot::Texts::new("ticket");
        assert!(texts.add(&source.path, source.text().as_bytes(), Lines::below(3)), "{}", source.path);
        parts.push(report("ticket", std::slice::from_ref(&source), &bytes_of(&texts.finish().unwrap())));
    }
    judge(parts);
}

#[test]
fn targets_of_links_hold_none() {
    let mut links = sources::links(60_000);
    links.retain(|l| l.text.len() < 100);
    let dir = tempfile::tempdir().unwrap();
    write_tree(dir.path(), &[]);
    for (n, link) in links.iter().enumerate() {
        let at = dir.path().join(format!("sys/bus/pci/devices/0000:{n:02x}:00.0"));
        std::os::unix::fs::symlink(&link.text, at).unwrap();
    }
    std::os::unix::fs::symlink(
        "../../../devices/pci0000:00/0000:ff:00.0",
        dir.path().join("sys/bus/pci/devices/0000:ff:00.0"),
    )
    .unwrap();
    let captured = capture(&Options { redact: false, ..Options::new(dir.path(), Purpose::Collect) }, &|_| {}).unwrap();
    let read = load_bytes(&sources::tar_of_links(&links), "old").unwrap();
    for (what, s) in [("captured", &captured), ("read", &read)] {
        let found: Vec<_> = (0..links.len())
            .filter(|n| {
                let Lookup::Found(devices) = s.resolve("sys/bus/pci/devices") else { return false };
                s.children(devices).iter().any(|(name, _)| *name == format!("0000:{n:02x}:00.0"))
            })
            .collect();
        assert_eq!(found.len(), links.len(), "{what}: all links are there");
        let lost = survivors(&bytes_of(s), links.iter());
        assert!(lost.is_empty(), "{what}: {}", lost.join("\n"));
    }
    let all = String::from_utf8_lossy(&bytes_of(&captured)).into_owned();
    assert!(all.contains("../../../devices/pci0000:00/0000:ff:00.0"), "a link of the kernel stays");
}

#[test]
fn what_is_read_stays_readable() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let at = dir.path().join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    };
    let (words, variables, lines) = (harmless::words(), harmless::variables(), harmless::lines());
    write("proc/cmdline", &format!("{}\n", words.join(" ")));
    write("etc/kernel/cmdline", &format!("{}\n", words.join(" ")));
    write("sys/bus/pci/devices/x", "");
    for (path, lines) in &lines {
        write(path, &format!("{}\n", lines.join("\n")));
    }
    let s = capture(&Options { redact: false, ..Options::new(dir.path(), Purpose::Collect) }, &|_| {}).unwrap();
    let text = |path: &str| match s.resolve(path) {
        Lookup::Found(id) => String::from_utf8(s.data(id).to_vec()).unwrap(),
        other => panic!("{path}: {other:?}"),
    };
    let (mut all, mut lost) = (0, Vec::new());
    for path in ["proc/cmdline", "etc/kernel/cmdline"] {
        let (found, now) = (text(path), words.len());
        let found: Vec<&str> = found.split_ascii_whitespace().collect();
        all += now;
        lost.extend(words.iter().filter(|w| !found.contains(&w.as_str())).map(|w| format!("{path}: {w}")));
    }
    let mut check = |path: &str, wanted: &mut dyn Iterator<Item = &str>| {
        let found = text(path);
        let found: HashSet<&str> = found.lines().collect();
        for line in wanted {
            all += 1;
            if !found.contains(line) {
                lost.push(format!("{path}: {line}"));
            }
        }
    };
    for (path, lines) in &lines {
        check(path, &mut lines.iter().copied());
    }
    // A capture takes 4 KiB of this file.
    for some in variables.chunks(60) {
        write("etc/nccl.conf", &format!("{}\n", some.join("\n")));
        let s = capture(&Options { redact: false, ..Options::new(dir.path(), Purpose::Audit) }, &|_| {}).unwrap();
        let Lookup::Found(id) = s.resolve("etc/nccl.conf") else { panic!("it is captured") };
        let found = String::from_utf8(s.data(id).to_vec()).unwrap();
        all += some.len();
        let found: HashSet<&str> = found.lines().collect();
        lost.extend(some.iter().filter(|v| !found.contains(v.as_str())).map(|v| format!("etc/nccl.conf: {v}")));
    }
    let configured = all;
    for m in harmless::messages() {
        all += 1;
        if linerate_snapshot::without_secrets(&m) != m {
            lost.push(format!("message: {m} → {}", linerate_snapshot::without_secrets(&m)));
        }
    }
    println!("{configured} arguments, variables and lines, {} messages, {} not readable", all - configured, lost.len());
    assert!(configured >= 800, "{configured}");
    assert!(lost.len() * 100 <= all, "{} of {all} are hidden:\n{}", lost.len(), lost.join("\n"));
    println!("{}", lost.join("\n"));
}
