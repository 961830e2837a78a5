//! Virtual machines with GPUs and NICs of the host: a PCI layout in which NCCL sees what is really there, and what it sees in a layout that somebody wrote.
//!
//! ```text
//! Node of the host ── choose ─► functions ── host::roots ─► ports as they are ── layout ─► numbers, cells, window ── write ─► a domain of libvirt
//! somebody's domain ── merge ─► the same bytes, with the layout in them
//! a guest that runs ── pairs ─► which of its functions is which of the host's ── running ─► its tree
//! a domain ── guest ─► the tree as the guest's kernel will number it ── nccl ─► NCCL's topology in the guest, and the file that puts it right
//! ```
//!
//! Pure. What the snapshot does not show is refused with how to show it; nothing is flattened or guessed.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

pub mod assumed;
pub mod cells;
pub mod choose;
pub mod clique;
pub mod fabric;
pub mod foreign;
pub mod format;
pub mod guest;
pub mod host;
pub mod layout;
pub mod merge;
pub mod nccl;
pub mod pairs;
mod refuse;
mod running;
pub mod same;
pub mod split;
pub mod taken;
pub mod window;
pub mod write;

pub use choose::choose;
pub use guest::guest;
pub use layout::{Layout, Wishes, layout};
pub use refuse::Refusal;
pub use running::running;
