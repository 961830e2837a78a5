//! Variables that force a choice, or name a file.

mod algo_or_proto_forced;
mod nvls_off;
mod topo_file;

use crate::causes::Cause;

pub(super) static CAUSES: &[&Cause] = &[&algo_or_proto_forced::CAUSE, &topo_file::CAUSE, &nvls_off::CAUSE];
