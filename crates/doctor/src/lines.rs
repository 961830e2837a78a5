//! The lines of a stream, handed to an observer.

use crate::observe::Observer;
use crate::place::{FileId, Place};
use linerate_formats::lines::{Line, LineReader, Sink, Taken};

/// Bytes of a line that are looked at. NCCL's own lines are cut at 1,024; frameworks print a few kilobytes.
const MAX_LINE: usize = 64 << 10;

/// Feeds a file to an observer, in pieces of any size. Memory is bounded: a line longer than 64 KiB is cut, the rest passed over.
#[derive(Debug)]
pub struct Reader {
    file: FileId,
    lines: LineReader,
}

impl Reader {
    /// A reader of a new file.
    pub fn new(observer: &mut Observer, name: &str) -> Self {
        Reader { file: observer.open(name), lines: LineReader::new(MAX_LINE) }
    }

    /// The next piece.
    pub fn feed(&mut self, observer: &mut Observer, bytes: &[u8]) {
        observer.file(self.file).bytes += bytes.len() as u64;
        self.lines.feed(bytes, &mut Watched { observer, file: self.file });
    }

    /// The end of the file.
    pub fn finish(self, observer: &mut Observer) {
        let end = self.lines.finish(&mut Watched { observer, file: self.file });
        let file = observer.file(self.file);
        (file.lines, file.unended) = (end.lines, end.unended);
        observer.close(self.file);
    }
}

/// Hands the lines of a file to an observer.
struct Watched<'a> {
    observer: &'a mut Observer,
    file: FileId,
}

impl Sink for Watched<'_> {
    fn line(&mut self, line: Line<'_>) {
        let seen = self.observer.file(self.file);
        seen.cut_lines += u64::from(line.is_cut);
        seen.undecodable += u64::from(line.is_undecodable);
        self.observer.line(Place { file: self.file, line: line.number }, line.text);
    }

    fn run(&mut self, _: u64, text: &str) -> Taken {
        if self.observer.passes_empty() { Taken::empty(text) } else { Taken::default() }
    }
}
