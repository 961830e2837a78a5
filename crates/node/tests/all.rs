//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod catalogue;
mod hwloc_oracle;
mod pasted;
mod rdma_text;
mod real_lspci;
