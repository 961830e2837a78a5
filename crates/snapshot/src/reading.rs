//! A fact that is known, certainly absent, or could not be seen. There is no fourth.

use crate::EntryId;
use std::borrow::Cow;

/// Position inside an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pos {
    /// The whole entry.
    #[default]
    Whole,
    /// 1-based line of a text.
    Line(u32),
    /// Bytes of a binary file.
    Bytes {
        /// First byte.
        offset: u16,
        /// How many.
        len: u16,
    },
}

/// Where a fact comes from, small enough to keep beside every fact: an entry of the snapshot, a path below it (for what is not
/// there), and a position inside. [`crate::Snapshot::describe`] and [`crate::Snapshot::excerpt`] turn it into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The entry, or the deepest directory that exists.
    pub base: EntryId,
    /// Path below `base`; empty when `base` is the thing itself.
    pub leaf: &'static str,
    /// Position inside.
    pub pos: Pos,
}

impl Place {
    /// The entry itself.
    #[must_use]
    pub fn of(base: EntryId) -> Self {
        Place { base, leaf: "", pos: Pos::Whole }
    }

    /// Something below `base`.
    #[must_use]
    pub fn below(base: EntryId, leaf: &'static str) -> Self {
        Place { base, leaf, pos: Pos::Whole }
    }

    /// The same entry at a 1-based line.
    #[must_use]
    pub fn line(self, line: u32) -> Self {
        Place { pos: Pos::Line(line), ..self }
    }

    /// The same entry at some bytes.
    #[must_use]
    pub fn bytes(self, offset: u16, len: u16) -> Self {
        Place { pos: Pos::Bytes { offset, len }, ..self }
    }
}

/// Why something could not be seen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// This source does not hold it: nobody looked.
    #[error("not in this source")]
    NotCollected,
    /// EACCES or EPERM: needs root, a capability, or no kernel lockdown.
    #[error("permission denied")]
    Denied,
    /// The read blocked past its limit.
    #[error("reading it timed out")]
    TimedOut,
    /// Larger than the limit, not kept.
    #[error("larger than the capture limit")]
    TooLarge,
    /// Cut: it was read only up to this many bytes.
    #[error("only the first {0} bytes could be read")]
    Cut(u32),
    /// Read, but not understood.
    #[error("not understood: {0}")]
    Malformed(Cow<'static, str>),
    /// Another error of the system or of the command.
    #[error("{0}")]
    Failed(Cow<'static, str>),
}
/// A fact about the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading<T> {
    /// It is this, read here.
    Known(T, Place),
    /// Somebody looked here, and it does not exist.
    Absent(Place),
    /// It could not be seen.
    Unreadable(Place, Why),
}

impl<T> Reading<T> {
    /// The value, if known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Reading::Known(v, _) => Some(v),
            _ => None,
        }
    }

    /// Where it was looked for.
    pub fn place(&self) -> Place {
        match self {
            Reading::Known(_, p) | Reading::Absent(p) | Reading::Unreadable(p, _) => *p,
        }
    }

    /// Certainly not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Reading::Absent(_))
    }

    /// Could not be seen.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Reading::Unreadable(..))
    }

    /// By reference.
    pub fn as_ref(&self) -> Reading<&T> {
        match self {
            Reading::Known(v, p) => Reading::Known(v, *p),
            Reading::Absent(p) => Reading::Absent(*p),
            Reading::Unreadable(p, w) => Reading::Unreadable(*p, w.clone()),
        }
    }

    /// What a value leads to. What is absent or unreadable stays so.
    pub fn and_then<U>(self, f: impl FnOnce(T, Place) -> Reading<U>) -> Reading<U> {
        match self {
            Reading::Known(v, p) => f(v, p),
            Reading::Absent(p) => Reading::Absent(p),
            Reading::Unreadable(p, w) => Reading::Unreadable(p, w),
        }
    }

    /// Another value from the same place.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|v, p| Reading::Known(f(v), p))
    }

    /// A part of the value that the input may not have shown: `None` becomes unreadable, never absent.
    pub fn part<U>(&self, f: impl FnOnce(&T) -> Option<U>) -> Reading<U> {
        self.as_ref().parse("this part is not in what was read", f)
    }

    /// A value parsed from this one; a refusal becomes unreadable.
    pub fn parse<U>(self, what: &'static str, f: impl FnOnce(T) -> Option<U>) -> Reading<U> {
        self.and_then(|v, p| match f(v) {
            Some(u) => Reading::Known(u, p),
            None => Reading::Unreadable(p, Why::Malformed(what.into())),
        })
    }

    /// This one if known, else the other if that is known or says more (absent says more than unreadable).
    pub fn or(self, other: impl FnOnce() -> Reading<T>) -> Reading<T> {
        match self {
            Reading::Known(..) => self,
            Reading::Absent(_) => match other() {
                k @ Reading::Known(..) => k,
                _ => self,
            },
            Reading::Unreadable(p, w) => match other() {
                Reading::Unreadable(_, Why::NotCollected) => Reading::Unreadable(p, w),
                o if matches!(w, Why::NotCollected) => o,
                Reading::Unreadable(..) => Reading::Unreadable(p, w),
                o => o,
            },
        }
    }
}
