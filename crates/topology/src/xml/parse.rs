//! What both readers share: limits, positions and errors.

use super::{At, Document};
use std::fmt;

pub(crate) use linerate_formats::bounds::{
    XML_ATTRIBUTES as MAX_ATTRIBUTES, XML_BYTES as MAX_BYTES, XML_DEPTH as MAX_DEPTH, XML_ELEMENTS as MAX_ELEMENTS,
};

/// NCCL's table of elements of one file (`NCCL_TOPO_XML_MAX_NODES`); the last one is never usable.
pub(crate) const NCCL_MAX_NODES: usize = 256;

/// How strictly a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// As NCCL's own reader does: what it refuses is refused, what it skips is skipped.
    #[default]
    Nccl,
    /// Any well-formed XML: declaration, comments, entities, text (which is dropped).
    Lenient,
}

/// Why a text is not a topology: what, where and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlError {
    /// Where.
    pub at: At,
    /// What was found, and why it is refused.
    pub what: String,
    /// What to do.
    pub help: &'static str,
}

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}: {}", self.at.line, self.at.column, self.what, self.help)
    }
}

impl std::error::Error for XmlError {}

impl Document {
    /// Reads a topology.
    ///
    /// # Errors
    ///
    /// What the dialect refuses, with line, column and what to do.
    pub fn parse(text: impl AsRef<[u8]>, dialect: Dialect) -> Result<Document, XmlError> {
        let text = text.as_ref();
        if text.len() > MAX_BYTES {
            let what = format!("{} bytes, and no topology has more than {MAX_BYTES}", text.len());
            return Err(XmlError { at: At { line: 1, column: 1 }, what, help: "give the topology file itself" });
        }
        match dialect {
            Dialect::Nccl => super::nccl::parse(text),
            Dialect::Lenient => super::lenient::parse(text),
        }
    }
}

/// A place in the bytes that knows its line.
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    pub(super) pos: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Cursor { text, pos: 0, line: 1, line_start: 0 }
    }

    pub(super) fn at(&self) -> At {
        At { line: self.line, column: u32::try_from(self.pos - self.line_start + 1).unwrap_or(u32::MAX) }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.pos..).unwrap_or_default()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let c = self.peek()?;
        self.pos += 1;
        if c == b'\n' {
            self.line += 1;
            self.line_start = self.pos;
        }
        Some(c)
    }

    pub(super) fn skip(&mut self, n: usize) {
        for _ in 0..n {
            self.next();
        }
    }
}
