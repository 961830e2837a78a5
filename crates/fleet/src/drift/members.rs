//! Sets of nodes by number, small where they are few and a bit each where they are many.

/// Numbers that are kept as a list.
const FEW: usize = 64;

/// A set of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members(Kept);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    /// Sorted, each once.
    Few(Vec<u32>),
    /// A bit for each node.
    Many(Vec<u64>),
}

impl Default for Members {
    fn default() -> Self {
        Members(Kept::Few(Vec::new()))
    }
}

impl Members {
    /// Adds a node.
    pub fn insert(&mut self, node: u32) {
        match &mut self.0 {
            Kept::Few(all) => {
                // Nodes nearly always come in their order.
                match all.last() {
                    Some(last) if *last >= node => match all.binary_search(&node) {
                        Ok(_) => return,
                        Err(at) => all.insert(at, node),
                    },
                    _ => all.push(node),
                }
                if all.len() > FEW {
                    let mut bits = Vec::new();
                    all.iter().for_each(|n| set(&mut bits, *n));
                    self.0 = Kept::Many(bits);
                }
            }
            Kept::Many(bits) => set(bits, node),
        }
    }

    /// Adds all of another set.
    pub fn add(&mut self, other: &Members) {
        match (&mut self.0, &other.0) {
            (Kept::Many(a), Kept::Many(b)) => {
                a.resize(a.len().max(b.len()), 0);
                a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
            }
            (_, Kept::Few(few)) => few.iter().for_each(|n| self.insert(*n)),
            (Kept::Few(few), Kept::Many(many)) => {
                let mut bits = many.clone();
                few.iter().for_each(|n| set(&mut bits, *n));
                self.0 = Kept::Many(bits);
            }
        }
    }

    /// Takes all of another set away.
    pub fn remove(&mut self, other: &Members) {
        match &mut self.0 {
            Kept::Few(all) => all.retain(|n| !other.has(*n)),
            Kept::Many(bits) => match &other.0 {
                Kept::Many(others) => bits.iter_mut().zip(others).for_each(|(a, b)| *a &= !b),
                Kept::Few(few) => {
                    for n in few {
                        if let Some(word) = bits.get_mut(word(*n)) {
                            *word &= !(1 << (n % 64));
                        }
                    }
                }
            },
        }
    }

    /// Keeps what is in another set as well.
    pub fn keep(&mut self, other: &Members) {
        match (&mut self.0, &other.0) {
            (Kept::Few(all), _) => all.retain(|n| other.has(*n)),
            (Kept::Many(a), Kept::Many(b)) => {
                a.truncate(b.len());
                a.iter_mut().zip(b).for_each(|(a, b)| *a &= b);
            }
            (Kept::Many(_), Kept::Few(few)) => {
                self.0 = Kept::Few(few.iter().copied().filter(|n| self.has(*n)).collect());
            }
        }
    }

    /// Whether a node is in it.
    #[must_use]
    pub fn has(&self, node: u32) -> bool {
        match &self.0 {
            Kept::Few(all) => all.binary_search(&node).is_ok(),
            Kept::Many(bits) => bits.get(word(node)).is_some_and(|w| w & (1 << (node % 64)) != 0),
        }
    }

    /// How many nodes are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Few(all) => all.len(),
            Kept::Many(bits) => bits.iter().map(|w| w.count_ones() as usize).sum(),
        }
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The nodes, in their order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (few, many): (&[u32], &[u64]) = match &self.0 {
            Kept::Few(all) => (all, &[]),
            Kept::Many(bits) => (&[], bits),
        };
        let bits = many.iter().zip(0_u32..).flat_map(|(word, at)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                (left != 0).then(|| {
                    left &= left - 1;
                    at * 64 + bit
                })
            })
        });
        few.iter().copied().chain(bits)
    }
}

impl FromIterator<u32> for Members {
    fn from_iter<T: IntoIterator<Item = u32>>(nodes: T) -> Self {
        let mut out = Members::default();
        nodes.into_iter().for_each(|n| out.insert(n));
        out
    }
}

fn word(node: u32) -> usize {
    (node / 64) as usize
}

fn set(bits: &mut Vec<u64>, node: u32) {
    if bits.len() <= word(node) {
        bits.resize(word(node) + 1, 0);
    }
    if let Some(w) = bits.get_mut(word(node)) {
        *w |= 1 << (node % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Against the standard library's sets, over both forms and the change from one to the other.
    #[test]
    fn a_set_is_a_set() {
        let mut seed = 1_u32;
        let mut next = |most: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % most
        };
        for round in 0..300 {
            let most = [10, 80, 500, 5_000][round % 4];
            let sets: [BTreeSet<u32>; 2] = [0, 1].map(|_| (0..next(200)).map(|_| next(most)).collect());
            let [a, b] = [0, 1].map(|i| sets[i].iter().rev().copied().collect::<Members>());
            let check = |m: &Members, s: BTreeSet<u32>| {
                assert_eq!(m.iter().collect::<Vec<_>>(), s.iter().copied().collect::<Vec<_>>());
                assert_eq!((m.len(), m.is_empty()), (s.len(), s.is_empty()));
                assert!((0..most).all(|n| m.has(n) == s.contains(&n)));
            };
            let mut c = a.clone();
            c.add(&b);
            check(&c, &sets[0] | &sets[1]);
            let mut c = a.clone();
            c.remove(&b);
            check(&c, &sets[0] - &sets[1]);
            let mut c = a.clone();
            c.keep(&b);
            check(&c, &sets[0] & &sets[1]);
        }
    }
}
