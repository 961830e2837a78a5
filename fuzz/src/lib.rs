//! What is fuzzed, and the inputs that fuzzing begins with: shared by the bounded harness (`linerate-fuzz`) and by the one that follows
//! coverage (`linerate-fuzz-guided`).

mod collector;
mod fleet;
pub mod hand;
mod logs;
pub mod mutate;
mod page;
mod policies;
pub mod seeds;
pub mod targets;
