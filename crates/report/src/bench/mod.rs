//! Benchmarks: what was imported, what a comparison says, plots, history, and one page that sums up a cluster.
//!
//! Everything here shows; nothing concludes. Where a number is missing the place stays empty, where a run counts for nothing that is
//! said before its numbers.

mod compare;
mod history;
pub mod page;
pub mod plot;
mod runs;
mod summary;
mod words;

pub use compare::{COMPARISON_SCHEMA, comparison_json, comparison_markdown, comparison_text};
pub use history::{Band, HistoryRow, bands_text, history_text};
pub use runs::{RUNS_SCHEMA, Refused, headline, runs_json, runs_text};
pub use summary::summary_page;
