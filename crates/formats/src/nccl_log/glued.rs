//! Several messages in one line: line breaks that were lost, and writers that mix.

use super::line::{ANCHOR, Level, Line, Who, head, level};
use crate::printed;

/// Bytes of tags between a release and the head that follows it.
const MAX_TAGS: usize = 128;

/// The first message within another's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glued<'a> {
    /// Where in the outer message its head begins: what comes before it is the outer message.
    pub at: usize,
    /// The message, with all that follows it. `who` is empty for a release, which has no head, and for a head of which only the device
    /// is left (`[0] NCCL INFO`): that is the outer message's thread.
    pub inner: Line<'a>,
}

/// Finds the first message within the message of a line: one with a head, or a release that NCCL prints without one.
#[must_use]
pub fn split_glued<'a>(l: &Line<'a>) -> Option<Glued<'a>> {
    let text = l.message;
    // The first byte that can be of the next head, and where to go on looking.
    let mut start = if l.level == Level::Version { release_end(text).unwrap_or(0) } else { 0 };
    let mut from = start;
    loop {
        let at = from + ANCHOR.find(text.as_bytes().get(from..)?)?;
        from = at + ANCHOR.needle().len();
        let Some((level, message)) = level(text.get(from..)?) else { continue };
        let before = text.get(start..at)?;
        if let Some((outer, inner)) = headed(before, level, message).or_else(|| device(before, level, message)) {
            return Some(Glued { at: start + outer, inner });
        }
        // At the beginning it is the message itself: `NCCL INFO NCCL version 2.26.2+cuda12.2`.
        if level == Level::Version && !text.get(..at)?.trim().is_empty() && is_release(message) {
            let inner = Line { before: "", who: "", level, source: None, message };
            return Some(Glued { at, inner });
        }
        start = match level {
            Level::Version => text.len() - message.len() + release_end(message).unwrap_or(0),
            _ => from,
        };
    }
}

/// A message with a head that reads: where the head begins.
fn headed<'a>(before: &'a str, level: Level, message: &'a str) -> Option<(usize, Line<'a>)> {
    let inner = head(before, level, message);
    Who::read(inner.who)?;
    let colon = before.get(inner.before.len()..)?.starts_with(':');
    Some((inner.before.len() + usize::from(colon), inner))
}

/// A message of whose head only the device is left.
fn device<'a>(before: &'a str, level: Level, message: &'a str) -> Option<(usize, Line<'a>)> {
    let (outer, device) = before.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    let is_device = !device.is_empty() && device.bytes().all(|b| b.is_ascii_digit());
    is_device.then_some((outer.len(), Line { before: "", who: "", level, source: None, message }))
}

/// Whether what follows `NCCL version ` is a release as NCCL prints it, and after it the line ends or the next message begins.
pub(super) fn is_release(message: &str) -> bool {
    let Some(rest) = release_end(message).and_then(|end| message.get(end..)) else { return false };
    rest.trim().is_empty() || rest.trim_start().starts_with("NCCL version ") || begins_message(rest)
}

/// Whether a text begins with a message's head.
fn begins_message(text: &str) -> bool {
    let Some(at) = ANCHOR.find(text.as_bytes()) else { return false };
    let parts = text.get(..at).zip(text.get(at + ANCHOR.needle().len()..));
    let Some((before, (level, message))) = parts.and_then(|(b, rest)| Some((b, level(rest)?))) else { return false };
    headed(before, level, message).is_some_and(|(_, l)| l.before.len() <= MAX_TAGS && printed::is_tags(l.before))
}

/// Where a release ends that NCCL prints with what it was built for: `2.18.1+cuda12.1`. A person who names a release leaves that out.
fn release_end(text: &str) -> Option<usize> {
    let number = |from: usize| {
        let rest = text.as_bytes().get(from..)?;
        Some(from + rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count())
    };
    let plus = number(0).filter(|end| *end > 0 && text.as_bytes().get(*end) == Some(&b'+'))?;
    let name = text.as_bytes().get(plus + 1..)?.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let end = number(plus + 1 + name)?;
    (name > 0 && end > plus + 1 + name).then_some(end)
}
