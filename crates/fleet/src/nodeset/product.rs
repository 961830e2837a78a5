//! Names with several numbers, folded to products of ranges: `rack[1-4]node[1-18]`.
//!
//! The fewest products are not sought. Products that differ in one axis alone are joined, pass after pass, larger ones first, as ClusterShell does
//! it: the same set has the same text in both. Axes are compared by number, so that a pass over thousands of products takes no time.

use super::Numbers;
use super::index::Index;
use linerate_formats::bounds::NODESET_FOLD;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// A product, each axis by its number in [`Axes`].
type Product = Vec<usize>;

/// All axes that were seen. The same numbers have the same place.
#[derive(Default)]
struct Axes {
    all: Vec<Vec<Index>>,
    place: HashMap<Vec<Index>, usize>,
}

/// What products are ordered by: size, then the axes; each by size, then by its first and last number as text.
type Key = (Reverse<usize>, Vec<(Reverse<usize>, String, String)>);

impl Axes {
    fn place(&mut self, axis: Vec<Index>) -> usize {
        if let Some(at) = self.place.get(&axis) {
            return *at;
        }
        self.all.push(axis.clone());
        self.place.insert(axis, self.all.len() - 1);
        self.all.len() - 1
    }

    fn of(&self, at: usize) -> &[Index] {
        self.all.get(at).map_or(&[], Vec::as_slice)
    }

    fn key(&self, product: &Product) -> Key {
        let axis = |at: &usize| {
            let axis = self.of(*at);
            let text = |i: Option<&Index>| i.map(Index::to_string).unwrap_or_default();
            (Reverse(axis.len()), text(axis.first()), text(axis.last()))
        };
        let size = product.iter().map(|at| self.of(*at).len()).fold(1, usize::saturating_mul);
        (Reverse(size), product.iter().map(axis).collect())
    }

    /// The one axis in which two products differ. Products never overlap, so that axis has nothing in common.
    fn apart(a: &Product, b: &Product) -> Option<usize> {
        let mut differ = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
        let (axis, _) = differ.next()?;
        differ.next().is_none().then_some(axis)
    }
}

/// A product that grows along one axis. The axis gets its number when it has grown: each step on the way would be kept for good.
struct Growing {
    axis: usize,
    numbers: Vec<Index>,
}

impl Growing {
    fn takes(&self, one: &Product, other: &Product) -> bool {
        one.iter().zip(other).enumerate().all(|(i, (a, b))| i == self.axis || a == b)
    }

    fn end(mut self, one: &mut Product, axes: &mut Axes, work: &mut usize) {
        *work = work.saturating_sub(self.numbers.len().saturating_mul(16));
        self.numbers.sort_unstable();
        if let Some(at) = one.get_mut(self.axis) {
            *at = axes.place(self.numbers);
        }
    }
}

/// The products that the names are.
pub(super) fn fold(set: &BTreeSet<Numbers>) -> Vec<Vec<Vec<Index>>> {
    let mut axes = Axes::default();
    let mut products: Vec<Product> =
        set.iter().map(|name| name.iter().map(|number| axes.place(vec![*number])).collect()).collect();
    let mut work = NODESET_FOLD;
    // Neighbours first, which joins most; then each with each.
    let mut thorough = false;
    loop {
        products.sort_by_cached_key(|p| axes.key(p));
        let before = products.len();
        products = pass(&mut axes, products, thorough, &mut work);
        let changed = products.len() < before;
        if work == 0 || (!changed && thorough) {
            break;
        }
        thorough |= !changed;
    }
    products.iter().map(|p| p.iter().map(|at| axes.of(*at).to_vec()).collect()).collect()
}

/// Joins each product with those behind it: up to the first that does not fit, or with all.
fn pass(axes: &mut Axes, products: Vec<Product>, thorough: bool, work: &mut usize) -> Vec<Product> {
    let mut left: Vec<Option<Product>> = products.into_iter().map(Some).collect();
    let mut at = 0;
    while at < left.len() {
        let Some(mut one) = left.get_mut(at).and_then(Option::take) else {
            at += 1;
            continue;
        };
        let mut growing: Option<Growing> = None;
        for other in left.iter_mut().skip(at + 1) {
            *work = work.saturating_sub(1);
            if *work == 0 {
                break;
            }
            let Some(candidate) = other else { continue };
            let numbers = |axis: usize| candidate.get(axis).map_or(&[][..], |at| axes.of(*at)).to_vec();
            if let Some(g) = growing.as_mut().filter(|g| g.takes(&one, candidate)) {
                g.numbers.append(&mut numbers(g.axis));
                *other = None;
                continue;
            }
            if let Some(g) = growing.take() {
                g.end(&mut one, axes, work);
            }
            match Axes::apart(&one, candidate) {
                Some(axis) => {
                    let mut all = one.get(axis).map_or(&[][..], |at| axes.of(*at)).to_vec();
                    all.extend(candidate.get(axis).map_or(&[][..], |at| axes.of(*at)));
                    growing = Some(Growing { axis, numbers: all });
                    *other = None;
                }
                None if !thorough => break,
                None => {}
            }
        }
        if let Some(g) = growing.take() {
            g.end(&mut one, axes, work);
        }
        if let Some(slot) = left.get_mut(at) {
            *slot = Some(one);
        }
        at += 1;
    }
    left.into_iter().flatten().collect()
}
