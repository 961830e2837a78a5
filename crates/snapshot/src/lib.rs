//! A snapshot is a small filesystem: what a node showed, under its own paths, and what could not be read, with the reason.
//!
//! Everything that linerate concludes, it concludes from a [`Snapshot`]; live, offline and fleet-wide answers are the same code.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod archive;
mod budget;
pub mod capture;
mod catalogue;
mod census;
pub mod cut;
mod file_dump;
mod host_of;
mod hosts;
mod index;
mod input;
mod interrupt;
mod lines;
mod listing;
mod long_text;
mod manifest;
mod output;
mod owners;
mod quoted;
pub mod rdma_dump;
mod reading;
mod recognise;
mod redact;
mod source;
mod texts;
mod whose;

pub use archive::{Each, Limits, OpenError, Reader, dated, is_archive_name, node_name};
pub use budget::{Budget, Exceeded};
pub use capture::machine_digest;
pub use catalogue::tries;
pub use host_of::HostOf;
pub use index::{EntryId, EntryKind, Lookup, Snapshot};
pub use input::{Damage, Input};
pub use lines::Lines;
pub use listing::{Listing, Source, SourceKind, short_name, sources};
pub use manifest::{Coverage, Manifest, Unread, covers};
pub use output::{Output, OutputKind};
pub use owners::{Owned, Pasted, by_node};
pub use reading::{Place, Pos, Reading, Why};
pub use redact::secrets::{
    MARK, boot_digest, domain_without_secrets, named as without_secrets_named, remove_secrets, setting, without_secrets,
};
pub use redact::{KeyError, RedactKey};
pub use source::{is_dir_of_texts, is_snapshot_dir, load, load_bytes, load_each, options_for};
pub use texts::{Texts, content, unpacked_name};
pub use whose::Whose;

/// Where the capture keeps the answers of the NVML library.
pub(crate) const NVML_PATH: &str = "linerate/nvml.json";
