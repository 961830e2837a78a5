//! One input after the other: opened once, unpacked, and handed over in pieces. What becomes of them, the doctor decides.

use super::doctor_walk::{Found, Source};
use crate::progress::Line;
use linerate_doctor::{Inputs, Text};
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{Damage, Input};
use std::path::Path;

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
    done: u64,
    buffer: Vec<u8>,
}

impl<'a> Feed<'a> {
    pub(super) fn new(line: &'a Line, all: &[Found]) -> Self {
        let sizes = all.iter().map(|f| match f {
            Found::Tree { .. } => Some(0),
            Found::Stream(s) => s.size,
        });
        let mut inputs = Inputs::default();
        inputs.host_of(crate::budget::hosts());
        Feed { inputs, line, total: sizes.sum(), files: all.len(), at: 0, done: 0, buffer: vec![0; CHUNK] }
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
        match Input::open(s.path.as_deref(), &crate::budget::budget()) {
            Ok(input) => self.read(s, input),
            Err(e) => self.inputs.unread(&s.name, format!("it cannot be read: {e}")),
        }
    }

    fn read(&mut self, s: &Source, mut input: Input) {
        if input.head().is_empty() {
            match input.piece(&mut self.buffer) {
                Err(damage) => self.inputs.unread(&s.name, damage.to_string()),
                Ok(_) => self.inputs.remark(&s.name, "it is empty".to_owned()),
            }
            return;
        }
        if input.is_archive() {
            return self.archive(s, input);
        }
        let mut text = Text::new(s, input.take_head(), &mut self.inputs);
        let mut damage = None;
        loop {
            let n = match self.more(s, &mut input) {
                Ok(0) => break,
                Ok(n) => n,
                Err(why) => {
                    damage = Some(why);
                    break;
                }
            };
            let searched = text.feed(self.buffer.get(..n).unwrap_or_default(), &mut self.inputs);
            // What is packed costs no more than a multiple of what lies on the disk.
            if input.packing().is_some()
                && let Err(e) = crate::budget::budget().search(searched)
            {
                self.inputs.unread(&s.name, e.to_string());
                break;
            }
        }
        text.finish(&mut self.inputs);
        if let Some(why) = damage {
            self.inputs.unread(&s.name, why.to_string());
        }
        self.done += input.packed_bytes();
    }

    /// A tar: a snapshot, a sosreport, a tree.
    fn archive(&mut self, s: &Source, input: Input) {
        let loaded = match &s.path {
            // Our own archives are read in one go, from the file.
            Some(path) if s.size.is_some() => {
                drop(input);
                linerate_snapshot::load(path, &crate::budget::options(path, Purpose::Audit), &|_| {})
            }
            _ => linerate_snapshot::Reader::within(&crate::budget::budget()).read_from(input, &s.name),
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
    fn more(&mut self, s: &Source, input: &mut Input) -> Result<usize, Damage> {
        let n = input.piece(&mut self.buffer);
        let done = self.done + input.packed_bytes();
        self.line.bytes(done, self.total, &s.name, self.at, self.files);
        n
    }
}
