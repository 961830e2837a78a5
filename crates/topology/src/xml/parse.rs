//! Reads a topology.
//!
//! NCCL's own reader is a small one: it takes no declaration, no text, and no tab or line end between attributes, and what it
//! cannot read it refuses (`xml.cc`). [`Dialect::Nccl`] refuses the same; [`Dialect::Lenient`] takes any well-formed XML, so
//! that a file can be shown and mended.
