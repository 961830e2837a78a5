//! Where an answer goes, and how it looks: the same options for each verb that has them.

use crate::args::When;
use crate::output::{Failure, Sink};
use clap::Args;
use linerate_report::Style;
use std::path::PathBuf;

/// What `--verbose` adds, each verb says itself.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Write the answer here instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show everything, unabbreviated.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

impl ShowArgs {
    /// Where the answer goes.
    pub(crate) fn sink(&self) -> Result<Sink, Failure> {
        Sink::open(self.output.as_deref())
    }

    /// How text looks there.
    pub(crate) fn style(&self, sink: &Sink) -> Style {
        sink.style(self.color, self.verbose)
    }
}
