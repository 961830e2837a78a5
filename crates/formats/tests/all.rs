//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod common;

mod bench_files;
mod bounds;
mod dmesg_speed;
mod emulated_mlxconfig;
mod libvirt_files;
mod net_files;
mod never_panics;
mod pci_config;
mod pci_lspci;
mod pci_lspci_data;
mod real_files;
mod tools;
