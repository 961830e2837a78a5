//! Which words of a list a text begins with, by its first two bytes: at nearly every place of a text these say that it is none.

/// Which of up to 64 words, each of two bytes or more, have a byte at their first and at their second place: a bit for each word.
pub(super) struct Heads {
    first: [u64; 256],
    second: [u64; 256],
}

impl Heads {
    /// Of a list. What is no list of at most 64 words of two bytes does not compile, where the result is a constant.
    pub(super) const fn of(words: &[&[u8]]) -> Self {
        let mut heads = Heads { first: [0; 256], second: [0; 256] };
        let mut number = 0;
        while number < words.len() {
            heads.first[words[number][0] as usize] |= 1 << number;
            heads.second[words[number][1] as usize] |= 1 << number;
            number += 1;
        }
        heads
    }

    /// Numbers of the words that a text may begin with, in the order of the list.
    pub(super) fn of_text(&self, text: &[u8]) -> Numbers {
        let place = |table: &[u64; 256], at: usize| {
            text.get(at).and_then(|b| table.get(usize::from(*b))).copied().unwrap_or_default()
        };
        Numbers(place(&self.first, 0) & place(&self.second, 1))
    }
}

/// Numbers of words.
pub(super) struct Numbers(u64);

impl Iterator for Numbers {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let number = self.0.trailing_zeros();
        self.0 &= self.0.checked_sub(1)?;
        Some(number as usize)
    }
}
