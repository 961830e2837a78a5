//! What holds for a value wherever it is set: data.

mod forced;
mod nic;
mod node;

use super::table::Row;

/// All rows.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    [node::ROWS, nic::ROWS, forced::ROWS].into_iter().flatten()
}
