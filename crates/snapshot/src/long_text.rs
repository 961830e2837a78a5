//! A text that is read once, from its beginning to its end: its head is held, and all of it is cut for the texts of tools.

use crate::cut::Cutter;
use crate::recognise::HEAD;
use linerate_formats::bounds::TEXT as MAX_TEXT;
use std::io::{self, Read};

/// A text that was read.
pub(crate) struct LongText {
    /// Its first 16 MiB and one byte: a text that is one tool's is read so far.
    pub(crate) head: Vec<u8>,
    /// What it holds of tools; `None` of a document, which is read whole: what stands in it is no other tool's.
    pub(crate) cutter: Option<Cutter>,
}

impl LongText {
    /// Reads to the end. `host`: whose it is, where that is said.
    ///
    /// # Errors
    /// Those of the reader.
    pub(crate) fn read(from: &mut impl Read, host: Option<&str>) -> io::Result<Self> {
        let most = usize::try_from(MAX_TEXT).unwrap_or(usize::MAX).saturating_add(1);
        let mut text = LongText { head: Vec::new(), cutter: None };
        from.take(HEAD as u64).read_to_end(&mut text.head)?;
        text.cutter = is_text(&text.head).then(|| Cutter::new(host));
        let Some(cutter) = &mut text.cutter else {
            from.take(MAX_TEXT + 1 - text.head.len() as u64).read_to_end(&mut text.head)?;
            return Ok(text);
        };
        cutter.feed(&text.head);
        let mut piece = vec![0; 256 << 10];
        loop {
            let n = match from.read(&mut piece) {
                Ok(0) => return Ok(text),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            let next = piece.get(..n).unwrap_or_default();
            cutter.feed(next);
            let room = most.saturating_sub(text.head.len()).min(n);
            text.head.extend_from_slice(next.get(..room).unwrap_or_default());
        }
    }

    /// One that is in memory already.
    pub(crate) fn of(bytes: &[u8], host: Option<&str>) -> Self {
        let head = bytes.get(..=MAX_TEXT as usize).unwrap_or(bytes).to_vec();
        LongText { head, cutter: Self::cutter(bytes, host) }
    }

    /// What a text in memory holds of tools, as [`LongText::cutter`].
    pub(crate) fn cutter(bytes: &[u8], host: Option<&str>) -> Option<Cutter> {
        let mut cutter = is_text(bytes.get(..HEAD).unwrap_or(bytes)).then(|| Cutter::new(host))?;
        cutter.feed(bytes);
        Some(cutter)
    }
}

/// Whether it is no document.
pub(crate) fn is_text(head: &[u8]) -> bool {
    let first = head.trim_ascii_start().first();
    !first.is_some_and(|b| matches!(b, b'<' | b'{'))
        && (head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) || !head.contains(&0))
}
