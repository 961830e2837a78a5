//! The history of benchmarks: every run that was measured or imported, in one SQLite file that several programs may use at once.
//!
//! [`Store::add`] keeps runs, [`Store::load`] gives them back equal, [`Store::bands`], [`Store::best`] and [`Store::standing`] say what
//! was ever measured, [`Store::check`] what was expected of it, [`Store::export`] hands everything on.
//!
//! ```
//! use linerate_bench::{Better, Metric, Run, Unit};
//! use linerate_store::{Filter, Store, Typical};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let mut store = Store::open(dir.path().join("history.db"))?;
//! for busbw in [194.0, 270.0, 309.0] {
//!     let mut run = Run::default();
//!     run.series_mut(Metric::new("busbw", Unit::GBps, Better::Higher), &[]).push(Some(1 << 30), None, busbw);
//!     store.add(&[(&run).into()], 1.7e9)?;
//!     store.add(&[(&run).into()], 1.8e9)?; // The same run: nothing new.
//! }
//! let bands = store.bands(&Filter { metric: Some("busbw".into()), ..Filter::default() }, Typical::Mean)?;
//! assert_eq!((bands[0].n(), bands[0].min(), bands[0].max()), (3, 194.0, 309.0));
//! # Ok(())
//! # }
//! ```
//!
//! # What is kept how
//!
//! A run's values are kept twice: exactly, as columns of bytes with a checksum (`points.rs`), and as one cell for each metric, set of
//! labels and size (`cells.rs`), because a run is one repetition whatever it repeats within itself. Queries over runs read cells alone.
//!
//! The plain way, a row for each sample with an index on its size, was measured beside it: `cargo run --release -p linerate-store
//! --example figures`, a million samples, time on a core of a shared machine (two cores; by the clock it was about three times as much
//! while others worked there):
//!
//! | | sweeps: 20,000 runs × 50 | logs: 100 runs × 10,000 steps | one log of 1,000,000 steps |
//! |---|---|---|---|
//! | stored | 1.9–2.5 s; rows 2.2–3.7 s | 0.15 s; rows 2–2.8 s | 0.15 s; rows 8.4 s |
//! | bytes a sample | 48; rows 53 | 5; rows 59 | 5; rows 60 |
//! | band of a metric at a size | 24 ms (two subjects); rows 5 ms (one) | < 1 ms; rows 110 ms | < 1 ms; rows 130 ms |
//! | one run, whole | < 4 ms; rows < 1 ms | 1 ms; rows 1 ms | 80 ms; rows 150 ms |
//! | bands at all sizes | 500 ms | < 1 ms | < 1 ms |
//!
//! Rows win where a run has one value at each size, and only at reading. What remains slow is a question for everything: bands over a
//! million cells. Where a size is named, it is one range of the table.
//!
//! # What can go wrong
//!
//! [`StoreError`] says what, where and what to do. A write is one transaction with `synchronous = FULL`. A file of another program, of a
//! newer linerate, or a damaged one is refused and not touched. Values are checked when they are read: what does not match its checksum is
//! never taken for a measurement. [`Store::verify`] reads everything and compares names and cells with what they are made of.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod add;
mod band;
mod cells;
mod error;
pub mod export;
mod filter;
mod imported;
mod list;
mod load;
mod look;
mod manage;
mod network;
mod open;
mod past;
mod path;
mod place;
mod points;
mod schema;
mod target;

pub use band::{Band, Typical};
pub use error::StoreError;
pub use filter::{Filter, Measured};
pub use imported::{Added, Imported, Place, Reread, SnapshotRef, TextRef};
pub use list::Summary;
pub use manage::Stats;
pub use open::{Options, Store};
pub use past::{Best, Standing};
pub use path::default_path;
pub use target::{Outcome, Target, TargetCheck};
