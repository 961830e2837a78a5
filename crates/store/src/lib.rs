//! The history of benchmarks: every run that was measured or imported, in one SQLite file that several programs may use at once.
//!
//! [`Store::add`] keeps runs, [`Store::load`] gives them back equal, [`Store::bands`], [`Store::best`] and [`Store::standing`] say what
//! was ever measured, [`Store::check`] what was expected, [`export`](Store::export) hands everything on.

mod add;
mod band;
mod cells;
mod error;
pub mod export;
mod filter;
mod list;
mod load;
mod manage;
mod network;
mod open;
mod path;
mod points;
mod schema;
mod target;

pub use add::{Added, Imported, Place, Reread, SnapshotRef, TextRef};
pub use band::{Band, Best, Standing, Typical};
pub use error::StoreError;
pub use filter::{Filter, Measured};
pub use list::Summary;
pub use manage::Stats;
pub use open::{Options, Store};
pub use path::default_path;
pub use target::{Outcome, Target, TargetCheck};
