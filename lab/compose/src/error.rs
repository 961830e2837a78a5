//! What can be wrong with a description.

use std::path::PathBuf;

/// A description that cannot be composed: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// The file could not be read.
    #[error("{}: cannot read the description: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not TOML, or a key or value that the format does not know.
    #[error("{file}:{line}: {what}{}", hint(help))]
    Syntax {
        /// The file, or `<text>`.
        file: String,
        /// 1-based line; 0 when it is known only after inheritance.
        line: usize,
        /// What is wrong.
        what: String,
        /// What to do; may be empty.
        help: String,
    },
    /// The description asks for something that no node can be.
    #[error("{what}{}", hint(help))]
    Impossible {
        /// What is wrong.
        what: String,
        /// What to do; may be empty.
        help: String,
    },
}

impl DescribeError {
    pub(crate) fn impossible(what: impl Into<String>, help: impl Into<String>) -> Self {
        DescribeError::Impossible { what: what.into(), help: help.into() }
    }
}

fn hint(help: &str) -> String {
    if help.is_empty() { String::new() } else { format!(" ({help})") }
}
