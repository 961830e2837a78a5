//! A reading as JSON.

use crate::words::Words;
use linerate_snapshot::Reading;
use serde::{Serialize, Serializer};

/// The value; `false`; `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<T> {
    Known(T),
    Absent,
    Unseen,
}

impl<T: Serialize> Serialize for Value<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Known(v) => v.serialize(s),
            Value::Absent => s.serialize_bool(false),
            Value::Unseen => s.serialize_none(),
        }
    }
}

/// A fact that could not be seen.
#[derive(Debug, Serialize)]
pub(super) struct Unseen {
    /// Path of the fact in `node`.
    what: String,
    place: String,
    why: String,
}

/// Turns readings into values and keeps what could not be seen.
pub(super) struct Seer<'w, 'a> {
    words: &'w Words<'a>,
    unseen: Vec<Unseen>,
}

impl<'w, 'a> Seer<'w, 'a> {
    pub(super) fn new(words: &'w Words<'a>) -> Self {
        Seer { words, unseen: Vec::new() }
    }

    pub(super) fn value<'r, T, U>(
        &mut self,
        base: &str,
        field: &str,
        r: &'r Reading<T>,
        f: impl FnOnce(&'r T) -> U,
    ) -> Value<U> {
        match r {
            Reading::Known(v, _) => Value::Known(f(v)),
            Reading::Absent(_) => Value::Absent,
            Reading::Unreadable(place, why) => {
                self.unseen.push(Unseen {
                    what: [base, ".", field].concat(),
                    place: self.words.describe(*place),
                    why: why.to_string(),
                });
                Value::Unseen
            }
        }
    }

    pub(super) fn copy<T: Copy>(&mut self, base: &str, field: &str, r: &Reading<T>) -> Value<T> {
        self.value(base, field, r, |v| *v)
    }

    pub(super) fn text<'r>(&mut self, base: &str, field: &str, r: &'r Reading<String>) -> Value<&'r str> {
        self.value(base, field, r, String::as_str)
    }

    /// Something that is a list in any case: an empty one says nothing where this note is.
    pub(super) fn lacks(&mut self, what: &str, place: &str) {
        self.unseen.push(Unseen { what: what.into(), place: place.into(), why: "not in this source".into() });
    }

    pub(super) fn done(self) -> Vec<Unseen> {
        self.unseen
    }
}
