//! What a run tells while it goes on. The command line draws it.

use crate::outcome::{Failure, NoSnapshot, RawOutput};
use crate::plan::{Plan, Step};
use linerate_transport::Stream;
use std::time::Duration;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A host is asked what it has.
    Asking {
        /// Host.
        host: &'a str,
    },
    /// A snapshot of a host is being taken.
    Collecting {
        /// Host.
        host: &'a str,
    },
    /// There is no snapshot of a host.
    NoSnapshot {
        /// Host.
        host: &'a str,
        /// Why.
        why: &'a NoSnapshot,
    },
    /// A run begins.
    Started {
        /// Which.
        step: Step,
        /// Its number, from 1.
        number: usize,
        /// Of so many.
        of: usize,
        /// The plan.
        plan: &'a Plan,
    },
    /// A few times a second.
    Progress {
        /// How long the measurement has taken.
        elapsed: Duration,
        /// What is left at this pace.
        left: Duration,
        /// Runs that ended.
        done: usize,
        /// Of so many.
        of: usize,
        /// Bytes moved, where they are counted.
        moved: Option<u64>,
    },
    /// A tool printed a line.
    Line {
        /// Host.
        host: &'a str,
        /// Whether the server did.
        server: bool,
        /// Where to.
        stream: Stream,
        /// The line with its end, as it came.
        line: &'a [u8],
    },
    /// The port was taken between the choice and the server's start; another one is tried.
    PortTaken {
        /// Host.
        host: &'a str,
        /// Port.
        port: u16,
    },
    /// A run ended.
    Finished(&'a RawOutput),
    /// A run failed.
    Failed(&'a Failure),
    /// A test failed so often that its further runs are left out.
    GaveUp {
        /// Which.
        step: Step,
        /// How many runs are left out.
        left_out: usize,
    },
}
