//! What was done on the node, written ahead and synced, so that it can be gone on with, and undone, whatever happened in between.
//!
//! ```text
//! /var/lib/linerate/apply/lock                     held by the one hand that works
//! /var/lib/linerate/apply/0123456789abcdef/plan.json, journal.jsonl, kept/
//! ```

mod ledger;
mod line;
mod record;
mod store;

pub(crate) use ledger::{ActRecord, Ledger};
pub(crate) use record::{FileSeen, Key, Record, Seen, Shape};
pub(crate) use store::{Journal, Lock, STATE, next_order, one_plan, open_plan, plans};
