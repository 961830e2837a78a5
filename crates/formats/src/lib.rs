//! Parsers for the text and binary formats that GPU/RDMA nodes show.
//!
//! Invariants: bytes in, data out. Nothing here opens a file, runs a command, or knows what a rule is. Every parser accepts
//! hostile input: it returns an error or less data, never panics, and never allocates more than a small multiple of its input.

pub mod pci;
pub mod units;
