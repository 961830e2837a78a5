//! Composes sysfs trees.
