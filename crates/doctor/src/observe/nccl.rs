//! Lines of NCCL: the short way for frequent ones, the heads, calls and lists.

use super::Observer;
use super::keys::Tuning;
use crate::observe::threads::LastCall;
use crate::place::Place;
use linerate_formats::nccl_log::{Level, Line, Message};
use linerate_formats::{nccl_log, printed};

/// Different ones at most: there are 7 algorithms and 3 protocols.
const MAX_TUNING: usize = 64;

/// Bytes of a list of interfaces.
const MAX_LISTING: usize = 4096;

/// Messages whose line breaks were lost, and whose heads were shortened to the device: `[0] NCCL INFO … [0] NCCL INFO …`.
fn joined<'a>(l: &Line<'a>) -> Option<(Line<'a>, Line<'a>)> {
    let inner = nccl_log::split_glued(l.message)?;
    let end = l.message.len().checked_sub(inner.message.len())?;
    let (outer, _) = l.message.get(..end)?.rsplit_once("NCCL ")?;
    let (outer, device) = outer.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    let is_device = !device.is_empty() && device.bytes().all(|b| b.is_ascii_digit());
    is_device.then_some((Line { message: outer.trim_end(), ..*l }, Line { before: "", who: l.who, ..inner }))
}

/// A list of interfaces that was broken over lines.
#[derive(Debug)]
pub(super) struct Listing {
    place: Place,
    /// Who prints it.
    who: String,
    /// What of it was read, from the network on.
    list: String,
}

impl Observer {
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
                    && let Some(thread) = self.threads.of(l.who, place, &mut self.names)
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
            Message::Other if nccl_log::split_glued(text).is_none() && !text.starts_with("RCCL version") => {}
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

    /// Takes an entry of a list that was broken over lines; any other line ends the list.
    fn listed(&mut self, line: &str) -> bool {
        let entry = printed::own(line).text.trim_end();
        let is_entry = entry.strip_prefix('[').and_then(|e| e.split_once(']')).is_some_and(|(number, rest)| {
            !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
                && rest.contains(':')
                && !rest.contains(' ')
                && rest.ends_with("<0>")
        });
        match &mut self.listing {
            Some(Listing { place, list, .. }) if is_entry && list.len() < MAX_LISTING => {
                list.push(' ');
                list.push_str(entry);
                let file = place.file;
                self.file(file).other += 1;
                true
            }
            _ => {
                self.end_listing();
                false
            }
        }
    }

    pub(super) fn end_listing(&mut self) {
        let Some(Listing { place, who, list: text }) = self.listing.take() else { return };
        if text.ends_with("Using") {
            return;
        }
        let l = Line { before: "", who: &who, level: Level::Info, source: None, message: &text };
        self.message(place, &l, Message::read(&l));
    }

    fn nccl(&mut self, place: Place, l: Line<'_>) {
        let message = Message::read(&l);
        if message == Message::Other && l.message.starts_with("NET/") && l.message.ends_with("Using") {
            self.listing = Some(Listing { place, who: l.who.to_owned(), list: l.message.to_owned() });
        }
        if !message.is_whole(l.message)
            // Two writers in one line: what comes before the second head is the first one's, cut.
            && let Some(inner) = nccl_log::split_glued(l.message).filter(|i| nccl_log::Who::read(i.who).is_some())
        {
            self.file(place.file).mixed += 1;
            let cut = l.message.len() - inner.who.len().min(l.message.len());
            let outer = l.message.find(inner.who).and_then(|at| l.message.get(..at.min(cut))).unwrap_or_default();
            let outer = Line { message: outer.trim_end(), ..l };
            self.message(place, &outer, Message::read(&outer));
            return self.nccl(place, inner);
        }
        if let Some((outer, inner)) = joined(&l) {
            self.file(place.file).mixed += 1;
            self.message(place, &outer, Message::read(&outer));
            return self.nccl(place, inner);
        }
        self.message(place, &l, message);
    }

    fn message(&mut self, place: Place, l: &Line<'_>, message: Message<'_>) {
        self.rccl |= l.message.starts_with("RCCL version") || l.source.is_some_and(|s| s.contains("/rccl/"));
        self.has_info |= l.level == Level::Info;
        let file = self.file(place.file);
        file.nccl += 1;
        file.understood += u64::from(message != Message::Other);
        let Some(thread) = self.threads.of(l.who, place, &mut self.names) else { return };
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
