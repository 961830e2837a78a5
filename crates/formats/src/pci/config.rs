//! Binary configuration space.
