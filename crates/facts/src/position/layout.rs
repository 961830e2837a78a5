//! The seats of a machine as text, so that machines can be aligned without their snapshots.

use super::{Name, NotAPosition, Positions, Seat};
use linerate_node::pci::Kind;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// Seats that a layout may have.
pub const MANY: usize = linerate_formats::bounds::SEATS;

/// Ids of the lists that name devices.
const LISTS: [&str; 4] = ["pci", "gpus", "nic_firmware", "rdma"];

impl Positions {
    /// A line for each seat that is wanted: role, path (`-`: not known), kind, list, and the name where it is no address. Machines that are built
    /// alike have the same layout.
    #[must_use]
    pub fn layout(&self, wanted: impl Fn(&Seat) -> bool) -> String {
        let mut out = String::new();
        for seat in self.seats.iter().filter(|s| wanted(s)).take(MANY) {
            let from = out.len();
            // A text takes whatever is written.
            let _ = write!(out, "{}", seat.role);
            let is_role = matches!(&seat.name, Name::Word(word) if out.get(from..) == Some(word.as_str()));
            let _ = match &seat.path {
                Some(path) => write!(out, "\t{path}"),
                None => write!(out, "\t-"),
            };
            let _ = write!(out, "\t{}\t{}\t", KindName(seat.kind), seat.list);
            match &seat.name {
                Name::Word(word) if !is_role => out.extend(word.chars().filter(|c| !c.is_control())),
                _ => {}
            }
            out.push('\n');
        }
        out
    }

    /// From a layout. A device that had an address there is called by its role.
    ///
    /// # Errors
    /// It is none.
    pub fn from_layout(text: &str) -> Result<Self, NotAPosition> {
        let seats: Result<Vec<Seat>, NotAPosition> =
            text.lines().take(MANY).map(|line| seat(line).ok_or_else(|| NotAPosition(line.to_owned()))).collect();
        let seats = seats?;
        let by_name = seats.iter().enumerate().map(|(i, s)| (s.name.clone(), i)).collect();
        Ok(Positions { seats, by_name })
    }
}

fn seat(line: &str) -> Option<Seat> {
    let mut parts = line.split('\t');
    let (role, path, kind, list, name) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let path = if path == "-" { None } else { Some(path.parse().ok()?) };
    let kind: StrDeserializer<'_, Error> = kind.into_deserializer();
    Some(Seat {
        name: Name::Word(if name.is_empty() { role } else { name }.to_owned()),
        kind: Kind::deserialize(kind).ok()?,
        role: role.parse().ok()?,
        path,
        list: LISTS.iter().find(|l| **l == list)?,
    })
}

/// A kind as JSON has it.
struct KindName(Kind);

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}
