//! Parsers for the text and binary formats that GPU/RDMA nodes show.
//!
//! Invariants: bytes in, data out. Nothing here opens a file, runs a command, or knows what a rule is. Every parser accepts
//! hostile input: it returns an error or less data, never panics, and never allocates more than a small multiple of its input.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bounds;
mod clock;
pub mod cmdline;
pub mod cpuinfo;
pub mod cpulist;
mod decimal;
pub mod dlerror;
pub mod dmesg;
pub mod error;
pub mod ethtool;
pub mod fio;
pub mod gid;
pub mod ib_port;
pub mod ibdev2netdev;
pub mod ibstat;
pub mod ibv_devinfo;
pub mod iperf;
mod json;
mod json_docs;
mod json_loose;
pub mod kernel_config;
pub mod kernel_version;
mod launcher;
pub mod limits;
pub mod mlnx_qos;
pub mod mlxconfig;
pub mod modules;
pub mod nccl_log;
pub mod nccl_tests;
mod number;
pub mod nvbandwidth;
pub mod nvidia_proc;
pub mod nvidia_smi;
pub mod nvml;
pub mod pci;
pub mod perftest;
pub mod ping;
pub mod printed;
pub mod rdma_json;
pub mod rdma_topo_dump;
mod record;
pub mod refusal;
pub mod series;
pub mod sniff;
pub mod sockperf;
pub mod text;
pub mod torch_log;
pub mod torchtitan;
pub mod units;
pub mod wildcard;
pub mod xid;

pub use error::{ParseError, Why};
pub use text::At;
