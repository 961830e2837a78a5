//! Why something was not done.

use crate::protocol::Trouble;
use rustix::io::Errno;

/// Why something was not done: a stable word, and what, where, why, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// See [`Trouble::code`].
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) what: String,
}

/// What is done, or why not.
pub(crate) type Done<T> = Result<T, Wrong>;

impl Wrong {
    pub(crate) fn new(code: &'static str, what: impl Into<String>) -> Wrong {
        Wrong { code, what: what.into() }
    }

    /// A thing that failed.
    pub(crate) fn failed(what: impl Into<String>) -> Wrong {
        Wrong::new("failed", what)
    }

    /// A system call that failed at a path.
    pub(crate) fn call(doing: &str, path: &str, why: Errno) -> Wrong {
        let (code, hint) = match why {
            Errno::NOSPC | Errno::DQUOT => ("no-space", ": make room there, then try again"),
            Errno::ROFS => ("read-only", ": mount it for writing, then try again"),
            Errno::ACCESS | Errno::PERM if rustix::process::geteuid().is_root() => {
                ("failed", " (an immutable file, or a security module, forbids it even to root)")
            }
            Errno::ACCESS | Errno::PERM => ("not-root", ": this needs root"),
            _ => ("failed", ""),
        };
        Wrong::new(code, format!("cannot {doing} {path}: {why}{hint}"))
    }

    /// For the answer.
    pub(crate) fn trouble(self, step: Option<&str>) -> Trouble {
        Trouble { code: self.code.to_owned(), step: step.map(str::to_owned), what: self.what }
    }
}
