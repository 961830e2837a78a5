//! Places as words and bytes. Keeps an index of the lines of each text, so that evidence deep in a large dump costs no scan.

use linerate_formats::clip;
use linerate_formats::pci::Bdf;
use linerate_snapshot::{EntryId, EntryKind, Place, Pos, Snapshot};
use std::cell::RefCell;
use std::collections::HashMap;

/// Longest excerpt, in characters.
const MAX: usize = 200;

pub(crate) struct Words<'a> {
    snapshot: &'a Snapshot,
    starts: RefCell<HashMap<EntryId, Vec<usize>>>,
}

impl<'a> Words<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot) -> Self {
        Words { snapshot, starts: RefCell::new(HashMap::new()) }
    }

    pub(crate) fn describe(&self, place: Place) -> String {
        self.snapshot.describe(place)
    }

    /// As [`Self::describe`], by the shorter of the names that the kernel gives a device: the links of its bus or class.
    pub(crate) fn short(&self, place: Place) -> String {
        let long = self.describe(place);
        let Some(rest) = long.strip_prefix("/sys/devices/") else { return long };
        let mut below = rest;
        let mut found = None;
        while let Some((name, tail)) = below.split_once('/') {
            if name.parse::<Bdf>().is_ok() {
                found = Some((name, tail));
            }
            below = tail;
        }
        match found {
            Some((_, tail)) if tail.starts_with("infiniband/") || tail.starts_with("net/") => {
                format!("/sys/class/{tail}")
            }
            Some((bdf, tail)) => format!("/sys/bus/pci/devices/{bdf}/{tail}"),
            None => long,
        }
    }

    /// What [`Snapshot::excerpt`] says.
    pub(crate) fn excerpt(&self, place: Place) -> String {
        let text =
            place.leaf.is_empty() && matches!(self.snapshot.kind(place.base), EntryKind::File | EntryKind::CutFile);
        match place.pos {
            Pos::Line(n) if text => clip::bytes(self.line(place.base, n), MAX),
            _ => self.snapshot.excerpt(place),
        }
    }

    /// The excerpt where it is evidence to read: not the head of a long text that was named as a whole.
    pub(crate) fn shown(&self, place: Place) -> String {
        let data = if place.leaf.is_empty() { self.snapshot.data(place.base) } else { &[] };
        let long = place.pos == Pos::Whole && data.trim_ascii().contains(&b'\n');
        if long { String::new() } else { self.excerpt(place) }
    }

    fn line(&self, entry: EntryId, n: u32) -> &'a [u8] {
        let data = self.snapshot.data(entry);
        let mut starts = self.starts.borrow_mut();
        let starts = starts.entry(entry).or_insert_with(|| {
            let after = data.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
            std::iter::once(0).chain(after).collect()
        });
        let Some(at) = starts.get((n as usize).saturating_sub(1)) else { return &[] };
        let end = starts.get((n as usize).max(1)).map_or(data.len(), |next| next - 1);
        data.get(*at..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_their_short_names() {
        let mut s = Snapshot::new("x");
        let dir = "sys/devices/pci0000:37/0000:37:01.0/0000:3d:00.0";
        for (path, want) in [
            (format!("{dir}/config"), "/sys/bus/pci/devices/0000:3d:00.0/config"),
            (format!("{dir}/infiniband/mlx5_2/ports/1/rate"), "/sys/class/infiniband/mlx5_2/ports/1/rate"),
            (format!("{dir}/net/ib0/mtu"), "/sys/class/net/ib0/mtu"),
            ("sys/devices/system/node/node0".into(), "/sys/devices/system/node/node0"),
        ] {
            let e = s.add_file(&path, b"").unwrap();
            assert_eq!(Words::of(&s).short(Place::of(e)), want);
        }
    }

    #[test]
    fn lines_are_those_of_the_snapshot() {
        let mut s = Snapshot::new("x");
        let text = format!("one\n\n  two \x1b[1m\r\n{}\nlast", "é".repeat(300));
        let e = s.add_file("a.txt", text.as_bytes()).unwrap();
        let words = Words::of(&s);
        for n in 0..9 {
            let place = Place::of(e).line(n);
            assert_eq!(words.excerpt(place), s.excerpt(place), "line {n}");
        }
        assert_eq!(words.excerpt(Place::of(e).line(5)), "last");
    }
}
