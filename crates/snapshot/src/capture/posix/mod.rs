//! The collector for hosts where no program of ours runs: a shell script, made of the same catalogue, and the reader of what it prints.
//!
//! The script lists what the patterns match and prints the content of files between lines that begin with a word of chance. Nothing is
//! concluded there: the reader puts the files into a tree, walks it as a capture walks a real one, and applies the same filters before
//! anything is kept. Files that may hold secrets beside what is wanted (profiles of networks, configuration of boot loaders, the id of the
//! machine) are cut on the host; so what a filter here would remove does not leave it.

mod read;
mod records;
mod replay;
mod script;
mod tree;

pub use read::{Found, NotRead, read};
pub use script::script;
