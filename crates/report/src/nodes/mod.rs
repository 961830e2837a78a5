//! Which nodes there are, and which of them can be reached: one list, in three forms.

mod json;
mod text;

pub use json::SCHEMA;

use crate::Style;
use linerate_fleet::NodeSet;
use serde::Serialize;
use std::io::{self, Write};

/// Nodes for a reader.
#[derive(Debug, Serialize)]
pub struct Report {
    /// All nodes of the list, folded.
    pub set: NodeSet,
    /// How many there are.
    pub count: usize,
    /// The node that others are compared with.
    pub reference: Option<String>,
    /// What was looked at.
    pub sources: Vec<Source>,
    /// In order.
    pub nodes: Vec<Node>,
    /// Groups with a node of the list.
    pub groups: Vec<Group>,
    /// Nodes that answered; `None`: they were not asked.
    pub reached: Option<NodeSet>,
    /// Nodes that did not, by cause.
    pub unreached: Vec<Unreached>,
    /// What does not fit together, or was not read.
    pub remarks: Vec<String>,
    /// 0: listed, and reached where asked; 1: some were not reached; 2: a source was not read whole, or sources disagree.
    pub exit_code: u8,
}

/// Where something is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    /// `ssh`, `slurm`, ….
    pub kind: &'static str,
    /// File or command.
    pub what: String,
    /// 1-based line; `None`: all of it.
    pub line: Option<u32>,
}

/// A node.
#[derive(Debug, Serialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The way, as `--on` takes it.
    pub way: String,
    /// What carries commands there.
    pub transport: &'static str,
    /// Whether `sudo -n` is tried there.
    pub sudo: bool,
    /// Groups that it is in.
    pub groups: Vec<String>,
    /// Where it is named.
    pub sources: Vec<Source>,
    /// Whether it answered.
    pub answer: Option<Answer>,
}

/// Whether a node answered.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// Whether it did.
    pub reached: bool,
    /// How long it took.
    pub milliseconds: u64,
    /// Why not, as a word.
    pub cause: Option<&'static str>,
    /// What was said about it.
    pub said: Option<String>,
}

/// A group.
#[derive(Debug, Serialize)]
pub struct Group {
    /// `name`, or `source:name`.
    pub name: String,
    /// Its nodes, also those that are not in the list.
    pub set: NodeSet,
}

/// Nodes that did not answer for one cause.
#[derive(Debug, Serialize)]
pub struct Unreached {
    /// The cause as a word.
    pub cause: &'static str,
    /// For people.
    #[serde(skip)]
    pub sentence: &'static str,
    /// The nodes, folded.
    pub set: NodeSet,
}

/// How it is written.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    /// For a person.
    Text(Style),
    /// For programs.
    Json,
    /// The set alone; where they were asked, those that answered.
    Set,
}

impl Report {
    /// Writes it.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text(style) => text::render(self, style, out),
            Format::Json => json::render(self, out),
            Format::Set => {
                let set = self.reached.as_ref().unwrap_or(&self.set);
                writeln!(out, "{}", linerate_out::terminal(&set.to_string()))
            }
        }
    }
}
