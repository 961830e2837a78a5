//! One input after the other: opened once, unpacked, and handed over in pieces. What becomes of them, the doctor decides.

use super::doctor_walk::{Found, Source};
use crate::progress::Line;
use linerate_doctor::{Inputs, Text};
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{Exceeded, Unpacked, charge_holes, is_archive_head};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Bytes that show what an input is.
const HEAD: usize = 64 << 10;
/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;

/// Reads inputs.
pub(super) struct Feed<'a> {
    pub(super) inputs: Inputs,
    line: &'a Line,
    /// Bytes of all inputs that have a size; `None` where one has none.
    total: Option<u64>,
    files: usize,
    at: usize,
    done: Cell<u64>,
    buffer: Vec<u8>,
}

impl<'a> Feed<'a> {
    pub(super) fn new(line: &'a Line, all: &[Found]) -> Self {
        let sizes = all.iter().map(|f| match f {
            Found::Tree { .. } => Some(0),
            Found::Stream(s) => s.size,
        });
        Feed {
            inputs: Inputs::default(),
            line,
            total: sizes.sum(),
            files: all.len(),
            at: 0,
            done: Cell::new(0),
            buffer: vec![0; CHUNK],
        }
    }

    /// A directory that is a snapshot or a tree.
    pub(super) fn tree(&mut self, path: &Path, name: &str) {
        self.at += 1;
        let line = self.line;
        match linerate_snapshot::load(path, &crate::budget::options(path, Purpose::Audit), &|p| line.capture(p)) {
            Ok(s) => self.inputs.snapshot(name, s),
            Err(e) => self.inputs.unread(name, e.to_string()),
        }
    }

    /// A file, a pipe, standard input.
    pub(super) fn stream(&mut self, s: &Source) {
        self.at += 1;
        let opened: io::Result<Box<dyn Read>> = match &s.path {
            None => Ok(Box::new(io::stdin().lock())),
            Some(path) => File::open(path).and_then(|f| {
                charge_holes(&f, &crate::budget::budget()).map_err(io::Error::other)?;
                Ok(Box::new(f) as Box<dyn Read>)
            }),
        };
        if let Err(e) = opened.and_then(|from| self.read(s, from)) {
            self.inputs.unread(&s.name, format!("it cannot be read: {e}"));
        }
    }

    fn read(&mut self, s: &Source, from: Box<dyn Read>) -> io::Result<()> {
        let done = std::rc::Rc::new(Cell::new(0));
        let counted = Counted { from, done: done.clone() };
        let mut open =
            Open { from: Unpacked::new(counted, &crate::budget::budget())?, bytes: 0, damage: None, progress: done };
        let head = open.head();
        if head.is_empty() {
            match open.damage.take() {
                Some(why) => self.inputs.unread(&s.name, why),
                None => self.inputs.remark(&s.name, "it is empty".to_owned()),
            }
            return Ok(());
        }
        if is_archive_head(&head) {
            self.archive(s, head, open);
            return Ok(());
        }
        let mut text = Text::new(s, head, &mut self.inputs);
        while let Some(n) = self.more(s, &mut open) {
            let searched = text.feed(self.buffer.get(..n).unwrap_or_default(), &mut self.inputs);
            // What is packed costs no more than a multiple of what lies on the disk.
            if open.from.packing().is_some()
                && let Err(e) = crate::budget::budget().search(searched)
            {
                self.inputs.unread(&s.name, e.to_string());
                break;
            }
        }
        text.finish(&mut self.inputs);
        if let Some(why) = open.damage.take() {
            self.inputs.unread(&s.name, why);
        }
        self.done.set(self.done.get() + open.progress.get());
        Ok(())
    }

    /// A tar: a snapshot, a sosreport, a tree.
    fn archive(&mut self, s: &Source, head: Vec<u8>, open: Open<'_>) {
        let loaded = match &s.path {
            // Our own archives are read in one go, from the file.
            Some(path) if s.size.is_some() => {
                drop((head, open));
                linerate_snapshot::load(path, &crate::budget::options(path, Purpose::Audit), &|_| {})
            }
            _ => linerate_snapshot::Reader::within(&crate::budget::budget())
                .read_from(io::Cursor::new(head).chain(open.from), &s.name),
        };
        match loaded {
            Ok(snapshot) => self.inputs.snapshot(&s.name, snapshot),
            Err(e) => self.inputs.unread(
                &s.name,
                format!("{e}; logs inside an archive are not read: unpack it, and name the directory"),
            ),
        }
    }

    /// The next piece, in the buffer.
    fn more(&mut self, s: &Source, open: &mut Open<'_>) -> Option<usize> {
        let n = open.read(&mut self.buffer);
        let done = self.done.get() + open.progress.get();
        self.line.bytes(done, self.total, &s.name, self.at, self.files);
        n
    }
}

/// An input that is being read.
struct Open<'a> {
    from: Unpacked<'a>,
    /// Bytes, unpacked.
    bytes: u64,
    /// Why it ended before its end.
    damage: Option<String>,
    /// Bytes on disk that were read.
    progress: std::rc::Rc<Cell<u64>>,
}

impl Open<'_> {
    /// The next bytes; `None` at the end, whatever that is.
    fn read(&mut self, to: &mut [u8]) -> Option<usize> {
        if self.damage.is_some() {
            return None;
        }
        loop {
            match self.from.read(to) {
                Ok(0) => return None,
                Ok(n) => {
                    self.bytes += n as u64;
                    return Some(n);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    let exceeded = Exceeded::of(&e).map(|e| format!("{e}; the first {} bytes were read", self.bytes));
                    self.damage = Some(exceeded.unwrap_or_else(|| match self.from.packing() {
                        Some(packing) => format!(
                            "its {packing} compression is damaged after {} bytes of text: {e}; what came before was read",
                            self.bytes
                        ),
                        None => format!("reading it failed after {} bytes: {e}; what came before was read", self.bytes),
                    }));
                    return None;
                }
            }
        }
    }

    /// The beginning.
    fn head(&mut self) -> Vec<u8> {
        let mut head = vec![0; HEAD];
        let mut have = 0;
        while have < HEAD
            && let Some(n) = head.get_mut(have..).and_then(|rest| self.read(rest))
        {
            have += n;
        }
        head.truncate(have);
        head
    }
}

/// Counts what is read from disk.
struct Counted {
    from: Box<dyn Read>,
    done: std::rc::Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buf)?;
        self.done.set(self.done.get() + n as u64);
        Ok(n)
    }
}
