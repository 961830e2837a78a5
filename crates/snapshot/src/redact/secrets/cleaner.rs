//! Cleans snapshots one after the other. Nodes of a fleet say much alike (what processors they have, how the kernel was built): a text that
//! needed nothing removed is known again.

use super::{Kind, clean};
use hashbrown::HashSet;
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::{BuildHasher, RandomState};

/// Texts that are remembered (16 bytes each); then it begins anew.
const MOST: usize = 1 << 14;

/// See the module.
///
/// A text is known by 128 bits of a hash under a key of this process and of nobody else, so that no node can make one that is taken for another.
pub(crate) struct Cleaner {
    key: (u64, u64),
    clean: HashSet<u128>,
}

impl Default for Cleaner {
    fn default() -> Self {
        let random = RandomState::new();
        Cleaner { key: (random.hash_one(0), random.hash_one(1)), clean: HashSet::new() }
    }
}

impl Cleaner {
    /// Cleans `text`, in the memory of `buffer`. `None`: it stays.
    pub(super) fn cleaned<'b>(&mut self, kind: Kind, text: &[u8], buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        let hash = self.hash(kind, text);
        if self.clean.contains(&hash) {
            return None;
        }
        buffer.clear();
        buffer.extend_from_slice(text);
        clean(kind, buffer);
        if buffer != text {
            return Some(buffer);
        }
        if self.clean.len() == MOST {
            self.clean.clear();
        }
        self.clean.insert(hash);
        None
    }

    fn hash(&self, kind: Kind, text: &[u8]) -> u128 {
        use std::hash::Hasher;
        let mut h = SipHasher13::new_with_keys(self.key.0, self.key.1);
        // One byte that no kind shares, then the text.
        h.write_u8(kind as u8);
        h.write(text);
        h.finish128().as_u128()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_for_the_way_in_which_it_was_read_and_no_other() {
        let mut cleaner = Cleaner::default();
        let mut buffer = Vec::new();
        let plain = b"a line as any other\n".repeat(20);
        for _ in 0..3 {
            assert_eq!(cleaner.cleaned(Kind::Text, &plain, &mut buffer), None);
        }
        assert_eq!(cleaner.clean.len(), 1);
        assert!(cleaner.cleaned(Kind::Nothing, &plain, &mut buffer).is_some(), "nothing of such a file is kept");
        let mut secret = plain.clone();
        secret.extend_from_slice(b"password=hunter2hunter2\n");
        for _ in 0..3 {
            let text = cleaner.cleaned(Kind::Text, &secret, &mut buffer).unwrap();
            assert!(!text.windows(7).any(|w| w == b"hunter2"));
        }
        assert_eq!(cleaner.clean.len(), 1, "what was changed is cleaned each time");
    }

    #[test]
    fn it_remembers_a_bounded_number() {
        let mut cleaner = Cleaner::default();
        let mut buffer = Vec::new();
        for n in 0..MOST + 10 {
            let text = format!("{n:>200}");
            assert_eq!(cleaner.cleaned(Kind::Small, text.as_bytes(), &mut buffer), None);
        }
        assert!(cleaner.clean.len() <= MOST);
    }
}
