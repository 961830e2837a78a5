//! The linerate command.
fn main() {}
