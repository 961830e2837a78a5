//! From what the script printed to a snapshot.

use super::records::{Record, records};
use super::replay::Replay;
use super::tree::{Content, Tree, listed};
use crate::catalogue::{Command, catalogue};
use crate::redact::{Redactor, secrets};
use crate::{Coverage, Snapshot};
use linerate_formats::bounds::{KEPT, KEPT_ENTRIES};

/// A snapshot of what the script printed.
#[derive(Debug)]
pub struct Found {
    /// The snapshot; `incomplete` where the script did not come to its end.
    pub snapshot: Snapshot,
    /// The script came to its end.
    pub whole: bool,
}

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRead {
    /// Its first record is missing.
    #[error("it printed no list of files")]
    NoList,
    /// There is no random number to hash names with.
    #[error("there are no random numbers here")]
    NoKey,
}

/// Reads what the script printed behind the word of chance that it was given.
///
/// # Errors
/// It is not what the script prints.
pub fn read(bytes: &[u8], word: &str, redact: bool) -> Result<Found, NotRead> {
    let all = records(bytes, word);
    if !all.iter().any(|r| r.letter == b'l') {
        return Err(NotRead::NoList);
    }
    let mut redactor = Redactor::new(redact, None).map_err(|_| NotRead::NoKey)?;
    let mut meta = all.iter().find(|r| r.letter == b'm').map(|r| text(r.content)).unwrap_or_default();
    meta.truncate(4096);
    let mut lines = meta.lines();
    let (uid, time) = (lines.next().and_then(|l| l.parse().ok()), lines.next().and_then(|l| l.parse().ok()));
    let host: String = lines.next().unwrap_or_default().trim().to_owned();
    redactor.set_host(&host);
    let whole = all.iter().any(|r| r.letter == b'z');
    let tree = tree(&all);
    let mut snapshot = Snapshot::new("");
    snapshot.coverage = Coverage::Full { not_tried: Vec::new() };
    if tree.full {
        snapshot.left_out(format!("it listed more than {KEPT_ENTRIES} files; the rest was left out"));
    }
    if !whole {
        snapshot.left_out("the script did not come to its end; what it had not read yet is missing".to_owned());
    }
    let kernel = tree.kind("proc/version").is_some() && tree.kind("sys/devices").is_some();
    let release = release(&tree);
    Replay { tree: &tree, redactor: &redactor, snapshot: &mut snapshot, release }.run();
    commands(&mut snapshot, &all, &redactor);
    environment(&mut snapshot, &all, &redactor);
    describe(&mut snapshot, uid, time, redact, redactor.host_name(&host), kernel && whole);
    Ok(Found { snapshot, whole })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tree<'b>(all: &[Record<'b>]) -> Tree<'b> {
    let mut tree = Tree::default();
    for r in all.iter().filter(|r| r.letter == b'l') {
        for line in r.content.split(|b| *b == b'\n').filter_map(|l| std::str::from_utf8(l).ok()) {
            if let Some((path, kind)) = listed(line) {
                tree.add(path, kind);
            }
        }
    }
    for r in all {
        let content = match r.letter {
            // What the bytes end in was not read to its end.
            b'f' | b'k' if r.last => continue,
            b'f' => Content::Whole(r.content),
            b'k' => {
                let at = r.content.iter().position(|b| *b == b'\n').unwrap_or(r.content.len());
                let (size, data) = r.content.split_at_checked(at).unwrap_or((r.content, &[]));
                let size = std::str::from_utf8(size).ok().and_then(|s| s.trim().parse().ok()).unwrap_or(usize::MAX);
                Content::Part(data.get(1..).unwrap_or_default(), size)
            }
            b'e' => Content::Not(std::str::from_utf8(r.content).unwrap_or_default()),
            b'x' => {
                if let Some(dir) = tree.follow("", r.name) {
                    tree.closed.insert(dir.path, ());
                }
                continue;
            }
            _ => continue,
        };
        // The content of a link's file belongs to the file.
        if let Some(place) = tree.follow("", r.name) {
            tree.contents.entry(place.path).or_default().push(content);
        }
    }
    tree
}

fn release(tree: &Tree<'_>) -> String {
    let found = tree.contents.get("proc/sys/kernel/osrelease").and_then(|c| c.first());
    match found {
        Some(Content::Whole(data)) => text(data.get(..data.len().min(256)).unwrap_or_default()).trim().to_owned(),
        _ => String::new(),
    }
}

/// Commands: what each was called with follows from the catalogue, never from what the host says.
fn commands(snapshot: &mut Snapshot, all: &[Record<'_>], redactor: &Redactor) {
    let mut n = 0;
    let mut rest = all.iter().peekable();
    while let Some(r) = rest.next() {
        if r.letter != b'c' {
            continue;
        }
        let (mut stderr, mut status) = (&[][..], "");
        while let Some(next) = rest.next_if(|n| matches!(n.letter, b's' | b'r')) {
            if next.letter == b's' {
                stderr = next.content.get(..next.content.len().min(16 << 10)).unwrap_or_default();
            } else {
                status = next.name;
            }
        }
        if let Some((command, argv)) = called(r.name)
            && n < 1000
            && snapshot.size() < KEPT
        {
            command_output(snapshot, n, command, argv, r.content, stderr, status, redactor);
            n += 1;
        }
    }
}

fn called(name: &str) -> Option<(&'static Command, Vec<String>)> {
    let mut words = name.split(' ');
    let command = catalogue().commands.get(words.next()?.parse::<usize>().ok()?)?;
    let argv = command.argv.get(words.next()?.parse::<usize>().ok()?)?;
    let value = words.next().unwrap_or_default();
    let good = value.is_empty() || crate::capture::commands::harmless(value);
    good.then(|| (command, argv.iter().map(|a| a.replace("{}", value)).collect()))
}

#[allow(clippy::too_many_arguments, reason = "what is known of one command")]
fn command_output(
    snapshot: &mut Snapshot,
    n: usize,
    command: &Command,
    argv: Vec<String>,
    stdout: &[u8],
    stderr: &[u8],
    status: &str,
    redactor: &Redactor,
) {
    use crate::capture::run::{End, Ran};
    let end = match status {
        "not found" => End::NotFound,
        // `timeout`, and what a shell makes of its signals.
        "124" | "137" | "143" => End::TimedOut,
        other => match other.parse::<i32>() {
            Ok(s) if s > 128 => End::Status(128 - s),
            Ok(s) => End::Status(s),
            Err(_) => End::Failed("it did not come to its end".to_owned()),
        },
    };
    let max = command.max as usize;
    let (stdout, cut) = (stdout.get(..max.min(stdout.len())).unwrap_or_default().to_vec(), stdout.len() > max);
    let ran = Ran { end, stdout, stderr: stderr.to_vec(), cut };
    crate::capture::commands::add(snapshot, n, command.kind, argv, ran, redactor);
}

fn environment(snapshot: &mut Snapshot, all: &[Record<'_>], redactor: &Redactor) {
    let said = all.iter().find(|r| r.letter == b'v').map(|r| text(r.content)).unwrap_or_default();
    let wanted = |line: &&str| {
        let Some((name, _)) = line.split_once('=') else { return false };
        catalogue().env.iter().any(|p| p.strip_suffix('*').map_or(*p == name, |prefix| name.starts_with(prefix)))
    };
    let mut lines: Vec<&str> = said.lines().filter(wanted).collect();
    lines.sort_unstable();
    let mut text: Vec<u8> = lines.iter().flat_map(|l| format!("{l}\n").into_bytes()).collect();
    secrets::file("linerate/env", &mut text);
    redactor.text(&mut text);
    snapshot.add_file("linerate/env", &text);
}

fn describe(snapshot: &mut Snapshot, uid: Option<u32>, time: Option<u64>, redact: bool, host: String, whole: bool) {
    let boot = snapshot.text(snapshot.root(), "proc/sys/kernel/random/boot_id").known().map(|t| (*t).to_owned());
    let m = &mut snapshot.manifest;
    m.schema = crate::manifest::SCHEMA;
    m.linerate = env!("CARGO_PKG_VERSION").to_owned();
    m.time = time.unwrap_or_default();
    m.boot_id = secrets::boot_digest(&boot.unwrap_or_default());
    m.uid = uid;
    m.origin = "live".to_owned();
    m.redacted = redact;
    m.host = host;
    let mut not_tried: Vec<String> = m.unread.iter().map(|u| u.path.clone()).collect();
    // What the library of NVIDIA's driver answers is not to be had without a program.
    not_tried.push(crate::NVML_PATH.to_owned());
    if whole {
        m.tried = catalogue().patterns.iter().map(|(p, _)| p.clone()).collect();
    }
    snapshot.label.clone_from(&snapshot.manifest.host);
    snapshot.coverage = if whole { Coverage::Full { not_tried } } else { Coverage::Partial };
}
