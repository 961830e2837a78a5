//! A file that was read.

use linerate_formats::nccl_log::stamp::Stamp;

/// A file that was read.
#[derive(Debug, Clone, Default)]
pub struct FileSeen {
    /// Its name.
    pub name: String,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Lines of NCCL.
    pub nccl: u64,
    /// Of those, lines that mean something to this tool, or are known to mean nothing.
    pub understood: u64,
    /// Other lines that mean something: of the kernel, of frameworks, of benchmarks.
    pub other: u64,
    /// Lines that are no UTF-8.
    pub undecodable: u64,
    /// Lines that were too long and were cut.
    pub cut_lines: u64,
    /// Lines in which two writers' texts are mixed.
    pub mixed: u64,
    /// Lists of NICs whose end is missing.
    pub cut_lists: u64,
    /// The last line has no end: the file may be cut.
    pub unended: bool,
    /// Time stamps, first and last.
    pub times: Option<(Stamp, Stamp)>,
}
