//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod common;
#[path = "common/rdma_topo.rs"]
mod rdma_topo;

mod catalogue;
mod command_lines;
mod direct_nic;
mod evidence;
mod nicfw_gpumem;
mod nodes;
mod pastes;
mod platforms;
mod rdma_topo_dump;
mod rdma_topo_oracle;
mod real_logs;
mod real_trees;
mod texts;
