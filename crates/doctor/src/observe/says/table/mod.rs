//! The messages, each with its program, what it means and how sure that is. A new one: an entry in the file of its subject, and its form with its source in
//! `lab/messages/frameworks.toml`.

mod collectives;
mod connections;
mod driver;
mod memory;
mod nvlink;
mod stacks;

use Sure::{Certain, Likely, Possible};
use std::sync::LazyLock;

/// How sure a message is of its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    /// It says that the cause is not there: what is only possible is dropped.
    Refutes,
    /// It is printed where all is well, too: with a failure of the same program it makes the cause likely.
    Adds,
    /// It fits, and so do others.
    Possible,
    /// It fits best.
    Likely,
    /// It says so itself.
    Certain,
}

/// A message of a program.
#[derive(Debug)]
pub(crate) struct Says {
    /// Who prints it.
    pub(crate) program: &'static str,
    /// The cause that it names.
    pub(crate) cause: &'static str,
    /// How sure that is behind a head: of a logger or a launcher, or of an exception below a traceback.
    sure: Sure,
    /// How sure, where nothing comes before it, and people may have written it.
    alone: Sure,
    /// Its beginning, as a pattern.
    pub(super) form: &'static str,
    /// What else it contains.
    pub(super) words: &'static [&'static str],
    /// What it means.
    pub(crate) means: &'static str,
}

impl Says {
    /// How sure, with a head or without.
    pub(crate) fn sure(&self, headed: bool) -> Sure {
        if headed { self.sure } else { self.alone }
    }

    const fn with(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    const fn alone(mut self, alone: Sure) -> Self {
        self.alone = alone;
        self
    }
}

/// A message that is only possible where nothing comes before it: guides and tickets name it so, too.
const fn says(program: &'static str, cause: &'static str, sure: Sure, form: &'static str, means: &'static str) -> Says {
    let alone = match sure {
        Certain | Likely => Possible,
        other => other,
    };
    Says { program, cause, sure, alone, form, words: &[], means }
}
const NVLINK: &str = "gpu/nvlink";
const UNREACHABLE: &str = "job/bootstrap-unreachable";
const EXITED: &str = "job/peer-exited";
const STRAGGLER: &str = "job/straggler";
const OOM: &str = "kernel/oom";
const GPU_OOM: &str = "gpu/out-of-memory";
const NO_CONNECTION: &str = "a rank could not connect to another";
const LATE: &str = "ranks wait for others that did not come";
const FULL: &str = "a GPU had no memory left";
const KILLED: &str = "the kernel killed a process of the job for want of memory";

/// All messages. Of several that fit a line, the first counts.
pub(crate) static ALL: LazyLock<Vec<&'static Says>> = LazyLock::new(|| {
    [driver::SAYS, nvlink::SAYS, collectives::SAYS, connections::SAYS, memory::SAYS, stacks::SAYS]
        .into_iter()
        .flatten()
        .collect()
});
