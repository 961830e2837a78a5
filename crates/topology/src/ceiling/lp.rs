//! The most that flows can carry together: maximise the sum of flows, none of which may overfill an element.
//!
//! A maximum, not a fair share: a fair share can fall when a link gets faster, a ceiling may not.

/// Elements and the flows through them.
pub(crate) struct Flows<'a> {
    /// Of each element: what it carries at most.
    pub(crate) capacity: &'a [f64],
    /// Of each flow: its elements, each once.
    pub(crate) through: &'a [Vec<usize>],
}

/// The most, and the elements whose growth would raise it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Most {
    pub(crate) total: f64,
    pub(crate) tight: Vec<usize>,
}

/// Cells of the table, at most: beyond it a simpler bound has to do.
const CELLS: usize = 300_000;

impl Flows<'_> {
    /// The most. `None` where a flow is not limited by anything, or where the problem is too big.
    pub(crate) fn most(&self) -> Option<Most> {
        let mut flows: Vec<Vec<usize>> = Vec::new();
        for f in self.through {
            let mut f: Vec<usize> =
                f.iter().copied().filter(|e| self.capacity.get(*e).is_some_and(|c| c.is_finite())).collect();
            f.sort_unstable();
            f.dedup();
            if f.is_empty() {
                return None;
            }
            flows.push(f);
        }
        flows.sort();
        flows.dedup();
        let mut used: Vec<usize> = flows.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let (rows, cols) = (used.len(), flows.len());
        let width = cols + rows + 1;
        if width.checked_mul(rows + 1)? > CELLS {
            return None;
        }
        // Rows are elements, with a slack each; the last is the objective.
        let mut table = vec![vec![0.0_f64; width]; rows + 1];
        for (r, e) in used.iter().enumerate() {
            let row = table.get_mut(r)?;
            for (c, f) in flows.iter().enumerate() {
                if f.contains(e) {
                    *row.get_mut(c)? = 1.0;
                }
            }
            *row.get_mut(cols + r)? = 1.0;
            *row.last_mut()? = self.capacity.get(*e)?.max(0.0);
        }
        table.last_mut()?.iter_mut().take(cols).for_each(|v| *v = -1.0);
        let mut basis: Vec<usize> = (cols..cols + rows).collect();
        simplex(&mut table, &mut basis)?;
        let objective = table.last()?;
        let total = *objective.last()?;
        let tight = used.iter().zip(objective.iter().skip(cols)).filter(|(_, price)| **price > 1e-9);
        Some(Most { total, tight: tight.map(|(e, _)| *e).collect() })
    }
}

/// Bland's rule: the lowest column that improves, the lowest basic variable of the tightest rows; it never cycles.
fn simplex(table: &mut [Vec<f64>], basis: &mut [usize]) -> Option<()> {
    const EPS: f64 = 1e-9;
    let rows = basis.len();
    for _ in 0..3_000 {
        let Some(enter) = table.get(rows)?.split_last()?.1.iter().position(|v| *v < -EPS) else { return Some(()) };
        let mut leave: Option<(usize, f64)> = None;
        for (r, row) in table.iter().enumerate().take(rows) {
            let a = *row.get(enter)?;
            if a <= EPS {
                continue;
            }
            let ratio = *row.last()? / a;
            let better = match leave {
                None => true,
                Some((l, best)) => ratio < best - EPS || (ratio <= best + EPS && basis.get(r)? < basis.get(l)?),
            };
            if better {
                leave = Some((r, ratio));
            }
        }
        let (leave, _) = leave?;
        let pivot = *table.get(leave)?.get(enter)?;
        let mut pivot_row = std::mem::take(table.get_mut(leave)?);
        pivot_row.iter_mut().for_each(|v| *v /= pivot);
        for row in table.iter_mut() {
            let by = row.get(enter).copied().unwrap_or(0.0);
            if by != 0.0 {
                row.iter_mut().zip(&pivot_row).for_each(|(v, p)| *v -= by * p);
            }
        }
        *table.get_mut(leave)? = pivot_row;
        *basis.get_mut(leave)? = enter;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn most(capacity: &[f64], through: &[&[usize]]) -> Most {
        let through: Vec<Vec<usize>> = through.iter().map(|f| f.to_vec()).collect();
        Flows { capacity, through: &through }.most().unwrap()
    }

    #[test]
    fn small_ones() {
        assert_eq!(most(&[49.0, 12.0], &[&[0, 1]]), Most { total: 12.0, tight: vec![1] });
        // Two ports behind one uplink.
        assert_eq!(most(&[49.0, 49.0, 57.0], &[&[0, 2], &[1, 2]]), Most { total: 57.0, tight: vec![2] });
        // A flow through both does not take from two others.
        assert_eq!(most(&[1.0, 1.0], &[&[0, 1], &[0], &[1]]).total, 2.0);
        let free = Flows { capacity: &[f64::INFINITY], through: &[vec![0]] };
        assert_eq!(free.most(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_faster_element_never_lowers_it(
            capacity in prop::collection::vec(1.0..100.0_f64, 6),
            through in prop::collection::vec(prop::collection::vec(0..6_usize, 1..4), 1..8),
            which in 0..6_usize,
            more in 0.0..100.0_f64,
        ) {
            let before = Flows { capacity: &capacity, through: &through }.most().unwrap();
            let mut faster = capacity.clone();
            faster[which] += more;
            let after = Flows { capacity: &faster, through: &through }.most().unwrap();
            prop_assert!(after.total >= before.total - 1e-6);
            prop_assert!(before.total <= capacity.iter().sum::<f64>() + 1e-6);
        }
    }
}
