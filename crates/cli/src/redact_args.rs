//! Arguments of `linerate redact`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    #[command(subcommand)]
    pub(crate) command: RedactCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RedactCommand {
    /// Replace hashes in a text by the original names, with the operator's key.
    Reveal(RevealArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate redact reveal --redact-key fleet.key host-1a2b3c4d 02:11:22:33:44:55
  linerate drift fleet/ | linerate redact reveal --redact-key fleet.key

Exit codes:
  0  something was replaced
  1  nothing of the text is known to this key
  3  usage or internal error")]
pub(crate) struct RevealArgs {
    /// Key file.
    ///
    /// `collect --redact-key FILE` makes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) redact_key: PathBuf,
    /// Words to translate (default: standard input).
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
}
