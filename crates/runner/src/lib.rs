//! Runs the benchmarks that people trust (iperf3, sockperf, fio, ping, perftest, nvbandwidth, nccl-tests) on this host and on others,
//! and gives back what they printed.
//!
//! [`prepare`] reaches the hosts, finds what is missing, takes snapshots and makes a [`plan::Plan`], which is printed first.
//! [`Prepared::measure`] does what the plan says within its limits. Whatever happens (a cancelled run, a lost connection, a killed
//! process), no program is left behind on any side: see [`transport`].
//!
//! Deciding is pure ([`plan`], [`tools`], [`facts`]); doing is behind one small trait, [`transport::Transport`].

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod cancel;
pub mod collect;
pub mod event;
pub mod execute;
pub mod facts;
pub mod host;
pub mod outcome;
pub mod plan;
pub mod probe;
pub mod request;
pub mod tools;
pub mod transport;

pub use cancel::Cancel;
pub use collect::Collector;
pub use event::Event;
pub use execute::{Host, Prepared, RunError, measure, prepare};
pub use host::HostSpec;
pub use outcome::{Failure, Measured, RawOutput, Stopped, Why};
pub use request::{Request, Variant, What};
