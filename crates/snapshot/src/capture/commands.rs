//! Which commands run, beside the reading of files, and how their output enters the snapshot.

use super::run::{End, Ran, find, run};
use super::{Progress, Purpose, is_mlx_pf, is_network, pci_devices};
use crate::catalogue::{Command, Each, catalogue_of};
use crate::redact::{Redactor, secrets};
use crate::{EntryId, Lookup, Output, OutputKind, Snapshot};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Commands at a time. Some tools load the same device; a busy node has better things to do.
const PARALLEL: usize = 8;

enum News {
    Started(String),
    Done(Task, Vec<(Vec<String>, Ran)>),
}

struct Task {
    /// Place among the catalogue's commands, and among the values of `each`: the order in the snapshot.
    order: (usize, usize),
    command: &'static Command,
    value: String,
}

/// Commands that run while files are read.
pub(super) struct Early {
    send: Sender<News>,
    news: Receiver<News>,
    running: usize,
    waiting: Vec<Task>,
}

/// Starts those that need no facts of the files.
pub(super) fn start_early(purpose: Purpose) -> Early {
    let (send, news) = channel();
    let mut early = Early { send, news, running: 0, waiting: Vec::new() };
    for (n, c) in wanted(purpose) {
        if c.each == Each::Once && c.only_if.is_none() {
            early.waiting.push(Task { order: (n, 0), command: c, value: String::new() });
        }
    }
    early.fill();
    early
}

fn wanted(purpose: Purpose) -> impl Iterator<Item = (usize, &'static Command)> {
    let all = catalogue_of(purpose).commands.iter().enumerate();
    all.filter(move |(_, c)| !(purpose == Purpose::Audit && c.collect_only))
}

impl Early {
    fn fill(&mut self) {
        while self.running < PARALLEL {
            let Some(task) = self.waiting.pop() else { return };
            let send = self.send.clone();
            let started = std::thread::Builder::new().name("linerate-command".into()).spawn(move || {
                let mut ran = Vec::new();
                for argv in &task.command.argv {
                    let argv: Vec<String> = argv.iter().map(|a| a.replace("{}", &task.value)).collect();
                    let _ = send.send(News::Started(argv.join(" ")));
                    let limit = Duration::from_secs(task.command.limit_seconds.into());
                    let result = run(&argv, limit, task.command.max as usize);
                    let good = result.end == End::Status(0);
                    ran.push((argv, result));
                    if good {
                        break;
                    }
                }
                let _ = send.send(News::Done(task, ran));
            });
            if started.is_ok() {
                self.running += 1;
            }
        }
    }
}

/// Starts the rest, waits for all, and adds the outputs under `cmd/<n>/`.
pub(super) fn finish(
    snapshot: &mut Snapshot,
    mut early: Early,
    purpose: Purpose,
    redactor: &Redactor,
    progress: &dyn Fn(Progress<'_>),
) {
    let mut later = Vec::new();
    for (n, c) in wanted(purpose) {
        if c.only_if.is_some_and(|p| !exists(snapshot, p)) || (c.each == Each::Once && c.only_if.is_none()) {
            continue;
        }
        let values = match c.each {
            Each::Once => vec![String::new()],
            Each::MlxPf => mlx_pfs(snapshot),
            Each::MlxNetdev => netdevs(snapshot, is_mlx_pf),
            Each::PciNetdev => netdevs(snapshot, is_network),
            Each::Domain => domains(),
        };
        later.extend(values.into_iter().enumerate().map(|(i, value)| Task { order: (n, i), command: c, value }));
    }
    later.reverse();
    early.waiting.splice(0..0, later);
    early.fill();
    let mut done = Vec::new();
    while early.running > 0 {
        match early.news.recv() {
            Ok(News::Started(line)) => progress(Progress::Started(&line, early.running + early.waiting.len())),
            Ok(News::Done(task, ran)) => {
                early.running -= 1;
                early.fill();
                let line = ran.last().map(|(a, _)| a.join(" ")).unwrap_or_default();
                progress(Progress::Ended(&line, early.running + early.waiting.len()));
                done.push((task, ran));
            }
            Err(_) => break,
        }
    }
    done.sort_by_key(|(t, _)| t.order);
    let all = done.into_iter().flat_map(|(t, ran)| ran.into_iter().map(move |(a, r)| (t.command.kind, a, r)));
    for (n, (kind, argv, ran)) in all.enumerate() {
        add(snapshot, n, kind, argv, ran, redactor);
    }
}

pub(super) fn add(
    snapshot: &mut Snapshot,
    n: usize,
    kind: OutputKind,
    argv: Vec<String>,
    mut ran: Ran,
    redactor: &Redactor,
) {
    if kind == OutputKind::Dmesg {
        ran.stdout = super::kernel_log(&ran.stdout);
    }
    secrets::output(kind, &mut ran.stdout);
    secrets::remove(&mut ran.stderr);
    redactor.text(&mut ran.stdout);
    redactor.text(&mut ran.stderr);
    let status = match &ran.end {
        End::Status(s) => s.to_string(),
        End::NotFound => "not found".to_owned(),
        End::TimedOut => "timed out".to_owned(),
        End::Failed(e) => secrets::without_secrets(e).into_owned(),
    };
    // Strings always make a JSON array.
    let array = serde_json::to_vec(&argv).unwrap_or_default();
    snapshot.add_file(&format!("cmd/{n}/argv"), &array);
    snapshot.add_file(&format!("cmd/{n}/status"), format!("{status}\n").as_bytes());
    if matches!(ran.end, End::NotFound | End::Failed(_)) {
        return;
    }
    snapshot.add_file(&format!("cmd/{n}/stderr"), &ran.stderr);
    let path = format!("cmd/{n}/stdout");
    let whole = !ran.cut && ran.end != End::TimedOut;
    let entry = if whole { snapshot.add_file(&path, &ran.stdout) } else { snapshot.add_cut_file(&path, &ran.stdout) };
    if let Some(entry) = entry {
        let status = if let End::Status(s) = ran.end { Some(s) } else { None };
        snapshot.outputs.push(Output { kind, entry, argv, status });
    }
}

/// Whether something in the snapshot is at the pattern: a path whose last name may be `*`.
fn exists(snapshot: &Snapshot, pattern: &str) -> bool {
    match pattern.strip_suffix("/*") {
        Some(dir) => matches!(snapshot.resolve(dir), Lookup::Found(d) if !snapshot.children(d).is_empty()),
        None => matches!(snapshot.resolve(pattern), Lookup::Found(_)),
    }
}

/// A value of the machine may become an argument only if it looks like what it should be.
pub(super) fn harmless(value: &str) -> bool {
    !value.is_empty()
        && value.len() < 100
        && !value.starts_with('-')
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'.' | b'_' | b'-' | b'@'))
}

fn mlx_pfs(snapshot: &Snapshot) -> Vec<String> {
    let pfs = pci_devices(snapshot).into_iter().filter(|(_, dir)| is_mlx_pf(snapshot, *dir));
    pfs.map(|(bdf, _)| bdf).filter(|b| harmless(b)).collect()
}

/// Interfaces of functions of a kind.
fn netdevs(snapshot: &Snapshot, is: fn(&Snapshot, EntryId) -> bool) -> Vec<String> {
    let Lookup::Found(dir) = snapshot.resolve("sys/class/net") else { return Vec::new() };
    let fits = |id| matches!(snapshot.resolve_from(id, "device"), Lookup::Found(d) if is(snapshot, d));
    let all = snapshot.children(dir).into_iter();
    all.filter(|(name, id)| harmless(name) && snapshot.follow(*id).is_some_and(fits))
        .map(|(n, _)| n.to_owned())
        .collect()
}

/// Running libvirt domains, where the tool is installed.
fn domains() -> Vec<String> {
    if find("virsh").is_none() {
        return Vec::new();
    }
    let argv = ["virsh", "--readonly", "list", "--name"].map(str::to_owned);
    let ran = run(&argv, Duration::from_secs(10), 1 << 16);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    text.lines().map(str::trim).filter(|l| harmless(l)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EntryKind;

    #[test]
    fn only_names_become_arguments() {
        assert!(harmless("0000:41:00.0") && harmless("enp65s0f0np0") && harmless("vm-1"));
        assert!(!harmless("-d") && !harmless("a b") && !harmless("$(x)") && !harmless("") && !harmless("a/../b"));
    }

    #[test]
    fn repeated_commands_follow_the_devices() {
        let mut s = Snapshot::new("t");
        for (bdf, vendor, class) in [("0000:01:00.0", "0x15b3", "0x020700"), ("0000:02:00.0", "0x10de", "0x030200")] {
            s.add_link(&format!("sys/bus/pci/devices/{bdf}"), format!("../../../devices/pci0000:00/{bdf}").as_bytes());
            s.add_file(&format!("sys/devices/pci0000:00/{bdf}/vendor"), format!("{vendor}\n").as_bytes());
            s.add_file(&format!("sys/devices/pci0000:00/{bdf}/class"), format!("{class}\n").as_bytes());
        }
        s.add_link("sys/class/net/ib0", b"../../devices/pci0000:00/0000:01:00.0/net/ib0");
        s.add_link("sys/devices/pci0000:00/0000:01:00.0/net/ib0/device", b"../../../0000:01:00.0");
        assert_eq!(mlx_pfs(&s), ["0000:01:00.0"]);
        assert_eq!((netdevs(&s, is_mlx_pf), netdevs(&s, is_network)), (vec!["ib0".to_owned()], vec!["ib0".to_owned()]));
        assert!(exists(&s, "sys/class/net/*") && !exists(&s, "sys/class/infiniband/*"));
        // A virtual function has no firmware settings of its own.
        s.add_link("sys/devices/pci0000:00/0000:01:00.0/physfn", b"../0000:00:01.0");
        assert!(mlx_pfs(&s).is_empty());
        assert_eq!(s.kind(s.child(s.root(), "sys").unwrap()), &EntryKind::Dir);
    }
}
