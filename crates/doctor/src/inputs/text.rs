//! An input that is read from its beginning to its end: a log, a tool's text, or both in one.

use super::Inputs;
use crate::Reader;
use linerate_formats::bounds::DOCTOR_TEXT;
use linerate_formats::{Gives, Kind};
use linerate_snapshot::content;
use linerate_snapshot::cut::{self, Cutter};
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
    /// A tool's text: held, and once it is too long to be held searched for lines, and cut.
    Facts { bytes: Vec<u8>, beyond: Option<(Reader, Cutter)> },
    /// A kernel's log: searched as it comes, and held where it is small.
    Kernel { reader: Reader, copy: Option<Vec<u8>> },
    /// A log, or nothing that is known: searched as it comes. What tools printed in between is cut out.
    Lines { reader: Reader, cutter: Cutter },
}

impl<'a> Text<'a> {
    /// Begins with the first bytes, which show what it is: 64 KiB, or all.
    pub fn new(source: &'a Source, head: Vec<u8>, all: &mut Inputs) -> Self {
        let kind = content(&source.name, &head);
        let way = match kind.gives() {
            Gives::Facts | Gives::Copy(_) => Way::Facts { bytes: head, beyond: None },
            Gives::KernelLog => Way::Kernel { reader: lines(source, &head, all), copy: Some(head) },
            Gives::NoFacts(_) | Gives::Unknown => {
                let reader = lines(source, &head, all);
                Way::Lines { reader, cutter: cutter(source, &head, all) }
            }
        };
        Text { source, kind, way }
    }

    /// Takes the next bytes. Answers how many bytes of lines were searched for all that programs print.
    pub fn feed(&mut self, next: &[u8], all: &mut Inputs) -> u64 {
        let before = all.observer.searched();
        match &mut self.way {
            Way::Facts { beyond: Some((reader, cutter)), .. } => {
                reader.feed(&mut all.observer, next);
                cutter.feed(next);
            }
            Way::Facts { bytes, beyond } => {
                if bytes.len() + next.len() > DOCTOR_TEXT {
                    let (mut reader, mut cutter) = (lines(self.source, bytes, all), cutter(self.source, bytes, all));
                    reader.feed(&mut all.observer, next);
                    cutter.feed(next);
                    *beyond = Some((reader, cutter));
                }
                bytes.extend_from_slice(next.get(..DOCTOR_TEXT.saturating_sub(bytes.len())).unwrap_or(next));
            }
            Way::Kernel { reader, copy } => {
                reader.feed(&mut all.observer, next);
                match copy {
                    Some(c) if c.len() + next.len() <= DOCTOR_TEXT => c.extend_from_slice(next),
                    _ => *copy = None,
                }
            }
            Way::Lines { reader, cutter } => {
                reader.feed(&mut all.observer, next);
                cutter.feed(next);
            }
        }
        all.observer.searched() - before
    }

    /// It has ended.
    pub fn finish(self, all: &mut Inputs) {
        let Text { source, kind, way } = self;
        match way {
            Way::Facts { bytes, beyond: None } => facts(source, kind, bytes, all),
            Way::Facts { bytes, beyond: Some((reader, cutter)) } => {
                reader.finish(&mut all.observer);
                long_facts(source, kind, bytes, cutter.finish(&source.name), all);
            }
            Way::Kernel { reader, copy } => {
                reader.finish(&mut all.observer);
                kernel(source, kind, copy, all);
            }
            Way::Lines { reader, cutter } => {
                reader.finish(&mut all.observer);
                all.take_cut(&source.name, cutter.finish(&source.name));
                all.called.push((source.name.clone(), kind));
            }
        }
    }
}

/// A cutter that has cut these.
fn cutter(source: &Source, bytes: &[u8], all: &Inputs) -> Cutter {
    let mut cutter = Cutter::new(all.host_said(source));
    cutter.feed(bytes);
    cutter
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
fn facts(source: &Source, kind: Kind, bytes: Vec<u8>, all: &mut Inputs) {
    let pieces = cut::has_no_device(kind, &bytes);
    if pieces || is_mixed(&bytes) {
        lines(source, &bytes, all).finish(&mut all.observer);
    }
    let cut = cutter(source, &bytes, all).finish(&source.name);
    if cut.several || !pieces {
        one_or_several(source, kind, bytes, cut, all);
    }
}

/// A text that begins as a tool's, of which only the beginning is held.
fn long_facts(source: &Source, kind: Kind, bytes: Vec<u8>, cut: cut::Cut, all: &mut Inputs) {
    // A long log may begin with what a script shows of the machine.
    if cut.several || kind.tool().is_aside() {
        return all.take_cut(&source.name, cut);
    }
    let most = DOCTOR_TEXT >> 20;
    all.unread(&source.name, format!("facts were read from its first {most} MiB only (limit DOCTOR_TEXT)"));
    all.keep(source, kind, bytes);
}

/// A kernel's log that was searched; the copy is there where it is small.
fn kernel(source: &Source, kind: Kind, copy: Option<Vec<u8>>, all: &mut Inputs) {
    match copy {
        Some(copy) => {
            let cut = cutter(source, &copy, all).finish(&source.name);
            one_or_several(source, kind, copy, cut, all);
        }
        None => {
            let most = DOCTOR_TEXT >> 20;
            let what = format!("longer than {most} MiB: searched for failures, not read for facts about the node");
            all.remark(&source.name, what);
        }
    }
}

/// Kept whole where it is one tool's text of one node.
fn one_or_several(source: &Source, kind: Kind, bytes: Vec<u8>, cut: cut::Cut, all: &mut Inputs) {
    if cut.several {
        all.take_cut(&source.name, cut);
    } else {
        all.lines_beside(&source.name, cut.beside);
        all.keep(source, kind, bytes);
    }
}
