//! Runs the benchmarks that people trust (iperf3, sockperf, fio, ping, perftest, nvbandwidth, nccl-tests) on this host and on others,
//! and gives back what they printed.
//!
//! [`prepare`] reaches the hosts, finds what is missing, takes snapshots and makes a [`plan::Plan`], which is printed first.
//! [`Prepared::measure`] does what the plan says within its limits. Whatever happens (a cancelled run, a lost connection, a killed
//! process), no program is left behind on any side: see [`linerate_transport`].
//!
//! Deciding is pure ([`plan`], [`tools`], [`facts`]); doing is behind one small trait, [`linerate_transport::Transport`].

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod event;
pub mod execute;
pub mod facts;
pub mod outcome;
pub mod plan;
pub mod probe;
pub mod request;
pub mod tools;

pub use event::Event;
pub use execute::{Host, Prepared, RunError, measure, prepare};
pub use outcome::{Configuration, Failure, Measured, NoSnapshot, RawOutput, Stopped, Why};
pub use request::{Request, Unknown, Variant, What};
