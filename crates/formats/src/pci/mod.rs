//! PCI: addresses, decoded capabilities, binary configuration space, and the text of `lspci`.

mod bdf;
pub mod caps;
pub mod class;
pub mod config;
mod link;
pub mod lspci;
pub mod vpd;

pub use bdf::{Bdf, ParseBdfError};
pub use link::{LinkSpeed, LinkWidth};
