//! Lines of NCCL: the short way for frequent ones, the heads, calls and lists.

use super::Observer;
use super::keys::Tuning;
use super::listing::Listing;
use crate::observe::threads::LastCall;
use crate::place::Place;
use linerate_formats::nccl_log::{Level, Line, Message};
use linerate_formats::{nccl_log, printed};

/// Different ones at most: there are 7 algorithms and 3 protocols.
const MAX_TUNING: usize = 64;

/// A message of level INFO, for a look at its text alone.
fn info(message: &str) -> Line<'_> {
    Line { before: "", who: "", level: Level::Info, source: None, message }
}

/// Whether a message without a meaning of its own names the library, or begins a list in the next lines.
fn is_rare(text: &str) -> bool {
    text.starts_with("RCCL version") || text.ends_with("Using")
}

impl Observer {
    /// Whether a line in which nothing stands changes nothing.
    pub(crate) fn passes_empty(&self) -> bool {
        self.listing.is_none() && !self.tables.ras.is_in_document()
    }

    /// A line.
    pub(crate) fn line(&mut self, place: Place, line: &str) {
        let line = printed::span(line);
        if self.listing.is_some() && self.listed(line) {
            return;
        }
        if self.frequent(place, line).is_some() {
            return;
        }
        match nccl_log::split(line) {
            Some(l) => {
                self.nccl(place, l);
                // The next line of this thread takes the short way.
                let end = line.len() - l.message.len();
                if let Some(head) = line.as_bytes().get(..end).and_then(|h| h.strip_suffix(b" NCCL INFO "))
                    && let Some(thread) = self.threads.of(l.who, l.before, place, &mut self.names)
                    && !l.who.is_empty()
                {
                    self.threads.remember(head, l.before, thread);
                }
            }
            None if self.ras_line(place, line) => {}
            None => match nccl_log::split_short(line) {
                Some(l) => self.nccl(place, l),
                None => self.other(place, line),
            },
        }
    }

    /// The short way for what nearly all lines of a large log are: calls, connections, choices of an algorithm, and what means nothing, by
    /// a thread that was seen before. `None` where the line is anything else.
    fn frequent(&mut self, place: Place, line: &str) -> Option<()> {
        let bytes = line.as_bytes();
        let close = memchr::memchr(b']', bytes)?;
        bytes.get(close..)?.strip_prefix(b"] NCCL INFO ")?;
        let (thread, process) = self.threads.dressed(bytes.get(..=close)?)?;
        let text = line.get(close + 12..)?;
        if let Some((op_count, name, rank)) = self.threads.called_again(thread, text) {
            let file = self.files.get_mut(place.file.0 as usize)?;
            file.nccl += 1;
            file.understood += 1;
            if let Some(rank) = rank.and_then(|r| self.ranks.all.get_mut(r)) {
                rank.calls += 1;
                rank.last_call = Some((name, op_count));
            }
            return Some(());
        }
        let message = Message::info(text);
        match message {
            Message::Collective { .. } | Message::Connect(_) | Message::Tuning { .. } if message.is_whole(text) => {}
            Message::Other if nccl_log::split_glued(&info(text)).is_none() && !is_rare(text) => {}
            _ => return None,
        }
        let file = self.files.get_mut(place.file.0 as usize)?;
        file.nccl += 1;
        file.understood += u64::from(message != Message::Other);
        match message {
            Message::Collective { name, op_count, rest } => self.call(thread, process, name, op_count, rest),
            Message::Tuning { algorithm, protocol } => self.tune(algorithm, protocol, place),
            Message::Connect(c) => {
                self.threads.processes.get_mut(process)?.wording(text);
                let current = self.threads.threads.get(thread)?.rank;
                let rank = self.ranks.connect(process, current, &c, place, &mut self.names);
                self.work_on(thread, rank);
            }
            _ => {}
        }
        Some(())
    }

    fn nccl(&mut self, place: Place, l: Line<'_>) {
        let message = Message::read(&l);
        let thread = self.threads.of(l.who, l.before, place, &mut self.names);
        let glued = if message.is_whole(l.message) { None } else { nccl_log::split_glued(&l) };
        let known = match glued {
            Some(first) => self.joined(place, l, thread, first),
            None => self.whole(place, &l, message, thread),
        };
        let file = self.file(place.file);
        file.nccl += 1;
        file.understood += u64::from(known);
    }

    /// Several messages in one line: what comes before a second head is the first writer's, perhaps cut. Whether all have a known meaning.
    fn joined<'a>(
        &mut self,
        place: Place,
        mut l: Line<'a>,
        mut thread: Option<usize>,
        mut glued: nccl_log::Glued<'a>,
    ) -> bool {
        self.file(place.file).mixed += 1;
        let mut known = true;
        loop {
            let inner = glued.inner;
            let (skip, next) = match (inner.who, inner.level) {
                ("", Level::Version) => (0, self.threads.of("", "", place, &mut self.names)),
                ("", _) => (0, thread),
                (who, _) => self.threads.inside(who, inner.before, place, &mut self.names),
            };
            let text = l.message.get(..glued.at + skip).unwrap_or_default();
            let outer = Line { message: text.trim_end(), ..l };
            let message = Message::read(&outer);
            known &= message != Message::Other;
            self.message(place, &outer, message, thread);
            (l, thread) = (inner, next);
            match nccl_log::split_glued(&l) {
                Some(next) => glued = next,
                None => return self.whole(place, &l, Message::read(&l), thread) && known,
            }
        }
    }

    /// A message with nothing behind it; if it is a list, the next line may be part of it. Whether it has a known meaning.
    fn whole(&mut self, place: Place, l: &Line<'_>, message: Message<'_>, thread: Option<usize>) -> bool {
        self.listing = Listing::begun(place, thread, message, l.message);
        if self.listing.is_some() {
            return false;
        }
        self.message(place, l, message, thread);
        message != Message::Other
    }

    pub(super) fn message(&mut self, place: Place, l: &Line<'_>, message: Message<'_>, thread: Option<usize>) {
        self.rccl |= l.message.starts_with("RCCL version") || l.source.is_some_and(|s| s.contains("/rccl/"));
        self.has_info |= l.level == Level::Info;
        let Some(thread) = thread else { return };
        let Some(process) = self.threads.threads.get(thread).map(|t| t.process) else { return };
        match message {
            Message::Collective { name, op_count, rest } => self.call(thread, process, name, op_count, rest),
            Message::Tuning { algorithm, protocol } => self.tune(algorithm, protocol, place),
            Message::Other => {}
            _ => self.record(place, l, message, thread, process),
        }
    }

    /// What was chosen for a message: there are few different answers.
    fn tune(&mut self, algorithm: &str, protocol: &str, place: Place) {
        if let Some(t) = self.tuning.iter_mut().find(|t| t.algorithm == algorithm && t.protocol == protocol) {
            t.count += 1;
        } else if self.tuning.len() < MAX_TUNING && algorithm.len() < 40 && protocol.len() < 40 {
            self.tuning.push(Tuning {
                algorithm: algorithm.to_owned(),
                protocol: protocol.to_owned(),
                count: 1,
                first: place,
            });
        }
    }

    /// A call of a collective: most lines of the largest logs.
    fn call(&mut self, thread: usize, process: usize, name: &str, op_count: u64, rest: &str) {
        let Some(t) = self.threads.threads.get_mut(thread) else { return };
        let comm = nccl_log::comm_of_call(rest);
        let rank = comm.map_or(t.rank, |comm| self.ranks.of_handle(process, comm));
        let id = self.names.id(name);
        if let Some(end) = rest.rfind(" comm ").and_then(|at| rest.get(at..)) {
            t.last_call = Some(LastCall { start: format!("{name}: opCount ").into(), name: id, end: end.into(), rank });
        }
        if let Some(rank) = rank.and_then(|r| self.ranks.all.get_mut(r)) {
            rank.calls += 1;
            rank.last_call = Some((id, op_count));
        }
    }

    pub(super) fn work_on(&mut self, thread: usize, rank: Option<usize>) {
        if let Some(t) = self.threads.threads.get_mut(thread) {
            t.rank = rank.or(t.rank);
        }
    }
}
