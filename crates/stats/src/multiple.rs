//! Many comparisons at once.

/// Holm's adjusted p values (Scand. J. Stat. 6, 1979): those below α are found with a family-wise error of at most α, whatever
/// the dependence. In the order given; `NaN` stays `NaN` and does not count.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let m = order.len();
    let mut out = vec![f64::NAN; p.len()];
    let mut running = 0.0f64;
    for (rank, (index, value)) in order.into_iter().enumerate() {
        running = running.max(value * (m - rank) as f64).min(1.0);
        set(&mut out, index, running);
    }
    out
}

fn ascending(p: &[f64]) -> Vec<(usize, f64)> {
    let mut order: Vec<(usize, f64)> = p.iter().copied().enumerate().filter(|(_, v)| !v.is_nan()).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    order
}

fn set(out: &mut [f64], index: usize, value: f64) {
    if let Some(slot) = out.get_mut(index) {
        *slot = value;
    }
}
