//! An input that is read from its beginning to its end: a log, a tool's text, or both in one.

use super::Inputs;
use crate::Reader;
use linerate_formats::bounds::DOCTOR_TEXT;
use linerate_formats::{Gives, Kind};
use linerate_snapshot::{content, cut};
use std::path::PathBuf;

/// A file, a pipe, standard input.
#[derive(Debug, Clone)]
pub struct Source {
    /// `None`: standard input.
    pub path: Option<PathBuf>,
    /// Name in the answer.
    pub name: String,
    /// Bytes on disk, where that is known.
    pub size: Option<u64>,
}

/// What is being read of one.
pub struct Text<'a> {
    source: &'a Source,
    kind: Kind,
    way: Way,
}

enum Way {
    /// A tool's text: held, and searched for lines once it is too long to be held.
    Facts { bytes: Vec<u8>, reader: Option<Reader> },
    /// A log, or nothing that is known: searched as it comes. What tools printed in between is cut out where the whole of it is small.
    Lines { reader: Reader, copy: Option<Vec<u8>> },
}

impl<'a> Text<'a> {
    /// Begins with the first bytes, which show what it is: 64 KiB, or all.
    pub fn new(source: &'a Source, head: Vec<u8>, all: &mut Inputs) -> Self {
        let kind = content(&source.name, &head);
        let way = if matches!(kind.gives(), Gives::Facts | Gives::Copy(_)) {
            Way::Facts { bytes: head, reader: None }
        } else {
            let reader = lines(source, &head, all);
            let large = source.size.is_some_and(|n| n > DOCTOR_TEXT as u64);
            Way::Lines { reader, copy: (!large).then_some(head) }
        };
        Text { source, kind, way }
    }

    /// Takes the next bytes. Answers how many bytes of a log were searched for all that programs print.
    pub fn feed(&mut self, next: &[u8], all: &mut Inputs) -> u64 {
        match &mut self.way {
            Way::Facts { reader: Some(reader), .. } => reader.feed(&mut all.observer, next),
            Way::Facts { bytes, reader } => {
                bytes.extend_from_slice(next);
                if bytes.len() > DOCTOR_TEXT {
                    *reader = Some(lines(self.source, bytes, all));
                }
            }
            Way::Lines { reader, copy } => {
                let before = all.observer.searched();
                reader.feed(&mut all.observer, next);
                match copy {
                    Some(c) if c.len() + next.len() <= DOCTOR_TEXT => c.extend_from_slice(next),
                    _ => *copy = None,
                }
                return all.observer.searched() - before;
            }
        }
        0
    }

    /// It has ended.
    pub fn finish(self, all: &mut Inputs) {
        let Text { source, kind, way } = self;
        match way {
            Way::Facts { bytes, reader } => facts(source, kind, bytes, reader, all),
            Way::Lines { reader, copy } => {
                reader.finish(&mut all.observer);
                log(source, kind, copy, all);
            }
        }
    }
}

/// A reader of lines that has read these.
fn lines(source: &Source, bytes: &[u8], all: &mut Inputs) -> Reader {
    let mut reader = Reader::new(&mut all.observer, &source.name);
    reader.feed(&mut all.observer, bytes);
    reader
}

/// Whether lines that the doctor reads stand in a text that begins as a tool's: of a job, of the kernel, of a program that fails.
fn is_mixed(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).lines().any(cut::is_kernels) || crate::reads(bytes)
}

/// A tool's text is a log as well where lines of a job or of a kernel stand in it: people paste both into one file.
fn facts(source: &Source, kind: Kind, bytes: Vec<u8>, reader: Option<Reader>, all: &mut Inputs) {
    let longer = reader.is_some();
    let pieces = !longer && cut::has_no_device(kind, &bytes);
    let reader = reader.or_else(|| (pieces || is_mixed(&bytes)).then(|| lines(source, &bytes, all)));
    if let Some(reader) = reader {
        reader.finish(&mut all.observer);
    }
    // A long log may begin with what a script shows of the machine.
    if pieces || longer && kind.tool().is_aside() {
        return;
    }
    if longer {
        let most = DOCTOR_TEXT >> 20;
        all.unread(&source.name, format!("facts were read from its first {most} MiB only (limit DOCTOR_TEXT)"));
    }
    one_or_several(source, kind, bytes, all);
}

/// A log that was searched; the copy is there where it is small.
fn log(source: &Source, kind: Kind, copy: Option<Vec<u8>>, all: &mut Inputs) {
    let is_kernels = kind.gives() == Gives::KernelLog;
    match copy {
        Some(copy) if is_kernels => one_or_several(source, kind, copy, all),
        Some(copy) => all.take_cut(&source.name, cut_of(source, &copy, all)),
        None if is_kernels => {
            let most = DOCTOR_TEXT >> 20;
            let what = format!("longer than {most} MiB: searched for failures, not read for facts about the node");
            all.remark(&source.name, what);
        }
        None => {}
    }
}

fn cut_of(source: &Source, bytes: &[u8], all: &Inputs) -> cut::Cut {
    cut::nodes(&source.name, bytes, all.host_said(source))
}

/// Kept whole where it is one tool's text of one node.
fn one_or_several(source: &Source, kind: Kind, bytes: Vec<u8>, all: &mut Inputs) {
    let cut = cut_of(source, &bytes, all);
    if cut.several {
        all.take_cut(&source.name, cut);
    } else {
        all.keep(source, kind, bytes);
    }
}
