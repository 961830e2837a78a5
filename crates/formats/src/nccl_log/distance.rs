//! What the numbers in `distance 6 > 4` mean: the same number is another distance in another release.

/// Names of path types by number, from `src/include/topo.h`, `src/graph/topo.h` and `src/include/graph.h` of every tag:
/// first release (minor, patch) of 2.x, names in the order of their numbers.
const SCALES: &[((u16, u16), &[&str])] = &[
    ((27, 5), &["LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS"]),
    // One release had these two the other way round.
    ((27, 0), &["LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PXN", "P2C", "PHB", "SYS", "NET", "DIS"]),
    ((26, 0), &["LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PXN", "PHB", "SYS", "NET", "DIS"]),
    ((12, 0), &["LOC", "NVL", "NVB", "PIX", "PXB", "PXN", "PHB", "SYS", "NET", "DIS"]),
    ((8, 0), &["LOC", "NVL", "NVB", "PIX", "PXB", "PHB", "SYS", "NET"]),
    ((6, 0), &["LOC", "NVL", "PIX", "PXB", "PHB", "SYS", "NET"]),
    ((0, 0), &["PIX", "PXB", "PHB", "NODE", "SYS"]),
];

/// The name of a distance in release `2.minor.patch`.
#[must_use]
pub fn name(minor: u16, patch: u16, distance: i64) -> Option<&'static str> {
    let (_, names) = SCALES.iter().find(|(first, _)| (minor, patch) >= *first)?;
    names.get(usize::try_from(distance).ok()?).copied()
}
