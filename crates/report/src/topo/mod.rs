//! The topology of a node: what NCCL sees, drawn and written.

pub mod dot;
pub mod scene;
pub mod svg;
