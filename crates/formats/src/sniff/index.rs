//! The marks of all tools by what they look at, and which of them a line can hold: nearly every line has the literal of none, and is passed over.

use crate::Kind;
use crate::text;
use crate::tool::{Mark, Shows};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::iter;

/// Some marks of lines, by their places in the index.
pub(super) type Set = u128;

/// A mark, and whose it is.
pub(super) type Owned = (Kind, Mark);

/// The marks, those of the first kind first.
pub(super) struct Index {
    /// Marks of lines.
    lines: Vec<Owned>,
    /// Those that stand aside.
    pub(super) asides: Set,
    /// Those without literals.
    always: Set,
    /// By a line's first byte, those that may begin so.
    heads: Vec<Heads>,
    /// Finds what stands within lines.
    within: Option<AhoCorasick>,
    /// The marks of each literal that is found.
    holders: Vec<Set>,
    /// Marks of anything but a line.
    pub(super) others: Vec<Owned>,
}

/// Marks by the beginning of a line.
#[derive(Default, Clone)]
struct Heads {
    /// Those that ask for no more than this byte.
    byte: Set,
    longer: Vec<(Head, Set)>,
}

/// The first bytes of a literal, as a number: the bytes of a line that count, and what they must be.
#[derive(PartialEq, Eq, Clone, Copy)]
struct Head {
    mask: u64,
    value: u64,
}

impl Head {
    fn new(literal: &[u8]) -> Head {
        let ones: Vec<u8> = literal.iter().map(|_| 0xff).collect();
        Head { mask: number(&ones), value: number(literal) }
    }
}

/// The first eight bytes, and zeroes where there are fewer.
fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk::<8>().map_or_else(
        || bytes.iter().rev().fold(0, |all, b| all << 8 | u64::from(*b)),
        |eight| u64::from_le_bytes(*eight),
    )
}

impl Index {
    /// Of these marks.
    pub(super) fn new(marks: impl Iterator<Item = Owned>) -> Index {
        let is_of_line = |m: &Mark| {
            matches!(
                m.shows,
                Shows::Line(_) | Shows::Begins(_) | Shows::LineWith(..) | Shows::LineWhere(..) | Shows::Aside(_)
            )
        };
        let (lines, others): (Vec<Owned>, Vec<Owned>) = marks.partition(|(_, m)| is_of_line(m));
        let (mut asides, mut always, mut heads) = (0, 0, vec![Heads::default(); 256]);
        let (mut literals, mut holders): (Vec<&str>, Vec<Set>) = (Vec::new(), Vec::new());
        for (n, (_, mark)) in lines.iter().enumerate() {
            let own = bit(n);
            asides |= if matches!(mark.shows, Shows::Aside(_)) { own } else { 0 };
            always |= if mark.begins.is_empty() && mark.holds.is_empty() { own } else { 0 };
            mark.begins.iter().for_each(|literal| add_head(&mut heads, literal.as_bytes(), own));
            for literal in mark.holds {
                match literals.iter().zip(&mut holders).find(|(known, _)| *known == literal) {
                    Some((_, set)) => *set |= own,
                    None => {
                        literals.push(literal);
                        holders.push(own);
                    }
                }
            }
        }
        let within = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(&literals).ok();
        if within.is_none() {
            always |= holders.iter().fold(0, |all, set| all | set);
        }
        Index { lines, asides, always, heads, within, holders, others }
    }

    /// The first of these marks that holds, and whose it is.
    pub(super) fn first(&self, set: Set, holds: impl Fn(&Owned) -> bool) -> Option<Kind> {
        let mut rest = set;
        // Beyond the last mark there is none.
        while let Some(mark) = self.lines.get(rest.trailing_zeros() as usize) {
            if holds(mark) {
                return Some(mark.0);
            }
            rest &= rest.wrapping_sub(1);
        }
        None
    }

    /// The lines of a text, each with the marks that it can hold by what stands within it.
    pub(super) fn lines<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (&'a str, Set)> {
        let found = self.within.as_ref().and_then(|w| w.try_find_overlapping_iter(text).ok());
        let mut found = found.into_iter().flatten().peekable();
        let mut lines = text::lines(text);
        iter::from_fn(move || {
            let (_, line) = lines.next()?;
            let end = text.len() - lines.rest.len();
            let mut set = self.always;
            while let Some(literal) = found.next_if(|m| m.end() <= end) {
                set |= self.holders.get(literal.pattern().as_usize()).copied().unwrap_or(Set::MAX);
            }
            Some((line, set))
        })
    }

    /// The marks that a line can hold by its beginning.
    pub(super) fn by_head(&self, line: &str) -> Set {
        let bytes = line.as_bytes();
        let Some(heads) = bytes.first().and_then(|b| self.heads.get(usize::from(*b))) else { return 0 };
        // Marks may take any white space away before they look.
        if !bytes.first().is_some_and(u8::is_ascii_graphic) && line.starts_with(char::is_whitespace) {
            return Set::MAX;
        }
        let head = number(bytes.get(..8).unwrap_or(bytes));
        let longer = heads.longer.iter().filter(|(h, _)| head & h.mask == h.value);
        longer.fold(heads.byte, |all, (_, set)| all | set)
    }

    /// How many marks of lines there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }
}

fn bit(place: usize) -> Set {
    u32::try_from(place).ok().and_then(|n| Set::from(1u8).checked_shl(n)).unwrap_or_default()
}

fn add_head(heads: &mut [Heads], literal: &[u8], own: Set) {
    let Some(of_byte) = literal.first().and_then(|b| heads.get_mut(usize::from(*b))) else { return };
    let head = Head::new(literal);
    if literal.len() == 1 {
        of_byte.byte |= own;
    } else if let Some((_, set)) = of_byte.longer.iter_mut().find(|(h, _)| *h == head) {
        *set |= own;
    } else {
        of_byte.longer.push((head, own));
    }
}
