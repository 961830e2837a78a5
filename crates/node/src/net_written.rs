//! Interfaces as files of netplan and NetworkManager write them: what holds after the next boot, not what runs.

use crate::cut::{self, Cut};
use hashbrown::HashMap;
use linerate_formats::net_config::{Interface, Kind, Mode, Name, Writer, keyfile, netplan};
use linerate_formats::text::At;
use linerate_snapshot::{OutputKind, Place, Reading, Snapshot, Why};

/// An interface that is written, and the text that it is in.
#[derive(Debug, Clone)]
pub struct NetWritten {
    /// What is written.
    pub interface: Interface,
    /// The interface below a VLAN, by its name where that is written.
    pub parent: Option<At<String>>,
    /// The bond or bridge that it is a member of, by its name where that is written, and where that is.
    pub master: Option<(String, Place)>,
    /// The text.
    pub text: Place,
}

impl NetWritten {
    /// Where a line of it is.
    #[must_use]
    pub fn at(&self, line: u32) -> Place {
        self.text.line(line)
    }

    /// Where it begins.
    #[must_use]
    pub fn place(&self) -> Place {
        self.at(self.interface.line)
    }

    /// Its name, or the pattern of names that it is for.
    #[must_use]
    pub fn written_name(&self) -> Option<&str> {
        match &self.interface.name {
            Name::Own(name) | Name::Pattern(name) => Some(name),
            Name::Unknown => None,
        }
    }

    /// Its name, else what it is called in its file, else its place there.
    #[must_use]
    pub fn label(&self) -> String {
        let is_netplan = self.interface.writer == Writer::Netplan;
        let called = self.interface.id.as_deref().filter(|_| is_netplan);
        let here = || format!("connection at line {}", self.interface.line);
        self.written_name().or(called).map_or_else(here, str::to_owned)
    }

    /// Whose file it is.
    #[must_use]
    pub fn writer(&self) -> &'static str {
        match self.interface.writer {
            Writer::Netplan => "netplan",
            Writer::NetworkManager => "NetworkManager",
        }
    }

    /// The MTU that is written.
    #[must_use]
    pub fn mtu(&self) -> Reading<u32> {
        self.reading(self.interface.mtu)
    }

    /// The mode of IP over InfiniBand that is written.
    #[must_use]
    pub fn mode(&self) -> Reading<Mode> {
        self.reading(self.interface.mode)
    }

    /// The number of a VLAN.
    #[must_use]
    pub fn vlan(&self) -> Reading<u16> {
        self.reading(self.interface.vlan)
    }

    fn reading<T>(&self, value: Option<At<Option<T>>>) -> Reading<T> {
        match value {
            Some(At { value: Some(v), line }) => Reading::Known(v, self.at(line)),
            Some(At { value: None, line }) => {
                Reading::Unreadable(self.at(line), Why::Malformed("no value that is known".into()))
            }
            None => Reading::Unreadable(self.place(), Why::NotCollected),
        }
    }
}

pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<NetWritten> {
    let mut all = Vec::new();
    for o in &s.outputs {
        let kept = match o.kind {
            OutputKind::Netplan => netplan::read(s.data(o.entry)),
            OutputKind::NetworkManager => keyfile::read(s.data(o.entry)),
            _ => continue,
        };
        cut::note(cuts, o.entry, &kept.left_out);
        let text = Place::of(o.entry);
        all.extend(kept.items.into_iter().map(|interface| NetWritten { interface, parent: None, master: None, text }));
    }
    refer(&mut all);
    all
}

/// Puts names in the place of ids and UUIDs.
fn refer(all: &mut [NetWritten]) {
    let mut names: HashMap<(Writer, String), String> = HashMap::new();
    for w in all.iter() {
        if let (Some(id), Name::Own(name)) = (&w.interface.id, &w.interface.name) {
            names.entry((w.interface.writer, id.clone())).or_insert_with(|| name.clone());
        }
    }
    let named =
        |writer: Writer, word: &str| names.get(&(writer, word.to_owned())).map_or(word, String::as_str).to_owned();
    // Netplan writes the members, below the bond.
    let mut members: HashMap<String, (String, Place)> = HashMap::new();
    for w in all.iter().filter(|w| matches!(w.interface.kind, Kind::Bond | Kind::Bridge)) {
        for m in &w.interface.members {
            members.entry(m.value.clone()).or_insert_with(|| (w.label(), w.at(m.line)));
        }
    }
    for w in all {
        let (writer, text) = (w.interface.writer, w.text);
        w.parent = w.interface.parent.as_ref().map(|p| At::new(named(writer, &p.value), p.line));
        let own = w.interface.master.as_ref().map(|m| (named(writer, &m.value), text.line(m.line)));
        let by_bond = || w.interface.id.as_ref().filter(|_| writer == Writer::Netplan).and_then(|id| members.get(id));
        w.master = own.or_else(|| by_bond().cloned());
    }
}
