//! Words that repeat are kept once.

use hashbrown::HashMap;

/// A kept word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

/// Words at most; a log with more different ones has made-up ones, which then are one.
const MAX: usize = 32 << 10;
const MAX_LENGTH: usize = 1024;

/// The words.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: HashMap<Box<str>, u32>,
    words: Vec<Box<str>>,
}

impl Names {
    pub(crate) fn id(&mut self, word: &str) -> Name {
        let end = word.char_indices().nth(MAX_LENGTH).map_or(word.len(), |(at, _)| at);
        let word = word.get(..end).unwrap_or_default();
        if let Some(id) = self.ids.get(word) {
            return Name(*id);
        }
        if self.words.len() >= MAX {
            return self.id_of_rest();
        }
        let id = self.words.len() as u32;
        self.words.push(word.into());
        self.ids.insert(word.into(), id);
        Name(id)
    }

    /// A word that was kept before.
    pub(crate) fn known(&self, word: &str) -> Option<Name> {
        self.ids.get(word).map(|id| Name(*id))
    }

    fn id_of_rest(&mut self) -> Name {
        if let Some(id) = self.ids.get("…") {
            return Name(*id);
        }
        let id = self.words.len() as u32;
        self.words.push("…".into());
        self.ids.insert("…".into(), id);
        Name(id)
    }

    pub(crate) fn get(&self, name: Name) -> &str {
        self.words.get(name.0 as usize).map_or("", |w| w)
    }
}
