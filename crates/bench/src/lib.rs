//! Benchmarks: what a tool printed becomes a [`Run`] with typed units; runs are compared with intervals, never by one number; every
//! bandwidth is beside its ceiling.
//!
//! Pure: bytes and data in, data out. The store and the runner do the I/O.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod ceiling;
pub mod columns;
pub mod compare;
pub mod facts;
pub mod fit;
pub mod import;
pub mod model;
pub mod summary;
pub mod template;

pub use model::{
    Better, Fault, Kind, Label, Metric, Note, Param, Point, Points, Run, RunId, Series, Source, Stat, Unit,
};
