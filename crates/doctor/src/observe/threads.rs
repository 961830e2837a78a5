//! Who prints: threads of processes of hosts.

use super::glued::{Glued, endings};
use super::names::{Name, Names};
use super::process::Process;
use crate::place::Place;
use hashbrown::{HashMap, HashSet};
use linerate_formats::nccl_log::{self, Who};
use linerate_formats::printed;

/// Threads that are distinguished; the lines of further ones are counted, not assigned.
const MAX_THREADS: usize = 64 << 10;
/// Bytes of one call of a collective.
const MAX_CALL: usize = 256;
/// Different heads inside lines, behind another writer's text, that are kept.
const MAX_INNER: usize = 4096;

/// A thread with a device.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) process: usize,
    /// Rank whose communicator it works on.
    pub(crate) rank: Option<usize>,
    /// Its last call of a collective.
    pub(crate) last_call: Option<LastCall>,
}

/// What is the same in a thread's calls.
#[derive(Debug)]
pub(crate) struct LastCall {
    /// `AllReduce: opCount `.
    pub(crate) start: Box<str>,
    pub(crate) name: Name,
    /// Communicator and stream.
    pub(crate) end: Box<str>,
    /// The rank that the communicator names; none where its making is not in the log.
    pub(crate) rank: Option<usize>,
}

/// Everything that prints.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    ids: HashMap<Box<str>, usize>,
    /// By heads inside lines: the bytes at the beginning that are another writer's, and the thread.
    inner: HashMap<Box<str>, (usize, usize)>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) processes: Vec<Process>,
    by_pid: HashMap<(Name, u32), usize>,
    /// Hosts whose names are whole.
    hosts: HashSet<Name>,
    /// Processes whose hosts' names may begin with another writer's text.
    glued: Glued,
    /// By all that comes before the level, tags of launchers included, where that is the same in every line.
    dressed: HashMap<Box<[u8]>, (usize, usize)>,
    /// Lines of threads beyond the limit.
    pub(crate) untracked: u64,
}

impl Threads {
    /// The thread that a line's head names; `before` is what precedes the head.
    pub(crate) fn of(&mut self, who: &str, before: &str, place: Place, names: &mut Names) -> Option<usize> {
        match self.ids.get(who) {
            Some(id) => Some(*id),
            None => self.add(who, before, place, names),
        }
    }

    /// The thread that a head inside a line names, behind another writer's text, and how many bytes of the head are that writer's.
    pub(crate) fn inside(
        &mut self,
        who: &str,
        before: &str,
        place: Place,
        names: &mut Names,
    ) -> (usize, Option<usize>) {
        if let Some(id) = self.ids.get(who) {
            return (0, Some(*id));
        }
        let Some(w) = Who::read(who) else { return (0, self.of("", "", place, names)) };
        if let Some((skip, id)) = self.inner.get(who).copied() {
            self.settle(&w, before, names);
            return (skip, Some(id));
        }
        if self.threads.len() >= MAX_THREADS || self.inner.len() >= MAX_INNER {
            return (0, self.of("", "", place, names));
        }
        if let Some((at, process)) = self.ending(&w, names) {
            let skip = if at > 0 { start_of_host(who, &w) + at } else { 0 };
            let id = match who.get(skip..).and_then(|rest| self.ids.get(rest)) {
                Some(id) => *id,
                None => self.thread(process),
            };
            self.inner.insert(who.into(), (skip, id));
            return (skip, Some(id));
        }
        let known = names.known(w.host).filter(|host| self.hosts.contains(host));
        let process = match (known, self.glued.process(&w)) {
            (Some(host), _) => self.process(host, w.pid, place),
            (None, Some(process)) => process,
            (None, None) => {
                let process = self.processes.len();
                if !self.glued.add(&w, process, before) {
                    return (0, self.of("", "", place, names));
                }
                self.processes.push(Process::new(names.id(""), w.pid, place));
                process
            }
        };
        self.settle(&w, before, names);
        let id = self.thread(process);
        self.inner.insert(who.into(), (0, id));
        (0, Some(id))
    }

    /// Thread and process of a line that begins like one before.
    pub(crate) fn dressed(&self, head: &[u8]) -> Option<(usize, usize)> {
        self.dressed.get(head).copied()
    }

    /// A call that reads as the thread's last one but for its number and buffers, as nearly all do: number, name, rank.
    pub(crate) fn called_again(&self, thread: usize, text: &str) -> Option<(u64, Name, Option<usize>)> {
        let last = self.threads.get(thread)?.last_call.as_ref()?;
        let (op_count, rest) = nccl_log::hex(text.strip_prefix(&*last.start)?)?;
        // Two calls in one line end as one does.
        (rest.len() < MAX_CALL && rest.ends_with(&*last.end)).then_some((op_count, last.name, last.rank))
    }

    /// Remembers the beginning of a line. One with a clock in it is another every time.
    pub(crate) fn remember(&mut self, head: &[u8], before: &str, thread: usize) {
        let clock = before.len() > 32 || before.bytes().filter(|b| *b == b':').count() > 1;
        if let Some(t) = self.threads.get(thread).filter(|_| !clock && self.dressed.len() < MAX_THREADS) {
            let process = t.process;
            self.dressed.entry_ref(head).or_insert((thread, process));
        }
    }

    fn add(&mut self, who: &str, before: &str, place: Place, names: &mut Names) -> Option<usize> {
        // The end of a table's row without its line's end: `sum      -1host:1:2 [0]`, `100.66      0host:1:2 [0]`.
        let bare = who.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        if let Some(id) = self.ids.get(bare) {
            return Some(*id);
        }
        if self.threads.len() >= MAX_THREADS {
            self.untracked += 1;
            return None;
        }
        let process = match Who::read(who) {
            Some(w) if printed::is_tags(before) => self.own(&w, place, names),
            Some(w) => self.behind(&w, before, place, names),
            // Lines without a head are one process for each file.
            None => self.process(names.id(""), place.file.0, place),
        };
        let id = self.thread(process);
        self.ids.insert(who.into(), id);
        Some(id)
    }

    fn thread(&mut self, process: usize) -> usize {
        self.threads.push(Thread { process, rank: None, last_call: None });
        self.threads.len() - 1
    }

    fn process(&mut self, host: Name, pid: u32, place: Place) -> usize {
        let processes = &mut self.processes;
        *self.by_pid.entry((host, pid)).or_insert_with(|| {
            processes.push(Process::new(host, pid, place));
            processes.len() - 1
        })
    }

    /// The process that begins a line: its host's name is whole. Heads behind another writer's text may have named it before.
    fn own(&mut self, w: &Who<'_>, place: Place, names: &mut Names) -> usize {
        let host = names.id(w.host);
        for process in self.glued.take(w) {
            self.by_pid.entry((host, w.pid)).or_insert(process);
            self.name(process, host);
        }
        if self.hosts.insert(host) {
            // Of another process of this host, as it seems.
            let nobody = names.id("");
            self.glued.longer(w.host).for_each(|p| rename(&mut self.processes, p, nobody));
        }
        let process = self.process(host, w.pid, place);
        if let Some(p) = self.processes.get_mut(process) {
            p.own = true;
        }
        process
    }

    /// The process that a head names behind a text that no launcher puts there: a logger's, or another writer's.
    fn behind(&mut self, w: &Who<'_>, before: &str, place: Place, names: &mut Names) -> usize {
        let host = names.id(w.host);
        if self.by_pid.contains_key(&(host, w.pid)) {
            return self.process(host, w.pid, place);
        }
        if let Some((_, process)) = self.ending(w, names) {
            return process;
        }
        let process = self.process(host, w.pid, place);
        if self.is_longer(w.host, names) {
            self.name(process, names.id(""));
        } else {
            self.glued.add(w, process, before);
        }
        process
    }

    /// The process whose host's name ends this one: what is before it in the name is another writer's.
    fn ending(&self, w: &Who<'_>, names: &Names) -> Option<(usize, usize)> {
        endings(w.host, names).find_map(|(at, host)| {
            let process = *self.by_pid.get(&(host, w.pid))?;
            (at == 0 || self.processes.get(process)?.own).then_some((at, process))
        })
    }

    /// Whether a host's name is a known one with something before it.
    fn is_longer(&self, host: &str, names: &Names) -> bool {
        endings(host, names).any(|(at, name)| at > 0 && self.hosts.contains(&name))
    }

    /// Takes a name for whole that stands behind different words, and of which no known one is a part.
    fn settle(&mut self, w: &Who<'_>, before: &str, names: &mut Names) {
        if !self.glued.is_seen_elsewhere(w, before) || self.is_longer(w.host, names) {
            return;
        }
        let host = names.id(w.host);
        for (pid, process) in self.glued.take_host(w.host) {
            self.by_pid.entry((host, pid)).or_insert(process);
            self.name(process, host);
        }
        self.hosts.insert(host);
    }

    fn name(&mut self, process: usize, host: Name) {
        rename(&mut self.processes, process, host);
    }
}

fn rename(processes: &mut [Process], process: usize, host: Name) {
    if let Some(p) = processes.get_mut(process) {
        p.host = host;
    }
}

/// Where the host's name begins in `12:host:pid:tid [device]`.
fn start_of_host(who: &str, w: &Who<'_>) -> usize {
    let ids = who.split_once(" [").map_or(who, |(ids, _)| ids);
    let rest = ids.rsplitn(3, ':').nth(2).unwrap_or_default();
    rest.len().saturating_sub(w.host.len())
}
