//! One typed list of what a node is. The JSON of a node, the confounders of benchmarks and what moves between two snapshots are made from it.
//!
//! A [`Fact`] has an id (`pci.link.speed`), a [`Subject`] (a PCI function), a [`Reading`] of a [`Value`] with its place, and a [`Unit`]. The
//! id is the path of the fact below `node` in the JSON of an audit; with its subject it is one fact of one node: `pci[0000:18:00.0].link.speed`.
//!
//! A new fact is one row of the table of its subject, in `list/`. Pure: nothing here touches the system.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod compared;
mod form;
mod list;
pub mod moves;
pub mod position;
mod subject;
mod value;
mod want;

pub use compared::{Compared, Kind, NAMES_A_BOOT, compared, kinds};
pub use form::Form;
pub use linerate_snapshot::Reading;
pub use list::{defs, each, each_subject, list_of, of};
pub use subject::{GpuAt, Subject};
pub use value::Value;
pub use want::{Holds, Want, number};

use std::fmt;

/// What a fact is, on any node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Def {
    /// Stable: path below `node` in the JSON of an audit, without the keys of lists.
    pub id: &'static str,
    /// Which values it has.
    pub form: Form,
    /// In what a number is counted.
    pub unit: Unit,
    /// In words.
    pub what: &'static str,
    /// How version 1 of the audit's JSON shows it.
    pub version1: Version1,
}

/// A fact of one node. Its place is that of the reading.
#[derive(Debug, Clone)]
pub struct Fact<'n> {
    /// What it is.
    pub def: &'static Def,
    /// What it is about.
    pub subject: Subject<'n>,
    /// What was seen.
    pub reading: Reading<Value<'n>>,
}

impl fmt::Display for Fact<'_> {
    /// Id with the keys of its subject, `rdma[mlx5_0].ports[1].rate_gbps`: one fact of a node.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.def.id.get(self.subject.prefix().len()..).unwrap_or(self.def.id);
        write!(f, "{}{rest}", self.subject)
    }
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// No number, a plain count, or a value that carries its own unit (link speeds).
    None,
    /// Bytes.
    Bytes,
    /// 1024 bytes.
    Kib,
    /// 1024² bytes.
    Mib,
    /// Microseconds.
    Microseconds,
    /// 10⁶ bits a second.
    Mbps,
    /// 10⁹ bits a second.
    Gbps,
}

impl Unit {
    /// As it is written behind a number; empty for [`Unit::None`].
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Bytes => "bytes",
            Unit::Kib => "KiB",
            Unit::Mib => "MiB",
            Unit::Microseconds => "µs",
            Unit::Mbps => "Mb/s",
            Unit::Gbps => "Gb/s",
        }
    }
}

/// How schema version 1 of the audit's JSON shows a fact that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version1 {
    /// Absent: `false`; unreadable: `null` and a line in `unseen`.
    Noted,
    /// `null`, without a line in `unseen`.
    Null,
    /// `[]`, without a line in `unseen`.
    Empty,
    /// `[]` and a line in `unseen`.
    EmptyNoted,
    /// Not at all, known or not.
    Left,
}
