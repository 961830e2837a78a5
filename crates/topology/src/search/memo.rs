//! What walks from a state have brought: most states are met again and again, by the same channels in another order.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Channels that were completed, at most, and the fewest links with so many.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reached {
    pub(super) channels: usize,
    pub(super) hops: i32,
}

impl Reached {
    fn add(&mut self, other: Reached) {
        if other.channels > self.channels || (other.channels == self.channels && other.hops < self.hops) {
            *self = other;
        }
    }
}

/// A walk that is under way.
#[derive(Debug)]
struct Walk {
    key: u64,
    left: i32,
    hops: i32,
    reached: Reached,
}

/// What walks have brought.
#[derive(Debug, Default)]
pub(super) struct Memo {
    done: HashMap<u64, (i32, Reached), BuildHasherDefault<AsItIs>>,
    under_way: Vec<Walk>,
}

impl Memo {
    pub(super) fn clear(&mut self) {
        self.done.clear();
        self.under_way.clear();
    }

    /// What a walk from this state costs and brings, with so many links before it.
    pub(super) fn known(&self, key: u64, hops: i32) -> Option<(i32, Reached)> {
        let (steps, reached) = *self.done.get(&key)?;
        Some((steps, Reached { hops: reached.hops + hops, ..reached }))
    }

    pub(super) fn enter(&mut self, key: u64, left: i32, hops: i32) {
        self.under_way.push(Walk { key, left, hops, reached: Reached::default() });
    }

    pub(super) fn reached(&mut self, reached: Reached) {
        if let Some(walk) = self.under_way.last_mut() {
            walk.reached.add(reached);
        }
    }

    /// The walk entered last is over; what it brought is kept unless its steps did not suffice.
    pub(super) fn leave(&mut self, left: i32) {
        let Some(walk) = self.under_way.pop() else { return };
        if left > 0 {
            let reached = Reached { hops: walk.reached.hops - walk.hops, ..walk.reached };
            self.done.insert(walk.key, (walk.left - left, reached));
        }
        if walk.reached.channels > 0 {
            self.reached(walk.reached);
        }
    }
}

/// Keys look random already.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*b);
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
