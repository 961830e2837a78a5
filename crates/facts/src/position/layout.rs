//! The seats of a machine as text, so that machines can be aligned without their snapshots.

use super::{Name, NotAPosition, Positions, Seat};
use linerate_node::pci::Kind;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

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
            let path = seat.path.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            let role = seat.role.to_string();
            let name = match &seat.name {
                Name::Word(word) if *word != role => word.as_str(),
                _ => "",
            };
            let kind = kind_name(seat.kind);
            let name: String = name.chars().filter(|c| !c.is_control()).collect();
            out.push_str(&format!("{role}\t{path}\t{kind}\t{}\t{name}\n", seat.list));
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

fn kind_name(kind: Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
