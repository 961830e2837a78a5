//! Sentences about many devices, each said once.

/// Devices that a sentence names, at most.
const NAMED: usize = 8;

/// Devices that are kept, at most: more are counted, so that hostile input costs little.
const KEPT: usize = 64;

/// A sentence with the devices that it is about.
#[derive(Debug, Clone)]
struct Note {
    what: String,
    devices: Vec<String>,
    more: usize,
}

/// Sentences in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    list: Vec<Note>,
}

impl Notes {
    /// A sentence of its own.
    pub(super) fn say(&mut self, what: impl Into<String>) {
        self.add(what.into(), None);
    }

    /// A sentence about a device.
    pub(super) fn of(&mut self, what: &str, device: impl std::fmt::Display) {
        self.add(what.to_owned(), Some(device.to_string()));
    }

    fn add(&mut self, what: String, device: Option<String>) {
        match self.list.iter_mut().find(|n| n.what == what) {
            Some(n) if n.devices.len() < KEPT => n.devices.extend(device.filter(|d| !n.devices.contains(d))),
            Some(n) => n.more += usize::from(device.is_some()),
            None => self.list.push(Note { what, devices: device.into_iter().collect(), more: 0 }),
        }
    }

    /// The sentences, with their devices in front.
    pub(super) fn sentences(self) -> Vec<String> {
        let sentence = |n: Note| {
            if n.devices.is_empty() {
                return n.what;
            }
            let named = n.devices.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            match n.devices.len().saturating_sub(NAMED) + n.more {
                0 => format!("{named}: {}", n.what),
                more => format!("{named} and {more} more: {}", n.what),
            }
        };
        self.list.into_iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_for_many_devices() {
        let mut n = Notes::default();
        (0..10).for_each(|i| n.of("its link is not known", format!("d{i}")));
        n.of("its link is not known", "d3");
        n.say("alone");
        n.say("alone");
        let said = n.sentences();
        assert_eq!(said, ["d0, d1, d2, d3, d4, d5, d6, d7 and 2 more: its link is not known", "alone"]);
    }
}
