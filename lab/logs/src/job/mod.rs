//! A job: what it runs on, what it is told, what is wrong with it, and the lines that it prints.

mod connect;
mod facts;
mod fail;
mod graph;
mod network;
mod run;
mod spec;
mod stages;
mod tuning;
mod writer;

pub(crate) use facts::Facts;
pub use spec::{Bench, Fault, Gpu, Job, Moment};
pub(crate) use stages::play;
pub(crate) use writer::{Entry, stamp};
