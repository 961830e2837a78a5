//! Two columns of one table, `passthrough GB/s` and `disabled GB/s`, as the two sides of a comparison.

use crate::model::Run;
use smol_str::SmolStr;
use std::collections::BTreeSet;

/// What both sides are called: their columns' names tell the sides apart, and no longer what was measured.
const NAME: &str = "value";

/// One side.
#[derive(Debug, Clone)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// The runs, with what stands in it and nothing else.
    pub runs: Vec<Run>,
}

/// Why two columns are no sides.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotColumns {
    /// No column has this name.
    #[error("no column is called `{name}`; there are {}", there(.have))]
    Absent {
        /// As it was asked for.
        name: String,
        /// Those that there are.
        have: Vec<String>,
    },
    /// One column, or more than two, and nobody said which.
    #[error("side B is missing: name it, or two columns of A with --columns X,Y; there are {}", there(.0))]
    Which(Vec<String>),
    /// Their units differ.
    #[error("`{a}` and `{b}` are not in the same unit")]
    Units {
        /// One side.
        a: String,
        /// The other.
        b: String,
    },
}

fn there(have: &[String]) -> String {
    if have.is_empty() { "none".to_owned() } else { have.join(", ") }
}

/// The sides that two columns make; without names those of a table that has just two.
///
/// # Errors
/// A column is not there, it is not clear which ones are meant, or their units differ.
pub fn columns(runs: &[Run], names: Option<(&str, &str)>) -> Result<[Column; 2], NotColumns> {
    let all: BTreeSet<&SmolStr> = runs.iter().flat_map(|r| &r.series).map(|s| &s.metric.name).collect();
    let have = || all.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let found = |name: &str| {
        let hit = all.iter().find(|n| n.eq_ignore_ascii_case(name.trim()));
        hit.copied().ok_or_else(|| NotColumns::Absent { name: name.to_owned(), have: have() })
    };
    let (a, b) = match (names, all.iter().copied().collect::<Vec<_>>().as_slice()) {
        (Some((a, b)), _) => (found(a)?, found(b)?),
        (None, [first, second]) => in_order(runs, first, second),
        (None, _) => return Err(NotColumns::Which(have())),
    };
    let units = |name: &SmolStr| {
        let of = runs.iter().flat_map(|r| &r.series).filter(|s| s.metric.name == *name);
        of.map(|s| s.metric.unit.name().to_owned()).collect::<BTreeSet<_>>()
    };
    if a == b || units(a) != units(b) {
        return Err(NotColumns::Units { a: a.to_string(), b: b.to_string() });
    }
    Ok([a, b].map(|name| Column { name: name.to_string(), runs: runs.iter().filter_map(|r| side(r, name)).collect() }))
}

/// The one that stands first in the table is the side that is compared with.
fn in_order<'a>(runs: &'a [Run], one: &'a SmolStr, other: &'a SmolStr) -> (&'a SmolStr, &'a SmolStr) {
    let first = runs.iter().flat_map(|r| &r.series).map(|s| &s.metric.name).find(|n| *n == one || *n == other);
    if first == Some(other) { (other, one) } else { (one, other) }
}

fn side(run: &Run, name: &SmolStr) -> Option<Run> {
    let mut out = run.clone();
    out.series.retain(|s| s.metric.name == *name);
    out.series.iter_mut().for_each(|s| s.metric.name = SmolStr::new_static(NAME));
    (!out.series.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import;

    fn runs(text: &str) -> Vec<Run> {
        import("t.md", text.as_bytes()).runs
    }

    const TABLE: &str = "| size | off GB/s | on GB/s |\n|---|---|---|\n| 1 MB | 5.91 | 5.90 |\n| 4 MB | 23.25 | 23.17 |\n| 16 MB | 75.92 | 75.71 |\n";

    #[test]
    fn two_columns_are_two_sides() {
        let all = runs(TABLE);
        let values = |side: &Column| {
            side.runs.iter().flat_map(|r| &r.series).flat_map(|s| s.points.valid().map(|p| p.value)).collect::<Vec<_>>()
        };
        let [a, b] = columns(&all, None).unwrap();
        assert_eq!((values(&a), values(&b)), (vec![5.91, 23.25, 75.92], vec![5.90, 23.17, 75.71]));
        let [b, _] = columns(&all, Some(("ON", "off"))).unwrap();
        assert_eq!(values(&b), [5.90, 23.17, 75.71]);
        assert!(
            matches!(columns(&all, Some(("off", "x"))), Err(NotColumns::Absent { have, .. }) if have == ["off", "on"])
        );
        assert!(matches!(columns(&all, Some(("off", "off"))), Err(NotColumns::Units { .. })));
        assert!(matches!(columns(&[], None), Err(NotColumns::Which(_))));
        let mixed = runs(&TABLE.replace("on GB/s", "on ms"));
        assert!(matches!(columns(&mixed, None), Err(NotColumns::Units { .. })));
    }
}
